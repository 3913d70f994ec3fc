"""The line around a link, read from its file (INDEX-39)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.index.facts import BODY_LIMIT
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.text import Text, printable
from obsidian_mcp.core.text.vault_path import DRAWING_EXTENSION, extension, is_note
from obsidian_mcp.errors import AppError

from .results import Reference

CONTEXT = 200
"""Code points that are shown of the line around a link."""


def link_lines(references: Iterable[Reference], catalog: Catalog, read: Callable[[FileEntry], bytes]) -> Iterator[str]:
    """Yield the line around every link, read from its file, of CONTEXT code points; the link alone in a property."""
    source, texts = None, {}
    for reference in references:
        link = reference.link
        if link.kind == "property":
            yield f"{link.at}: {link.original}"
        elif link.start is None:
            yield link.original
        else:
            if reference.source != source:
                checkpoint()
                source, texts = reference.source, _texts(catalog.get(reference.source), read)
            yield _around(texts.get(link.at, ""), link.original, link.start)


def _texts(entry: FileEntry | None, read: Callable[[FileEntry], bytes]) -> dict[str, str]:
    """Return the texts that hold a file's links, by `LinkFact.at`; none when it cannot be read any more."""
    if entry is None or extension(entry.path) == DRAWING_EXTENSION:
        return {}
    try:
        body = printable(Text.decode(read(entry)[:BODY_LIMIT]).body)
    except AppError:
        return {}
    if is_note(entry.path):
        return {"": body}
    from obsidian_mcp.core.note import canvas  # loaded when it is needed

    cards = canvas.read(body).cards
    return {printable(card.key): printable(card.text.value) for card in cards if card.text is not None}


def _around(body: str, link: str, start: int) -> str:
    """Return the line of a link, cut to CONTEXT code points around it."""
    if not body.startswith(link, start):  # the file has changed since it was indexed
        start = body.find(link)
        if start < 0:
            return link
    begin = body.rfind("\n", 0, start) + 1
    end = body.find("\n", start + len(link))
    end = len(body) if end < 0 else end
    first = max(begin, start - max(0, CONTEXT - len(link)) // 2)
    last = min(end, first + max(CONTEXT, len(link)))
    before, after = "…" if first > begin else "", "…" if last < end else ""
    return before + body[first:last].strip() + after
