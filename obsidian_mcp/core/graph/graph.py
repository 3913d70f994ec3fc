"""Questions about links: both ways, broken ones, connected notes, and queries that need them
(semantics 1.4, 14).

Links are resolved when they are asked for, because the answer depends on which other files exist.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial
from operator import itemgetter

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index.facts import BODY_LIMIT, Facts, LinkFact
from obsidian_mcp.core.index.freshness import Answer
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.rows import FileNumbers, Rows
from obsidian_mcp.core.links.resolve import keys_of
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.call import checkpoint, limit_call
from obsidian_mcp.core.text.vault_path import VaultPath, is_indexable, is_note, name_key
from obsidian_mcp.errors import AppError

from . import results
from .indexed_vault import Moment
from .link_graph import LinkGraph, Neighbourhood, build_neighbourhood, spread, target_of, update
from .long_files import may_hold
from .metadata import Metadata
from .questions import T, ask_indexer, ask_whole_index

if TYPE_CHECKING:
    from .note_parts import NoteParts

QUERY_SECONDS = 60.0
"""Time limit of a query in a call without one, as on the command line (EXPR-62)."""


class _NeedsAll(Exception):
    """A query asks for links while files are not indexed."""


class Graph(Metadata):
    """Answers questions about links and metadata of one vault, for all threads.

    Files that the user hides are left out of everything that the app's graph view, tags view and
    properties view show, and kept in links and backlinks.
    """

    def __init__(
        self,
        indexer: Indexer,
        files: FileNumbers,
        hides: Callable[[], Callable[[str], bool]] = lambda: lambda _: False,
        inline_fields: Callable[[], bool] = lambda: False,
        read: Callable[[FileEntry], bytes] | None = None,
    ) -> None:
        super().__init__(indexer, files, hides, inline_fields, read)
        self._lock = threading.Lock()
        self._links: LinkGraph | None = None

    # -- one file
    # ----------------------------------------------------------------------------------------------

    def outgoing_links(self, path: VaultPath) -> Answer[tuple[results.Reference, ...]]:
        """Return every link and embed of a file in its order, with the file that it leads to."""
        facts = self.facts(path)
        links = facts.value.links if facts.value is not None else ()
        references = tuple(
            results.Reference(path, self._target(path, link), link) for link in links
        )
        return Answer(references, facts.freshness, facts.cut)

    @ask_whole_index
    def backlinks(self, rows: Rows, path: VaultPath) -> tuple[results.Reference, ...]:
        """Return every link that leads to a file, its own included, by source and order in it."""
        links = [
            located
            for located in self._keep_existing(rows.links_to(keys_of(path)))
            if located[0] != path
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
            lambda rows: {path for path, _ in rows.tag_facts(key)},
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

        The few that are pending are parsed (INDEX-43). The rows of a long file are of its beginning
        only, so it is among them if it may have one of these keys later (INDEX-51); a file that is
        too large is not.
        """
        pending = self._indexer.pending_files()
        files = self._indexer.query(stored) - pending.keys()
        for path, entry in pending.items():
            checkpoint()
            facts_ = self._parse_file(entry)
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

    @ask_whole_index
    def link_maps(self, rows: Rows) -> results.LinkMaps:
        """Return the app's link maps; every note has an entry in both, if only an empty one."""
        links = self._link_graph(rows)
        sources = [path for path in sorted(links.paths) if is_indexable(path)]
        return results.LinkMaps(
            {path: dict(links.resolved.get(path, {})) for path in sources},
            {path: dict(links.unresolved.get(path, {})) for path in sources},
        )

    @ask_whole_index
    def unresolved_links(self, rows: Rows) -> tuple[results.Unresolved, ...]:
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

    @ask_whole_index
    def broken_links(self, rows: Rows) -> tuple[results.Reference, ...]:
        """Return the links that lead to no file, or to a part that their note lacks (LINK-50).

        They come by source and order in it, the same link of a line once; links in hidden files do
        not count.
        """
        from .note_parts import MOST_NOTES

        hidden = self._hides()
        parts_of = lru_cache(MOST_NOTES)(partial(self._parts_of, rows))

        @cache
        def has_part(target: VaultPath, subpath: str) -> bool:
            parts = parts_of(target) if subpath else None
            return parts is None or parts.has(subpath)

        references: dict[object, results.Reference] = {}
        for source, link in self._keep_existing(
            rows.links_to_check(self._link_graph(rows).unresolved)
        ):
            target = self._target(source, link)
            if (target is None or not has_part(target, link.subpath)) and not hidden(source):
                references[source, link.at, link.line, link.original] = results.Reference(
                    source, target, link
                )
        return tuple(references.values())

    def _parts_of(self, rows: Rows, path: VaultPath) -> NoteParts | None:
        """Return the parts of a note that links may name; None for a file whose parts only other
        programs know."""
        from .note_parts import NoteParts  # loaded when it is needed

        entry = self._catalog.get(path)
        if not is_note(path) or entry is None or entry.size > BODY_LIMIT:
            return None
        facts = rows.facts(path)
        return NoteParts(path, facts.headings if facts else (), partial(rows.text, path))

    @ask_whole_index
    def orphans(self, rows: Rows, *, attachments: bool = False) -> tuple[VaultPath, ...]:
        """Return the notes that no other file links to; with `attachments` every such file."""
        incoming = self._link_graph(rows).incoming
        return tuple(
            path
            for path in self._visible_paths()
            if (attachments or is_note(path)) and not (incoming.get(path, set()) - {path})
        )

    @ask_whole_index
    def dead_ends(self, rows: Rows) -> tuple[VaultPath, ...]:
        """Return the notes without a link to another file."""
        links = self._link_graph(rows)
        return tuple(
            path
            for path in self._visible_paths()
            if is_note(path)
            and not (links.resolved.get(path, {}).keys() - {path})
            and not links.unresolved.get(path)
        )

    @ask_indexer
    def neighbours(
        self, rows: Rows, path: VaultPath, depth: int = 1
    ) -> tuple[results.Neighbour, ...]:
        """Return the files within `depth` links of a file, in either direction, nearest first.

        Hidden files are left out, and no path leads over them, as in the app's graph view.
        """
        reached = spread(self._link_graph(rows), path, depth, None, self._hides())
        return tuple(
            results.Neighbour(near, distance, via)
            for near, (distance, via) in sorted(
                reached.items(), key=lambda item: (item[1][0], item[0])
            )
            if near != path
        )

    @ask_indexer
    def neighbourhood(self, rows: Rows, path: VaultPath, depth: int, limit: int) -> Neighbourhood:
        """Return the links within `depth` links of a file, with at most `limit` nodes."""

        def embedded_files(source: VaultPath) -> set[VaultPath | None]:
            return {
                self._target(source, link)
                for link in rows.links_from(source)
                if link.kind == "embed"
            }

        links = self._link_graph(rows)
        reached = spread(links, path, depth, None, self._hides())
        return build_neighbourhood(
            links,
            {file: distance for file, (distance, _) in reached.items()},
            depth,
            limit,
            embedded_files,
        )

    @ask_whole_index
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

    def evaluate(self, query: Callable[[Moment], T]) -> Answer[T]:
        """Return what a query over all files gives at one moment of the index.

        The query may be run again. Raises: OperationTimeout, after QUERY_SECONDS in a call without
        a limit.
        """
        hides = self._hides()
        is_whole = not self._indexer.freshen().pending

        def run_query(rows: Rows) -> T:
            def links() -> LinkGraph:
                if not is_whole:
                    raise _NeedsAll
                return self._link_graph(rows)

            def paths() -> Mapping[int, VaultPath]:  # read where a query needs them
                return self._files.numbered_files(rows).paths

            with limit_call(QUERY_SECONDS):
                return query(
                    Moment(rows, self._catalog, hides, paths, links, self._indexer.unindexed)
                )

        try:
            return Answer(
                self._indexer.query(run_query), self._indexer.freshness, self._indexer.cut
            )
        except _NeedsAll:  # what no file links to is not known before all are read
            is_whole = True
            return self._indexer.ask(run_query, of_all=True)

    @ask_whole_index
    def evaluate_texts(
        self, rows: Rows, question: Callable[[Iterable[tuple[VaultPath, str]]], T]
    ) -> T:
        """Return what a question gives for path and text of every note.

        The one that was changed last comes first.
        """
        paths, hidden = self._files.numbered_files(rows).paths, self._hides()
        texts = (
            (paths[number], text)
            for number, text in rows.texts.read_newest_first()
            if number in paths
        )
        return question((path, text) for path, text in texts if is_note(path) and not hidden(path))

    def _target(self, source: VaultPath, link: LinkFact) -> VaultPath | None:
        return target_of(self._catalog, source, (link.path, link.kind == "card"))

    def _link_graph(self, rows: Rows) -> LinkGraph:
        """Return all links resolved; they are kept between questions."""
        with self._lock:
            self._links = update(self._links, rows, self._catalog)
            return self._links

    def _visible_paths(self) -> list[VaultPath]:
        hidden = self._hides()
        return sorted(entry.path for entry in self._catalog if not hidden(entry.path))
