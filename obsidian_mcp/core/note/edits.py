"""Changes to a note's text, without its byte order mark, that keep every other character
(EDIT-01)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain, islice, zip_longest
from os.path import commonprefix
from typing import Literal, NamedTuple

from obsidian_mcp.core.frontmatter.parser import text_start
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.nearness import nearest
from obsidian_mcp.core.text.text import (
    UNREADABLE,
    Lines,
    Span,
    Text,
    check_size,
    printable,
    split_lines,
)
from obsidian_mcp.errors import TextNotFound, TextNotUnique

from . import blocks

Position = Literal["append", "prepend", "section"]
"""`prepend` is behind the frontmatter, `section` at the end of a heading's section or behind a
block."""
End = Literal["append", "prepend"]
Left = Literal["link", "embed", "nothing"]
"""What stays where a part of a note was taken out."""

LINES_SHOWN = 10
TEXT_SHOWN = 200
PLACES_COMPARED = 50
LONGEST_COMPARED = 2_000
"""Code points of the longest text that is looked for in other characters."""
MOST_STEPS = 50_000_000
"""Code points of such a text, times those of the note: a second at most, in which no other call is
answered."""
_UNIT = re.compile(r"\.\.\.|-{2,9}|\s{1,99}|(?s:.)")
_ALIKE = (r"['’‘‚‛′`´]", r"[\"“”„‟«»″]", r"(?>-{2,9}|[-–—−‐‑])", r"(?:\.\.\.|…)", r"\s{1,99}+")
"""Characters that are typed for each other, as expressions of short texts that match in one way
only."""
_LONE_LF = re.compile(r"(?<!\r)\n")
_BLOCK_START = re.compile(r"\A|\n[ \t]*\r?\n(?=\S)")
"""Where a block begins that no block before it can be open in, but for code, comments, math and
HTML."""
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


_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]+[.)])[ \t]")
"""What begins an item of a list."""


class Edit(NamedTuple):
    """Characters of a file's body that become `text`."""

    span: Span
    text: str


_BLANK = re.compile(r"[ \t]*\r?\n")
_ENDS_BLANK = re.compile(r"(?:\A|\n)[ \t]*\r?\n\Z")


def apply(body: str, edits: Iterable[Edit]) -> str:
    """`body` with edits that do not overlap; every other character stays."""
    parts, done = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        parts += [body[done : edit.span.start], edit.text]
        done = edit.span.end
    return "".join([*parts, body[done:]])


def adapted(content: str, body: str) -> str:
    """`content` with the line ends of a note. Its own CRLF stay in a note that has some, or no line
    end at all."""
    return adapting(body)(content)


def adapting(body: str) -> Callable[[str], str]:
    """`adapted` for many texts that go into one note."""
    if Text(body).newline == "\r\n":
        return partial(_LONE_LF.sub, "\r\n")
    if "\r\n" in body or "\n" not in body:
        return str
    return lambda content: content.replace("\r\n", "\n")


def newline_of(body: str, content: str) -> str:
    """The line end between a note and text that is added: the note's, or the text's where the note
    has none."""
    return Text(body if "\n" in body else content).newline


def overwritten(data: bytes, content: str) -> bytes:
    """The bytes of a file after its whole text becomes `content`; its line ends and byte order mark
    stay."""
    old = Text.decode(data)
    return Text(adapted(content, old.body), old.bom).encode()


def insert_text(body: str, content: str, position: Position = "append", heading: str = "") -> str:
    """A note with text on lines of its own at a place, with a heading in its section (PERIODIC-18);
    a missing last newline stays missing (EDIT-02, EDIT-10). Raises: SectionNotFound."""
    if heading:
        from . import sections  # with the parser, which most edits do without

        found = sections.locate(body, heading).content
        return (
            prepend_to_span(body, found, content)
            if position == "prepend"
            else append_to_span(body, found, content)
        )
    return insert(body, text_start(body) if position == "prepend" else len(body), content)


def insert(body: str, at: int, content: str) -> str:
    """`content` on lines of its own at the offset `at`, which begins a line or is the end (EDIT-03,
    EDIT-10)."""
    content = adapted(content, body)
    newline = newline_of(body, content)
    before, after = body[:at], body[at:]
    if _joins(_end_line(content, newline), after):
        content = _end_line(content, newline) + newline
    if not before and not text_start(content) and text_start(_end_line(content, newline) + after):
        content = newline + content  # its first line, a rule, would begin properties
    ended = not before or before.endswith("\n")
    before = before if ended else before + newline
    if before and _joins(before, content):
        before += newline
    if not ended:
        return before + content.removesuffix(newline)
    return before + (_end_line(content, newline) if after or before else content) + after


def add_text(body: str, content: str, *, at_end: bool, inline: bool) -> str:
    """A note with text at its end or behind its properties, as the app's commands put it there
    (HEADLESS-18): on a line of its own unless `inline`."""
    content = adapted(content, body)
    newline = newline_of(body, content)
    at = len(body) if at_end else text_start(body)
    before = body[:at]
    if before and not before.endswith("\n") and not (at_end and inline):
        before += newline
    return f"{before}{content}{'' if at_end or inline else newline}{body[at:]}"


def _joins(above: str, below: str) -> bool:
    """Return whether the last block of `above`, which ends with a line end, and the text below
    would change each other, so that a blank line has to part them (EDIT-10). Paragraphs, lists,
    quotes or parts of a table may go together if no block id is lost; a text with an indent is
    meant to continue the block."""
    last_line = above[above.rfind("\n", 0, max(len(above) - 1, 0)) + 1 :]
    if not last_line.strip() or not below.strip() or below[0] in " \t\r\n":
        return False
    end = _BLOCK_END.search(below)
    below = below[: end.start() if end else len(below)]
    above = above[max(found.end() for found in _BLOCK_START.finditer(above)) :]
    first, own, whole = [
        blocks.read(text, Lines(text).starts, 0) for text in (above, below, above + below)
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


def _ids(found: blocks.Blocks) -> set[str]:
    return {block.id for block in found.block_ids}


def replace_text(body: str, find: str, content: str, *, every: bool) -> str:
    """`find` replaced by `content`, once or `every` time (EDIT-04). Raises: TextNotFound,
    TextNotUnique."""
    content = adapted(content, body)
    seen = searched(body, find)
    if find not in seen:
        find = adapted(find, body)
    first = seen.find(find)
    if first < 0:
        raise _nowhere(body, find)
    if not every and seen.find(find, first + 1) >= 0:
        raise _several(seen, find)
    check_size(len(body) + seen.count(find) * (len(content) - len(find)))
    if seen is body:
        return body.replace(find, content)
    spans = [Span(*found.span()) for found in re.finditer(re.escape(find), seen)]
    return apply(body, [Edit(span, keeping_bytes(span.slice(body), content)) for span in spans])


def searched(body: str, find: str) -> str:
    """Return the text in which `find` is looked for: a note with bytes that are not UTF-8 as reads
    show it, if `find` has such a character (FILE-17). It is as long as `body`."""
    return printable(body) if UNREADABLE in find else body


def keeping_bytes(old: str, content: str) -> str:
    """Return the new text for `old`, with the bytes of `old` that reads show as U+FFFD if it has as
    many of those."""
    halves = [char for char in old if printable(char) != char]
    if content.count(UNREADABLE) != len(halves):
        return content
    return "".join(
        chain.from_iterable(zip_longest(content.split(UNREADABLE), halves, fillvalue=""))
    )


def replace_span(body: str, span: Span, content: str) -> str:
    """The text of a section replaced; blank lines around it stay, so that its neighbours keep their
    distance."""
    content = adapted(content, body)
    inner = trimmed(body, span)
    if inner.start == inner.end:
        return _put_below_heading(body, span, content)
    return body[: inner.start] + content.removesuffix(newline_of(body, content)) + body[inner.end :]


def append_to_span(body: str, span: Span, content: str) -> str:
    """`content` on the lines after the last one of a section that is not blank."""
    inner = trimmed(body, span)
    if inner.start == inner.end:
        return _put_below_heading(body, span, content)
    return insert(body, body.find("\n", inner.end) + 1 or len(body), content)


def prepend_to_span(body: str, span: Span, content: str) -> str:
    """`content` on the lines before the first one of a section that is not blank; a blank line that
    parted that from the heading parts it from the new text too, unless both are items of a list."""
    inner = trimmed(body, span)
    if inner.start == inner.end:
        return _put_below_heading(body, span, content)
    if inner.start > span.start and not (_ITEM.match(content) and _ITEM.match(body, inner.start)):
        newline = newline_of(body, content)
        content = _end_line(content, newline) + newline
    return insert(body, inner.start, content)


def remove_part(body: str, span: Span) -> str:
    """The text without a section or block and the blank lines below it; at the end of the note,
    those above it."""
    after = body[span.end :].lstrip("\r\n")
    if after:
        return body[: span.start] + after
    before = body[: span.start].rstrip("\r\n")
    return before + (newline_of(body, "") if before and body.endswith("\n") else "")


def insert_part(body: str, at: int, content: str) -> str:
    """`content` behind a section or block that ends at `at`, with a blank line around it
    (EDIT-12)."""
    newline, before, after = newline_of(body, content), body[:at], body[at:]
    lead = "" if _ENDS_BLANK.search(before) else newline if before.endswith("\n") else newline * 2
    end = newline if after or body.endswith("\n") else ""
    if after and not _BLANK.match(after):
        end += newline
    return before + lead + adapted(content, body).strip("\r\n") + end + after


def _put_below_heading(body: str, span: Span, content: str) -> str:
    """`content` in a section without text, with a blank line below the heading if the note has such
    (EDIT-11)."""
    if not _parts_headings(body, span.start):
        return insert(body, span.start, content)
    blank = re.match(r"[ \t]*\r?\n", span.slice(body))
    if blank and (
        span.end == len(body) or span.slice(body).count("\n") > 1
    ):  # another one stays below the text
        return insert(body, span.start + blank.end(), content)
    return insert(body, span.start, newline_of(body, content) + content)


def _parts_headings(body: str, at: int) -> bool:
    """Whether there is a heading right above `at`, and below most of the others a blank line."""
    found = blocks.read(body, Lines(body).starts, Lines(body).line(text_start(body))).sections
    is_below, parted = False, 0
    for number, block in enumerate(found):
        if block.kind != "heading":
            continue
        below = body.find("\n", block.span.end) + 1 or len(body)
        if below == at:
            is_below = True
        elif below < len(body) and not body[below : body.find("\n", below) + 1].strip():
            parted += 1
        elif found[number + 1 : number + 2] and found[number + 1].kind != "heading":
            parted -= 1
    return is_below and parted > 0


def trimmed(body: str, span: Span) -> Span:
    """A section without the blank lines at its beginning and end; indentation of its first line
    stays."""
    text = span.slice(body)
    leading = re.match(r"(?:[ \t]*\r?\n)*", text)
    start = leading.end() if leading else 0
    end = len(text.rstrip())
    return (
        Span(span.start + start, span.start + end) if end > start else Span(span.start, span.start)
    )


def _end_line(content: str, newline: str) -> str:
    return content if content.endswith("\n") else content + newline


def shown_lines(lines: Sequence[int]) -> str:
    """Return the numbers of the first lines as a text."""
    return ", ".join(map(str, lines[:LINES_SHOWN])) + (
        " and more" if len(lines) > LINES_SHOWN else ""
    )


def _several(body: str, find: str) -> TextNotUnique:
    lines, found, at = Lines(body), list[int](), body.find(find)
    while at >= 0:  # an expression for it takes minutes for long texts that repeat themselves
        checkpoint()
        found.append(lines.line(at) + 1)
        at = body.find(find, at + 1)
    return TextNotUnique(
        f"The text to find stands {len(found)} times in the note (lines {shown_lines(found)}). "
        "Give more of the text around the one you mean, or set all to true to replace every one.",
        count=len(found),
        lines=found[:LINES_SHOWN],
    )


def _nowhere(body: str, find: str) -> TextNotFound:
    for explain in (_otherwise_written, _deviating, _nearest):
        if (found := explain(body, find)) is not None:
            line, message = found
            return TextNotFound(f"The text to find is not in the note. {message}", line=line)
    return TextNotFound(
        "The text to find is not in the note. Read the note and copy the text exactly as it stands."
    )


def _otherwise_written(body: str, find: str) -> tuple[int, str] | None:
    """Return the line that has the text with other quotes, dashes, spaces or forms of characters,
    and what they are."""
    if len(find) > LONGEST_COMPARED:
        return None
    units = _UNIT.findall(unicodedata.normalize("NFC", find.strip()))
    tokens = list(map(_token, units))
    is_quick = len(body) * len(tokens) <= MOST_STEPS
    place = re.search("".join(tokens), body) if tokens and is_quick else None
    if place is None:
        return None
    at, others = place.start(), []
    for token, unit in zip(tokens, units, strict=True):
        there = re.compile(token).match(body, at)
        at = there.end() if there else at
        if (
            there
            and there[0] != unit
            and (pair := f"{_spell(there[0])} for {_spell(unit)}") not in others
        ):
            others.append(pair)
    line = body.count("\n", 0, place.start()) + 1
    shown = place[0] if len(place[0]) <= TEXT_SHOWN else f"{place[0][:TEXT_SHOWN]}…"
    pairs = ", ".join(others[:5]) or "another normal form"
    return line, f"Line {line} has it with {pairs}. It must be given as it stands there: {shown}"


def _token(unit: str) -> str:
    """Return the expression for what a person or a model may have written as `unit`."""
    for alike in _ALIKE:
        if re.fullmatch(alike, unit):
            return alike
    forms = {unit, unicodedata.normalize("NFD", unit), unicodedata.normalize("NFKC", unit)}
    wide = chr(ord(unit) + 0xFEE0) if "!" <= unit <= "~" else unit
    return f"(?:{'|'.join(map(re.escape, sorted({*forms, wide})))})"


def _spell(text: str) -> str:
    """Return a text for people: characters that are not seen, or not told apart, by their
    numbers."""
    codes = " ".join(f"U+{ord(char):04X}" for char in text[:3])
    return repr(text) if text.isascii() else codes if text.isspace() else f"{text} ({codes})"


def _deviating(body: str, find: str) -> tuple[int, str] | None:
    """Return where a text of several lines, whose first line is in the note, goes on otherwise."""
    first, newline, _ = find.partition("\n")
    if not newline or not first.strip():
        return None
    starts = [
        found.start()
        for found in islice(re.finditer(re.escape(first + newline), body), PLACES_COMPARED)
    ]
    if not starts:
        return None
    wanted = _strip_line_ends(find)
    begins = {
        at: commonprefix((body[at : at + len(find)], find))  # noqa: RUF071 - of characters
        for at in starts
    }
    start = max(starts, key=lambda at: len(begins[at]))
    present = _strip_line_ends(body[start : start + 2 * len(find)])
    same = next(
        (i for i, line in enumerate(wanted) if present[i : i + 1] != [line]), len(wanted) - 1
    )
    line = body.count("\n", 0, start) + 1 + same
    there = repr(present[same][:TEXT_SHOWN]) if same < len(present) else "the end of the note"
    expected = repr(wanted[same][:TEXT_SHOWN])
    return line, f"It begins at line {line - same}, but line {line} is {there}, not {expected}."


def _strip_line_ends(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in split_lines(text)]


def _nearest(body: str, find: str) -> tuple[int, str] | None:
    wanted = next((line.strip() for line in split_lines(find) if line.strip()), "")
    lines = reversed(list(enumerate(split_lines(body), 1)))
    present = {line.strip(): number for number, line in lines if line.strip()}
    near = nearest(wanted, present, 1)
    if not near:
        return None
    line = present[near[0]]
    return line, (
        f"The nearest is line {line}: {near[0][:TEXT_SHOWN]!r}. It must match exactly, spaces and "
        "line breaks too."
    )
