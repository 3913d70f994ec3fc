"""The syntax of wikilinks: `[[path#subpath|display]]`, an embed with `!` before it (specs/note.md).

Notes, names, properties, queries and views all meet a text that is a wikilink, and must agree on
which part of it names the file. What Dataview and the Tasks plugin take for a link differs in
details that are theirs: `core/dataview/scanner.py` and `core/tasks/order.py` have those.
"""

from __future__ import annotations

import re
from typing import NamedTuple

match_wikilink = re.compile(r"\[\[((?:[^\[\]\r\n]++|\](?!\])|\[(?!\[))+)\]\]").match
"""Matches a wikilink without its `!`; group 1 is the text between the brackets (NOTE-40)."""


class Wikilink(NamedTuple):
    """A text that is a wikilink, taken apart."""

    is_embed: bool
    path: str
    """Empty in a link to a part of the same note."""
    subpath: str
    """Begins with `#`, or is empty."""
    display: str | None


def split_wikilink(inner: str, *, cell: bool = False) -> tuple[str, str | None]:
    r"""Return target and display text between `[[` and `]]` (NOTE-41, NOTE-42).

    In a table `cell` the pipe is written as `\|`.
    """
    at = inner.find("|", 1)
    if at == -1:
        return inner, None
    target, display = inner[:at], inner[at + 1 :]
    if cell:
        target, display = target.removesuffix("\\"), display.replace("\\|", "|")
    return target, display or None


def split_subpath(target: str) -> tuple[str, str]:
    """Return link path and subpath: the subpath starts at the first `#` (NOTE-43)."""
    at = target.find("#")
    return (target, "") if at < 0 else (target[:at], target[at:])


def read_whole_wikilink(text: str) -> Wikilink | None:
    """Return the link or embed that a text is from its first to its last character.

    None for any other text, also for one with a link in it. White space inside the brackets stays.
    """
    is_embed = text.startswith("!")
    match = match_wikilink(text, int(is_embed))
    if match is None or match.end() != len(text):
        return None
    target, display = split_wikilink(match[1])
    return Wikilink(is_embed, *split_subpath(target), display)
