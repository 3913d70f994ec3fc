"""TOML as people keep it in files, changed at one table and nowhere else (specs/install.md, TEXT rules).

No TOML parser of ours: a statement ends at the first line end where `tomllib` reads what has come so far, and says
itself what it means. What cannot be placed that way (inline tables, dotted keys) is left to the caller's person.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Unreadable(Exception):
    """The text is not TOML; the message has line and column."""


class NotATable(Exception):
    """The table is written in a form that is not edited here (inline, or as dotted keys)."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A header, an assignment, a comment or an empty line, with its line end."""

    start: int
    end: int
    meaning: dict[str, Any]
    header: tuple[str, ...] | None
    """Path of the table that it opens."""


def parse(text: str) -> dict[str, Any]:
    """Raises: Unreadable."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Unreadable(str(error)) from error


def put(text: str, path: Sequence[str], values: dict[str, Any]) -> str:
    """The text with the table at `path` holding `values`; its other keys stay. A new table goes to the end.

    Raises: Unreadable; NotATable.
    """
    current = _at(parse(text), path)
    newline = "\r\n" if "\r\n" in text else "\n"
    if current is None:
        lines = [f"[{'.'.join(map(_key, path))}]", *(_assignment(key, value) for key, value in values.items())]
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        return text + gap + newline.join(lines) + newline
    for key, value in values.items():
        if current.get(key) != value:
            text = _assign(text, path, key, value, newline)
    return text


def remove(text: str, path: Sequence[str]) -> str:
    """The text without the table at `path` and the tables below it. Raises: Unreadable; NotATable."""
    if _at(parse(text), path) is None:
        return text
    statements = _statements(text)
    doomed: list[int] = []
    inside = False
    for number, statement in enumerate(statements):
        if statement.header is not None:
            inside = statement.header[: len(path)] == tuple(path)
        if inside:
            doomed.append(number)
    if not doomed:
        raise NotATable
    while not statements[doomed[-1]].meaning:  # comments and blanks before the next table belong to that one
        doomed.pop()
    blank = [not text[statement.start : statement.end].strip() for statement in statements] + [True]
    if doomed[0] > 0 and blank[doomed[0] - 1] and blank[doomed[-1] + 1]:  # the empty line that `put` made
        doomed.append(doomed[0] - 1)
    return "".join(text[one.start : one.end] for number, one in enumerate(statements) if number not in doomed)


def _assign(text: str, path: Sequence[str], key: str, value: Any, newline: str) -> str:
    """The text with one key of an existing table set."""
    header: _Statement | None = None
    inside = False
    for statement in _statements(text):
        if statement.header is not None:
            inside = statement.header == tuple(path)
            header = statement if inside else header
        elif inside and key in statement.meaning:
            end = statement.start + _value_end(text[statement.start : statement.end], statement.meaning)
            return text[: statement.start] + _assignment(key, value) + text[end:]
    if header is None:
        raise NotATable
    gap = "" if text[: header.end].endswith("\n") else newline
    return text[: header.end] + gap + _assignment(key, value) + newline + text[header.end :]


def _value_end(statement: str, meaning: dict[str, Any]) -> int:
    """Where an assignment ends and the comment or line end behind it begins."""
    line = len(statement.rstrip("\r\n"))
    for match in re.finditer(r"[ \t]*#", statement):
        try:
            if tomllib.loads(statement[: match.start()]) == meaning:
                return match.start()
        except tomllib.TOMLDecodeError:  # this # is in the value
            continue
    return line


def _at(data: dict[str, Any], path: Sequence[str]) -> dict[str, Any] | None:
    for key in path:
        found = data.get(key)
        if found is None:
            return None
        if not isinstance(found, dict):
            raise NotATable
        data = found
    return data


def _statements(text: str) -> list[_Statement]:
    """The readable text in pieces; together they are the text."""
    found = []
    start = end = 0
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        end += len(line)
        try:
            meaning = tomllib.loads(text[start:end])
        except tomllib.TOMLDecodeError:
            continue  # a string or an array goes on
        found.append(_Statement(start, end, meaning, _header(text[start:end], meaning)))
        start = end
    return found


def _header(statement: str, meaning: dict[str, Any]) -> tuple[str, ...] | None:
    if not statement.lstrip().startswith("["):
        return None
    path: list[str] = []
    inner: Any = meaning
    while isinstance(inner, dict) and inner:
        key = next(iter(inner))
        path.append(key)
        inner = inner[key]
    return tuple(path) if isinstance(inner, dict) else (*path, "[]")  # [[an array of tables]] is no table of ours


def _assignment(key: str, value: Any) -> str:
    return f"{_key(key)} = {_value(value)}"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(_assignment(key, inner) for key, inner in value.items())}}}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's escapes are TOML's too
