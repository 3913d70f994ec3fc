"""A query in plain words, read: which words and days a file must have (SEARCH-50 to 58)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

import regex

from obsidian_mcp.core.query.nodes import And, Or, QueryNode, Word
from obsidian_mcp.core.text import analysis
from obsidian_mcp.core.text.stopwords import ASKING, STOP_WORDS

from . import dates
from .dates import DatePattern
from .term import without_gaps

FOREIGN_STOP_WORDS = 2
"""Stop words of a language that the vault is not in, by which a query is in that language."""
MONTH_ALONE = 0.5
"""Weight of a date of which only the name of its month is given."""
SENTENCE_MARKS = ".,;:!?…\"'’“”„«»‘`¿¡–—·、。，；：？！「」『』（）《》【】"
_MARKS = r"\p{P}+"
"""Marks that stand between words: `?`, `–`, `/`. A word of nothing else is left out where others
are."""
APOSTROPHES = "'’"
_MEANINGFUL = re.compile(r"[+#@$%&=^~<>*|\\{}\[\]]")
"""ASCII symbols that are meant if a query has them: `C++`, `#tag`, `[[link]]`."""


# Smart plans

WordChoice = tuple[Word | DatePattern, ...]
"""Words and dates of which a file must have one."""


class PlanAlternative(NamedTuple):
    """One alternative of a query, read: a file must have one of each choice, and match `exact`."""

    choices: tuple[WordChoice, ...]
    exact: QueryNode | None
    symbols: tuple[Word, ...] = ()
    """Bare words with symbols: parts of `exact`, until any of the words is enough."""
    loose: tuple[WordChoice, ...] = ()
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
    choices: list[WordChoice] = []
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
    required, light = _split_required(list(dict.fromkeys(choices)), languages)
    dated = [split for choice in _with_days(required) for split in _with_dates(choice)]
    loose = [
        *dated,
        *((replace(word, text=_MEANINGFUL.sub(" ", word.text).strip()),) for word in symbols),
    ]
    spoken = [
        word
        for part in parts
        if isinstance(part, Word)
        for word in without_gaps(analysis.parse_sought_words(strip_marks(part)).words)
    ]
    exact = _join_parts([*strict, *symbols])
    return PlanAlternative(
        tuple(dated),
        exact,
        tuple(symbols),
        tuple(loose),
        _join_parts(strict),
        tuple(light),
        tuple(spoken),
    )


def _join_parts(parts: Sequence[QueryNode]) -> QueryNode | None:
    return And(tuple(parts)) if len(parts) > 1 else parts[0] if parts else None


def _choice(part: QueryNode) -> WordChoice:
    """The words of a bare word or of several joined by OR; empty for everything else."""
    parts = part.parts if isinstance(part, Or) else (part,)
    words = tuple([word for word in parts if isinstance(word, Word) and is_smart(word)])
    return words if len(words) == len(parts) else ()


def _split_required(
    choices: Sequence[WordChoice], languages: Sequence[str]
) -> tuple[list[WordChoice], list[Word]]:
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


def _bare_words(choice: WordChoice) -> list[str]:
    return [strip_marks(word) for word in choice if isinstance(word, Word)]


def _with_days(choices: Sequence[WordChoice]) -> Iterator[WordChoice]:
    """The choices, those that make a date together in one (SEARCH-59)."""
    at = 0
    while at < len(choices):
        reading, word = None, single_word(choices[at])
        if word is not None and (
            (first := strip_marks(word))[:1].isdigit() or first.rstrip(".,") in dates.MONTH_OF
        ):
            following = [
                strip_marks(following_word)
                for following_word in map(single_word, choices[at : at + dates.LONGEST])
                if following_word is not None
            ]
            reading = dates.read_date(following)
        date, count = reading or (None, 1)
        if date is None:
            yield choices[at]
        else:
            yield (*choices[at], date) if count == 1 else (date,)
        at += count


def _with_dates(choice: WordChoice) -> Iterator[WordChoice]:
    """A choice, or what is around a date in a run of letters, and the date."""
    word = single_word(choice)
    located = (
        dates.find_date_inside(analysis.fold(word.text))
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


def single_word(choice: WordChoice) -> Word | None:
    return choice[0] if len(choice) == 1 and isinstance(choice[0], Word) else None


def is_smart(word: Word) -> bool:
    """Whether a bare word is found by its forms; one with symbols is found as it stands
    (SEARCH-50)."""
    text = strip_marks(word)
    return bool(analysis.words(analysis.spread(text))) and not _MEANINGFUL.search(text)


def strip_marks(word: Word) -> str:
    """A word folded, without the marks of a sentence around it."""
    return analysis.fold(word.text.strip(SENTENCE_MARKS))
