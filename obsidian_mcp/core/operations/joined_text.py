"""Two texts joined to one note, and where the second is in it."""

from __future__ import annotations

from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.note import edits
from obsidian_mcp.core.note.edits import End
from obsidian_mcp.core.text.text import Span


def find_inserted(joined: str, body: str, text: str, position: End) -> Span:
    """Return where a text is in the note that became of `body` when it was joined to it."""
    text = edits.adapt_line_ends(text.strip("\r\n"), body)
    start = joined.rindex(text) if position == "append" else joined.index(text, text_start(joined))
    return Span(start, start + len(text))


def join(body: str, text: str, position: End) -> str:
    """Return a note with text at an end of it, and an empty line between."""
    text = edits.adapt_line_ends(text.strip("\r\n"), body)
    newline = edits.newline_of(body, text)
    start = text_start(body)
    if not text:
        return body
    if not body[start:].strip():
        return edits.insert_text(body, text)
    if position == "prepend":
        return body[:start] + text + newline * 2 + body[start:].lstrip("\r\n")
    ended = body.endswith("\n")
    return body.rstrip("\r\n") + newline * 2 + text + (newline if ended else "")
