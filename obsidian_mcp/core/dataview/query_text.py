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


def is_dataview(text: str) -> bool:
    """Whether a text without its fence is meant for this language: a query, an inline expression, or JavaScript."""
    return is_dql(text) or is_javascript(text) or inline_expression(text) is not None


def is_dql(text: str) -> bool:
    """Whether a text begins as a query."""
    return _KIND.match(text) is not None


def is_javascript(text: str) -> bool:
    return not is_dql(text) and _JAVASCRIPT.search(text) is not None


def inline_expression(text: str, prefix: str = INLINE_PREFIX) -> str | None:
    """The expression of an inline query, maybe in backticks; None for any other text."""
    bare = text.strip().strip("`").strip()
    return bare.removeprefix(prefix).strip() if bare.startswith(prefix) else None
