"""Which files and blocks of a vault are outdated, and what holds instead (MEM-01 to MEM-06)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.index.rows import WITH_INLINE_FIELDS, Rows
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.note.validity import (
    Mark,
    MarkedBlock,
    ValidityNames,
    find_mark_of_id,
    find_marked_blocks,
    join_marks,
    link_targets,
    read_mark,
    spellings_of_key,
)
from obsidian_mcp.core.text.vault_path import VaultPath

LONGEST_CHAIN = 50
"""Successors of successors that are followed: circles end there, too."""


@dataclass(frozen=True, slots=True)
class Successor:
    """What a mark names: a file, or a block of it by its id."""

    file: int
    block_id: str
    """Empty for the whole file."""


@dataclass(frozen=True, slots=True)
class OutdatedFiles:
    """The marks of one state of a vault on one day. Files have the numbers of their rows."""

    names: ValidityNames
    today: str
    """`YYYY-MM-DD`."""
    catalog: Catalog
    paths: Mapping[int, VaultPath]
    """The visible files: no other one is a successor, or tells that a file has one."""
    numbers: Mapping[VaultPath, int]
    marks: Mapping[int, Mark]
    """Files that are outdated as a whole."""
    marked_ids: Mapping[int, Mapping[str, Mark]]
    """Blocks, by their ids, that another note says it supersedes."""
    marking: frozenset[int]
    """Files with inline fields that may mark a part of them."""
    is_empty: bool
    """Whether nothing in the vault is marked."""
    read_text: Callable[[VaultPath], str]
    """Reads the text of a file with inline fields: a line may be superseded in steps, too."""

    def read_with(self, read_text: Callable[[VaultPath], str]) -> OutdatedFiles:
        """Return the same marks, with another way to read texts: that of one view of the rows ends
        with it."""
        return replace(self, read_text=read_text)

    def find_blocks(self, number: int, text: str) -> list[MarkedBlock]:
        """Return the outdated parts of a file's text, beside a mark on the whole file."""
        marked_ids = self.marked_ids.get(number, {})
        if number not in self.marking and not marked_ids:
            return []
        return find_marked_blocks(text, self.names, self.today, marked_ids)

    def find_successors(self, number: int, mark: Mark) -> list[int]:
        """Return the files that a mark in a file names, as far as they can be seen."""
        return list(dict.fromkeys(successor.file for successor in self._follow(number, mark)))

    def find_later(self, number: int, mark: Mark) -> list[int]:
        """Return every successor of a marked file, at once or in steps, the first ones first.

        The mark may be that of a block, and so may those of its successors (`[[X#^id]]`).
        """
        return [file for file, _ in self._walk(number, mark)]

    def find_current(self, number: int, mark: Mark) -> list[int]:
        """Return what holds in the end in place of a marked file: the successors that are current,
        else the last one before a circle or an end."""
        later = self._walk(number, mark)
        return [file for file, is_current in later if is_current] or [
            file for file, _ in later[-1:]
        ]

    def _walk(self, number: int, mark: Mark) -> list[tuple[int, bool]]:
        """Return every later file, each once, with whether what is named of it is current."""
        later: dict[int, bool] = {}
        visited: set[Successor] = set()
        waiting = self._follow(number, mark)
        while waiting and len(visited) < LONGEST_CHAIN:
            successor = waiting.pop(0)
            is_itself = successor.file == number and not successor.block_id
            if is_itself or successor in visited:
                continue
            visited.add(successor)
            own = self.marks.get(successor.file) or self._find_mark_of_block(successor)
            if successor.file != number:
                later[successor.file] = own is None or later.get(successor.file, False)
            if own is not None:
                waiting += self._follow(successor.file, own)
        return list(later.items())

    def _follow(self, number: int, mark: Mark) -> list[Successor]:
        """Return what a mark in a file names, as far as it can be seen."""
        successors = []
        for link in mark.successors:
            path = resolve(self.catalog, self.paths[number], link)
            file = None if path is None else self.numbers.get(path)
            if file is not None:
                _, _, block_id = link.partition("#^")
                successors.append(Successor(file, block_id))
        return list(dict.fromkeys(successors))

    def _find_mark_of_block(self, successor: Successor) -> Mark | None:
        """Return the mark of a block that a link leads to; None where it is current."""
        file, block_id = successor.file, successor.block_id
        if not block_id or not (file in self.marking or file in self.marked_ids):
            return None
        text = self.read_text(self.paths[file])
        return find_mark_of_id(text, self.find_blocks(file, text), block_id)

    def describe(self, number: int, mark: Mark) -> str:
        """Return a mark in words, with what holds in the end where the successor does not."""
        text = mark.describe()
        direct = self.find_successors(number, mark)
        current = [file for file in self.find_current(number, mark) if file not in direct]
        if current:
            text += f", now {', '.join(self.link_to(file) for file in current)}"
        return text

    def link_to(self, number: int) -> str:
        """Return a link to a file, as short as it can be."""
        return f"[[{_link_text(self.catalog, self.paths[number])}]]"


def read_outdated(
    rows: Rows,
    catalog: Catalog,
    visible: tuple[Mapping[int, VaultPath], Mapping[VaultPath, int]],
    names: ValidityNames,
    today: str,
) -> OutdatedFiles:
    """Return what the properties of visible files mark, and what notes say they supersede.

    A file is read for its inline fields when it is looked at: most vaults have none.
    """
    paths, numbers = visible
    by_file: dict[int, list[Mark]] = {}
    for key in _keys(names.superseded_by, names.valid_until, names.stale_after, names.status):
        # Most values of a usual name, such as `status`, say nothing of this, and have many files.
        for text, value in rows.file_sets.read_values("properties", key):
            mark = read_mark(key, value, names, today)
            if mark is not None:
                for file in rows.file_sets.with_values("properties", key, [text]):
                    if file in paths:
                        by_file.setdefault(file, []).append(mark)
    marked_ids: dict[int, dict[str, Mark]] = {}
    for source, link in _superseded_links(rows, names, paths):
        path, _, subpath = link.partition("#")
        target = resolve(catalog, paths[source], path)
        number = None if target is None else numbers.get(target)
        if number is None or (number == source and not subpath):
            continue
        mark = Mark("superseded", (_link_text(catalog, paths[source]),))
        if subpath.startswith("^"):
            marked_ids.setdefault(number, {})[subpath[1:]] = mark
        elif not subpath:
            by_file.setdefault(number, []).append(mark)
    joined = {
        number: own[0] if len(own) == 1 else join_marks(own) for number, own in by_file.items()
    }
    marks = {number: mark for number, mark in joined.items() if mark is not None}
    marking = _find_marking_files(rows, names)
    is_empty = not (marks or marked_ids or marking)
    return OutdatedFiles(
        names, today, catalog, paths, numbers, marks, marked_ids, marking, is_empty, rows.text
    )


def _find_marking_files(rows: Rows, names: ValidityNames) -> frozenset[int]:
    """Return the files with inline fields that may mark a part of them as outdated."""
    keys = _keys(names.superseded_by, names.valid_until, names.stale_after, names.status)
    files: set[int] = set()
    for key in keys:
        files |= rows.file_sets.with_key("inline_fields", key)
    return frozenset(files | rows.file_sets.with_task_fields())


def _keys(*roles: Sequence[str]) -> Iterator[str]:
    for names in roles:
        for name in names:
            yield from spellings_of_key(name)


def _superseded_links(
    rows: Rows, names: ValidityNames, paths: Collection[int]
) -> Iterable[tuple[int, str]]:
    """Yield each visible file that says it supersedes something, with the link to that."""
    for table in WITH_INLINE_FIELDS:
        for key in _keys(names.supersedes):
            for value, files in rows.file_sets.group_by_value(table, key):
                for link in link_targets(value):
                    for number in files:
                        if number in paths:
                            yield number, link


def _link_text(catalog: Catalog, path: VaultPath) -> str:
    from obsidian_mcp.core.links.write_link import write_path  # what most searches need nothing of

    name = write_path(catalog, path, "", "wiki", "shortest")
    return path.removesuffix(".md") if name is None else name
