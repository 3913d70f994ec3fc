"""The files that a search may list, looked up in the index when they are needed (SEARCH-48)."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.index.file_paths import AskFiles, FilePaths
from obsidian_mcp.core.text.analysis import fold
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, VaultPath, is_note, is_pdf

MOST_PATHS = 2_000
"""Paths that are kept between searches, and looked up one by one."""


@dataclass(frozen=True, slots=True)
class PathLines:
    """The folded paths of all files, one a line: letters in 10 MB of them are found in 1 ms."""

    text: str
    """In NFC; a line end in a path is NUL."""
    starts: array[int]
    numbers: array[int]
    """Of the files, in the order of the lines and growing."""

    def find_containing(self, text: str) -> set[int]:
        """Return the files whose folded path contains a folded text."""
        text, files = text.replace("\n", "\0"), set[int]()
        at = self.text.find(text)
        while at >= 0:
            files.add(self.numbers[bisect_right(self.starts, at) - 1])
            at = self.text.find(text, self.text.find("\n", at))
        return files

    def has(self, number: int, path: VaultPath) -> bool:
        """Return whether a file has the line that its path makes."""
        place = bisect_left(self.numbers, number)
        if place == len(self.numbers) or self.numbers[place] != number:
            return False
        line = _to_line(path)
        return self.text.startswith(f"{line}\n", self.starts[place])


@dataclass(eq=False, slots=True)
class FileCache:
    """What searches share of the files with rows while none comes or goes."""

    row_count: int = 0
    """Files that have rows, whether they are listed or not."""
    excluded: frozenset[int] = frozenset()
    """Files that have rows and are not listed: the user hides them, or they are gone."""
    is_hidden: Callable[[str], bool] | None = None
    """Whether the user hides the file at a path; None if nothing is hidden."""
    odd: Mapping[int, VaultPath] = field(default_factory=dict)
    """Listed files that are no notes, and a few notes."""
    has_unread_pdfs: bool = False
    """Whether there are PDFs without rows."""
    list_others: Callable[[AbstractSet[VaultPath]], tuple[FileEntry, ...]] = lambda _: ()
    """Returns the files without rows that have no text, or whose PDFs, but for these, are not
    read; by path."""
    listed_count: int = field(init=False)
    canvases: frozenset[int] = field(init=False)
    pdfs: frozenset[int] = field(init=False)
    paths: dict[int, VaultPath] = field(default_factory=dict)
    """Paths of listed files that were looked up."""
    numbers: frozenset[int] | None = None
    others: tuple[FileEntry, ...] | None = None
    path_lines: PathLines | None = None

    def __post_init__(self) -> None:
        self.listed_count = self.row_count - len(self.excluded)
        paths = self.odd.items()
        self.pdfs = frozenset([number for number, path in paths if is_pdf(path)])
        self.canvases = frozenset(
            number
            for number, path in paths
            if not path.endswith(NOTE_EXTENSION) and not is_note(path) and not is_pdf(path)
        )

    def keep_path(self, number: int, path: VaultPath) -> None:
        """Keep a path that was looked up."""
        if len(self.paths) >= MOST_PATHS:
            self.paths.clear()
        self.paths[number] = path

    def agrees_with(self, changed: Mapping[int, VaultPath]) -> bool:
        """Return whether files whose rows have changed are as they are kept here."""
        for number, path in changed.items():
            if number in self.excluded or self.paths.get(number, path) != path:
                return False
            if self.path_lines is not None and not self.path_lines.has(number, path):
                return False
            if self.odd.get(number, path) != path:
                return False
        return True


class LookedUpPaths(dict[int, VaultPath]):
    """The paths of listed files, each read from the view of a search when it is first needed."""

    rows: FilePaths
    cache: FileCache

    def __missing__(self, number: int) -> VaultPath:
        path = None if number in self.cache.excluded else self.rows.read_path(number)
        if path is None:
            raise KeyError(number)
        self.cache.keep_path(number, path)
        self[number] = path
        return path

    def look_up(self, numbers: AbstractSet[int]) -> Mapping[int, VaultPath]:
        """Return the paths of some listed files at least, read at once."""
        missing = numbers - self.keys()
        if len(missing) > MOST_PATHS:
            return {number: path for number, path in self.rows.read_all() if number in numbers}
        if missing:
            paths = self.rows.read_paths(missing)
            self.update(paths)
            if len(self.cache.paths) + len(paths) <= MOST_PATHS:
                self.cache.paths.update(paths)
        return self


class VisiblePaths(Mapping[int, VaultPath]):
    """The paths of the listed files by their numbers, also after the search."""

    def __init__(self, ask: AskFiles, cache: FileCache) -> None:
        self._ask, self._cache = ask, cache

    def __getitem__(self, number: int) -> VaultPath:
        path = None
        if number not in self._cache.excluded:
            path = self._cache.paths.get(number) or self._ask(lambda files: files.read_path(number))
        if path is None:
            raise KeyError(number)
        return path

    def __contains__(self, number: object) -> bool:
        """Return whether a file with rows is listed; no other number is asked for."""
        return number not in self._cache.excluded

    def __iter__(self) -> Iterator[int]:
        return iter(self._ask(FilePaths.read_numbers) - self._cache.excluded)

    def __len__(self) -> int:
        return self._cache.listed_count


class VisibleNumbers(Mapping[VaultPath, int]):
    """The numbers of the listed files by their paths."""

    def __init__(self, ask: AskFiles, cache: FileCache) -> None:
        self._ask, self._cache = ask, cache

    def __getitem__(self, path: VaultPath) -> int:
        number = self._ask(lambda files: files.find_number(path))
        if number is None or number in self._cache.excluded:
            raise KeyError(path)
        return number

    def __iter__(self) -> Iterator[VaultPath]:
        paths = self._ask(lambda files: dict(files.read_all()))
        return iter(path for number, path in paths.items() if number not in self._cache.excluded)

    def __len__(self) -> int:
        return self._cache.listed_count


class FileTable:
    """The files of one moment, without those that the user hides, as one search sees them.

    Files without rows are not in it, but for `others`. A path, a number or a set is read from the
    view of the search when it is needed, and kept as long as no file comes or goes.
    """

    def __init__(self, files: FilePaths, cache: FileCache) -> None:
        self._rows, self._cache = files, cache
        self.paths = LookedUpPaths(cache.paths)
        self.paths.rows, self.paths.cache = files, cache
        self.count = cache.listed_count
        self.excluded = cache.excluded
        self.is_hidden = cache.is_hidden
        self.canvases = cache.canvases
        """Files of cards and drawings; the rows of other files say everything."""
        self.pdfs = cache.pdfs
        """PDFs that were read."""
        self.has_pdfs = cache.has_unread_pdfs or bool(cache.pdfs)
        """Whether PDFs are among the files, read or not."""

    def find_number(self, path: VaultPath) -> int | None:
        """Return the number of a listed file; None for another one."""
        number = self._rows.find_number(path)
        return None if number in self.excluded else number

    @property
    def files(self) -> frozenset[int]:
        """The numbers of all listed files."""
        if self._cache.numbers is None:
            self._cache.numbers = self._rows.read_numbers() - self.excluded
        return self._cache.numbers

    def read_all(self) -> Iterator[tuple[int, VaultPath]]:
        """Yield every listed file, by number."""
        return (pair for pair in self._rows.read_all() if pair[0] not in self.excluded)

    def find_below(self, folder: str, is_inside: Callable[[str], bool]) -> set[int]:
        """Return the listed files in a folder, where `is_inside` tells by their paths."""
        below = self._rows.find_below(folder)
        return {number for number, path in below if number not in self.excluded and is_inside(path)}

    @property
    def others(self) -> tuple[FileEntry, ...]:
        """Files without text, such as images, and PDFs that are not read, by path."""
        if self._cache.others is None:
            read = {path for path in self._cache.odd.values() if is_pdf(path)}
            self._cache.others = self._cache.list_others(read)
        return self._cache.others

    @property
    def path_lines(self) -> PathLines:
        """The paths of all listed files as one text."""
        if self._cache.path_lines is None:
            self._cache.path_lines = self._read_lines()
        return self._cache.path_lines

    def _read_lines(self) -> PathLines:
        if not self.excluded:
            numbers, text = self._rows.join_paths()
            # Each path is a line of its own, in normal form, and stored as it is.
            if text.isascii() and text.count("\n") + 1 == len(numbers) and "\n/" not in f"\n{text}":
                text = f"{fold(text)}\n"
                return PathLines(text, _find_lines(text), array("Q", numbers))
        listed = dict(self.read_all())
        text = "".join([f"{_to_line(path)}\n" for path in listed.values()])
        return PathLines(text, _find_lines(text), array("Q", listed))


def _find_lines(text: str) -> array[int]:
    """Return where the lines of a text begin, and its end."""
    starts = array("Q", [0])
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts


def _to_line(path: VaultPath) -> str:
    """Return a path as a line of `PathLines`."""
    line = path if path.isascii() else normal_form(path)
    return fold(line.replace("\n", "\0"))
