"""Questions over many notes: links both ways, connected notes, tags, properties, aliases (semantics 1.4, 3.4, 14).

The catalog says which files exist, the index what they contain, and the notice of an `Answer` how current that is.
Where a link leads is decided when the question is asked.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.index import extract as facts
from obsidian_mcp.core.index.extract import Facts, LinkFact, TagFact, TaskFact
from obsidian_mcp.core.index.indexer import CURRENT, Answer, Indexer
from obsidian_mcp.core.index.rows import PROPERTIES, WITH_INLINE_FIELDS, Rows
from obsidian_mcp.core.links.resolve import keys_of
from obsidian_mcp.core.text import compat, deadline, tags
from obsidian_mcp.core.text.vault_path import VaultPath, is_note, name_key
from obsidian_mcp.errors import AppError, NoteNotFound

from .indexed_notes import IndexedNotes
from .indexed_vault import IndexedVault
from .link_graph import Web, brought_up, target_of

CONTEXT = 200
"""Code points shown of the line that holds a link."""

QUERY_SECONDS = 60.0
"""Time limit of a query in a call without one, as on the command line (EXPR-62)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reference:
    """One link of the file `source`, and the file it leads to: None when there is none."""

    source: VaultPath
    target: VaultPath | None
    link: LinkFact


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A name that links lead to and no file has, with how often which file links to it."""

    name: str
    sources: Mapping[VaultPath, int]

    @property
    def count(self) -> int:
        return sum(self.sources.values())


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A file that hangs together with another one over `distance` links, whichever way they point."""

    path: VaultPath
    distance: int
    via: VaultPath
    """The file before it on a shortest way."""


@dataclass(frozen=True, slots=True)
class TagUse:
    """A tag with its descendants: how often it occurs, in how many files. `tag` has the casing most often used."""

    tag: str
    occurrences: int
    files: int


@dataclass(frozen=True, slots=True)
class TaggedFile:
    """A file with a tag or descendants of it, as written, in the order of the file."""

    path: VaultPath
    tags: tuple[TagFact, ...]


@dataclass(frozen=True, slots=True)
class PropertyUse:
    """A property of the vault: the name most often used, in how many files, and which types its values have."""

    name: str
    files: int
    types: Mapping[str, int]
    """Inferred type -> files, the most frequent first; what `types.json` assigns is not in it."""


@dataclass(frozen=True, slots=True)
class PropertyValue:
    """One property of one file; `value` is JSON-able."""

    path: VaultPath
    name: str
    type: str
    value: Any


@dataclass(frozen=True, slots=True)
class LinkMaps:
    """The app's `resolvedLinks` and `unresolvedLinks`: source -> target or name -> how many links."""

    resolved: Mapping[VaultPath, Mapping[VaultPath, int]]
    unresolved: Mapping[VaultPath, Mapping[str, int]]


Hides = Callable[[str], bool]


class Graph:
    """The questions to one vault. Every method may be called from any thread.

    `hides` gives what says, for the time of one question, which files the user hides (semantics 8.3): they are left
    out of everything that the app's graph view, tags view and properties view show, and kept in links and backlinks.
    """

    def __init__(
        self,
        indexer: Indexer,
        catalog: Catalog,
        hides: Callable[[], Hides] = lambda: lambda _: False,
        inline_fields: Callable[[], bool] = lambda: False,
    ) -> None:
        """`inline_fields` says whether the inline fields of Dataview are properties."""
        self._indexer = indexer
        self._catalog = catalog
        self._hides = hides
        self._inline_fields = inline_fields
        self._web_lock = threading.Lock()
        self._web: Web | None = None

    # -- one file ----------------------------------------------------------------------------------------------

    def facts(self, path: VaultPath) -> Answer[Facts | None]:
        """Everything known of one file: links, headings, tasks, block ids, warnings; None for no note or canvas."""
        entry = self._indexer.pending().get(path)
        if entry is not None:
            return Answer(self._parsed(entry), CURRENT)
        return Answer(self._indexer.query(lambda rows: rows.facts(path)), CURRENT)

    def _parsed(self, entry: FileEntry) -> Facts | None:
        """What a file says that the index does not know as it is now; None for one that is gone."""
        try:
            return facts.of(entry.path, self._indexer.read(entry), entry.size)
        except NoteNotFound:
            return None
        except AppError as error:
            return facts.unreadable(error)

    def outgoing(self, path: VaultPath) -> Answer[tuple[Reference, ...]]:
        """Every link and embed of a file in its order, with the file that it leads to."""
        known = self.facts(path)
        links = known.value.links if known.value is not None else ()
        return Answer(tuple(Reference(path, self._target(path, link), link) for link in links), known.freshness)

    def backlinks(self, path: VaultPath) -> Answer[tuple[Reference, ...]]:
        """Every link that leads to a file, its own included, by source and order in it."""
        keys = keys_of(path)

        def question(rows: Rows) -> tuple[Reference, ...]:
            links = [found for found in self._there(rows.links_to(keys)) if found[0] != path]
            links += ((path, link) for link in rows.links_from(path))
            return tuple(
                Reference(source, path, link)
                for source, link in sorted(links, key=itemgetter(0))
                if self._target(source, link) == path
            )

        return self._indexer.ask(question)

    # -- what a change is made from ----------------------------------------------------------------------------

    def sources_of(self, keys: Iterable[str]) -> tuple[VaultPath, ...]:
        """Files that hold a link with one of these `link_key`s, wherever it leads; see `_all_files_with`."""
        wanted = set(keys)
        return self._all_files_with(
            lambda rows: rows.sources_of(wanted), lambda found: any(link.key in wanted for link in found.links)
        )

    def files_tagged(self, tag: str) -> tuple[VaultPath, ...]:
        """Files with a tag or a descendant of it, without hidden ones; see `_all_files_with`."""
        key, hidden = tags.key(tag).rstrip("/"), self._hides()
        found = self._all_files_with(
            lambda rows: {path for path, _ in rows.tagged(key)},
            lambda found: any(fact.key == key or fact.key.startswith(key + "/") for fact in found.tags),
        )
        return tuple(path for path in found if not hidden(path))

    def _all_files_with(
        self, stored: Callable[[Rows], set[VaultPath]], has: Callable[[Facts], bool]
    ) -> tuple[VaultPath, ...]:
        """Files that a change must not miss, by path: those that are still pending are parsed (INDEX-43).

        `Indexer.complete`, without the vault's lock, makes sure that they are few.
        """
        pending = self._indexer.pending()
        found = self._indexer.query(stored) - pending.keys()
        for path, entry in pending.items():
            deadline.checkpoint()
            facts_ = self._parsed(entry)
            if facts_ is not None and has(facts_):
                found.add(path)
        return tuple(sorted(path for path in found if path in self._catalog))

    # -- the text around links ---------------------------------------------------------------------------------

    def contexts(self, references: Iterable[Reference]) -> Iterator[str]:
        """For each link the line that holds it, of a long one the part around it; the link alone in a property.

        It is read from the file: a vault's worth of lines in the index would cost as much as the notes.
        """
        source, texts = None, {}
        for reference in references:
            link = reference.link
            if link.kind == "property":
                yield f"{link.at}: {link.original}"
            elif link.start is None:
                yield link.original
            else:
                if reference.source != source:
                    deadline.checkpoint()
                    source, texts = reference.source, self._texts(reference.source)
                yield _around(texts.get(link.at, ""), link.original, link.start)

    def _texts(self, path: VaultPath) -> dict[str, str]:
        """The texts that a file's links stand in, by `LinkFact.at`; none when it cannot be read any more."""
        entry = self._catalog.get(path)
        if entry is None:
            return {}
        try:
            return facts.texts(path, self._indexer.read(entry))
        except AppError:
            return {}

    def tasks(
        self, days: tuple[str, str] | None = None, without_marks: Collection[str] = ()
    ) -> Answer[list[tuple[VaultPath, TaskFact]]]:
        """Every checkbox of a note with a day in this range (`YYYY-MM-DD`) in its line, but those with one of these
        marks; every one that may have an id or depend on one; and some others (TASK-130)."""
        return self._indexer.ask(lambda rows: list(self._there(rows.tasks(days, without_marks))))

    # -- the whole vault ---------------------------------------------------------------------------------------

    def link_maps(self) -> Answer[LinkMaps]:
        """Every note has a place in both maps, if only an empty one."""

        def question(rows: Rows) -> LinkMaps:
            web = self._web_of(rows)
            sources = [
                path
                for path in sorted(web.paths)
                if (facts.indexable(path) if compat.CANVASES_IN_LINK_MAPS else is_note(path))
            ]
            return LinkMaps(
                {path: dict(web.resolved.get(path, {})) for path in sources},
                {path: dict(web.unresolved.get(path, {})) for path in sources},
            )

        return self._indexer.ask(question)

    def unresolved(self) -> Answer[tuple[Unresolved, ...]]:
        """Names that links lead to and no file has, by name; links in hidden files are not looked at."""

        def question(rows: Rows) -> tuple[Unresolved, ...]:
            names: dict[str, dict[VaultPath, int]] = defaultdict(dict)
            hidden = self._hides()
            for source, targets in self._web_of(rows).unresolved.items():
                if targets and not hidden(source):
                    for name, count in targets.items():
                        names[name][source] = count
            return tuple(Unresolved(name, dict(sorted(names[name].items()))) for name in sorted(names, key=_by_name))

        return self._indexer.ask(question)

    def orphans(self, *, attachments: bool = False) -> Answer[tuple[VaultPath, ...]]:
        """Notes that no other file links to; with `attachments` every file, not only notes."""

        def question(rows: Rows) -> tuple[VaultPath, ...]:
            incoming = self._web_of(rows).incoming
            return tuple(
                path
                for path in self._shown()
                if (attachments or is_note(path)) and not (incoming.get(path, set()) - {path})
            )

        return self._indexer.ask(question)

    def dead_ends(self) -> Answer[tuple[VaultPath, ...]]:
        """Notes without a link to another file."""

        def question(rows: Rows) -> tuple[VaultPath, ...]:
            web = self._web_of(rows)
            return tuple(
                path
                for path in self._shown()
                if is_note(path)
                and not (web.resolved.get(path, {}).keys() - {path})
                and not (compat.UNRESOLVED_LINK_IS_A_WAY_OUT and web.unresolved.get(path))
            )

        return self._indexer.ask(question)

    def neighbours(self, path: VaultPath, depth: int = 1) -> Answer[tuple[Neighbour, ...]]:
        """Files within `depth` links of a file, links followed both ways, nearest first.

        Hidden files are not shown and no way leads over them, as in the app's graph view.
        """

        def question(rows: Rows) -> tuple[Neighbour, ...]:
            found = self._spread(self._web_of(rows), path, depth, None)
            return tuple(
                Neighbour(each, distance, via)
                for each, (distance, via) in sorted(found.items(), key=lambda item: (item[1][0], item[0]))
                if each != path
            )

        return self._indexer.ask(question)

    def shortest_path(self, start: VaultPath, end: VaultPath) -> Answer[tuple[VaultPath, ...]]:
        """The files on a shortest way over links in either direction, both ends included; empty when there is none."""

        def question(rows: Rows) -> tuple[VaultPath, ...]:
            found = self._spread(self._web_of(rows), start, len(self._catalog) + 1, end)
            if end not in found:
                return ()
            way = [end]
            while way[-1] != start:
                way.append(found[way[-1]][1])
            return tuple(reversed(way))

        return self._indexer.ask(question)

    def _spread(
        self, web: Web, start: VaultPath, depth: int, end: VaultPath | None
    ) -> dict[VaultPath, tuple[int, VaultPath]]:
        """Distance and predecessor of every file within `depth` links, until `end` is among them."""
        found = {start: (0, start)}
        ring = [start]
        hidden = self._hides()
        for distance in range(1, depth + 1):
            following = []
            for here in ring:
                deadline.checkpoint()
                for there in sorted({*web.resolved.get(here, ()), *web.incoming.get(here, ())}):
                    if there not in found and (there == end or not hidden(there)):
                        found[there] = (distance, here)
                        following.append(there)
            ring = sorted(following)
            if not ring or end in found:
                break
        return found

    # -- tags, properties, aliases -----------------------------------------------------------------------------

    def tags(self) -> Answer[tuple[TagUse, ...]]:
        """Every tag of the vault with its counts, by name; a tag counts for each tag above it (semantics 3.4)."""

        def question(rows: Rows) -> tuple[TagUse, ...]:
            files_of: dict[str, list[int]] = defaultdict(list)
            hidden = self._hides()
            shown = self._numbers(
                rows, lambda path: (is_note(path) or compat.TAGS_OF_CANVASES_COUNT) and not hidden(path)
            )
            for file, tag in rows.tags():
                if file in shown:
                    files_of[tag].append(file)
            written: dict[str, Counter[str]] = defaultdict(Counter)
            files: dict[str, set[int]] = defaultdict(set)
            for tag, found in files_of.items():
                for above in tags.ancestry(tag):
                    written[tags.key(above)][above] += len(found)
                    files[tags.key(above)].update(found)
            return tuple(
                TagUse(_most_used(written[key]), written[key].total(), len(files[key])) for key in sorted(written)
            )

        return self._indexer.ask(question)

    def tagged(self, tag: str) -> Answer[tuple[TaggedFile, ...]]:
        """Files with a tag or a descendant of it, by path; `#` in front and casing do not matter."""
        key = tags.key(tag).rstrip("/")

        def question(rows: Rows) -> tuple[TaggedFile, ...]:
            return tuple(TaggedFile(path, tuple(facts_)) for path, facts_ in _by_file(self._visible(rows.tagged(key))))

        return self._indexer.ask(question)

    def properties(self) -> Answer[tuple[PropertyUse, ...]]:
        """Every property of the vault, by name."""

        def question(rows: Rows) -> tuple[PropertyUse, ...]:
            names: dict[str, Counter[str]] = defaultdict(Counter)
            types: dict[str, Counter[str]] = defaultdict(Counter)
            files: dict[str, set[int]] = defaultdict(set)
            hidden = self._hides()
            shown = self._numbers(rows, lambda path: not hidden(path))
            for file, key, name, kind in rows.property_kinds(self._property_tables()):
                if file in shown:
                    names[key][name] += 1
                    types[key][kind] += 1
                    files[key].add(file)
            return tuple(
                PropertyUse(
                    _most_used(names[key]),
                    len(files[key]),
                    dict(sorted(types[key].items(), key=lambda item: (-item[1], item[0]))),
                )
                for key in sorted(names)
            )

        return self._indexer.ask(question)

    def with_property(self, name: str) -> Answer[tuple[PropertyValue, ...]]:
        """Every file's value of a property, by path; the casing of the name does not matter."""
        key = name.lower()

        def question(rows: Rows) -> tuple[PropertyValue, ...]:
            return tuple(
                PropertyValue(path, fact.name, fact.type, json.loads(fact.value))
                for path, fact in self._visible(rows.properties(key, self._property_tables()))
            )

        return self._indexer.ask(question)

    def _property_tables(self) -> Sequence[str]:
        return WITH_INLINE_FIELDS if self._inline_fields() else PROPERTIES

    def by_alias(self, name: str) -> Answer[tuple[VaultPath, ...]]:
        """Notes that have this name among their aliases, compared as file names are."""
        key = name_key(name.strip())
        return self._indexer.ask(lambda rows: tuple(sorted({path for path, _ in self._there(rows.aliases(key))})))

    def evaluate(self, query: Callable[[IndexedVault], T], created_ns: Callable[[FileEntry], int]) -> Answer[T]:
        """What a query over all files gives; it may be run again when the index was replaced meanwhile.

        Raises: OperationTimeout after QUERY_SECONDS where the call has no limit of its own.
        """
        hides = self._hides()

        def run(rows: Rows) -> T:
            with deadline.limited_to(QUERY_SECONDS):
                return query(IndexedVault(rows, self._catalog, hides, lambda: self._web_of(rows), created_ns))

        return self._indexer.ask(run)

    def evaluate_notes(
        self,
        query: Callable[[IndexedNotes], T],
        created_ns: Callable[[FileEntry], int],
        read_text: Callable[[FileEntry], str | None],
        bookmarks: Callable[[], frozenset[str]],
    ) -> Answer[T]:
        """As `evaluate`, for Dataview, which also asks for texts of files that are no notes, and for the bookmarks."""
        hides = self._hides()

        def run(rows: Rows) -> T:
            with deadline.limited_to(QUERY_SECONDS):
                return query(
                    IndexedNotes(
                        rows, self._catalog, hides, lambda: self._web_of(rows), created_ns, read_text, bookmarks
                    )
                )

        return self._indexer.ask(run)

    def warnings(self) -> Answer[dict[VaultPath, tuple[str, ...]]]:
        """What was wrong with each file that could not be read whole."""
        return self._indexer.ask(lambda rows: dict(self._there(rows.warnings().items())))

    def _target(self, source: VaultPath, link: LinkFact) -> VaultPath | None:
        return target_of(self._catalog, source, (link.path, link.kind == "card"))

    def _web_of(self, rows: Rows) -> Web:
        """All links resolved; kept between questions."""
        with self._web_lock:
            self._web = brought_up(self._web, rows, self._catalog)
            return self._web

    def _shown(self) -> list[VaultPath]:
        hidden = self._hides()
        return sorted(entry.path for entry in list(self._catalog) if not hidden(entry.path))

    def _there(self, found: Iterable[tuple[VaultPath, T]]) -> Iterator[tuple[VaultPath, T]]:
        """What is stored of files that still exist."""
        return ((path, fact) for path, fact in found if path in self._catalog)

    def _visible(self, found: Iterable[tuple[VaultPath, T]]) -> Iterator[tuple[VaultPath, T]]:
        """The same, without hidden files."""
        hidden = self._hides()
        return ((path, fact) for path, fact in self._there(found) if not hidden(path))

    def _numbers(self, rows: Rows, wanted: Callable[[VaultPath], bool]) -> Collection[int]:
        """The numbers of files that exist and are wanted."""
        return {number for path, number in rows.numbers().items() if path in self._catalog and wanted(path)}


def _around(body: str, link: str, start: int) -> str:
    """The line of a link, cut to CONTEXT code points around it."""
    if not body.startswith(link, start):  # the file has changed since it was indexed
        start = body.find(link)
        if start < 0:
            return link
    begin = body.rfind("\n", 0, start) + 1
    end = body.find("\n", start + len(link))
    end = len(body) if end < 0 else end
    first = max(begin, start - max(0, CONTEXT - len(link)) // 2)
    last = min(end, first + max(CONTEXT, len(link)))
    before, after = "…" if first > begin else "", "…" if last < end else ""
    return before + body[first:last].strip() + after


def _most_used(written: Counter[str]) -> str:
    """The most frequent spelling, the smallest of several: it must not depend on the order of files."""
    return min(written, key=lambda each: (-written[each], each))


def _by_name(name: str) -> tuple[str, str]:
    return name_key(name), name


def _by_file(found: Iterable[tuple[VaultPath, T]]) -> Iterator[tuple[VaultPath, list[T]]]:
    for path, group in groupby(found, key=itemgetter(0)):
        yield path, [each for _, each in group]
