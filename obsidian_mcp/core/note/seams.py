"""Decide whether a blank line has to part two texts that meet at a line end (specs/edits.md EDIT-10)."""

from __future__ import annotations

import re

from obsidian_mcp.core.text.text import Lines

from . import blocks

_START = re.compile(r"\A|\n[ \t]*\r?\n(?=\S)")
"""Where a block begins that no block before it can be open in, but for code, comments, math and HTML."""
_END = re.compile(r"\n[ \t]*(?:\r?\n|\Z)")
_GOES_ON = {"paragraph": "paragraph", "list": "list", "blockquote": "blockquote", "callout": "blockquote"}
"""The kind of text, read by itself, that goes on with a block."""
_OPEN = {"code", "comment", "math"}
"""Kinds of blocks that no blank line ends."""


def joins(above: str, below: str) -> bool:
    """Return whether the last block of `above`, which ends with a line end, changes by the text below it or changes it.

    Two paragraphs, lists, quotes (`>`) or parts of a table may go together, as long as no block id is lost; a text
    that begins with an indent is meant to continue the block above.
    """
    last_line = above[above.rfind("\n", 0, max(len(above) - 1, 0)) + 1 :]
    if not last_line.strip() or not below.strip() or below[0] in " \t\r\n":
        return False
    end = _END.search(below)
    below = below[: end.start() if end else len(below)]
    above = above[max(found.end() for found in _START.finditer(above)) :]
    first, own, whole = _read(above), _read(below), _read(above + below)
    if not first.sections or first.sections[-1].kind in _OPEN:
        return False
    last, kind = first.sections[-1], own.sections[0].kind
    after = whole.sections[len(first.sections) - 1]
    if kind == "paragraph" and last.kind == "table":  # the app's editor would show it as a row
        return not below.startswith("|")
    if after == last and after.span == last.span:
        return whole.sections[len(first.sections)].kind != kind
    goes_on = kind == _GOES_ON.get(last.kind) and after.kind == last.kind
    return not goes_on or not _ids(first) <= _ids(whole)


def _ids(found: blocks.Blocks) -> set[str]:
    return {block.id for block in found.block_ids}


def _read(text: str) -> blocks.Blocks:
    return blocks.read(text, Lines(text).starts, 0)
