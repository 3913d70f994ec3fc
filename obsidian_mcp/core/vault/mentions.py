"""Mentions of a note's name or aliases that are no links (specs/links.md, LINK-30)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.note import parser
from obsidian_mcp.core.search.hits import Request
from obsidian_mcp.core.text import deadline
from obsidian_mcp.core.text.analysis import phrase
from obsidian_mcp.core.text.text import Lines, printable
from obsidian_mcp.core.text.vault_path import VaultPath, basename, is_note
from obsidian_mcp.errors import AppError

from .vault import Vault

MOST_FILES = 2_000
"""Files that are looked through."""
CONTEXT = 200
"""Code points of a line that are shown."""
_fixed = re.compile(
    r"(?:(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+://|\bwww\.)(?:[^\s<>()]|\([^\s<>()]*+\))*+"
    r"|(?<![A-Za-z0-9_.+-])[A-Za-z0-9_.+-]++@[A-Za-z0-9.-]+"
    r"|\[[!^][^\[\]\r\n]*+\]"
    r"|(?<!\S)\^[A-Za-z0-9-]++[ \t]*+$",
    re.MULTILINE,
).finditer
"""Text that a link inside it would break: an address, an e-mail address, a footnote's name or a callout's kind, and the
id of a block."""


@dataclass(frozen=True, slots=True)
class Mention:
    path: VaultPath
    line: int
    """0-based."""
    text: str
    """What is written there."""
    context: str
    """The line, cut where it is long."""


def names_of(vault: Vault, entry: FileEntry) -> list[str]:
    """The name of a file and the aliases of a note, without those of a single letter."""
    names = [basename(entry.path)]
    if is_note(entry.path):
        names += parser.parse(vault.read_text(entry).text.body).aliases
    return [name for name in dict.fromkeys(map(printable, names)) if len(name) > 1]


def unlinked_mentions(vault: Vault, entry: FileEntry, names: Sequence[str]) -> Iterator[Mention]:
    """Yield where other notes have one of the names as whole words that could be made a link (LINK-30).

    The notes come in the order in which an exact search finds them, at most MOST_FILES of them.
    """
    quoted = ['"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in names]
    if not quoted:
        return
    query = f"content:({' OR '.join(quoted)})"
    found = vault.search.find(Request(query, "exact", limit=MOST_FILES, snippets=0, characters=1 << 40))
    for hit in found.hits:
        deadline.checkpoint()
        other = vault.catalog.get(hit.path)
        if other is not None and other.path != entry.path and is_note(other.path):
            yield from _in_note(vault, other, names)


def _in_note(vault: Vault, entry: FileEntry, names: Sequence[str]) -> Iterator[Mention]:
    try:
        body = printable(vault.read_text(entry).text.body)
    except AppError:  # gone or unreadable since the search
        return
    note = parser.parse(body)
    closed = bytearray(len(body))  # 1 where no mention can be, or one was found
    spans = [*note.external_links, *(link.span for link in note.links), *(area.span for area in note.areas)]
    spans += [tag.span for tag in note.tags]
    spans += [section.span for section in note.sections if section.kind == "definition"]
    for start, end in (*spans, *(found.span() for found in _fixed(body)), (0, frontmatter.text_start(body))):
        closed[start:end] = b"\1" * (end - start)
    lines = Lines(body)
    found = []
    for name in sorted(names, key=len, reverse=True):  # a shorter name inside a longer one is no mention of its own
        for match in phrase(name, match_case=False).finditer(body):
            start, end = match.span()
            if closed.find(1, start, end) < 0:
                closed[start:end] = b"\1" * (end - start)
                found.append(match)
    for match in sorted(found, key=lambda match: match.start()):
        line = lines.line(match.start())
        start = lines.starts[line]
        end = lines.starts[line + 1] if line + 1 < len(lines.starts) else len(body)
        yield Mention(entry.path, line, match[0], body[start:end].strip()[:CONTEXT])
