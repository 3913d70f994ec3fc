"""Patterns for Markdown lines: the start and end of blocks (specs/note.md NOTE-10 to NOTE-36).

Every matcher gets a text, an offset and an end, and looks at that stretch only; a line's indent is
removed before, unless the docstring says otherwise. How lines make blocks is the matter of
`source_lines` and `blocks`. (semantics 2, 9)
"""

from __future__ import annotations

import re
from collections.abc import Callable

INDENT = 4
"""Columns of a tab stop, and of the indent that makes code."""
CODE_INDENTS = (" " * INDENT, "\t")
BLANKS = (" ", "\t")
"""Characters of an indent."""
LIST_MARKS = frozenset("-+*0123456789")
INTERRUPTERS = LIST_MARKS | frozenset("_#>`~<$%")
"""First characters of the lines that can end a paragraph without a blank line."""

indent: Callable[[str, int, int], re.Match[str]]
indent = re.compile(r"[ \t]*").match  # type: ignore[assignment]  # it always matches

heading = re.compile(r"(#{1,6})(?:[ \t]+|$)").match
thematic_break = re.compile(r"([-*_])(?: *\1){2,} *$").match
fence = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$").match
"""Groups: fence and words after it, for backticks (1, 2) or tildes (3, 4)."""
fence_end = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*$").match
"""Includes the indent."""
math_fence = re.compile(r"(\${2,}) *[^$]*$").match
math_fence_end = re.compile(r"[^$]*(\${2,}) *$").match
list_item = re.compile(r"(?:([-+*])|([0-9]{1,9})([.)]))(?:( {1,4}(?! )| |\t)|$)").match
"""Groups: bullet (1) or number (2) and its delimiter (3), then the marker's white space (4)."""
task_box = re.compile(r"\[(.)\][ \t]").match
setext_underline = re.compile(r"(?:=+|-+)$").match
"""Includes the indent, which must be empty."""
footnote = re.compile(r"\[\^([^\s\]]{1,999})\]:").match
definition = re.compile(
    r"\[(?!\^)(?:[^\]\\]|\\.)++\]:[ \t]*(?:<[^<>\[\]]++>|[^\s\[\]<][^\s\[\]]*+)"
    r"(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^)]*\)))?[ \t]*$"
).match
callout = re.compile(r"\[![^\[\]]+\]").match
block_id = re.compile(r"(?<!\S)\^([A-Za-z0-9-]+)\s*$").search
"""At the end of a line (semantics 2.3)."""
only_block_id = re.compile(r"\s*\^([A-Za-z0-9-]+)\s*$").match
alignment_row = re.compile(r"\s*+\|?(?:\s*+[-:][-:\s]*+\|)*+(?:\s*+[-:][-:\s]*+)?\s*+$").match
"""May match a row without columns."""
cells = re.compile(r"(?:[^|\\]++|\\.?)++").finditer

_HTML_BLOCKS = (
    "address article aside base basefont blockquote body caption center col colgroup dd details "
    "dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 "
    "h6 head header hgroup hr html iframe legend li link main menu menuitem meta nav noframes ol "
    "optgroup option p param pre section source title summary table tbody td tfoot th thead tr "
    "track ul"
).replace(" ", "|")
_ATTRIBUTE = (
    r"""\s+[a-zA-Z_:][a-zA-Z0-9:._-]*+(?:\s*=\s*(?:[^"'=<>`\x00-\x20]++|'[^']*'|"[^"]*"))?"""
)
HTML_TAG = rf"<[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*+\s*/?>|</[A-Za-z][A-Za-z0-9-]*+\s*>"
"""Pattern of an opening or closing tag."""
html_block = re.compile(
    r"<(?:(?P<raw>(?:script|pre|style)(?=\s|>|$))|(?P<comment>!--)|(?P<instruction>\?)"
    r"|(?P<directive>![A-Za-z])"
    rf"|(?P<cdata>!\[CDATA\[)|(?P<element>/?(?:{_HTML_BLOCKS})(?=\s|/?>|$)))",
    re.IGNORECASE,
).match
"""The kinds that may interrupt a paragraph; `lastgroup` names the kind."""
html_alone = re.compile(rf"(?:{HTML_TAG})\s*$").match
"""A line that is one tag of any name."""
HTML_ENDS = {
    "raw": re.compile(r"</(?:script|pre|style)>", re.IGNORECASE),
    "comment": re.compile("-->"),
    "instruction": re.compile(r"\?>"),
    "directive": re.compile(">"),
    "cdata": re.compile("]]>"),
}
"""End patterns of HTML blocks by kind; blocks of any other kind end before an empty line."""


def is_blank_text(text: str, start: int, end: int) -> bool:
    return start >= end or text[start:end].isspace()


def columns(text: str, start: int, end: int) -> int:
    """Return the width, in columns, of the white space from `start` to `end`.

    Tab stops are every four columns.
    """
    return len(text[start:end].expandtabs(INDENT))


def skip_columns(text: str, start: int, end: int, width: int) -> int:
    """Return the offset after a number of columns of the white space from `start` to `end`.

    A tab is skipped whole.
    """
    if text.find("\t", start, end) < 0:
        return min(start + width, end)
    skipped = 0
    while start < end and skipped < width:
        skipped += INDENT - skipped % INDENT if text[start] == "\t" else 1
        start += 1
    return start
