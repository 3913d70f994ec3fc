"""How a question to the whole vault is asked, so that its answer is complete at any time (specs/index.md).

The catalog says which files exist, the index what they say, and what the index does not know yet is read from the
files on the spot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from operator import itemgetter
from typing import Generic, TypeVar

from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.index import extract as facts
from obsidian_mcp.core.index import indexer
from obsidian_mcp.core.index.extract import AliasFact, Facts, LinkFact, PropertyFact, TagFact, TaskFact
from obsidian_mcp.core.index.index import Busy, Record, Replaced, digest_of
from obsidian_mcp.core.index.indexer import ATTEMPTS, Keeper
from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.note import mention
from obsidian_mcp.core.text import progress
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import AppError, NoteNotFound, StorageFailed

T = TypeVar("T")

File = int | VaultPath
"""A file of the rows by its number, which is quicker to count than its path, or a fresh one."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """An answer is always complete; `building` is a sentence when the index was not."""

    value: T
    building: str | None


@dataclass(frozen=True, slots=True)
class View:
    """What one question sees: the rows, without those of files that are gone or `hidden`, and `fresh` ones instead."""

    rows: Rows
    catalog: Catalog
    hidden: AbstractSet[VaultPath]
    """Pending files: their rows are old, or there are none."""
    fresh: Mapping[VaultPath, Facts]
    """What those of them say that matter to the question."""

    def facts(self, path: VaultPath) -> Facts | None:
        return self.fresh.get(path) if path in self.hidden else self.rows.facts(path)

    def links_from(self, path: VaultPath) -> Sequence[LinkFact]:
        if path not in self.hidden:
            return self.rows.links_from(path)
        known = self.fresh.get(path)
        return known.links if known else ()

    def links_to(self, keys: Sequence[str]) -> list[tuple[VaultPath, LinkFact]]:
        return self._all(self.rows.links_to(keys), lambda each: (link for link in each.links if link.key in keys))

    def tagged(self, key: str) -> list[tuple[VaultPath, TagFact]]:
        below = key + "/"
        return self._all(
            self.rows.tagged(key),
            lambda each: (tag for tag in each.tags if tag.key == key or tag.key.startswith(below)),
        )

    def properties(self, key: str) -> list[tuple[VaultPath, PropertyFact]]:
        return self._all(self.rows.properties(key), lambda each: (fact for fact in each.properties if fact.key == key))

    def aliases(self, key: str) -> list[tuple[VaultPath, AliasFact]]:
        return self._all(self.rows.aliases(key), lambda each: (fact for fact in each.aliases if fact.key == key))

    def tasks(self, days: tuple[str, str] | None, without_marks: Collection[str]) -> list[tuple[VaultPath, TaskFact]]:
        return self._all(self.rows.tasks(days, without_marks), lambda facts: facts.tasks)

    def warnings(self) -> dict[VaultPath, tuple[str, ...]]:
        return dict(self._all(self.rows.warnings().items(), lambda each: (each.warnings,) if each.warnings else ()))

    def _all(
        self, stored: Iterable[tuple[VaultPath, T]], of: Callable[[Facts], Iterable[T]]
    ) -> list[tuple[VaultPath, T]]:
        """By path; what is stored of files that are there and not pending, and what the fresh facts add."""
        found = [each for each in stored if each[0] not in self.hidden and each[0] in self.catalog]
        found += ((path, fact) for path, facts_ in self.fresh.items() if path in self.catalog for fact in of(facts_))
        found.sort(key=itemgetter(0))
        return found

    def tags(self) -> Iterator[tuple[File, str]]:
        """Every occurrence of a tag, as written; only those of `shown` files count."""
        yield from self.rows.tags()
        for path, each in self.fresh.items():
            yield from ((path, tag.tag) for tag in each.tags)

    def property_kinds(self) -> Iterator[tuple[File, str, str, str]]:
        """Key, name and type of every property; only those of `shown` files count."""
        yield from self.rows.property_kinds()
        for path, each in self.fresh.items():
            yield from ((path, fact.key, fact.name, fact.type) for fact in each.properties)

    def shown(self, wanted: Callable[[VaultPath], bool]) -> set[File]:
        """The files of `tags` and `property_kinds` that are there and wanted."""
        stored = ((file, path) for file, path in self.rows.files().items() if path not in self.hidden)
        files: set[File] = {file for file, path in stored if path in self.catalog and wanted(path)}
        return files.union(path for path in self.fresh if path in self.catalog and wanted(path))


class Questions:
    """Asks for one vault. Every method may be called from any thread, with or without the vault's lock.

    `read` is that of the keeper.
    """

    def __init__(self, kept: Keeper, catalog: Catalog, read: Callable[[FileEntry], bytes]) -> None:
        self.keeper = kept
        self.catalog = catalog
        self.read = kept.shelf.keeping(read)

    def ask_all(self, question: Callable[[View], T]) -> Answer[T]:
        """A question that needs every file: what is pending is taken in first."""
        self.keeper.settle()
        _, building = self.keeper.pending()
        self.keeper.finish(indexer.IMPATIENCE)
        return Answer(self.ask(question, lambda _: True).value, building)

    def ask(
        self, question: Callable[[View], T], probe: mention.Probe | None = None, only: VaultPath | None = None
    ) -> Answer[T]:
        """A question that needs only files whose bytes pass `probe`, and the file `only`.

        Raises: StorageFailed when the index is lost again and again.
        """
        self.keeper.settle()
        for _ in range(ATTEMPTS):
            pending, building = self.keeper.pending()
            records: list[Record] = []
            with self.keeper.asking():
                try:
                    records += self._parsed(pending, probe, only)
                    fresh = {record.entry.path: record.facts for record in records if record.facts is not None}
                    with self.keeper.index.rows() as rows:
                        return Answer(question(View(rows, self.catalog, pending.keys(), fresh)), building)
                except (Replaced, Busy):
                    continue
                finally:
                    self.keeper.offer(records)
        raise StorageFailed("The index could not be read. Try again in a moment.")

    def _parsed(
        self, pending: Mapping[VaultPath, FileEntry], probe: mention.Probe | None, only: VaultPath | None
    ) -> Iterator[Record]:
        """The pending files that matter."""
        if probe is not None:
            entries = list(pending.values())
        else:
            entries = [entry for path, entry in pending.items() if path == only]
        for done, entry in enumerate(entries):
            progress.report(done, len(entries), "Reading notes that are not in the index yet")
            try:
                data = self.read(entry)
            except NoteNotFound:
                continue
            except AppError as error:
                yield Record(entry, None, facts.unreadable(error))
                continue
            if entry.path == only or (probe is not None and probe(data)):
                yield Record(entry, digest_of(data), facts.of(entry.path, data, entry.size))
