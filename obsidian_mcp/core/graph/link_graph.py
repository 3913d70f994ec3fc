"""Every link of a vault resolved: what leads where (semantics 1.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.index.rows import Rows, Stamp, Target
from obsidian_mcp.core.links.resolve import clean, keys_of, resolve
from obsidian_mcp.core.text import deadline
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, VaultPath, parent

Links = Iterable[tuple[VaultPath, list[Target]]]
"""What the links of each file want."""


@dataclass(frozen=True)
class Web:
    """All links, as of one state of the rows and of the files. Files without links are not in it."""

    stamp: Stamp
    generation: int
    """Of the catalog."""
    paths: frozenset[VaultPath]
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


def brought_up(web: Web | None, rows: Rows, catalog: Catalog) -> Web:
    """The web of these rows and files. Of an older one only what the changes may touch is resolved again."""
    stamp, generation = rows.stamp, catalog.generation
    if web is not None and web.stamp == stamp and web.generation == generation:
        return web
    paths = frozenset(entry.path for entry in list(catalog))
    if web is None or web.stamp.identity != stamp.identity:
        return _with_links(Web(stamp, generation, paths, {}, {}), (), rows.targets(), catalog)
    moved = paths ^ web.paths
    touched = moved | rows.sources_of({key for path in moved for key in keys_of(path)})
    touched = touched.union(rows.changed_since(web.stamp.generation))
    now = replace(web, stamp=stamp, generation=generation, paths=paths)
    return _with_links(now, touched, rows.targets(touched), catalog)


def target_of(catalog: Catalog, source: VaultPath, wanted: Target) -> VaultPath | None:
    """The file that a link leads to, None when there is none."""
    path, card = wanted
    return catalog.at(path) if card else resolve(catalog, source, path)


def _with_links(web: Web, without: Iterable[VaultPath], links: Links, catalog: Catalog) -> Web:
    """The web with the links of some sources taken out, and these put in."""
    resolved, unresolved = dict(web.resolved), dict(web.unresolved)
    for source in without:
        resolved.pop(source, None)
        unresolved.pop(source, None)
    known: dict[tuple[str, Target], VaultPath | None] = {}
    for source, wishes in links:
        if source not in web.paths:
            continue
        deadline.checkpoint()
        folder = parent(source)
        to: dict[VaultPath, int] = {}
        nowhere: dict[str, int] = {}
        for wanted in wishes:
            name = clean(wanted[0])
            if not name:
                target: VaultPath | None = source
            elif (folder, wanted) in known:  # a link means the same in all files of a folder
                target = known[folder, wanted]
            else:
                target = known[folder, wanted] = target_of(catalog, source, wanted)
            if target is not None:
                to[target] = to.get(target, 0) + 1
            else:
                name = name.removesuffix(NOTE_EXTENSION)
                nowhere[name] = nowhere.get(name, 0) + 1
        if to:
            resolved[source] = to
        if nowhere:
            unresolved[source] = nowhere
    return replace(web, resolved=resolved, unresolved=unresolved)
