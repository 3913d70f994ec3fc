"""Plan to write down that a note or block holds no longer, and what holds instead (MEM-20, 21)."""

from __future__ import annotations

from dataclasses import dataclass

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.frontmatter.edits import set_properties
from obsidian_mcp.core.links.write_link import write_path
from obsidian_mcp.core.note.validity import (
    ValidityNames,
    find_line_of_id,
    link_targets,
    normalise_key,
)
from obsidian_mcp.core.search.lines_alike import LINE_CHARACTERS
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.core.text.vault_path import VaultPath, is_note
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.rewritten import rewritten
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments

REASON = "superseded_because"


@dataclass(frozen=True, slots=True)
class SayingPlace:
    """A place that still says what is outdated, or leads to it."""

    path: str
    line: int | None
    """1-based; None for a link in a property."""
    text: str


@dataclass(frozen=True, slots=True)
class Superseding(PlannedChange):
    """Both sides, and what is left to a person to correct."""

    still_said: tuple[SayingPlace, ...] = ()

    @property
    def depends_on_all(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class NotePlace:
    """A note, or a block of one."""

    entry: FileEntry
    block_id: str
    """Empty for the whole note."""

    @property
    def subpath(self) -> str:
        return f"#^{self.block_id}" if self.block_id else ""


def supersede(vault: Vault, old_name: str, new_name: str, reason: str = "") -> Superseding:
    """Plan to mark a note or block (`Note#^id`) as superseded by another one, on both sides.

    Raises: InvalidArguments for the same thing twice, what is already superseded by the old one,
    and a block that cannot hold a field; NoteNotFound, PropertiesUnreadable.
    """
    old, new = _find_place(vault, old_name, "name"), _find_place(vault, new_name, "into")
    is_same_note = old.entry.path == new.entry.path
    if is_same_note and not (old.block_id and new.block_id and old.block_id != new.block_id):
        raise InvalidArguments("A note cannot be superseded by itself.", argument="into")
    names = vault.search.validity_names
    _check_no_circle(vault, old, new)
    before_old, before_new = vault.read_note(old.entry), vault.read_note(new.entry)
    old_link, new_link = _link(vault, new, old), _link(vault, old, new)
    texts = {old.entry.path: before_old.text.body}
    texts.setdefault(new.entry.path, before_new.text.body)
    old_text = _text_of(texts[old.entry.path], old)
    new_text = _text_of(texts[new.entry.path], new)
    texts[old.entry.path] = _mark_old(texts[old.entry.path], old, old_link, names, reason)
    texts[new.entry.path] = _mark(texts[new.entry.path], new, names.supersedes[0], new_link)
    contents = {old.entry.path: before_old, new.entry.path: before_new}
    return Superseding(
        tuple(rewritten(contents[path], texts[path]) for path in texts),
        source=old.entry.path,
        target=new.entry.path,
        still_said=tuple(_find_still_said(vault, old, new, old_text, new_text)),
    )


def _find_place(vault: Vault, name: str, argument: str) -> NotePlace:
    """Raises: InvalidArguments for a part that is no block, or no note; NoteNotFound."""
    written = name.strip().removeprefix("[[").removesuffix("]]").partition("|")[0]
    note, _, part = written.partition("#")
    if part and not part.startswith("^"):
        raise InvalidArguments(
            f"{name!r} is a heading. Give a note, or a block of one as Note#^id.",
            argument=argument,
        )
    entry = vault.find(note)
    if not is_note(entry.path):
        raise InvalidArguments(f"{str(entry.path)!r} is no note.", argument=argument)
    place = NotePlace(entry, part.removeprefix("^"))
    if place.block_id and find_line_of_id(vault.read_note(entry).text.body, place.block_id) is None:
        raise InvalidArguments(
            f"{str(entry.path)!r} has no list item or paragraph with the id ^{place.block_id}. "
            "Write the id behind its last line first.",
            argument=argument,
        )
    return place


def _check_no_circle(vault: Vault, old: NotePlace, new: NotePlace) -> None:
    """Raises: InvalidArguments where the new note is superseded, at once or in steps, by the
    old."""
    outdated = vault.search.read_outdated()
    number = outdated.numbers.get(new.entry.path)
    mark = None if number is None else outdated.marks.get(number)
    if number is None or mark is None or old.block_id or new.block_id:
        return
    if old.entry.path in [outdated.paths[last] for last in outdated.find_later(number, mark)]:
        raise InvalidArguments(
            f"{str(new.entry.path)!r} is {outdated.describe(number, mark)}: both would supersede "
            "each other. Remove that property first.",
            argument="into",
        )


def _link(vault: Vault, target: NotePlace, source: NotePlace) -> str:
    """Return the wikilink to a place; properties know no other links."""
    path = write_path(
        vault.catalog,
        target.entry.path,
        source.entry.path,
        "wiki",
        vault.settings.new_link_format,
        subpath=target.subpath,
    )
    return f"[[{target.entry.path if path is None else path}{target.subpath}]]"


def _mark_old(text: str, old: NotePlace, link: str, names: ValidityNames, reason: str) -> str:
    text = _mark(text, old, names.superseded_by[0], link)
    return _mark(text, old, REASON, " ".join(reason.split())) if reason.strip() else text


def _mark(text: str, place: NotePlace, name: str, value: str) -> str:
    """Return a note with a property, or a field in a block, that has the value among others."""
    if place.block_id:
        line = find_line_of_id(text, place.block_id)
        assert line is not None  # noqa: S101  `_find_place` has looked
        start, end = line
        if not value.startswith("[["):
            value = value.replace("[", "(").replace("]", ")")
        field = f"[{name}:: {value}]"
        return text if field in text[start:end] else f"{text[:end]} {field}{text[end:]}"
    block = frontmatter.read_frontmatter(text)
    values = block.values or {} if block is not None else {}
    key = next((own for own in values if normalise_key(own) == normalise_key(name)), name)
    present = values.get(key)
    if name == REASON or present in (None, "", [], False, True):
        return set_properties(text, {key: value if name != "supersedes" else [value]})
    listed = present if isinstance(present, list) else [present]
    if link_targets(value)[0] in link_targets(listed):
        return text
    return set_properties(text, {key: [*listed, value]})


def _text_of(body: str, place: NotePlace) -> str:
    """Return what a note or block says."""
    if not place.block_id:
        return body
    line = find_line_of_id(body, place.block_id)
    return "" if line is None else body[line[0] : line[1]]


def _find_still_said(
    vault: Vault, old: NotePlace, new: NotePlace, old_text: str, new_text: str
) -> list[SayingPlace]:
    """Return the current notes that lead to the old place, then the lines that say what it says."""
    both = (old.entry.path, new.entry.path)
    outdated = vault.search.read_outdated()
    current = [
        reference
        for reference in vault.graph.backlinks(old.entry.path).value
        if reference.source not in both
        and outdated.numbers.get(reference.source) not in outdated.marks
        and (not old.block_id or reference.link.subpath == old.subpath)
    ]
    places: dict[tuple[VaultPath, int | None], SayingPlace] = {}
    for reference, text in zip(current, vault.graph.contexts(current), strict=True):
        key = reference.source, reference.line
        places.setdefault(key, SayingPlace(str(reference.source), reference.line, _short(text)))
    for hit in vault.search.find_lines_alike(old_text, new_text, both):
        place = SayingPlace(str(hit.path), hit.line, _short(hit.text))
        places.setdefault((hit.path, hit.line), place)
    return list(places.values())


def _short(text: str | None) -> str:
    return cut_text(" ".join((text or "").split()), LINE_CHARACTERS)
