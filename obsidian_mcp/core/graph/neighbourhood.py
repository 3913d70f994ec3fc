"""The links around one file, as much of them as a picture can show (specs/views.md VIEW-20)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from obsidian_mcp.core.text.vault_path import VaultPath, is_note

from .link_graph import LinkGraph

Kind = Literal["note", "file", "missing"]


@dataclass(frozen=True, slots=True)
class Node:
    """A file, or a name that links lead to and no file has."""

    path: str
    kind: Kind
    links_in: int
    """Files that link to it."""
    links_out: int
    """Files and names it links to."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """`nodes` begin with the centre; `edges` lead from the position of a file to that of what it links to."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int, Literal["link", "embed"]], ...]
    left_out: int
    """Nodes within the distance that are not among them."""


def around(
    links: LinkGraph,
    distances: Mapping[VaultPath, int],
    depth: int,
    most: int,
    embedded: Callable[[VaultPath], Collection[VaultPath | None]],
) -> Neighbourhood:
    """Return the nearest files, of those as near the most linked, up to `most` nodes in all.

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
        (1 + min(distances[source] for source in sources), Node(name, "missing", len(sources), 0))
        for name, sources in missing.items()
    ]
    ranked = sorted([*files, *names], key=lambda pair: (pair[0], -pair[1].links_in - pair[1].links_out, pair[1].path))
    nodes = tuple(node for _, node in ranked[:most])
    return Neighbourhood(nodes, _edges(links, nodes, embedded), len(ranked) - len(nodes))


def _file(links: LinkGraph, path: VaultPath) -> Node:
    outgoing: Collection[object] = links.resolved.get(path, ())
    named: Collection[object] = links.unresolved.get(path, ())
    incoming: Collection[object] = links.incoming.get(path, ())
    return Node(path, "note" if is_note(path) else "file", len(incoming), len(outgoing) + len(named))


def _edges(
    links: LinkGraph, nodes: tuple[Node, ...], embedded: Callable[[VaultPath], Collection[VaultPath | None]]
) -> tuple[tuple[int, int, Literal["link", "embed"]], ...]:
    files = {VaultPath(node.path): place for place, node in enumerate(nodes) if node.kind != "missing"}
    names = {node.path: place for place, node in enumerate(nodes) if node.kind == "missing"}
    found: list[tuple[int, int, Literal["link", "embed"]]] = []
    for path, place in files.items():
        targets = [target for target in links.resolved.get(path, ()) if target in files]
        embeds = embedded(path) if targets else ()
        found += [(place, files[target], "embed" if target in embeds else "link") for target in targets]
        found += [(place, names[name], "link") for name in links.unresolved.get(path, ()) if name in names]
    return tuple(found)
