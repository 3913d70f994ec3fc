"""Regular expressions of JavaScript as a query's functions use them (EXPR-26).

The search for one match takes at most `regexp.SECONDS`; there is no state between two calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from obsidian_mcp.core.query import regexp
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.core.text.text import Span

from .budget import Budget
from .values import ExpressionError

_MAX_QUOTED = 100
"""Characters of an expression in a message."""
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_TEMPLATE = re.compile(r"\$(?:([$&`'])|([0-9]{1,2})|<([^>]{0,200})>)")


@dataclass(frozen=True, slots=True)
class RegExpValue:
    """A regular expression; two are equal when written alike."""

    source: str
    flags: str = ""

    def __post_init__(self) -> None:
        """Raise ExpressionError when it cannot be read."""
        try:
            self._compile()
        except regexp.InvalidRegExp as problem:
            raise ExpressionError(
                f"Invalid regular expression /{self.source}/: {problem.problem}."
            ) from None

    def matches(self, text: str) -> bool:
        """Return whether the expression is found anywhere."""
        return next(self._find(text), None) is not None

    def replace(self, text: str, template: str, *, everywhere: bool, budget: Budget) -> str:
        """Return the text with the first match, or every one, replaced by a template.

        The template may hold `$1`, `$&`, `$<name>`, `$$`, `` $` ``, `$'`.
        """
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
        for match in self._find(text):
            new = expand(template, match, self._compile().groups, budget)
            yield Span(match.start(), match.end()), new

    def split(self, text: str, budget: Budget) -> list[str]:
        """Return the parts of a text, as `String.split` does.

        What the groups captured stands between the parts, missing ones empty.
        """
        parts: list[str] = []
        budget.charge(len(text))
        at = 0
        for match in self._find(text):
            if match.start() == match.end() and match.end() in (at, len(text)):
                continue
            parts.append(text[at : match.start()])
            parts += (group or "" for group in match.groups())
            budget.charge_items(1 + len(match.groups()))
            at = match.end()
        return [] if not text and self.matches(text) else [*parts, text[at:]]

    def _compile(self) -> regexp.RegExp:
        flags = self.flags
        source = self.source
        if "\\p" in source.lower() and not {"u", "v"} & set(flags):  # without them `\p` is a `p`
            source = _ESCAPE.sub(lambda escape: escape[0][escape[0] in ("\\p", "\\P") :], source)
        return regexp.translate(
            source, match_case="i" not in flags, multiline="m" in flags, dot_all="s" in flags
        )

    def _find(self, text: str) -> Iterator[Any]:
        pattern, at = self._compile().pattern, 0
        # `finditer` looks a second time where it found the empty text; JavaScript goes on to the
        # next character.
        while at <= len(text):
            try:
                match = regexp.search_within_limit(partial(pattern.search, text, at))
            except TimeoutError:
                source = cut_text(self.source, _MAX_QUOTED)
                raise ExpressionError(
                    f"The regular expression /{source}/ ran for more than {regexp.SECONDS:g} s and "
                    "was stopped."
                ) from None
            if match is None:
                return
            yield match
            at = match.end() + (match.start() == match.end())


def escape(text: str) -> str:
    """Return a source that matches exactly this text."""
    return re.sub(r"[$()*+.?\[\\\]^{|}/]", r"\\\g<0>", text)


def expand(template: str, match: Any, names: Sequence[str | None], budget: Budget) -> str:
    """Return a replacement template filled in for one match, by the rules of `String.replace`.

    `names` are those of the groups.
    Raises: ExpressionError.
    """
    budget.charge(len(template) + 1)
    if "$" not in template:
        return template

    def fill(reference: re.Match[str]) -> str:
        part = _expand_reference(reference, match, names)
        budget.charge(len(part))
        return part

    return _TEMPLATE.sub(fill, template)


def _expand_reference(reference: re.Match[str], match: Any, names: Sequence[str | None]) -> str:
    """Return what one reference of a template stands for; one that means nothing stays."""
    sign, number, name = reference.groups()
    groups = match.groups()
    match sign:
        case "$":
            return "$"
        case "&":
            return str(match[0])
        case "`":
            return str(match.string[: match.start()])
        case "'":
            return str(match.string[match.end() :])
    if name is not None:
        if not any(names):
            return reference[0]
        return (groups[names.index(name)] or "") if name in names else ""
    for digits in (number, number[:1]):
        if 1 <= int(digits) <= len(groups):
            return (groups[int(digits) - 1] or "") + number[len(digits) :]
    return reference[0]
