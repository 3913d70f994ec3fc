"""Commands that read or change files of the app: bookmarks, recent files, workspaces (HEADLESS-15)."""

from __future__ import annotations

from obsidian_mcp.core.files import bookmarks as stored
from obsidian_mcp.core.text.text import Text

from .call import Answer, Call
from .output import in_order, lines, rows
from .words import Refused


def recents(call: Call) -> str:
    found = call.recent()
    return str(len(found)) if call.has("total") else lines(found, "No recent files.")


def workspaces(call: Call) -> str:
    saved = call.config("workspaces.json")
    known = saved.get("workspaces") if isinstance(saved, dict) else None
    names = in_order(known) if isinstance(known, dict) else []
    if call.has("total"):
        return str(len(names))
    active = saved.get("active") if isinstance(saved, dict) else None
    return lines((f"{name} (active)" if name == active else name for name in names), "No workspaces saved.")


def bookmarks(call: Call) -> str:
    data = call.vault.files.config(stored.FILE)
    found = stored.visible(None if data is None else Text.decode(data).body, call.vault.policy)
    if call.has("total"):
        return str(len(found))
    if not found:
        return "No bookmarks found."
    form = call.words.format
    if form or call.has("verbose"):
        table = [{"type": each.kind, "target": each.target, "title": each.title} for each in found]
        return rows(table, form)
    return lines(each.target or each.title for each in found)


def bookmark(call: Call) -> str:
    """Add a bookmark, with the same function as the MCP tool; with `remove`, take one out."""
    from obsidian_mcp.tools.bookmarks import edit_bookmarks  # imports every tool: only for this command

    target = _target(call)
    action = "remove" if call.has("remove") else "add"
    changed = edit_bookmarks(call.place.app, action, target, call.text("title") if action == "add" else "")
    shown = getattr(changed, "target", target)
    return f"{'Removed bookmark' if action == 'remove' else 'Bookmarked'}: {shown}"


def _target(call: Call) -> str:
    """What the words name, as the tool takes it. Raises: Refused."""
    if url := call.text("url"):
        return url
    if query := call.text("search"):
        return f"search:{query}"
    if folder := call.text("folder"):
        if call.folder(folder.strip("/")) is None:
            raise Refused(f'Folder "{folder}" not found.')
        return f"{folder.strip('/')}/"
    subpath = call.text("subpath").removeprefix("#")
    path = call.at(call.text("file")).path if call.text("file") in call.vault.catalog else call.file().path
    return f"{path}#{subpath}" if subpath else str(path)


ANSWERS: dict[str, Answer] = {
    "bookmark": bookmark,
    "bookmarks": bookmarks,
    "recents": recents,
    "workspaces": workspaces,
}
