"""Which kinds of characters follow each other in a text (specs/search.md, SEARCH-80 to 84).

That often tells where a regular expression without a literal word can match: `/\\w+@\\w+/` only where an `@` stands
between letters. The index holds of each text the different triples of its kinds, collapsed. What stands in a text has,
collapsed, its place in the collapsed text: so a text without some triple has nothing that needs it.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from itertools import product

VERSION = "1"
"""To be raised whenever the same text would give other triples: indexes made before are made anew."""

LETTER, DIGIT, LINE_END, SPACE, FOREIGN = "adnsu"
"""ASCII letters of either case, ASCII digits, LF and CR, every other control character, everything beyond ASCII."""

Condition = tuple[str, ...]
"""Up to three kinds each, of which at least one stands in every text that is meant."""

MOST = 4
"""Conditions of one expression: more exclude hardly more files."""
MOST_STRINGS = 64
"""In one condition."""

_MARKS = string.punctuation.replace("~", "")  # `~` is of the kind of `^`: so there are as many kinds as names for them
_NAMES = [each for each in string.ascii_lowercase + string.digits if each not in "adnsu"]
_OF_MARK = dict(zip(_MARKS, _NAMES, strict=True)) | {"~": _NAMES[_MARKS.index("^")]}


def _of_ascii(char: str) -> str:
    if char.isalnum():
        return LETTER if char.isalpha() else DIGIT
    return LINE_END if char in "\r\n" else _OF_MARK.get(char, SPACE)


_KINDS = "".join(_of_ascii(chr(code)) for code in range(128)) + FOREIGN * 128
_TABLE = _KINDS.encode()
"""For each byte of UTF-8: the bytes of one character are one run of FOREIGN."""
_FOREIGN_RUN = re.compile(b"uu+")
_RUN = re.compile("aaa+|uu+")

_USUAL = {LETTER: 0.75, SPACE: 0.15, LINE_END: 0.03, DIGIT: 0.03, FOREIGN: 0.006}
_USUAL |= {_OF_MARK[mark]: 0.01 for mark in ".,-"} | {_OF_MARK[mark]: 0.004 for mark in "#[]()/:'\"*_`"}
_RARE = 0.0005
_NOTE = 4000
"""Characters of a usual note."""
_TELLING = 16.0
"""A condition is expected at so many places of a note at most, by the share that each kind has of the characters."""


def of(chars: str) -> str:
    """The different kinds of some characters."""
    return "".join(sorted({_KINDS[min(ord(char), 128)] for char in chars}))


def of_range(first: str, last: str) -> str:
    """The different kinds of the characters from `first` to `last`."""
    return "".join(sorted(set(_KINDS[min(ord(first), 128) : min(ord(last), 128) + 1])))


def in_any_case(told: str) -> str:
    """With the kinds of the same characters in another case: `ſ` is `s`, and the sign for Kelvin is `k`."""
    return "".join(sorted({*told, LETTER, FOREIGN})) if LETTER in told or FOREIGN in told else told


def collapsed(told: str) -> str:
    """Kinds with every run of letters cut to two, and every run of characters beyond ASCII to one."""
    return _RUN.sub(lambda run: "aa" if run[0][0] == LETTER else FOREIGN, told)


def triples(text: str) -> str:
    """The different triples of the collapsed kinds of a text between two line ends, as words.

    Every kind and every pair in it begins a triple. `text` holds no lone surrogates.
    """
    told = b"n%bn" % text.encode().translate(_TABLE)
    if not text.isascii():
        told = _FOREIGN_RUN.sub(b"u", told)
    # No triple goes over two letters: so what stands between longer words is looked at once, however often it comes. Of
    # a word up to two letters are left over, with which the next part begins.
    different = {part.lstrip(b"a") for part in set(told.split(b"aaa"))} - {b""}
    shown = b"aa%baa" % b"aa".join(different)
    return b" ".join(map(bytes, set(zip(shown, shown[1:], shown[2:], strict=False)))).decode()


class Neighbours:
    """Gathers the conditions of characters that follow each other in every match, as an expression is read."""

    def __init__(self) -> None:
        self._run: list[str] = []
        self._found: set[Condition] = set()

    def add(self, told: str | None, least: int = 1, most: int = 1) -> None:
        """A character of one of these kinds (None: anything may stand here) so many times; "" is of no width."""
        if told == "":
            return
        if told is None or not least:
            self._end()
            return
        self._run += [told] * min(least, 3)
        if most > least:
            self._end()
            self._run = [told] * min(least, 2)

    def require(self, conditions: Iterable[Condition]) -> None:
        """What else every match asks for."""
        self._found.update(conditions)

    def conditions(self) -> tuple[Condition, ...]:
        """The most telling ones, best first. To be asked for once, at the end."""
        self._end()
        best: list[Condition] = []
        for each in sorted(self._found, key=lambda each: (_expected(each), each)):
            if len(best) < MOST and not any(_implies(other, each) for other in best):
                best.append(each)
        return tuple(best)

    def _end(self) -> None:
        run, self._run = self._run, []
        for at in range(max(len(run) - 2, 1) if run else 0):
            window = run[at : at + 3]
            size = 1
            for told in window:
                size *= len(told)
            if size <= MOST_STRINGS:
                self._found.update(_telling(collapsed("".join(each)) for each in product(*window)))


def united(branches: Iterable[tuple[Condition, ...]]) -> tuple[Condition, ...]:
    """What a text holds that matches one of several branches, by the conditions of each."""
    best = [conditions[0] if conditions else () for conditions in branches]
    return _telling(part for condition in best for part in condition) if all(best) else ()


def _telling(strings: Iterable[str]) -> tuple[Condition, ...]:
    """The condition of these, where it excludes anything worth mentioning."""
    given = set(strings)
    left = tuple(sorted(each for each in given if not any(other in each for other in given - {each})))
    return (left,) if left and len(left) <= MOST_STRINGS and _expected(left) <= _TELLING else ()


def _implies(one: Condition, other: Condition) -> bool:
    return all(any(part in each for part in other) for each in one)


def _expected(condition: Condition) -> float:
    """How often one of its strings stands in a note."""
    total = 0.0
    for each in condition:
        places = float(_NOTE)
        for told in each:
            places *= _USUAL.get(told, _RARE)
        total += places
    return total
