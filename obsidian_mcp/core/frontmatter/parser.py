"""The YAML block at the start of a note: its position and its content (semantics 4,
specs/frontmatter.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import frontmatter
from frontmatter.default_handlers import YAMLHandler

from obsidian_mcp.core.text.text import Span, printable

from . import yaml12
from .property_types import TYPES_FIXED
from .yaml12 import InvalidYaml, NoValue, Outline, Value

_OPENING = ("---\n", "---\r\n")
_CLOSING = re.compile(r"^---[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_SPACE = re.compile(r"\s")


class Block(NamedTuple):
    """The position of a note's frontmatter, in code points of the body: `span` from the first dash
    to the last, `yaml_span` between the lines of dashes, `body_start` behind the closing line."""

    span: Span
    yaml_span: Span
    body_start: int


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The content of a frontmatter block. `values` is None for an empty block, and for a broken
    one, of which `error` says why in one sentence and `line` where, from 1. `spans` of properties,
    name to value, count in the body."""

    block: Block
    values: dict[str, Value] | None
    spans: Mapping[str, Span] = field(default_factory=dict, compare=False)
    error: str | None = None
    line: int | None = None


def locate(body: str) -> Block | None:
    """Return the frontmatter block at the very start of a note; None without one (FM-01 to
    FM-04)."""
    if not body.startswith(_OPENING):
        return None
    start = body.index("\n") + 1
    closing = _CLOSING.search(body, start)
    if closing is None:
        return None
    return Block(Span(0, closing.start() + 3), Span(start, closing.start()), closing.end())


def text_start(body: str) -> int:
    """Return the offset of the text below the frontmatter; 0 without frontmatter."""
    block = locate(body)
    return block.body_start if block is not None else 0


def has_property(body: str, name: str) -> bool:
    """Return whether the properties of a note can be read and have this name, as written."""
    found = read(body) if name in body else None  # most notes have it nowhere
    return found is not None and found.values is not None and name in found.values


def read(body: str) -> Frontmatter | None:
    """Return the properties of a note as the app reads them; None without a frontmatter block."""
    block = locate(body)
    if block is None:
        return None
    found = Outline(block.yaml_span.start)
    try:
        values, _ = frontmatter.parse(
            block.span.slice(body), handler=_Handler(block.yaml_span.slice(body), found)
        )
    except NoValue:
        return Frontmatter(block, None)
    except InvalidYaml as e:
        line = e.line + 1
        problem = f"The frontmatter is not readable: line {line}: {e.problem}."
        return Frontmatter(block, None, error=problem, line=line)
    spans = {}
    for entry in found.entries:
        has_value = entry.value_span.start < entry.value_span.end
        spans[entry.key] = entry.span if has_value else entry.key_span
    return Frontmatter(block, values, spans)


def outline(body: str, block: Block) -> Outline:
    """Return the top-level properties of a block with their positions in the body; without braces,
    a `span` is whole lines. Raises: NoValue for an empty block, InvalidYaml for a broken one."""
    found = Outline(block.yaml_span.start)
    yaml12.load(block.yaml_span.slice(body), found)
    if found.flow is None:
        for number, entry in enumerate(found.entries):
            start = body.rfind("\n", 0, entry.span.start) + 1
            end = body.index("\n", max(entry.span.end - 1, start)) + 1
            found.entries[number] = replace(entry, span=Span(start, end))
    return found


def tags(values: Mapping[str, Value]) -> list[str] | None:
    """Return the tags of a note's properties with their `#`, as the app's `parseFrontMatterTags`: a
    text is one tag, and none with white space or of digits alone; None without the property or with
    an empty one (FM-30)."""
    items = _texts(values, "tags")
    if items is None:
        return None
    found = []
    for item in items:
        name = item.removeprefix("#")
        if name and not _SPACE.search(name) and not (name.isascii() and name.isdigit()):
            found.append("#" + name)
    return found


def aliases(values: Mapping[str, Value]) -> list[str] | None:
    """Return the aliases of a note; None without the property or with an empty one (FM-31)."""
    return _texts(values, "aliases")


def key_of(values: Mapping[str, Value], name: str) -> str | None:
    """Return the key of a property as written: exactly so, else in any case; `tags`, `aliases` and
    `cssclasses` are the first that agrees in any case, as in the app (FM-32)."""
    folded = name.lower()
    if folded not in TYPES_FIXED and name in values:
        return name
    return next((key for key in values if printable(key).lower() == folded), None)


def _texts(values: Mapping[str, Value], name: str) -> list[str] | None:
    key = key_of(values, name)
    value = None if key is None else values[key]
    if value is None:
        return None
    items = value if isinstance(value, list) else [value]
    return [text for item in items if isinstance(item, str) and (text := item.strip())]


class _Handler(YAMLHandler):
    """python-frontmatter's YAML handler with the app's idea of the block. It takes the text of the
    block as it stands in the note: the library changes line ends before it splits, and `outline`
    would find other places."""

    def __init__(self, text: str, found: Outline) -> None:
        super().__init__()
        self._text = text
        self._found = found

    def split(self, _: str) -> tuple[str, str]:
        return self._text, ""

    def load(self, fm: str, **_: object) -> dict[str, Value]:
        return yaml12.load(fm, self._found)
