"""Set and remove single fields in a task's line; no other character changes (TASK-60 to TASK-66)."""

from __future__ import annotations

from collections.abc import Mapping

from obsidian_mcp.core.expressions.javascript import SPACES

from .fields import ORDER, RANK, Field, Notation, leftmost, write_field, write_value
from .settings import ReadNotation
from .task import Line, read_line


def write_line(
    description: str,
    symbol: str,
    values: Mapping[str, str],
    notation: Notation,
    *,
    indentation: str = "",
    marker: str = "-",
    block_id: str | None = None,
    hard_break: str = "",
) -> str:
    """Return a task's line in the plugin's canonical form; `values` are the fields as written, by name (TASK-26)."""
    block = f" ^{block_id}" if block_id else ""
    fields = "".join(write_field(name, values[name], notation) for name in ORDER if name in values)
    return f"{indentation}{marker} [{symbol}] {description}{fields}{block}{hard_break}"


def notation_of(line: Line, notation: ReadNotation) -> Notation:
    """Return the notation for new fields of a line: where both are read, that of its fields, else emoji (TASK-03)."""
    if notation != "both":
        return notation
    written = {field.notation for field in line.fields if field.name != "tag"}
    return "dataview" if written == {"dataview"} else "emoji"


def set_symbol(line: Line, symbol: str) -> str:
    """Return the line with another character between the brackets."""
    return line.text[: line.symbol_at] + symbol + line.text[line.symbol_at + 1 :]


def set_fields(text: str, values: Mapping[str, str | None], notation: ReadNotation) -> str:
    """Return a task's line with each of the fields set, or removed where the value is None (TASK-60 to TASK-63)."""
    for name in ORDER:
        if name in values:
            text = _set_field(_line(text, notation), name, values[name], notation)
    return text


def set_description(text: str, description: str, global_filter: str, notation: ReadNotation) -> str:
    """Replace the description with all tags in it; the fields stay, but for those that the new one brings (TASK-64)."""
    brought = _line(f"- [ ] {description}", notation).fields
    text = set_fields(text, dict.fromkeys(field.name for field in brought if field.name != "tag"), notation)
    line = _line(text, notation)
    for tag in line.fields:  # from right to left, so that places to the left stay true
        if tag.name == "tag":
            text = _without(text, tag, line.body_start)
    rest = text[line.description_end :]
    gap = "" if rest[:1] in ("", *SPACES) else " "
    return text[: line.body_start] + with_global_filter(description, global_filter) + gap + rest


def with_global_filter(description: str, global_filter: str) -> str:
    """Return a description that contains the global filter."""
    return description if global_filter in description else f"{global_filter} {description}"


def _line(text: str, notation: ReadNotation) -> Line:
    line = read_line(text, notation)
    if line is None:
        raise AssertionError("a task stays a task when a field of it changes")  # pragma: no cover
    return line


def _set_field(line: Line, name: str, value: str | None, notation: ReadNotation) -> str:
    text = line.text
    if value is None:
        for field in line.fields:
            if field.name == name:
                text = _without(text, field, line.body_start)
        return text
    counting = next((field for field in leftmost(line.fields) if field.name == name), None)
    if counting is not None:
        span = counting.value_span
        return text[: span.start] + write_value(name, value, counting.notation) + text[span.end :]
    at = _insertion_point(line, name)
    new = write_field(name, value, notation_of(line, notation))
    if at == line.body_start and line.fields:  # there is no description whose end the new field could follow
        new = new.lstrip() + new[: len(new) - len(new.lstrip())]
    return text[:at] + new + text[at:]


def _insertion_point(line: Line, name: str) -> int:
    fields = [field for field in reversed(line.fields) if field.name != "tag"]
    lower = [field.span.end for field in fields if RANK[field.name] < RANK[name]]
    if lower:
        return max(lower)
    return _spaces_before(line.text, fields[0].span.start, line.body_start) if fields else line.body_end


def _without(text: str, field: Field, body_start: int) -> str:
    return text[: _spaces_before(text, field.span.start, body_start)] + text[field.span.end :]


def _spaces_before(text: str, at: int, first: int) -> int:
    while at > first and text[at - 1] in SPACES:
        at -= 1
    return at
