"""Properties inside braces, as JSON has them: the text that an edit of one gives (specs/frontmatter.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from obsidian_mcp.core.text.text import Span

from . import yaml_style
from .yaml12 import Entry, Value

_SEPARATOR = re.compile(r"\s*:\s*\Z")
_BLANKS = re.compile(r"[ \t]*")
_COMMA_OR_COMMENT = re.compile(r",|(?<=\s)#[^\n]*|^#[^\n]*", re.MULTILINE)


def with_new(body: str, entries: Sequence[Entry], flow: Span, key: str, value: Value, newline: str) -> str:
    """Return the body with a property added last, on a separate line if the present last property has one."""
    as_json = _is_json(body, entries)
    written = yaml_style.key(key, in_flow=True, as_json=as_json) + ": " + yaml_style.flow(value, as_json=as_json)
    if not entries:
        return body[: flow.start + 1] + written + body[flow.start + 1 :]
    end = entries[-1].value_span.end
    line = body.rfind("\n", 0, entries[-1].key_span.start) + 1
    indent = body[line : entries[-1].key_span.start]
    if line <= flow.start or indent.strip():
        return body[:end] + ", " + written + body[end:]
    line_end = body.index("\n", end) + 1
    if line_end > flow.end:
        return body[:end] + "," + newline + indent + written + body[end:]
    comma = "," if _comma(body, end, line_end) is None else ""
    trailing = "" if comma else ","
    return body[:end] + comma + body[end:line_end] + indent + written + trailing + newline + body[line_end:]


def with_value(body: str, entries: Sequence[Entry], entry: Entry, value: Value) -> str:
    """Return the body with a new value for a property."""
    written = yaml_style.flow(value, as_json=_is_json(body, entries))
    between = body[entry.key_span.end : entry.value_span.start]
    separator = between if _SEPARATOR.match(between) and entry.value_span.start < entry.value_span.end else ": "
    return body[: entry.key_span.end] + separator + written + body[entry.value_span.end :]


def without(body: str, entries: Sequence[Entry], flow: Span, entry: Entry) -> str:
    """Return the body without a property and one comma; comments stay, and a line left empty is removed."""
    at = next(number for number, other in enumerate(entries) if other is entry)
    start, end = entry.key_span.start, entry.value_span.end
    before = None if at == 0 else _comma(body, entries[at - 1].value_span.end, start)
    after = _comma(body, end, entries[at + 1].key_span.start if at + 1 < len(entries) else flow.end - 1)
    if after is not None and not body[end:after].strip():
        end = after + 1
        before = None
    line, line_end = body.rfind("\n", 0, start) + 1, body.find("\n", end)
    if line > flow.start and line_end < flow.end and not (body[line:start] + body[end:line_end]).strip():
        start, end = line, line_end + 1
    elif before is not None and not body[before + 1 : start].strip():
        start, before = before, None
    else:
        blanks = _BLANKS.match(body, end)
        end = blanks.end() if blanks and body[blanks.end()] != "#" else end
    changed = body[:start] + body[end:]
    return changed if before is None else changed[:before] + changed[before + 1 :]


def _comma(body: str, start: int, end: int) -> int | None:
    return next((m.start() for m in _COMMA_OR_COMMENT.finditer(body, start, end) if m.group() == ","), None)


def _is_json(body: str, entries: Sequence[Entry]) -> bool:
    return all(body[entry.key_span.start] == '"' for entry in entries)
