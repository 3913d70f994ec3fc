"""Merge notes, and take a part of a note into another; links follow, as one change
(specs/composer.md)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from obsidian_mcp.core.files.file_entry import FileContent, FileEntry
from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.frontmatter.edits import merge_properties
from obsidian_mcp.core.links import link_spans
from obsidian_mcp.core.links.extraction import Extraction
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.links.rewrite import After, join_by_file, order_edits
from obsidian_mcp.core.links.write_link import generate_link
from obsidian_mcp.core.note import board, edits, footnotes, parser, sections
from obsidian_mcp.core.note.edits import Edit, End, Replacement, apply
from obsidian_mcp.core.note.subpath import heading_for_link, id_span, resolve_subpath
from obsidian_mcp.core.periodic.template import fill
from obsidian_mcp.core.text.text import Lines, Span, line_count, write_count
from obsidian_mcp.core.text.vault_path import (
    VaultPath,
    basename,
    file_name_of,
    is_note,
    link_warning,
    parent,
)
from obsidian_mcp.core.vault.folders import FOLDER_OF_NEW_NOTES
from obsidian_mcp.core.vault.operation import Create, removal
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.rewritten import Rewritten, rewritten
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import (
    InvalidArguments,
    NoteExists,
    NoteNotFound,
    NotText,
    PropertiesUnreadable,
)

from .move import (
    applied,
    displaced_links,
    linking,
    listed,
    lost_bookmarks,
    referrers_of,
    rewrite_links,
    unread_links,
)
from .periodic_notes import Templates

_BLANK_BEFORE = re.compile(r"\n[ \t]*\r?\n\Z")
_TEXT_NEXT = re.compile(r"(?:(?<!\n)[ \t]*\r?\n)?[ \t]*[^\s]")
_CONTAINERS = re.compile(r"[ \t>]*")
"""What is before a block on its line in lists and quotes."""
_KINDS = frozenset(("paragraph", "code", "callout", "blockquote", "table", "math"))
_ITEM = re.compile(r"^\S.*\n?(?:[ \t]+\S.*\n?|[ \t\r]*\n(?=[ \t]))*", re.MULTILINE)
"""An item of a list with what is indented below it."""
_BLANKS = re.compile(r"(?:[ \t]*\r?\n)*")
_VARIABLE = re.compile(r"\{\{(content|fromTitle|newTitle)\}\}", re.IGNORECASE)


def merge(
    vault: Vault, source: FileEntry, target: FileEntry, position: End = "append"
) -> PlannedChange:
    """Plan to put a note into another and remove it; links lead to the other (COMPOSE-1). Raises:
    InvalidArguments, NotText, PropertiesUnreadable."""
    if source.path == target.path:
        raise InvalidArguments("A note cannot be merged into itself.", argument="into")
    _check_notes(source, target)
    rewriting = rewrite_links(vault, {source.path: target.path})
    # A file is read once: the change expects the bytes that it was made from, not those of a later
    # look.
    files = {file.path: file for file in rewriting.rewritten}
    leaving, own = _before_and_after(vault, source, files.get(source.path))
    before, there = _before_and_after(vault, target, files.get(target.path))
    read = frontmatter.read_frontmatter(own)
    if read is not None and read.error:
        raise PropertiesUnreadable(
            f"{str(source.path)!r} cannot be merged. {read.error} Nothing was written."
        )
    text = footnotes.rename_clashing_ids(own[frontmatter.text_start(own) :].strip("\r\n"), there)
    has_linked_parts = any(link.link.subpath for link in vault.graph.backlinks(source.path).value)
    names_of_both = () if has_linked_parts else (basename(source.path), basename(target.path))
    text, left_out = _without_repeats(text, there, names_of_both)
    text = _with_template(vault, text, source.path, target.path)
    body = join(there, text, position)
    if read is not None and read.values:
        body = merge_properties(body, read.values)
    merged = rewritten(before, body)
    warnings = _mistaken(
        vault, source.path, target.path, body, _inserted(body, before.text.body, text, position)
    )
    further_files = tuple(
        file for file in rewriting.rewritten if file.path not in (source.path, target.path)
    )
    removed = removal(source.disk, vault.settings.trash_option)._replace(before=leaving.data)
    remarks = tuple(dict.fromkeys((*rewriting.warnings, *vault.settings.warnings, *warnings)))
    remarks += tuple(lost_bookmarks(vault, {source.path}))
    if left_out:
        parts = f"{left_out} of its headings, paragraphs and items"
        remarks += (f"Left out, because {str(target.path)!r} has it: {parts}.",)
    return PlannedChange((merged, *further_files), (removed,), remarks, source.path, target.path)


def _before_and_after(
    vault: Vault, entry: FileEntry, file: Rewritten | None
) -> tuple[FileContent, str]:
    """Return a note as it is, and its text with rewritten links, where it has some."""
    if file is not None:
        return file.before, file.after.text.body
    content = vault.read_text(entry)
    return content, content.text.body


def _without_repeats(text: str, there: str, names: Collection[str]) -> tuple[str, int]:
    """Return a text without the blocks and items that a note has to the word, and without headings
    that say one of some names; and how many were left out."""
    present = {_words(there, span) for span in _pieces(parser.parse(there))}
    note = parser.parse(text)
    repeated = [span for span in _pieces(note) if _words(text, span) in present]
    repeated += [heading.span for heading in note.outline if heading.text.strip() in names]
    cut = [Edit(_with_blanks(text, span), "") for span in repeated]
    return apply(text, cut), len(cut)


def _with_blanks(text: str, span: Span) -> Span:
    blanks = _BLANKS.match(text, span.end)
    return Span(span.start, blanks.end() if blanks else span.end)


def _pieces(note: parser.Note) -> Iterator[Span]:
    for section in note.sections:
        if section.kind == "list":
            for item in _ITEM.finditer(note.body, section.span.start, section.span.end):
                yield Span(item.start(), item.end())
        elif section.kind in _KINDS:
            yield section.span


def _words(body: str, span: Span) -> str:
    return "\n".join(line.rstrip() for line in span.slice(body).strip().split("\n"))


def _inserted(joined: str, body: str, text: str, position: End) -> Span:
    """Where a text is in the note that became of `body` when it was joined to it."""
    text = edits.adapt_line_ends(text.strip("\r\n"), body)
    start = (
        joined.rindex(text)
        if position == "append"
        else joined.index(text, frontmatter.text_start(joined))
    )
    return Span(start, start + len(text))


def _mistaken(
    vault: Vault,
    source: VaultPath,
    target: VaultPath,
    merged: str,
    moved: Span,
    part: Span | None = None,
) -> list[str]:
    """A warning with the links to one note that would lead to a heading or block of the other,
    after `moved` came from the note `source`, or its `part`, into `target`, now `merged`."""
    contents, referrers = referrers_of(vault, {source, target, *linking(vault, [source, target])})
    before = {
        path: parser.parse(contents[path].text.body)
        for path in (source, target)
        if path in contents
    }
    after = parser.parse(merged)
    mistaken = []
    for referrer in referrers:
        links = [
            (place.link.path, place.link.subpath, place.link.original) for place in referrer.places
        ]
        links += [
            (card.path.value, card.subpath.value, "a card")
            for card in referrer.card_paths
            if card.subpath
        ]
        for path, subpath, written in links:
            goal = resolve(vault.catalog, referrer.path, path) if subpath else None
            then = resolve_subpath(before[goal], subpath) if goal in before else None
            if then is None or (
                goal == source and part and not part.start <= then.span.start < part.end
            ):
                continue
            now = resolve_subpath(after, subpath)
            while now is None and (
                subpath := subpath.lstrip("#").partition("#")[2]
            ):  # headings above a part stay
                now = resolve_subpath(after, f"#{subpath}")
            if now is not None and (moved.start <= now.span.start < moved.end) != (goal == source):
                mistaken.append(f"{referrer.path}: {written}")
    reason = (
        "Both notes have a heading or block of the same name, so these lead to the one of the "
        "other note now"
    )
    return [f"{reason}: {listed(mistaken)}."] if mistaken else []


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
    """Plan to take a heading's section, a block (`^id`) or lines (`10-20`) of a note into another
    one (COMPOSE-2), `to` or a new one called as the heading; one that is there is added to only
    where named. Raises: SectionNotFound, InvalidArguments, NoteExists, InvalidName."""
    _check_notes(source)
    before = vault.read_text(source)
    body = before.text.body
    parsed = parser.parse(body)
    span, heading = _part(parsed, part)
    target, disk, existing = _target(vault, source, to, heading)
    found_names = After(vault.catalog, {}, [target])
    notes = footnotes.divide(parsed, span)
    extraction = Extraction(
        vault.catalog, found_names, vault.settings, parsed, span, source.path, target, notes
    )
    own = extraction.own_edits(link_spans.read_note_referrer(source.path, parsed))
    moved = _moved(body, span, own.edits, notes, before.text.newline)
    there = vault.read_text(existing) if existing is not None else None
    text = moved if there is None else footnotes.rename_clashing_ids(moved, there.text.body)
    text = _with_template(vault, text, source.path, target)
    warnings = [
        f"{skipped.original} was left as it is. {skipped.reason}" for skipped in own.skipped
    ]
    files = {source.path, *linking(vault, [source.path])} if update_links else set()
    contents, referrers = referrers_of(vault, files)
    planned = list(extraction.others_edits(referrers))
    if existing is None and vault.catalog.named(target.rpartition("/")[2]):
        displaced_contents, displaced, unseen = displaced_links(vault, target)
        contents, planned = {**contents, **displaced_contents}, join_by_file([*planned, *displaced])
        warnings += unseen
    here = {edited.path: edited.edits for edited in planned if edited.path in (source.path, target)}
    stays = here.get(source.path, ())
    kept_footnotes = before.text.newline.join(
        footnotes.cut(body, block, stays).rstrip(" \t") for block in notes.kept
    )
    link = ""
    if left != "nothing":
        link = generate_link(
            found_names, target, source.path, settings=vault.settings, embed=left == "embed"
        )
        link = _marker(parsed, span) + link
    left_edit = _left(body, span, link, kept_footnotes)
    rewriting = applied(
        contents,
        [edited._replace(edits=()) if edited.path in here else edited for edited in planned],
    )
    gone = footnotes.removals(body, notes.removed)
    remaining = apply(body, order_edits([*stays, left_edit, *gone]))
    left_behind = rewritten(before, remaining)
    own_files, created = [left_behind], []
    if there is None:
        new_text = edits.adapt_line_ends(text, body) + (
            "" if text.endswith("\n") else before.text.newline
        )
        created.append(Create(disk, new_text.encode("utf-8", "surrogateescape")))
        if not rewriting.warnings and (warning := link_warning(target)):  # else those say so
            warnings.append(warning)
    else:
        now = apply(there.text.body, here.get(target, ()))
        after = join(now, text, position)
        own_files.append(rewritten(there, after))
        if update_links:
            warnings += _mistaken(
                vault, source.path, target, after, _inserted(after, now, text, position), span
            )
    warnings += unread_links(vault) if update_links else []
    remarks = (*warnings, *rewriting.warnings, *vault.settings.warnings)
    return PlannedChange(
        (*own_files, *rewriting.rewritten), tuple(created), remarks, source.path, target
    )


def join(body: str, text: str, position: End) -> str:
    """Return a note with text at an end of it, and an empty line between."""
    text = edits.adapt_line_ends(text.strip("\r\n"), body)
    newline = edits.newline_of(body, text)
    start = frontmatter.text_start(body)
    if not text:
        return body
    if not body[start:].strip():
        return edits.insert_text(body, text)
    if position == "prepend":
        return body[:start] + text + newline * 2 + body[start:].lstrip("\r\n")
    ended = body.endswith("\n")
    return body.rstrip("\r\n") + newline * 2 + text + (newline if ended else "")


def _check_notes(*entries: FileEntry) -> None:
    for entry in entries:
        if not is_note(entry.path):
            raise NotText(f"{str(entry.path)!r} is not a note.", path=entry.path)


def _moved(
    body: str, part: Span, changes: Sequence[Edit], notes: footnotes.Division, newline: str
) -> str:
    """The text of a part with its footnotes."""
    removals = footnotes.removals(body, notes.left)
    gone = [Edit(Span(edit.span.start, min(edit.span.end, part.end)), "") for edit in removals]
    own = [
        edit
        for edit in changes
        if not any(cut.span.start <= edit.span.start < cut.span.end for cut in gone)
    ]
    text = footnotes.cut(body, part, [*own, *gone, *_quote_marks(body, part)])
    if not notes.carried:
        return text.rstrip("\r\n") if gone else text
    return (
        text.rstrip("\r\n")
        + newline * 2
        + newline.join(footnotes.cut(body, span, own) for span in notes.carried)
    )


def _quote_marks(body: str, part: Span) -> list[Edit]:
    """The edits that take the marks of the quote in which a part begins from its other lines."""
    line = body.rfind("\n", 0, part.start) + 1
    depth = (
        body.count(">", line, part.start) if _CONTAINERS.fullmatch(body, line, part.start) else 0
    )
    marks = re.compile(rf"\n(?:[ \t]*>[ \t]?){{1,{depth}}}") if depth else None
    quote_marks = marks.finditer(body, part.start, part.end) if marks else ()
    return [Edit(Span(mark.start() + 1, mark.end()), "") for mark in quote_marks]


def _part(parsed: parser.Note, part: str) -> tuple[Span, str]:
    """The part without the blank lines around it, but with the id of its last block, and the text
    of its heading."""
    body = parsed.body
    part_name = part.strip()
    lines = re.fullmatch(r"(?:lines? )?(\d+)-(\d+)", part_name, re.IGNORECASE)
    if lines is None:
        section = sections.find(parsed, part_name)
        span, heading = (
            board.lane(body, section.span),
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
    if inner.start < frontmatter.text_start(body):
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
    """Path and spelling on disk of the note that the part goes into, and the note where it
    exists."""
    name = to
    if name.strip():
        try:
            entry = vault.find(name)
        except NoteNotFound:
            if vault.periodic.find_by_name(name):
                raise
        else:
            _check_notes(entry)
            if entry.path == source.path:
                raise InvalidArguments("A part cannot be taken into its own note.", argument="into")
            return entry.path, entry.disk, entry
    else:
        name = file_name_of(heading_for_link(heading))
        if not name:
            raise InvalidArguments(
                "A part without a heading needs into: the name of the note.", argument="into"
            )
    folder = "" if "/" in name else vault.folders.for_notes(vault.settings, parent(source.path))
    path, disk = vault.catalog.new_path(f"{folder}/{name}" if folder else name)
    if folder:
        vault.folders.check_new(path, FOLDER_OF_NEW_NOTES)
    entry_there = vault.at(path) or vault.look_for(disk)
    if entry_there is not None:
        raise NoteExists(
            f"{str(path)!r} exists already. Name it as the target to add to it, or give another "
            "name. "
            "Nothing was written.",
            path=str(path),
        )
    return path, disk, None


def _left(body: str, span: Span, text: str, kept: str) -> Edit:
    """What takes the part's place: the `text` of a link, if any, and the footnotes that are
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
    """The indent and the marker of a list item that a part begins with, unless the part is the
    whole list."""
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


def _with_template(vault: Vault, content: str, source: VaultPath, target: VaultPath) -> str:
    """The text as the template of the note composer has it (COMPOSE-5). Raises: NoteNotFound."""
    name = vault.periodic.settings.composer_template
    if not name:
        return content
    template_path = resolve(vault.catalog, "", name)
    if template_path is None:
        if vault.policy.restricts_reading:
            raise vault.policy.refused_setting("the template of the note composer")
        raise NoteNotFound(
            f'The template of the note composer, "{name}", is not in the vault.', template=name
        )
    template = fill(
        vault.read_text(vault.catalog.entry(template_path)).text.body,
        Templates(vault).variables(target),
    )
    values = {"content": content, "fromtitle": basename(source), "newtitle": basename(target)}
    if not any(variable[1].lower() == "content" for variable in _VARIABLE.finditer(template)):
        template = edits.insert_text(template, "{{content}}")
    return _VARIABLE.sub(lambda variable: values[variable[1].lower()], template)
