"""What one search sees: the rows of one moment, and the files that the rows do not tell of (specs/search.md).

Files have numbers: those of the rows where they have some, negative ones for the others (`Unindexed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.index import search_document
from obsidian_mcp.core.index.database import Connection
from obsidian_mcp.core.index.rows import stored
from obsidian_mcp.core.index.search_document import Content
from obsidian_mcp.core.query.document import Document, Subject
from obsidian_mcp.core.query.evaluate import Matcher
from obsidian_mcp.core.query.parser import And, Node, Not, Or, Scope
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import AppError

from . import evaluate_rows
from .cache import Remembered
from .file_table import Roster
from .pending_documents import Read, Unindexed
from .postings import Lookup
from .ranking import Fields
from .snippets import Heading
from .stored import Stored
from .vocabulary import Vocabulary

TEXTS_AT_ONCE = 500


class Scene:
    """Lives as long as one search, in one thread."""

    def __init__(
        self,
        connection: Connection,
        roster: Roster,
        vocabulary: Vocabulary,
        languages: tuple[str, ...],
        pending: Mapping[VaultPath, FileEntry],
        catalog: Catalog,
        read: Read,
        kept: Remembered,
    ) -> None:
        """`kept` holds what was found out in the same state: nothing where files are pending."""
        self.connection = connection
        self.vocabulary = vocabulary
        self.languages = languages
        self.files: AbstractSet[int] = roster.files
        """Notes and canvases that the rows tell of."""
        if pending:
            self.files = roster.files.difference(map(roster.numbers.get, roster.numbers.keys() & pending.keys()))
        gone = catalog.lacking(pending.keys())
        there = [entry for path, entry in pending.items() if path not in gone] if gone else pending.values()
        self._unindexed = Unindexed(roster.shown(there), read)
        complete = roster.complete and not pending
        self.lookup = Lookup(connection, roster, vocabulary, self.files, kept, complete=complete)
        self._kept = kept
        self._fetched: dict[int, Sequence[str]] = {}
        self._headings: dict[int, list[Heading]] = {}
        self._roster = roster
        self._catalog = catalog
        self._read = read

    @property
    def fresh(self) -> Mapping[int, FileEntry]:
        """Notes and canvases that are not in the rows as they are now."""
        return self._unindexed.entries

    # -- which files -------------------------------------------------------------------------------------------

    def matching(self, query: Node, within: AbstractSet[int] | None = None) -> AbstractSet[int]:
        """Files of the rows, of `within` or all, for which a query is true."""
        if within is not None:
            return evaluate_rows.matching(self, query, within)
        return self._kept.get(("matching", query), lambda: evaluate_rows.matching(self, query))

    def paths(self, files: AbstractSet[int]) -> Iterator[tuple[int, VaultPath]]:
        paths = self._roster.paths
        return ((number, paths[number]) for number in files)

    def texts(self, files: AbstractSet[int]) -> Iterator[tuple[int, str]]:
        """The texts of files of the rows; where they are many, in one pass."""
        truncated = self.lookup.odd(search_document.TRUNCATED)
        for number, text in self._stored("file, text", files):
            yield number, self.row(number).text if number in truncated else text

    def rows(self, files: AbstractSet[int]) -> Iterator[tuple[int, Stored]]:
        """Files of the rows with their texts and structures; where they are many, in one pass."""
        truncated = self.lookup.odd(search_document.TRUNCATED)
        for number, text, packed in self._stored("file, text, structure", files):
            path = self._roster.paths[number]
            known = None if number in truncated else (text, packed)
            yield number, Stored(self.connection, number, path, *known) if known else self.row(number)

    def _stored(self, columns: str, files: AbstractSet[int]) -> Iterator[Any]:
        if len(files) * 2 > len(self.files):
            found = self.connection.execute(f"SELECT {columns} FROM texts")  # noqa: S608 - our own names
            yield from (row for row in found if row[0] in files)
            return
        numbers = sorted(files)
        for start in range(0, len(numbers), TEXTS_AT_ONCE):
            some = ", ".join(map(str, numbers[start : start + TEXTS_AT_ONCE]))
            yield from self.connection.execute(f"SELECT {columns} FROM texts WHERE file IN ({some})")  # noqa: S608

    def row(self, number: int, text: str | None = None) -> Stored:
        path = self._roster.paths[number]
        if text is None and number in self.lookup.odd(search_document.TRUNCATED):
            text = self._whole(path)
        return Stored(self.connection, number, path, text)

    def fresh_matching(self, query: Node) -> AbstractSet[int]:
        """Files without rows for which a query is true."""
        return evaluate_rows.read(self._unindexed, query, self.fresh.keys())

    def others_matching(self, query: Node) -> list[FileEntry]:
        """Files without contents for which a query is true; only one that asks for names can be."""
        if not asks_for_paths(query):
            return []
        matcher = Matcher(query)
        found = [entry for entry in self._roster.others if matcher.matches(Document(entry.path, "", "other"))]
        return [self._catalog.get(entry.path) or entry for entry in found]  # with the time it has now

    # -- one file ----------------------------------------------------------------------------------------------

    def entry(self, number: int) -> FileEntry | None:
        """None for a file that has just gone."""
        return self.fresh[number] if number < 0 else self._catalog.get(self._roster.paths[number])

    def path_holds(self, text: str) -> Iterator[int]:
        """Files of the rows, and perhaps others, whose folded path contains a text."""
        return self._roster.path_holds(text)

    def number(self, path: VaultPath) -> int | None:
        """None for a file without contents, or one that is not there."""
        for number, entry in self.fresh.items():
            if entry.path == path:
                return number
        found = self.connection.execute("SELECT id FROM files WHERE path = ?", (stored(path),)).fetchone()
        return found[0] if found and found[0] in self.files else None

    def file(self, path: VaultPath) -> FileEntry | None:
        """None for one that is not there."""
        return self._catalog.get(path)

    def hides(self, path: str) -> bool:
        return self._roster.hides(path)

    def path(self, number: int) -> VaultPath:
        return self.fresh[number].path if number < 0 else self._roster.paths[number]

    def fetch(self, numbers: Iterable[int]) -> None:
        """Read at once what `fields` and `subject` will be asked for one by one."""
        some = ", ".join(str(number) for number in numbers if number > 0 and number not in self._fetched)
        sql = f"SELECT file, alias, heading, tag, folder, text FROM texts WHERE file IN ({some})"  # noqa: S608
        self._fetched.update((number, told) for number, *told in self.connection.execute(sql))

    def fetch_headings(self, numbers: Iterable[int]) -> None:
        """Read at once what `headings` will be asked for one by one."""
        wanted = [number for number in numbers if number > 0]
        self._headings.update((number, []) for number in wanted)
        some = ", ".join(map(str, wanted))
        sql = f"SELECT file, text, start FROM headings WHERE file IN ({some}) ORDER BY file, n"  # noqa: S608
        for number, text, start in self.connection.execute(sql):
            self._headings[number].append(Heading(text, start))

    def subject(self, number: int) -> Subject:
        if number > 0:
            fetched = self._fetched.get(number) if number not in self.lookup.odd(search_document.TRUNCATED) else None
            return self.row(number, fetched[-1] if fetched else None)
        return self._unindexed.row(number)

    def contents(self, number: int) -> Content:
        """What the index would hold of a file without rows."""
        return self._unindexed.contents(number)

    def fields(self, number: int) -> Fields:
        name = self.path(number).rpartition("/")[2].rpartition(".")[0]
        if number < 0:
            told = self.contents(number)
            return Fields(name, told.alias, told.heading, told.tag, told.folder, told.text)
        if number not in self._fetched:
            self.fetch([number])
        return Fields(name, *self._fetched[number])

    def headings(self, number: int, subject: Subject) -> Sequence[Heading]:
        if isinstance(subject, Document):
            return [Heading(each.text, each.span.start) for each in subject.note.outline]
        if number not in self._headings:
            self.fetch_headings([number])
        return self._headings[number]

    def time(self, number: int) -> int:
        """Of the last change, in nanoseconds since the epoch."""
        entry = self.entry(number)
        return entry.mtime_ns if entry else 0

    def _whole(self, path: VaultPath) -> str:
        """The text of a file of which the rows have only the beginning."""
        entry = self._catalog.get(path)
        try:
            return self._read(entry) if entry else ""
        except AppError:  # gone or unreadable: its name can still match
            return ""


def asks_for_paths(query: Node) -> bool:
    """Whether a query has an operator that looks at the names of all files."""
    match query:
        case And() | Or():
            return any(map(asks_for_paths, query.parts))
        case Not():
            return asks_for_paths(query.part)
        case Scope():
            return query.operator in {"file", "path"} or asks_for_paths(query.part)
    return False
