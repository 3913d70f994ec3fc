"""Footnotes of a part that goes into another note, and of text that joins a note (COMPOSE-6)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from obsidian_mcp.core.text.text import Span

from .edits import Edit, apply
from .elements import NamedPart
from .parser import Note, parse

_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)+")
_LINE_END = re.compile(r"\r?\n")


@dataclass(frozen=True, slots=True)
class Division:
    """The spans of the definitions in a note when a part of it goes, by what becomes of them."""

    carried: tuple[Span, ...] = ()
    """Definitions outside the part to which text in the part refers: they go along."""
    removed: tuple[Span, ...] = ()
    """Those of `carried` to which no text that stays refers."""
    kept: tuple[Span, ...] = ()
    """Definitions in the part to which text that stays refers: they stay, too."""
    left: tuple[Span, ...] = ()
    """Those of `kept` to which no text in the part refers."""


def divide(parsed: Note, part: Span) -> Division:
    """Return how the definitions of a note go to where they are referred to, to both notes if need
    be.

    A part of definitions alone goes as it is, and so do definitions in quotes and lists.
    """
    body = parsed.body
    part = Span(part.start, part.end + len(body[part.end :]) - len(body[part.end :].lstrip(" \t")))
    notes = [
        note
        for note in parsed.footnotes
        if note.span.start == 0 or body[note.span.start - 1] == "\n"
    ]
    inside = [note for note in notes if _holds(part, note.span)]
    outside = [note for note in notes if note.span.end <= part.start or part.end <= note.span.start]
    if not cut(body, part, (Edit(note.span, "") for note in inside)).strip():
        return Division()

    starts = [note.span.start for note in notes]
    in_notes: list[list[str]] = [[] for _ in notes]
    going: list[str] = []
    staying: list[str] = []
    for ref in parsed.footnote_refs:
        at = bisect_right(starts, ref.span.start) - 1
        if at >= 0 and _holds(notes[at].span, ref.span):
            in_notes[at].append(ref.id)
        else:
            (going if _holds(part, ref.span) else staying).append(ref.id)
    needs: dict[str, list[str]] = {}
    for note, ids in zip(notes, in_notes, strict=True):
        needs.setdefault(note.id, []).extend(ids)
    used = _reach([*going, *staying], needs)
    for note, ids in zip(notes, in_notes, strict=True):
        if note.id not in used:
            (going if _holds(part, note.span) else staying).extend(ids)
    used_in_part, used_outside = _reach(going, needs), _reach(staying, needs)
    return Division(
        carried=tuple(note.span for note in outside if note.id in used_in_part),
        removed=tuple(
            note.span for note in outside if note.id in used_in_part and note.id not in used_outside
        ),
        kept=tuple(note.span for note in inside if note.id in used_outside),
        left=tuple(
            note.span for note in inside if note.id in used_outside and note.id not in used_in_part
        ),
    )


def _reach(pending: list[str], needs: Mapping[str, list[str]]) -> set[str]:
    """Return the ids to which text refers, by itself and by the definitions to which it refers."""
    ids: set[str] = set()
    pending = list(pending)
    while pending:
        if (id_ := pending.pop()) not in ids:
            ids.add(id_)
            pending += needs.get(id_, ())
    return ids


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def cut(body: str, part: Span, changes: Iterable[Edit]) -> str:
    """Return a part of a note with those of some edits that are in it."""
    return next(cut_all(body, [part], changes))


def cut_all(body: str, parts: Iterable[Span], changes: Iterable[Edit]) -> Iterator[str]:
    """Yield parts of a note, each with those of some edits that are in it."""
    edits = sorted(changes, key=lambda edit: edit.span)
    starts = [edit.span.start for edit in edits]
    for part in parts:
        near = edits[bisect_left(starts, part.start) : bisect_right(starts, part.end)]
        shifted = (
            Edit(Span(edit.span.start - part.start, edit.span.end - part.start), edit.text)
            for edit in near
            if _holds(part, edit.span)
        )
        yield apply(part.slice(body), shifted)


def removals(body: str, blocks: Iterable[Span]) -> list[Edit]:
    """Return the edits that take whole blocks out of a note, so that no blank lines stay in
    their place."""
    runs: list[Span] = []
    for block in sorted(blocks):
        if runs and not body[runs[-1].end : block.start].strip():
            runs[-1] = Span(runs[-1].start, block.end)
        else:
            runs.append(block)
    text_end = len(body.rstrip())
    return [Edit(_with_blank_lines(body, block, text_end), "") for block in runs]


def _with_blank_lines(body: str, block: Span, text_end: int) -> Span:
    """Return a block with the blank lines before or after it. `text_end`: where the last text of
    the note ends."""
    before = block.start
    while before and body[before - 1] in " \t\r\n":
        before -= 1
    line_end = _LINE_END.search(body, before)
    start = min(block.start, before if line_end is None else line_end.end())
    if block.end >= text_end:
        return Span(start, len(body))
    end = (_BLANK_LINES if start < block.start or not before else _LINE_END).match(body, block.end)
    return Span(block.start, block.end if end is None else end.end())


def rename_clashing_ids(text: str, joined_text: str) -> str:
    """Return a text whose footnotes have no id of the text `joined_text`, which it is to join."""
    if "[^" not in text or "[^" not in joined_text:
        return text
    parsed = parse(text)
    taken = {note.id for note in _all_footnotes(parse(joined_text))}
    own = {note.id for note in _all_footnotes(parsed)}
    numbers = (name for name in map(str, count(1)) if name not in taken and name not in own)
    new: dict[str, str] = {}
    for id_ in dict.fromkeys(note.id for note in parsed.footnotes if note.id in taken):
        names = numbers if id_.isdecimal() else (f"{id_}-{n}" for n in count(2))
        new[id_] = next(name for name in names if name not in taken and name not in own)
        own.add(new[id_])
    starts = {note.span.start: note.id for note in _all_footnotes(parsed) if note.id in new}
    edits = [Edit(Span(at, at + len(f"[^{id_}]")), f"[^{new[id_]}]") for at, id_ in starts.items()]
    return apply(text, edits)


def _all_footnotes(note: Note) -> list[NamedPart]:
    return [*note.footnotes, *note.footnote_refs]
