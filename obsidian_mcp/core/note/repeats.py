"""What a text would only repeat in another note (COMPOSE-8)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from obsidian_mcp.core.text.text import Span

from .edits import Edit, apply
from .parser import Note, parse

_KINDS = frozenset(("paragraph", "code", "callout", "blockquote", "table", "math"))
_ITEM = re.compile(r"^\S.*\n?(?:[ \t]+\S.*\n?|[ \t\r]*\n(?=[ \t]))*", re.MULTILINE)
"""An item of a list with what is indented below it."""
_BLANKS = re.compile(r"(?:[ \t]*\r?\n)*")


def without_repeats(text: str, there: str, names: Collection[str]) -> tuple[str, int]:
    """Return a text without the blocks and items that a note has to the word, and without headings that say one of some
    names; and how many were left out."""
    known = {_words(there, span) for span in _pieces(parse(there))}
    note = parse(text)
    repeated = [span for span in _pieces(note) if _words(text, span) in known]
    repeated += [heading.span for heading in note.outline if heading.text.strip() in names]
    cut = [Edit(_with_blanks(text, span), "") for span in repeated]
    return apply(text, cut), len(cut)


def _with_blanks(text: str, span: Span) -> Span:
    found = _BLANKS.match(text, span.end)
    return Span(span.start, found.end() if found else span.end)


def _pieces(note: Note) -> Iterator[Span]:
    for section in note.sections:
        if section.kind == "list":
            for item in _ITEM.finditer(note.body, section.span.start, section.span.end):
                yield Span(item.start(), item.end())
        elif section.kind in _KINDS:
            yield section.span


def _words(body: str, span: Span) -> str:
    return "\n".join(line.rstrip() for line in span.slice(body).strip().split("\n"))
