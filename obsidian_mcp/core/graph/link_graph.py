"""All links of a vault, resolved (semantics 1.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.index.rows import Rows, Stamp, Target
from obsidian_mcp.core.links.resolve import clean, keys_of, resolve
from obsidian_mcp.core.text import deadline
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, VaultPath, parent


@dataclass(frozen=True)
class LinkGraph:
    """All links, for one state of the rows and of the catalog. Files without links are not in the maps."""

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
        found: dict[VaultPath, set[VaultPath]] = {}
        for source, targets in self.resolved.items():
            for target in targets:
                found.setdefault(target, set()).add(source)
        return found


def update(known: LinkGraph | None, rows: Rows, catalog: Catalog) -> LinkGraph:
    """Return the graph of these rows and files; of an older one, only links that a change may affect are resolved."""
    stamp, generation = rows.stamp, catalog.generation
    if known is not None and known.stamp == stamp and known.generation == generation:
        return known
    paths = frozenset(entry.path for entry in catalog)
    if known is None or known.stamp.identity != stamp.identity:
        return _with_links(LinkGraph(stamp, generation, paths, {}, {}), (), rows.targets(), catalog)
    moved = paths ^ known.paths
    affected = moved | rows.sources_of({key for path in moved for key in keys_of(path)})
    affected = affected.union(rows.changed_since(known.stamp.generation).values())
    current = replace(known, stamp=stamp, generation=generation, paths=paths)
    return _with_links(current, affected, rows.targets(affected), catalog)


def target_of(catalog: Catalog, source: VaultPath, target: Target) -> VaultPath | None:
    """Return the file that a link leads to, None when there is none."""
    path, is_card = target
    return catalog.at(path) if is_card else resolve(catalog, source, path)


def spread(
    links: LinkGraph, start: VaultPath, depth: int, end: VaultPath | None, hidden: Callable[[str], bool]
) -> dict[VaultPath, tuple[int, VaultPath]]:
    """Return distance and predecessor of every file within `depth` links, until `end` is among them.

    No path leads over a hidden file.
    """
    found = {start: (0, start)}
    ring = [start]
    for distance in range(1, depth + 1):
        following = []
        for here in ring:
            deadline.checkpoint()
            for there in sorted({*links.resolved.get(here, ()), *links.incoming.get(here, ())}):
                if there not in found and (there == end or not hidden(there)):
                    found[there] = (distance, here)
                    following.append(there)
        ring = sorted(following)
        if not ring or end in found:
            break
    return found


def _with_links(
    graph: LinkGraph, removed: Iterable[VaultPath], added: Iterable[tuple[VaultPath, list[Target]]], catalog: Catalog
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
        deadline.checkpoint()
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
