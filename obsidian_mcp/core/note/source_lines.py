"""The lines of a note as spans, and what a line means for the block before it.

A container (a quote, a list item, a footnote) is a run of lines whose starts are moved behind its
prefix. (NOTE-10 to NOTE-36)
"""

from __future__ import annotations

from dataclasses import dataclass

from obsidian_mcp.core.text.call import UNCHECKED, check_each, checkpoint
from obsidian_mcp.core.text.text import Span

from .elements import ListItem
from .markdown import (
    BLANKS,
    CODE_INDENTS,
    HTML_ENDS,
    INDENT,
    INTERRUPTERS,
    LIST_MARKS,
    alignment_row,
    block_id,
    columns,
    definition,
    fence,
    footnote,
    heading,
    html_block,
    indent,
    is_blank_text,
    list_item,
    math_fence,
    setext_underline,
    skip_columns,
    thematic_break,
)

MAX_NESTING = 100
"""Maximum nesting depth of quotes, lists and footnotes. Every level reads its lines once more."""
USUAL_NESTING = 10
"""Maximum nesting depth once MOST_READ lines have been read."""
MOST_READ = 50_000
"""Lines of quotes, lists and footnotes, those of inner ones counted again."""


@dataclass(slots=True)
class SourceItem:
    """A list item whose lines are known; `record` makes it a `ListItem`."""

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
    """The lines of a text as spans, and what a line means for the block before it.

    Containers move the `starts` on.
    """

    def __init__(self, body: str, line_starts: list[int]) -> None:
        self.body = body
        self._has_carets = "^" in body
        self.starts = line_starts.copy()
        self.deepest = MAX_NESTING
        """Nesting depth at which a container is plain text."""
        if len(line_starts) > UNCHECKED:
            checkpoint()
        ends = [start - 1 for start in line_starts[1:]]
        if "\r\n" in body:
            ends = [
                end - (end > start and body[end - 1] == "\r")
                for start, end in zip(line_starts, check_each(ends), strict=False)
            ]
        self.ends = [*ends, len(body)]

    def block_id(self, line: int) -> str | None:
        """Return the block id at the end of a line."""
        start, end = self.starts[line], self.ends[line]
        if not self._has_carets or self.body.find("^", start, end) < 0:
            return None
        match = block_id(self.body, start, end)
        return match[1] if match else None

    def math_opening(self, run: LineRun, i: int, at: int) -> str:
        opening = math_fence(self.body, at, self.ends[i])
        if "\t" in self.body[self.starts[i] : at]:
            return ""
        return opening[1] if opening and i + 1 < run.end else ""

    def comment_end(self, run: LineRun, i: int, begin: int) -> tuple[int, int]:
        """Return the line and offset of the `%%` that closes the comment whose text starts at
        `begin`.

        Without one, return the end of the run.
        """
        body, starts, ends = self.body, self.starts, self.ends
        for k in check_each(range(i, run.end)):
            closing = body.find("%%", begin if k == i else starts[k], ends[k])
            if closing >= 0:
                return k, closing
        return run.end - 1, ends[run.end - 1]

    def html_end(self, run: LineRun, i: int, at: int, kind: str | None) -> int:
        """Return the last line of the HTML block of a kind that starts at `at` on line `i`."""
        body, starts, ends = self.body, self.starts, self.ends
        closing = HTML_ENDS.get(kind or "")
        further = check_each(range(i + 1, run.end))
        if closing is None:
            empty = (k - 1 for k in further if starts[k] == ends[k])
            return next(empty, run.end - 1)
        if closing.search(body, at, ends[i]):
            return i
        closed = (k for k in further if closing.search(body, starts[k], ends[k]))
        return next(closed, run.end - 1)

    def table_end(self, run: LineRun, i: int) -> int:
        """Return the last line of the table that begins on line `i`; 0 without one."""
        body, starts, ends = self.body, self.starts, self.ends
        at = body.find("|", starts[i] + 1, ends[i]) if i + 1 < run.end else -1
        if at < 0 or body.find("|", starts[i + 1] + 1, ends[i + 1]) < 0:
            return 0
        rule = alignment_row(body, starts[i + 1], ends[i + 1])
        if not rule or not rule[0].strip("| \t"):
            return 0
        further = check_each(range(i + 2, run.end))
        after = (k for k in further if body.find("|", starts[k] + 1, ends[k]) < 0)
        return next(after, run.end) - 1

    def interrupts_paragraph(self, run: LineRun, i: int, at: int) -> bool:
        """Return whether the block at `at` ends a paragraph.

        It does so without a blank line between them.
        """
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
                # A numbered list may interrupt a paragraph only if it begins with 1.
                item = list_item(body, at, end)
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

    def paragraph_end(self, run: LineRun, i: int) -> int:
        """Return the last line of the paragraph that starts on line `i`."""
        body, starts, ends = self.body, self.starts, self.ends
        k = i + 1
        while k < run.end:
            if not k % UNCHECKED:
                checkpoint()
            start, end = starts[k], ends[k]
            if start == end:
                break
            at = indent(body, start, end).end() if body[start] in BLANKS else start
            if at > start and ((at - start >= INDENT and at < end) or "\t" in body[start:at]):
                k += 1
                continue
            if at == end or (body[at] > "\x7f" and body[at:end].isspace()):
                # White space without a line end is still the paragraph's.
                return k if k == run.end - 1 else k - 1
            if body[at] in INTERRUPTERS and self.interrupts_paragraph(run, k, at):
                break
            k += 1
        return k - 1

    def list_lines(self, run: LineRun, i: int) -> list[SourceItem]:
        """Return the items of the list that starts on line `i`, with their lines."""
        body, starts, ends = self.body, self.starts, self.ends
        items: list[SourceItem] = []
        inner = 0
        is_blank = gap = False
        kind = ""
        for k in range(i, run.end):
            if not k % UNCHECKED:
                checkpoint()
            start, end = starts[k], ends[k]
            at = start
            if start < end and body[start] in BLANKS:
                at = indent(body, start, end).end()
            width = columns(body, start, at) if at > start else 0
            after_blank, is_blank = is_blank, at == end
            if items and width >= inner:
                items[-1].last, gap = k, False
            elif at < end and body[at] in LIST_MARKS and (mark := list_item(body, at, end)):
                bullet, number, delimiter, white = mark.groups()
                if kind not in ("", bullet or delimiter) or thematic_break(body, at, end):
                    break
                kind = bullet or delimiter
                if gap:
                    items[-1].spaced, gap = True, False
                marker = bullet or number + delimiter
                width += len(marker)
                inner = width + (INDENT - width % INDENT if white == "\t" else len(white or ""))
                items.append(SourceItem(k, k, marker, mark.end()))
            elif width > INDENT:
                items[-1].last, gap = k, False
            elif is_blank or is_blank_text(body, at, end):
                is_blank = gap = True
            elif after_blank or self.interrupts_list(run, k, at):
                break
            else:
                items[-1].last, gap = k, False
        return items

    def cut_indent(self, item: SourceItem) -> None:
        """Remove the indent of the item's further lines, at most up to the column of its text.

        The app takes the same width from all of them; a number of one digit counts one column more
        where that makes an even width. Lines without an indent stay: they only continue the
        paragraph before.
        """
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
            if not k % UNCHECKED:
                checkpoint()
            at = indent(body, starts[k], ends[k]).end()
            leads.append((k, at))
            if not is_blank_text(body, at, ends[k]):
                width = min(width, columns(body, starts[k], at) or width)
        for k, at in leads:
            starts[k] = skip_columns(body, starts[k], at, width)

    def cut_quote_marks(self, run: LineRun, i: int) -> int:
        """Remove the marks of the quote that starts on line `i`; return the line after it."""
        body, starts, ends = self.body, self.starts, self.ends
        k = i
        while k < run.end:
            if not k % UNCHECKED:
                checkpoint()
            at = indent(body, starts[k], ends[k]).end()
            if body.startswith(">", at, ends[k]):
                starts[k] = at + 2 if body.startswith(" ", at + 1, ends[k]) else at + 1
            elif is_blank_text(body, at, ends[k]) or self.interrupts_quote(run, k, at):
                break
            k += 1
        return k

    def cut_footnote_indent(self, run: LineRun, i: int) -> int:
        """Remove the indent of the footnote whose text starts on line `i`; return its last line."""
        body, starts, ends = self.body, self.starts, self.ends
        last = i
        for k in range(i + 1, run.end):
            if not k % UNCHECKED:
                checkpoint()
            begin, end = starts[k], ends[k]
            at = indent(body, begin, end).end()
            if at == end:
                starts[k] = at
                continue
            width = columns(body, begin, at)
            if width < INDENT and (last < k - 1 or self.interrupts_footnote(run, k, at)):
                break
            starts[k] = skip_columns(body, begin, at, INDENT)
            last = k
        return last
