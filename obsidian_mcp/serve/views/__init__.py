"""The pages of the views: a frame that all share, and a script of each; `make views` builds them
from packaging/views (specs/views.md)."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

TITLES: Final = {"changes": "Changes", "graph": "Link graph", "query": "Query", "note": "Note"}
NAMES: Final = tuple(TITLES)
PLACE_OF_DATA: Final = '<script id="data" type="application/json"></script>'
"""In every page; empty where a host sends the data."""


@cache
def page(name: str) -> str:
    """Return the HTML of a view: one file without any reference to another."""
    frame = Path(__file__).with_name("frame.html").read_text(encoding="utf-8")
    script = Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8").strip()
    titled = frame.replace("<title></title>", f"<title>{TITLES[name]}</title>", 1)
    before, _, after = titled.rpartition("<script></script>")
    return f"{before}<script>{script}</script>{after}"


@cache
def address(name: str) -> str:
    """Return the URI of a view, which changes with its page: hosts keep pages by their URI."""
    return f"ui://obsidian-mcp/{name}-{hashlib.sha256(page(name).encode()).hexdigest()[:8]}.html"


def document(name: str, data: dict[str, Any]) -> str:
    """Return a page with its data inside, which needs neither a host nor a network."""
    # so that no note ends the element
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    before, place, after = page(name).partition(PLACE_OF_DATA)
    return f"{before}{place.replace('></', f'>{text}</')}{after}"
