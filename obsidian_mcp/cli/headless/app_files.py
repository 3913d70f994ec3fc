"""Commands that read or change files of the app: bookmarks, recent files, workspaces (HEADLESS-15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from obsidian_mcp.core.files import bookmarks as stored
from obsidian_mcp.core.text import json_text
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.vault_path import basename

from .call import WORKSPACE_FILE, DropInCall, in_order, shown_file, tree
from .words import DropInRefused

WORKSPACES = "workspaces.json"


def recents(call: DropInCall) -> str:
    return call.join_lines(call.recent(), "No recent files.")


# Layout


def workspaces(call: DropInCall) -> str:
    active = call.config(WORKSPACES).get("active")
    found = [f"{name} (active)" if name == active else name for name in in_order(_read_workspaces(call))]
    return call.join_lines(found, "No workspaces saved.")


def _read_workspaces(call: DropInCall) -> Mapping[str, object]:
    found = call.config(WORKSPACES).get("workspaces")
    return found if isinstance(found, dict) else {}


def workspace_delete(call: DropInCall) -> str:
    name = call.text("name")
    if name not in _read_workspaces(call):
        raise DropInRefused(f'Workspace "{name}" not found.')
    call.change_settings("delete_workspace", WORKSPACES, lambda text: json_text.remove(text, ["workspaces", name]))
    return f"Deleted workspace: {name}"


def tabs(call: DropInCall) -> str:
    items = _items(call, call.config(WORKSPACE_FILE).get("main"))
    return call.join_lines([text for _, text, is_tab in items if is_tab], "No tabs found.")


def workspace(call: DropInCall) -> str:
    """The layout that the app left: a tree for the middle and for both sides."""
    layout, found = call.config(WORKSPACE_FILE), []
    for side in ("main", "left", "right"):
        items = [(level, text) for level, text, _ in _items(call, layout.get(side)) if level]
        found += [side, tree(items)] if items else []
    return "\n".join(found)


def _items(call: DropInCall, node: object, level: int = 0) -> Iterator[tuple[int, str, bool]]:
    """The parts of a layout in their order, without hidden files: how deep each lies, its text, whether it is a tab."""
    if not isinstance(node, dict):
        return
    is_tab = node.get("type") == "leaf"
    if is_tab and (file := shown_file(node)) and not call.vault.policy.visible(file):
        return
    text = _tab(node) if is_tab else str(node.get("type") or "")
    yield level, f"{text}\t{node.get('id', '')}" if call.has("ids") else text, is_tab
    children = node.get("children")
    for child in children if isinstance(children, list) else ():
        yield from _items(call, child, level + 1)


def _tab(leaf: Mapping[str, Any]) -> str:
    state = leaf.get("state")
    state = state if isinstance(state, dict) else {}
    title = state.get("title") or basename(shown_file(leaf))
    return f"[{state.get('type') or 'empty'}] {title}".rstrip()


# Bookmarks


def bookmarks(call: DropInCall) -> str:
    data = call.vault.files.config(stored.FILE)
    table: list[dict[str, str]] = []
    for found in stored.visible(None if data is None else Text.decode(data).body, call.vault.policy):
        target = {"target": found.target or found.title}
        table.append({"type": found.kind, **target, "title": found.title} if call.has("verbose") else target)
    return call.format_rows(table, "No bookmarks found.")


def bookmark(call: DropInCall) -> str:
    """Add a bookmark, with the same function as the MCP tool; with `remove`, take one out."""
    from obsidian_mcp.tools.bookmarks import edit_bookmarks  # only for this command

    if call.has("remove"):
        target = call.text("url") or call.text("search") or call.text("folder").strip("/") or _file(call)
        edit_bookmarks(call.app, "remove", target)
        return f"Removed bookmark: {target}"
    added: Any = edit_bookmarks(call.app, "add", _target(call), call.text("title"))
    return f"Bookmarked: {added.target}"


def _target(call: DropInCall) -> str:
    """What the words name, as the tool takes it to add it. Raises: DropInRefused."""
    if url := call.text("url"):
        return url
    if query := call.text("search"):
        return f"search:{query}"
    if folder := call.text("folder"):
        if call.folder(folder.strip("/")) is None:
            raise DropInRefused(f'Folder "{folder}" not found.')
        return f"{folder.strip('/')}/"
    return _file(call)


def _file(call: DropInCall) -> str:
    """The file with its subpath. Raises: DropInRefused."""
    subpath = call.text("subpath").removeprefix("#")
    path = call.at(call.text("file")).path if call.text("file") in call.vault.catalog else call.file().path
    return f"{path}#{subpath}" if subpath else str(path)
