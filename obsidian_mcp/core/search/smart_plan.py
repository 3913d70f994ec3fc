"""The plan of a query in plain words: what the vault has of its words (SEARCH-50 to 58)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

from obsidian_mcp.core.query.nodes import And, Phrase, QueryNode, Word
from obsidian_mcp.core.text import analysis, synonyms, unspaced_scripts

from .dates import DatePattern
from .lexicon import Lexicon
from .plan import Alternative, SearchPlan, literal_term
from .reading import (
    APOSTROPHES,
    MONTH_ALONE,
    SENTENCE_MARKS,
    PlanAlternative,
    WordChoice,
    single_word,
    strip_marks,
)
from .term import ACCENTS, FORM, SAME, Term, without_gaps

DAY_AFTER, SAME_MONTH = 0.9, 0.4
"""Weights of the day after a date in a question and of its month, as words that say the same: what
happened on a day is often told the next day, as "yesterday", and within some weeks."""
_WIDE_OR_NARROW = "[\uff01-\uffee]+"
_HUMP = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+"


def smart_plan(
    read: Sequence[PlanAlternative], lexicon: Lexicon, *, wide: bool = False
) -> SearchPlan:
    """Return the plan that requires all the words, or with `wide` any of them."""
    alternatives: list[Alternative] = []
    complete: list[str] = []
    terms: list[Term] = []
    phrases: list[Term] = []
    for group in read:
        expanded: list[Term] = []
        for choice in group.loose if wide else group.choices:
            word = single_word(choice)
            expanded += (
                expand(word, lexicon, wide=wide)
                if word is not None
                else [_one_of(choice, lexicon, wide=wide)]
            )
        expressions = _expressions(expanded)
        all_words = " AND ".join(expressions) if len(expressions) == len(expanded) else ""
        expression = all_words if expanded else None
        if wide and expanded:
            complete += [f"({all_words})"] if all_words else []
            near = _near_dates(group.loose, lexicon) if len(group.loose) > 1 else ()
            expanded += [*_synonym_terms(expanded, group.spoken, lexicon), *near]
            expression = " OR ".join(_expressions(expanded))
        terms += expanded
        alternatives.append(Alternative(expression, group.strict if wide else group.exact))
        phrases += _weighed_phrases(group.strict, lexicon)
    shown_terms = tuple([term for term in terms if term.variants or term.phrases])
    return SearchPlan(
        tuple(alternatives),
        (*shown_terms, *phrases),
        " OR ".join([f"({part.expression})" for part in alternatives if part.expression]),
        shown_terms,
        tuple([part.exact for part in alternatives if part.exact is not None]),
        tuple(_light_terms(read, lexicon)),
        wide,
        tuple(_missing_words(read, lexicon)) if wide else (),
        complete=" OR ".join(complete),
    )


def _weighed_phrases(strict: QueryNode | None, lexicon: Lexicon) -> list[Term]:
    """Return the phrases that a query requires: how often a note has one says how well it
    answers."""
    parts = strict.parts if isinstance(strict, And) else (strict,)
    terms = [literal_term(part, lexicon.vocabulary) for part in parts if isinstance(part, Phrase)]
    return [term for term in terms if term.variants or term.phrases]


def _expressions(terms: Sequence[Term]) -> list[str]:
    return [f"({term.expression})" for term in terms if term.expression]


def _synonym_terms(
    terms: Sequence[Term], spoken: Sequence[str], lexicon: Lexicon
) -> Iterator[Term]:
    """What the vault has of other words for some terms, and for two words that say something
    together (SEARCH-87)."""
    for term in terms:
        spellings = set(term.variants)
        for words in synonyms.find((term.text,), lexicon.languages):
            synonym = _synonym_term(words, term.text, lexicon)
            if synonym.phrases or not spellings.issuperset(synonym.variants):
                yield synonym
            spellings.update(synonym.variants)
    for pair in pairwise(spoken):
        for words in synonyms.find(pair, lexicon.languages):
            yield _synonym_term(words, " ".join(pair), lexicon)


def _synonym_term(words: tuple[str, ...], instead_of: str, lexicon: Lexicon) -> Term:
    if len(words) > 1:
        return Term(" ".join(words), {}, {words: SAME}, instead_of=instead_of)
    return Term(words[0], lexicon.variants(words[0]), instead_of=instead_of)


def _missing_words(read: Sequence[PlanAlternative], lexicon: Lexicon) -> Iterator[str]:
    """The words, as in the query, that no note has."""
    choices = [choice for group in read for choice in group.loose]
    words = [word for choice in choices if (word := single_word(choice)) is not None]
    for word in words:
        parts = without_gaps(analysis.parse_sought_words(strip_marks(word)).words)
        if len(parts) == 1 and analysis.is_spaced(parts[0][0]) and not lexicon.variants(parts[0]):
            yield word.text.strip(SENTENCE_MARKS)


def _one_of(choice: WordChoice, lexicon: Lexicon, *, wide: bool) -> Term:
    """Return a choice as one term.

    If a word of several is expanded to several terms, only its forms count.
    """
    variants: dict[str, float] = {}
    phrases: dict[tuple[str, ...], float] = {}
    for part in choice:
        if isinstance(part, DatePattern):
            weight = MONTH_ALONE if part.is_month_alone else SAME
            phrases |= dict.fromkeys(part.phrases(lexicon.vocabulary.has), weight)
            continue
        terms = expand(part, lexicon, wide=wide)
        for term in terms if len(terms) == 1 else expand(part, lexicon):
            variants = {**term.variants, **variants}
            phrases = {**term.phrases, **phrases}
    words = [strip_marks(part) for part in choice if isinstance(part, Word)]
    dates = [part.text for part in choice if isinstance(part, DatePattern)]
    return Term(" ".join(words or dates), variants, phrases, is_date=not words)


def _near_dates(choices: Sequence[WordChoice], lexicon: Lexicon) -> Iterator[Term]:
    """Yield what says nearly the same as the days of a question: the day after each, and its
    month (SEARCH-59)."""
    dates = [
        (choice, part) for choice in choices for part in choice if isinstance(part, DatePattern)
    ]
    for choice, part in dates:
        words = [strip_marks(word) for word in choice if isinstance(word, Word)]
        for near, weight in ((part.find_next_day(), DAY_AFTER), (part.find_month(), SAME_MONTH)):
            if near is not None:
                phrases = dict.fromkeys(near.phrases(lexicon.vocabulary.has), weight)
                yield Term(near.text, {}, phrases, instead_of=" ".join(words or [part.text]))


def _light_terms(read: Sequence[PlanAlternative], lexicon: Lexicon) -> list[Term]:
    light = [term for group in read for word in group.light for term in expand(word, lexicon)]
    light += [literal_term(word, lexicon.vocabulary) for group in read for word in group.symbols]
    return [term for term in light if term.variants or term.phrases]


def expand(word: Word, lexicon: Lexicon, *, wide: bool = False) -> list[Term]:
    """The terms for a word, all needed. `wide`: parts of words count, and near words for one that
    no note has."""
    text = strip_marks(word)
    sought = analysis.parse_sought_words(text).words
    parts = without_gaps(sought)
    if len(parts) == 1 and analysis.is_spaced(parts[0][0]):
        variants = lexicon.variants(parts[0])
        if wide:
            variants = (
                lexicon.find_near_words(parts[0])
                if lexicon.has_compounds or not variants
                else variants
            )
            if not variants and (compound := lexicon.compound(parts[0])):
                return [Term(part, found) for part, found in compound]
        return [Term(text, variants, _humps(word.text.strip(SENTENCE_MARKS)))]
    if any(not analysis.is_spaced(part[0]) for part in parts):
        return _unspaced_terms(text, sought, lexicon, wide)
    if not wide:
        return [_joined_term(text, sought, lexicon)]
    # `node.js`: from here on its parts may stand apart
    return [
        Term(part, lexicon.variants(part) or lexicon.find_near_words(part))
        for part in _without_articles(text, parts)
    ]


def _joined_term(text: str, sought: tuple[str, ...], lexicon: Lexicon) -> Term:
    """Words with something between that is no space (SEARCH-55)."""
    parts = without_gaps(sought)
    usual = analysis.parse_sought_words(_usual_width(text)).words
    words = _without_articles(text, parts)
    variants = lexicon.variants(words[0]) if len(words) == 1 else {}  # `l'école`, `Anna's`
    return Term(text, variants, dict.fromkeys((sought, parts, ("".join(parts),), usual), SAME))


def _without_articles(text: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    """The parts without those that an apostrophe separates: `l'`, `qu'`, `'s`, `'ll`."""
    has_articles = any(mark in text for mark in APOSTROPHES)
    return (tuple(part for part in parts if len(part) > 2) if has_articles else ()) or parts


def _usual_width(text: str) -> str:
    """A folded text without letters of unusual width."""
    return re.sub(
        _WIDE_OR_NARROW, lambda found: analysis.fold(unicodedata.normalize("NFKC", found[0])), text
    )


def _humps(text: str) -> dict[tuple[str, ...], float]:
    """The words of `camelCase`, as they stand elsewhere: `camel_case`, `camel case`."""
    humps = tuple(map(analysis.fold, re.findall(_HUMP, text)))
    if len(humps) < 2 or "".join(humps) != analysis.fold(text):
        return {}
    with_gaps = tuple(part for hump in humps for part in (hump, analysis.GAP))[:-1]
    return {humps: FORM, with_gaps: FORM}


def _unspaced_terms(text: str, sought: tuple[str, ...], lexicon: Lexicon, wide: bool) -> list[Term]:
    """Letters of scripts without spaces between words, perhaps with others among them
    (SEARCH-54)."""
    parts = without_gaps(sought)
    if not wide:
        usual = _usual_width(text)
        phrases = dict.fromkeys((sought, parts, analysis.parse_sought_words(usual).words), SAME)
        for spelling in unspaced_scripts.spellings(usual):
            phrases.setdefault(analysis.parse_sought_words(spelling).words, ACCENTS)
        return [Term(text, {}, phrases)]
    terms: list[Term] = []
    for run in unspaced_scripts.runs(
        without_gaps(analysis.parse_sought_words(_usual_width(text)).words)
    ):
        if len(run) == 1 and analysis.is_spaced(run[0][0]):
            terms.append(Term(run[0], lexicon.variants(run[0])))
        else:
            pieces = unspaced_scripts.pairs(run)
            terms += (Term("".join(piece), {}, {piece: SAME / len(pieces)}) for piece in pieces)
    return terms
