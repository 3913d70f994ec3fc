"""The whole vault as the app's metadata cache shows it, for comparison with the app (specs/index.md)."""

from __future__ import annotations

from typing import Any

from obsidian_mcp.core.note import cached_metadata, parser
from obsidian_mcp.core.text import deadline
from obsidian_mcp.core.text.vault_path import is_note
from obsidian_mcp.errors import AppError

from .vault import Vault


def dump(vault: Vault) -> dict[str, Any]:
    """`files` (path -> what the app caches of a note), `resolvedLinks` and `unresolvedLinks` in the app's shapes.

    Other files have an empty entry. A note that cannot be read has its `error` instead.
    """
    files: dict[str, Any] = {}
    for entry in vault.entries():
        deadline.checkpoint()
        if not is_note(entry.path):
            files[entry.path] = {}
            continue
        try:
            parsed = parser.parse(vault.read(entry).text.body)
        except AppError as error:
            files[entry.path] = {"error": error.message}
            continue
        files[entry.path] = {
            "cachedMetadata": cached_metadata.cached_metadata(parsed),
            "getAllTags": parsed.all_tags,
            "parseFrontMatterTags": cached_metadata.parse_frontmatter_tags(parsed),
        }
    links = vault.graph.link_maps().value
    return {
        "files": files,
        "resolvedLinks": {source: dict(targets) for source, targets in links.resolved.items()},
        "unresolvedLinks": {source: dict(names) for source, names in links.unresolved.items()},
    }
