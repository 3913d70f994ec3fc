"""How a filter compares texts: a part in any case, or a regular expression of JavaScript (TASK-104, TASK-105)."""

from __future__ import annotations

import re
from collections.abc import Callable

from obsidian_mcp.errors import QueryInvalid

from .explanation import Explanation

MAX_REGEXP_LENGTH = 500
MAX_REPETITIONS = 25
_REGEXP_HELP = "Write it as /pattern/ or /pattern/flags, for example /waiting|waits/i."


def contains(value: str) -> Callable[[str], bool]:
    """Return whether a text contains this one, in any case."""
    lower = value.lower()
    return lambda text: lower in text.lower()


def parse_regexp(line: str, value: str) -> tuple[Callable[[str], bool], Explanation]:
    """Return the test of a line's `/…/flags`, and how it is explained (TASK-105). Raises: QueryInvalid."""
    match = re.fullmatch(r"/(.+)/([^/]*)", value)
    if match is None:
        raise QueryInvalid(f"Invalid instruction: {line!r}. {_REGEXP_HELP}", line=line)
    source, flags = match.groups()
    if problem := _regexp_problem(source, flags):
        raise QueryInvalid(f"Error: Parsing regular expression. {problem} Problem line: {line!r}.", line=line)
    from obsidian_mcp.core.query.regexp import translate

    pattern = translate(source, match_case="i" not in flags)
    shown = {0: "no flags", 1: f"flag '{flags}'"}.get(len(flags), f"flags '{''.join(sorted(flags))}'")
    intro = "using regex: ".ljust(line.index("/") - 2)
    return pattern.found, Explanation(f"{intro}'{_escape_slashes(source)}' with {shown}")


def _escape_slashes(source: str) -> str:
    """A valid expression as JavaScript writes it: as it was written, with a backslash before every bare slash."""
    return re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]|/", lambda part: "\\/" if part[0] == "/" else part[0], source)


def _regexp_problem(source: str, flags: str) -> str:
    """What keeps an expression from being run, or nothing (TASK-105)."""
    if len(source) > MAX_REGEXP_LENGTH:
        return f"It has {len(source)} characters, of at most {MAX_REGEXP_LENGTH}."
    if set(flags) - set("dgimsuv") or len(set(flags)) < len(flags):
        return f"The flags {flags!r} are not known; i takes either case."
    from obsidian_mcp.core.query.regexp import InvalidRegExp, translate  # takes 20 ms

    try:
        translate(source, match_case="i" not in flags)
    except InvalidRegExp as problem:
        return f"/{source}/: {problem.problem}."
    repetitions, nested = _repetitions(source)
    if nested:
        return f"/{source}/ repeats a repetition, as in (a+)+, which can take very long."
    if repetitions > MAX_REPETITIONS:
        return f"/{source}/ has {repetitions} repetitions, of at most {MAX_REPETITIONS}."
    return ""


_REGEXP_PARTS = re.compile(r"\\.|\[(?:\\.|[^\]\\])*+(?:\]|\Z)|\(|\)|(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??", re.DOTALL)


def _repetitions(source: str) -> tuple[int, bool]:
    """How many repetitions a valid expression has, and whether one holds another."""
    count = 0
    groups = [False]
    """For each open group whether a repetition is in it."""
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
