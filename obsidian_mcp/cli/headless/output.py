"""How answers are printed: lines, JSON and trees, in the app's order (HEADLESS-07). Rows of cells: `cli.cells`."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from obsidian_mcp.core.text.collation import collation_key


def order(text: str) -> tuple[object, str]:
    """The sort key of the app's lists."""
    return collation_key(unicodedata.normalize("NFKC", text)), text


def in_order(texts: Iterable[str]) -> list[str]:
    return sorted(texts, key=order)


def pairs(values: Mapping[str, object]) -> str:
    """Lines of `key TAB value`."""
    return "\n".join(f"{key}\t{value}" for key, value in values.items())


def as_json(value: Any) -> str:
    """JSON as `JSON.stringify` writes it with an indent of two spaces."""
    import json

    return json.dumps(value, ensure_ascii=False, indent=2)


def tree(headings: list[tuple[int, str]]) -> str:
    """Headings of (level, text) as a tree; each stands below the nearest one before it of a smaller level."""
    depths: list[int] = []
    open_levels: list[int] = []
    for level, _ in headings:
        while open_levels and open_levels[-1] >= level:
            open_levels.pop()
        depths.append(len(open_levels))
        open_levels.append(level)
    found: list[str] = []
    siblings: set[int] = set()
    """The depths at which a sibling of the current heading, or of one that it stands below, follows."""
    for depth, (_, text) in zip(reversed(depths), reversed(headings), strict=True):
        siblings = {other for other in siblings if other <= depth}
        prefix = "".join("│   " if above in siblings else "    " for above in range(depth))
        found.append(f"{prefix}{'├── ' if depth in siblings else '└── '}{text}")
        siblings.add(depth)
    return "\n".join(reversed(found))
