"""All links of a vault, resolved (semantics 1.4), and those around one file (specs/views.md
VIEW-20)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.index.rows import Rows, Stamp, Target
from obsidian_mcp.core.links.resolve import clean, keys_of, resolve
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, VaultPath, is_note, parent


@dataclass(frozen=True)
class LinkGraph:
    """All links, for one state of the rows and of the catalog. Files without links are not in the
    maps."""

    stamp: Stamp
    generation: int
    """Of the catalog."""
    paths: frozenset[VaultPath]
    """Every file of the vault."""
    resolved: Mapping[VaultPath, Mapping[VaultPath, int]]
    """Source -> target -> how many links."""
    unresolved: Mapping[VaultPath, Mapping[str, int]]
    """Source -> name without subpath and `.md`, as written -> how many links."""

    @cached_property
    def incoming(self) -> Mapping[VaultPath, set[VaultPath]]:
        """Target -> sources."""
        sources_by_target: dict[VaultPath, set[VaultPath]] = {}
        for source, targets in self.resolved.items():
            for target in targets:
                sources_by_target.setdefault(target, set()).add(source)
        return sources_by_target


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


def update(graph: LinkGraph | None, rows: Rows, catalog: Catalog) -> LinkGraph:
    """Return the graph of these rows and files; of an older one, only links that a change may
    affect are resolved."""
    stamp, generation = rows.stamp, catalog.generation
    if graph is not None and graph.stamp == stamp and graph.generation == generation:
        return graph
    paths = frozenset(entry.path for entry in catalog)
    if graph is None or graph.stamp.identity != stamp.identity:
        return _with_links(LinkGraph(stamp, generation, paths, {}, {}), (), rows.targets(), catalog)
    moved = paths ^ graph.paths
    affected = moved | rows.sources_of({key for path in moved for key in keys_of(path)})
    affected = affected.union(rows.changed_since(graph.stamp.generation).values())
    current = replace(graph, stamp=stamp, generation=generation, paths=paths)
    return _with_links(current, affected, rows.targets(affected), catalog)


def target_of(catalog: Catalog, source: VaultPath, target: Target) -> VaultPath | None:
    """Return the file that a link leads to, None when there is none."""
    path, is_card = target
    return catalog.path_at(path) if is_card else resolve(catalog, source, path)


def spread(
    links: LinkGraph,
    start: VaultPath,
    depth: int,
    end: VaultPath | None,
    hidden: Callable[[str], bool],
) -> dict[VaultPath, tuple[int, VaultPath]]:
    """Distance and predecessor of every file within `depth` links, until `end` is found, not over
    hidden ones."""
    reached = {start: (0, start)}
    ring = [start]
    for distance in range(1, depth + 1):
        following = []
        for here in ring:
            checkpoint()
            for there in sorted({*links.resolved.get(here, ()), *links.incoming.get(here, ())}):
                if there not in reached and (there == end or not hidden(there)):
                    reached[there] = (distance, here)
                    following.append(there)
        ring = sorted(following)
        if not ring or end in reached:
            break
    return reached


def build_neighbourhood(
    links: LinkGraph,
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
            for name in links.unresolved.get(path, ()):
                missing.setdefault(name, set()).add(path)
    files = [(distance, _file(links, path)) for path, distance in distances.items()]
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
    return Neighbourhood(nodes, _edges(links, nodes, embedded), len(ranked) - len(nodes))


def _file(links: LinkGraph, path: VaultPath) -> GraphNode:
    outgoing: Collection[object] = links.resolved.get(path, ())
    named: Collection[object] = links.unresolved.get(path, ())
    incoming: Collection[object] = links.incoming.get(path, ())
    return GraphNode(
        path, "note" if is_note(path) else "file", len(incoming), len(outgoing) + len(named)
    )


def _edges(
    links: LinkGraph,
    nodes: tuple[GraphNode, ...],
    embedded: Callable[[VaultPath], Collection[VaultPath | None]],
) -> tuple[tuple[int, int, Literal["link", "embed"]], ...]:
    files = {
        VaultPath(node.path): place for place, node in enumerate(nodes) if node.kind != "missing"
    }
    names = {node.path: place for place, node in enumerate(nodes) if node.kind == "missing"}
    edges: list[tuple[int, int, Literal["link", "embed"]]] = []
    for path, place in files.items():
        targets = [target for target in links.resolved.get(path, ()) if target in files]
        embeds = embedded(path) if targets else ()
        edges += [
            (place, files[target], "embed" if target in embeds else "link") for target in targets
        ]
        edges += [
            (place, names[name], "link") for name in links.unresolved.get(path, ()) if name in names
        ]
    return tuple(edges)


def _with_links(
    graph: LinkGraph,
    removed: Iterable[VaultPath],
    added: Iterable[tuple[VaultPath, list[Target]]],
    catalog: Catalog,
) -> LinkGraph:
    """Return the graph without the links of some sources, and with these links of sources."""
    resolved, unresolved = dict(graph.resolved), dict(graph.unresolved)
    for source in removed:
        resolved.pop(source, None)
        unresolved.pop(source, None)
    known: dict[tuple[str, Target], VaultPath | None] = {}
    for source, targets in added:
        if source not in graph.paths:
            continue
        checkpoint()
        folder = parent(source)
        paths: dict[VaultPath, int] = {}
        names: dict[str, int] = {}
        for target in targets:
            name = clean(target[0])
            if not name:
                path: VaultPath | None = source
            elif (folder, target) in known:  # a link means the same in all files of a folder
                path = known[folder, target]
            else:
                path = known[folder, target] = target_of(catalog, source, target)
            if path is not None:
                paths[path] = paths.get(path, 0) + 1
            else:
                name = name.removesuffix(NOTE_EXTENSION)
                names[name] = names.get(name, 0) + 1
        if paths:
            resolved[source] = paths
        if names:
            unresolved[source] = names
    return replace(graph, resolved=resolved, unresolved=unresolved)
