"""What a smart search looks for in place of a word: its forms, and wider and wider circles around it
(specs/search.md, SEARCH-50 to 58)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

import regex

from . import fulltext, words
from .letters import SPACED, fold, is_spaced
from .query import Word
from .stems import forms
from .text import Span
from .vocabulary import Vocabulary

MOST = 300
"""Words of the vocabulary that stand for one word of the query."""
PREFIX_FROM = 3
INSIDE_FROM = 4
TYPO_FROM = 4
"""Letters of a word that is found as the beginning of others, inside others, or with a mistake."""

SAME, ACCENTS, FORM, BEGINNING, INSIDE, TYPO = 1.0, 0.95, 0.85, 0.6, 0.45, 0.4
"""What a word counts that stands for one of the query."""

_SENTENCE_MARKS = ".,;:!?…\"'’“”„«»‘`"
_MEANINGFUL = re.compile(r"[+#@$%&=^~<>*|\\{}\[\]]")
"""ASCII symbols that are meant when somebody asks for a word with them: `C++`, `#tag`, `[[link]]`."""

WIDENINGS = (
    "",
    "words that begin with or contain them",
    "words that differ from them in one letter",
    "any of the words",
)

_STOP_WORDS = (
    "a an and are as at be by do does for from has have how i in is it its my of on or our that the their this to was"
    " we were what when where which who why will with you your"
    " aber als am auf aus bei das dem den der des die ein eine einem einen einer für im in ist mit nach oder sind und"
    " vom von wie zu zum zur"
    " au aux avec ce ces dans de des du en est et la le les mais ou par pour que qui sur un une"
    " al con del el en es las lo los o para por se su un una y"
    " che da dei della di gli il nel per più un una"
    " da das dos e em na no os para um uma het een van met voor"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that tell nothing about what is looked for. They count only when there are no others."""


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a query and what is looked for in its place."""

    text: str
    """As asked for, folded."""
    variants: Mapping[str, float] = field(default_factory=dict)
    """Words of the vocabulary and what they count."""
    phrases: tuple[tuple[str, ...], ...] = ()
    """Words that follow each other; of scripts without spaces, letters."""
    every: bool = False
    """Each of the phrases must be there, not only one."""
    part: bool = False
    """The text itself is looked for, also inside words; the variants all hold it."""

    @property
    def asked(self) -> str:
        """For the full-text index; empty when no note has any of it."""
        parts = [fulltext.quoted([word]) for word in self.variants]
        phrases = [fulltext.quoted(phrase) for phrase in self.phrases]
        if self.every and len(phrases) > 1:
            phrases = [f"({' AND '.join(phrases)})"]
        return " OR ".join(parts + phrases)

    def places(self, text: str, most: int) -> Iterator[tuple[Span, float]]:
        """Where it stands in a folded text, and what that counts; at most so many places of each word."""
        if self.part:
            yield from islice(_anywhere(self.text, text), most)
            return
        for word, weight in self.variants.items():
            yield from ((span, weight) for span in islice(_standing(word, text), most))
        share = 1.0 / len(self.phrases) if self.every else 1.0
        for phrase in self.phrases:
            for found in islice(_phrase(phrase).finditer(text), most):
                yield Span(*found.span()), share


def _anywhere(part: str, text: str) -> Iterator[tuple[Span, float]]:
    at = text.find(part)
    while at >= 0:
        end = at + len(part)
        inside = (at and is_spaced(text[at - 1])) or (end < len(text) and is_spaced(text[end]))
        yield Span(at, end), INSIDE if inside else SAME
        at = text.find(part, end)


def _standing(word: str, text: str) -> Iterator[Span]:
    """Where a word stands that is not a part of a longer one."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (at and is_spaced(text[at - 1])) and not (end < len(text) and is_spaced(text[end])):
            yield Span(at, end)
        at = text.find(word, end)


@lru_cache(maxsize=256)
def _phrase(phrase: tuple[str, ...]) -> regex.Pattern[str]:
    """Finds folded words that follow each other with little between."""
    before = rf"(?<!{SPACED})" if is_spaced(phrase[0][0]) else ""
    after = rf"(?!{SPACED})" if is_spaced(phrase[-1][-1]) else ""
    between = r"[^\p{L}\p{N}\p{M}]{0,3}"
    literals = [regex.escape(word, special_only=True) for word in _without_gaps(phrase)]
    return regex.compile(before + between.join(literals) + after)


def _without_gaps(phrase: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in phrase if word != words.GAP)


def is_smart(word: Word) -> bool:
    """Whether a bare word is looked for by its forms; one with symbols is looked for as it stands."""
    text = word.text.strip(_SENTENCE_MARKS)
    return bool(words.words(words.spread(fold(text)))) and not _MEANINGFUL.search(text)


def term(word: Word, vocabulary: Vocabulary, languages: Sequence[str], width: int) -> Term:
    """`width` is an index of WIDENINGS: the circle includes those before it."""
    text = fold(word.text.strip(_SENTENCE_MARKS))
    asked = words.wanted(text).words
    parts = _without_gaps(asked)
    if len(parts) == 1 and is_spaced(parts[0][0]):
        return Term(text, _variants(parts[0], vocabulary, languages, width))
    if any(not is_spaced(part[0]) for part in parts):
        return _unspaced(text, parts, width)
    if not width:
        phrases = {asked, parts, ("".join(parts),)}
        return Term(text, {}, tuple(sorted(phrases)))
    # `node.js`: from here on its parts may stand apart
    return Term(text, {}, tuple((part,) for part in parts), every=True)


def _unspaced(text: str, parts: tuple[str, ...], width: int) -> Term:
    """Letters of scripts without spaces between words, perhaps with others among them."""
    if not width or len(parts) < 3:
        return Term(text, {}, (parts,))
    pairs = tuple(parts[i : i + 2] for i in range(len(parts) - 1))
    return Term(text, {}, pairs, every=width < len(WIDENINGS) - 1)


def _variants(word: str, vocabulary: Vocabulary, languages: Sequence[str], width: int) -> dict[str, float]:
    asked = words.plain(word)
    found: dict[str, float] = {word: SAME} if vocabulary.containing(word, from_start=True, to_end=True) else {}

    def add(others: Iterator[str] | list[str], weight: float) -> None:
        for other in others:
            if len(found) >= MOST:
                return
            found.setdefault(other, weight)

    add(vocabulary.plainly(asked), ACCENTS)
    add(_umlauts(word, asked, vocabulary), ACCENTS)
    add(forms(word, vocabulary, languages), FORM)
    if width >= 1:
        if len(asked) >= PREFIX_FROM:
            add(vocabulary.plainly(asked, to_end=False), BEGINNING)
        if len(asked) >= INSIDE_FROM:
            add(vocabulary.plainly(asked, from_start=False, to_end=False), INSIDE)
    if width >= 2 and len(asked) >= TYPO_FROM:
        close = list(_near(asked, vocabulary))
        add(close, TYPO)
        for other in close[:20]:
            add(forms(other, vocabulary, languages), TYPO)
    return found


def _umlauts(word: str, asked: str, vocabulary: Vocabulary) -> Iterator[str]:
    """`mueller` for `müller`, and the other way round."""
    written = words.written_out(word)
    if written is not None:
        yield from vocabulary.plainly(written)
    if re.search("[aou]e", asked):
        shorter = re.sub("([aou])e", r"\1", asked)
        yield from (other for other in vocabulary.plainly(shorter) if words.written_out(other) == asked)


def _near(asked: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Words with one letter too many, too few, another, or two exchanged. One half of the word is then as asked."""
    half = len(asked) // 2
    candidates = dict.fromkeys(vocabulary.plainly(asked[:half], to_end=False))
    candidates |= dict.fromkeys(vocabulary.plainly(asked[half + 1 :], from_start=False))
    for other in candidates:
        if one_mistake(asked, words.plain(other)):
            yield other


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
