"""What a part of a text must contain to satisfy a query: a line, a block, a section, a task (QUERY-34 to QUERY-45)."""

from __future__ import annotations

from collections.abc import Iterator

from obsidian_mcp.core.text.analysis import fold, substring

from .nodes import And, Node, Phrase, Regex, ScopedQuery, Word
from .regexp import translate
from .scopes import First


def first_of(text: str) -> First:
    """Return what finds a folded text."""
    pattern = substring(text, match_case=False)

    def first(text: str, start: int, end: int) -> int:
        found = pattern.search(text, start, end, concurrent=False)
        return found.start() if found else -1

    return first


def required(node: Node) -> tuple[str, ...]:
    """Return folded texts that all content contains which satisfies the operand of a scope, the longest first."""
    return tuple(sorted(set(_required(node)), key=lambda text: (-len(text), text)))


def _required(node: Node) -> Iterator[str]:
    match node:
        case And():
            for part in node.parts:
                yield from _required(part)
        case ScopedQuery() if node.operator not in ("tag", "path", "file"):
            yield from _required(node.part)
        case Word() | Phrase() if node.text:
            yield fold(node.text)
        case Regex():
            yield from (clause[0] for clause in translate(node.source).clauses if len(clause) == 1)
