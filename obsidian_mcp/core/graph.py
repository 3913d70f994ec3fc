"""Questions over many notes: links both ways, what hangs together, tags, properties, aliases (semantics 1.4, 3.4, 14).

The catalog says which files exist, the index what they say, and a file that the index does not know yet is read on
the spot: an answer is complete at any time. Where a link leads is decided here, when somebody asks.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, Generic, TypeVar

from obsidian_mcp.errors import AppError, NoteNotFound, StorageFailed

from . import deadline, facts, mention, tags
from .catalog import Catalog, FileEntry
from .facts import AliasFact, Facts, LinkFact, PropertyFact, TagFact
from .index import Busy, Record, Replaced, digest_of
from .keeper import ATTEMPTS, Keeper
from .paths import NOTE_EXTENSION, VaultPath, is_note, name_key, parent
from .resolve import clean, resolve
from .rows import Rows, Stamp, Target

UNRESOLVED_LINK_IS_A_WAY_OUT = True
"""Semantics 14 [U]: a note whose only links lead nowhere is no dead end."""
CANVASES_IN_LINK_MAPS = True
"""Semantics 1.6 [U]: links of canvases are in `resolvedLinks` and `unresolvedLinks`."""
TAGS_OF_CANVASES_COUNT = False
"""Semantics 10 [U]: tags on the cards of canvases are among the tags of the vault. They are found either way."""

CONTEXT = 200
"""Code points shown of the line that holds a link."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """An answer is always complete; `building` is a sentence when the index was not."""

    value: T
    building: str | None


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


class Graph:
    """The questions to one vault. Every method may be called from any thread.

    `excluded` says which files the user hides (semantics 8.3): they are left out of everything that the app's graph
    view, tags view and properties view show, and kept in links and backlinks.
    """

    def __init__(
        self,
        keeper: Keeper,
        catalog: Catalog,
        read: Callable[[FileEntry], bytes],
        excluded: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._keeper = keeper
        self._catalog = catalog
        self._read = read
        self._excluded = excluded
        self._web_lock = threading.Lock()
        self._web: _Web | None = None

    # -- one file ----------------------------------------------------------------------------------------------

    def outgoing(self, path: VaultPath) -> Answer[tuple[Reference, ...]]:
        """Every link and embed of a file in its order, with the file that it leads to."""
        return self._ask(
            lambda scene: tuple(Reference(path, self._target(path, link), link) for link in scene.links_from(path)),
            only=path,
        )

    def backlinks(self, path: VaultPath) -> Answer[tuple[Reference, ...]]:
        """Every link that leads to a file, its own included, by source and order in it."""
        keys = _keys_of(path)

        def question(scene: _Scene) -> tuple[Reference, ...]:
            links = [each for each in scene.links_to(keys) if each[0] != path]
            links += ((path, link) for link in scene.links_from(path))
            return tuple(
                Reference(source, path, link)
                for source, link in sorted(links, key=lambda each: each[0])
                if self._target(source, link) == path
            )

        return self._ask(question, mention.of_name(path), only=path)

    def sources_of(self, keys: Iterable[str]) -> tuple[VaultPath, ...]:
        """Files that hold a link with one of these `link_key`s, wherever it leads."""
        wanted = tuple(keys)
        return self._ask_all(lambda scene: tuple(sorted({path for path, _ in scene.links_to(wanted)}))).value

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
            return facts.texts(path, self._read(entry))
        except AppError:
            return {}

    def facts(self, path: VaultPath) -> Answer[Facts | None]:
        """Everything known of one file: headings, tasks, block ids, warnings; None for no note or canvas."""
        return self._ask(lambda scene: scene.facts(path), only=path)

    # -- the whole vault ---------------------------------------------------------------------------------------

    def link_maps(self) -> Answer[LinkMaps]:
        """Every note has a place in both maps, if only an empty one."""

        def question(scene: _Scene) -> LinkMaps:
            web = self._web_of(scene)
            sources = [
                path
                for path in sorted(web.paths)
                if (facts.indexable(path) if CANVASES_IN_LINK_MAPS else is_note(path))
            ]
            return LinkMaps(
                {path: dict(web.resolved.get(path, {})) for path in sources},
                {path: dict(web.unresolved.get(path, {})) for path in sources},
            )

        return self._ask_all(question)

    def unresolved(self) -> Answer[tuple[Unresolved, ...]]:
        """Names that links lead to and no file has, by name; links in hidden files are not looked at."""

        def question(scene: _Scene) -> tuple[Unresolved, ...]:
            names: dict[str, dict[VaultPath, int]] = defaultdict(dict)
            for source, targets in self._web_of(scene).unresolved.items():
                if targets and not self._excluded(source):
                    for name, count in targets.items():
                        names[name][source] = count
            return tuple(Unresolved(name, dict(sorted(names[name].items()))) for name in sorted(names, key=_by_name))

        return self._ask_all(question)

    def orphans(self, *, attachments: bool = False) -> Answer[tuple[VaultPath, ...]]:
        """Notes that no other file links to; with `attachments` every file, not only notes."""

        def question(scene: _Scene) -> tuple[VaultPath, ...]:
            incoming = self._web_of(scene).incoming
            return tuple(
                path
                for path in self._shown()
                if (attachments or is_note(path)) and not (incoming.get(path, set()) - {path})
            )

        return self._ask_all(question)

    def dead_ends(self) -> Answer[tuple[VaultPath, ...]]:
        """Notes without a link to another file."""

        def question(scene: _Scene) -> tuple[VaultPath, ...]:
            web = self._web_of(scene)
            return tuple(
                path
                for path in self._shown()
                if is_note(path)
                and not (web.resolved.get(path, {}).keys() - {path})
                and not (UNRESOLVED_LINK_IS_A_WAY_OUT and web.unresolved.get(path))
            )

        return self._ask_all(question)

    def neighbours(self, path: VaultPath, depth: int = 1) -> Answer[tuple[Neighbour, ...]]:
        """Files within `depth` links of a file, links followed both ways, nearest first.

        Hidden files are not shown and no way leads over them, as in the app's graph view.
        """

        def question(scene: _Scene) -> tuple[Neighbour, ...]:
            found = self._spread(self._web_of(scene), path, depth, None)
            return tuple(
                Neighbour(each, distance, via)
                for each, (distance, via) in sorted(found.items(), key=lambda item: (item[1][0], item[0]))
                if each != path
            )

        return self._ask_all(question)

    def shortest_path(self, start: VaultPath, end: VaultPath) -> Answer[tuple[VaultPath, ...]]:
        """The files on a shortest way over links in either direction, both ends included; empty when there is none."""

        def question(scene: _Scene) -> tuple[VaultPath, ...]:
            found = self._spread(self._web_of(scene), start, len(self._catalog) + 1, end)
            if end not in found:
                return ()
            way = [end]
            while way[-1] != start:
                way.append(found[way[-1]][1])
            return tuple(reversed(way))

        return self._ask_all(question)

    def _spread(
        self, web: _Web, start: VaultPath, depth: int, end: VaultPath | None
    ) -> dict[VaultPath, tuple[int, VaultPath]]:
        """Distance and predecessor of every file within `depth` links, until `end` is among them."""
        found = {start: (0, start)}
        ring = [start]
        for distance in range(1, depth + 1):
            following = []
            for here in ring:
                deadline.checkpoint()
                for there in sorted({*web.resolved.get(here, ()), *web.incoming.get(here, ())}):
                    if there not in found and (there == end or not self._excluded(there)):
                        found[there] = (distance, here)
                        following.append(there)
            ring = sorted(following)
            if not ring or end in found:
                break
        return found

    # -- tags, properties, aliases -----------------------------------------------------------------------------

    def tags(self) -> Answer[tuple[TagUse, ...]]:
        """Every tag of the vault with its counts, by name; a tag counts for each tag above it (semantics 3.4)."""

        def question(scene: _Scene) -> tuple[TagUse, ...]:
            files_of: dict[str, list[_File]] = defaultdict(list)
            shown = scene.shown(lambda path: (is_note(path) or TAGS_OF_CANVASES_COUNT) and not self._excluded(path))
            for file, tag in scene.tags():
                if file in shown:
                    files_of[tag].append(file)
            written: dict[str, Counter[str]] = defaultdict(Counter)
            files: dict[str, set[_File]] = defaultdict(set)
            for tag, found in files_of.items():
                for above in tags.ancestry(tag):
                    written[tags.key(above)][above] += len(found)
                    files[tags.key(above)].update(found)
            return tuple(
                TagUse(_most_used(written[key]), written[key].total(), len(files[key])) for key in sorted(written)
            )

        return self._ask_all(question)

    def tagged(self, tag: str) -> Answer[tuple[TaggedFile, ...]]:
        """Files with a tag or a descendant of it, by path; `#` in front and casing do not matter."""
        key = tags.key(tag).rstrip("/")

        def question(scene: _Scene) -> tuple[TaggedFile, ...]:
            return tuple(TaggedFile(path, tuple(facts_)) for path, facts_ in _by_file(self._visible(scene.tagged(key))))

        return self._ask(question, mention.of_text(key))

    def properties(self) -> Answer[tuple[PropertyUse, ...]]:
        """Every property of the vault, by name."""

        def question(scene: _Scene) -> tuple[PropertyUse, ...]:
            names: dict[str, Counter[str]] = defaultdict(Counter)
            types: dict[str, Counter[str]] = defaultdict(Counter)
            files: dict[str, set[_File]] = defaultdict(set)
            shown = scene.shown(lambda path: not self._excluded(path))
            for file, key, name, kind in scene.property_kinds():
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

        return self._ask_all(question)

    def with_property(self, name: str) -> Answer[tuple[PropertyValue, ...]]:
        """Every file's value of a property, by path; the casing of the name does not matter."""
        key = name.lower()

        def question(scene: _Scene) -> tuple[PropertyValue, ...]:
            return tuple(
                PropertyValue(path, fact.name, fact.type, json.loads(fact.value))
                for path, fact in self._visible(scene.properties(key))
            )

        return self._ask(question, mention.of_text(key))

    def by_alias(self, name: str) -> Answer[tuple[VaultPath, ...]]:
        """Notes that have this name among their aliases, compared as file names are."""
        key = name_key(name.strip())
        return self._ask(lambda scene: tuple(sorted({path for path, _ in scene.aliases(key)})), mention.of_text(key))

    def warnings(self) -> Answer[dict[VaultPath, tuple[str, ...]]]:
        """What was wrong with each file that could not be read whole."""
        return self._ask_all(lambda scene: scene.warnings())

    # -- how questions are asked -------------------------------------------------------------------------------

    def _ask_all(self, question: Callable[[_Scene], T]) -> Answer[T]:
        """A question that needs every file: what is pending is taken in first."""
        self._keeper.settle()
        _, building = self._keeper.pending()
        self._keeper.finish()
        return Answer(self._ask(question, lambda _: True).value, building)

    def _ask(
        self, question: Callable[[_Scene], T], probe: mention.Probe | None = None, only: VaultPath | None = None
    ) -> Answer[T]:
        """The question, put to the rows and to those pending files whose bytes pass `probe`, or that are `only`."""
        self._keeper.settle()
        for _ in range(ATTEMPTS):
            pending, building = self._keeper.pending()
            with self._keeper.asking():
                fresh = self._fresh(pending, probe, only)
                try:
                    with self._keeper.index.rows() as rows:
                        answer = Answer(question(_Scene(rows, self._catalog, pending.keys(), fresh)), building)
                except (Replaced, Busy):
                    continue
            return answer
        raise StorageFailed("The index could not be read. Try again in a moment.")

    def _fresh(
        self, pending: Mapping[VaultPath, FileEntry], probe: mention.Probe | None, only: VaultPath | None
    ) -> dict[VaultPath, Facts]:
        """What the pending files say that matter to a question. The index gets it too."""
        records = []
        for entry in pending.values() if probe is not None else filter(None, [pending.get(only or VaultPath(""))]):
            deadline.checkpoint()
            try:
                data = self._read(entry)
            except NoteNotFound:
                continue
            except AppError as error:
                records.append(Record(entry, None, facts.unreadable(error)))
                continue
            if entry.path == only or (probe is not None and probe(data)):
                records.append(Record(entry, digest_of(data), facts.of(entry.path, data, entry.size)))
        self._keeper.offer(records)
        return {record.entry.path: record.facts for record in records if record.facts is not None}

    def _target(self, source: VaultPath, link: LinkFact) -> VaultPath | None:
        if link.kind == "card":
            return self._catalog.at(link.path)
        return resolve(self._catalog, source, link.path)

    def _shown(self) -> list[VaultPath]:
        return sorted(entry.path for entry in list(self._catalog) if not self._excluded(entry.path))

    def _visible(self, found: Iterable[tuple[VaultPath, T]]) -> Iterator[tuple[VaultPath, T]]:
        return ((path, each) for path, each in found if not self._excluded(path))

    # -- the web of resolved links -----------------------------------------------------------------------------

    def _web_of(self, scene: _Scene) -> _Web:
        """All links resolved. Kept between questions; only what a change may touch is resolved again."""
        with self._web_lock:
            web = self._web = self._brought_up(self._web, scene.rows)
        if not scene.hidden:
            return web
        fresh = (
            (path, [(link.path, link.kind == "card") for link in each.links]) for path, each in scene.fresh.items()
        )
        return self._with_links(web, scene.hidden, fresh)

    def _brought_up(self, old: _Web | None, rows: Rows) -> _Web:
        stamp, generation = rows.stamp(), self._catalog.generation
        if old is not None and old.stamp == stamp and old.generation == generation:
            return old
        paths = frozenset(entry.path for entry in list(self._catalog))
        if old is None or old.stamp.identity != stamp.identity:
            empty = _Web(stamp, generation, paths, {}, {})
            return self._with_links(empty, (), rows.targets())
        moved = paths ^ old.paths
        touched = {*rows.changed_since(old.stamp.generation), *(moved & old.paths), *(moved & paths)}
        touched |= rows.sources_of({key for path in moved for key in _keys_of(path)})
        web = _Web(stamp, generation, paths, old.resolved, old.unresolved)
        return self._with_links(web, touched, rows.targets(touched))

    def _with_links(
        self, web: _Web, sources: Iterable[VaultPath], links: Iterable[tuple[VaultPath, list[Target]]]
    ) -> _Web:
        """The web with the links of these sources taken out, and these links put in."""
        resolved, unresolved = dict(web.resolved), dict(web.unresolved)
        for source in sources:
            resolved.pop(source, None)
            unresolved.pop(source, None)
        known: dict[tuple[str, Target], VaultPath | None] = {}
        for source, targets in links:
            if source not in web.paths:
                continue
            deadline.checkpoint()
            folder = parent(source)
            to: dict[VaultPath, int] = {}
            nowhere: dict[str, int] = {}
            for wanted in targets:
                if (folder, wanted) not in known:  # what a link means depends on the folder that it is written in
                    known[folder, wanted] = self._resolved(source, wanted)
                target = known[folder, wanted]
                if target is None and not clean(wanted[0]):
                    target = source
                if target is not None:
                    to[target] = to.get(target, 0) + 1
                else:
                    name = clean(wanted[0]).removesuffix(NOTE_EXTENSION)
                    nowhere[name] = nowhere.get(name, 0) + 1
            if to:
                resolved[source] = to
            if nowhere:
                unresolved[source] = nowhere
        return _Web(web.stamp, web.generation, web.paths, resolved, unresolved)

    def _resolved(self, source: VaultPath, wanted: Target) -> VaultPath | None:
        path, card = wanted
        if card:
            return self._catalog.at(path)
        return resolve(self._catalog, source, path) if clean(path) else None


@dataclass(frozen=True)
class _Web:
    """Every link resolved, as of one state of rows and files. Files without links are not in it."""

    stamp: Stamp
    generation: int
    paths: frozenset[VaultPath]
    resolved: Mapping[VaultPath, Mapping[VaultPath, int]]
    unresolved: Mapping[VaultPath, Mapping[str, int]]

    @cached_property
    def incoming(self) -> Mapping[VaultPath, set[VaultPath]]:
        found: dict[VaultPath, set[VaultPath]] = {}
        for source, targets in self.resolved.items():
            for target in targets:
                found.setdefault(target, set()).add(source)
        return found


_File = int | VaultPath
"""A file of the rows by its number, which is quicker to count than its path, or a fresh one."""


@dataclass(frozen=True, slots=True)
class _Scene:
    """What one question sees: the rows, without those of files that are gone or `hidden`, and `fresh` ones instead."""

    rows: Rows
    catalog: Catalog
    hidden: AbstractSet[VaultPath]
    """Pending files: their rows are old, or there are none."""
    fresh: Mapping[VaultPath, Facts]

    def links_from(self, path: VaultPath) -> Sequence[LinkFact]:
        if path not in self.hidden:
            return self.rows.links_from(path)
        known = self.fresh.get(path)
        return known.links if known else ()

    def facts(self, path: VaultPath) -> Facts | None:
        return self.fresh.get(path) if path in self.hidden else self.rows.facts(path)

    def links_to(self, keys: Sequence[str]) -> list[tuple[VaultPath, LinkFact]]:
        return self._all(self.rows.links_to(keys), lambda each: (link for link in each.links if link.key in keys))

    def shown(self, wanted: Callable[[VaultPath], bool]) -> set[_File]:
        """The files of `tags` and `property_kinds` that are there and wanted."""
        rows: set[_File] = {
            file for file, path in self.rows.files().items() if path not in self.hidden and self._wanted(path, wanted)
        }
        return rows.union(path for path in self.fresh if self._wanted(path, wanted))

    def _wanted(self, path: VaultPath, wanted: Callable[[VaultPath], bool]) -> bool:
        return path in self.catalog and wanted(path)

    def tags(self) -> Iterator[tuple[_File, str]]:
        yield from self.rows.tags()
        for path, each in self.fresh.items():
            yield from ((path, tag.tag) for tag in each.tags)

    def property_kinds(self) -> Iterator[tuple[_File, str, str, str]]:
        yield from self.rows.property_kinds()
        for path, each in self.fresh.items():
            yield from ((path, fact.key, fact.name, fact.type) for fact in each.properties)

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

    def warnings(self) -> dict[VaultPath, tuple[str, ...]]:
        found = self._all(self.rows.warnings().items(), lambda each: (each.warnings,) if each.warnings else ())
        return dict(found)

    def _all(
        self, stored: Iterable[tuple[VaultPath, T]], of: Callable[[Facts], Iterable[T]]
    ) -> list[tuple[VaultPath, T]]:
        """By path; what is stored of files that are there and not pending, and what the fresh facts add."""
        found = [each for each in stored if each[0] not in self.hidden and each[0] in self.catalog]
        found += ((path, fact) for path, facts_ in self.fresh.items() if path in self.catalog for fact in of(facts_))
        found.sort(key=itemgetter(0))
        return found


def _keys_of(path: str) -> tuple[str, ...]:
    """The `link_key` of every link that may mean a file of this name."""
    key = name_key(path.rpartition("/")[2]).removesuffix(NOTE_EXTENSION)
    return (key, key.removesuffix(NOTE_EXTENSION)) if key.endswith(NOTE_EXTENSION) else (key,)


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
