"""The block structure of a note: the block of every line (NOTE-10 to NOTE-36).

The recordings show which Markdown the app reads: CommonMark as remark-parse 8 understands it. So a
container is a run of lines, each without a prefix at its start (`_starts`), and the blocks inside
follow from those shortened lines alone. The runs are kept on a stack, never in recursion, and
nesting that is too deep is plain text (NOTE-02). (semantics 2, 9)
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import ClassVar

from obsidian_mcp.core.text.call import UNCHECKED, check_each, checkpoint
from obsidian_mcp.core.text.text import Span

from . import markdown as md
from .elements import (
    Area,
    AreaKind,
    Blocks,
    Heading,
    NamedPart,
    Region,
    Section,
    SectionKind,
    TableLines,
)
from .source_lines import MOST_READ, USUAL_NESTING, LineRun, SourceItem, SourceLines

_ID_ON_NEXT_LINE = frozenset(
    {"list", "blockquote", "callout", "table", "code", "math", "html", "footnoteDefinition"}
)


def read_blocks(body: str, line_starts: list[int], first_line: int) -> Blocks:
    """Return the blocks of `body` from line `first_line` on.

    `line_starts` are the offsets of all its lines.
    Raises: OperationTimeout.
    """
    reader = _BlockReader(body, line_starts)
    stack, blocks = reader.stack, reader.blocks
    stack.append(LineRun(first_line, len(line_starts)))
    steps = 0
    while stack:
        steps += 1
        if not steps % UNCHECKED:
            checkpoint()
        run = stack[-1]
        if run.at < run.end:
            run.at = reader.read_block(run, run.at)
        else:
            stack.pop()
            reader.close(run)
    for number, item in enumerate(sorted(reader.items, key=lambda item: item.start), 1):
        if not number % UNCHECKED:
            checkpoint()
        blocks.list_items.append(item.record())
        if item.id is not None:
            blocks.block_ids.append(NamedPart(item.id, blocks.list_items[-1].span))
    blocks.block_ids.sort(key=lambda block: block.span.start)
    return blocks


class _BlockReader:
    """Reads one block after the other.

    `stack` has the containers whose lines are still to be read.
    """

    def __init__(self, body: str, line_starts: list[int]) -> None:
        self._lines = SourceLines(body, line_starts)
        self._body, self._starts, self._ends = body, self._lines.starts, self._lines.ends
        self.blocks = Blocks()
        self.stack: list[LineRun] = []
        self._read = 0
        """Lines of all containers so far; lines of inner containers count again.

        Above MOST_READ, nesting is read less deeply, because the time grows with this number.
        """
        self.items: list[SourceItem] = []

    def _enter(self, runs: list[LineRun]) -> None:
        """Read the lines of containers next, those of the first one first."""
        self.stack += reversed(runs)
        self._read += sum(run.end - run.at for run in runs)
        if self._read > MOST_READ:
            self._lines.deepest = USUAL_NESTING

    def close(self, run: LineRun) -> None:
        """Give a container the block id at the end of its own text."""
        if run.item is not None and not run.has_list:
            run.item.id = self._id_at_end(run)
        elif run.is_quote and run.depth == 1 and (id_ := self._id_at_end(run)):
            self._name_last_section(id_)

    def read_block(self, run: LineRun, i: int) -> int:
        """Read the block that starts on line `i` and return the line after it."""
        body, start, end = self._body, self._starts[i], self._ends[i]
        if start == end:
            return i + 1
        at = start
        if body[start] in md.BLANKS:
            at = md.indent(body, start, end).end()
            if at == end:
                return i + 1
            if body.startswith(md.CODE_INDENTS, start):
                return self._indented_code(run, i)
        if (read := self._readers.get(body[at])) and (after := read(self, run, i, at)):
            return after
        if i + 1 < run.end and self._starts[i + 1] < self._ends[i + 1]:
            return self._setext_heading(run, i) or self._table(run, i) or self._paragraph(run, i)
        return self._paragraph(run, i)

    def _add(
        self, run: LineRun, kind: SectionKind, start: int, end: int, id_: str | None = None
    ) -> None:
        if run.depth == 0:
            self.blocks.sections.append(Section(kind, id_, Span(start, end)))
            if id_ is not None:
                self.blocks.block_ids.append(NamedPart(id_, Span(start, end)))
        run.last_end = end
        run.last_line = -1

    def _add_area(self, run: LineRun, kind: AreaKind, i: int, last: int, info: str = "") -> int:
        span = Span(self._starts[i], self._ends[last])
        self.blocks.areas.append(Area(kind, True, info, span))
        self._add(run, kind, span.start, span.end)
        return last + 1

    def _read_inline(self, run: LineRun, first: int, last: int, begin: int, end: int) -> None:
        """Record a region for links and tags, from `begin` on line `first` to `end` on line
        `last`."""
        parts: tuple[Span, ...] = ()
        if run.quoted and first < last:
            starts, ends = self._starts, self._ends
            inner = (Span(starts[k], ends[k]) for k in range(first + 1, last))
            parts = (Span(begin, ends[first]), *inner, Span(starts[last], end))
        self.blocks.regions.append(Region(begin, end, parts))

    def _id_at_end(self, run: LineRun) -> str | None:
        """Return the block id at the end of the container's last paragraph so far."""
        return self._lines.block_id(run.last_line) if run.last_line >= 0 else None

    def _name_last_section(self, id_: str) -> None:
        sections = self.blocks.sections
        sections[-1] = Section(sections[-1].kind, id_, sections[-1].span)
        self.blocks.block_ids.append(NamedPart(id_, sections[-1].span))

    # Leaves. Each gives the line after the block, 0 where there is no such block.

    def _paragraph(self, run: LineRun, i: int) -> int:
        last = self._lines.paragraph_end(run, i)
        start, end = self._starts[i], self._ends[last]
        is_callout = run.is_quote and md.callout(self._body, start, self._ends[i])
        # The app shows the text below the title of a callout as blocks of their own.
        if is_callout and (table_end := self._lines.table_end(run, i + 1)):
            self._add_table(i + 1, table_end)
        self._read_inline(run, i, last, start, end)
        id_ = self._lines.block_id(last) if run.depth == 0 else None
        sections = self.blocks.sections
        # Some blocks take their id from the line below (semantics 2.3).
        takes_id = bool(sections) and sections[-1].kind in _ID_ON_NEXT_LINE
        if id_ is not None and i == last and takes_id and md.only_block_id(self._body, start, end):
            self._name_last_section(id_)
            id_ = None
        self._add(run, "paragraph", start, end, id_)
        run.last_line = last
        return last + 1

    def _indented_code(self, run: LineRun, i: int) -> int:
        body, starts, ends = self._body, self._starts, self._ends
        last = i
        for k in check_each(range(i + 1, run.end)):
            if body.startswith(md.CODE_INDENTS, starts[k], ends[k]):
                last = k
            elif not md.is_blank_text(body, starts[k], ends[k]):
                break
        return self._add_area(run, "code", i, last)

    def _fenced_code(self, run: LineRun, i: int, at: int) -> int:
        opening = md.fence(self._body, at, self._ends[i])
        if not opening:
            return 0
        body, starts, ends = self._body, self._starts, self._ends
        fence = opening[1] or opening[3]
        info = (opening[2] if opening[1] else opening[4]).strip()
        for k in check_each(range(i + 1, run.end)):
            closing = md.fence_end(body, starts[k], ends[k])
            if closing and closing[1].startswith(fence):
                return self._add_area(run, "code", i, k, info)
        return self._add_area(run, "code", i, run.end - 1, info)

    def _math(self, run: LineRun, i: int, at: int) -> int:
        if not (opening := self._lines.math_opening(run, i, at)):
            return 0
        for k in check_each(range(i + 1, run.end)):
            closing = md.math_fence_end(self._body, self._starts[k], self._ends[k])
            if closing and closing[1].startswith(opening):
                return self._add_area(run, "math", i, k)
        return self._add_area(run, "math", i, run.end - 1)

    def _comment(self, run: LineRun, i: int, at: int) -> int:
        """Read a `%%` comment on lines of its own.

        Nothing in it is a block, but its links and tags count (semantics 1.2, 9).
        """
        body, starts, ends = self._body, self._starts, self._ends
        if not body.startswith("%%", at):
            return 0
        last, stop = self._lines.comment_end(run, i, at + 2)
        after = min(stop + 2, ends[last])
        if last == i and not md.is_blank_text(body, after, ends[i]):
            return 0
        self._read_inline(run, i, last, at + 2, stop)
        self.blocks.areas.append(Area("comment", True, "", Span(starts[i], after)))
        self._add(run, "comment", starts[i], after)
        if md.is_blank_text(body, after, ends[last]):
            return last + 1
        starts[last] = after
        return last

    def _atx_heading(self, run: LineRun, i: int, at: int) -> int:
        body, end = self._body, self._ends[i]
        opening = md.heading(body, at, end)
        if not opening:
            return 0
        begin = opening.end()
        text = body[begin:end].rstrip(" \t#")
        if text:
            # Marks without a space before them are part of the text.
            behind = body[begin + len(text) : end]
            text += behind[: len(behind) - len(behind.lstrip("#"))]
        self._add_heading(
            run, len(opening[1]), Span(begin, begin + len(text)), Span(self._starts[i], end), i
        )
        return i + 1

    def _setext_heading(self, run: LineRun, i: int) -> int:
        if i + 1 >= run.end or not md.setext_underline(
            self._body, self._starts[i + 1], self._ends[i + 1]
        ):
            return 0
        body, start, end = self._body, self._starts[i], self._ends[i]
        text = body[start:end]
        begin = start + len(text) - len(text.lstrip(" \t"))
        level = 1 if body[self._starts[i + 1]] == "=" else 2
        stop = begin + len(text.strip(" \t"))
        self._add_heading(run, level, Span(begin, stop), Span(start, self._ends[i + 1]), i)
        return i + 2

    def _add_heading(self, run: LineRun, level: int, text: Span, span: Span, line: int) -> None:
        self.blocks.headings.append(
            Heading(level, text.slice(self._body), run.depth > 0, line, span)
        )
        self.blocks.regions.append(Region(text.start, text.end))
        self._add(run, "heading", span.start, span.end, self._lines.block_id(line))

    def _html(self, run: LineRun, i: int, at: int) -> int:
        body, end = self._body, self._ends[i]
        opening = md.html_block(body, at, end)
        if opening is None and not md.html_alone(body, at, end):
            return 0
        last = self._lines.html_end(run, i, at, opening.lastgroup if opening else None)
        return self._add_area(run, "html", i, last)

    def _table(self, run: LineRun, i: int) -> int:
        last = self._lines.table_end(run, i)
        if not last:
            return 0
        body, starts, ends = self._body, self._starts, self._ends
        for k in chain((i,), check_each(range(i + 2, last + 1))):
            for cell in md.cells(body, starts[k], ends[k]):
                text = cell[0]
                begin = cell.start() + len(text) - len(text.lstrip(" \t"))
                stop = cell.start() + len(text.rstrip(" \t"))
                if begin < stop:
                    self.blocks.regions.append(Region(begin, stop, cell=True))
        self._add_table(i, last)
        self._add(run, "table", starts[i], ends[last])
        return last + 1

    def _add_table(self, first: int, last: int) -> None:
        self.blocks.tables.append(TableLines(first, tuple(self._starts[first : last + 1])))

    # Lines that begin with a character of several meanings

    def _mark(self, run: LineRun, i: int, at: int) -> int:
        """Read a block that begins with `-`, `*`, `_`, `+` or a digit: a rule, or a list."""
        if md.thematic_break(self._body, at, self._ends[i]):
            self._add(run, "thematicBreak", self._starts[i], self._ends[i])
            return i + 1
        return self._list(run, i, at)

    def _bracket(self, run: LineRun, i: int, at: int) -> int:
        """Read a block that begins with `[`: a footnote, or the definition of a reference."""
        if md.footnote(self._body, at, self._ends[i]):
            return self._footnote(run, i, at)
        if md.definition(self._body, at, self._ends[i]):
            self._add(run, "definition", self._starts[i], self._ends[i])
            return i + 1
        return 0

    # Containers

    def _quote(self, run: LineRun, i: int, _at: int) -> int:
        if run.depth >= self._lines.deepest:
            return 0
        body, starts, ends = self._body, self._starts, self._ends
        start = starts[i]
        k = self._lines.cut_quote_marks(run, i)
        kind: SectionKind = "callout" if md.callout(body, starts[i], ends[i]) else "blockquote"
        self._add(run, kind, start, ends[k - 1])
        self._enter([LineRun(i, k, run.depth + 1, quoted=True, holder=run.holder, is_quote=True)])
        return k

    def _footnote(self, run: LineRun, i: int, at: int) -> int:
        opening = md.footnote(self._body, at, self._ends[i])
        if opening is None or run.depth >= self._lines.deepest:
            return 0
        start = self._starts[i]
        self._starts[i] = opening.end()
        last = self._lines.cut_footnote_indent(run, i)
        span = Span(start, self._ends[last])
        self.blocks.footnotes.append(NamedPart(opening[1], span))
        self._add(run, "footnoteDefinition", span.start, span.end)
        self._enter([LineRun(i, last + 1, run.depth + 1, run.quoted, holder=run.holder)])
        return last + 1

    def _list(self, run: LineRun, i: int, at: int) -> int:
        """Read a list, and what its items contain, whose lines begin behind marker and box."""
        if run.depth >= self._lines.deepest or not md.list_item(self._body, at, self._ends[i]):
            return 0
        items = self._lines.list_lines(run, i)
        body, starts, ends = self._body, self._starts, self._ends
        last = items[-1].last
        if run.item is not None and not run.has_list:
            run.has_list = True
            if run.last_end >= 0:
                run.item.end = run.last_end
                run.item.id = self._id_at_end(run)
        self._add(run, "list", starts[i], ends[last])
        parent = run.holder if run.holder is not None else -max(i, 1)
        runs: list[LineRun] = []
        for item in items:
            if not item.line % UNCHECKED:
                checkpoint()
            item.parent = parent
            item.start, end = starts[item.line], ends[item.line]
            # If a blank line and a sibling follow, the app's item includes its line end (recorded).
            item.end = starts[item.last + 1] if item.spaced else ends[item.last]
            if item.last > item.line:
                self._lines.cut_indent(item)
            has_bracket = body.startswith("[", item.content)
            if has_bracket and (box := md.task_box(body, item.content, end)):
                item.mark, item.content = box[1], box.end()
            starts[item.line] = item.content
            if item.last == item.line and self._is_plain(item.content, end):
                self.blocks.regions.append(Region(item.content, end))
                item.id = self._lines.block_id(item.line)
            else:
                runs.append(
                    LineRun(item.line, item.last + 1, run.depth + 1, run.quoted, item, item.line)
                )
        self.items += items
        self._enter(runs)
        return last + 1

    def _is_plain(self, start: int, end: int) -> bool:
        """Return whether a line of an item can only be a paragraph, as most are.

        It then needs no run of its own.
        """
        opener = self._body[start : start + 1]
        return opener not in self._openers or (
            opener == "[" and self._body.find("]:", start, end) < 0
        )

    _readers: ClassVar[dict[str, Callable[[_BlockReader, LineRun, int, int], int]]] = {
        "#": _atx_heading,
        ">": _quote,
        "`": _fenced_code,
        "~": _fenced_code,
        "$": _math,
        "%": _comment,
        "<": _html,
        "[": _bracket,
        **dict.fromkeys("-+*_0123456789", _mark),
    }
    _openers = frozenset([*_readers, " ", "\t", ""])
    """First characters of text that may be more than a plain paragraph."""
