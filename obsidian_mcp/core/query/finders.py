"""Search one text for a leaf of a query: a word, a phrase, a regular expression or a tag."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol

import regex

from obsidian_mcp.core.text.analysis import fold, phrase, substring

from .nodes import Phrase, Regex, Word
from .regexp import END, translate


class Finder(Protocol):
    """Searches a text. Its methods raise OperationTimeout."""

    def is_found_in(self, text: str, start: int = 0, end: int = END) -> bool:
        """Return whether `text[start:end]`, by itself, has what is searched for."""

    def spans(self, text: str) -> Iterable[tuple[int, int]]: ...


class LiteralFinder(NamedTuple):
    """A word or phrase.

    Searches are not concurrent: they keep the interpreter's lock. A search of 2 KB takes 1 µs, and
    thousands of searches that give up the lock would each wait for it while another thread works:
    five times the time during a checkout. The argument `False` of `Pattern.search` says so by its
    place, which is quicker than a keyword.
    """

    pattern: regex.Pattern[str]

    def is_found_in(self, text: str, start: int = 0, end: int = END) -> bool:
        # A phrase also sees the text before `start`; no word goes on from there into a part.
        return self.pattern.search(text, start, end, False) is not None

    def find_first(self, text: str, start: int, end: int) -> int:
        """Return where the literal begins first in `text[start:end]`; -1 if it is not there."""
        match = self.pattern.search(text, start, end, False)
        return match.start() if match else -1

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        # The empty phrase matches every text, at no place of it.
        matches = self.pattern.finditer(text)
        return (match.span() for match in matches if match.end() > match.start())


def make_finder(
    leaf: Word | Phrase | Regex, match_case: bool | None, *, in_path: bool = False
) -> Finder:
    """Return the finder of a leaf.

    `match_case` None is the default, which ignores case. `in_path`: the finder searches paths,
    which are NFC, so the leaf's text is made NFC, too.
    """
    if isinstance(leaf, Regex):
        return translate(leaf.source, match_case=bool(match_case))
    text = unicodedata.normalize("NFC", leaf.text) if in_path else leaf.text
    pattern = phrase if isinstance(leaf, Phrase) else substring
    return LiteralFinder(pattern(text, match_case=bool(match_case)))


def make_tag_test(leaf: Word | Phrase | Regex) -> tuple[str, Callable[[str], bool]]:
    """Return the folded name of the tag that a leaf means, and a test of tags without `#`.

    The name is empty for a regular expression, and where every tag is meant. The test accepts the
    tag itself and tags below it, in any case (semantics 3.4) (QUERY-13).
    """
    if isinstance(leaf, Regex):
        searched = translate(leaf.source)
        return "", lambda tag: searched.is_found_in(tag) or searched.is_found_in(f"#{tag}")
    name = fold(leaf.text).removeprefix("#").rstrip("/")
    below = f"{name}/"

    def accepts(tag: str) -> bool:
        folded = fold(tag)
        return not name or folded == name or folded.startswith(below)

    return name, accepts
