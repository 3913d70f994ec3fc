"""Regular expressions of JavaScript, translated for `regex`.

See semantics 5.3; QUERY-30 to QUERY-34.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple, TypeVar

import regex

from obsidian_mcp.core.text.analysis import SPACED, substring
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.errors import OperationTimeout

from .regexp_characters import InvalidRegExp
from .regexp_reader import Clause, RegExpReader

__all__ = ["InvalidRegExp", "RegExp", "translate"]

SECONDS = 1.0
"""Longest search for one match of a regular expression in one text."""
LEAST_SECONDS = 0.001
"""Shortest limit of one attempt: `regex` takes 0 to mean no time at all."""
SOURCE_SHOWN = 99
"""Code points of an expression in a message."""
END = 2**31 - 1
"""Behind the end of every text: the largest place that `regex` accepts on Windows."""
SearchOutcome = TypeVar("SearchOutcome")

_IN_WORDS = (
    rf"(?:[A-Za-z0-9]|(?={SPACED})[^\x00-\x7f]|\\[wdb]"
    r"|\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[A-Za-z0-9]|\\[wd])+\]"
    r"|\((?:\?:)?|\)|\||[*+?]|\{[0-9]+(?:,[0-9]*)?\})+"
)
"""Sources made only of letters, digits and classes of them, groups and repeats.

It is a text, not a pattern: `regex` compiles and remembers it at the first such query.
"""


def search_within_limit(attempt: Callable[..., SearchOutcome]) -> SearchOutcome:
    """Return the result of a search, whose keyword `timeout` is the seconds that it may take.

    The clock of `regex` counts the work of all threads on some systems and runs ahead of ours. So a
    search that `regex` stops too early goes on from its beginning, until our clock says that the
    time is over.
    Raises: TimeoutError after SECONDS; OperationTimeout when the time of the call is over.
    """
    end = time.monotonic() + SECONDS
    while True:
        limit = current_call.get().limit
        if limit is not None and limit.passed:
            raise limit.error()
        remaining = end - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        try:
            return attempt(
                timeout=remaining
                if limit is None
                else max(min(remaining, limit.remaining), LEAST_SECONDS)
            )
        except TimeoutError:
            continue


class RegExp(NamedTuple):
    """A compiled source, made by `translate`. A search in one text takes at most SECONDS."""

    source: str
    pattern: regex.Pattern[str]
    clauses: tuple[Clause, ...]
    """Every matching text contains a string of each clause; strings have two letters or more."""
    groups: tuple[str | None, ...]
    """Names of the capturing groups; None for a group without a name."""

    @property
    def in_words(self) -> bool:
        """Return whether it can only match letters and digits that are parts of one word, or `_`
        between them."""
        return (
            regex.fullmatch(_IN_WORDS, self.source) is not None and self.pattern.search("") is None
        )

    @property
    def sees_underscores(self) -> bool:
        """Return whether an underscore beside or in a word matters.

        It is asked of an expression that is `in_words`.
        """
        return "\\w" in self.source or "\\b" in self.source

    def find_first(self, text: str, start: int, end: int) -> int:
        """Return where the first match in `text[start:end]` begins, -1 without one.

        Raises: OperationTimeout.
        """
        try:
            match = search_within_limit(partial(self.pattern.search, text, start, end))
        except TimeoutError:
            raise self._timeout() from None
        return match.start() if match else -1

    def is_found_in(self, text: str, start: int = 0, end: int = END) -> bool:
        """Return whether `text[start:end]`, by itself, matches.

        Raises: OperationTimeout.
        """
        text = text[start:end]
        # A search for a plain string is several times faster than most expressions.
        for clause in self.clauses:
            if not any(substring(part, match_case=False).search(text) for part in clause):
                return False
        try:
            return search_within_limit(partial(self.pattern.search, text)) is not None
        except TimeoutError:
            raise self._timeout() from None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the matches that are not empty.

        Raises: OperationTimeout.
        """
        at = 0
        while at <= len(text):
            try:
                match = search_within_limit(partial(self.pattern.search, text, at))
            except TimeoutError:
                raise self._timeout() from None
            if match is None:
                return
            start, end = match.span()
            if end > start:
                yield start, end
            at = max(end, start + 1)

    def _timeout(self) -> OperationTimeout:
        beginning = cut_text(self.source, SOURCE_SHOWN)
        return OperationTimeout(
            f"The regular expression /{beginning}/ ran for more than {SECONDS:g} s on one file and "
            "was stopped. Make it simpler: a repeat inside a repeat, as in (a+)+, is the usual "
            "cause.",
            regex=self.source,
            seconds=SECONDS,
        )


@lru_cache(maxsize=256)
def translate(
    source: str, *, match_case: bool = False, multiline: bool = True, dot_all: bool = False
) -> RegExp:
    """Return a source of JavaScript as a RegExp.

    `multiline` and `dot_all` are the flags `m` and `s`.

    Raises: InvalidRegExp.
    """
    reader = RegExpReader(source, match_case=match_case, multiline=multiline, dot_all=dot_all)
    whole = reader.read_source()
    flags = regex.VERSION0 | (0 if match_case or reader.caseless else regex.IGNORECASE)
    try:
        pattern = regex.compile("".join(reader.out), flags)
    except regex.error as problem:
        # The stubs do not know these two attributes.
        at = getattr(problem, "pos", None) or 0
        message = getattr(problem, "msg", "it cannot be read")
        raise InvalidRegExp(reader.place(at), message) from None
    return RegExp(source, pattern, whole.clauses, reader.groups)
