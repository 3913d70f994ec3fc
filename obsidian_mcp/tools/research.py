"""The two tools of the profile `research`, in the shapes that hosts demand of them (specs/tools.md
TOOL-25).

ChatGPT's deep research and company knowledge accept a server only if it has a `search` that returns
`{results: [{id, title, url}]}` and a `fetch` that returns one document. These stand beside the
vault's own tools, and replace them in this profile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from obsidian_mcp.app import App
from obsidian_mcp.core.files import uri
from obsidian_mcp.core.query.parser import with_days
from obsidian_mcp.core.search.hits import Request
from obsidian_mcp.core.text.text import hidden_text_warnings, to_printable
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    TEXT_EXTENSIONS,
    VaultPath,
    basename,
    extension,
)
from obsidian_mcp.core.vault.vault import Vault

from .arguments import Argument
from .registry import RESEARCH_TOOLS, tool

MOST_FOUND = 50
"""Notes of one search."""
MOST_CHARACTERS = 100_000
"""Of one note: hosts refuse results of more than 150 000 characters, line ends and quotes
escaped."""


@dataclass(frozen=True, slots=True)
class FoundNote:
    id: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Results:
    results: list[FoundNote]


@dataclass(frozen=True, slots=True)
class Fetched:
    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


@tool(title="Search notes", among=RESEARCH_TOOLS)
def search(
    app: App, query: Annotated[str, Argument(description="1 to 3 distinctive words", min_length=1)]
) -> Results:
    """Find notes in the user's Obsidian vault, best first. If the results are weak, retry with
    synonyms."""
    vault = app.vaults.get()
    hits = vault.search.find(
        Request(with_days(query, lambda: vault.calendar.today), limit=MOST_FOUND, snippets=0)
    )
    paths = [hit.path for hit in hits.hits if extension(hit.path) in TEXT_EXTENSIONS]
    return Results([FoundNote(path, basename(path), _url(app, vault, path)) for path in paths])


@tool(title="Fetch note", among=RESEARCH_TOOLS)
def fetch(
    app: App,
    id: Annotated[  # noqa: A002
        str, Argument(description="An id that search found", min_length=1)
    ],
) -> Fetched:
    """Read a note of the user's Obsidian vault."""
    vault = app.vaults.get()
    entry = vault.find(id)
    body = vault.read_shown(entry).text.body
    text = to_printable(body[:MOST_CHARACTERS])
    metadata = {"modified": entry.modified}
    if len(body) > MOST_CHARACTERS:
        metadata["cut"] = f"These are the first {MOST_CHARACTERS:,} of {len(body):,} characters."
    if warnings := hidden_text_warnings(body, entry.path, app.hidden_text_reads.add):
        metadata["warnings"] = " ".join(warnings)
    return Fetched(entry.path, basename(entry.path), text, _url(app, vault, entry.path), metadata)


def _url(app: App, vault: Vault, path: VaultPath) -> str:
    """Return where a person can open the note: on the public site, without `.md`, or in the app."""
    public = app.config.http.notes_url
    if not public:
        return uri.build(vault.name, path)
    return (
        f"{public.rstrip('/')}/{quote(path.removesuffix(NOTE_EXTENSION), errors='surrogateescape')}"
    )
