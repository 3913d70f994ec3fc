"""How much of what a search looks for is in a file that is not indexed yet (INDEX-46)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.index.pending_scan import Weigh
from obsidian_mcp.core.query.document import Document
from obsidian_mcp.core.query.nodes import QueryNode, Word
from obsidian_mcp.core.text import analysis
from obsidian_mcp.core.text.text import Text, to_printable
from obsidian_mcp.core.text.vault_path import is_note

from .hits import Request, request_filter
from .reading import PlanAlternative, WordChoice, read_groups, strip_marks

_ACCENTS = re.compile(b"[\xc3-\xd4]")
"""Begins letters that are written with two bytes: accented ones, Greek and Cyrillic, which have
capitals too."""


def weigher(query: QueryNode, request: Request, languages: Sequence[str]) -> Weigh:
    """The function from a file and its bytes to the share of the query in it, 0 to 1; forms count
    by their start."""
    is_wanted = request_filter(request)
    weigh = _smart(query, languages) if request.match == "smart" else _exact_weigher(query)
    return lambda entry, data: weigh(entry, data) if is_wanted(entry) else 0.0


def _exact_weigher(query: QueryNode) -> Weigh:
    from obsidian_mcp.core.query.evaluate import Matcher  # 5 ms to import

    matcher = Matcher(query)

    def weigh(entry: FileEntry, data: bytes) -> float:
        if not is_note(entry.path):  # a canvas has to be read first, and there are few
            return 1.0
        return float(
            matcher.matches(Document(normal_form(entry.path), to_printable(Text.decode(data).body)))
        )

    return weigh


def _smart(query: QueryNode, languages: Sequence[str]) -> Weigh:
    alternatives = [_alternative(group, languages) for group in read_groups(query, languages)]

    def weigh(entry: FileEntry, data: bytes) -> float:
        text = f"{entry.path}\n".encode() + data
        # Without accents, to lower the ASCII letters is enough; to read every letter takes fifty
        # times as long.
        text = (
            analysis.to_basic_letters(text.decode("utf-8", "replace")).encode()
            if _ACCENTS.search(text)
            else text.lower()
        )
        return max(alternative(entry, data, text) for alternative in alternatives)

    return weigh


def _alternative(
    group: PlanAlternative, languages: Sequence[str]
) -> Callable[[FileEntry, bytes, bytes], float]:
    beginnings = [_beginnings(choice, languages) for choice in group.loose]
    strict = _exact_weigher(group.strict) if group.strict is not None else None

    def weigh(entry: FileEntry, data: bytes, text: bytes) -> float:
        having = sum(any(beginning in text for beginning in choice) for choice in beginnings)
        if (beginnings and not having) or (strict is not None and not strict(entry, data)):
            return 0.0
        return having / len(beginnings) if beginnings else 1.0

    return weigh


def _beginnings(choice: WordChoice, languages: Sequence[str]) -> list[bytes]:
    """Return texts of which a file must have one, in basic letters; of a date, nothing that many
    notes lack."""
    if not all(isinstance(part, Word) for part in choice):
        return [b""]
    words = [
        word
        for part in choice
        if isinstance(part, Word)
        for word in analysis.parse_sought_words(strip_marks(part)).words
    ]
    return [
        analysis.Family(word, languages).beginning.encode()
        for word in words
        if word != analysis.GAP
    ]
