"""Questions about links: both ways, broken ones, connected notes, and queries that need them
(semantics 1.4, 14).

Links are resolved when they are asked for, because the answer depends on which other files exist.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from operator import itemgetter

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index.facts import BODY_LIMIT, Facts, LinkFact
from obsidian_mcp.core.index.freshness import Answer
from obsidian_mcp.core.index.link_rows import LinkRow
from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.links.resolve import keys_of
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.call import checkpoint, limit_call, may_go_on
from obsidian_mcp.core.text.vault_path import VaultPath, is_indexable, is_note, name_key
from obsidian_mcp.errors import AppError

from . import results
from .around import Neighbourhood, build_neighbourhood, find_way, read_links_around, spread
from .indexed_vault import Moment
from .link_graph import LinkGraph, missing_name, target_of
from .long_files import may_hold
from .metadata import Metadata
from .questions import T, ask_built_index, ask_indexer, ask_whole_index

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

    # -- one file
    def outgoing_links(self, path: VaultPath) -> Answer[tuple[results.Reference, ...]]:
        """Return every link and embed of a file in its order, with the file that it leads to."""
        early_answer = self._indexer.early.ask(
            lambda rows, files: self.replace_files(files).read_outgoing(rows, path)
        )
        if early_answer is not None:
            return Answer(early_answer.value[0], early_answer.freshness, early_answer.cut)
        facts = self.facts(path)
        links = facts.value.links if facts.value is not None else ()
        return Answer(self._resolve_links(path, links), facts.freshness, facts.cut)

    def read_outgoing(self, rows: Rows, path: VaultPath) -> Sequence[tuple[results.Reference, ...]]:
        """Return the links of a file, as the only item; none of a file without rows."""
        if path not in self._catalog or rows.file_paths.find_number(path) is None:
            return ()
        return (self._resolve_links(path, rows.links_from(path)),)

    def _resolve_links(
        self, path: VaultPath, links: Iterable[LinkFact]
    ) -> tuple[results.Reference, ...]:
        return tuple(results.Reference(path, self._target(path, link), link) for link in links)

    @ask_indexer
    def resolve_from_root(
        self,
        rows: Rows,  # noqa: ARG002
        linkpaths: Sequence[str],
    ) -> tuple[VaultPath, ...]:
        """Return the files that links in a note at the root lead to, without what leads nowhere."""
        targets = (
            target_of(self._catalog, VaultPath(""), path, is_card=False) for path in linkpaths
        )
        return tuple(target for target in targets if target is not None)

    @ask_built_index
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
    def sources_of(self, keys: Iterable[str]) -> tuple[VaultPath, ...]:
        """Return the files that hold a link with one of these `link_key`s, wherever it leads; see
        `_all_files_with`."""
        sought_keys = set(keys)
        return self._all_files_with(
            sought_keys,
            lambda rows: rows.sources_of(sought_keys),
            lambda facts: any(link.key in sought_keys for link in facts.links),
        )

    def files_tagged(self, tag: str) -> tuple[VaultPath, ...]:
        """Return the files with a tag or a descendant of it, excluded ones too; see
        `_all_files_with`."""
        key = tags.key(tag).rstrip("/")
        return self._all_files_with(
            {key},
            lambda rows: {path for path, _ in rows.tag_facts(key)},
            lambda facts: any(
                fact.key == key or fact.key.startswith(key + "/") for fact in facts.tags
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
        pending = self._indexer.pending.by_path
        files = self._indexer.query(stored) - pending.keys()
        for path, entry in pending.items():
            checkpoint()
            facts_ = self._parse_file(entry)
            if facts_ is not None and has(facts_):
                files.add(path)
        for path, entry in self._indexer.pending.long_files.items():
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
        """Return the line around every link; see `results.link_lines`."""
        listed = [*references]
        early_answer = self._indexer.early.ask(
            lambda _, files: [
                *results.link_lines(listed, files.catalog, self._indexer.pending.read)
            ]
        )
        if early_answer is not None:
            return iter(early_answer.value)
        return results.link_lines(listed, self._catalog, self._indexer.pending.read)

    # -- the whole vault
    @ask_whole_index
    def link_maps(self, rows: Rows) -> results.LinkMaps:
        """Return the app's link maps; every note has an entry in both, if only an empty one."""
        links = dict(self._link_graph(rows).every_outgoing())
        sources = sorted(entry.path for entry in self._catalog if is_indexable(entry.path))
        return results.LinkMaps(
            {path: links[path].resolved if path in links else {} for path in sources},
            {path: links[path].missing if path in links else {} for path in sources},
        )

    @ask_whole_index
    def unresolved_links(self, rows: Rows) -> tuple[results.Unresolved, ...]:
        """Return the names that links lead to and no file has, by name; links in hidden files do
        not count."""
        names: dict[str, Counter[VaultPath]] = defaultdict(Counter)
        hidden = self._hides()
        for source, row in self._link_graph(rows).missing_links():
            if not hidden(source):
                names[missing_name(row.path)][source] += 1
        by_name = sorted(names.items(), key=lambda item: (name_key(item[0]), item[0]))
        return tuple(
            results.Unresolved(name, dict(sorted(sources.items()))) for name, sources in by_name
        )

    def broken_links(self) -> Answer[tuple[results.Reference, ...]]:
        """Return the links that lead to no file, or to a part that their note lacks (LINK-50).

        They come by source and order in it, the same link of a line once; links in hidden files do
        not count.
        """
        unchecked: list[str] = []

        def find(rows: Rows) -> tuple[results.Reference, ...]:
            unchecked.clear()
            state = self._state(rows)
            references = self._kept.get("broken", state, lambda: self._find_broken(rows, unchecked))
            if unchecked:
                self._kept.forget("broken")
            return references

        answer = self._indexer.ask(find, of_all=True)
        return answer._replace(remainder=" ".join(unchecked))

    def _find_broken(self, rows: Rows, unchecked: list[str]) -> tuple[results.Reference, ...]:
        links, hidden = self._link_graph(rows), self._hides()
        missing = [
            (source, row.file, row.n) for source, row in links.missing_links() if not hidden(source)
        ]
        lacking = {
            (row.file, row.n): target
            for source, row, target in self._links_to_missing_parts(rows, links, unchecked)
            if not hidden(source)
        }
        paths = self._files.numbered_files(rows).paths
        places = sorted([*missing, *((paths[file], file, n) for file, n in lacking)])
        references: dict[object, results.Reference] = {}
        facts = rows.link_rows.facts((file, n) for _, file, n in places)
        for (source, *place), (_, link) in zip(places, facts, strict=True):
            references[source, link.at, link.line, link.original] = results.Reference(
                source, lacking.get((place[0], place[1])), link
            )
        return tuple(references.values())

    def _links_to_missing_parts(
        self, rows: Rows, links: LinkGraph, unchecked: list[str]
    ) -> Iterator[tuple[VaultPath, LinkRow, VaultPath]]:
        """Yield the links to a part that their note lacks, with source and target.

        Where time runs out, `unchecked` gets a sentence about the others.
        """
        from .note_parts import MOST_NOTES

        parts_of = lru_cache(MOST_NOTES)(partial(self._parts_of, rows))
        paths = self._files.numbered_files(rows).paths

        @cache
        def has_part(target: VaultPath, subpath: str) -> bool:
            parts = parts_of(target)
            return parts is None or parts.has(subpath)

        for count, (row, subpath) in enumerate(rows.link_rows.to_parts()):
            if not may_go_on():
                unchecked.append(
                    f"Time ran out: of the links to headings and blocks {count} were checked."
                )
                return
            source = paths.get(row.file)
            if source is None:
                continue
            target = links.target(source, row.path, is_card=row.is_card)
            if target is not None and not has_part(target, subpath):
                yield source, row, target

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
        unlinked = self._kept.get(
            "unlinked",
            self._state(rows),
            lambda: self._sort_visible(self._link_graph(rows).find_unlinked()),
        )
        return unlinked if attachments else tuple(filter(is_note, unlinked))

    @ask_whole_index
    def dead_ends(self, rows: Rows) -> tuple[VaultPath, ...]:
        """Return the notes without a link to another file."""
        return self._kept.get(
            "dead ends",
            self._state(rows),
            lambda: self._sort_visible(filter(is_note, self._link_graph(rows).linking_nowhere())),
        )

    @ask_indexer
    def neighbours(
        self, rows: Rows, path: VaultPath, depth: int = 1
    ) -> tuple[results.Neighbour, ...]:
        """Return the files within `depth` links of a file, in either direction, nearest first.

        Hidden files are left out, and no path leads over them, as in the app's graph view.
        """
        reached = spread(self._link_graph(rows), path, depth, self._hides())
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
        reached = spread(links, path, depth, self._hides())
        return build_neighbourhood(
            read_links_around(links, reached),
            {file: distance for file, (distance, _) in reached.items()},
            depth,
            limit,
            embedded_files,
        )

    @ask_whole_index
    def shortest_path(self, rows: Rows, start: VaultPath, end: VaultPath) -> tuple[VaultPath, ...]:
        """Return a shortest path over links in either direction, both ends included; empty when
        there is none."""
        return find_way(self._link_graph(rows), start, end, self._hides())

    def evaluate(self, query: Callable[[Moment], T]) -> Answer[T]:
        """Return what a query over all files gives at one moment of the index.

        The query may be run again. Raises: OperationTimeout, after QUERY_SECONDS in a call without
        a limit.
        """
        early_answer = self._indexer.early.ask(
            lambda rows, files: self.replace_files(files).run_query(query, rows)
        )
        if early_answer is not None:
            return early_answer
        is_whole = not self._indexer.freshen().pending
        try:
            value = self._indexer.query(partial(self.run_query, query, has_all_links=is_whole))
            return Answer(value, self._indexer.pending.freshness, self._indexer.pending.cut)
        except _NeedsAll:  # what no file links to is not known before all are read
            return self._indexer.ask(partial(self.run_query, query), of_all=True)

    def run_query(
        self, query: Callable[[Moment], T], rows: Rows, *, has_all_links: bool = True
    ) -> T:
        """Return what a query gives for these rows.

        Raises: _NeedsAll where it asks for links and not all are stored, OperationTimeout.
        """

        def links() -> LinkGraph:
            if not has_all_links:
                raise _NeedsAll
            return self._link_graph(rows)

        def paths() -> Mapping[int, VaultPath]:  # read where a query needs them
            return self._files.numbered_files(rows).paths

        unindexed = self._indexer.pending.unindexed
        with limit_call(QUERY_SECONDS):
            return query(Moment(rows, self._catalog, self._hides(), paths, links, unindexed))

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
        return target_of(self._catalog, source, link.path, is_card=link.kind == "card")

    def _link_graph(self, rows: Rows) -> LinkGraph:
        """Return the links of these rows."""
        return LinkGraph(rows, self._files.numbered_files(rows), self._catalog)

    def _sort_visible(self, paths: Iterable[VaultPath]) -> tuple[VaultPath, ...]:
        hidden = self._hides()
        return tuple(sorted(path for path in paths if not hidden(path)))
