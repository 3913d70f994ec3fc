"""What a smart search looks for in place of a word: its forms, and wider and wider circles around it
(specs/search.md, SEARCH-50 to 58)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import regex

from obsidian_mcp.core.index import fulltext
from obsidian_mcp.core.query.parser import Word
from obsidian_mcp.core.text import tokenizer, unspaced_scripts
from obsidian_mcp.core.text.casefold import fold, is_spaced
from obsidian_mcp.core.text.text import Span

from .term_table import ACCENTS, FORM, INSIDE, SAME, Lexicon

_SENTENCE_MARKS = ".,;:!?…\"'’“”„«»‘`¿¡–—·、。，；：？！「」『』（）《》【】"
_MARKS = r"\p{P}+"
_APOSTROPHES = "'’"
_WIDE_OR_NARROW = "[\uff01-\uffee]+"
_BETWEEN = regex.compile(r"[^\p{L}\p{N}\p{M}]{0,3}+")
"""What may stand between two words that follow each other."""
_HUMP = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+"
_MEANINGFUL = re.compile(r"[+#@$%&=^~<>*|\\{}\[\]]")
"""ASCII symbols that are meant when somebody asks for a word with them: `C++`, `#tag`, `[[link]]`."""

WIDENINGS = (
    "",
    "words that begin with or contain them",
    "words that differ from them in one letter",
    "any of the words",
)


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a query and what is looked for in its place."""

    text: str
    """As asked for, folded."""
    variants: Mapping[str, float] = field(default_factory=dict)
    """Words of the vocabulary and what they count."""
    phrases: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    """Words that follow each other (of scripts without spaces, letters) and what they count."""
    part: bool = False
    """The text itself is looked for, also inside words; the variants all hold it."""

    @property
    def asked(self) -> str:
        """For the full-text index; empty when no note has any of it."""
        return " OR ".join([*(fulltext.quoted([word]) for word in self.variants), *map(fulltext.quoted, self.phrases)])

    def may_be_in(self, words_: set[str]) -> bool:
        """Whether some words have one of the variants, or all the words of a phrase."""
        if not words_.isdisjoint(self.variants):
            return True
        return any(words_.issuperset(_without_gaps(phrase)) for phrase in self.phrases)

    def places(self, text: str, most: int) -> Iterator[tuple[Span, float]]:
        """Where it stands in a folded text, and what that counts; at most so many places of each word."""
        if self.part:
            yield from islice(_anywhere(self.text, text), most)
            return
        for word, weight in self.variants.items():
            yield from ((span, weight) for span in islice(_standing(word, text), most))
        for phrase, weight in self.phrases.items():
            yield from ((span, weight) for span in islice(_following(phrase, text), most))


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


def _following(phrase: tuple[str, ...], text: str) -> Iterator[Span]:
    """Where folded words follow each other with little between. To compile an expression for a phrase that is asked
    for once would take longer than to look through all the notes of an answer."""
    first, *rest = _without_gaps(phrase)
    is_begun, is_ended = is_spaced(phrase[0][0]), is_spaced(phrase[-1][-1])
    at = text.find(first)
    while at >= 0:
        end = -1
        if not (is_begun and at and is_spaced(text[at - 1])):
            ends = _ends(rest, text, at + len(first))
            end = max((each for each in ends if not (is_ended and is_spaced(text[each : each + 1]))), default=-1)
        if end > at:
            yield Span(at, end)
        at = text.find(first, max(end, at + 1))


def _ends(words_: Sequence[str], text: str, at: int) -> Collection[int]:
    """Where words may end that follow each other from a place on: symbols are words, and stand between words."""
    ends: Collection[int] = (at,)
    for word in words_:
        ends = {
            start + len(word)
            for end in ends
            for start in range(end, _reach(text, end) + 1)
            if text.startswith(word, start)
        }
        if not ends:
            break
    return ends


def _reach(text: str, at: int) -> int:
    """Where the next word starts at the latest, if it follows."""
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def _without_gaps(phrase: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in phrase if word != tokenizer.GAP)


def is_smart(word: Word) -> bool:
    """Whether a bare word is looked for by its forms; one with symbols is looked for as it stands."""
    text = bare(word)
    return bool(tokenizer.words(tokenizer.spread(text))) and not _MEANINGFUL.search(text)


def is_mark(word: Word) -> bool:
    """Whether a word is nothing but marks that stand between words: `?`, `–`, `/`."""
    return regex.fullmatch(_MARKS, word.text) is not None and not _MEANINGFUL.search(word.text)


def bare(word: Word) -> str:
    """A word as it is looked for: folded, without the marks of a sentence around it."""
    return fold(word.text.strip(_SENTENCE_MARKS))


def without_symbols(word: Word) -> Word:
    return replace(word, text=_MEANINGFUL.sub(" ", word.text).strip())


def terms(word: Word, lexicon: Lexicon, width: int) -> list[Term]:
    """What is looked for in place of a word: all of these. `width` is an index of WIDENINGS: the circle includes those
    before it."""
    text = bare(word)
    asked = tokenizer.wanted(text).words
    parts = _without_gaps(asked)
    if len(parts) == 1 and is_spaced(parts[0][0]):
        variants = lexicon.variants(parts[0], width)
        if not variants and width and (compound := lexicon.compound(parts[0])):
            return [Term(part, found) for part, found in compound]
        return [Term(text, variants, _humps(word.text.strip(_SENTENCE_MARKS)))]
    if any(not is_spaced(part[0]) for part in parts):
        return _unspaced(text, asked, lexicon, width)
    if not width:
        return [_joined(text, asked, lexicon)]
    # `node.js`: from here on its parts may stand apart
    return [Term(part, lexicon.variants(part, width)) for part in _telling(text, parts)]


def _joined(text: str, asked: tuple[str, ...], lexicon: Lexicon) -> Term:
    """Words with something between that is no space."""
    parts = _without_gaps(asked)
    phrases = dict.fromkeys((asked, parts, ("".join(parts),), tokenizer.wanted(_usual_width(text)).words), SAME)
    telling = _telling(text, parts)
    if len(telling) == 1:  # `l'école`, `Anna's`
        return Term(text, lexicon.variants(telling[0], 0), phrases)
    return Term(text, {}, phrases)


def _telling(text: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    """The parts without those that an apostrophe takes away: `l'`, `qu'`, `'s`, `'ll`."""
    if not any(mark in text for mark in _APOSTROPHES):
        return parts
    return tuple(part for part in parts if len(part) > 2) or parts


def _usual_width(text: str) -> str:
    """A folded text without letters of unusual width."""
    return re.sub(_WIDE_OR_NARROW, lambda found: fold(unicodedata.normalize("NFKC", found[0])), text)


def _humps(text: str) -> dict[tuple[str, ...], float]:
    """The words of `camelCase`, as they stand elsewhere: `camel_case`, `camel case`."""
    humps = tuple(map(fold, re.findall(_HUMP, text)))
    if len(humps) < 2 or "".join(humps) != fold(text):
        return {}
    with_gaps = tuple(part for hump in humps for part in (hump, tokenizer.GAP))[:-1]
    return {humps: FORM, with_gaps: FORM}


def _unspaced(text: str, asked: tuple[str, ...], lexicon: Lexicon, width: int) -> list[Term]:
    """Letters of scripts without spaces between words, perhaps with others among them."""
    parts = _without_gaps(asked)
    if not width:
        usual = _usual_width(text)
        phrases = dict.fromkeys((asked, parts, tokenizer.wanted(usual).words), SAME)
        for other in unspaced_scripts.spellings(usual):
            phrases.setdefault(tokenizer.wanted(other).words, ACCENTS)
        return [Term(text, {}, phrases)]
    found: list[Term] = []
    for run in unspaced_scripts.runs(_without_gaps(tokenizer.wanted(_usual_width(text)).words)):
        if len(run) == 1 and is_spaced(run[0][0]):
            found.append(Term(run[0], lexicon.variants(run[0], width)))
        else:
            parts_of = [run] if width == 1 else unspaced_scripts.pairs(run, overlapping=width == len(WIDENINGS) - 1)
            found += (Term("".join(part), {}, {part: SAME / len(parts_of)}) for part in parts_of)
    return found
