"""What a text given as a query is: DQL, an inline expression, JavaScript (specs/dataview.md, DV-01)."""

from __future__ import annotations

import re

JAVASCRIPT_REFUSED = (
    "DataviewJS runs JavaScript inside Obsidian and cannot run here; ask for the same in DQL "
    "(TABLE, LIST, TASK, CALENDAR) or with the search tools."
)
"""The answer to `dataviewjs` blocks, `$=` and texts that use `dv.`."""
INLINE_PREFIX = "="

_KIND = re.compile(r"(?:\s|//[^\n]*\n)*(?:TABLE|LIST|TASK|CALENDAR)(?![\w-])", re.IGNORECASE)
_JAVASCRIPT = re.compile(r"\A\s*(?:(?:`{3,}|~{3,})\s*dataviewjs\b|`?\$=)|\bdv\s*\.\s*\w", re.IGNORECASE)
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*dataview\s*\Z", re.IGNORECASE)
_FENCE_END = re.compile(r"\s*(?:`{3,}|~{3,})\s*\Z")
_QUOTED = re.compile(r"\s*>[ ]?")


def is_dataview(text: str) -> bool:
    """Whether a text is meant for this language: a query in any form, an inline expression, or JavaScript."""
    bare = unwrapped(text)
    return is_dql(bare) or is_javascript(bare) or inline_expression(bare) is not None


def is_dql(text: str) -> bool:
    """Whether a text without its fence begins as a query."""
    return _KIND.match(text) is not None


def is_javascript(text: str) -> bool:
    return not is_dql(text) and _JAVASCRIPT.search(text) is not None


def inline_expression(text: str, prefix: str = INLINE_PREFIX) -> str | None:
    """The expression of an inline query, maybe in backticks; None for any other text."""
    bare = text.strip().strip("`").strip()
    return bare.removeprefix(prefix).strip() if bare.startswith(prefix) else None


def unwrapped(text: str) -> str:
    """The query in a text: without its fence and a callout's `>`; lines keep their numbers."""
    lines = text.split("\n")
    while any(line.strip() for line in lines) and all(_QUOTED.match(line) for line in lines if line.strip()):
        lines = [_QUOTED.sub("", line, count=1) for line in lines]
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if _FENCE.match(lines[first]):
        lines[first] = ""
        last = len(lines) - 1 - next((n for n, line in enumerate(reversed(lines)) if line.strip()), 0)
        if _FENCE_END.match(lines[last]):
            del lines[last:]
    return "\n".join(lines)
