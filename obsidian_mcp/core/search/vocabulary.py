"""Every different word of a vault, and which of them stand for a word of a query (SEARCH-30 to 34,
SEARCH-51 to 53, 58). They are one run of bytes: to find the letters of a million words takes 1 ms,
in a table twenty."""

from __future__ import annotations

from typing import NamedTuple

from obsidian_mcp.core.index.full_text import FullText
from obsidian_mcp.core.query.regexp import RegExp


class Vocabulary(NamedTuple):
    """Words in the order in which the index met them, which is roughly that of their frequency."""

    last: int = 0
    """Number of the last word in the table `words`."""
    words: bytes = b"\n"
    """Folded words in UTF-8, one a line."""
    accented: bytes = b"\n"
    """Lines of the words with accents: the plain form, a tab, the word."""

    def words_containing(
        self, part: str, *, from_start: bool = False, to_end: bool = False
    ) -> list[str]:
        """Return the words that contain `part`: at their beginning, their end, as a whole, or
        anywhere (SEARCH-31)."""
        return _lines_with(self.words, part + "\n" * to_end, from_start=from_start)

    def plainly_containing(
        self, part: str, *, from_start: bool = True, to_end: bool = True
    ) -> list[str]:
        """As `words_containing`; the words may have accents that `part` has not (SEARCH-32)."""
        words = dict.fromkeys(_lines_with(self.words, part + "\n" * to_end, from_start=from_start))
        if len(self.accented) > 1:
            words |= dict.fromkeys(
                self.accented_containing(part, from_start=from_start, to_end=to_end)
            )
        return list(words)

    def accented_containing(
        self, part: str, *, from_start: bool = True, to_end: bool = True
    ) -> list[str]:
        """As `plainly_containing`, only words with accents."""
        lines = _lines_with(self.accented, part + "\t" * to_end, from_start=from_start)
        return [word for bare, _, word in (line.partition("\t") for line in lines) if part in bare]

    def words_matching(self, expression: RegExp) -> list[str]:
        """Return the words that an expression without anchors matches in part (SEARCH-33). Raises:
        OperationTimeout."""
        text, words, at = self.words.decode(), [], 0
        while (start := expression.find_first(text, at, len(text))) >= 0:
            at = text.find("\n", start)
            words.append(text[text.rfind("\n", 0, start) + 1 : at])
        return words

    def has(self, word: str) -> bool:
        return self.words.find(f"\n{word}\n".encode()) >= 0


def _lines_with(lines: bytes, part: str, *, from_start: bool) -> list[str]:
    """The lines that contain `part`, or begin with it; there is a line end before the first."""
    matching = []
    needle = ("\n" * from_start + part).encode()
    at = lines.find(needle)
    while at >= 0:
        start = at + 1 if from_start else lines.rfind(b"\n", 0, at) + 1
        end = lines.find(b"\n", max(start, at + 1))
        matching.append(lines[start:end].decode())
        at = lines.find(needle, end)
    return matching


def extend_vocabulary(vocabulary: Vocabulary, full_text: FullText) -> Vocabulary:
    """Return the vocabulary with the words that the index has got since (SEARCH-34)."""
    new = full_text.words_since(vocabulary.last)
    if new is None:
        return vocabulary
    return Vocabulary(
        new.last, vocabulary.words + _lines(new.words), vocabulary.accented + _lines(new.accented)
    )


def _lines(joined: str | None) -> bytes:
    return b"" if joined is None else f"{joined}\n".encode()
