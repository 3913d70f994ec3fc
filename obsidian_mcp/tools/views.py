"""Show the links around a note, or a note itself, as an interactive view (specs/views.md).

What the model sees of such a tool is its answer, which is also the data of the page. So it has at
most VIEW_BYTES: a graph loses its farthest nodes, and a page asks for the text of a note itself.
"""

from __future__ import annotations

from typing import Annotated, Any

from obsidian_mcp import json_codec
from obsidian_mcp.app import App
from obsidian_mcp.core.files import media
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.note import parser
from obsidian_mcp.core.note.parser import Note
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.text import hidden_text_warnings, to_printable
from obsidian_mcp.core.text.vault_path import VaultPath, basename
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import NotText

from .arguments import Argument, Name, Offset, VaultName
from .paging import VIEW_BYTES, json_size, page_end, take_fitting_items
from .registry import VIEW_TOOLS, tool

# --- graph

MOST_NODES = 150
"""Of a graph, before it is cut to VIEW_BYTES: a person cannot tell more apart."""


@tool(title="Show link graph", among=VIEW_TOOLS, view="graph")
def show_graph(
    app: App,
    note: Annotated[str, Argument(description="Centre", min_length=1)],
    depth: Annotated[int, Argument(description="Steps", ge=1, le=3)] = 2,
    vault: VaultName = "",
) -> dict[str, Any]:
    """Opens a graph of the links around a note for the user."""
    opened = app.vaults.get(vault, listed=False)
    entry = opened.find(note)
    node_limit = MOST_NODES
    while True:
        answer = opened.graph.neighbourhood(entry.path, depth, node_limit)
        near = answer.value
        data: dict[str, Any] = {
            "view": "graph",
            "vault": opened.name,
            "center": entry.path,
            "depth": depth,
            "nodes": [[node.path, node.kind, node.links_in, node.links_out] for node in near.nodes],
            "edges": [
                [start, end, *(["embed"] if kind == "embed" else [])]
                for start, end, kind in near.edges
            ],
            "cut": near.left_out,
        }
        if answer.notice:
            data["note"] = answer.notice
        if json_size(data) <= VIEW_BYTES or node_limit <= 1 or current_call.get().wants_all:
            return data
        node_limit = min(node_limit, len(near.nodes)) * 9 // 10


# --- note

EXCERPT_CHARACTERS = 1_000
"""Of the text, which a host without views shows."""
OUTLINE_BYTES = 3_000
PROPERTIES_BYTES = 3_000
HEADING_CHARACTERS = 200


@tool(title="Show note", among=VIEW_TOOLS, view="note")
def show_note(
    app: App,
    path: Name,
    heading: Annotated[str, Argument(description="Start")] = "",
    vault: VaultName = "",
) -> dict[str, Any]:
    """Opens a note, formatted, for the user."""
    opened = app.vaults.get(vault, listed=False)
    entry, note = _note(opened, path)
    hidden_text_warnings(note.body, entry.path, app.hidden_text_reads.add)
    start = text_start(note.body)
    data: dict[str, Any] = {
        "view": "note",
        "vault": opened.name,
        "path": entry.path,
        "title": basename(entry.path),
        "etag": opened.read_text(entry).etag,
        "properties": take_fitting_items(
            [[name, *_value(value)] for name, value in note.properties.items()], PROPERTIES_BYTES
        ),
        "outline": take_fitting_items(
            [
                [outlined.level, outlined.text[:HEADING_CHARACTERS], outlined.line + 1]
                for outlined in note.outline
            ],
            OUTLINE_BYTES,
        ),
        "excerpt": to_printable(note.body[start : start + EXCERPT_CHARACTERS]),
        "length": len(note.body) - start,
    }
    return data | ({"heading": heading} if heading else {})


@tool(title="Page of a note", among=VIEW_TOOLS)
def note_page(app: App, path: Name, offset: Offset = 0, vault: VaultName = "") -> dict[str, Any]:
    """The text of a note from a character on, with where its links lead."""
    opened = app.vaults.get(vault, listed=False)
    entry, note = _note(opened, path)
    body = note.body
    start = text_start(body) + offset
    end = page_end(body, start, len(body))
    links: dict[str, dict[str, Any]] = {}
    images = []
    for reference in opened.graph.outgoing_links(entry.path).value:
        link = reference.link
        if link.at or link.start is None or not start <= link.start < end:
            continue
        target = str(reference.target) if reference.target is not None else None
        kind = media.kind_of(target) if target is not None else "missing"
        facts = {
            "path": target or link.path,
            "kind": kind,
            "exists": target is not None,
            "subpath": link.subpath,
        }
        links[link.original] = facts
        if (
            target is not None
            and link.kind == "embed"
            and kind == "image"
            and not target.lower().endswith(".svg")
        ):
            images.append(
                {
                    "raw": link.original,
                    "path": target,
                    "alt": link.display or basename(VaultPath(target)),
                }
            )
    page = {
        "path": entry.path,
        "markdown": to_printable(body[start:end]),
        "links": links,
        "images": images,
    }
    return page | ({"next_offset": offset + end - start} if end < len(body) else {})


def _note(vault: Vault, name: str) -> tuple[FileEntry, Note]:
    entry = vault.find(name)
    if media.kind_of(entry.path) != "note":
        raise NotText(f"{str(entry.path)!r} is not a note.", path=entry.path)
    return entry, parser.parse(vault.read_shown(entry).text.body)


def _value(value: Any) -> tuple[str, Any]:
    """Return a property's value with its type, as words or a list of them."""
    if isinstance(value, list):
        return "list", [_value(item)[1] for item in value]
    if value is None or isinstance(value, str):
        return "text", to_printable(value or "")
    return "text", json_codec.encode(value, str).decode()
