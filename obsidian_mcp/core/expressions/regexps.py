"""Regular expressions of JavaScript in functions, with `regexp.SECONDS` for a match and no state (EXPR-26)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from obsidian_mcp.core.query import regexp
from obsidian_mcp.core.text.text import Span

from .values import Budget, ExpressionError

_ESCAPE = re.compile(r"\\.", re.DOTALL)
_TEMPLATE = re.compile(r"\$(?:([$&`'])|([0-9]{1,2})|<([^>]{0,200})>)")


@dataclass(frozen=True, slots=True)
class RegExpValue:
    """A regular expression; two are equal when written alike."""

    source: str
    flags: str = ""

    def __post_init__(self) -> None:
        """Raises: ExpressionError when it cannot be read."""
        try:
            self._compile()
        except regexp.InvalidRegExp as problem:
            raise ExpressionError(
                f"Invalid regular expression /{self.source}/: {problem.problem}."
            ) from None

    def matches(self, text: str) -> bool:
        """Whether it is found anywhere."""
        return next(self._find(text), None) is not None

    def replace(self, text: str, template: str, *, everywhere: bool, budget: Budget) -> str:
        """`template` may hold `$1`, `$&`, `$<name>`, `$$`, `` $` ``, `$'`."""
        parts: list[str] = []
        at = 0
        for span, new in self.replacements(text, template, budget):
            parts += (text[at : span.start], new)
            at = span.end
            if not everywhere:
                break
        return "".join([*parts, text[at:]])

    def replacements(self, text: str, template: str, budget: Budget) -> Iterator[tuple[Span, str]]:
        """Yield every match, and the template filled in for it."""
        budget.charge(len(text))
        for found in self._find(text):
            yield (
                Span(found.start(), found.end()),
                expand(template, found, self._compile().groups, budget),
            )

    def split(self, text: str, budget: Budget) -> list[str]:
        """As `String.split`: what the groups captured stands between the parts, missing ones empty."""
        parts: list[str] = []
        budget.charge(len(text))
        at = 0
        for found in self._find(text):
            if found.start() == found.end() and found.end() in (at, len(text)):
                continue
            parts.append(text[at : found.start()])
            parts += (group or "" for group in found.groups())
            budget.charge_items(1 + len(found.groups()))
            at = found.end()
        return [] if not text and self.matches(text) else [*parts, text[at:]]

    def _compile(self) -> regexp.RegExp:
        flags = self.flags
        source = self.source
        if "\\p" in source.lower() and not {"u", "v"} & set(flags):  # without them `\p` is a `p`
            source = _ESCAPE.sub(lambda found: found[0][found[0] in ("\\p", "\\P") :], source)
        return regexp.translate(
            source, match_case="i" not in flags, multiline="m" in flags, dot_all="s" in flags
        )

    def _find(self, text: str) -> Iterator[Any]:
        pattern, at = self._compile().pattern, 0
        # `finditer` looks a second time where it found the empty text; JavaScript goes on to the next character.
        while at <= len(text):
            try:
                found = regexp.search_within_limit(partial(pattern.search, text, at))
            except TimeoutError:
                raise ExpressionError(
                    f"The regular expression /{self.source[:100]}/ ran for more than {regexp.SECONDS:g} s "
                    "and was stopped."
                ) from None
            if found is None:
                return
            yield found
            at = found.end() + (found.start() == found.end())


def escape(text: str) -> str:
    """A source that matches exactly this text."""
    return re.sub(r"[$()*+.?\[\\\]^{|}/]", r"\\\g<0>", text)


def expand(template: str, found: Any, names: Sequence[str | None], budget: Budget) -> str:
    """The replacement of a match, as in `String.replace`; `names` are those of the groups. Raises: ExpressionError."""
    budget.charge(len(template) + 1)
    if "$" not in template:
        return template

    def charged(reference: re.Match[str]) -> str:
        part = _part(reference, found, names)
        budget.charge(len(part))
        return part

    return _TEMPLATE.sub(charged, template)


def _part(reference: re.Match[str], found: Any, names: Sequence[str | None]) -> str:
    """What one reference of a template stands for."""
    sign, number, name = reference.groups()
    groups = found.groups()
    match sign:
        case "$":
            return "$"
        case "&":
            return str(found[0])
        case "`":
            return str(found.string[: found.start()])
        case "'":
            return str(found.string[found.end() :])
    if name is not None:
        if not any(names):
            return reference[0]
        return (groups[names.index(name)] or "") if name in names else ""
    for digits in (number, number[:1]):
        if 1 <= int(digits) <= len(groups):
            return (groups[int(digits) - 1] or "") + number[len(digits) :]
    return reference[0]
