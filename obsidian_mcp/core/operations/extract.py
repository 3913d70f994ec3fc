"""Plan to take a part of a note into another one; links follow (COMPOSE-2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.links import link_spans
from obsidian_mcp.core.links.extraction import Extraction
from obsidian_mcp.core.links.rewrite import After, join_by_file, order_edits
from obsidian_mcp.core.links.write_link import generate_link
from obsidian_mcp.core.note import board, edits, footnotes, parser, sections
from obsidian_mcp.core.note.edits import Edit, End, Replacement, apply
from obsidian_mcp.core.note.emptied_sections import remove_emptied_sections
from obsidian_mcp.core.note.headings import heading_for_link, heading_key
from obsidian_mcp.core.note.subpath import id_span
from obsidian_mcp.core.text.sorted_spans import SortedSpans
from obsidian_mcp.core.text.text import Lines, Span, line_count, write_count
from obsidian_mcp.core.text.vault_path import (
    VaultPath,
    file_name_of,
    link_warning,
    parent,
)
from obsidian_mcp.core.vault.folders import FOLDER_OF_NEW_NOTES
from obsidian_mcp.core.vault.operation import Create
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.rewritten import rewritten
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments, NoteExists, NoteNotFound

from .composer import check_are_notes, fill_composer_template
from .joined_text import find_inserted, join
from .mistaken_links import warn_of_mistaken_links
from .new_file import displaced_links
from .referrers import (
    apply_file_edits,
    find_linking_files,
    linked_headings,
    list_places,
    referrers_of,
    unread_links,
)

_BLANK_BEFORE = re.compile(r"\n[ \t]*\r?\n\Z")
_TEXT_NEXT = re.compile(r"(?:(?<!\n)[ \t]*\r?\n)?[ \t]*[^\s]")
_CONTAINERS = re.compile(r"[ \t>]*")
"""What is before a block on its line in lists and quotes."""


def extract(
    vault: Vault,
    source: FileEntry,
    part: str,
    to: str = "",
    *,
    position: End = "append",
    left: Replacement = "link",
    update_links: bool = True,
) -> PlannedChange:
    """Plan to take a part of a note into another one (COMPOSE-2).

    `part` is a heading, for its section, a block (`^id`) or lines (`10-20`). `to` is the other
    note, or a new one called as the heading; one that is there is added to only where it is named.
    Raises: SectionNotFound, InvalidArguments, NoteExists, InvalidName.
    """
    check_are_notes(source)
    before = vault.read_text(source)
    parsed = parser.parse(before.text.body)
    extraction, disk, existing = _extraction(vault, source, parsed, part, to)
    target = extraction.target
    there = vault.read_text(existing) if existing is not None else None
    text, warnings = _text_of_part(extraction, before.text.newline)
    if there is not None:
        text = footnotes.rename_clashing_ids(text, there.text.body)
    text = fill_composer_template(vault, text, source.path, target)
    links = _plan_links(vault, extraction, is_new=there is None, update_links=update_links)
    warnings += links.warnings
    remaining, needed = _remaining_text(
        vault, extraction, links.in_source, left, before.text.newline
    )
    warnings += _warn_of_empty_headings(needed)
    own_files, created = [rewritten(before, remaining)], []
    if there is None:
        data = _new_note(text, parsed.body, before.text.newline)
        created.append(Create(disk, data))
        if not links.rewriting.warnings and (warning := link_warning(target)):  # else those say so
            warnings.append(warning)
    else:
        now = apply(there.text.body, links.in_target)
        after = join(now, text, position)
        own_files.append(rewritten(there, after))
        if update_links:
            inserted = find_inserted(after, now, text, position)
            warnings += warn_of_mistaken_links(
                vault, source.path, target, merged=after, moved=inserted, part=extraction.span
            )
    warnings += unread_links(vault) if update_links else []
    return PlannedChange(
        (*own_files, *links.rewriting.rewritten),
        tuple(created),
        (*warnings, *links.rewriting.warnings, *vault.settings.warnings),
        links.rewriting.reformed,
        source.path,
        target,
    )


def _extraction(
    vault: Vault, source: FileEntry, parsed: parser.Note, part: str, to: str
) -> tuple[Extraction, str, FileEntry | None]:
    """Return what goes where: the extraction, the spelling of its target on disk, and the target
    where it exists."""
    span, heading = _part(parsed, part)
    target, disk, existing = _target(vault, source, to, heading)
    extraction = Extraction(
        before=vault.catalog,
        names=After(vault.catalog, {}, [target]),
        settings=vault.settings,
        parsed=parsed,
        span=span,
        source=source.path,
        target=target,
        footnotes=footnotes.divide(parsed, span),
    )
    return extraction, disk, existing


def _warn_of_empty_headings(headings: Sequence[str]) -> list[str]:
    """Return a warning with the headings that have no text any more, and stay; nothing for none."""
    if not headings:
        return []
    return [f"Without text now, and kept because links lead there: {list_places(headings)}."]


def _text_of_part(extraction: Extraction, newline: str) -> tuple[str, list[str]]:
    """Return the text that leaves a note, its own links leading where they led, and a warning for
    each link for which that is not possible."""
    parsed = extraction.parsed
    own = extraction.own_edits(link_spans.read_note_referrer(extraction.source, parsed))
    text = _moved_text(parsed.body, extraction.span, own.edits, extraction.footnotes, newline)
    return text, [
        f"{skipped.original} was left as it is. {skipped.reason}" for skipped in own.skipped
    ]


@dataclass(frozen=True)
class _LinkPlan:
    """The edits of links that follow a part into its new note."""

    in_source: Sequence[Edit]
    """In the note that the part leaves; its other text changes, too, so they are not made yet."""
    in_target: Sequence[Edit]
    """In the note that the part comes into, likewise."""
    rewriting: PlannedChange
    """The other files, with the edits made."""
    warnings: Sequence[str]


def _plan_links(
    vault: Vault, extraction: Extraction, *, is_new: bool, update_links: bool
) -> _LinkPlan:
    """Plan the edits of links elsewhere that lead into the part, and, where its note `is_new`, of
    links that would lead to that one instead of to another of its name (RENAME-04)."""
    source, target = extraction.source, extraction.target
    files = {source, *find_linking_files(vault, [source])} if update_links else set()
    contents, referrers = referrers_of(vault, files)
    planned = list(extraction.others_edits(referrers))
    warnings: Sequence[str] = ()
    if is_new and vault.catalog.find_by_name(target.rpartition("/")[2]):
        displaced_contents, displaced, warnings = displaced_links(vault, target)
        contents, planned = {**contents, **displaced_contents}, join_by_file([*planned, *displaced])
    here = {edited.path: edited.edits for edited in planned if edited.path in (source, target)}
    elsewhere = [edited._replace(edits=()) if edited.path in here else edited for edited in planned]
    return _LinkPlan(
        in_source=here.get(source, ()),
        in_target=here.get(target, ()),
        rewriting=apply_file_edits(contents, elsewhere),
        warnings=warnings,
    )


def _remaining_text(
    vault: Vault,
    extraction: Extraction,
    link_edits: Sequence[Edit],
    left: Replacement,
    newline: str,
) -> tuple[str, list[str]]:
    """Return the text of the note that the part leaves: with what is `left` in the part's place,
    and with the footnotes that are still needed there; and the headings that have no text any more
    and stay because links lead to them (COMPOSE-9)."""
    parsed, span, notes = extraction.parsed, extraction.span, extraction.footnotes
    body = parsed.body
    kept_footnotes = newline.join(
        text.rstrip(" \t") for text in footnotes.cut_all(body, notes.kept, link_edits)
    )
    link = ""
    if left != "nothing":
        link = _marker(parsed, span) + generate_link(
            extraction.names,
            extraction.target,
            extraction.source,
            settings=vault.settings,
            embed=left == "embed",
        )
    left_edit = _part_replacement(body, span, link, kept_footnotes)
    gone = footnotes.removals(body, notes.removed)
    linked = linked_headings(vault, extraction.source, parsed)
    emptied = remove_emptied_sections(
        body,
        order_edits([*link_edits, left_edit, *gone]),
        lambda heading: heading_key(heading.text) in linked,
    )
    needed = [heading.text for heading in emptied.kept if heading_key(heading.text) in linked]
    return apply(body, emptied.edits), needed


def _new_note(text: str, body: str, newline: str) -> bytes:
    """Return the bytes of a new note with a text, its line ends as those of `body`."""
    ending = "" if text.endswith("\n") else newline
    return (edits.adapt_line_ends(text, body) + ending).encode("utf-8", "surrogateescape")


def _moved_text(
    body: str, part: Span, changes: Sequence[Edit], notes: footnotes.Division, newline: str
) -> str:
    """Return the text of a part, with the footnotes that go along."""
    removals = footnotes.removals(body, notes.left)
    gone = [Edit(Span(edit.span.start, min(edit.span.end, part.end)), "") for edit in removals]
    gone_spans = SortedSpans(edit.span for edit in gone)
    own = [
        edit
        for edit in changes
        if gone_spans.span_around(edit.span.start, edit.span.start + 1) is None
    ]
    text = footnotes.cut(body, part, [*own, *gone, *_quote_marks(body, part)])
    if not notes.carried:
        return text.rstrip("\r\n") if gone else text
    return (
        text.rstrip("\r\n")
        + newline * 2
        + newline.join(footnotes.cut_all(body, notes.carried, own))
    )


def _quote_marks(body: str, part: Span) -> list[Edit]:
    """Return the edits that take the marks of the quote in which a part begins from its other
    lines."""
    line = body.rfind("\n", 0, part.start) + 1
    depth = (
        body.count(">", line, part.start) if _CONTAINERS.fullmatch(body, line, part.start) else 0
    )
    marks = re.compile(rf"\n(?:[ \t]*>[ \t]?){{1,{depth}}}") if depth else None
    quote_marks = marks.finditer(body, part.start, part.end) if marks else ()
    return [Edit(Span(mark.start() + 1, mark.end()), "") for mark in quote_marks]


def _part(parsed: parser.Note, part: str) -> tuple[Span, str]:
    """Return the place of the part, and the text of its heading.

    The place is without the blank lines around it, but with the id of its last block. Raises:
    SectionNotFound, InvalidArguments.
    """
    body = parsed.body
    part_name = part.strip()
    lines = re.fullmatch(r"(?:lines? )?(\d+)-(\d+)", part_name, re.IGNORECASE)
    if lines is None:
        section = sections.find(parsed, part_name)
        span, heading = (
            board.lane_span(parsed, section.span),
            section.heading.text if section.heading else "",
        )
    else:
        starts = [*Lines(body).starts, len(body)]
        first, last, count = int(lines[1]), int(lines[2]), line_count(body)
        if not 1 <= first <= last <= count:
            message = (
                f"The lines {part!r} are not in the note: it has {write_count(count, 'line')}."
            )
            raise InvalidArguments(message, argument="part")
        span, heading = Span(starts[first - 1], starts[last]), ""
    inner = edits.trim_blank_lines(body, span)
    if inner.start < text_start(body):
        raise InvalidArguments(
            "The part holds properties of the note. Take text only.", argument="part"
        )
    if inner.start == inner.end:
        raise InvalidArguments("There is no text in that part of the note.", argument="part")
    blocks = (block for block in parsed.block_ids if inner.start <= block.span.start)
    ids = [
        id_span(body, block) for block in blocks if block.span.start < inner.end == block.span.end
    ]
    return Span(
        inner.start, max([inner.end, *(section.end for section in ids if section)])
    ), heading


def _target(
    vault: Vault, source: FileEntry, to: str, heading: str
) -> tuple[VaultPath, str, FileEntry | None]:
    """Return the note that the part goes into: its path, its spelling on disk, and the note where
    it exists."""
    name = to
    if name.strip():
        try:
            entry = vault.find(name)
        except NoteNotFound:
            if vault.periodic.find_by_name(name):
                raise
        else:
            check_are_notes(entry)
            if entry.path == source.path:
                raise InvalidArguments("A part cannot be taken into its own note.", argument="into")
            return entry.path, entry.disk, entry
    else:
        name = file_name_of(heading_for_link(heading))
        if not name:
            raise InvalidArguments(
                "A part without a heading needs `into`: the name of the note.", argument="into"
            )
    folder = (
        "" if "/" in name else vault.folders.folder_for_notes(vault.settings, parent(source.path))
    )
    path, disk = vault.catalog.new_path(f"{folder}/{name}" if folder else name)
    if folder:
        vault.folders.check_new(path, FOLDER_OF_NEW_NOTES)
    entry_there = vault.entry_at(path) or vault.look_for(disk)
    if entry_there is not None:
        raise NoteExists(
            f"{str(path)!r} exists already. Name it as the target to add to it, or give another "
            "name. Nothing was written.",
            path=str(path),
        )
    return path, disk, None


def _part_replacement(body: str, span: Span, text: str, kept: str) -> Edit:
    """Return what takes the part's place: the `text` of a link, if any, and the footnotes that are
    `kept`."""
    newline = edits.newline_of(body, "")
    start, end = span
    if not text:
        line = body.rfind("\n", 0, start) + 1
        start = line if _CONTAINERS.fullmatch(body, line, start) else start
        end = body.find("\n", end) + 1 or len(body)
    # blank lines around them, or they would be text of a paragraph, or the next one a part of them
    if kept:
        apart = (
            ""
            if not body[: span.start].strip("\r\n") or _BLANK_BEFORE.search(body[: span.start])
            else newline
        )
        text = text + newline * 2 + kept if text else apart + kept + newline
        text += newline if _TEXT_NEXT.match(body, end) else ""
    return Edit(Span(start, end), text)


def _marker(parsed: parser.Note, span: Span) -> str:
    """Return the indent and the marker of a list item that a part begins with, unless the part is
    the whole list."""
    body = parsed.body
    containers = _CONTAINERS.match(body, span.start)
    at = containers.end() if containers else span.start
    item = next(
        (item for item in parsed.list_items if item.span.start <= at < item.content.start), None
    )
    if item is None or any(
        section.span.start == at and section.span.end <= span.end for section in parsed.sections
    ):
        return ""
    return f"{body[span.start : at]}{item.marker} "
