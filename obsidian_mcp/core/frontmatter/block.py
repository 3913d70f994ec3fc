"""The place of the YAML block at the start of a note (specs/frontmatter.md).

`parser` reads the content of the block, and loads the libraries for YAML, which a search that only
skips the block does without.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from obsidian_mcp.core.text.text import Span

OPENING = ("---\n", "---\r\n")
"""How the body of a note with properties begins."""
_CLOSING = re.compile(r"^---[ \t]*\r?(?:\n|\Z)", re.MULTILINE)


class Block(NamedTuple):
    """The position of a note's frontmatter, in code points of the body.

    `span` runs from the first dash to the last dash (the app's `frontmatterPosition`), `yaml_span`
    is the text between the two lines of dashes, `body_start` the first character after the closing
    line.
    """

    span: Span
    yaml_span: Span
    body_start: int


def locate_block(body: str) -> Block | None:
    """Return the frontmatter block at the very start of a note; None without one.

    See FM-01 to FM-04.
    """
    if not body.startswith(OPENING):
        return None
    start = body.index("\n") + 1
    closing = _CLOSING.search(body, start)
    if closing is None:
        return None
    return Block(Span(0, closing.start() + 3), Span(start, closing.start()), closing.end())


def text_start(body: str) -> int:
    """Return the offset of the text below the frontmatter; 0 without frontmatter."""
    block = locate_block(body)
    return block.body_start if block is not None else 0
