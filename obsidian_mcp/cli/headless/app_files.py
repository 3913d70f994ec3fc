"""Commands that read or change files of the app: bookmarks, recent files, workspaces, and what is
installed: plugins, themes, snippets (HEADLESS-15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from obsidian_mcp.core.files import bookmarks as stored
from obsidian_mcp.core.files.settings import (
    BOOKMARKS_FILE,
    ENABLED_PLUGINS_FILE,
    SETTINGS_FOLDER,
    Members,
    enabled_plugins,
    read_json,
)
from obsidian_mcp.core.text import json_text
from obsidian_mcp.core.text.vault_path import basename

from .call import (
    WORKSPACE_FILE,
    DropInCall,
    draw_tree,
    order_key,
    shown_file,
    sort_texts,
    write_pairs,
)
from .words import DropInRefused

WORKSPACES, APPEARANCE = "workspaces.json", "appearance.json"
ENABLED, THEME = "enabledCssSnippets", "cssTheme"


def recents(call: DropInCall) -> str:
    return call.join_lines(call.recent_files(), "No recent files.")


def workspaces(call: DropInCall) -> str:
    active = call.config(WORKSPACES).get("active")
    lines = [
        f"{name} (active)" if name == active else name
        for name in sort_texts(_read_workspaces(call))
    ]
    return call.join_lines(lines, "No workspaces saved.")


def _read_workspaces(call: DropInCall) -> Mapping[str, object]:
    saved = call.config(WORKSPACES).get("workspaces")
    return saved if isinstance(saved, dict) else {}


def workspace_delete(call: DropInCall) -> str:
    name = call.text("name")
    if name not in _read_workspaces(call):
        raise DropInRefused(f'Workspace "{name}" not found.')
    call.change_settings(
        "delete_workspace", WORKSPACES, lambda text: json_text.remove(text, ["workspaces", name])
    )
    return f"Deleted workspace: {name}"


def tabs(call: DropInCall) -> str:
    items = _items(call, call.config(WORKSPACE_FILE).get("main"))
    return call.join_lines([text for _, text, is_tab in items if is_tab], "No tabs found.")


def workspace(call: DropInCall) -> str:
    """Return the layout that the app left: a tree for the middle and for both sides."""
    layout, parts = call.config(WORKSPACE_FILE), []
    for side in ("main", "left", "right"):
        items = [(level, text) for level, text, _ in _items(call, layout.get(side)) if level]
        parts += [side, draw_tree(items)] if items else []
    return "\n".join(parts)


def _items(call: DropInCall, node: object, level: int = 0) -> Iterator[tuple[int, str, bool]]:
    """Yield the parts of a layout in their order, without hidden files: how deep each lies, its
    text, whether it is a tab."""
    if not isinstance(node, dict):
        return
    is_tab = node.get("type") == "leaf"
    if is_tab and (file := shown_file(node)) and not call.vault.policy.is_visible(file):
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


def bookmarks(call: DropInCall) -> str:
    table: list[dict[str, str]] = []
    for bookmark in stored.read_visible_bookmarks(
        call.vault.files.config(BOOKMARKS_FILE), call.vault.policy
    ):
        target = {"target": bookmark.target or bookmark.title}
        table.append(
            {"type": bookmark.kind, **target, "title": bookmark.title}
            if call.has("verbose")
            else target
        )
    return call.format_rows(table, "No bookmarks found.")


def bookmark(call: DropInCall) -> str:
    """Add a bookmark, with the same function as the MCP tool; with `remove`, take one out."""
    from obsidian_mcp.tools.bookmarks import edit_bookmarks  # only for this command

    if call.has("remove"):
        target = (
            call.text("url") or call.text("search") or call.text("folder").strip("/") or _file(call)
        )
        edit_bookmarks(call.app, "remove", target)
        return f"Removed bookmark: {target}"
    added: Any = edit_bookmarks(call.app, "add", _target(call), call.text("title"))
    return f"Bookmarked: {added.target}"


def _target(call: DropInCall) -> str:
    """Return what the words name, as the tool takes it to add it. Raises: DropInRefused."""
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
    """Return the file with its subpath. Raises: DropInRefused."""
    subpath = call.text("subpath").removeprefix("#")
    path = (
        call.file_at(call.text("file")).path
        if call.text("file") in call.vault.catalog
        else call.file().path
    )
    return f"{path}#{subpath}" if subpath else str(path)


# What is installed


def _list_folder(call: DropInCall, folder: str) -> list[Path]:
    with suppress(OSError):
        return list((call.root / SETTINGS_FOLDER / folder).iterdir())
    return []


def _manifest(folder: Path) -> dict[str, Any] | None:
    """Return what a plugin or theme says of itself; None where it says nothing."""
    with suppress(OSError):
        manifest = read_json((folder / "manifest.json").read_bytes())
        return manifest if isinstance(manifest, dict) else None
    return None


def list_plugins(call: DropInCall) -> str:
    only_enabled = call.words.command == "plugins:enabled"
    kind, versions = call.text("filter"), dict[str, str]()
    if kind != "community":
        core_plugins = read_json(call.vault.files.config("core-plugins.json"))
        if isinstance(core_plugins, list):  # older versions of the app list those that are on
            core_plugins = {name: True for name in core_plugins if isinstance(name, str)}
        stated = core_plugins if isinstance(core_plugins, dict) else {}
        versions |= {
            name: "" for name, is_on in stated.items() if is_on is True or not only_enabled
        }
    if kind != "core":
        enabled = enabled_plugins(call.vault.files.config(ENABLED_PLUGINS_FILE))
        for folder in _list_folder(call, "plugins"):
            if (manifest := _manifest(folder)) is not None:
                name = str(manifest.get("id") or folder.name)
                if name in enabled or not only_enabled:
                    versions[name] = str(manifest.get("version") or "")
    with_versions = call.has("versions")
    table = [
        {
            "id": name,
            **(
                {"version": versions[name]}
                if with_versions and (versions[name] or call.words.format)
                else {}
            ),
        }
        for name in sorted(versions, key=order_key)
    ]
    return call.format_rows(table, "No plugins found.")


def _themes(call: DropInCall) -> dict[str, dict[str, Any]]:
    """Return what each installed theme says of itself, by name."""
    folders = (
        folder for folder in _list_folder(call, "themes") if (folder / "theme.css").is_file()
    )
    return {folder.name: _manifest(folder) or {} for folder in folders}


def themes(call: DropInCall) -> str:
    installed = _themes(call)
    versions = {name: installed[name].get("version") for name in installed if call.has("versions")}
    return call.join_lines(
        [
            f"{name}\t{versions[name]}" if versions.get(name) else name
            for name in sort_texts(installed)
        ],
        "No themes found.",
    )


def theme(call: DropInCall) -> str:
    name = call.text("name")
    if not name:
        return str(call.config(APPEARANCE).get(THEME) or "Default")
    manifest = _existing_theme(call, name)
    return write_pairs(
        {"name": name} | {key: manifest[key] for key in ("version", "author") if manifest.get(key)}
    )


def theme_set(call: DropInCall) -> str:
    name = call.text("name")
    if name:
        _existing_theme(call, name)
    call.change_settings("set_theme", APPEARANCE, lambda text: json_text.put(text, [THEME], name))
    return f"Set theme: {name or 'Default'}"


def _existing_theme(call: DropInCall, name: str) -> dict[str, Any]:
    """Raises: DropInRefused."""
    installed = _themes(call)
    if name not in installed:
        raise DropInRefused(f'Theme "{name}" not found.')
    return installed[name]


def list_snippets(call: DropInCall) -> str:
    snippets = (
        _enabled_snippets(call) if call.words.command == "snippets:enabled" else _snippets(call)
    )
    return call.join_lines(sort_texts(snippets), "No snippets found.")


def _snippets(call: DropInCall) -> list[str]:
    return [path.stem for path in _list_folder(call, "snippets") if path.suffix == ".css"]


def _enabled_snippets(call: DropInCall) -> tuple[str, ...]:
    return Members(call.config(APPEARANCE)).texts(ENABLED)


def switch_snippet(call: DropInCall) -> str:
    name, before = call.text("name"), _enabled_snippets(call)
    is_on = call.words.command == "snippet:enable"
    if name not in _snippets(call) and (is_on or name not in before):
        raise DropInRefused(f'Snippet "{name}" not found.')
    if (name in before) != is_on:
        after = [*before, name] if is_on else [snippet for snippet in before if snippet != name]
        call.change_settings(
            "set_snippets", APPEARANCE, lambda text: json_text.put(text, [ENABLED], after)
        )
    return f"{'Enabled' if is_on else 'Disabled'}: {name}"
