"""Every different word of a vault, in memory, to find those that hold some letters (specs/search.md, SEARCH-30 to 34).

The words stand in one run of bytes, so that a search for a part of a word is one pass of `bytes.find`: about 1 ms for
a million words' letters, where a table would take twenty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from obsidian_mcp.core.index.database import Connection
from obsidian_mcp.core.query.regexp import RegExp
from obsidian_mcp.core.text.tokenizer import plain

from .cache import Remembered

_END = b"\n"
_TAB = b"\t"

REMEMBERED = 20_000
"""Words that were found, about so many."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words in the order in which they were met, which is roughly that of how common they are."""

    last: int = 0
    """Number of the last word."""
    words: bytes = _END
    """Folded words in UTF-8, one a line."""
    accented: bytes = _END
    """Lines of the words that are not plain: the plain form, a tab, the word."""
    _found: Remembered = field(default_factory=lambda: Remembered(REMEMBERED), compare=False, repr=False)
    """One search asks for the same parts again and again, in wider and wider circles."""

    def containing(self, part: str, *, from_start: bool = False, to_end: bool = False) -> Sequence[str]:
        """Words that hold `part`: at their beginning, their end, as a whole, or anywhere."""
        needle = (_END if from_start else b"") + part.encode() + (_END if to_end else b"")
        return self._found.get(needle, lambda: tuple(dict.fromkeys(_lines(self.words, needle))))

    def plainly(self, part: str, *, from_start: bool = True, to_end: bool = True) -> list[str]:
        """As `containing`, for a part and words without accents."""
        found = dict.fromkeys(self.containing(part, from_start=from_start, to_end=to_end))
        found |= dict.fromkeys(self.accented_as(part, from_start=from_start, to_end=to_end))
        return list(found)

    def accented_as(self, part: str, *, from_start: bool = True, to_end: bool = True) -> Iterator[str]:
        """As `plainly`, only of the words with accents."""
        needle = (_END if from_start else b"") + part.encode() + (_TAB if to_end else b"")
        for line in _lines(self.accented, needle):
            before, _, word = line.partition("\t")
            if part in before:
                yield word

    def matching(self, expression: RegExp) -> list[str]:
        """Words that an expression without anchors matches in part. Raises: OperationTimeout."""
        text, found, at = self.words.decode(), [], 0
        expression = expression.shortest
        while (start := expression.span(text, at)[0]) >= 0:
            at = text.find("\n", start)
            found.append(text[text.rfind("\n", 0, start) + 1 : at])
        return found

    def has(self, word: str) -> bool:
        return self.words.find(f"\n{word}\n".encode()) >= 0

    def count(self, words: Sequence[str]) -> int:
        """How many of some words are here."""
        return sum(map(self.has, words))

    def and_also(self, others: Iterable[str]) -> Vocabulary:
        """With the words of some texts, given with spaces between."""
        found: set[str] = set()
        for each in others:
            found.update(each.split())
        if not found:
            return self
        new = sorted(found)
        accented = "".join(f"{plain(word)}\t{word}\n" for word in new if not word.isascii())
        return Vocabulary(
            self.last, self.words + "".join(f"{word}\n" for word in new).encode(), self.accented + accented.encode()
        )


def _lines(text: bytes, needle: bytes) -> Iterator[str]:
    """The lines in which `needle` is found, each once."""
    at = text.find(needle)
    while at >= 0:
        start = at + 1 if needle.startswith(_END) else text.rfind(_END, 0, at) + 1
        end = text.find(_END, max(start, at + 1))
        yield text[start:end].decode()
        at = text.find(needle, end)


def grown(known: Vocabulary, connection: Connection) -> Vocabulary:
    """With the words that came since. The tables must be those that `known` comes from."""
    new = connection.execute("SELECT id, word, plain FROM words WHERE id > ? ORDER BY id", (known.last,)).fetchall()
    if not new:
        return known
    words = "".join(f"{word}\n" for _, word, _ in new).encode()
    accented = "".join(f"{bare}\t{word}\n" for _, word, bare in new if bare is not None).encode()
    return Vocabulary(new[-1][0], known.words + words, known.accented + accented)
