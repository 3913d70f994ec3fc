"""What a query looks for: its words as terms with their forms, and what must be exactly so (specs/search.md).

In a smart search the bare words of a query are found by what they mean; everything else keeps its exact meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from obsidian_mcp.core.index.search_document import Content
from obsidian_mcp.core.query.parser import And, Node, Or, Phrase, Scope, Word
from obsidian_mcp.core.text import tokenizer
from obsidian_mcp.core.text.casefold import fold
from obsidian_mcp.core.text.stopwords import ASKING, STOP_WORDS

from . import dates
from . import expand as terms
from .dates import Date
from .expand import Term
from .snapshot import Scene
from .term_table import BEGINNING, SAME, Lexicon
from .vocabulary import Vocabulary

WEIGHED = 4
"""Words of the vocabulary that stand for a part of a word where results are put in order."""
MONTH_ALONE = 0.5
"""What a date counts for which only the name of its month was given."""

Choice = tuple[Word | Date, ...]
"""Words and dates of which one must be there."""


@dataclass(frozen=True, slots=True)
class Group:
    """What a file must have: of each choice one, and what `exact` asks for."""

    choices: tuple[Choice, ...]
    exact: Node | None
    symbols: tuple[Word, ...] = ()
    """Bare words with symbols: they are parts of `exact`, until any of the words will do."""
    loose: tuple[Choice, ...] = ()
    """What is looked for when any of the words will do."""
    strict: Node | None = None
    """What is asked for exactly even then."""
    light: tuple[Word, ...] = ()
    """Words that are not asked for, but tell which files come first."""


def groups(query: Node) -> list[Group]:
    """The alternatives of a query; a file that meets one is a result."""
    alternatives = query.parts if isinstance(query, Or) else (query,)
    return [_group(alternative) for alternative in alternatives]


def _group(query: Node) -> Group:
    choices: list[Choice] = []
    symbols: list[Word] = []
    strict: list[Node] = []
    parts = query.parts if isinstance(query, And) else (query,)
    for part in parts:
        choice = _choice(part)
        if choice:
            choices.append(choice)
        elif not isinstance(part, Word):
            strict.append(part)
        elif not terms.is_mark(part) or len(parts) == 1:
            symbols.append(part)
    telling, light = _telling(list(dict.fromkeys(choices)))
    dated = [each for choice in _with_days(telling) for each in _with_dates(choice)]
    loose = [*dated, *((terms.without_symbols(word),) for word in symbols)]
    return Group(tuple(dated), _all([*strict, *symbols]), tuple(symbols), tuple(loose), _all(strict), tuple(light))


def _all(parts: Sequence[Node]) -> Node | None:
    return And(tuple(parts)) if len(parts) > 1 else parts[0] if parts else None


def _choice(part: Node) -> Choice:
    """The words of a bare word or of several joined by OR; empty for everything else."""
    found = tuple(each for each in (part.parts if isinstance(part, Or) else (part,)) if isinstance(each, Word))
    if len(found) == (len(part.parts) if isinstance(part, Or) else 1) and all(map(terms.is_smart, found)):
        return found
    return ()


def _telling(choices: Sequence[Choice]) -> tuple[list[Choice], list[Word]]:
    """The choices that tell what is looked for, and words of those that only ask for it."""
    content = [choice for choice in choices if not _within(choice, STOP_WORDS)]
    telling = [choice for choice in content if not _within(choice, ASKING)]
    if not telling:
        return content or list(choices), []
    return telling, [word for choice in content if choice not in telling for word in choice if isinstance(word, Word)]


def _within(choice: Choice, known: AbstractSet[str]) -> bool:
    return all(isinstance(word, Word) and terms.bare(word) in known for word in choice)


def _with_days(choices: Sequence[Choice]) -> Iterator[Choice]:
    """The choices, those that make a date together in one."""
    at = 0
    while at < len(choices):
        following = [terms.bare(word) for word in map(_single, choices[at : at + dates.LONGEST]) if word is not None]
        found = dates.read(following) if _single(choices[at]) is not None else None
        if found is None:
            yield choices[at]
            at += 1
            continue
        date, count = found
        yield (*choices[at], date) if count == 1 else (date,)
        at += count


def _with_dates(choice: Choice) -> Iterator[Choice]:
    """A choice, or what stands around a date in a run of letters, and the date."""
    word = _single(choice)
    found = dates.inside(fold(word.text)) if word is not None else None
    if word is None or found is None:
        yield choice
        return
    date, span = found
    written = replace(word, text=span.of(word.text))
    yield (written, date)
    for rest in (word.text[: span.start], word.text[span.end :]):
        around = replace(word, text=rest)
        if terms.is_smart(around):
            yield (around,)


def _single(choice: Choice) -> Word | None:
    return choice[0] if len(choice) == 1 and isinstance(choice[0], Word) else None


class Reading:
    """The words of some groups as terms, in one of the circles of `terms.WIDENINGS`."""

    def __init__(self, asked: Sequence[Group], lexicon: Lexicon, width: int) -> None:
        self._lexicon = lexicon
        self._width = width
        self._any = width == len(terms.WIDENINGS) - 1
        choices = [group.loose if self._any else group.choices for group in asked]
        self.exact = [group.strict if self._any else group.exact for group in asked]
        """What each group asks for exactly."""
        self.groups = [[term for choice in some for term in self._terms(choice)] for some in choices]
        """What is looked for in place of the words of each group."""
        self.conditions = list(zip(map(self._asked, self.groups), self.exact, strict=True))
        """The same for the full-text index, and what is asked exactly."""

    @property
    def terms(self) -> list[Term]:
        return [term for group in self.groups for term in group]

    def _terms(self, choice: Choice) -> list[Term]:
        word = _single(choice)
        return self._of(word, self._width) if word is not None else [self._one_of(choice)]

    def _of(self, word: Word, width: int) -> list[Term]:
        return terms.terms(word, self._lexicon, width)

    def _one_of(self, choice: Choice) -> Term:
        """A choice as one term; the parts of a word that is one of several do not stand apart."""
        variants: dict[str, float] = {}
        phrases: dict[tuple[str, ...], float] = {}
        for each in choice:
            if isinstance(each, Date):
                weight = MONTH_ALONE if each.is_month_alone else SAME
                phrases |= dict.fromkeys(each.phrases(self._lexicon.vocabulary.has), weight)
                continue
            found = self._of(each, self._width)
            for term in found if len(found) == 1 else self._of(each, 0):
                variants = {**term.variants, **variants}
                phrases = {**term.phrases, **phrases}
        return Term(" ".join(terms.bare(each) for each in choice if isinstance(each, Word)), variants, phrases)

    def _asked(self, group: Sequence[Term]) -> str:
        """A group for the full-text index."""
        parts = [term.asked for term in group]
        if self._any:
            return " OR ".join(filter(None, parts))
        return " AND ".join(f"({part})" for part in parts) if all(parts) else ""

    def rows(self, scene: Scene) -> AbstractSet[int]:
        """Files of the rows that are results."""
        found: AbstractSet[int] = frozenset()
        for read, (expression, exact) in zip(self.groups, self.conditions, strict=True):
            files: AbstractSet[int] | None = None
            if read:
                files = scene.lookup.having(expression) if expression else frozenset()
            if exact is not None and (files is None or files):
                files = scene.matching(exact, files)
            if files:
                found = found | files if found else files
        return found

    def is_told_by(self, group: Sequence[Term], told: Content) -> bool:
        """Whether the contents of a file have what a group asks for."""
        have = set(told.words.split())
        held = [_holds(term, have, told) for term in group]
        return any(held) if self._any else all(held)


def light_terms(asked: Sequence[Group], lexicon: Lexicon) -> list[Term]:
    """What tells which files come first, beside the words that are asked for."""
    light = (term for group in asked for word in group.light for term in terms.terms(word, lexicon, 0))
    literal = (_literal(word, lexicon.vocabulary) for group in asked for word in group.symbols)
    return [term for term in (*light, *literal) if term.asked]


def _holds(term: Term, have: set[str], told: Content) -> bool:
    if not have.isdisjoint(term.variants):
        return True
    return any(
        have.issuperset(each for each in phrase if each != tokenizer.GAP) and _follow(phrase, told)
        for phrase in term.phrases
    )


def _follow(phrase: tuple[str, ...], told: Content) -> bool:
    wanted = f" {' '.join(phrase)} ".encode()
    return any(wanted in b" " + b" ".join(tokenizer.words(field)) + b" " for field in told[1:7])


def literal_terms(query: Node, vocabulary: Vocabulary) -> tuple[list[Term], str]:
    """What an exact query affirms, to weigh its results: as terms, and for the full-text index."""
    terms_: list[Term] = []
    return terms_, _literally(query, vocabulary, terms_)


def _literally(query: Node, vocabulary: Vocabulary, found: list[Term]) -> str:
    match query:
        case And():
            parts = [each for part in query.parts if (each := _literally(part, vocabulary, found))]
            return " AND ".join(f"({part})" for part in parts)
        case Or():
            parts = [_literally(part, vocabulary, found) for part in query.parts]
            return " OR ".join(f"({part})" for part in parts) if all(parts) else ""
        case Scope() if query.operator not in {"tag", "path", "file"}:
            return _literally(query.part, vocabulary, found)
        case Word() | Phrase():
            term = _literal(query, vocabulary)
            if term.asked:
                found.append(term)
            return term.asked
    return ""


def _literal(leaf: Word | Phrase, vocabulary: Vocabulary) -> Term:
    text = fold(leaf.text)
    wanted = tokenizer.wanted(text, bounded=isinstance(leaf, Phrase))
    if len(wanted.words) > 1:
        return Term(text, {}, {wanted.words: SAME})
    if not wanted.words:
        return Term(text)
    (word,) = wanted.words
    parts = vocabulary.containing(word, from_start=not wanted.open_start, to_end=not wanted.open_end)
    same = {each: SAME if each == word else BEGINNING for each in parts[:WEIGHED]}
    return Term(text, same, part=True)
