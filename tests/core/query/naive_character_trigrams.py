"""Kinds of characters written as plainly as possible, to compare core/query/character_trigrams.py with."""

from __future__ import annotations

import string
from itertools import groupby

from obsidian_mcp.core.query import character_trigrams
from obsidian_mcp.core.query.regexp import RegExp


def kind(char: str) -> str:
    if char in string.ascii_letters:
        return "a"
    if char in string.digits:
        return "d"
    if char in "\r\n":
        return "n"
    if char in string.punctuation:
        return character_trigrams.of(char)
    return "u" if ord(char) > 127 else "s"


def collapsed(text: str) -> str:
    """The kinds of a text: of a run of letters two, of one of characters beyond ASCII one."""
    runs = [(told, len(list(run))) for told, run in groupby(map(kind, text))]
    return "".join(told * (min(length, 2) if told == "a" else 1 if told == "u" else length) for told, length in runs)


def triples(text: str) -> set[str]:
    told = collapsed(f"\n{text}\n")
    return {told[at : at + 3] for at in range(len(told) - 2)}


def may_hold(expression: RegExp, text: str) -> bool:
    """Whether a text has what every match asks for."""
    told = collapsed(text)
    return all(any(part in told for part in condition) for condition in expression.neighbours)
