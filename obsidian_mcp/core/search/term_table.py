"""Which words of a vault stand for a word that is asked for: its forms, and wider and wider circles around it
(specs/search.md, SEARCH-51 to 53 and 58)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from obsidian_mcp.core.text import stems, tokenizer

from .vocabulary import Vocabulary

MOST = 300
"""Words of the vocabulary that stand for one word of the query."""
PREFIX_FROM = 3
END_FROM = 4
INSIDE_FROM = 6
TYPO_FROM = 4
"""Letters of a word that is found as the beginning of others, as their end, inside them, or with a mistake."""
CLOSE = 3
"""Words with a mistake whose forms are looked for too."""

COMPOUNDING = frozenset({"german", "dutch", "swedish", "danish", "norwegian", "finnish", "hungarian"})
"""Languages that write words together, which stand apart elsewhere."""
SHORTEST_PART = 4
"""Letters of a word that is a part of a compound."""
_LINK = "(?<=.{4})(?:s|es|n|en|er)$"
"""What may stand between two parts; it belongs to neither."""

SAME, ACCENTS, FORM, BEGINNING, INSIDE, TYPO = 1.0, 0.95, 0.85, 0.6, 0.45, 0.4
"""What a word counts that stands for one of the query."""

Variants = dict[str, float]
"""Words of the vocabulary and what they count."""


class Lexicon:
    """Remembers what it was asked for; one search asks for the same words in every circle. In one thread.

    Every pass over the vocabulary costs half a millisecond for a million letters: one gives the word, its forms and
    what it begins, one what it is a part of, two its misspellings.
    """

    def __init__(self, vocabulary: Vocabulary, languages: Sequence[str]) -> None:
        self.vocabulary = vocabulary
        self._languages = languages
        self._circles: dict[str, list[Variants]] = {}
        self._beginning_with: dict[str, list[str]] = {}

    def variants(self, word: str, width: int) -> Variants:
        """`width`: how many circles around the word and its forms are included: parts of words, misspellings."""
        circles = self._circles.setdefault(word, [])
        while len(circles) <= min(width, 2):
            circles.append(self._circle(word, len(circles), circles[-1] if circles else {}))
        return circles[min(width, 2)]

    def compound(self, word: str) -> list[tuple[str, Variants]]:
        """The two words that make a compound which no note has; empty when it is none."""
        if COMPOUNDING.isdisjoint(self._languages):
            return []
        asked = tokenizer.plain(word)
        for end in range(len(asked) - SHORTEST_PART, SHORTEST_PART - 1, -1):
            last = self.variants(asked[end:], 0)
            first = self.variants(re.sub(_LINK, "", asked[:end]), 1) if last else {}
            if first:
                return [(asked[:end], first), (asked[end:], last)]
        return []

    def _circle(self, word: str, number: int, inner: Variants) -> Variants:
        if number == 0:
            return _first(self._forms(word))
        asked = tokenizer.plain(word)
        if number == 1:
            return _first(self._parts(asked), inner)
        return inner if inner or len(asked) < TYPO_FROM else _first(self._misspelt(asked))

    # -- the word itself ---------------------------------------------------------------------------------------

    def _forms(self, word: str) -> Iterator[tuple[str, float]]:
        asked = tokenizer.plain(word)
        if not asked:  # an accent by itself
            if self.vocabulary.has(word):
                yield word, SAME
            return
        family = stems.Family(word, self._languages)
        alike = [(other, tokenizer.plain(other)) for other in self._from(asked, family.beginning)]
        yield from ((other, SAME) for other, _ in alike if other == word)
        yield from ((other, ACCENTS) for other, plain in alike if plain == asked)
        yield from ((other, ACCENTS) for other in self._umlauts(word, asked))
        yield from ((other, FORM) for other, plain in alike if family.has(other, plain))

    def _from(self, asked: str, beginning: str) -> list[str]:
        """Words with a beginning of `asked`; what begins with all of it is remembered."""
        found = self.vocabulary.plainly(beginning, to_end=False)
        self._beginning_with[asked] = [other for other in found if tokenizer.plain(other).startswith(asked)]
        return found

    def _umlauts(self, word: str, asked: str) -> Iterator[str]:
        """`mueller` for `müller`, and the other way round."""
        written = tokenizer.written_out(word)
        if written is not None:
            yield from self.vocabulary.plainly(written)
        if re.search("[aou]e", asked):
            shorter = re.sub("([aou])e", r"\1", asked)
            yield from (
                other for other in self.vocabulary.accented_as(shorter) if tokenizer.written_out(other) == asked
            )

    # -- circles -----------------------------------------------------------------------------------------------

    def _parts(self, asked: str) -> Iterator[tuple[str, float]]:
        if len(asked) >= PREFIX_FROM:
            yield from ((other, BEGINNING) for other in self._beginning_with.get(asked, ()))
        if len(asked) >= END_FROM:
            holding = self.vocabulary.plainly(asked, from_start=False, to_end=len(asked) < INSIDE_FROM)
            yield from ((other, INSIDE) for other in holding if tokenizer.plain(other).endswith(asked))
            yield from ((other, INSIDE) for other in holding)

    def _misspelt(self, asked: str) -> Iterator[tuple[str, float]]:
        close = list(self._near(asked))
        yield from ((other, TYPO) for other in close)
        yield from ((form, TYPO) for other in close[:CLOSE] for form in self.variants(other, 0))

    def _near(self, asked: str) -> Iterator[str]:
        """Words with one letter too many, too few, another, or two exchanged. One half of the word is then as asked,
        but where the two in the middle are exchanged."""
        half = len(asked) // 2
        exchanged = asked[: half - 1] + asked[half] + asked[half - 1] + asked[half + 1 :]
        candidates = dict.fromkeys(self.vocabulary.plainly(asked[:half], to_end=False))
        candidates |= dict.fromkeys(self.vocabulary.plainly(asked[half:], from_start=False))
        candidates |= dict.fromkeys(self.vocabulary.plainly(exchanged))
        size = len(asked)
        for other in candidates:
            if -3 < len(other) - size < 3 and one_mistake(asked, tokenizer.plain(other)):
                yield other


def _first(found: Iterable[tuple[str, float]], inner: Variants | None = None) -> Variants:
    """The first of them, after those that are there already."""
    variants = dict(inner or {})
    for word, weight in found:
        if len(variants) >= MOST:
            break
        variants.setdefault(word, weight)
    return variants


def one_mistake(one: str, other: str) -> bool:
    """Whether two words differ in exactly one letter, or in two neighbours exchanged."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    if len(one) == len(other):
        rest, others = one[start:], other[start:]
        return rest[1:] == others[1:] or (rest[:2] == others[1::-1] and rest[2:] == others[2:])
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return longer[start + 1 :] == shorter[start:]
