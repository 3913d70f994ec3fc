"""Questions over many notes: links both ways, connected notes, tags, properties, aliases (semantics
1.4, 3.4, 14). Links are resolved when asked, and the notice of an `Answer` says how current it
is."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, partial, wraps
from itertools import chain, groupby
from operator import itemgetter
from typing import Concatenate, ParamSpec, TypeVar

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index.facts import BODY_LIMIT, Facts, LinkFact, TaskFact
from obsidian_mcp.core.index.freshness import CURRENT, Answer
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.rows import PROPERTIES, WITH_INLINE_FIELDS, FileNumbers, Rows
from obsidian_mcp.core.links.resolve import keys_of
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.call import checkpoint, limit_call
from obsidian_mcp.core.text.vault_path import VaultPath, indexable, is_note, name_key
from obsidian_mcp.errors import AppError, NoteNotFound, OperationTimeout

from . import results
from .indexed_vault import Moment
from .link_graph import LinkGraph, Neighbourhood, around, spread, target_of, update
from .long_files import may_hold

QUERY_SECONDS = 60.0
"""Time limit of a query in a call without one, as on the command line (EXPR-62)."""

T = TypeVar("T")
P = ParamSpec("P")


class _NeedsAll(Exception):
    """A query asks for links while files are not indexed."""


def _asked(
    question: Callable[Concatenate[Graph, Rows, P], T], *, of_all: bool = False
) -> Callable[Concatenate[Graph, P], Answer[T]]:
    """Make a question to the rows a method that answers it; see `Indexer.ask`."""

    @wraps(question)
    def answer(self: Graph, /, *args: P.args, **kwargs: P.kwargs) -> Answer[T]:
        return self._indexer.ask(lambda rows: question(self, rows, *args, **kwargs), of_all=of_all)

    return answer


def _asked_of_all(
    question: Callable[Concatenate[Graph, Rows, P], T],
) -> Callable[Concatenate[Graph, P], Answer[T]]:
    """As `_asked`, for a question whose answer is untrue while a file is not indexed: it waits
    (INDEX-47)."""
    return _asked(question, of_all=True)


class Graph:
    """Answers questions about one vault, for all threads. `hides` returns, for one question, the
    test for files that the user hides (semantics 8.3): they are left out of all but links and
    backlinks."""

    def __init__(
        self,
        indexer: Indexer,
        files: FileNumbers,
        hides: Callable[[], Callable[[str], bool]] = lambda: lambda _: False,
        inline_fields: Callable[[], bool] = lambda: False,
        read: Callable[[FileEntry], bytes] | None = None,
    ) -> None:
        """`inline_fields` says whether the inline fields of Dataview are properties; `read` reads a
        file whole, as the indexer does not."""
        self._indexer = indexer
        self._files = files
        self._catalog = files.catalog
        self._hides = hides
        self._inline_fields = inline_fields
        self._read = read or indexer.read
        self._lock = threading.Lock()
        self._links: LinkGraph | None = None

    # -- one file
    # ----------------------------------------------------------------------------------------------

    def facts(self, path: VaultPath) -> Answer[Facts | None]:
        """Return everything known of one file, a pending one parsed now (INDEX-20); None for no
        note or canvas."""
        entry = self._indexer.pending().get(path)
        cut = (path,) if path in self._indexer.long_files else ()
        if entry is not None:
            return Answer(self._parsed(entry), CURRENT, cut)
        return Answer(self._indexer.query(lambda rows: rows.facts(path)), CURRENT, cut)

    def _parsed(self, entry: FileEntry) -> Facts | None:
        from obsidian_mcp.core.index import extract

        try:
            return extract.read_facts(entry.path, self._indexer.read(entry), entry.size)
        except NoteNotFound:
            return None
        except OperationTimeout:
            raise
        except AppError as error:
            return extract.unreadable(error)

    def outgoing(self, path: VaultPath) -> Answer[tuple[results.Reference, ...]]:
        """Return every link and embed of a file in its order, with the file that it leads to."""
        facts = self.facts(path)
        links = facts.value.links if facts.value is not None else ()
        references = tuple(
            results.Reference(path, self._target(path, link), link) for link in links
        )
        return Answer(references, facts.freshness, facts.cut)

    @_asked_of_all
    def backlinks(self, rows: Rows, path: VaultPath) -> tuple[results.Reference, ...]:
        """Return every link that leads to a file, its own included, by source and order in it."""
        links = [
            located for located in self._there(rows.links_to(keys_of(path))) if located[0] != path
        ]
        links += ((path, link) for link in rows.links_from(path))
        return tuple(
            results.Reference(source, path, link)
            for source, link in sorted(links, key=itemgetter(0))
            if self._target(source, link) == path
        )

    # -- what a change is made from
    # ----------------------------------------------------------------------------

    def sources_of(self, keys: Iterable[str]) -> tuple[VaultPath, ...]:
        """Return the files that hold a link with one of these `link_key`s, wherever it leads; see
        `_all_files_with`."""
        sought_keys = set(keys)
        return self._all_files_with(
            sought_keys,
            lambda rows: rows.sources_of(sought_keys),
            lambda found: any(link.key in sought_keys for link in found.links),
        )

    def files_tagged(self, tag: str) -> tuple[VaultPath, ...]:
        """Return the files with a tag or a descendant of it, excluded ones too; see
        `_all_files_with`."""
        key = tags.key(tag).rstrip("/")
        return self._all_files_with(
            {key},
            lambda rows: {path for path, _ in rows.tagged(key)},
            lambda found: any(
                fact.key == key or fact.key.startswith(key + "/") for fact in found.tags
            ),
        )

    def _all_files_with(
        self,
        keys: Collection[str],
        stored: Callable[[Rows], set[VaultPath]],
        has: Callable[[Facts], bool],
    ) -> tuple[VaultPath, ...]:
        """Return the files that a change must not miss.

        The few that are pending are parsed (INDEX-43). Of long ones, whose rows are of their
        beginning, those are among them that may have one of these keys later (INDEX-51); too large
        ones are not.
        """
        pending = self._indexer.pending()
        files = self._indexer.query(stored) - pending.keys()
        for path, entry in pending.items():
            checkpoint()
            facts_ = self._parsed(entry)
            if facts_ is not None and has(facts_):
                files.add(path)
        for path, entry in self._indexer.long_files.items():
            if path not in files and not entry.is_too_large and self._may_hold(entry, keys):
                files.add(path)
        return tuple(sorted(path for path in files if path in self._catalog))

    def _may_hold(self, entry: FileEntry, keys: Collection[str]) -> bool:
        checkpoint()
        try:
            return may_hold(self._read(entry), keys)
        except AppError:  # gone, or unreadable since it was indexed
            return False

    def contexts(self, references: Iterable[results.Reference]) -> Iterator[str]:
        """Yield the line around every link; see `results.link_lines`."""
        return results.link_lines(references, self._catalog, self._indexer.read)

    # -- the whole vault
    # ---------------------------------------------------------------------------------------

    @_asked
    def tasks(
        self, rows: Rows, days: tuple[str, str] | None = None, without_marks: Collection[str] = ()
    ) -> list[tuple[VaultPath, TaskFact]]:
        """Every checkbox of a note with a day in this range (`YYYY-MM-DD`) in its line, but those
        with one of these marks; every one that may have an id or depend on one; and some others
        (TASK-130)."""
        return list(self._there(rows.tasks(days, without_marks)))

    @_asked_of_all
    def link_maps(self, rows: Rows) -> results.LinkMaps:
        """Return the app's link maps; every note has an entry in both, if only an empty one."""
        links = self._link_graph(rows)
        sources = [path for path in sorted(links.paths) if indexable(path)]
        return results.LinkMaps(
            {path: dict(links.resolved.get(path, {})) for path in sources},
            {path: dict(links.unresolved.get(path, {})) for path in sources},
        )

    @_asked_of_all
    def unresolved(self, rows: Rows) -> tuple[results.Unresolved, ...]:
        """Return the names that links lead to and no file has, by name; links in hidden files do
        not count."""
        names: dict[str, dict[VaultPath, int]] = defaultdict(dict)
        hidden = self._hides()
        for source, targets in self._link_graph(rows).unresolved.items():
            if targets and not hidden(source):
                for name, count in targets.items():
                    names[name][source] = count
        by_name = sorted(names.items(), key=lambda item: (name_key(item[0]), item[0]))
        return tuple(
            results.Unresolved(name, dict(sorted(sources.items()))) for name, sources in by_name
        )

    @_asked_of_all
    def broken_links(self, rows: Rows) -> tuple[results.Reference, ...]:
        """Return the links that lead to no file, or to a heading or block that their note lacks
        (LINK-50). They come by source and order in it, the same link of a line once; links in
        hidden files do not count."""
        hidden, has_part = self._hides(), cache(partial(self._has_part, rows))
        references: dict[object, results.Reference] = {}
        for source, link in self._there(rows.links_to_check(self._link_graph(rows).unresolved)):
            target = self._target(source, link)
            if (target is None or not has_part(target, link.subpath)) and not hidden(source):
                references[source, link.at, link.line, link.original] = results.Reference(
                    source, target, link
                )
        return tuple(references.values())

    def _has_part(self, rows: Rows, path: VaultPath, subpath: str) -> bool:
        """Whether a file has what a subpath names; True for parts that only other programs know."""
        from obsidian_mcp.core.note import drawing, parser  # loaded when it is needed
        from obsidian_mcp.core.note.subpath import (
            heading_chain,
            heading_key,
            resolve_subpath,
            segments,
        )

        parts = segments(subpath)
        entry = self._catalog.get(path)
        if not parts or not is_note(path) or entry is None or entry.size > BODY_LIMIT:
            return True
        facts_ = rows.facts(path)
        keys = (
            [(heading.level, heading_key(heading.text)) for heading in facts_.headings]
            if facts_
            else ()
        )
        if heading_chain(keys, parts) is not None:
            return True
        text = rows.text(path) if "^" in parts[-1] else ""
        is_drawing = drawing.is_drawing(path, text)
        return is_drawing or (
            bool(text) and resolve_subpath(parser.parse(text), subpath) is not None
        )

    @_asked_of_all
    def orphans(self, rows: Rows, *, attachments: bool = False) -> tuple[VaultPath, ...]:
        """Return the notes that no other file links to; with `attachments` every such file."""
        incoming = self._link_graph(rows).incoming
        return tuple(
            path
            for path in self._shown()
            if (attachments or is_note(path)) and not (incoming.get(path, set()) - {path})
        )

    @_asked_of_all
    def dead_ends(self, rows: Rows) -> tuple[VaultPath, ...]:
        """Return the notes without a link to another file."""
        links = self._link_graph(rows)
        return tuple(
            path
            for path in self._shown()
            if is_note(path)
            and not (links.resolved.get(path, {}).keys() - {path})
            and not links.unresolved.get(path)
        )

    @_asked
    def neighbours(
        self, rows: Rows, path: VaultPath, depth: int = 1
    ) -> tuple[results.Neighbour, ...]:
        """The files within `depth` links in either direction, nearest first, none hidden or over a
        hidden one."""
        reached = spread(self._link_graph(rows), path, depth, None, self._hides())
        return tuple(
            results.Neighbour(near, distance, via)
            for near, (distance, via) in sorted(
                reached.items(), key=lambda item: (item[1][0], item[0])
            )
            if near != path
        )

    @_asked
    def around(self, rows: Rows, path: VaultPath, depth: int, limit: int) -> Neighbourhood:
        """Return the links within `depth` links of a file, with at most `limit` nodes."""

        def embedded(source: VaultPath) -> set[VaultPath | None]:
            return {
                self._target(source, link)
                for link in rows.links_from(source)
                if link.kind == "embed"
            }

        links = self._link_graph(rows)
        reached = spread(links, path, depth, None, self._hides())
        return around(
            links,
            {file: distance for file, (distance, _) in reached.items()},
            depth,
            limit,
            embedded,
        )

    @_asked_of_all
    def shortest_path(self, rows: Rows, start: VaultPath, end: VaultPath) -> tuple[VaultPath, ...]:
        """Return a shortest path over links in either direction, both ends included; empty when
        there is none."""
        reached = spread(self._link_graph(rows), start, len(self._catalog) + 1, end, self._hides())
        if end not in reached:
            return ()
        path = [end]
        while path[-1] != start:
            path.append(reached[path[-1]][1])
        return tuple(reversed(path))

    # -- tags, properties, aliases
    # -----------------------------------------------------------------------------

    @_asked
    def tags(self, rows: Rows) -> tuple[results.TagUse, ...]:
        """Return every tag of the vault with its counts, by name; it counts for every tag above it
        (semantics 3.4)."""
        hidden = self._hides()
        visible_files = self._numbers(rows, lambda path: is_note(path) and not hidden(path))
        return results.tag_uses(rows.column("tags", "tag"), visible_files)

    @_asked
    def tagged(self, rows: Rows, tag: str) -> tuple[results.TaggedFile, ...]:
        """Return the files with a tag or a descendant of it, by path; a leading `#` and case are
        ignored."""
        by_path = groupby(self._visible(rows.tagged(tags.key(tag).rstrip("/"))), key=itemgetter(0))
        return tuple(
            results.TaggedFile(path, tuple(fact for _, fact in facts_)) for path, facts_ in by_path
        )

    @_asked
    def properties(
        self, rows: Rows, *, inline_fields: bool = True
    ) -> tuple[results.PropertyUse, ...]:
        """Return every property of the vault, by name; the inline fields of Dataview too where the
        vault has them."""
        tables = self._property_tables() if inline_fields else PROPERTIES
        hidden = self._hides()
        cells = chain.from_iterable(rows.column(table, "key, name, type") for table in tables)
        return results.property_uses(cells, self._numbers(rows, lambda path: not hidden(path)))

    @_asked
    def with_property(self, rows: Rows, name: str) -> tuple[results.PropertyValue, ...]:
        """Return every file's value of a property, by path; the case of its name is ignored."""
        key = name.lower()
        return tuple(
            results.PropertyValue(path, json.loads(fact.value))
            for path, fact in self._visible(rows.properties(key, self._property_tables()))
        )

    def _property_tables(self) -> Sequence[str]:
        return WITH_INLINE_FIELDS if self._inline_fields() else PROPERTIES

    @_asked
    def by_alias(self, rows: Rows, name: str) -> tuple[VaultPath, ...]:
        """Return the notes that have this alias, compared as file names are."""
        return tuple(
            sorted({path for path, _ in self._there(rows.aliases(name_key(name.strip())))})
        )

    def evaluate(self, query: Callable[[Moment], T]) -> Answer[T]:
        """Return what a query over all files gives at one moment of the index, perhaps run again.
        Raises: OperationTimeout, after QUERY_SECONDS in a call without a limit."""
        hides = self._hides()
        is_whole = not self._indexer.freshen().pending

        def run(rows: Rows) -> T:
            def links() -> LinkGraph:
                if not is_whole:
                    raise _NeedsAll
                return self._link_graph(rows)

            with limit_call(QUERY_SECONDS):
                paths = lambda: self._files.at(rows).paths  # noqa: E731 - read where a query needs it
                return query(
                    Moment(rows, self._catalog, hides, paths, links, self._indexer.unindexed)
                )

        try:
            return Answer(self._indexer.query(run), self._indexer.freshness, self._indexer.cut)
        except _NeedsAll:  # what no file links to is not known before all are read
            is_whole = True
            return self._indexer.ask(run, of_all=True)

    @_asked_of_all
    def evaluate_texts(
        self, rows: Rows, question: Callable[[Iterable[tuple[VaultPath, str]]], T]
    ) -> T:
        """Return what a question gives for path and text of every note, the one changed last
        first."""
        paths, hidden = self._files.at(rows).paths, self._hides()
        texts = (
            (paths[number], text) for number, text in rows.texts_newest_first() if number in paths
        )
        return question((path, text) for path, text in texts if is_note(path) and not hidden(path))

    @_asked
    def warnings(self, rows: Rows) -> dict[VaultPath, tuple[str, ...]]:
        """Return the warnings of every file that could not be read whole."""
        return dict(self._there(rows.warnings().items()))

    def _target(self, source: VaultPath, link: LinkFact) -> VaultPath | None:
        return target_of(self._catalog, source, (link.path, link.kind == "card"))

    def _link_graph(self, rows: Rows) -> LinkGraph:
        """Return all links resolved; they are kept between questions."""
        with self._lock:
            self._links = update(self._links, rows, self._catalog)
            return self._links

    def _shown(self) -> list[VaultPath]:
        hidden = self._hides()
        return sorted(entry.path for entry in self._catalog if not hidden(entry.path))

    def _there(self, located: Iterable[tuple[VaultPath, T]]) -> Iterator[tuple[VaultPath, T]]:
        return ((path, fact) for path, fact in located if path in self._catalog)

    def _visible(self, located: Iterable[tuple[VaultPath, T]]) -> Iterator[tuple[VaultPath, T]]:
        """Yield what is stored of files that exist and are not hidden."""
        hidden = self._hides()
        return ((path, fact) for path, fact in self._there(located) if not hidden(path))

    def _numbers(self, rows: Rows, is_wanted: Callable[[VaultPath], bool]) -> Collection[int]:
        return {number for number, path in self._files.at(rows).paths.items() if is_wanted(path)}
