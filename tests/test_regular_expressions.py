"""Every regular expression of the package takes time in proportion to its text, whatever the text is (SAFE-17)."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import accumulate, combinations, permutations
from types import ModuleType
from typing import Any, NamedTuple

import regex

import obsidian_mcp
from tests.system import needs

Pattern = re.Pattern[str] | regex.Pattern[str]

ANCHORED = {"match", "fullmatch"}
APPLYING = ANCHORED | {"search", "sub", "subn", "split", "findall", "finditer"}
LENGTHS = (20, 40, 100, 400, 1_600)
"""Characters of the texts that every expression is tried on, until one takes too long."""
SUSPECT_SECONDS = 0.0015
"""Of processor time: nothing linear needs a microsecond for a character."""
MOST_GROWTH = 2.9
"""For a text that is twice as long; four would be quadratic."""
TRIES = 3


class Expression(NamedTuple):
    """A regular expression, and how it is applied."""

    pattern: Pattern
    methods: frozenset[str]
    """Those that its module calls; `search` where it cannot be told."""
    where: str


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(obsidian_mcp.__path__, "obsidian_mcp."):
        if not found.name.endswith("__main__"):
            with suppress(ImportError):  # what an extra brings that is not installed
                yield importlib.import_module(found.name)


def patterns_in(value: Any, depth: int = 0) -> Iterator[Pattern]:
    """Yield the compiled expressions in a module's value: itself, or in tables and records."""
    if isinstance(value, re.Pattern | regex.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth < 3:
        held: Any = ()
        if isinstance(value, dict):
            held = value.values()
        elif isinstance(value, list | tuple | set | frozenset):
            held = value
        elif type(value).__module__.startswith("obsidian_mcp") and hasattr(value, "__dict__"):
            held = vars(value).values()
        for inner in held:
            yield from patterns_in(inner, depth + 1)


def expressions() -> list[Expression]:
    """All regular expressions of the package: values of modules and of classes, and those in calls of `re`."""
    found: dict[tuple[str, int], Expression] = {}

    def add(pattern: Pattern, methods: Iterable[str], where: str) -> None:
        key = (str(pattern.pattern), pattern.flags)
        known = found[key].methods if key in found else frozenset[str]()
        found[key] = Expression(pattern, known.union(methods), where)

    for module in modules():
        source = inspect.getsource(module)
        applies = any(f".{method}(" in source for method in APPLYING)
        tree = ast.parse(source if applies else "")  # reading every module takes longer than trying its expressions
        used: dict[str, set[str]] = {}
        for node in ast.walk(tree):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re" | "regex"), attr=method), args=[written, *_]
                ) if method in APPLYING and not isinstance(written, ast.Name):
                    with suppress(NameError):  # one that is put together from the arguments of a function
                        pattern = eval(compile(ast.Expression(written), "", "eval"), dict(vars(module)))
                        add(re.compile(pattern), {method}, f"{module.__name__}:{node.lineno}")
                case ast.Call(func=ast.Attribute(value=value, attr=method), args=given) if method in APPLYING:
                    for inner in (inner for part in (value, *given) for inner in ast.walk(part)):
                        if isinstance(inner, ast.Name):
                            used.setdefault(inner.id, set()).add(method)
        for name, value in vars(module).items():
            inside = (
                vars(value).values() if isinstance(value, type) and value.__module__ == module.__name__ else (value,)
            )
            for one in inside:
                for pattern in patterns_in(one):
                    add(pattern, used.get(name, {"search"}), f"{module.__name__}.{name}")
    return sorted(found.values(), key=lambda expression: expression.where)


_ESCAPES = {"s": " ", "t": "\t", "n": "\n", "r": "\r", "d": "0", "w": "a", "S": "a", "D": "a", "W": "-", "b": "a"}
_LITERAL = re.compile(r"(?:\\[^\w\s]|[^\\()\[\]{}.*+?^$|\s])+")


def pumps(source: str, *, is_anchored: bool) -> Iterator[str]:
    """Yield what is repeated to try an expression: its characters, pairs of them, and what it has literally. The order
    of a pair matters only where the expression is anchored: a search tries it from each character on."""
    known = dict.fromkeys(
        _ESCAPES.get(part[1], part[1]) if part[0] == "\\" else part
        for part in re.findall(r"\\.|[^\\]", source, re.DOTALL)
    )
    plain = [character for character in known if character not in "?:"][:7]
    characters = list(dict.fromkeys([*plain, "a", " ", "\n"]))
    yield from characters
    yield from map("".join, (permutations if is_anchored else combinations)(characters[:8], 2))
    literals = [re.sub(r"\\(.)", r"\1", run) for run in _LITERAL.findall(source)][:5]
    for literal in dict.fromkeys([*literals, *accumulate(literals)]):
        yield literal
        yield f"{literal}a"


def seconds(run: Callable[[str], object], text: str) -> float:
    begin = time.thread_time()
    run(text)
    return time.thread_time() - begin


def run_of(expression: Expression) -> Callable[[str], object]:
    pattern = expression.pattern
    methods = expression.methods
    if methods <= ANCHORED:
        return lambda text: [getattr(pattern, method)(text) for method in methods]
    return lambda text: deque(pattern.finditer(text), 0)


def slow_text(expression: Expression) -> str | None:
    """Return what makes an expression need much more than twice the time for twice the text, None for nothing."""
    run = run_of(expression)
    for pump in pumps(expression.pattern.pattern, is_anchored=expression.methods <= ANCHORED):
        for end in ("", "\0"):
            for length in LENGTHS:
                text = pump * (length // len(pump) or 1)
                if seconds(run, text + end) < SUSPECT_SECONDS:
                    continue
                short = min(seconds(run, text + end) for _ in range(TRIES))
                if short > SUSPECT_SECONDS and length <= 40:
                    return f"{len(text)} characters of {pump!r}, then {end!r}: {short:.4f} s"
                long = min(seconds(run, text * 2 + end) for _ in range(TRIES))
                if short > SUSPECT_SECONDS and long > MOST_GROWTH * short:
                    return f"{len(text)} characters of {pump!r}, then {end!r}: {short:.4f} s, {long:.4f} s for twice"
                break
    return None


SLOW = [r"<!--[\s\S]*?-->", r"\s+$", r"(a|b)*c.*\|(.*)\]", r"[ \t]*\n[ \t]*$", r"\[\[.*\|(.*)\]\]", r"(a+)+b"]


@needs("a fine clock of threads")
def test_no_regular_expression_needs_more_than_twice_the_time_for_twice_the_text() -> None:
    """SAFE-17"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tried = expressions()
    assert len(tried) > 300
    for source in SLOW:  # else nothing would be noticed
        assert slow_text(Expression(re.compile(source), frozenset({"search"}), "here")) is not None, source
    slow = {expression.where: found for expression in tried if (found := slow_text(expression)) is not None}
    assert slow == {}
