"""Read the commands of Templater's language that need no JavaScript (PERIODIC-12)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.errors import TemplateFailed

SOURCE_SHOWN = 200
"""Code points of a command in a message."""
MAX_DEPTH = 50
"""Maximum depth of calls inside each other in one command."""
_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<number>-?\d+(?:\.\d+)?)(?![\w.])"""
    r"""|(?P<mark>[()\[\],+]|[_-]?%>)|(?P<name>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*))"""
)
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"'}


@dataclass(frozen=True, slots=True)
class TemplateCall:
    name: str
    arguments: tuple[TemplateValue, ...] | None
    """None for a name that is used without a call."""


TemplateValue = str | float | bool | TemplateCall


@dataclass(frozen=True, slots=True)
class TemplateCommand:
    line: int
    source: str
    values: tuple[TemplateValue, ...]


IsKnown = Callable[[TemplateCall], bool]


def read_template(text: str, template: str, is_known: IsKnown) -> Iterator[str | TemplateCommand]:
    """Yield the literal parts and the commands of a template.

    The white space that commands ask to cut is cut.
    Raises: TemplateFailed for a command that is none, or that calls a function that is not known.
    """
    position = counted = 0
    line = 1
    cut = ""
    while (start := text.find("<%", position)) >= 0:
        checkpoint()
        line += text.count("\n", counted, start)
        counted = start
        command, end, ending = _read_command(text, start, line, template, is_known)
        opening = text[start + 2 : start + 3]
        yield _cut_end(_cut_start(text[position:start], cut), opening if opening in "_-" else "")
        yield command
        position, cut = end, ending
    yield _cut_start(text[position:], cut)


def _cut_start(text: str, mark: str) -> str:
    if mark == "_":
        return text.lstrip()
    return re.sub(r"\A\r?\n", "", text) if mark == "-" else text


def _cut_end(text: str, mark: str) -> str:
    if mark == "_":
        return text.rstrip()
    return re.sub(r"\r?\n\Z", "", text) if mark == "-" else text


def _read_command(
    text: str, start: int, line: int, template: str, is_known: IsKnown
) -> tuple[TemplateCommand, int, str]:
    body = start + 2 + (text[start + 2 : start + 3] in ("_", "-"))
    reader = _CommandReader(text, body, is_known)
    try:
        values = reader.command()
    except _NotReadable:
        end = text.find("%>", body)
        source = " ".join(text[body : end if end >= 0 else len(text)].strip(" \t\r\n_-").split())
        excerpt = cut_text(source, SOURCE_SHOWN)
        problem = f"uses {excerpt}" if end >= 0 else "has a command without %>"
        raise TemplateFailed(
            f'Template "{template}" line {line} {problem}: only Templater in the app can run that. '
            "Nothing was written.",
            template=template,
            line=line,
            command=excerpt,
        ) from None
    source = text[body : reader.position].removesuffix("%>").strip(" \t\r\n_-")
    return TemplateCommand(line, source, values), reader.position, reader.ending


class _NotReadable(Exception):
    """A command outside the subset."""


class _CommandReader:
    """Reads one command from its first character to behind its `%>`."""

    def __init__(self, text: str, position: int, is_known: IsKnown) -> None:
        self.text = text
        self.position = position
        self.is_known = is_known
        self.ending = ""
        self._depth = 0

    def command(self) -> tuple[TemplateValue, ...]:
        kind, word = self._take_token()
        if (kind, word) == ("name", "await"):
            kind, word = self._take_token()
        values = [self._value(kind, word)]
        while True:
            kind, word = self._take_token()
            if word == "+":
                values.append(self._value(*self._take_token()))
            elif word.endswith("%>") and kind == "mark":
                self.ending = word[:-2]
                return tuple(values)
            else:
                raise _NotReadable

    def _take_token(self) -> tuple[str, str]:
        token = _TOKEN.match(self.text, self.position)
        if token is None:
            raise _NotReadable
        self.position = token.end()
        kind = str(token.lastgroup)
        return kind, token[kind]

    def _value(self, kind: str, word: str) -> TemplateValue:
        match kind:
            case "string":
                return _unquote(word)
            case "number":
                return float(word)
            case "name" if word in ("true", "false"):
                return word == "true"
            case "name" if word.startswith("tp."):
                return self._call(word)
        raise _NotReadable

    def _call(self, name: str) -> TemplateCall:
        if name == "tp.frontmatter":
            (_, opening), (kind, word), (_, closing) = (
                self._take_token(),
                self._take_token(),
                self._take_token(),
            )
            if (opening, kind, closing) != ("[", "string", "]"):
                raise _NotReadable
            name = f"tp.frontmatter.{_unquote(word)}"
        call = TemplateCall(name, self._arguments())
        if not self.is_known(call):
            raise _NotReadable
        return call

    def _arguments(self) -> tuple[TemplateValue, ...] | None:
        opening = _TOKEN.match(self.text, self.position)
        if opening is None or opening["mark"] != "(":
            return None
        self.position = opening.end()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _NotReadable
        arguments: list[TemplateValue] = []
        kind, word = self._take_token()
        while word != ")" or kind != "mark":
            arguments.append(self._value(kind, word))
            kind, word = self._take_token()
            if (kind, word) == ("mark", ","):
                kind, word = self._take_token()
            elif word != ")":
                raise _NotReadable
        self._depth -= 1
        return tuple(arguments)


def _unquote(word: str) -> str:
    def escape(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise _NotReadable
        return _ESCAPES[match[1]]

    return re.sub(r"\\(.)", escape, word[1:-1])
