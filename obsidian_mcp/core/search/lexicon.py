"""Which words of the vault stand for a word of a query (SEARCH-52 to 55)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from obsidian_mcp.core.text.analysis import Family, stems, to_basic_letters, write_out_umlauts
from obsidian_mcp.core.text.attached_words import (
    SHORTEST_WORD,
    TATWEEL,
    attaches_words,
    is_attached,
    without_article,
)

from .term import ACCENTS, FORM, INFIX, PREFIX, SAME, TYPO, Variants
from .vocabulary import Vocabulary

MAX_VARIANTS = 300
"""Words of the vocabulary that stand for one word of the query."""
PREFIX_LETTERS = 3
SUFFIX_LETTERS = 4
INFIX_LETTERS = 6
TYPO_LETTERS = 4
"""Letters from which on a word is found as the beginning of others, as their end, inside them, or
with a mistake."""
STEM_LETTERS = 6
"""Letters of a stem from which on a mistake in it is forgiven where the vault has the word with
another ending only."""
ENDING_LETTERS = 4
"""So many letters such a word is longer or shorter at most."""
TYPOS_WITH_FORMS = 3
"""Misspelled words whose forms are looked up too."""
COMPOUNDING = frozenset(
    {"german", "dutch", "swedish", "danish", "norwegian", "finnish", "hungarian"}
)
"""Languages that join words which other languages separate."""
COMPOUND_PART_LETTERS = 4
_LINKING_ENDING = "(?<=.{4})(?:s|es|n|en|er)$"
"""What may stand between the two parts of a compound; it belongs to neither."""
_UMLAUT = re.compile("[äöüß]")
_SEPARABLE = (
    "(?P<before>ab|an|auf|aus|bei|ein|fest|her|hin|los|mit|nach|um|vor|weg|zu|zuruck|zusammen)?"
)
_VERB = re.compile(rf"{_SEPARABLE}(?P<stem>[a-z]{{3,}}?)(?:en|est|et|st|ten|te|e|t)")
_PARTICIPLE = re.compile(rf"\A{_SEPARABLE}ge(?P<stem>[a-z]{{3,}}?)(?:et|en|t)\Z")
"""German verbs in basic letters."""


class Lexicon:
    """Finds the words of the vocabulary that stand for a word of one query, in one thread. A pass
    over the vocabulary costs 0.5 ms for a million letters, so what was found is kept."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        languages: Sequence[str],
        used: Callable[[Collection[str]], Sequence[str]],
    ) -> None:
        """`used` returns those of one or more words that a file has: the vocabulary keeps words of
        earlier texts."""
        self.vocabulary = vocabulary
        self._used = used
        self.languages = languages
        self.has_compounds = not COMPOUNDING.isdisjoint(languages)
        self._variants: dict[str, Variants] = {}
        self._with_prefix: dict[str, list[str]] = {}

    def variants(self, word: str) -> Variants:
        """Return the forms of a folded word."""
        if word not in self._variants:
            self._variants[word] = self._forms(word)
        return self._variants[word]

    def find_near_words(self, word: str) -> Variants:
        """Return its forms and the words that contain it; if there are none, its misspellings."""
        bare = to_basic_letters(word)
        return self._containing_words(bare, self.variants(word)) or self._misspellings(bare)

    def compound(self, word: str) -> list[tuple[str, Variants]]:
        """Return the two words that make a compound which no note has (SEARCH-55); empty if it is
        none."""
        if not self.has_compounds:
            return []
        bare = to_basic_letters(word)
        for end in range(len(bare) - COMPOUND_PART_LETTERS, COMPOUND_PART_LETTERS - 1, -1):
            last = self.variants(bare[end:])
            beginning = re.sub(_LINKING_ENDING, "", bare[:end])
            first = self._containing_words(beginning, self.variants(beginning)) if last else {}
            if first:
                return [(bare[:end], first), (bare[end:], last)]
        return []

    def _forms(self, word: str) -> Variants:
        """The word itself, other accents, and words with the same stem (SEARCH-52)."""
        bare = to_basic_letters(word)
        if not bare:  # an accent by itself
            return {word: SAME} if self.vocabulary.has(word) else {}
        family = Family(word, self.languages)
        alike = {
            candidate: to_basic_letters(candidate)
            for candidate in self.vocabulary.plainly_containing(family.beginning, to_end=False)
        }
        self._with_prefix[bare] = [
            candidate for candidate, plainly in alike.items() if plainly.startswith(bare)
        ]
        found: Variants = {word: SAME} if word in alike else {}
        _add(found, [candidate for candidate, plainly in alike.items() if plainly == bare], ACCENTS)
        _add(found, self._umlauts(word, bare), ACCENTS)
        _add(
            found,
            [candidate for candidate, plainly in alike.items() if family.has(candidate, plainly)],
            FORM,
        )
        if not word.isascii() and attaches_words(word):
            _add(found, self._with_attached(bare), FORM)
        if "german" in self.languages or _UMLAUT.search(word):
            forms = german_verb_forms(bare)
            _add(
                found,
                [
                    candidate
                    for form in forms
                    for candidate in self.vocabulary.plainly_containing(form)
                ],
                FORM,
            )
        return self._keep_used(found)

    def _with_attached(self, bare: str) -> list[str]:
        """Return the words of Arabic or Hebrew that are this one, or a form of it, with an article,
        conjunction or preposition attached, or lengthened (SEARCH-94)."""
        bare = bare.replace(TATWEEL, "")
        candidates = dict.fromkeys(self.vocabulary.words_containing(TATWEEL))
        bases = [base for base in {bare, without_article(bare)} if len(base) >= SHORTEST_WORD]
        for base in bases:
            candidates |= dict.fromkeys(
                self.vocabulary.plainly_containing(base, from_start=False, to_end=False)
            )
        families = [(base, Family(base, self.languages)) for base in bases]
        return [
            candidate
            for candidate in candidates
            if any(
                _is_with_attached(to_basic_letters(candidate).replace(TATWEEL, ""), base, family)
                for base, family in families
            )
        ]

    def _umlauts(self, word: str, bare: str) -> list[str]:
        """`mueller` for `müller`, and the other way round."""
        spellings: list[str] = []
        written = write_out_umlauts(word)
        if written is not None:
            spellings += self.vocabulary.plainly_containing(written)
        if re.search("[aou]e", bare):
            shorter = re.sub("([aou])e", r"\1", bare)
            spellings += [
                candidate
                for candidate in self.vocabulary.accented_containing(shorter)
                if write_out_umlauts(candidate) == bare
            ]
        return spellings

    def _containing_words(self, bare: str, inner: Variants) -> Variants:
        """Also words that begin with it, end with it, or contain it."""
        variants = dict(inner)
        if len(bare) >= PREFIX_LETTERS:
            _add(variants, self._with_prefix.get(bare, ()), PREFIX)
        if len(bare) >= SUFFIX_LETTERS:
            to_end = len(bare) < INFIX_LETTERS
            containing = self.vocabulary.plainly_containing(bare, from_start=False, to_end=to_end)
            _add(
                variants,
                [
                    candidate
                    for candidate in containing
                    if to_basic_letters(candidate).endswith(bare)
                ],
                INFIX,
            )
            _add(variants, containing, INFIX)
        return self._keep_used(variants)

    def _misspellings(self, bare: str) -> Variants:
        """Words one letter away, or with two exchanged, and forms of the first; if none, words
        whose stem differs so (SEARCH-53). One half of the word is as written, unless the two
        letters in the middle are exchanged."""
        if len(bare) < TYPO_LETTERS:
            return {}
        half = len(bare) // 2
        exchanged = bare[: half - 1] + bare[half] + bare[half - 1] + bare[half + 1 :]
        candidates = dict.fromkeys(self.vocabulary.plainly_containing(bare[:half], to_end=False))
        to_end = half < SUFFIX_LETTERS
        candidates |= dict.fromkeys(
            self.vocabulary.plainly_containing(bare[half:], from_start=False, to_end=to_end)
        )
        candidates |= dict.fromkeys(self.vocabulary.plainly_containing(exchanged))
        near = [
            candidate
            for candidate in candidates
            if abs(len(candidate) - len(bare)) < 3
            and is_one_mistake(bare, to_basic_letters(candidate))
        ]
        variants: Variants = {}
        _add(variants, near, TYPO)
        variants = self._keep_used(variants)
        if not variants:
            roots = [root for root in stems(bare, self.languages) if len(root) >= STEM_LETTERS]
            near = [
                candidate
                for candidate in candidates
                if abs(len(candidate) - len(bare)) <= ENDING_LETTERS
                and any(
                    is_one_mistake(root, its)
                    for root in roots
                    for its in stems(candidate, self.languages)
                )
            ]
            _add(variants, near, TYPO)
            variants = self._keep_used(variants)
        for candidate in list(variants)[:TYPOS_WITH_FORMS]:
            _add(variants, self.variants(candidate), TYPO)
        return variants

    def _keep_used(self, variants: Variants) -> Variants:
        return {word: variants[word] for word in self._used(variants)} if variants else variants


def _is_with_attached(plainly: str, base: str, family: Family) -> bool:
    """Return whether a word is a form of another one, perhaps with something attached before it."""
    at = plainly.find(base)
    if at < 0 or (at > 0 and not is_attached(plainly[:at])):
        return False
    own = plainly[at:]
    return own == base or family.has(own, own)


def _add(variants: Variants, words: Iterable[str], weight: float) -> None:
    for word in words:
        if len(variants) >= MAX_VARIANTS:
            return
        variants.setdefault(word, weight)


def german_verb_forms(bare: str) -> list[str]:
    """Return the participles of a German verb, or of a participle the other forms, all in basic
    letters (SEARCH-52). Regular ones: `kundigen` gives `gekundigt`, `absagen` gives `abgesagt`, and
    the other way round."""
    forms: list[str] = []
    if verb := _VERB.fullmatch(bare):
        before, stem = verb["before"] or "", verb["stem"]
        participles = dict.fromkeys((f"ge{before}{stem}", f"{before}ge{stem}"))
        forms += [f"{participle}{end}" for participle in participles for end in ("t", "et", "en")]
    for participle in _PARTICIPLE.finditer(bare):
        before, stem = participle["before"] or "", participle["stem"]
        forms += [f"{before}{stem}{end}" for end in ("en", "e", "t", "st", "et", "te", "ten")]
    return [form for form in forms if form != bare]


def is_one_mistake(word: str, other_word: str) -> bool:
    """Return whether two words differ in exactly one letter, or in two neighbours exchanged."""
    if abs(len(word) - len(other_word)) > 1 or word == other_word:
        return False
    start = 0
    while start < min(len(word), len(other_word)) and word[start] == other_word[start]:
        start += 1
    if len(word) == len(other_word):
        tail, other_tail = word[start:], other_word[start:]
        return tail[1:] == other_tail[1:] or (
            tail[:2] == other_tail[1::-1] and tail[2:] == other_tail[2:]
        )
    longer, shorter = (word, other_word) if len(word) > len(other_word) else (other_word, word)
    return longer[start + 1 :] == shorter[start:]
