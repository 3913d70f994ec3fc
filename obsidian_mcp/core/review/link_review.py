"""Which links of a note lead to another place, although they read the same (UI-32)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from obsidian_mcp.core.note.links import Link
from obsidian_mcp.core.note.parser import Note
from obsidian_mcp.core.text.line_matcher import LineMatcher


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link whose text is the same in both texts, and whose target is not."""

    text: str
    before: str
    after: str


def compare_links(before: Note, after: Note) -> list[LinkChange]:
    """Return the links that read the same and lead to another place, in order, each once.

    In a note as the app shows it, nobody would see them.
    """
    old, new = _read_links(before), _read_links(after)
    runs = LineMatcher([text for text, _ in old], [text for text, _ in new]).get_opcodes()
    pairs = chain.from_iterable(
        zip(old[start:end], new[new_start:new_end], strict=True)
        for kind, start, end, new_start, new_end in runs
        if kind == "equal"
    )
    changes = (
        LinkChange(text, target, new_target)
        for (text, target), (_, new_target) in pairs
        if target != new_target
    )
    return list(dict.fromkeys(changes))


def _read_links(note: Note) -> list[tuple[str, str]]:
    """Return what each link of a note reads, and its target with the part of it."""
    return [(_shown_text(link), link.path + link.subpath) for link in note.links]


def _shown_text(link: Link) -> str:
    return link.path + link.subpath if link.display is None else link.display
