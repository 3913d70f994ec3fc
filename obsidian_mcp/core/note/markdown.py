"""Lines of a note: patterns for the start and end of blocks, mostly in text without its indent
(semantics 2, 9), and which lines go on with a block or end it (specs/note.md NOTE-10 to
NOTE-36)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.text import Span

from .elements import ListItem

MAX_NESTING = 100
"""Maximum nesting depth of quotes, lists and footnotes; every level reads its lines once more."""
USUAL_NESTING = 10
"""Maximum nesting depth where MOST_READ lines of quotes, lists and footnotes have been read."""
MOST_READ = 50_000
INDENT = 4
"""Columns of a tab stop, and of the indent that makes code."""
CODE_INDENTS = (" " * INDENT, "\t")
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
"""Groups: bullet (1) or number (2) and its delimiter (3), then the white space that belongs to the
marker (4)."""
task_box = re.compile(r"\[(.)\][ \t]").match
setext_underline = re.compile(r"(?:=+|-+)$").match
"""Includes the indent, which must be empty."""
footnote = re.compile(r"\[\^([^\s\]]{1,999})\]:").match
definition = re.compile(
    r"\[(?!\^)(?:[^\]\\]|\\.)++\]:[ \t]*(?:<[^<>\[\]]++>|[^\s\[\]<][^\s\[\]]*+)"
    r"(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^)]*\)))?[ \t]*$"
).match
callout = re.compile(r"\[![^\[\]]+\]").match
"""Groups: kind, fold, title."""
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


def blank(text: str, start: int, end: int) -> bool:
    return start >= end or text[start:end].isspace()


def columns(text: str, start: int, end: int) -> int:
    """Return the width, in columns, of the white space from `start` to `end`, with tab stops every
    four columns."""
    return len(text[start:end].expandtabs(INDENT))


def skip_columns(text: str, start: int, end: int, width: int) -> int:
    """Return the offset after a number of columns of the white space from `start` to `end`; a tab
    is taken whole."""
    if text.find("\t", start, end) < 0:
        return min(start + width, end)
    skipped = 0
    while start < end and skipped < width:
        skipped += INDENT - skipped % INDENT if text[start] == "\t" else 1
        start += 1
    return start


@dataclass(slots=True)
class SourceItem:
    """A list item whose lines are known; it becomes a `ListItem`."""

    line: int
    last: int
    marker: str
    content: int
    """Offset of its text on its first line."""
    spaced: bool = False
    """Whether a blank line and another item follow."""
    parent: int = 0
    mark: str | None = None
    id: str | None = None
    start: int = 0
    end: int = 0

    def record(self) -> ListItem:
        content = Span(min(self.content, self.end), self.end)
        return ListItem(
            self.line,
            self.parent,
            self.marker,
            self.mark,
            self.id,
            Span(self.start, self.end),
            content,
        )


@dataclass(slots=True)
class LineRun:
    """A container: its lines from `at`, which moves on, to before `end`."""

    at: int
    end: int
    depth: int = 0
    quoted: bool = False
    """Whether more than white space was cut from the start of its lines."""
    item: SourceItem | None = None
    holder: int | None = None
    """The line of the nearest enclosing list item."""
    is_quote: bool = False
    has_list: bool = False
    last_end: int = -1
    """Offset of the end of its last block."""
    last_line: int = -1
    """The last line of the last block if that is a paragraph."""


class SourceLines:
    """The lines of a text as spans, and what a line means for the block before it. Containers move
    the `starts` on."""

    def __init__(self, body: str, line_starts: list[int]) -> None:
        self.body = body
        self.starts = line_starts.copy()
        self.deepest = MAX_NESTING
        """Nesting depth at which a container is plain text."""
        ends = [start - 1 for start in line_starts[1:]]
        if "\r\n" in body:
            ends = [
                end - (end > start and body[end - 1] == "\r")
                for start, end in zip(line_starts, ends, strict=False)
            ]
        self.ends = [*ends, len(body)]

    def block_id(self, line: int) -> str | None:
        """Return the block id at the end of a line."""
        start, end = self.starts[line], self.ends[line]
        found = block_id(self.body, start, end) if self.body.find("^", start, end) >= 0 else None
        return found[1] if found else None

    def math_opening(self, run: LineRun, i: int, at: int) -> str:
        opening = math_fence(self.body, at, self.ends[i])
        if "\t" in self.body[self.starts[i] : at]:
            return ""
        return opening[1] if opening and i + 1 < run.end else ""

    def comment_end(self, run: LineRun, i: int, begin: int) -> tuple[int, int]:
        """Return the line and offset of the `%%` that closes the comment whose text starts at
        `begin`, else the end."""
        body, starts, ends = self.body, self.starts, self.ends
        for k in range(i, run.end):
            closing = body.find("%%", begin if k == i else starts[k], ends[k])
            if closing >= 0:
                return k, closing
        return run.end - 1, ends[run.end - 1]

    def interrupts_paragraph(self, run: LineRun, i: int, at: int) -> bool:
        body, end = self.body, self.ends[i]
        match body[at]:
            case "#":
                return heading(body, at, end) is not None
            case ">":
                return run.depth < self.deepest
            case "`" | "~":
                return fence(body, at, end) is not None
            case "<":
                return html_block(body, at, end) is not None
            case "$":
                return bool(self.math_opening(run, i, at))
            case "%":
                return body.startswith("%%", at) and body.find("%%", at + 2, end) < 0
            case _:
                if thematic_break(body, at, end) is not None:
                    return True
                item = list_item(
                    body, at, end
                )  # a numbered list may interrupt a paragraph only with 1
                return item is not None and item[2] in (None, "1") and run.depth < self.deepest

    def interrupts_list(self, run: LineRun, i: int, at: int) -> bool:
        char = self.body[at]
        return char not in "><$" and char in INTERRUPTERS and self.interrupts_paragraph(run, i, at)

    def interrupts_quote(self, run: LineRun, i: int, at: int) -> bool:
        if self.body.startswith(CODE_INDENTS, self.starts[i]):
            return True
        if self.body[at] in INTERRUPTERS and self.interrupts_paragraph(run, i, at):
            return True
        return (
            i + 1 < run.end
            and setext_underline(self.body, self.starts[i + 1], self.ends[i + 1]) is not None
        )

    def interrupts_footnote(self, run: LineRun, i: int, at: int) -> bool:
        body, end = self.body, self.ends[i]
        if body[at] == "[" and (footnote(body, at, end) or definition(body, at, end)):
            return True
        return self.interrupts_quote(run, i, at)

    def list_lines(self, run: LineRun, i: int) -> list[SourceItem]:
        """Return the items of the list that starts on line `i`, with their lines."""
        body, starts, ends = self.body, self.starts, self.ends
        items: list[SourceItem] = []
        inner = 0
        is_blank = gap = False
        kind = ""
        for k in range(i, run.end):
            start, end = starts[k], ends[k]
            at = indent(body, start, end).end()
            width = columns(body, start, at) if at > start else 0
            after_blank, is_blank = is_blank, at == end
            if items and width >= inner:
                items[-1].last, gap = k, False
            elif at < end and body[at] in LIST_MARKS and (mark := list_item(body, at, end)):
                bullet, number, delimiter, white = mark.groups()
                if kind not in ("", bullet or delimiter) or thematic_break(body, at, end):
                    break
                checkpoint()
                kind = bullet or delimiter
                if gap:
                    items[-1].spaced, gap = True, False
                marker = bullet or number + delimiter
                width += len(marker)
                inner = width + (INDENT - width % INDENT if white == "\t" else len(white or ""))
                items.append(SourceItem(k, k, marker, mark.end()))
            elif width > INDENT:
                items[-1].last, gap = k, False
            elif is_blank or blank(body, at, end):
                is_blank = gap = True
            elif after_blank or self.interrupts_list(run, k, at):
                break
            else:
                items[-1].last, gap = k, False
        return items

    def cut_indent(self, item: SourceItem) -> None:
        """Remove the indent of the item's further lines, up to the column of its text. The app
        takes the same width from all; a number of one digit counts one column more for an even
        width. Lines without an indent stay."""
        body, starts, ends = self.body, self.starts, self.ends
        begin = starts[item.line]
        lead = indent(body, begin, item.content).end()
        at = lead + len(item.marker)
        width = columns(body, begin, lead) + len(item.marker)
        if item.marker[-1] == "." and int(item.marker[:-1]) < 10 and (item.content - begin) % 2:
            width += 1
        width += (
            INDENT - width % INDENT
            if body.startswith("\t", at, item.content)
            else item.content - at
        )
        leads = []
        for k in range(item.line + 1, item.last + 1):
            at = indent(body, starts[k], ends[k]).end()
            leads.append((k, at))
            if not blank(body, at, ends[k]):
                width = min(width, columns(body, starts[k], at) or width)
        for k, at in leads:
            starts[k] = skip_columns(body, starts[k], at, width)
