"""Find notes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from obsidian_mcp.app import App
from obsidian_mcp.core import app_answers
from obsidian_mcp.core import search as core_search
from obsidian_mcp.core.catalog import FileEntry
from obsidian_mcp.core.paths import name_key, parse_folder
from obsidian_mcp.core.search import SNIPPETS, Hits

from .params import Limit, Offset, VaultName
from .registry import tool


@tool("search", title="Search notes")
def search(
    app: App,
    query: Annotated[
        str,
        Field(
            description='Words, "phrase", /regex/, OR, -not, (group), file: path: content: tag: line:() section:() '
            "task-todo: [property:value]",
            min_length=1,
        ),
    ],
    folder: Annotated[str, Field(description="Only below this folder")] = "",
    limit: Limit = 20,
    offset: Offset = 0,
    snippets: Annotated[int, Field(description="Matching lines shown per note", ge=0, le=10)] = SNIPPETS,
    paths_only: Annotated[bool, Field(description="Paths without snippets")] = False,
    vault: VaultName = "",
) -> Hits:
    """Find notes with Obsidian's search syntax, best first. All words must occur somewhere in the note or its path."""
    place = app.vaults.get(vault)
    inside = parse_folder(folder)
    prefix = name_key(inside) + "/" if inside else ""
    entries = [
        entry for entry in place.entries() if name_key(entry.path).startswith(prefix) and not place.excluded(entry.path)
    ]
    shown = 0 if paths_only else snippets

    def read(entry: FileEntry) -> str:
        return place.read(entry).text.body

    by_app = app_answers.search(place, entries, read, query, inside, limit=limit, offset=offset, snippets=shown)
    if by_app is not None:
        return by_app
    return core_search.search(entries, read, query, limit=limit, offset=offset, snippets=shown)
