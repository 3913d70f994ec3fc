"""The lines of a query: continued lines, placeholders, presets (TASK-90 to TASK-95)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from obsidian_mcp.errors import QueryInvalid

from .settings import TaskSettings

_MAX_ROUNDS = 10
"""Rounds in which placeholders are filled in, and presets inside presets."""
_MAX_STATEMENTS = 1000
_MAX_CHARACTERS = 200_000
"""Of an instruction with its placeholders filled in.

A value may hold placeholders itself, which multiply it in every round.
"""
_find_placeholders = re.compile(r"\{\{(.*?)(?:(\}\})|$)", re.MULTILINE)
"""One that is not closed matches up to the end of its line.

Else the rest of the line would be searched once more for each `{{`.
"""
_is_plain_name = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*", re.ASCII).fullmatch
_is_property = re.compile(r"query\.file\.(property|hasProperty)\((['\"])([^'\"]*)\2\)").fullmatch
_is_preset = re.compile(r"preset +(.*)", re.IGNORECASE).fullmatch

NO_JAVASCRIPT = (
    "JavaScript (`… by function`) is not run here; use built-in instructions such as "
    "`status.type is`, `tag includes`, `regex matches`."
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One instruction: as written, with continued lines joined, and with placeholders filled in."""

    raw: str
    joined: str
    line: str

    def explain(self) -> str:
        """Return the forms that differ, one behind the other (TASK-121). Lines are not indented."""
        text = self.raw.strip()
        if "\n" in self.raw:
            text += "\n"
        if self.joined != self.raw.strip():
            text += f" =>\n{self.joined}"
        if self.line != self.joined:
            text += f" =>\n{self.line}"
        return text

    def statement_error(self, problem: str, hint: str = "") -> QueryInvalid:
        """Return the error for a mistake in this statement."""
        message = f"{problem}\nProblem line: {self.line!r}."
        if self.line != self.raw.strip():
            message += f" It stands in the query as {self.raw.strip()!r}."
        return QueryInvalid(f"{message} {hint}".rstrip(), line=self.line)


@dataclass(frozen=True, slots=True)
class QueryNote:
    """The note that a query stands in: what its placeholders and defaults are taken from."""

    path: str
    properties: Mapping[str, Any] = field(default_factory=dict)

    def property(self, name: str) -> Any:
        """Return a property by its name in any case, None without it."""
        return next(
            (value for key, value in self.properties.items() if key.lower() == name.lower()), None
        )


def folder_of(path: str) -> str:
    """Return the folder of a note with a slash at its end, `/` at the root."""
    return path[: path.rfind("/") + 1] or "/"


def root_of(path: str) -> str:
    """Return the topmost folder of a note with a slash at its end, `/` at the root."""
    return path[: path.find("/") + 1] or "/"


def filename_of(path: str) -> str:
    """Return the name of a note without folder and extension."""
    return path.rpartition("/")[2].removesuffix(".md")


def read_statements(text: str, settings: TaskSettings, note: QueryNote | None) -> list[Statement]:
    """Return the instructions of a query in order, presets replaced by their lines.

    Blank lines and comments are left out.
    Raises: QueryInvalid.
    """
    statements: list[Statement] = []
    for joined in join_lines(text):
        if joined.line.startswith("#"):
            continue
        for statement in _fill(joined, settings, note):
            if statement.line.startswith("#"):
                continue
            statements += _expand_preset(statement, settings, note, _MAX_ROUNDS)
            if len(statements) > _MAX_STATEMENTS:
                raise joined.statement_error(
                    f"The query has more than {_MAX_STATEMENTS} instructions."
                )
    return statements


def join_lines(text: str) -> Iterator[Statement]:
    """Yield the lines of a query (TASK-90).

    A line that ends in a backslash goes on with the next; two backslashes are one.
    """
    raw: list[str] = []
    joined: list[str] = []
    for line in [*re.split(r"\r?\n", text), ""]:
        part = line.lstrip(" \t") if raw else line
        raw.append(line)
        if line.endswith("\\") and not line.endswith("\\\\"):
            joined.append(part[:-1].rstrip(" \t"))
            continue
        joined.append(part[:-1] if line.endswith("\\\\") else part)
        instruction = " ".join(joined).strip()
        if instruction:
            yield Statement("\n".join(raw), instruction, instruction)
        raw, joined = [], []


def _fill(statement: Statement, settings: TaskSettings, note: QueryNote | None) -> list[Statement]:
    """Return the statement with its placeholders filled in (TASK-92).

    It becomes several where a value has several lines.
    """
    source = statement.line
    if not ("{{" in source and "}}" in source):
        return [statement]
    if note is None:
        raise statement.statement_error(
            'The query looks like it contains a placeholder, with "{{" and "}}", but it stands in '
            "no note.",
            "Pass the note as `this`, or write the value instead.",
        )
    for _ in range(_MAX_ROUNDS):
        before = source
        source = _find_placeholders.sub(
            lambda match: (
                _value(match[1].strip(), match[0], statement, settings, note)
                if match[2]
                else match[0]
            ),
            source,
        )
        if source == before:
            break
        if len(source) > _MAX_CHARACTERS:
            raise statement.statement_error(
                f"Its placeholders stand for more than {_MAX_CHARACTERS:,} characters."
            )
    lines = [filled.line for filled in join_lines(source)] if source != statement.line else [source]
    if len(lines) == 1:
        return [replace(statement, line=lines[0])]
    parts = (
        f": statement {number} after expansion of placeholder"
        for number in range(1, len(lines) + 1)
    )
    return [
        Statement(statement.raw + part, statement.joined + part, line)
        for part, line in zip(parts, lines, strict=True)
    ]


_FILE_VALUES: Mapping[str, Callable[[QueryNote], str]] = {
    "query.file.path": lambda note: note.path,
    "query.file.pathWithoutExtension": lambda note: note.path.removesuffix(".md"),
    "query.file.root": lambda note: root_of(note.path),
    "query.file.folder": lambda note: folder_of(note.path),
    "query.file.filename": lambda note: note.path.rpartition("/")[2],
    "query.file.filenameWithoutExtension": lambda note: filename_of(note.path),
}


def _value(
    name: str, written: str, statement: Statement, settings: TaskSettings, note: QueryNote
) -> str:
    """Return what a placeholder stands for.

    Raises: QueryInvalid.
    """
    if name.startswith("!"):  # a comment
        return ""
    if name in _FILE_VALUES:
        return _FILE_VALUES[name](note)
    preset = name.removeprefix("preset.")
    if preset != name and preset in settings.presets:
        return settings.presets[preset]
    match = _is_property(name)
    problem = "There was an error expanding one or more placeholders."
    if match is not None:
        value = note.property(match[3])
        if match[1] == "hasProperty":
            return "false" if value is None else "true"
        if value is None:
            raise statement.statement_error(
                f"{problem} {written} has no value: {note.path!r} has no property {match[3]!r}."
            )
        return _write_value(value)
    if _is_plain_name(name):
        known_names = [
            *_FILE_VALUES,
            "query.file.property('…')",
            *(f"preset.{name}" for name in settings.presets),
        ]
        raise statement.statement_error(
            f"{problem} Unknown property: {name}.", f"Known are {', '.join(known_names)}."
        )
    raise statement.statement_error(f"{problem} {NO_JAVASCRIPT}")


def _write_value(value: Any) -> str:
    """Return the value of a property as the plugin writes it into an instruction."""
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _expand_preset(
    statement: Statement, settings: TaskSettings, note: QueryNote | None, rounds: int
) -> Iterator[Statement]:
    """Yield the lines of a preset in place of its name (TASK-93).

    `rounds` says how many presets may still stand inside each other.
    Raises: QueryInvalid.
    """
    match = _is_preset(statement.line)
    if match is None:
        yield statement
        return
    name = match[1].strip()
    if name not in settings.presets:
        names = ", ".join(sorted(settings.presets)) or "none"
        raise statement.statement_error(
            f'Cannot find preset "{name}" in the Tasks settings.',
            f"The presets are: {names}. Case counts.",
        )
    if not rounds:
        raise statement.statement_error(f"The preset {name!r} contains itself.")
    for inner in join_lines(settings.presets[name]):
        if not inner.line.startswith("#"):
            for part in _fill(replace(statement, line=inner.line), settings, note):
                yield from _expand_preset(part, settings, note, rounds - 1)
