"""What is around one file over links: neighbours, ways, and the graph of a view (specs/views.md
VIEW-20)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.vault_path import VaultPath, is_note

from .link_graph import LinkGraph, Outgoing


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A file, or a name that links lead to and no file has."""

    path: str
    kind: Literal["note", "file", "missing"]
    links_in: int
    """Files that link to it."""
    links_out: int
    """Files and names it links to."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """`nodes` begin with the centre; `edges` lead from the position of a file to that of what it
    links to."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[tuple[int, int, Literal["link", "embed"]], ...]
    left_out: int
    """Nodes within the distance that are not among them."""


@dataclass(frozen=True, slots=True)
class LinksAround:
    """The links of the files around one."""

    outgoing: Mapping[str, Outgoing]
    incoming: Mapping[str, set[VaultPath]]

    def neighbours_of(self, path: str) -> list[VaultPath]:
        """Return the files that a file links to, or that link to it, by path."""
        outgoing, incoming = self.outgoing.get(path), self.incoming.get(path, ())
        return sorted({*(outgoing.resolved if outgoing is not None else ()), *incoming})


def read_links_around(links: LinkGraph, paths: Collection[str]) -> LinksAround:
    """Return the links of some files, in both directions."""
    checkpoint()
    return LinksAround(links.links_out(paths), links.links_in(paths))


def spread(
    links: LinkGraph, start: VaultPath, depth: int, hidden: Callable[[str], bool]
) -> dict[VaultPath, tuple[int, VaultPath]]:
    """Return distance and predecessor of every file within `depth` links, not over hidden ones."""
    reached = {start: (0, start)}
    ring = [start]
    for distance in range(1, depth + 1):
        around = read_links_around(links, ring)
        following = []
        for here in ring:
            for there in around.neighbours_of(here):
                if there not in reached and not hidden(there):
                    reached[there] = (distance, here)
                    following.append(there)
        ring = sorted(following)
        if not ring:
            break
    return reached


def find_way(
    links: LinkGraph, start: VaultPath, end: VaultPath, hidden: Callable[[str], bool]
) -> tuple[VaultPath, ...]:
    """Return a shortest way over links in either direction, both ends included; empty without one.

    It is looked for from both ends, each time from the one that has fewer files to look at: from
    one end alone a few steps reach the whole vault.
    """
    ways: tuple[dict[VaultPath, VaultPath], ...] = ({start: start}, {end: end})
    """From each end: file -> the file before it."""
    rings = [[start], [end]]
    while all(rings) and start != end:
        near = 0 if len(rings[0]) <= len(rings[1]) else 1
        around = read_links_around(links, rings[near])
        meetings, following = [], []
        for here in rings[near]:
            for there in around.neighbours_of(here):
                if there in ways[near] or (hidden(there) and there not in (start, end)):
                    continue
                ways[near][there] = here
                following.append(there)
                if there in ways[1 - near]:
                    meetings.append(there)
        if meetings:
            middle = min(meetings)
            return (*reversed(_trace(ways[0], middle)), *_trace(ways[1], middle)[1:])
        rings[near] = sorted(following)
    return (start,) if start == end else ()


def _trace(before: Mapping[VaultPath, VaultPath], path: VaultPath) -> list[VaultPath]:
    """Return a file and those before it, up to the end from which they were reached."""
    trace = [path]
    while before[trace[-1]] != trace[-1]:
        trace.append(before[trace[-1]])
    return trace


def build_neighbourhood(
    around: LinksAround,
    distances: Mapping[VaultPath, int],
    depth: int,
    limit: int,
    embedded: Callable[[VaultPath], Collection[VaultPath | None]],
) -> Neighbourhood:
    """Return the nearest files, of those as near the most linked, up to `limit` nodes in all.

    `distances` are those of the files within `depth` links of a centre, which is the one at 0.
    `embedded` gives the files that a file embeds.
    """
    missing: dict[str, set[VaultPath]] = {}
    for path, distance in distances.items():
        if distance < depth:
            for name in _missing_names(around, path):
                missing.setdefault(name, set()).add(path)
    files = [(distance, _file(around, path)) for path, distance in distances.items()]
    names = [
        (
            1 + min(distances[source] for source in sources),
            GraphNode(name, "missing", len(sources), 0),
        )
        for name, sources in missing.items()
    ]
    ranked = sorted(
        [*files, *names],
        key=lambda pair: (pair[0], -pair[1].links_in - pair[1].links_out, pair[1].path),
    )
    nodes = tuple(node for _, node in ranked[:limit])
    return Neighbourhood(nodes, _edges(around, nodes, embedded), len(ranked) - len(nodes))


def _file(around: LinksAround, path: VaultPath) -> GraphNode:
    outgoing, named = _targets_of(around, path), _missing_names(around, path)
    incoming: Collection[object] = around.incoming.get(path, ())
    return GraphNode(
        path, "note" if is_note(path) else "file", len(incoming), len(outgoing) + len(named)
    )


def _edges(
    around: LinksAround,
    nodes: tuple[GraphNode, ...],
    embedded: Callable[[VaultPath], Collection[VaultPath | None]],
) -> tuple[tuple[int, int, Literal["link", "embed"]], ...]:
    files = {
        VaultPath(node.path): place for place, node in enumerate(nodes) if node.kind != "missing"
    }
    names = {node.path: place for place, node in enumerate(nodes) if node.kind == "missing"}
    edges: list[tuple[int, int, Literal["link", "embed"]]] = []
    for path, place in files.items():
        targets = [target for target in _targets_of(around, path) if target in files]
        embeds = embedded(path) if targets else ()
        edges += [
            (place, files[target], "embed" if target in embeds else "link") for target in targets
        ]
        edges += [
            (place, names[name], "link") for name in _missing_names(around, path) if name in names
        ]
    return tuple(edges)


def _targets_of(around: LinksAround, path: str) -> Collection[VaultPath]:
    """Return the files that a file links to."""
    outgoing = around.outgoing.get(path)
    return () if outgoing is None else outgoing.resolved


def _missing_names(around: LinksAround, path: str) -> Collection[str]:
    """Return the names that a file links to and no file has."""
    outgoing = around.outgoing.get(path)
    return () if outgoing is None else outgoing.missing
