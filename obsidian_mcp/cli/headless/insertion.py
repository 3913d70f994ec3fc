"""How the commands of the app put text at the end of a note, and behind its properties (HEADLESS-18)."""

from __future__ import annotations

from obsidian_mcp.core.frontmatter import parser
from obsidian_mcp.core.note.edits import adapted, newline_of


def append_text(body: str, content: str, *, inline: bool) -> str:
    """A note with text at its end, on a line of its own unless `inline`."""
    content = adapted(content, body)
    between = "" if inline or not body or body.endswith("\n") else newline_of(body, content)
    return f"{body}{between}{content}"


def prepend_text(body: str, content: str, *, inline: bool) -> str:
    """A note with text behind its frontmatter, and a newline behind that unless `inline`."""
    content = adapted(content, body)
    newline = newline_of(body, content)
    at = parser.text_start(body)
    before = body[:at]
    if before and not before.endswith("\n"):
        before += newline
    return f"{before}{content}{'' if inline else newline}{body[at:]}"
