"""Create, read, move and delete notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812  an argument is called date
from functools import partial
from itertools import islice
from typing import Annotated, Any, Literal, TypeVar

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.app import App
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.text import vault_path
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.text import (
    BOM,
    Lines,
    Span,
    Text,
    etag_of,
    hidden_text_warnings,
    line_count,
    printable,
    write_count,
)
from obsidian_mcp.core.text.vault_path import (
    TEXT_EXTENSIONS,
    VaultPath,
    extension,
    is_note,
    name_key,
)
from obsidian_mcp.core.vault.folders import FOLDER_OF_NEW_NOTES
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AmbiguousName, InvalidArguments, NoteExists, NoteNotFound

from .arguments import MOST_RESULTS, Argument, Name, VaultName
from .paging import PAGE, first_of, fitting, page_end
from .registry import TOOLS, DocumentAnswer, plain, tool

if TYPE_CHECKING:
    from obsidian_mcp.core.note.parser import Note
    from obsidian_mcp.core.operations.periodic_notes import Filled
    from obsidian_mcp.core.periodic.names import LocatedNote

T = TypeVar("T")

UNIQUE = "unique:"
"""Begins the name of a note that is named by the minute (PERIODIC-19)."""
RANDOM = "random:"
"""Begins the name of a note that is chosen at random, with a folder behind it or nothing."""
MISTAKES_SHOWN = 10
MOST_AROUND = 10
"""Entries of each kind in the view context."""
MENTIONS_COUNTED = 100
TASK_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Created:
    path: str
    created: bool
    """False where an existing note was replaced."""
    etag: str
    cursor: str | None = None
    """Line and column at which the template wants the cursor, 1-based."""
    warnings: list[str] | None = None


@tool(title="Create note", writes=True, destructive=True, idempotent=True)
def create_note(
    app: App,
    name: Annotated[str, Argument(description="Name, or path with folders", min_length=1)],
    content: Annotated[str, Argument(description="Markdown")] = "",
    overwrite: Annotated[bool, Argument(description="Replace an existing note")] = False,
    template: Annotated[
        str, Argument(description="Its name; auto: Templater's for the folder")
    ] = "",
    properties: Annotated[dict[str, Any], Argument(description="Frontmatter")] = {},  # noqa: B006  never changed
    date: Annotated[
        str, Argument(description="Day of the template's {{date}}: tomorrow, 2026-11-30")
    ] = "",
    vault: VaultName = "",
) -> Created:
    """Create (make) a new note, from a template with content behind it; its frontmatter and
    properties merge into the template's. The name unique: is the minute."""
    from obsidian_mcp.core.frontmatter.edits import set_properties
    from obsidian_mcp.core.note import edits  # what reading a note does without
    from obsidian_mcp.core.operations.new_file import create_file
    from obsidian_mcp.core.vault.operation import Write

    opened = app.vaults.get(vault)
    with opened.changing():
        located = opened.periodic.find_by_name(name) if ":" in name else None
        if located is not None and located.entry is None and not template:
            _read_date(opened, date, template)
            return _periodic(opened, located, content, properties)
        if name.lower().startswith(UNIQUE):
            from obsidian_mcp.core.operations.periodic_notes import PeriodicNotes

            name, template = PeriodicNotes(opened).unique(name[len(UNIQUE) :], template)
        path, disk, warnings = _new_path(opened, located.path if located else name)
        if warning := vault_path.link_warning(path):
            warnings.append(warning)
        cursor = None
        day = _read_date(opened, date, template)
        if template:
            filled = _fill_template(opened, template, path, content, properties, day)
            content = filled.text
            cursor = f"{filled.cursor[0]}:{filled.cursor[1]}" if filled.cursor else None
            warnings += filled.warnings
        elif properties:
            content = set_properties(content, properties, joins_lists=True)
        entry = opened.at(path) or opened.look_for(disk)
        if entry is None:
            if same := [
                namesake
                for namesake in opened.catalog.named(path.rpartition("/")[2])
                if namesake != path
            ]:
                warnings.append(
                    f"The name is now ambiguous: {same[0]!r} has it too. Links need the path."
                )
            data = Text(content).encode()
            warnings += create_file(opened, "create_note", path, disk, data)
        elif overwrite:
            path, before = entry.path, opened.read(entry)
            data = edits.overwrite_text(before.data, content)
            opened.commit("create_note", [Write(entry.disk, before.data, data)])
        else:
            raise NoteExists(
                f"{str(entry.path)!r} exists already. Choose another name, or set overwrite to "
                "true to replace the "
                "whole note; obsidian_edit_note changes a part of it.",
                path=str(entry.path),
            )
        warnings += base_mistakes(path, content)
        return Created(path, entry is None, etag_of(data), cursor, warnings or None)


def _new_path(vault: Vault, name: str) -> tuple[VaultPath, str, list[str]]:
    """Where a new note goes: a name without a folder and extension, which no file of the root has,
    where the settings put new notes (NAME-13); with warnings about these."""
    path, disk = vault.catalog.new_path(name)
    settings = vault.settings
    is_bare = not name.strip().lower().endswith(TEXT_EXTENSIONS) and not {"/", "\\"} & set(name)
    if not is_bare or vault.at(path) is not None:
        return path, disk, []
    if folder := vault.folders.for_notes(settings):
        path, disk = vault.catalog.new_path(f"{folder}/{path}")
        vault.folders.check_new(path, FOLDER_OF_NEW_NOTES)
    return path, disk, [*settings.warnings]


def base_mistakes(path: str, text: str) -> list[str]:
    """What is wrong with a base, with line and column; nothing for other files (BASE-09)."""
    if not path.lower().endswith(".base"):
        return []
    from obsidian_mcp.core.bases.validation import validate_base  # loaded when it is needed

    return [str(mistake) for mistake in validate_base(text)[:MISTAKES_SHOWN]]


def _read_date(vault: Vault, date: str, template: str) -> Date | None:
    """Return the day of a template; None for today. Raises: InvalidArguments for a text that names
    no day."""
    if not date.strip():
        return None
    if not template:
        raise InvalidArguments(
            "date is the day of a template's {{date}}; give template too.", argument="date"
        )
    from obsidian_mcp.core.calendar.days import FORMS, read_days

    days = read_days(date, vault.calendar.today)
    if days is None or days.first != days.last:
        raise InvalidArguments(f"date {date!r} names no single day. Give {FORMS}.", argument="date")
    return days.first


def _fill_template(
    vault: Vault,
    template: str,
    path: VaultPath,
    content: str,
    properties: Mapping[str, Any],
    day: Date | None,
) -> Filled:
    """Return the text of a new note: the filled template with the content behind it and the
    properties of both. Raises: TemplateFailed, PropertiesUnreadable."""
    from obsidian_mcp.core.frontmatter.edits import set_properties
    from obsidian_mcp.core.frontmatter.parser import text_start
    from obsidian_mcp.core.note import edits
    from obsidian_mcp.core.operations.periodic_notes import Filled, Templates, insert_template

    templates = Templates(vault, day)
    template_entry = (
        templates.find_for_folder(vault_path.parent(path))
        if template == "auto"
        else templates.find(template)
    )
    if template_entry is None:
        return Filled(
            content, warnings=("Templater has no template for this folder; none was used.",)
        )
    filled = templates.fill(template_entry, path)
    text = set_properties(filled.text, properties, joins_lists=True)
    if text_start(content):
        text = insert_template(content, text, "prepend")
    elif content:
        text = edits.insert_text(text, content)
    line, column = filled.cursor or (0, 0)
    line += text.count("\n", 0, text_start(text)) - filled.text.count(
        "\n", 0, text_start(filled.text)
    )
    return filled._replace(text=text, cursor=(line, column) if filled.cursor else None)


def _periodic(
    vault: Vault, located: LocatedNote, content: str, properties: Mapping[str, Any]
) -> Created:
    """A periodic note is made as the vault makes it."""
    from obsidian_mcp.core.frontmatter.edits import set_properties
    from obsidian_mcp.core.note import edits
    from obsidian_mcp.core.operations.periodic_notes import PeriodicNotes

    def change(body: str) -> str:
        body = set_properties(body, properties, joins_lists=True)
        return edits.insert_text(body, content) if content else body

    opened = PeriodicNotes(vault).open(
        "create_note",
        located.rule.period,
        located.day.isoformat(),
        change if content or properties else None,
    )
    cursor = f"{opened.cursor[0]}:{opened.cursor[1]}" if opened.cursor else None
    return Created(
        opened.located.path, opened.created, opened.content.etag, cursor, [*opened.warnings] or None
    )


@dataclass(frozen=True, slots=True)
class Deleted:
    path: str
    trashed: bool
    location: str | None = None
    """Where the note can be found again."""
    attachments: list[str] | None = None
    """Attachments that were deleted with it."""
    warnings: list[str] | None = None


@tool(title="Delete note", writes=True, destructive=True)
def delete_note(
    app: App,
    name: Name,
    permanent: Annotated[bool, Argument(description="Do not use the trash")] = False,
    attachments: Annotated[
        bool, Argument(description="Also attachments used by nothing else")
    ] = False,
    vault: VaultName = "",
) -> Deleted:
    """Delete a note or attachment: into the trash of the vault's settings. Links to it stay."""
    from obsidian_mcp.core.operations.stale_names import lost_bookmarks
    from obsidian_mcp.core.vault.operation import removal

    opened = app.vaults.get(vault)
    entry = opened.find(name)
    settings = opened.settings
    along = _own_attachments(opened, entry) if attachments else []
    operations = [
        removal(file.disk, settings.trash_option, permanent=permanent) for file in (*along, entry)
    ]
    warnings = lost_bookmarks(opened, {file.path for file in (*along, entry)})
    if not permanent:
        warnings += settings.warnings
    committed = opened.commit("delete_note", operations)
    files = [str(file.path) for file in along]
    return Deleted(
        entry.path,
        not operations[-1].permanent,
        committed.location,
        files or None,
        warnings or None,
    )


def _own_attachments(vault: Vault, note: FileEntry) -> list[FileEntry]:
    """The attachments that a note links to and no other file does."""
    vault.indexer.complete()
    targets = dict.fromkeys(
        link.target for link in vault.graph.outgoing(note.path).value if link.target
    )
    entries = (
        vault.catalog.get(target) for target in targets if extension(target) not in TEXT_EXTENSIONS
    )
    attachments = [entry for entry in entries if entry is not None]
    return [
        file
        for file in attachments
        if {link.source for link in vault.graph.backlinks(file.path).value} == {note.path}
    ]


@dataclass(frozen=True, slots=True)
class OutlineHeading:
    level: int
    heading: str
    line: int


@dataclass(frozen=True, slots=True)
class ReadNote:
    path: str
    size: int
    modified: str
    etag: str
    lines: str | None = None
    """First and last line of the text that follows, 1-based."""
    total_lines: int | None = None
    next_offset: int | None = None
    """Where to go on when the text is longer than a page."""
    alias: str | None = None
    """The alias that the note was found by."""
    outline: list[OutlineHeading] | None = None
    properties: dict[str, Any] | None = None
    tags: list[str] | None = None
    aliases: list[str] | None = None
    blocks: list[str] | None = None
    """Block ids that links can name."""
    tasks: dict[str, int] | None = None
    """How many are open and done."""
    words: int | None = None
    """As the app counts them, without the properties."""
    characters: int | None = None
    warnings: list[str] | None = None


@tool(title="Read note")
def read_note(
    app: App,
    name: Annotated[str, Argument(description="Name or path")] = "",
    names: Annotated[list[str], Argument(description="Instead: several notes")] = [],  # noqa: B006  never changed
    section: Annotated[str, Argument(description="Heading, Parent#Child or ^block")] = "",
    lines: Annotated[str, Argument(description="Such as 10-40", pattern=r"^(\d*-?\d*)$")] = "",
    view: Annotated[
        Literal["text", "outline", "properties", "metadata", "context"],
        Argument(description="context: also links, tasks, similar notes"),
    ] = "text",
    offset: Annotated[int, Argument(description="next_offset", ge=0)] = 0,
    vault: VaultName = "",
) -> DocumentAnswer:
    """Read (open) a note: a JSON line with path and etag, then the text exactly as in the file,
    long ones in pages. The names daily:today and random: work too."""
    opened = app.vaults.get(vault, listed=not name or ":" in name)
    if bool(name) == bool(names):
        raise InvalidArguments("Give either name or names.", argument="name")
    if names:
        if section or lines or offset or view != "text":
            raise InvalidArguments(
                "Several notes are read whole; for a part or a view give name.", argument="names"
            )
        return _several(app, opened, names)
    is_random = name.lower().startswith(RANDOM)
    entry, alias = (
        (_random(opened, name[len(RANDOM) :]), None) if is_random else opened.resolve(name)
    )
    data = opened.shown(entry).data
    text = Text.decode(data)
    facts = partial(ReadNote, entry.path, entry.size, entry.modified, etag_of(data), alias=alias)
    warnings = _warnings(app, entry.path, text)
    if view != "text":
        structure = _view_structure(facts, entry.path, text.body, view, warnings)
        return DocumentAnswer(
            _view_context(app, opened, entry, structure) if view == "context" else structure, None
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
    return DocumentAnswer(read_part, printable(body[start:end]))


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
    mistakes = [] if path.endswith(vault_path.NOTE_EXTENSION) else base_mistakes(path, text.body)
    return unreadable + mistakes + hidden


def _several(app: App, vault: Vault, names: list[str]) -> DocumentAnswer:
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
                    " ".join(fitting(missing.values(), least=1)), names=list(missing)
                ) from error
            raise
    while unread and (room > 0 or current_call.get().wants_all):
        entry = unread.pop(next(iter(unread)))
        content = vault.shown(entry)
        text = content.text
        body = text.body
        end = page_end(body, 0, len(body), room)
        room -= end
        visible_text = printable(body[:end])
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
    not_found = dict(fitting(missing.items(), least=1)) or None
    return DocumentAnswer(ReadNotes(read, list(unread) or None, not_found), "\n".join(texts))


def _random(vault: Vault, folder: str) -> FileEntry:
    """A note at random, below a folder where one is given; what the user hides is left out."""
    inside = vault.folders.named(folder)
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
    """The section or the lines that were asked for. Raises: SectionNotFound, InvalidArguments."""
    if section and lines:
        raise InvalidArguments("Give section or lines, not both.", argument="lines")
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


def _view_structure(
    facts: partial[ReadNote], path: VaultPath, body: str, view: str, warnings: list[str]
) -> ReadNote:
    """A note's structure, or that of all text cards of a canvas (TAG-11)."""
    from obsidian_mcp.core.note import canvas, parser
    from obsidian_mcp.core.note.counts import count

    numbers = Lines(body)
    texts: list[tuple[Note, Callable[[Span], Span]]]
    if extension(path) == vault_path.CANVAS_EXTENSION:
        board = canvas.read_canvas(body)
        warnings += [board.error] if board.error else []
        texts = [
            (parser.parse(card.text.value), card.text.place)
            for card in board.cards
            if card.text is not None
        ]
        properties, aliases = {}, []
    else:
        parsed = parser.parse(body)
        if parsed.frontmatter is not None and parsed.frontmatter.error:
            warnings.append(parsed.frontmatter.error)
        texts = [(parsed, lambda span: span)]
        properties, aliases = parsed.properties, parsed.aliases

    def take(part: str, items: Sequence[T]) -> list[T]:
        first = fitting(
            first_of(items, MOST_AROUND if view == "context" else MOST_RESULTS)[0], least=1
        )
        if len(first) < len(items):
            warnings.append(
                f"These are the first {len(first)} of {len(items)} {part}. Read the text, by "
                "lines, for the others."
            )
        return first

    headings = [
        OutlineHeading(heading.level, heading.text, numbers.line(place(heading.span).start) + 1)
        for text, place in texts
        for heading in text.outline
    ]
    if view == "outline":
        return facts(outline=take("headings", headings), warnings=warnings or None)
    properties = dict(take("properties", list(properties.items())))
    if view == "properties":
        return facts(properties=properties, warnings=warnings or None)
    counted = count(body) if is_note(path) else None
    marks = [task.mark for text, _ in texts for task in text.tasks]
    return facts(
        outline=take("headings", headings),
        properties=properties,
        tags=take("tags", list(dict.fromkeys(tag for text, _ in texts for tag in text.all_tags))),
        aliases=take("aliases", aliases),
        blocks=take("block ids", [f"^{block.id}" for text, _ in texts for block in text.block_ids]),
        tasks={"open": marks.count(" "), "done": len(marks) - marks.count(" ")},
        words=counted.words if counted else None,
        characters=counted.characters if counted else None,
        warnings=warnings or None,
    )


def _view_context(app: App, vault: Vault, entry: FileEntry, structure: ReadNote) -> dict[str, Any]:
    """Return a note's structure and what a person sees around it: links, tasks, mentions, similar
    notes (TOOL-32)."""
    from obsidian_mcp.core.expressions.answer import Page
    from obsidian_mcp.core.operations import mentions
    from obsidian_mcp.core.operations.tasks import find_tasks
    from obsidian_mcp.core.tasks.listing import ListRequest

    def call_tool(name: str) -> dict[str, Any]:
        arguments = {"name": entry.path, "limit": MOST_AROUND, "vault": vault.name}
        return {
            key: value
            for key, value in TOOLS[name].call(app, arguments).data.items()
            if key != "next_offset"
        }

    links = call_tool("obsidian_get_links")
    names = mentions.names_of(vault, entry)
    naming = mentions.notes_with(vault, entry, names)
    unlinked = mentions.unlinked_mentions(vault, naming.notes, names)
    counted = sum(1 for _ in islice(unlinked, MENTIONS_COUNTED + 1))
    open_tasks = find_tasks(
        vault, ListRequest("todo", path=entry.path), "", Page(MOST_AROUND)
    ).tasks
    found_around = {
        **plain(structure),
        "open_tasks": [
            {"line": task.line, "text": task.text[:TASK_CHARACTERS]} for task in open_tasks
        ],
        **links,
        "unlinked_mentions": min(counted, MENTIONS_COUNTED),
        "more_unlinked_mentions": True if counted > MENTIONS_COUNTED or naming.more else None,
        "similar": call_tool("obsidian_similar")["similar"] if is_note(entry.path) else [],
    }
    return {name: value for name, value in found_around.items() if value not in ([], {}, None)}
