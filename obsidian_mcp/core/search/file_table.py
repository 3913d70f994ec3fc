"""The files that a search may list, by their number in the index, and their paths as one text (specs/search.md)."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.index import extract
from obsidian_mcp.core.query.regexp import RegExp
from obsidian_mcp.core.text.casefold import fold
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, VaultPath, is_note

LATER = 1_000
"""Paths that came later, up to which they are looked at one by one."""


class _Lines:
    """Paths as one text, folded, one a line. A line end in a path is NUL here."""

    def __init__(self, paths: Mapping[VaultPath, object]) -> None:
        self.paths = paths
        self._listed = list(paths)

    def make(self) -> None:
        """Make the text now, which is made else when it is first asked for."""
        _ = self._text

    @cached_property
    def _text(self) -> tuple[str, array[int]]:
        """With where each begins."""
        starts, at = array("Q"), 0
        folded = []
        for path in self._listed:
            line = _line(path)
            folded.append(line)
            starts.append(at)
            at += len(line) + 1
        return "\n".join([*folded, ""]), starts

    def holding(self, text: str) -> Iterator[VaultPath]:
        lines, starts = self._text
        at = lines.find(text)
        while at >= 0:
            yield self._listed[bisect_right(starts, at) - 1]
            at = lines.find(text, lines.find("\n", at))


@dataclass(frozen=True)
class Spelled:
    """The paths of some moment, and those that came later."""

    first: _Lines
    later: frozenset[VaultPath] = frozenset()

    def holding(self, text: str) -> Iterator[VaultPath]:
        """Those whose folded form contains `text`, and that may be gone by now."""
        text = text.replace("\n", "\0")
        yield from self.first.holding(text)
        yield from (path for path in self.later if text in _line(path))

    def and_also(self, paths: AbstractSet[VaultPath], everything: Mapping[VaultPath, object]) -> Spelled:
        """With some more, of now `everything`."""
        later = self.later.union(path for path in paths if path not in self.first.paths)
        return Spelled(self.first, later) if len(later) <= LATER else Spelled(_Lines(everything))


@dataclass(frozen=True)
class Roster:
    """What was there at one moment, without hidden files. Files that the index does not know are not in `paths`."""

    paths: Mapping[int, VaultPath]
    """Notes and canvases by number."""
    numbers: Mapping[VaultPath, int]
    """The same the other way round."""
    others: tuple[FileEntry, ...]
    """Files without contents, by path."""
    canvases: frozenset[int]
    hides: Callable[[str], bool]
    """Whether the user hides the file at a path."""

    complete: bool
    """Whether the rows tell of no other files than these."""
    spelled: Spelled
    """The paths, and perhaps others."""

    @cached_property
    def files(self) -> frozenset[int]:
        return frozenset(self.paths)

    def shown(self, entries: Collection[FileEntry]) -> Collection[FileEntry]:
        """Those that the user does not hide."""
        if self.hides is _nothing:
            return entries
        return [entry for entry in entries if not self.hides(entry.path)]

    def spell(self) -> None:
        """Make ready what `path_holds` looks through: 0.3 µs a path."""
        self.spelled.first.make()

    def path_holds(self, text: str) -> Iterator[int]:
        """Files whose folded path contains `text`, some of them perhaps twice."""
        for path in self.spelled.holding(text):
            number = self.numbers.get(path)
            if number is not None:
                yield number

    def path_matches(self, expression: RegExp) -> Iterator[int]:
        """Files whose path an expression matches. Raises: OperationTimeout."""
        return (number for number, path in self.paths.items() if expression.found(path))


def of(
    numbers: Mapping[VaultPath, int], there: Mapping[str, FileEntry], hidden: Callable[[str], bool] | None
) -> Roster:
    """`numbers` are the files of the rows, `there` those of the vault; `hidden` None where none is."""
    shown = there if hidden is None else {path: entry for path, entry in there.items() if not hidden(path)}
    # With the strings of the entries, so that those of the rows need no room.
    paths = {number: entry.path for path, number in numbers.items() if (entry := shown.get(path)) is not None}
    own = {path: number for number, path in paths.items()}
    others = [shown[path] for path in shown.keys() - own.keys() if not extract.indexable(path)]
    complete = len(paths) == len(numbers)
    spelled = Spelled(_Lines(own))
    return Roster(paths, own, _sorted(others), _canvases(paths.items()), hidden or _nothing, complete, spelled)


def moved_on(
    known: Roster,
    get: Callable[[str], FileEntry | None],
    moved: AbstractSet[VaultPath],
    changed: Mapping[VaultPath, int],
    numbers: Callable[[Sequence[VaultPath]], Mapping[VaultPath, int]],
    count: int,
) -> Roster:
    """What `of` gives after some changes, in a fraction of the time: `moved` are files that came or went, of which
    `get` gives those that are there; `changed` are the files whose rows are newer than those that `known` was made of,
    `numbers` looks for files among the rows, `count` is how many files these have.
    """
    there = {path: entry for path in moved | changed.keys() if (entry := get(path)) and not known.hides(path)}
    own = known.numbers
    gone = [path for path in moved if path in own and path not in there]
    returned = numbers([path for path in moved & there.keys() if path not in own and extract.indexable(path)])
    new = {
        there[path].path: number
        for path, number in (*returned.items(), *changed.items())
        if path in there and own.get(path) != number
    }
    paths, others, canvases = known.paths, known.others, known.canvases
    if gone or new:
        paths, own = _renumbered(known, gone, new)
        same = canvases.difference(new.values(), map(known.numbers.get, (*gone, *new)))
        canvases = same | _canvases((number, path) for path, number in new.items())
    if not all(map(extract.indexable, moved)):
        left = [entry for entry in others if entry.path not in moved]
        others = _sorted(left + [there[path] for path in moved & there.keys() if not extract.indexable(path)])
    complete, spelled = len(paths) == count, known.spelled.and_also(new.keys(), own)
    if paths is known.paths and (others, complete) == (known.others, known.complete):
        return known
    return Roster(paths, own, others, canvases, known.hides, complete, spelled)


def _renumbered(
    known: Roster, gone: Iterable[VaultPath], new: Mapping[VaultPath, int]
) -> tuple[Mapping[int, VaultPath], Mapping[VaultPath, int]]:
    """Paths and numbers, without the files that are gone and with these numbers."""
    paths, own = dict(known.paths), dict(known.numbers)

    def forget(path: VaultPath) -> None:
        number = own.pop(path, None)
        if number is not None and paths.get(number) == path:
            del paths[number]

    for path in (*gone, *new):
        forget(path)
    for path, number in new.items():
        if number in paths:  # of a file that is gone: it was free again
            forget(paths[number])
        own[path], paths[number] = number, path
    return paths, own


def _line(path: str) -> str:
    return fold(path.replace("\n", "\0"))


def _sorted(entries: list[FileEntry]) -> tuple[FileEntry, ...]:
    return tuple(sorted(entries, key=lambda entry: entry.path))


def _canvases(paths: Iterable[tuple[int, VaultPath]]) -> frozenset[int]:
    return frozenset(number for number, path in paths if not path.endswith(NOTE_EXTENSION) and not is_note(path))


def _nothing(path: str) -> bool:  # noqa: ARG001
    return False
