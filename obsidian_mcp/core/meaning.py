"""What a query looks for: its words as terms with their forms, and what must be exactly so (specs/search.md).

In a smart search the bare words of a query are found by what they mean; everything else keeps its exact meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from . import terms, words
from .content import Content
from .letters import fold
from .query import And, Node, Or, Phrase, Scope, Word
from .scene import Scene
from .terms import Term
from .vocabulary import Vocabulary

WEIGHED = 8
"""Words of the vocabulary that stand for a part of a word where results are put in order."""

Choice = tuple[Word, ...]
"""Words of which one must be there."""


@dataclass(frozen=True, slots=True)
class Group:
    """What a file must have: of each choice one word, and what `exact` asks for."""

    choices: tuple[Choice, ...]
    exact: Node | None


def groups(query: Node) -> list[Group]:
    """The alternatives of a query; a file that meets one is a result."""
    alternatives = query.parts if isinstance(query, Or) else (query,)
    return [_group(alternative) for alternative in alternatives]


def _group(query: Node) -> Group:
    parts = query.parts if isinstance(query, And) else (query,)
    choices: list[Choice] = []
    exact: list[Node] = []
    for part in parts:
        choice = _choice(part)
        if choice:
            choices.append(choice)
        else:
            exact.append(part)
    telling = [choice for choice in choices if not all(fold(word.text) in terms.STOP_WORDS for word in choice)]
    rest = And(tuple(exact)) if len(exact) > 1 else exact[0] if exact else None
    return Group(tuple(telling or choices), rest)


def _choice(part: Node) -> Choice:
    """The words of a bare word or of several joined by OR; empty for everything else."""
    found = tuple(each for each in (part.parts if isinstance(part, Or) else (part,)) if isinstance(each, Word))
    if len(found) == (len(part.parts) if isinstance(part, Or) else 1) and all(map(terms.is_smart, found)):
        return found
    return ()


class Reading:
    """The words of some groups as terms, in one of the circles of `terms.WIDENINGS`."""

    def __init__(self, asked: Sequence[Group], vocabulary: Vocabulary, languages: Sequence[str], width: int) -> None:
        self._vocabulary = vocabulary
        self._languages = languages
        self._any = width == len(terms.WIDENINGS) - 1
        self._width = width
        self.groups = [[self._term(choice) for choice in group.choices] for group in asked]

    @property
    def terms(self) -> list[Term]:
        return [term for group in self.groups for term in group]

    def _term(self, choice: Choice) -> Term:
        found = [self._one(word) for word in choice]
        if len(found) == 1:
            return found[0]
        variants = {word: weight for each in reversed(found) for word, weight in each.variants.items()}
        return Term(" ".join(each.text for each in found), variants, tuple(p for each in found for p in each.phrases))

    def _one(self, word: Word) -> Term:
        """Mistakes are looked for only in words that no note has."""
        near = terms.term(word, self._vocabulary, self._languages, min(self._width, 1))
        if self._width < 2 or (near.asked and not near.every and not near.phrases):
            return near
        return terms.term(word, self._vocabulary, self._languages, self._width)

    def asked(self, group: Sequence[Term]) -> str:
        """A group for the full-text index."""
        parts = [term.asked for term in group]
        if self._any:
            return " OR ".join(filter(None, parts))
        return " AND ".join(f"({part})" for part in parts) if all(parts) else ""

    def rows(self, scene: Scene, asked: Sequence[Group]) -> set[int]:
        """Files of the rows that are results."""
        found: set[int] = set()
        for group, read in zip(asked, self.groups, strict=True):
            files: AbstractSet[int] | None = None
            if read:
                expression = self.asked(read)
                files = scene.lookup.having(expression) & scene.files if expression else set()
            if group.exact is not None and (files is None or files):
                files = scene.matching(group.exact, files)
            found.update(files or ())
        return found

    def is_told_by(self, group: Sequence[Term], told: Content) -> bool:
        """Whether the contents of a file have what a group asks for."""
        have = set(told.words.split())
        held = [_holds(term, have, told) for term in group]
        return any(held) if self._any else all(held)


def _holds(term: Term, have: set[str], told: Content) -> bool:
    if not have.isdisjoint(term.variants):
        return True
    found = [have.issuperset(phrase) and _follow(phrase, told) for phrase in term.phrases]
    return bool(found) and (all(found) if term.every else any(found))


def _follow(phrase: tuple[str, ...], told: Content) -> bool:
    wanted = f" {' '.join(phrase)} ".encode()
    return any(wanted in b" " + b" ".join(words.words(field)) + b" " for field in told[1:7])


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
    wanted = words.wanted(text, bounded=isinstance(leaf, Phrase))
    if len(wanted.words) > 1:
        return Term(text, {}, (wanted.words,))
    if not wanted.words:
        return Term(text)
    (word,) = wanted.words
    parts = vocabulary.containing(word, from_start=not wanted.open_start, to_end=not wanted.open_end)
    same = {each: terms.SAME if each == word else terms.BEGINNING for each in parts[:WEIGHED]}
    return Term(text, same, part=True)
