"""The files that a search may list, by their number in the index, and their paths as one text (specs/search.md)."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
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
    others = [shown[path] for path in shown.keys() - numbers.keys() if not facts.indexable(path)]
    others.sort(key=lambda entry: entry.path)
    odd = (number for number, path in paths.items() if not path.endswith(NOTE_EXTENSION) and not is_note(path))
    return Roster(paths, tuple(others), frozenset(odd), hidden or _nothing, len(paths) == len(numbers))


def _nothing(path: str) -> bool:  # noqa: ARG001
    return False
