"""YAML 1.2 core as the app reads it, with the JavaScript package `yaml` 2.x (specs/frontmatter.md).

PyYAML (libyaml where it is built in) splits the text into events; what they mean is decided here,
so that `yes`, dates and `1:30` stay text. One loop without recursion: neither nesting nor aliases
can make it hang or overflow. (semantics 4.1)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from obsidian_mcp.core.text.text import Span

from .yaml_mask import Mask, mask
from .yaml_problems import InvalidYaml, NoValue, explain_problem
from .yaml_values import YamlScalar, YamlValue, key_text, resolve_scalar

MAX_YAML = 1_000_000
"""Maximum length of a text in code points; a longer text is an error instead of minutes of work."""
MAX_EXPANDED = 2_000_000
"""Maximum code points of all values with every alias expanded."""
MAX_DEPTH = 100
"""Deepest nesting of lists and mappings, with every alias expanded.

So code that walks through a value may recurse.
"""
MAX_ALIASES = 100
"""The `yaml` package's `maxAliasCount`.

An anchor that is repeated more often counts as an attack ("billion laughs").
"""


@dataclass(slots=True)
class PropertyEntry:
    """One property of the top level.

    `key_span` covers the key as written, with its quotes; `value_span` the value from its first to
    its last character (empty where there is none); `items` the items of a list, each without its
    dash; `span` the key to the end of the value, or the lines that `parser.outline` makes of it.
    """

    key: str
    value: YamlValue
    key_span: Span = field(compare=False)
    value_span: Span = field(compare=False)
    items: tuple[Span, ...] = field(compare=False)
    span: Span = field(compare=False)


@dataclass(slots=True)
class Outline:
    """The top-level properties with their positions, filled by `load`.

    `flow` is the span of a mapping with braces.
    """

    base: int = 0
    """Offset of the text in the body: positions count in the body."""
    entries: list[PropertyEntry] = field(default_factory=list)
    flow: Span | None = None


def load(text: str, outline: Outline | None = None) -> dict[str, YamlValue]:
    """Return the mapping of a YAML text, in document order; fill `outline` if there is one.

    Raises: NoValue, InvalidYaml (also for duplicate keys, several documents, another root than a
    mapping).
    """
    if len(text) > MAX_YAML:
        raise InvalidYaml(f"the block is longer than {MAX_YAML:,} characters", 1)
    hidden = mask(text)
    source = text if hidden is None else hidden.source
    try:
        value = _Builder(source, hidden, outline).build()
    except InvalidYaml:
        # A tab in an otherwise blank line is nothing to the app and an error to libyaml.
        blanked = _TABBED_BLANK.sub(lambda match: " " * len(match.group()), source)
        if blanked == source:
            raise
        if outline is not None:
            outline.entries.clear()
        value = _Builder(blanked, hidden, outline).build()
    if value is None:
        raise NoValue
    if not isinstance(value, dict):
        raise InvalidYaml("it is not a list of 'name: value' properties", 1)
    return value


_TABBED_BLANK = re.compile(r"^ *+\t[ \t]*+(?=#|\r?$)", re.MULTILINE)

_TAG = "tag:yaml.org,2002:"
_TAGGED: dict[str, tuple[type, ...]] = {
    _TAG + "bool": (bool,),
    _TAG + "null": (type(None),),
    _TAG + "int": (int,),
    _TAG + "float": (int, float),
}


class _Anchor:
    """A value that aliases may repeat, with its size and depth, both expanded.

    `weight` counts the expansion of aliases inside it.
    """

    __slots__ = ("count", "depth", "size", "value", "weight")

    def __init__(self, value: YamlValue, size: int, weight: int, depth: int) -> None:
        self.value, self.size, self.weight, self.depth, self.count = value, size, weight, depth, 0


class _Frame:
    """A list or mapping that is being read."""

    __slots__ = (
        "anchor",
        "awaits_value",
        "depth",
        "flow",
        "indent",
        "key",
        "mark",
        "seen",
        "size",
        "value",
        "weight",
    )

    def __init__(
        self, value: list[YamlValue] | dict[str, YamlValue], event: Any, outer: int
    ) -> None:
        self.value = value
        self.anchor: str | None = event.anchor
        self.flow: bool = event.flow_style
        self.mark = event.start_mark
        # Column of the nearest block collection, which continuation lines must exceed; -1 outside.
        self.indent: int = outer if self.flow else event.start_mark.column
        self.key = ""
        self.awaits_value = False
        self.seen: set[tuple[type, YamlScalar]] = set()
        self.size = 1
        self.weight = 0
        self.depth = 1


class _Builder:
    """One pass over the events of a text."""

    def __init__(self, source: str, hidden: Mask | None, outline: Outline | None) -> None:
        self._source = source
        self._hidden = hidden
        self._outline = outline
        self._anchors: dict[str, _Anchor] = {}
        self._stack: list[_Frame] = []
        self._root: YamlValue = None
        self._documents = 0
        self._key_range = (0, 0)
        self._items: list[tuple[int, int]] = []
        # End of the last token with content: the end mark of a block collection is behind blanks
        # and comments.
        self._end = 0

    def build(self) -> YamlValue:
        """Return the value of the text.

        Raises: InvalidYaml.
        """
        handlers = {
            yaml.ScalarEvent: self._add_scalar,
            yaml.AliasEvent: self._add_alias,
            yaml.MappingStartEvent: self._open,
            yaml.SequenceStartEvent: self._open,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.DocumentStartEvent: self._add_document,
        }
        # Without libyaml there is no CSafeLoader.
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(self._source)
        try:
            while type(event := loader.get_event()) is not yaml.StreamEndEvent:
                if (handler := handlers.get(type(event))) is not None:
                    handler(event)
        except yaml.MarkedYAMLError as e:
            raise explain_problem(e) from e
        finally:
            loader.dispose()
        return self._root

    def _add_document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise _error(event, "it holds more than one document")

    def _add_scalar(self, event: Any) -> None:
        """Put a scalar where it belongs, with the span that it takes in the source.

        PyYAML's marks are not enough for the span: an empty value has none, and a block of lines
        ends at the next token. The span must be right because an edit replaces exactly it.
        """
        text: str = event.value
        style = event.style
        start: int = event.start_mark.index
        end: int = event.end_mark.index
        if not style:
            if start == end and self._source[start - 1 : start] not in (":", "-", "?"):
                start = end = self._end  # `{a}` and `? a` have their empty value at the next token
        elif event.end_mark.line != event.start_mark.line:
            if style in "|>":
                if "+" not in self._source[start : self._source.index("\n", start)]:
                    # A last line of spaces counts.
                    ends_blank = text.rstrip("\n")[-1:] in (" ", "\t")
                    blanks = "\r\n" if ends_blank else " \t\r\n"
                    end = start + len(self._source[start:end].rstrip(blanks))
            elif self._stack and not self._stack[-1].flow:
                self._check_indent(
                    start, end, event.start_mark.line, self._stack[-1].indent, closing=""
                )
        if self._hidden is not None:
            text = self._hidden.restore(text, double_quoted=style == '"')
        value: YamlScalar = text
        if event.tag is None:
            if not style:
                value = resolve_scalar(text)
        elif event.tag in _TAGGED and isinstance(resolve_scalar(text), _TAGGED[event.tag]):
            value = resolve_scalar(text)
        self._end = end
        size = len(text) + 1
        self._place(value, start, end, event, size=size, weight=1)
        if event.anchor:
            self._anchors[event.anchor] = _Anchor(value, size, weight=1, depth=0)

    def _add_alias(self, event: Any) -> None:
        anchor = self._anchors.get(event.anchor)
        if anchor is None:
            raise _error(event, f"the anchor '{event.anchor}' is not defined before it is used")
        anchor.count += 1
        weight = anchor.count * anchor.weight
        if weight > MAX_ALIASES:
            raise _error(event, f"the anchor '{event.anchor}' is repeated too often")
        self._nest(anchor.depth, event)
        self._end = event.end_mark.index
        start = event.start_mark.index
        self._place(anchor.value, start, self._end, event, size=anchor.size, weight=weight)

    def _open(self, event: Any) -> None:
        self._nest(1, event)
        value: YamlValue = {} if type(event) is yaml.MappingStartEvent else []
        self._stack.append(_Frame(value, event, self._stack[-1].indent if self._stack else -1))

    def _nest(self, depth: int, event: Any) -> None:
        """Note that the value that is being read contains a value of this depth.

        Raises: InvalidYaml where that is too deep.
        """
        if len(self._stack) + depth > MAX_DEPTH:
            raise _error(event, f"lists and mappings are nested deeper than {MAX_DEPTH}")
        if self._stack and depth >= self._stack[-1].depth:
            self._stack[-1].depth = depth + 1

    def _close(self, event: Any) -> None:
        """Put a list or mapping that ends here where it belongs.

        The lines of the outermost flow collection are checked for their indentation, and its span
        is kept for edits.
        """
        frame = self._stack.pop()
        self._nest(frame.depth, event)
        if frame.flow:
            self._end = event.end_mark.index
            outermost = not self._stack or not self._stack[-1].flow
            if outermost and event.end_mark.line > frame.mark.line:
                self._check_indent(
                    frame.mark.index, self._end, frame.mark.line, frame.indent, closing="]}"
                )
            if not self._stack and self._outline is not None:
                base = self._outline.base
                self._outline.flow = Span(base + frame.mark.index, base + self._end)
        self._place(
            frame.value,
            frame.mark.index,
            self._end,
            event,
            size=frame.size,
            weight=frame.weight,
        )
        if frame.anchor:
            self._anchors[frame.anchor] = _Anchor(
                frame.value, frame.size, frame.weight, frame.depth
            )

    def _place(
        self, value: YamlValue, start: int, end: int, event: Any, *, size: int, weight: int
    ) -> None:
        """Put a finished value where it belongs: into the list, as a key, under its key, or at the
        root.

        Raises: InvalidYaml for a value that aliases make too large, and for a key that is there
        twice.
        """
        if not self._stack:
            self._root = value
            return
        frame = self._stack[-1]
        frame.size += size
        if frame.size > MAX_EXPANDED:
            raise _error(event, "its aliases make it too large")
        if weight > frame.weight:
            frame.weight = weight
        if isinstance(frame.value, list):
            frame.value.append(value)
            if len(self._stack) == 2:
                self._items.append((start, end))
        elif frame.awaits_value:
            frame.awaits_value = False
            frame.value[frame.key] = value
            if self._outline is not None and len(self._stack) == 1:
                base, (key_start, key_end) = self._outline.base, self._key_range
                key = Span(base + key_start, base + key_end)
                whole = Span(base + key_start, base + end)
                items = tuple([Span(base + first, base + last) for first, last in self._items])
                self._outline.entries.append(
                    PropertyEntry(
                        frame.key, value, key, Span(base + start, base + end), items, whole
                    )
                )
        else:
            frame.key = value if isinstance(value, str) else key_text(value)
            frame.awaits_value = True
            if not isinstance(value, list | dict):
                identity = (type(value), value)
                if identity in frame.seen:
                    raise _error(event, f"the key '{frame.key}' stands there twice")
                frame.seen.add(identity)
            if len(self._stack) == 1:
                self._key_range = (start, end)
                self._items.clear()

    def _check_indent(self, start: int, end: int, line: int, indent: int, *, closing: str) -> None:
        """Refuse, as the app does and libyaml does not, continuation lines not deeper than their
        property.

        A closing bracket may stand in the property's own column.
        """
        for number, text in enumerate(self._source[start:end].split("\n")[1:], line + 1):
            content = text.lstrip(" ")
            depth = len(text) - len(content)
            if depth > indent or not content.strip() or (closing and content.startswith("#")):
                continue
            if closing and depth == indent and content.rstrip() in closing:
                continue
            raise InvalidYaml(
                "a value that goes on over several lines must be indented", number + 1
            )


def _error(event: Any, problem: str) -> InvalidYaml:
    return InvalidYaml(problem, event.start_mark.line + 1)
