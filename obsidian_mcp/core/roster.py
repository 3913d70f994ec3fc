"""The files that a search may list, by their number in the index, and their paths as one text (specs/search.md)."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from . import facts, joined
from .catalog import FileEntry
from .letters import fold
from .paths import NOTE_EXTENSION, VaultPath, is_note
from .regexp import RegExp


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

    @cached_property
    def files(self) -> frozenset[int]:
        return frozenset(self.paths)

    @cached_property
    def _lines(self) -> tuple[str, array[int], list[int]]:
        """The folded paths, one a line; where each begins; whose it is. A line end in a path is NUL here."""
        starts, at = array("Q"), 0
        folded = []
        for path in self.paths.values():
            line = fold(path.replace("\n", "\0"))
            folded.append(line)
            starts.append(at)
            at += len(line) + 1
        return "\n".join([*folded, ""]), starts, list(self.paths)

    def path_holds(self, text: str) -> Iterator[int]:
        """Files whose folded path contains `text`."""
        lines, starts, numbers = self._lines
        text = text.replace("\n", "\0")
        at = lines.find(text)
        while at >= 0:
            yield numbers[bisect_right(starts, at) - 1]
            at = lines.find(text, lines.find("\n", at))

    def path_matches(self, expression: RegExp) -> Iterator[int]:
        """Files whose path an expression matches. Raises: OperationTimeout."""
        return joined.matching(expression, self.paths.items())


def of(
    numbers: Mapping[VaultPath, int], there: Mapping[str, FileEntry], hidden: Callable[[str], bool] | None
) -> Roster:
    """`numbers` are the files of the rows, `there` those of the vault; `hidden` None where none is."""
    shown = there if hidden is None else {path: entry for path, entry in there.items() if not hidden(path)}
    # With the strings of the entries, so that those of the rows need no room.
    paths = {number: entry.path for path, number in numbers.items() if (entry := shown.get(path)) is not None}
    own = {path: number for number, path in paths.items()}
    others = [shown[path] for path in shown.keys() - own.keys() if not facts.indexable(path)]
    complete = len(paths) == len(numbers)
    return Roster(paths, own, _sorted(others), _canvases(paths.items()), hidden or _nothing, complete)


def moved_on(
    known: Roster,
    there: Mapping[str, FileEntry],
    changed: Mapping[VaultPath, int],
    numbers: Callable[[Sequence[VaultPath]], Mapping[VaultPath, int]],
    count: int,
) -> Roster:
    """What `of` gives after some changes, in a fraction of the time: `changed` are the files whose rows are newer than
    those that `known` was made of, `numbers` looks for files among the rows, `count` is how many files these have.
    """
    own = dict(known.numbers)
    for path in own.keys() - there.keys():
        del own[path]
    appeared = [path for path in there.keys() - own.keys() if not known.hides(path)]
    others = [there[path] for path in appeared if not facts.indexable(path)]
    returned = numbers([there[path].path for path in appeared if facts.indexable(path)])
    for path, number in (*changed.items(), *returned.items()):
        entry = there.get(path)
        if entry is not None and not known.hides(path):
            own[entry.path] = number
    paths = {number: path for path, number in own.items()}
    if len(paths) < len(own):  # a number that was free again
        newest = {number: path for path, number in changed.items()}
        own = {path: number for path, number in own.items() if newest.get(number, path) == path}
        paths = {number: path for path, number in own.items()}
    return Roster(paths, own, _sorted(others), _canvases(paths.items()), known.hides, len(paths) == count)


def _sorted(entries: list[FileEntry]) -> tuple[FileEntry, ...]:
    return tuple(sorted(entries, key=lambda entry: entry.path))


def _canvases(paths: Iterable[tuple[int, VaultPath]]) -> frozenset[int]:
    return frozenset(number for number, path in paths if not path.endswith(NOTE_EXTENSION) and not is_note(path))


def _nothing(path: str) -> bool:  # noqa: ARG001
    return False
