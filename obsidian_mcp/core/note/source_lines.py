"""Lines of a note, and which of them go on with a block or end it (specs/note.md NOTE-10 to NOTE-36)."""

from __future__ import annotations

from dataclasses import dataclass

from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.text import Span

from . import markdown as md
from .elements import ListItem

MAX_NESTING = 100
"""Maximum nesting depth of quotes, lists and footnotes; every level reads its lines once more."""
USUAL_NESTING = 10
"""Maximum nesting depth where MOST_READ lines of quotes, lists and footnotes have been read."""
MOST_READ = 50_000


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
        return ListItem(self.line, self.parent, self.marker, self.mark, self.id, Span(self.start, self.end), content)


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
    """The lines of a text as spans, and what a line means for the block before it. Containers move the `starts` on."""

    def __init__(self, body: str, line_starts: list[int]) -> None:
        self.body = body
        self.starts = line_starts.copy()
        self.deepest = MAX_NESTING
        """Nesting depth at which a container is plain text."""
        ends = [start - 1 for start in line_starts[1:]]
        if "\r\n" in body:
            ends = [
                end - (end > start and body[end - 1] == "\r") for start, end in zip(line_starts, ends, strict=False)
            ]
        self.ends = [*ends, len(body)]

    def block_id(self, line: int) -> str | None:
        """Return the block id at the end of a line."""
        start, end = self.starts[line], self.ends[line]
        found = md.block_id(self.body, start, end) if self.body.find("^", start, end) >= 0 else None
        return found[1] if found else None

    def math_opening(self, run: LineRun, i: int, at: int) -> str:
        opening = md.math_fence(self.body, at, self.ends[i])
        if "\t" in self.body[self.starts[i] : at]:
            return ""
        return opening[1] if opening and i + 1 < run.end else ""

    def comment_end(self, run: LineRun, i: int, begin: int) -> tuple[int, int]:
        """Return the line and offset of the `%%` that closes the comment whose text starts at `begin`, else the end."""
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
                return md.heading(body, at, end) is not None
            case ">":
                return run.depth < self.deepest
            case "`" | "~":
                return md.fence(body, at, end) is not None
            case "<":
                return md.html_block(body, at, end) is not None
            case "$":
                return bool(self.math_opening(run, i, at))
            case "%":
                return body.startswith("%%", at) and body.find("%%", at + 2, end) < 0
            case _:
                if md.thematic_break(body, at, end) is not None:
                    return True
                item = md.list_item(body, at, end)  # a numbered list may interrupt a paragraph only with 1
                return item is not None and item[2] in (None, "1") and run.depth < self.deepest

    def interrupts_list(self, run: LineRun, i: int, at: int) -> bool:
        char = self.body[at]
        return char not in "><$" and char in md.INTERRUPTERS and self.interrupts_paragraph(run, i, at)

    def interrupts_quote(self, run: LineRun, i: int, at: int) -> bool:
        if self.body.startswith(md.CODE_INDENTS, self.starts[i]):
            return True
        if self.body[at] in md.INTERRUPTERS and self.interrupts_paragraph(run, i, at):
            return True
        return i + 1 < run.end and md.setext_underline(self.body, self.starts[i + 1], self.ends[i + 1]) is not None

    def interrupts_footnote(self, run: LineRun, i: int, at: int) -> bool:
        body, end = self.body, self.ends[i]
        if body[at] == "[" and (md.footnote(body, at, end) or md.definition(body, at, end)):
            return True
        return self.interrupts_quote(run, i, at)

    def list_lines(self, run: LineRun, i: int) -> list[SourceItem]:
        """Return the items of the list that starts on line `i`, with their lines."""
        body, starts, ends = self.body, self.starts, self.ends
        items: list[SourceItem] = []
        indent = 0
        blank = gap = False
        kind = ""
        for k in range(i, run.end):
            start, end = starts[k], ends[k]
            at = md.indent(body, start, end).end()
            width = md.columns(body, start, at) if at > start else 0
            after_blank, blank = blank, at == end
            if items and width >= indent:
                items[-1].last, gap = k, False
            elif at < end and body[at] in md.LIST_MARKS and (mark := md.list_item(body, at, end)):
                bullet, number, delimiter, white = mark.groups()
                if kind not in ("", bullet or delimiter) or md.thematic_break(body, at, end):
                    break
                checkpoint()
                kind = bullet or delimiter
                if gap:
                    items[-1].spaced, gap = True, False
                marker = bullet or number + delimiter
                width += len(marker)
                indent = width + (md.INDENT - width % md.INDENT if white == "\t" else len(white or ""))
                items.append(SourceItem(k, k, marker, mark.end()))
            elif width > md.INDENT:
                items[-1].last, gap = k, False
            elif blank or md.blank(body, at, end):
                blank = gap = True
            elif after_blank or self.interrupts_list(run, k, at):
                break
            else:
                items[-1].last, gap = k, False
        return items

    def cut_indent(self, item: SourceItem) -> None:
        """Remove the indent of the item's further lines, up to the column of its text. The app takes the same width
        from all; a number of one digit counts one column more for an even width. A line without an indent only goes
        on."""
        body, starts, ends = self.body, self.starts, self.ends
        begin = starts[item.line]
        lead = md.indent(body, begin, item.content).end()
        at = lead + len(item.marker)
        width = md.columns(body, begin, lead) + len(item.marker)
        if item.marker[-1] == "." and int(item.marker[:-1]) < 10 and (item.content - begin) % 2:
            width += 1
        width += md.INDENT - width % md.INDENT if body.startswith("\t", at, item.content) else item.content - at
        leads = []
        for k in range(item.line + 1, item.last + 1):
            at = md.indent(body, starts[k], ends[k]).end()
            leads.append((k, at))
            if not md.blank(body, at, ends[k]):
                width = min(width, md.columns(body, starts[k], at) or width)
        for k, at in leads:
            starts[k] = md.skip_columns(body, starts[k], at, width)
