"""Read notes: whole, a part, or what is in them and around them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from obsidian_mcp.app import App
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.frontmatter.plain_block import is_plainly_sound
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.digest import etag_of
from obsidian_mcp.core.text.text import (
    BOM,
    Lines,
    Span,
    Text,
    hidden_text_warnings,
    line_count,
    to_printable,
    write_count,
)
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    VaultPath,
    is_note,
    name_key,
)
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AmbiguousName, InvalidArguments, NoteNotFound

from .arguments import Argument, VaultName
from .base_mistakes import base_mistakes
from .note_views import ReadNote, view_context, view_structure
from .outcome import DocumentAnswer
from .paging import PAGE, page_end, take_fitting_items
from .property_warnings import property_faults
from .registry import tool

RANDOM = "random:"
"""Begins the name of a note that is chosen at random, with a folder behind it or nothing."""


@tool(title="Read note")
def read_note(
    app: App,
    name: Annotated[str, Argument(description="Name or path")] = "",
    # the default is never changed
    names: Annotated[list[str], Argument(description="Instead: several notes")] = [],  # noqa: B006
    section: Annotated[str, Argument(description="Heading, Parent#Child or ^block")] = "",
    lines: Annotated[str, Argument(description="Such as 10-40", pattern=r"^(\d*-?\d*)$")] = "",
    view: Annotated[
        Literal["text", "outline", "properties", "metadata", "context"],
        Argument(description="context: also links, tasks, similar notes"),
    ] = "text",
    offset: Annotated[int, Argument(description="next_offset", ge=0)] = 0,
    vault: VaultName = "",
) -> DocumentAnswer:
    """Read (open) a note: a JSON line with path and etag, then the text as in the file, long
    ones in pages. Names daily:today and random: work too."""
    opened = app.vaults.get(vault, listed=not name or ":" in name)
    if bool(name) == bool(names):
        raise InvalidArguments("Give either `name` or `names`.", argument="name")
    if names:
        if section or lines or offset or view != "text":
            raise InvalidArguments(
                "Several notes are read whole; for a part or a view give `name`.", argument="names"
            )
        return _read_several(app, opened, names)
    is_random = name.lower().startswith(RANDOM)
    entry, alias = (
        (_random_note(opened, name[len(RANDOM) :]), None) if is_random else opened.resolve(name)
    )
    data = opened.read_shown(entry).data
    text = Text.decode(data)
    facts = partial(ReadNote, entry.path, entry.size, entry.modified, etag_of(data), alias=alias)
    warnings = _warnings(app, entry.path, text)
    if view != "text":
        structure = view_structure(facts, entry.path, text.body, view, warnings)
        return DocumentAnswer(
            view_context(app, opened, entry, structure) if view == "context" else structure, None
        )
    if section or lines:
        body = text.body
        part = _part(body, section, lines)
    else:
        body = BOM + text.body if text.bom else text.body
        part = Span(0, len(body))
    if offset and part.start + offset >= part.end:
        raise InvalidArguments(
            f"There is nothing at offset {offset}: the text has {part.end - part.start} "
            "characters.",
            argument="offset",
        )
    start = part.start + offset
    end = part.end if part.end - start <= PAGE else page_end(body, start, part.end)
    first = body.count("\n", 0, start) + 1
    last = first + body.count("\n", start, max(start, end - 1))
    total = last if end == len(body) else line_count(body)
    following = end - part.start if end < part.end else None
    read_part = facts(
        lines=f"{first}-{last}", total_lines=total, next_offset=following, warnings=warnings or None
    )
    return DocumentAnswer(read_part, to_printable(body[start:end]))


@dataclass(frozen=True, slots=True)
class ReadNotes:
    notes: list[ReadNote]
    not_read: list[str] | None = None
    """Names for which there was no room: read them next."""
    not_found: dict[str, str] | None = None
    """Names that no note has, or several have, and what was likely meant."""


def _warnings(app: App, path: VaultPath, text: Text) -> list[str]:
    """Return what a reader of a file should know, and note that the client has read hidden text
    (POL-13)."""
    unreadable = (
        []
        if text.is_utf8
        else ["The file is not valid UTF-8; bytes that are not are shown as U+FFFD."]
    )
    hidden = hidden_text_warnings(text.body, path, app.hidden_text_reads.add)
    if not path.endswith(NOTE_EXTENSION):
        return [*unreadable, *base_mistakes(path, text.body), *hidden]
    mistakes: list[str] = []
    if not is_plainly_sound(text.body):
        mistakes = property_faults(text.body)
    if "|" in text.body:
        from obsidian_mcp.core.note.table import warn_of_overlong_rows  # loaded when it is needed

        mistakes += warn_of_overlong_rows(text.body)
    return unreadable + mistakes + hidden


def _read_several(app: App, vault: Vault, names: list[str]) -> DocumentAnswer:
    """Several notes, each below a line with its path, together as long as a page; the last one may
    be cut (TOOL-18). Raises: NoteNotFound, AmbiguousName where none is found."""
    read: list[ReadNote] = []
    texts: list[str] = []
    room = PAGE
    unread: dict[str, FileEntry] = {}
    missing: dict[str, str] = {}
    for name in names:
        try:
            unread[name] = vault.find(name)
        except (NoteNotFound, AmbiguousName) as error:
            missing[name] = error.message
            if len(missing) < len(set(names)):
                continue
            if len(missing) > 1:
                raise type(error)(
                    " ".join(take_fitting_items(missing.values(), least=1)), names=list(missing)
                ) from error
            raise
    while unread and (room > 0 or current_call.get().wants_all):
        entry = unread.pop(next(iter(unread)))
        content = vault.read_shown(entry)
        text = content.text
        body = text.body
        end = page_end(body, 0, len(body), room)
        room -= end
        visible_text = to_printable(body[:end])
        following = end if end < len(body) else None
        warnings = _warnings(app, entry.path, text) or None
        facts = ReadNote(
            entry.path,
            entry.size,
            entry.modified,
            content.etag,
            next_offset=following,
            warnings=warnings,
        )
        read.append(facts)
        texts.append(
            f"==> {entry.path} <==\n{visible_text}" + ("" if visible_text.endswith("\n") else "\n")
        )
    not_found = dict(take_fitting_items(missing.items(), least=1)) or None
    return DocumentAnswer(ReadNotes(read, list(unread) or None, not_found), "\n".join(texts))


def _random_note(vault: Vault, folder: str) -> FileEntry:
    """Return a note at random, below a folder where one is given; what the user hides is left
    out."""
    inside = vault.folders.find_folder(folder)
    prefix = name_key(inside) + "/" if inside else ""
    hidden = vault.hides()
    notes = [
        entry
        for entry in vault.entries()
        if is_note(entry.path)
        and name_key(entry.path).startswith(prefix)
        and not hidden(entry.path)
    ]
    if not notes:
        raise NoteNotFound(
            f"There is no note{f' below {folder!r}' if inside else ''} to choose from.",
            folder=folder,
        )
    import secrets  # no other read needs it

    return secrets.choice(notes)


LINE_DIGITS = 10
"""No note has a line whose number has so many digits, and Python reads no number of 5 000."""


def _line_number(digits: str) -> int:
    return int(digits.lstrip("0")[:LINE_DIGITS] or 0)


def _part(body: str, section: str, lines: str) -> Span:
    """Return the section or the lines that were asked for. Raises: SectionNotFound,
    InvalidArguments."""
    if section and lines:
        raise InvalidArguments("Give `section` or `lines`, not both.", argument="lines")
    if section:
        from obsidian_mcp.core.note import sections  # loaded when it is needed

        return sections.locate(body, section).whole
    first, dash, last = lines.partition("-")
    starts = [*Lines(body).starts, len(body)]
    count = line_count(body)
    top = max(_line_number(first or "1"), 1)
    bottom = _line_number(last) if last else (count if dash else top)
    if top > bottom or top > count:
        raise InvalidArguments(
            f"The lines {lines!r} are not in the note: it has {write_count(count, 'line')}. "
            "Give them as 10-40, 10- or -40.",
            argument="lines",
        )
    return Span(starts[top - 1], starts[min(bottom, count)])
