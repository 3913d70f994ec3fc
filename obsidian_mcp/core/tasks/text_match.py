"""How a filter compares texts (TASK-104, TASK-105).

It looks for a part of a text in any case, or for a regular expression of JavaScript.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.errors import QueryInvalid

from .explanation import Explanation

if TYPE_CHECKING:
    from obsidian_mcp.core.query.regexp import RegExp

MAX_REGEXP_LENGTH = 500

MAX_REPETITIONS = 25
"""Repetitions of an expression. More of them, or one in another, can take very long."""

_REGEXP_HELP = "Write it as /pattern/ or /pattern/flags, for example /waiting|waits/i."


def contains(value: str) -> Callable[[str], bool]:
    """Return the test whether a text contains this one, in any case."""
    lower = value.lower()
    return lambda text: lower in text.lower()


def parse_regexp(line: str, value: str) -> tuple[Callable[[str], bool], Explanation]:
    """Return the test of a line's `/…/flags`, and how it is explained (TASK-105).

    `line` is the whole instruction and `value` the expression at its end.
    Raises: QueryInvalid.
    """
    match = re.fullmatch(r"/(.+)/([^/]*)", value)
    if match is None:
        raise QueryInvalid(f"Invalid instruction: {line!r}. {_REGEXP_HELP}", line=line)
    source, flags = match.groups()
    pattern = _compile_regexp(source, flags)
    if isinstance(pattern, str):
        raise QueryInvalid(
            f"Error: Parsing regular expression. {pattern} Problem line: {line!r}.", line=line
        )
    if not flags:
        flag_words = "no flags"
    elif len(flags) == 1:
        flag_words = f"flag '{flags}'"
    else:
        flag_words = f"flags '{''.join(sorted(flags))}'"
    intro = "using regex: ".ljust(line.index("/") - 2)
    return pattern.is_found_in, Explanation(f"{intro}'{_escape_slashes(source)}' with {flag_words}")


def _escape_slashes(source: str) -> str:
    """Return a valid expression as JavaScript writes it.

    That is as it was written, with a backslash before every slash that has none.
    """
    return re.sub(
        r"\\.|\[(?:\\.|[^\]\\])*+(?:\]|\\?\Z)|/",
        lambda part: "\\/" if part[0] == "/" else part[0],
        source,
    )


def _compile_regexp(source: str, flags: str) -> RegExp | str:
    """Return an expression that may be run, or the sentence that says why it may not (TASK-105)."""
    if len(source) > MAX_REGEXP_LENGTH:
        return f"It has {len(source)} characters, of at most {MAX_REGEXP_LENGTH}."
    if set(flags) - set("dgimsuv") or len(set(flags)) < len(flags):
        return f"The flags {flags!r} are not known; i takes either case."
    from obsidian_mcp.core.query.regexp import InvalidRegExp, translate  # takes 20 ms

    try:
        pattern = translate(source, match_case="i" not in flags)
    except InvalidRegExp as problem:
        return f"/{source}/: {problem.problem}."
    repetitions, nested = _repetitions(source)
    if nested:
        return f"/{source}/ repeats a repetition, as in (a+)+, which can take very long."
    if repetitions > MAX_REPETITIONS:
        return f"/{source}/ has {repetitions} repetitions, of at most {MAX_REPETITIONS}."
    return pattern


_REGEXP_PARTS = re.compile(
    r"\\.|\[(?:\\.|[^\]\\])*+(?:\]|\\?\Z)|\(|\)|(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??", re.DOTALL
)


def _repetitions(source: str) -> tuple[int, bool]:
    """Return how many repetitions a valid expression has, and whether one holds another."""
    count = 0
    groups = [False]  # for each open group whether a repetition is in it
    closed = -1
    closed_repeats = False
    for match in _REGEXP_PARTS.finditer(re.sub(r"\(\?", "(", source)):
        part = match[0]
        if part == "(":
            groups.append(False)
        elif part == ")":
            closed, closed_repeats = match.end(), groups.pop()
            groups[-1] = groups[-1] or closed_repeats
        elif part[0] in "*+?{":
            if closed == match.start() and closed_repeats:
                return count, True
            count += 1
            groups[-1] = True
    return count, False
