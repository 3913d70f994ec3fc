"""What is wrong with what notes say of their own validity (MEM-22)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from obsidian_mcp.core.graph.results import Reference
from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.note.validity import Mark, MarkedBlock
from obsidian_mcp.core.search.outdated_files import OutdatedFiles
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.core.vault.vault import Vault


class ValidityProblem(NamedTuple):
    """A circle, a successor that is missing, or a current note that relies on an outdated one."""

    path: VaultPath
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class _MarkedNote:
    number: int
    text: str
    blocks: list[MarkedBlock]


def find_validity_problems(vault: Vault) -> list[ValidityProblem]:
    """Return what is wrong, by path and line."""
    outdated = vault.search.read_outdated()
    notes = {note.number: note for note in vault.search.ask_outdated(_read_marked_notes)}
    problems = [*_find_circles(outdated), *_find_missing(outdated, notes)]
    for number, mark in outdated.marks.items():
        backlinks = vault.graph.backlinks(outdated.paths[number]).value
        relying = [
            reference
            for reference in backlinks
            if _is_reliance(outdated, number, reference, notes) and reference.line is not None
        ]
        reason = f"{outdated.link_to(number)}, {outdated.describe(number, mark)}"
        problems += [
            ValidityProblem(reference.source, reference.line, f"Relies on {reason}: {context}")
            for reference, context in zip(relying, vault.graph.contexts(relying), strict=True)
        ]
    return sorted(set(problems), key=lambda problem: (problem.path, problem.line or 0, problem[2]))


def _read_marked_notes(rows: Rows, outdated: OutdatedFiles) -> list[_MarkedNote]:
    """Return the notes that have outdated blocks."""
    notes = []
    for number in sorted(outdated.marking | outdated.marked_ids.keys()):
        if number in outdated.paths:
            text = rows.text(outdated.paths[number])
            if blocks := outdated.find_blocks(number, text):
                notes.append(_MarkedNote(number, text, blocks))
    return notes


def _find_circles(outdated: OutdatedFiles) -> Iterator[ValidityProblem]:
    """Yield each circle once, at its first note."""
    for number, mark in outdated.marks.items():
        later = outdated.find_later(number, mark)
        returns = [
            file
            for file in (number, *later)
            if (own := outdated.marks.get(file)) and number in outdated.find_successors(file, own)
        ]
        circle = sorted([number, *later], key=lambda file: outdated.paths[file])
        if returns and circle[0] == number:
            named = ", ".join(map(outdated.link_to, circle))
            path = outdated.paths[number]
            yield ValidityProblem(path, None, f"Superseded in a circle: {named}.")


def _find_missing(
    outdated: OutdatedFiles, notes: dict[int, _MarkedNote]
) -> Iterator[ValidityProblem]:
    """Yield the successors that are no files."""
    for number, mark in outdated.marks.items():
        for link in _list_missing_links(outdated, number, mark):
            path = outdated.paths[number]
            yield ValidityProblem(path, None, f"The successor is missing: [[{link}]].")
    for number, note in notes.items():
        for block in note.blocks:
            line = note.text.count("\n", 0, block.start) + 1
            for link in _list_missing_links(outdated, number, block.mark):
                path = outdated.paths[number]
                yield ValidityProblem(path, line, f"The successor is missing: [[{link}]].")


def _list_missing_links(outdated: OutdatedFiles, number: int, mark: Mark) -> list[str]:
    source = outdated.paths[number]
    return [link for link in mark.successors if resolve(outdated.catalog, source, link) is None]


def _is_reliance(
    outdated: OutdatedFiles, number: int, reference: Reference, notes: dict[int, _MarkedNote]
) -> bool:
    """Return whether a link is one of a current note, or line, which is no successor."""
    source = outdated.numbers.get(reference.source)
    if source is None or source == number or source in outdated.marks:
        return False
    if source in outdated.find_successors(number, outdated.marks[number]):
        return False
    note, start = notes.get(source), reference.link.start
    if note is None or start is None:
        return True
    return not any(block.start <= start < block.end for block in note.blocks)
