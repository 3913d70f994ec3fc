"""What people type into a search box that is no syntax: a smiley, a bracket that is never closed, a
last `OR` (SEARCH-101).

A question is never an error for such marks, and never empty because of them: where a smart search
cannot read it, or finds nothing and may have such marks, its words alone are searched for, and the
answer says so.
"""

from __future__ import annotations

import re

from obsidian_mcp.core.query.nodes import OPERATORS, And, Or, QueryNode, Word
from obsidian_mcp.core.query.parser import parse

from .reading import SENTENCE_MARKS

AS_WORDS = "Marks in the query were not read as syntax: its words alone were searched for."
"""Says of an answer how its query was read."""
QUESTION_WORDS = 4
"""Words of the shortest query that is taken for a question."""
_MARKS = re.compile(r"[^\w\s'’.-]+|(?<!\w)[.'’-]+|[.'’-]+(?!\w)")
"""All that is no word, and no mark inside one: `don't`, `node.js` and `co-op` stay whole."""
_HAS_LETTER = re.compile(r"\w")
_CONNECTING = re.compile(r"(?<!\S)(?:OR|AND|NOT)(?!\S)")
_HANGING_OPERATOR = re.compile(
    rf"(?<!\S)-?(?:{'|'.join(sorted(OPERATORS))}):(?=\s|\Z)", re.IGNORECASE | re.ASCII
)
_find_glued = re.compile(r"""\w"\w|\w\[|\]\w""").search
"""Finds a quote between two letters, or a bracket with a letter on its outer side."""
_NEGATED_MARKS = re.compile(r"(?<!\S)-[^\w\s]+(?!\S)")


def read_words_alone(query: str) -> str:
    """Return the words of a question without any mark that could be syntax.

    Empty for fewer than `QUESTION_WORDS`: a short query with a mistake is meant as syntax, and its
    error says where the mistake is.
    """
    words = _CONNECTING.sub(" ", query).split()
    if len([word for word in words if _HAS_LETTER.search(word)]) < QUESTION_WORDS:
        return ""
    return " ".join(_CONNECTING.sub(" ", _MARKS.sub(" ", query)).split())


def is_emptied_by_marks(query: str) -> bool:
    """Return whether marks may be why a query that can be read finds nothing.

    It has an open quote or bracket, or one inside a word, an operator without text right behind it,
    or a hyphen before marks alone; or it is nothing but words, some with marks around or between
    them; or a sentence that asks, in which `-so`, `note:` and a title in quotes are how people
    write. In other queries phrases, properties and operators that are complete are meant.
    """
    if query.count('"') % 2 or query.count("(") > query.count(")"):
        return True
    if query.rfind("[") > query.rfind("]"):
        return True
    if _find_glued(query) or _HANGING_OPERATOR.search(query) or _NEGATED_MARKS.search(query):
        return True
    words = read_words_alone(query)
    bare_words = [word.strip(SENTENCE_MARKS) for word in query.split()]
    if not words or ('"' not in query and words.split() == bare_words):
        return False
    return _is_question(query) or _is_words(parse(query))


def _is_question(query: str) -> bool:
    """Return whether a query is a sentence that asks; `[…?]` and `/a?/` are syntax."""
    return query.rstrip().endswith(("?", "？"))


def _is_words(node: QueryNode) -> bool:
    """Return whether a query is nothing but words."""
    parts = node.parts if isinstance(node, And | Or) else (node,)
    return all(isinstance(part, Word) or (part is not node and _is_words(part)) for part in parts)
