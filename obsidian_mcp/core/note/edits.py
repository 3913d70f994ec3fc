"""Changes to a note's text, without its byte order mark, that keep every other character.

See EDIT-01.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import Literal, NamedTuple

from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.text.call import UNCHECKED, check_each, checkpoint
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import (
    UNREADABLE,
    Lines,
    Span,
    Text,
    check_growth,
    check_size,
    to_printable,
)
from obsidian_mcp.errors import TextNotUnique

from . import blocks
from .elements import Blocks
from .near_misses import describe_absence

Position = Literal["append", "prepend", "section"]
"""`prepend` is behind the frontmatter; `section` at the end of a section, or behind a block."""
End = Literal["append", "prepend"]
Replacement = Literal["link", "embed", "nothing"]
"""What is put where a part of a note was taken out."""

LINES_SHOWN = 10
"""Numbers of lines in a message."""
_LONE_LF = re.compile(r"(?<!\r)\n")
_BLOCK_START = re.compile(r"\A|\n[ \t]*\r?\n(?=\S)")
"""Start of a block at which every block before it has ended.

Code, comments, math and HTML may go on.
"""
_BLOCK_END = re.compile(r"\n[ \t]*(?:\r?\n|\Z)")
_GOES_ON = {
    "paragraph": "paragraph",
    "list": "list",
    "blockquote": "blockquote",
    "callout": "blockquote",
}
"""The kind of text, read by itself, that goes on with a block."""
_OPEN = {"code", "comment", "math"}
"""Kinds of blocks that no blank line ends."""
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~|%%|\$\$|<)", re.MULTILINE)
"""What begins or ends such a block, or HTML."""
LINES_JUDGED = 10_000
"""First and last lines of a block that tell what it is; so many are read in a tenth of a second."""
_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]+[.)])[ \t]")
"""The beginning of an item of a list."""
_BLANK = re.compile(r"[ \t]*\r?\n")
_ENDS_BLANK = re.compile(r"(?:\A|\n)[ \t]*\r?\n\Z")


class Edit(NamedTuple):
    """Characters of a file's body that become `text`."""

    span: Span
    text: str


def apply(body: str, edits: Iterable[Edit]) -> str:
    """Return `body` with edits that do not overlap; every other character stays."""
    parts, copied_to = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        parts += [body[copied_to : edit.span.start], edit.text]
        copied_to = edit.span.end
    return "".join([*parts, body[copied_to:]])


def adapt_line_ends(content: str, body: str) -> str:
    """Return `content` with the line ends of a note.

    Its own CRLF stay in a note that has some, or that has no line end at all.
    """
    return make_line_end_adapter(body)(content)


def make_line_end_adapter(body: str) -> Callable[[str], str]:
    """Return `adapt_line_ends` as a function for many texts that go into one note."""
    if Text(body).newline == "\r\n":
        return partial(_LONE_LF.sub, "\r\n")
    if "\r\n" in body or "\n" not in body:
        return str
    return lambda content: content.replace("\r\n", "\n")


def newline_of(body: str, content: str) -> str:
    """Return the line end between a note and text that is added.

    It is the note's line end, or the text's where the note has none.
    """
    return Text(body if "\n" in body else content).newline


def overwrite_text(data: bytes, content: str) -> bytes:
    """Return the bytes of a file after its whole text becomes `content`.

    Its line ends and byte order mark stay.
    """
    old = Text.decode(data)
    return Text(adapt_line_ends(content, old.body), old.bom).encode()


def insert_text(body: str, content: str, position: Position = "append", heading: str = "") -> str:
    """Return a note with text on lines of its own at a place (EDIT-02, EDIT-10).

    With `heading`, the place is in that section (PERIODIC-18). A note without a last line end stays
    so.
    Raises: SectionNotFound, StorageFailed.
    """
    check_growth(body, content)
    if heading:
        from . import sections  # loaded here: it needs the parser, which most edits do without

        section = sections.locate(body, heading).content
        put = prepend_to_span if position == "prepend" else append_to_span
        return put(body, section, content)
    return insert(body, text_start(body) if position == "prepend" else len(body), content)


def insert(body: str, at: int, content: str) -> str:
    """Return a note with `content` on lines of its own at the offset `at` (EDIT-03, EDIT-10).

    The offset begins a line, or is the end. Blank lines keep the content apart from text that it
    would change, or that would change it.
    """
    content = adapt_line_ends(content, body)
    newline = newline_of(body, content)
    before, after = body[:at], body[at:]
    if _joins(_end_line(content, newline), after):
        content = _end_line(content, newline) + newline
    if not before and not text_start(content) and text_start(_end_line(content, newline) + after):
        content = newline + content  # its first line, a rule, would begin properties
    ends_line = not before or before.endswith("\n")
    before = before if ends_line else before + newline
    if before and _joins(before, content):
        before += newline
    if not ends_line:
        return before + content.removesuffix(newline)
    return before + (_end_line(content, newline) if after or before else content) + after


def add_text(body: str, content: str, *, at_end: bool, inline: bool) -> str:
    """Return a note with text at its end or behind its properties (HEADLESS-18).

    As the app's commands do it: on a line of its own unless `inline`.
    """
    content = adapt_line_ends(content, body)
    newline = newline_of(body, content)
    at = len(body) if at_end else text_start(body)
    before = body[:at]
    if before and not before.endswith("\n") and not (at_end and inline):
        before += newline
    return f"{before}{content}{'' if at_end or inline else newline}{body[at:]}"


def _joins(above: str, below: str) -> bool:
    """Return whether the end of `above` and the text below would change each other (EDIT-10).

    `above` ends with a line end; a blank line then has to part the two. Paragraphs, lists, quotes
    or parts of a table may go together if no block id is lost. A text with an indent is meant to
    continue the block.
    """
    last_line = above[above.rfind("\n", 0, max(len(above) - 1, 0)) + 1 :]
    if not last_line.strip() or not below.strip() or below[0] in " \t\r\n":
        return False
    end = _BLOCK_END.search(below)
    below = below[: end.start() if end else len(below)]
    block_start = 0
    for number, start in enumerate(_BLOCK_START.finditer(above), 1):
        if not number % UNCHECKED:
            checkpoint()
        block_start = start.end()
    above = _without_middle(above[block_start:])
    first, own, whole = [
        blocks.read_blocks(text, Lines(text).starts, 0) for text in (above, below, above + below)
    ]
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


def _without_middle(block: str) -> str:
    """Return a block of very many lines without those in its middle.

    What it is, and whether a text behind it goes on with it, is told by its first and last lines,
    unless something begins or ends in its middle that no blank line ends.
    """
    if block.count("\n") <= 2 * LINES_JUDGED:
        return block
    head = 0
    tail = len(block) - 1
    for _ in range(LINES_JUDGED):
        head = block.index("\n", head) + 1
        tail = block.rindex("\n", 0, tail)
    return block if _FENCE.search(block, head, tail) else block[:head] + block[tail + 1 :]


def _ids(elements: Blocks) -> set[str]:
    return {block.id for block in elements.block_ids}


def replace_text(body: str, find: str, content: str, *, every: bool) -> str:
    """Return the note with `find` replaced by `content`: its one occurrence, or every one.

    See EDIT-04.

    Raises: TextNotFound with the line that is nearest, TextNotUnique with the lines that contain
    it.
    """
    content = adapt_line_ends(content, body)
    searched_text = make_searchable(body, find)
    if find not in searched_text:
        find = adapt_line_ends(find, body)
    first = searched_text.find(find)
    if first < 0:
        raise describe_absence(body, find)
    if not every and searched_text.find(find, first + 1) >= 0:
        raise _describe_repetition(searched_text, find)
    check_size(len(body) + searched_text.count(find) * (len(content) - len(find)))
    if searched_text is body:
        return body.replace(find, content)
    spans = [Span(*match.span()) for match in re.finditer(re.escape(find), searched_text)]
    return apply(body, [Edit(span, keep_bytes(span.slice(body), content)) for span in spans])


def make_searchable(body: str, find: str) -> str:
    """Return the text of a note in which to look for `find`; it is as long as the note.

    If `find` has U+FFFD, bytes that are not UTF-8 are U+FFFD in it, as reads show them (FILE-17).
    """
    return to_printable(body) if UNREADABLE in find else body


def keep_bytes(old: str, content: str) -> str:
    """Return the new text for `old` with the bytes of `old` that reads show as U+FFFD.

    They are kept if the new text has as many U+FFFD.
    """
    halves = [char for char in old if to_printable(char) != char]
    if content.count(UNREADABLE) != len(halves):
        return content
    pairs = zip_longest(content.split(UNREADABLE), halves, fillvalue="")
    return "".join(chain.from_iterable(pairs))


def replace_span(body: str, span: Span, content: str) -> str:
    """Return the note with the text of a section replaced.

    Blank lines around the text stay, so that its neighbours keep their distance.
    """
    content = adapt_line_ends(content, body)
    inner = trim_blank_lines(body, span)
    if inner.start == inner.end:
        return _put_below_heading(body, span, content)
    return body[: inner.start] + content.removesuffix(newline_of(body, content)) + body[inner.end :]


def append_to_span(body: str, span: Span, content: str) -> str:
    """Return the note with `content` on the lines after the last line of a section that is not
    blank."""
    inner = trim_blank_lines(body, span)
    if inner.start == inner.end:
        return _put_below_heading(body, span, content)
    return insert(body, body.find("\n", inner.end) + 1 or len(body), content)


def prepend_to_span(body: str, span: Span, content: str) -> str:
    """Return the note with `content` on the lines before the first line of a section that is not
    blank.

    A blank line between that line and the heading also parts it from the new text, unless both are
    items of a list.
    """
    inner = trim_blank_lines(body, span)
    if inner.start == inner.end:
        return _put_below_heading(body, span, content)
    if inner.start > span.start and not (_ITEM.match(content) and _ITEM.match(body, inner.start)):
        newline = newline_of(body, content)
        content = _end_line(content, newline) + newline
    return insert(body, inner.start, content)


def remove_part(body: str, span: Span) -> str:
    """Return the note without a section or block and the blank lines below it.

    At the end of the note, the blank lines above it go.
    """
    after = body[span.end :].lstrip("\r\n")
    if after:
        return body[: span.start] + after
    before = body[: span.start].rstrip("\r\n")
    return before + (newline_of(body, "") if before and body.endswith("\n") else "")


def insert_part(body: str, at: int, content: str) -> str:
    """Return the note with `content` behind a section or block that ends at `at` (EDIT-12).

    Blank lines part it from the text around it.
    """
    newline, before, after = newline_of(body, content), body[:at], body[at:]
    lead = "" if _ENDS_BLANK.search(before) else newline if before.endswith("\n") else newline * 2
    end = newline if after or body.endswith("\n") else ""
    if after and not _BLANK.match(after):
        end += newline
    return before + lead + adapt_line_ends(content, body).strip("\r\n") + end + after


def _put_below_heading(body: str, span: Span, content: str) -> str:
    """Return the note with `content` in a section without text (EDIT-11).

    A blank line is below the heading if the note's other headings have one.
    """
    if not _separates_headings(body, span.start):
        return insert(body, span.start, content)
    blank = re.match(r"[ \t]*\r?\n", span.slice(body))
    is_last = span.end == len(body)
    if blank and (is_last or span.slice(body).count("\n") > 1):
        # Another blank line stays below the text.
        return insert(body, span.start + blank.end(), content)
    return insert(body, span.start, newline_of(body, content) + content)


def _separates_headings(body: str, at: int) -> bool:
    """Return whether a heading is right above `at`, and most headings have a blank line below."""
    lines = Lines(body)
    sections = blocks.read_blocks(body, lines.starts, lines.line(text_start(body))).sections
    is_below = False
    majority = 0
    for number, block in enumerate(check_each(sections)):
        if block.kind != "heading":
            continue
        below = body.find("\n", block.span.end) + 1 or len(body)
        if below == at:
            is_below = True
        elif below < len(body) and not body[below : body.find("\n", below) + 1].strip():
            majority += 1
        elif sections[number + 1 : number + 2] and sections[number + 1].kind != "heading":
            majority -= 1
    return is_below and majority > 0


def trim_blank_lines(body: str, span: Span) -> Span:
    """Return a section without the blank lines at its beginning and end.

    The indentation of its first line stays.
    """
    text = span.slice(body)
    leading = re.match(r"(?:[ \t]*\r?\n)*", text)
    start = leading.end() if leading else 0
    end = len(text.rstrip())
    if end <= start:
        return Span(span.start, span.start)
    return Span(span.start + start, span.start + end)


def _end_line(content: str, newline: str) -> str:
    return content if content.endswith("\n") else content + newline


def list_line_numbers(lines: Sequence[int]) -> str:
    """Return the numbers of the first lines as a text."""
    return name_first(lines, LINES_SHOWN)


def _describe_repetition(body: str, find: str) -> TextNotUnique:
    """Return the error for a text that the note has more than once, with the lines."""
    lines = Lines(body)
    numbers: list[int] = []
    at = body.find(find)
    while at >= 0:  # a regular expression takes minutes for long texts that repeat themselves
        checkpoint()
        numbers.append(lines.line(at) + 1)
        at = body.find(find, at + 1)
    return TextNotUnique(
        f"The text to find stands {len(numbers)} times in the note (lines "
        f"{list_line_numbers(numbers)}). Give more of the text around the one you mean, or set "
        "`all` to true to replace every one.",
        count=len(numbers),
        lines=numbers[:LINES_SHOWN],
    )
