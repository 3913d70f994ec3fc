"""The YAML block at the start of a note: its position and its content (specs/frontmatter.md).

Not here: editing (`edits`), YAML itself (`yaml12`). (semantics 4)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import frontmatter
from frontmatter.default_handlers import YAMLHandler

from obsidian_mcp.core.text.text import Span, to_printable
from obsidian_mcp.core.text.typed_text import typed_key

from . import yaml12
from .block import OPENING, Block, locate_block
from .property_types import TYPES_FIXED
from .yaml12 import Outline
from .yaml_problems import InvalidYaml, NoValue
from .yaml_values import YamlValue

_PROPERTY = re.compile(r"[\w\"'][^\n:]{0,99}:(?:[ \t]|\r?$)", re.MULTILINE)
_PROPERTY_OR_ITEM = re.compile(r"[\w\"'][^:]{0,99}:(?:[ \t]|\r?\Z)|[ \t]+\S|-[ \t]|#[ \t]")
MOST_PROPERTY_LINES = 200
"""Lines in which the end of properties is looked for that no line of dashes ends."""
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The content of a frontmatter block.

    `values` is None when the app shows no properties: the block is empty, or it is broken and
    `error` says why in one sentence; `line` is then the line of the note, counted from 1. `spans`
    are those of the properties, from name to end of value, in code points of the body.
    """

    block: Block
    values: dict[str, YamlValue] | None
    spans: Mapping[str, Span] = field(default_factory=dict, compare=False)
    error: str | None = None
    line: int | None = None


def has_property(body: str, name: str) -> bool:
    """Return whether the properties of a note can be read and have this name, as written."""
    if name not in body:  # as in most notes, which are then not parsed
        return False
    properties = read_frontmatter(body)
    return properties is not None and properties.values is not None and name in properties.values


def read_frontmatter(body: str) -> Frontmatter | None:
    """Return the properties of a note as the app reads them; None without a frontmatter block."""
    block = locate_block(body)
    if block is None:
        return None
    places = Outline(block.yaml_span.start)
    handler = _BlockHandler(block.yaml_span.slice(body), places)
    try:
        values, _ = frontmatter.parse(block.span.slice(body), handler=handler)
    except NoValue:
        return Frontmatter(block, None)
    except InvalidYaml as e:
        line = e.line + 1
        problem = f"The frontmatter is not readable: line {line}: {e.problem}."
        return Frontmatter(block, None, error=problem, line=line)
    spans = {}
    for entry in places.entries:
        has_value = entry.value_span.start < entry.value_span.end
        spans[entry.key] = entry.span if has_value else entry.key_span
    return Frontmatter(block, values, spans)


class PropertiesFault(NamedTuple):
    """Why the app reads no properties at the beginning of a note."""

    message: str
    """A sentence that names the line."""
    line: int
    """1-based."""
    is_unclosed: bool = False
    """Whether no line of dashes ends the properties."""


def find_fault(body: str) -> PropertiesFault | None:
    """Return why the properties at the beginning of a note cannot be read; None where they can, or
    without any (FM-05).

    A first line of dashes without a second one begins properties if the line below it is a name
    with a colon; else it is a rule across the page.
    """
    if not body.startswith(OPENING):
        return None
    if locate_block(body) is None:
        if _PROPERTY.match(body, body.index("\n") + 1) is None:
            return None
        last = _last_property_line(body)
        message = (
            "The frontmatter is not readable: line 1 opens it, and no line with only --- closes "
            f"it; line {last} seems to be its last one."
        )
        return PropertiesFault(message, 1, is_unclosed=True)
    block = read_frontmatter(body)
    if block is None or block.error is None:
        return None
    return PropertiesFault(block.error, block.line or 1)


def _last_property_line(body: str) -> int:
    """Return the line, 1-based, up to which the text below the first line looks like properties."""
    last = 1
    lines = body.split("\n", MOST_PROPERTY_LINES)[1:MOST_PROPERTY_LINES]
    for number, line in enumerate(lines, 2):
        if not _PROPERTY_OR_ITEM.match(line):
            break
        last = number
    return last


def outline(body: str, block: Block) -> Outline:
    """Return the top-level properties of a block with their positions, in code points of the body.

    Where the mapping has no braces, the `span` of a property is its whole lines with the last line
    end.
    Raises: NoValue for an empty block, InvalidYaml for a broken one.
    """
    places = Outline(block.yaml_span.start)
    yaml12.load(block.yaml_span.slice(body), places)
    if places.flow is None:
        for number, entry in enumerate(places.entries):
            start = body.rfind("\n", 0, entry.span.start) + 1
            end = body.index("\n", max(entry.span.end - 1, start)) + 1
            places.entries[number] = replace(entry, span=Span(start, end))
    return places


def tags(values: Mapping[str, YamlValue]) -> list[str] | None:
    """Return the tags of a note's properties with their `#`; None without them (FM-30).

    As the app's `parseFrontMatterTags`: text is one tag and never split; a text with white space, a
    number, and a text of digits alone are no tags. An empty property is none.
    """
    items = _texts(values, "tags")
    if items is None:
        return None
    hash_tags = []
    for item in items:
        name = item.removeprefix("#")
        if name and not _SPACE.search(name) and not (name.isascii() and name.isdigit()):
            hash_tags.append("#" + name)
    return hash_tags


def aliases(values: Mapping[str, YamlValue]) -> list[str] | None:
    """Return the aliases of a note; None without the property or with an empty one (FM-31)."""
    return _texts(values, "aliases")


def key_of(values: Mapping[str, YamlValue], name: str) -> str | None:
    """Return the key of a property as written in the note (FM-32).

    `tags`, `aliases` and `cssclasses` are the first key that agrees in any case, as in the app.
    Every other name is looked for exactly first, then in any case, and then as it is typed
    (NAME-18), where one property alone looks so.
    """
    folded = name.lower()
    if folded not in TYPES_FIXED and name in values:
        return name
    in_any_case = next((key for key in values if to_printable(key).lower() == folded), None)
    if in_any_case is not None or folded in TYPES_FIXED:
        return in_any_case
    typed = typed_key(name)
    alike = [key for key in values if typed_key(to_printable(key)) == typed]
    return alike[0] if len(alike) == 1 else None


def _texts(values: Mapping[str, YamlValue], name: str) -> list[str] | None:
    key = key_of(values, name)
    value = None if key is None else values[key]
    if value is None:
        return None
    items = value if isinstance(value, list) else [value]
    return [text for item in items if isinstance(item, str) and (text := item.strip())]


class _BlockHandler(YAMLHandler):
    """python-frontmatter's YAML handler with the app's idea of the block and of its values.

    It gets the text of a block as it stands in the note: the library changes line ends before it
    splits, so the values would not be those of which `outline` finds the places.
    """

    def __init__(self, text: str, places: Outline) -> None:
        super().__init__()
        self._text = text
        self._places = places

    def split(self, _: str) -> tuple[str, str]:
        return self._text, ""

    def load(self, fm: str, **_: object) -> dict[str, YamlValue]:
        return yaml12.load(fm, self._places)
