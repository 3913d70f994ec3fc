"""Explain why a text to find is not in a note: the text there that is nearly the same (EDIT-04)."""

from __future__ import annotations

import json
import re
import unicodedata
from itertools import islice

from obsidian_mcp.core.text.call import check_each, checkpoint
from obsidian_mcp.core.text.fit import cut_text, name_first
from obsidian_mcp.core.text.nearness import nearest_texts
from obsidian_mcp.core.text.text import common_start, split_lines
from obsidian_mcp.core.text.typed_text import APOSTROPHES, HYPHENS, INVISIBLE, QUOTES
from obsidian_mcp.errors import TextNotFound

TEXT_SHOWN = 200
"""Code points of a note's text in a message."""
PAIRS_SHOWN = 5
"""Different characters in a message."""
_TO_FULL_WIDTH = 0xFEE0
"""From a character of ASCII to its full-width form, such as `ａ`."""
PLACES_COMPARED = 50
"""Places at which the first line of a text is compared further."""
LONGEST_COMPARED = 2_000
"""Code points of the longest text that is looked for in other spellings."""
MOST_STEPS = 50_000_000
"""Code points of such a text, times those of the note.

They take a second at most, in which no other call is answered.
"""
_UNSEEN = re.compile(f"[{INVISIBLE}]+")
_ODD = re.compile(rf"[{INVISIBLE}]|[^\S \n]|[\u0300-\u036f]")
"""A character that nobody sees in a message, or takes for another one."""
_UNIT = re.compile(r"\.\.\.|-{2,9}|\s{1,99}|(?s:.)")
_ALIKE = (
    f"[{APOSTROPHES}]",
    f"[{QUOTES}]",
    f"(?>-{{2,9}}|[{HYPHENS}])",
    r"(?:\.\.\.|…)",
    r"\s{1,99}+",
)
"""Characters that are typed for each other, as expressions.

Each matches short texts, and in one way only, so that a search cannot run away.
"""


def describe_absence(body: str, find: str) -> TextNotFound:
    """Return the error for a text that is not in a note, with what is nearest to it."""
    for explain in (find_other_spelling, _find_deviation, _nearest_line):
        explanation = explain(body, find)
        if explanation is not None:
            line, message = explanation
            return TextNotFound(f"The text to find is not in the note. {message}", line=line)
    return TextNotFound(
        "The text to find is not in the note. Read the note and copy the text exactly as it stands."
    )


def find_other_spelling(body: str, find: str) -> tuple[int, str] | None:
    """Return the line with the text in other quotes, dashes, spaces or forms, and what differs."""
    if len(find) > LONGEST_COMPARED:
        return None
    units = _UNIT.findall(unicodedata.normalize("NFC", _UNSEEN.sub("", find.strip())))
    tokens = list(map(_token, units))
    is_quick = len(body) * len(tokens) <= MOST_STEPS
    has_unseen = _UNSEEN.search(body) is not None
    between = f"[{INVISIBLE}]{{0,9}}+" if has_unseen else ""
    place = re.search(between.join(tokens), body) if tokens and is_quick else None
    if place is None:
        return None
    at = place.start()
    pairs: dict[str, None] = {}
    for token, unit in zip(tokens, units, strict=True):
        unseen = _UNSEEN.match(body, at)
        if unseen is not None and at > place.start():
            pairs[f"{_spell(unseen[0])} between letters"] = None
            at = unseen.end()
        present = re.compile(token).match(body, at)
        if present is None:
            continue
        at = present.end()
        if present[0] != unit:
            pairs[f"{_spell(present[0])} for {_spell(unit)}"] = None
    line = body.count("\n", 0, place.start()) + 1
    differences = name_first(list(pairs), PAIRS_SHOWN) or "another normal form"
    text = cut_text(place[0], TEXT_SHOWN)
    if len(place[0]) <= TEXT_SHOWN and _ODD.search(place[0]):
        text = f"{text} (in JSON {json.dumps(place[0])})"
    return (
        line,
        f"Line {line} has it with {differences}. It must be given as it stands there: {text}",
    )


def _token(unit: str) -> str:
    """Return the expression for the texts that a person or a model may have written as `unit`."""
    for alike in _ALIKE:
        if re.fullmatch(alike, unit):
            return alike
    forms = {unit, unicodedata.normalize("NFD", unit), unicodedata.normalize("NFKC", unit)}
    wide = chr(ord(unit) + _TO_FULL_WIDTH) if "!" <= unit <= "~" else unit
    return f"(?:{'|'.join(map(re.escape, sorted({*forms, wide})))})"


def _spell(text: str) -> str:
    """Return a text for people: characters that are invisible, or look like others, by their
    numbers."""
    codes = " ".join(f"U+{ord(char):04X}" for char in text[:3])
    if text.isascii():
        return repr(text)
    return codes if text.isspace() or _UNSEEN.fullmatch(text) else f"{text} ({codes})"


def _find_deviation(body: str, find: str) -> tuple[int, str] | None:
    """Return where a text of several lines, whose first line is in the note, goes on otherwise."""
    first, newline, _ = find.partition("\n")
    if not newline or not first.strip():
        return None
    places = islice(re.finditer(re.escape(first + newline), body), PLACES_COMPARED)
    starts = [place.start() for place in places]
    if not starts:
        return None
    lines = _strip_line_ends(find)
    start = max(starts, key=lambda at: common_start(body[at : at + len(find)], find))
    present = _strip_line_ends(body[start : start + 2 * len(find)])
    same = next((i for i, line in enumerate(lines) if present[i : i + 1] != [line]), len(lines) - 1)
    number = body.count("\n", 0, start) + 1 + same
    actual = _quote(present[same]) if same < len(present) else "the end of the note"
    expected = _quote(lines[same])
    return (
        number,
        f"It begins at line {number - same}, but line {number} is {actual}, not {expected}.",
    )


def _quote(line: str) -> str:
    return repr(cut_text(line, TEXT_SHOWN))


def _strip_line_ends(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in split_lines(text)]


def _nearest_line(body: str, find: str) -> tuple[int, str] | None:
    first_line = next((line.strip() for line in split_lines(find) if line.strip()), "")
    checkpoint()  # splitting a text of many megabytes cannot be stopped
    lines = body.split("\n")
    numbered = check_each(zip(range(len(lines), 0, -1), reversed(lines), strict=True))
    present = {line.strip(): number for number, line in numbered if line.strip()}
    near = nearest_texts(first_line, present, 1)
    if not near:
        return None
    line = present[near[0]]
    return line, (
        f"The nearest is line {line}: {_quote(near[0])}. It must match exactly, spaces and "
        "line breaks too."
    )
