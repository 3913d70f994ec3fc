"""What a search looks for: words and their forms, and what must match exactly (SEARCH-50 to 59)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from heapq import nsmallest
from itertools import pairwise
from typing import NamedTuple

import regex

from obsidian_mcp.core.query.nodes import And, Or, Phrase, QueryNode, ScopedQuery, Word
from obsidian_mcp.core.text import analysis, synonyms, unspaced_scripts
from obsidian_mcp.core.text.stopwords import ASKING, STOP_WORDS

from . import dates
from .dates import DatePattern
from .vocabulary import ACCENTS, FORM, PREFIX, SAME, Lexicon, Term, Vocabulary, without_gaps

FOREIGN_STOP_WORDS = 2
"""Stop words of a language that the vault is not in, by which a query is in that language."""
PART_WORDS = 4
"""Words of the vocabulary that stand for a part of a word where results are ranked."""
MONTH_ALONE = 0.5
"""Weight of a date of which only the name of its month is given."""

_SENTENCE_MARKS = ".,;:!?…\"'’“”„«»‘`¿¡–—·、。，；：？！「」『』（）《》【】"
_MARKS = r"\p{P}+"
"""Marks that stand between words: `?`, `–`, `/`. A word of nothing else is left out where others
are."""
_APOSTROPHES = "'’"
_WIDE_OR_NARROW = "[\uff01-\uffee]+"
_HUMP = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+"
_MEANINGFUL = re.compile(r"[+#@$%&=^~<>*|\\{}\[\]]")
"""ASCII symbols that are meant if a query has them: `C++`, `#tag`, `[[link]]`."""


def shorten(text: str, limit: int) -> str:
    """Return the beginning of a text, at most so many characters of it."""
    return text if len(text) <= limit else f"{text[:limit].rstrip()}…"


def quoted(words: Sequence[str], *, prefix: bool = False) -> str:
    """Return words that follow each other as an expression of the full-text index; `prefix`: the
    last may go on."""
    return f'"{" ".join(words)}"{"*" if prefix else ""}'


class Alternative(NamedTuple):
    """What one alternative of a query requires of a file."""

    expression: str | None
    """For the full-text index: None if it is not used, empty if no file can satisfy it."""
    exact: QueryNode | None
    """What must match exactly besides."""


class SearchPlan(NamedTuple):
    """A query in the words of a vault: a file that satisfies one of the alternatives is a
    result."""

    alternatives: tuple[Alternative, ...]
    terms: tuple[Term, ...] = ()
    """What results are weighed by."""
    expression: str = ""
    """The same for the full-text index; empty if there is nothing to weigh."""
    shown: tuple[Term, ...] = ()
    """Terms whose places are shown."""
    exact: tuple[QueryNode, ...] = ()
    """Queries whose places are shown."""
    light: tuple[Term, ...] = ()
    """Words that are not required, but say which files come first (SEARCH-56)."""
    is_wide: bool = False
    """Whether any of the words is enough (SEARCH-51)."""
    missing: tuple[str, ...] = ()
    """Words of a wide plan that no note has in any form."""
    found: int = 0
    """Files that have all the words, of a wide plan."""
    complete: str = ""
    """For the full-text index: all the words of a wide plan, near words for those that no note
    has."""


# Smart plans

Choice = tuple[Word | DatePattern, ...]
"""Words and dates of which a file must have one."""


class PlanAlternative(NamedTuple):
    """One alternative of a query, read: a file must have one of each choice, and match `exact`."""

    choices: tuple[Choice, ...]
    exact: QueryNode | None
    symbols: tuple[Word, ...] = ()
    """Bare words with symbols: parts of `exact`, until any of the words is enough."""
    loose: tuple[Choice, ...] = ()
    """The choices when any of the words is enough."""
    strict: QueryNode | None = None
    """What must match exactly even then (SEARCH-57)."""
    light: tuple[Word, ...] = ()
    """Words that are not required, but say which files come first."""
    spoken: tuple[str, ...] = ()
    """All bare words as they follow each other, folded."""


def read_groups(query: QueryNode, languages: Sequence[str]) -> list[PlanAlternative]:
    """Return the alternatives of a query; `languages` are those of the vault."""
    alternatives = query.parts if isinstance(query, Or) else (query,)
    return [_group(alternative, languages) for alternative in alternatives]


def _group(query: QueryNode, languages: Sequence[str]) -> PlanAlternative:
    choices: list[Choice] = []
    symbols: list[Word] = []
    strict: list[QueryNode] = []
    parts = query.parts if isinstance(query, And) else (query,)
    for part in parts:
        choice = _choice(part)
        if choice:
            choices.append(choice)
        elif not isinstance(part, Word):
            strict.append(part)
        elif (
            len(parts) == 1
            or _MEANINGFUL.search(part.text)
            or not regex.fullmatch(_MARKS, part.text)
        ):
            symbols.append(part)
    required, light = _required(list(dict.fromkeys(choices)), languages)
    dated = [split for choice in _with_days(required) for split in _with_dates(choice)]
    loose = [
        *dated,
        *((replace(word, text=_MEANINGFUL.sub(" ", word.text).strip()),) for word in symbols),
    ]
    spoken = [
        word
        for part in parts
        if isinstance(part, Word)
        for word in without_gaps(analysis.parse_sought_words(bare(part)).words)
    ]
    exact = _all([*strict, *symbols])
    return PlanAlternative(
        tuple(dated), exact, tuple(symbols), tuple(loose), _all(strict), tuple(light), tuple(spoken)
    )


def _all(parts: Sequence[QueryNode]) -> QueryNode | None:
    return And(tuple(parts)) if len(parts) > 1 else parts[0] if parts else None


def _choice(part: QueryNode) -> Choice:
    """The words of a bare word or of several joined by OR; empty for everything else."""
    parts = part.parts if isinstance(part, Or) else (part,)
    words = tuple([word for word in parts if isinstance(word, Word) and is_smart(word)])
    return words if len(words) == len(parts) else ()


def _required(
    choices: Sequence[Choice], languages: Sequence[str]
) -> tuple[list[Choice], list[Word]]:
    """The choices that say what is searched for, and words of those that only ask for it
    (SEARCH-56)."""
    empty = _stop_words(languages, {word for choice in choices for word in _bare_words(choice)})
    content = [choice for choice in choices if not empty.issuperset(_bare_words(choice))]
    required = [choice for choice in content if not ASKING.issuperset(_bare_words(choice))]
    if not required:
        return content or list(choices), []
    return required, [
        word
        for choice in content
        if choice not in required
        for word in choice
        if isinstance(word, Word)
    ]


def _stop_words(languages: Sequence[str], query: AbstractSet[str]) -> frozenset[str]:
    """The stop words of the languages of the vault, and of another one in which the words of the
    query are."""
    empty_words = frozenset[str]().union(
        *[STOP_WORDS[language] for language in languages if language in STOP_WORDS]
    )
    foreign = [words for language, words in STOP_WORDS.items() if language not in languages]
    return empty_words.union(
        *[words for words in foreign if len((query & words) - empty_words) >= FOREIGN_STOP_WORDS]
    )


def _bare_words(choice: Choice) -> list[str]:
    return [bare(word) for word in choice if isinstance(word, Word)]


def _with_days(choices: Sequence[Choice]) -> Iterator[Choice]:
    """The choices, those that make a date together in one (SEARCH-59)."""
    at = 0
    while at < len(choices):
        reading, word = None, _single(choices[at])
        if word is not None and (
            (first := bare(word))[:1].isdigit() or first.rstrip(".,") in dates.MONTH_OF
        ):
            following = [
                bare(following_word)
                for following_word in map(_single, choices[at : at + dates.LONGEST])
                if following_word is not None
            ]
            reading = dates.read(following)
        date, count = reading or (None, 1)
        if date is None:
            yield choices[at]
        else:
            yield (*choices[at], date) if count == 1 else (date,)
        at += count


def _with_dates(choice: Choice) -> Iterator[Choice]:
    """A choice, or what is around a date in a run of letters, and the date."""
    word = _single(choice)
    located = (
        dates.inside(analysis.fold(word.text))
        if word is not None and not word.text.isascii()
        else None
    )
    if word is None or located is None:
        yield choice
        return
    date, span = located
    yield (replace(word, text=word.text[span.start : span.end]), date)
    for remainder in (word.text[: span.start], word.text[span.end :]):
        around = replace(word, text=remainder)
        if is_smart(around):
            yield (around,)


def _single(choice: Choice) -> Word | None:
    return choice[0] if len(choice) == 1 and isinstance(choice[0], Word) else None


def smart_plan(
    read: Sequence[PlanAlternative], lexicon: Lexicon, *, wide: bool = False
) -> SearchPlan:
    """Return the plan that requires all the words, or with `wide` any of them."""
    alternatives: list[Alternative] = []
    complete: list[str] = []
    terms: list[Term] = []
    for group in read:
        expanded: list[Term] = []
        for choice in group.loose if wide else group.choices:
            word = _single(choice)
            expanded += (
                expand(word, lexicon, wide=wide)
                if word is not None
                else [_one_of(choice, lexicon, wide)]
            )
        expressions = _expressions(expanded)
        all_words = " AND ".join(expressions) if len(expressions) == len(expanded) else ""
        expression = all_words if expanded else None
        if wide and expanded:
            complete += [f"({all_words})"] if all_words else []
            expanded += list(_in_other_words(expanded, group.spoken, lexicon))
            expression = " OR ".join(_expressions(expanded))
        terms += expanded
        alternatives.append(Alternative(expression, group.strict if wide else group.exact))
    shown_terms = tuple([term for term in terms if term.variants or term.phrases])
    return SearchPlan(
        tuple(alternatives),
        shown_terms,
        " OR ".join([f"({part.expression})" for part in alternatives if part.expression]),
        shown_terms,
        tuple([part.exact for part in alternatives if part.exact is not None]),
        tuple(_light_terms(read, lexicon)),
        wide,
        tuple(_missing(read, lexicon)) if wide else (),
        complete=" OR ".join(complete),
    )


def _expressions(terms: Sequence[Term]) -> list[str]:
    return [f"({term.expression})" for term in terms if term.expression]


def _in_other_words(
    terms: Sequence[Term], spoken: Sequence[str], lexicon: Lexicon
) -> Iterator[Term]:
    """What the vault has of other words for some terms, and for two words that say something
    together (SEARCH-87)."""
    for term in terms:
        spellings = set(term.variants)
        for words in synonyms.find((term.text,), lexicon.languages):
            synonym = _other(words, term.text, lexicon)
            if synonym.phrases or not spellings.issuperset(synonym.variants):
                yield synonym
            spellings.update(synonym.variants)
    for pair in pairwise(spoken):
        for words in synonyms.find(pair, lexicon.languages):
            yield _other(words, " ".join(pair), lexicon)


def _other(words: tuple[str, ...], instead_of: str, lexicon: Lexicon) -> Term:
    if len(words) > 1:
        return Term(" ".join(words), {}, {words: SAME}, instead_of=instead_of)
    return Term(words[0], lexicon.variants(words[0]), instead_of=instead_of)


def _missing(read: Sequence[PlanAlternative], lexicon: Lexicon) -> Iterator[str]:
    """The words, as in the query, that no note has."""
    for word in (
        word for group in read for choice in group.loose if (word := _single(choice)) is not None
    ):
        parts = without_gaps(analysis.parse_sought_words(bare(word)).words)
        if len(parts) == 1 and analysis.is_spaced(parts[0][0]) and not lexicon.variants(parts[0]):
            yield word.text.strip(_SENTENCE_MARKS)


def _one_of(choice: Choice, lexicon: Lexicon, wide: bool) -> Term:
    """A choice as one term; if a word of several is expanded to several terms, only its forms
    count."""
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
    return Term(
        " ".join([bare(part) for part in choice if isinstance(part, Word)]), variants, phrases
    )


def _light_terms(read: Sequence[PlanAlternative], lexicon: Lexicon) -> list[Term]:
    light = [term for group in read for word in group.light for term in expand(word, lexicon)]
    light += [_literal(word, lexicon.vocabulary) for group in read for word in group.symbols]
    return [term for term in light if term.variants or term.phrases]


def is_smart(word: Word) -> bool:
    """Whether a bare word is found by its forms; one with symbols is found as it stands
    (SEARCH-50)."""
    text = bare(word)
    return bool(analysis.words(analysis.spread(text))) and not _MEANINGFUL.search(text)


def bare(word: Word) -> str:
    """A word folded, without the marks of a sentence around it."""
    return analysis.fold(word.text.strip(_SENTENCE_MARKS))


def expand(word: Word, lexicon: Lexicon, *, wide: bool = False) -> list[Term]:
    """The terms for a word, all needed. `wide`: parts of words count, and near words for one that
    no note has."""
    text = bare(word)
    sought = analysis.parse_sought_words(text).words
    parts = without_gaps(sought)
    if len(parts) == 1 and analysis.is_spaced(parts[0][0]):
        variants = lexicon.variants(parts[0])
        if wide:
            variants = lexicon.near(parts[0]) if lexicon.has_compounds or not variants else variants
            if not variants and (compound := lexicon.compound(parts[0])):
                return [Term(part, found) for part, found in compound]
        return [Term(text, variants, _humps(word.text.strip(_SENTENCE_MARKS)))]
    if any(not analysis.is_spaced(part[0]) for part in parts):
        return _unspaced(text, sought, lexicon, wide)
    if not wide:
        return [_joined(text, sought, lexicon)]
    # `node.js`: from here on its parts may stand apart
    return [
        Term(part, lexicon.variants(part) or lexicon.near(part))
        for part in _without_articles(text, parts)
    ]


def _joined(text: str, sought: tuple[str, ...], lexicon: Lexicon) -> Term:
    """Words with something between that is no space (SEARCH-55)."""
    parts = without_gaps(sought)
    usual = analysis.parse_sought_words(_usual_width(text)).words
    words = _without_articles(text, parts)
    variants = lexicon.variants(words[0]) if len(words) == 1 else {}  # `l'école`, `Anna's`
    return Term(text, variants, dict.fromkeys((sought, parts, ("".join(parts),), usual), SAME))


def _without_articles(text: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    """The parts without those that an apostrophe separates: `l'`, `qu'`, `'s`, `'ll`."""
    has_articles = any(mark in text for mark in _APOSTROPHES)
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


def _unspaced(text: str, sought: tuple[str, ...], lexicon: Lexicon, wide: bool) -> list[Term]:
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


# Exact plans


def exact_plan(query: QueryNode, vocabulary: Vocabulary) -> SearchPlan:
    """Return the plan of an exact search: results are weighed by the words that the query
    affirms."""
    terms: list[Term] = []
    expression = _affirmed(query, vocabulary, terms)
    return SearchPlan((Alternative(None, query),), tuple(terms), expression, (), (query,))


def _affirmed(query: QueryNode, vocabulary: Vocabulary, terms: list[Term]) -> str:
    match query:
        case And():
            parts = [part for node in query.parts if (part := _affirmed(node, vocabulary, terms))]
            return " AND ".join([f"({part})" for part in parts])
        case Or():
            parts = [_affirmed(node, vocabulary, terms) for node in query.parts]
            return " OR ".join([f"({part})" for part in parts]) if all(parts) else ""
        case ScopedQuery() if query.operator not in {"tag", "path", "file"}:
            return _affirmed(query.part, vocabulary, terms)
        case Word() | Phrase():
            term = _literal(query, vocabulary)
            if term.variants or term.phrases:
                terms.append(term)
            return term.expression
    return ""


def _literal(leaf: Word | Phrase, vocabulary: Vocabulary) -> Term:
    text = analysis.fold(leaf.text)
    sought = analysis.parse_sought_words(text, bounded=isinstance(leaf, Phrase))
    if len(sought.words) != 1:
        return Term(text, {}, {sought.words: SAME} if sought.words else {})
    (word,) = sought.words
    words = vocabulary.containing(
        word, from_start=not sought.open_start, to_end=not sought.open_end
    )
    nearest = nsmallest(PART_WORDS, words, key=lambda other: (len(other), other))
    variants = {other: SAME if other == word else PREFIX for other in nearest}
    return Term(text, variants, is_part=True)
