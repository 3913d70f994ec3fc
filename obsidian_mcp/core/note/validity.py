"""What a note, or one of its blocks, says of its own validity (MEM-01 to MEM-06).

Only what is written marks something as outdated: a property of the note, or an inline field of a
list item, paragraph or section. Age and likeness never do, and a note without dates is current.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from obsidian_mcp.core.calendar.iso import PERIOD
from obsidian_mcp.errors import InvalidArguments

_LINK = re.compile(r"\[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]|\[[^\[\]\n]*\]\(<?([^()<>\n]+?)>?\)")
_DATE = re.compile(rf"\s*(?:\[\[)?({PERIOD})(?![0-9])")
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_ITEM = re.compile(r"([ \t>]*)(?:[-*+]|[0-9]+[.)])[ \t]")
_HEADING = re.compile(r"(#{1,6})[ \t]")
_is_field = re.compile(r"[ \t>]*[\w -]+::").match
_is_id = re.compile(r"[ \t>]*\^[A-Za-z0-9-]+[ \t]*").fullmatch
_NOTHING: tuple[object, ...] = (None, False, "", [])


class ValidityNames(NamedTuple):
    """The names of properties and inline fields that say whether something still holds."""

    superseded_by: tuple[str, ...] = ("superseded_by",)
    supersedes: tuple[str, ...] = ("supersedes",)
    valid_until: tuple[str, ...] = ("valid_until", "expires")
    """The last day on which it holds."""
    stale_after: tuple[str, ...] = ("stale_after",)
    """The first day on which it does not, as the Open Knowledge Format has it."""
    status: tuple[str, ...] = ("status",)
    outdated: tuple[str, ...] = ("outdated", "superseded", "deprecated", "archived")
    """Values of `status`."""


DEFAULT_NAMES = ValidityNames()


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """Why something is outdated."""

    reason: str
    """In words: `superseded`, `valid until 2026-05-01`, `status: deprecated`."""
    successors: tuple[str, ...] = ()
    """Paths of links to what holds instead, as they are written, with their subpath."""

    def describe(self) -> str:
        """Return the mark as answers have it, such as `superseded by [[X]]`."""
        if not self.successors:
            return self.reason
        return f"{self.reason} by {', '.join(f'[[{link}]]' for link in self.successors)}"


@dataclass(frozen=True, slots=True, order=True)
class MarkedBlock:
    """A part of a text that is outdated; `start` and `end` are code points."""

    start: int
    end: int
    mark: Mark


def spellings_of_key(name: str) -> tuple[str, ...]:
    """Return the keys under which the index may have a name: `valid until` is `valid_until`."""
    key = normalise_key(name)
    return tuple(dict.fromkeys(key.replace("_", mark) for mark in ("_", "-", " ", "")))


@lru_cache(maxsize=256)
def normalise_key(name: str) -> str:
    """Return a name as names of this kind compare."""
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def link_targets(value: object) -> tuple[str, ...]:
    """Return the paths of the links in the value of a property; a text without one is a name."""
    if isinstance(value, list):
        return tuple(dict.fromkeys(path for item in value for path in link_targets(item)))
    if not isinstance(value, str) or not value.strip():
        return ()
    paths = [wiki.strip() or _decode(markdown) for wiki, markdown in _LINK.findall(value)]
    return tuple(dict.fromkeys(paths)) or (value.strip(),)


def _decode(path: str) -> str:
    """Return the path of a Markdown link without its escapes."""
    if "%" not in path:
        return path.strip()
    from urllib.parse import unquote  # takes 5 ms

    return unquote(path).strip()


def read_mark(key: str, value: object, names: ValidityNames, today: str) -> Mark | None:
    """Return what one property or field marks as outdated on a day (`YYYY-MM-DD`), or None."""
    if value in _NOTHING:
        return None
    roles = _roles(names)
    role = roles.get(normalise_key(key)) or roles.get(normalise_key(key).replace("_", ""))
    if role == "superseded_by":
        return Mark("superseded", () if value is True else link_targets(value))
    if role in ("valid_until", "stale_after"):
        date = _DATE.match(str(value))  # a year alone is a number
        if date is None:
            return None
        now = today[: len(date[1])]
        if role == "valid_until":
            return Mark(f"valid until {date[1]}") if now > date[1] else None
        return Mark(f"stale since {date[1]}") if now >= date[1] else None
    if role == "status":
        for status in value if isinstance(value, list) else [value]:
            if isinstance(status, str) and status.strip().lower() in names.outdated:
                return Mark(f"status: {status.strip()}")
    return None


def join_marks(marks: Iterable[Mark]) -> Mark | None:
    """Return one mark for several: with all successors where there are some, else the first."""
    listed = list(marks)
    superseded = [mark for mark in listed if mark.successors]
    if not superseded:
        return listed[0] if listed else None
    successors = dict.fromkeys(link for mark in superseded for link in mark.successors)
    return Mark(superseded[0].reason, tuple(successors))


def find_marked_blocks(
    text: str,
    names: ValidityNames,
    today: str,
    marked_ids: Mapping[str, Mark] | None = None,
) -> list[MarkedBlock]:
    """Return the outdated parts of a note's text, by place.

    `marked_ids` are the blocks that another note says it supersedes. A field on a line of its own,
    in no list and without text around it, speaks of the whole note.
    """
    blocks: list[MarkedBlock] = []
    if "::" in text:
        for field in _fields_expression(names).finditer(text):
            value = field["bracketed"] if field["whole"] is None else field["whole"]
            mark = read_mark(field["name"] or field["line_name"], value.strip(), names, today)
            if mark is not None and not _is_code(text, field.start()):
                blocks.append(MarkedBlock(*find_block(text, field.start()), mark))
    for block_id, mark in (marked_ids or {}).items():
        if place := _find_id(text, block_id):
            start, end = find_block(text, place.end() - 1)
            if not any((block.start, block.end) == (start, end) for block in blocks):
                blocks.append(MarkedBlock(start, end, mark))
    return sorted(blocks)


def find_mark_of_id(text: str, blocks: Iterable[MarkedBlock], block_id: str) -> Mark | None:
    """Return the mark of the block with an id, of the outdated ones of a text; None where it is
    current, or there is none."""
    place = _find_id(text, block_id)
    if place is None:
        return None
    at = place.end() - 1
    return join_marks(block.mark for block in blocks if block.start <= at < block.end)


def _find_id(text: str, block_id: str) -> re.Match[str] | None:
    """Return where an id stands at the end of a line."""
    return re.search(rf"(?:^|\s)\^{re.escape(block_id)}[ \t]*$", text, re.MULTILINE)


def without_blocks(text: str, blocks: Iterable[MarkedBlock]) -> str:
    """Return what of a text is current."""
    parts, start = [], 0
    for block in blocks:
        parts.append(text[start : block.start] if block.start > start else "")
        start = max(start, block.end)
    return "".join([*parts, text[start:]])


def parse_names(settings: str) -> ValidityNames:
    """Return the names of a setting such as `superseded_by=ersetzt_durch|veraltet_durch,
    outdated=alt`; what it does not name is as ever, and `expires=` empties a list.

    Raises: InvalidArguments for a part that there is not.
    """
    chosen: dict[str, tuple[str, ...]] = {}
    for part in filter(str.strip, settings.split(",")):
        role, equals, listed = part.partition("=")
        role = normalise_key(role)
        if not equals or role not in ValidityNames._fields:
            raise InvalidArguments(
                f"OBSIDIAN_MCP_VALIDITY has {part.strip()!r}; write PART=NAME|NAME, with one of "
                f"{', '.join(ValidityNames._fields)} as PART."
            )
        chosen[role] = tuple(name.strip().lower() for name in listed.split("|") if name.strip())
    return DEFAULT_NAMES._replace(**chosen)


@lru_cache(maxsize=8)
def _roles(names: ValidityNames) -> Mapping[str, str]:
    """Return what a key says, by its normal spelling and without separators."""
    roles: dict[str, str] = {}
    for role in ("superseded_by", "supersedes", "valid_until", "stale_after", "status"):
        for name in getattr(names, role):
            roles[normalise_key(name)] = roles[normalise_key(name).replace("_", "")] = role
    return roles


@lru_cache(maxsize=8)
def _fields_expression(names: ValidityNames) -> re.Pattern[str]:
    """Return what finds inline fields with these names, in brackets or as whole lines."""
    keys = (*names.superseded_by, *names.valid_until, *names.stale_after, *names.status)
    spelled = sorted({key for name in keys for key in spellings_of_key(name)}, key=len)
    one_of = "|".join(map(re.escape, reversed(spelled))) or r"(?!)"
    return re.compile(
        rf"[\[(][ \t]*(?P<name>{one_of})[ \t]*::"
        r"(?P<bracketed>(?:\[\[[^\[\]\n]*\]\]|\[[^\[\]\n]*\]\([^()\n]*\)|[^\[\]()\n])*)[\])]"
        rf"|^[ \t>]*(?:(?:[-*+]|[0-9]+[.)])[ \t]+)?(?:\[.\][ \t]+)?(?P<line_name>{one_of})[ \t]*::"
        r"(?P<whole>[^\n]*)",
        re.IGNORECASE | re.MULTILINE,
    )


def _is_code(text: str, place: int) -> bool:
    """Return whether a place is within a fence or within backticks."""
    line = text.rfind("\n", 0, place) + 1
    if text.count("`", line, place) % 2:
        return True
    return bool(sum(1 for _ in _FENCE.finditer(text, 0, line)) % 2)


def find_block(text: str, place: int) -> tuple[int, int]:
    """Return the list item with what is below it, the section of a heading, or the paragraph in
    which a place is; for a field alone in its paragraph, the whole text."""
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    first = bisect_right(starts, place) - 1
    if _is_id(lines[first]):  # below its block, on a line of its own
        first -= 1
        while first > 0 and not lines[first].strip():
            first -= 1
    while first > 0 and not (_begins_block(lines[first]) or _ends_paragraph(lines[first - 1])):
        first -= 1
    if heading := _HEADING.match(lines[first]):
        last = _last_of_section(lines, first, len(heading[1]))
    elif _ITEM.match(lines[first]):
        last = _last_of_item(lines, first)
    else:
        last = first
        while (
            last + 1 < len(lines) and lines[last + 1].strip() and not _begins_block(lines[last + 1])
        ):
            last += 1
        if all(_is_field(line) for line in lines[first : last + 1]):
            return 0, len(text)
    return starts[first], starts[last] + len(lines[last])


def _begins_block(line: str) -> bool:
    return bool(_ITEM.match(line) or _HEADING.match(line))


def _ends_paragraph(line: str) -> bool:
    return not line.strip() or line.strip() == "---" or bool(_HEADING.match(line))


def _last_of_item(lines: Sequence[str], first: int) -> int:
    """Return the last line of a list item with its children and continued lines."""
    indent, last = _indent(lines[first]), first
    for number in range(first + 1, len(lines)):
        line = lines[number]
        if not line.strip():
            continue
        is_inside = _indent(line) > indent
        if not is_inside and (_begins_block(line) or not lines[number - 1].strip()):
            break
        last = number
    return last


def _last_of_section(lines: Sequence[str], first: int, level: int) -> int:
    for number in range(first + 1, len(lines)):
        heading = _HEADING.match(lines[number])
        if heading and len(heading[1]) <= level:
            return number - 1
    return len(lines) - 1


def _indent(line: str) -> int:
    spread = line.expandtabs(4)
    return len(spread) - len(spread.lstrip(" >"))


def find_line_of_id(text: str, block_id: str) -> tuple[int, int] | None:
    """Return where the last line of the block with an id begins and where a field may stand in it:
    before the id, or at its end. None where no paragraph or list item has the id."""
    for place in re.finditer(rf"(?:^|\s)\^{re.escape(block_id)}[ \t]*\r?$", text, re.MULTILINE):
        if _is_code(text, place.end()):
            continue
        start = text.rfind("\n", 0, place.end()) + 1
        line = text[start : place.end()]
        if not _is_id(line.strip()):
            return start, start + len(line[: line.rindex("^")].rstrip())
        end = len(text[:start].rstrip())
        start = text.rfind("\n", 0, end) + 1
        if end and not _FENCE.match(text, start) and "|" not in text[start:end]:
            return start, end
    return None
