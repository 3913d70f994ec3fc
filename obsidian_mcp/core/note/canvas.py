"""A canvas: its cards, and where every text stands that may hold a link (semantics 10, JSON Canvas 1.0)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from obsidian_mcp.core.frontmatter.quoted import Quoted, read_json
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.text import Span

from .edits import Edit

FIELDS = ("text", "file", "subpath", "background")
"""Texts of a card that are kept with their places."""


@dataclass(frozen=True, slots=True)
class Card:
    """One node of a canvas; a text is None where it is no string. `file` is a whole path of the vault with `subpath`
    beside it, `text` Markdown, `background` the path of a group's picture."""

    id: str
    text: Quoted | None = None
    file: Quoted | None = None
    subpath: Quoted | None = None
    background: Quoted | None = None

    @property
    def key(self) -> str:
        """Where the card's links are said to stand: `nodes.<id>`."""
        return f"nodes.{self.id}"


@dataclass(frozen=True, slots=True)
class Canvas:
    """The cards of a canvas, bottom first. A broken file has none, and `error` says in one sentence why."""

    cards: tuple[Card, ...] = ()
    error: str | None = None
    line: int | None = field(default=None, compare=False)
    """Line of the error, counted from 1."""


def read(body: str) -> Canvas:
    """The cards of a canvas file. An empty file is an empty canvas."""
    if not body.strip():
        return Canvas()
    try:
        value = json.loads(body, parse_constant=_refuse)
    except json.JSONDecodeError as e:
        return Canvas((), f"The canvas is not readable: line {e.lineno}: {e.msg}.", e.lineno)
    except (ValueError, RecursionError) as e:
        return Canvas((), f"The canvas is not readable: {str(e) or 'it is nested too deeply'}.")
    if not isinstance(value, dict):
        return Canvas((), "The canvas is not readable: it is no JSON object.", 1)
    nodes = value.get("nodes")
    if not isinstance(nodes, list):
        return Canvas() if nodes is None else Canvas((), "The canvas is not readable: its nodes are no list.", 1)
    places = _places(body)
    return Canvas(
        tuple(_card(node, places.get(number, {})) for number, node in enumerate(nodes) if isinstance(node, dict))
    )


def text_edits(body: str, find: Callable[[str], Iterable[Edit]]) -> Iterator[Edit]:
    """Yield the edits of a canvas that make those which `find` returns for the text of each text card."""
    for text in (card.text for card in read(body).cards):
        if text is not None:
            yield from (Edit(text.place(edit.span), text.written(edit.text)) for edit in find(text.value))


def _card(node: dict[str, Any], places: dict[str, Quoted]) -> Card:
    # A repeated key: the last one counts, and a place is good only if it is that one's.
    texts = {key: quoted for key, quoted in places.items() if node.get(key) == quoted.value}
    id_ = node.get("id")
    return Card(id_ if isinstance(id_, str) else "", **texts)


_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{},:]')


def _places(body: str) -> dict[int, dict[str, Quoted]]:
    """The texts of each node by its number. `body` is valid JSON."""
    ascii_only = body.isascii() and "\\u" in body
    found: dict[int, dict[str, Quoted]] = {}
    path: list[str | int] = []  # the key or the position at which each open container is
    at_key = False
    for token in _TOKEN.finditer(body):
        match token[0]:
            case "{":
                checkpoint()
                path.append("")
                at_key = True
            case "[":
                path.append(0)
            case "}" | "]":
                path.pop()
            case ":":
                at_key = False
            case ",":
                last = path[-1]
                at_key = isinstance(last, str)
                path[-1] = last if isinstance(last, str) else last + 1
            case string if at_key and isinstance(path[-1], str):
                path[-1] = json.loads(string)
            case _:
                match path:
                    case ["nodes", int(number), str(key)] if key in FIELDS:
                        quoted = read_json(body, Span(*token.span()), ascii_only=ascii_only)
                        found.setdefault(number, {})[key] = quoted
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")
