"""What a search found in one scene: its files in their order, and the page or the groups of an answer
(specs/search.md, SEARCH-10 to 19)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, islice

from obsidian_mcp.core.query.parser import Node
from obsidian_mcp.core.text.vault_path import VaultPath, name_key

from . import grouping, ordering, page, retrieve, sort_keys, sorting
from .hits import Grouped, Hit, Hits, Request, room_beside
from .ordering import Scored
from .snapshot import Scene
from .snippet_builder import Showing
from .sort_keys import Facet, Item
from .sorting import Order

BY_APP = "The Obsidian app found these: it matches exactly, not smart."

REMARK = 500
"""Most characters of a remark on how the files were found."""


@dataclass(frozen=True)
class Result:
    scene: Scene
    total: int
    best: Callable[[int], Sequence[Item]]
    """The first so many files, best first."""
    files: Callable[[], Sequence[Item]]
    """All of them, not weighed."""
    showing: Showing
    widened: str | None = None
    building: str | None = None
    note: str | None = None

    def first(self, most: int, by: Order | None) -> Sequence[Item]:
        """The first so many in the order that was asked for. Raises: InvalidArguments."""
        if by is None:
            return self.best(most)
        if by.facet.kind == "relevance":
            return self.best(most) if by.descending else self.best(self.total)[::-1][:most]
        sort_keys.check(self.scene, by.facet)
        return sorting.ordered(self.scene, self.files(), by)[:most]

    def shown(self, items: Sequence[Item], by: Order | None) -> Callable[[Item], Hit]:
        value = (lambda _: None) if by is None else sorting.shown(self.scene, items, by)
        self.showing.expect([item.number for item in items if item.number is not None])

        def show(item: Item) -> Hit:
            snippets = None if item.number is None else self.showing.snippets(item.number)
            return Hit(item.path, item.score, value(item), snippets)

        return show

    def room(self, characters: int) -> int:
        """Characters that an answer of at most `characters` has for its hits."""
        return room_beside(characters, self.widened, self.building, self.note)


def found(scene: Scene, request: Request, query: Node, building: str | None) -> Result:
    """The files that a query finds, as the request says."""
    wanted = _wanted(request)
    within = None if wanted is None else _within(scene, wanted)
    find = retrieve.exactly if request.match == "exact" else retrieve.smartly
    files = find(scene, query, within)
    others = scene.others_matching(query)
    if wanted is not None:
        others = [entry for entry in others if wanted(entry.path, entry.mtime_ns)]

    def items(listed: Iterable[Scored]) -> list[Item]:
        shown = [Item(scene.path(number), number, scene.time(number), score) for number, score in listed]
        return shown + [Item(entry.path, None, entry.mtime_ns) for entry in others]

    def best(most: int) -> list[Item]:
        return items(ordering.best(scene, files, request.query, most))[:most]

    def everything() -> list[Item]:
        return items((number, None) for number in files.files)

    widened = files.widened
    if widened is not None and len(widened) > REMARK:
        widened = f"{widened[:REMARK]}…"
    showing = Showing(scene, files.shown, files.exact, request.snippets)
    return Result(scene, len(files.files) + len(others), best, everything, showing, widened, building)


def named(scene: Scene, request: Request, query: Node | None, paths: Sequence[VaultPath]) -> Result:
    """Files that the app has found, in its order; hidden ones are left out. `query` None: only the app reads it."""
    wanted = _wanted(request)
    items = [_item(scene, path) for path in paths if not scene.hides(path)]
    if wanted is not None:
        items = [item for item in items if wanted(item.path, item.time)]
    showing = Showing(scene, (), [] if query is None else [query], request.snippets)
    note = BY_APP if request.match == "smart" else None
    return Result(scene, len(items), lambda most: items[:most], lambda: items, showing, note=note)


def hits(result: Result, request: Request) -> Hits:
    """One page. Raises: InvalidArguments for an order by what no note has, OperationTimeout."""
    items = result.first(request.offset + request.limit, request.order)[request.offset :]
    filled = page.filled(items, result.shown(items, request.order), result.room(request.characters))
    following = request.offset + len(filled)
    return Hits(
        result.total,
        filled,
        following if following < result.total else None,
        result.widened,
        result.building,
        result.note,
    )


def groups(result: Result, request: Request, by: Facet) -> Grouped:
    """One page in groups; `limit` and `offset` count their files, one after the other. Raises: as `hits`."""
    sort_keys.check(result.scene, by)
    items = result.first(result.total, request.order)
    grouped = grouping.grouped(result.scene, items, by)
    entries_of_page = islice(chain.from_iterable(grouped.values()), request.offset, request.offset + request.limit)
    show = result.shown(list(entries_of_page), request.order)
    filled, entries = page.filled_groups(grouped, show, result.room(request.characters), request.offset, request.limit)
    following = request.offset + entries
    return Grouped(
        result.total,
        len(grouped),
        filled,
        following if following < sum(map(len, grouped.values())) else None,
        result.widened,
        result.building,
        result.note,
    )


Wanted = Callable[[str, int], bool]


def _wanted(request: Request) -> Wanted | None:
    """Whether a file at a path, changed last at some time, may be a result; None where all may."""
    since, until = request.since, request.until
    if request.folder is None and since is None and until is None:
        return None
    inside = None if request.folder is None else _inside(request.folder)
    return lambda path, time: (
        (since is None or time >= since) and (until is None or time < until) and (inside is None or inside(path))
    )


def _inside(folder: VaultPath) -> Callable[[str], bool]:
    """Whether a path is below a folder, as the app compares names."""
    key = name_key(folder) + "/"
    length = len(key)

    def accepts(path: str) -> bool:
        start = path[:length]
        return start.lower() == key if start.isascii() else name_key(path).startswith(key)

    return accepts


def _within(scene: Scene, wanted: Wanted) -> AbstractSet[int]:
    return {number for number in (*scene.files, *scene.fresh) if wanted(scene.path(number), scene.time(number))}


def _item(scene: Scene, path: VaultPath) -> Item:
    number = scene.number(path)
    entry = scene.file(path)
    return Item(path, number, entry.mtime_ns if entry else 0)
