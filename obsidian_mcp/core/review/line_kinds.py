"""Of what kind each line of a note is, as far as its changes are shown in different ways."""

from __future__ import annotations

from typing import Final, Literal

from obsidian_mcp.core.note.elements import SectionKind
from obsidian_mcp.core.note.parser import Note

LineKind = Literal["text", "property", "table", "code"]

_KINDS: Final[dict[SectionKind, LineKind]] = {
    "yaml": "property",
    "table": "table",
    "code": "code",
    "math": "code",
    "html": "code",
    "comment": "code",
}


def kinds_of_lines(note: Note) -> list[LineKind]:
    """Return the kind of every line of a note, as `split_lines` counts them, and of one more."""
    kinds: list[LineKind] = ["text"] * len(note.lines.starts)
    for section in note.sections:
        kind = _KINDS.get(section.kind)
        if kind is not None:
            first = note.lines.line(section.span.start)
            last = note.lines.line(max(section.span.end - 1, section.span.start))
            kinds[first : last + 1] = [kind] * (last + 1 - first)
    return kinds
