"""YAML 1.2 core as the app reads it with `yaml` 2.x (semantics 4.1): PyYAML splits the text into
events, and what they mean is decided here, in one loop without recursion that neither nesting nor
aliases make hang."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from obsidian_mcp.core.text.text import Span

Scalar = str | int | float | bool | None
Value = Any
"""Text, number, boolean, None, or lists and mappings of these; JSON can hold it."""

MAX_YAML = 1_000_000
"""Maximum length of a text in code points; a longer text is an error instead of minutes of work."""
MAX_EXPANDED = 2_000_000
"""Maximum code points of all values with every alias expanded."""
MAX_DEPTH = 100
"""Deepest nesting of lists and mappings, with every alias expanded: whoever walks through a value
may recurse."""
MAX_ALIASES = 100
"""The `yaml` package's `maxAliasCount`: beyond it an anchor is taken for an attack ("billion
laughs")."""


class InvalidYaml(ValueError):
    """The text is not a YAML mapping. `problem` is a clause without a full stop, `line` counts from
    1 in the text."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


class NoValue(ValueError):
    """The text contains only white space and comments, or a null."""


@dataclass(slots=True)
class Entry:
    """One property of the top level. `key_span` covers the key with its quotes, `value_span` the
    value, `items` those of a list without dashes, `span` all from the key on, or what
    `parser.outline` makes of it."""

    key: str
    value: Value
    key_span: Span = field(compare=False)
    value_span: Span = field(compare=False)
    items: tuple[Span, ...] = field(compare=False)
    span: Span = field(compare=False)


@dataclass(slots=True)
class Outline:
    """The top-level properties with their positions, filled by `load`; `flow` is the span of a
    mapping with braces."""

    base: int = 0
    """Where the text begins, from which positions are counted."""
    entries: list[Entry] = field(default_factory=list)
    flow: Span | None = None


def load(text: str, outline: Outline | None = None) -> dict[str, Value]:
    """Return the mapping of a YAML text, in order, and fill `outline` if given. Raises: NoValue,
    InvalidYaml."""
    if len(text) > MAX_YAML:
        raise InvalidYaml(f"the block is longer than {MAX_YAML:,} characters", 1)
    hidden = mask(text)
    source = text if hidden is None else hidden.source
    try:
        value = _Builder(source, hidden, outline).run()
    except InvalidYaml:
        # a tab in an otherwise blank line is nothing to the app and an error to libyaml
        blanked = _TABBED_BLANK.sub(lambda match: " " * len(match.group()), source)
        if blanked == source:
            raise
        if outline is not None:
            outline.entries.clear()
        value = _Builder(blanked, hidden, outline).run()
    if value is None:
        raise NoValue
    if not isinstance(value, dict):
        raise InvalidYaml("it is not a list of 'name: value' properties", 1)
    return value


def resolve(text: str) -> Scalar:
    """Return the value of a plain scalar in the core schema; numbers that JSON cannot hold are
    None."""
    if text and text[0] not in _TYPED_FIRST:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INT.match(text):
        return int(text) if len(text) < 300 else None
    if _BASED.match(text):
        return int(text, 0) if len(text) < 250 else None
    if _FLOAT.match(text):
        number = float(text)
        if number - number != 0:  # infinite
            return None
        return int(number) if number.is_integer() and abs(number) < 1e21 else number
    return text


_TABBED_BLANK = re.compile(r"^ *+\t[ \t]*+(?=#|\r?$)", re.MULTILINE)

_TYPED_FIRST = frozenset("~nNtTfF+-.0123456789")
_CONSTANTS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **{sign + word: None for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), None),
}
_INT = re.compile(r"[-+]?[0-9]+\Z")
_BASED = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")

_COLON = (
    "text with a colon and a space in it must be quoted, "
    "and a property must not be indented more than the others"
)
_NEIGHBOURS = (
    "it is not in line with the properties around it, or text goes on after a quote or bracket"
)
_IN_PLAIN_WORDS = {
    "mapping values are not allowed in this context": _COLON,
    "mapping values are not allowed here": _COLON,
    "found character that cannot start any token": (
        "text must be quoted that begins with @, ` or %, or with a tab"
    ),
    "did not find expected alphabetic or numeric character": (
        "text that begins with * or & must be quoted"
    ),
    "did not find expected key": _NEIGHBOURS,
    "did not find expected node content": (
        "text that begins with a bracket or a comma must be quoted"
    ),
    "block sequence entries are not allowed in this context": (
        "a list item must be on a line of its own"
    ),
}
_UNFINISHED = {
    "could not find expected ':'": "it is no 'name: value'",
    "found unexpected end of stream": "a quote is not closed",
    "did not find expected ',' or ']'": "a [ is not closed, or a comma is missing",
    "did not find expected ',' or '}'": "a { is not closed, or a comma is missing",
}
"""Problems that are reported at the start of their construct."""

_TAG = "tag:yaml.org,2002:"
_TAGGED: dict[str, tuple[type, ...]] = {
    _TAG + "bool": (bool,),
    _TAG + "null": (type(None),),
    _TAG + "int": (int,),
    _TAG + "float": (int, float),
}


class _Anchor:
    """A value that aliases may repeat, with its size and depth, both expanded; `weight` counts the
    expansion of aliases inside it."""

    __slots__ = ("count", "depth", "size", "value", "weight")

    def __init__(self, value: Value, size: int, weight: int, depth: int) -> None:
        self.value, self.size, self.weight, self.depth, self.count = value, size, weight, depth, 0


class _Frame:
    """A list or mapping being read."""

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

    def __init__(self, value: list[Value] | dict[str, Value], event: Any, outer: int) -> None:
        self.value = value
        self.anchor: str | None = event.anchor
        self.flow: bool = event.flow_style
        self.mark = event.start_mark
        # column of the nearest block collection, which continuation lines must exceed; -1 outside
        # of any
        self.indent: int = outer if self.flow else event.start_mark.column
        self.key = ""
        self.awaits_value = False
        self.seen: set[tuple[type, Scalar]] = set()
        self.size = 1
        self.weight = 0
        self.depth = 1


class _Builder:
    def __init__(self, source: str, hidden: Mask | None, outline: Outline | None) -> None:
        self._source = source
        self._hidden = hidden
        self._outline = outline
        self._anchors: dict[str, _Anchor] = {}
        self._stack: list[_Frame] = []
        self._root: Value = None
        self._documents = 0
        self._key_range = (0, 0)
        self._items: list[tuple[int, int]] = []
        # where the last token with content ends: the end mark of a block collection lies behind
        # blanks and comments
        self._end = 0

    def run(self) -> Value:
        """Return the value of the text. Raises: InvalidYaml."""
        handlers = {
            yaml.ScalarEvent: self._scalar,
            yaml.AliasEvent: self._alias,
            yaml.MappingStartEvent: self._open,
            yaml.SequenceStartEvent: self._open,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.DocumentStartEvent: self._document,
        }
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(
            self._source
        )  # without libyaml there is no first one
        try:
            while type(event := loader.get_event()) is not yaml.StreamEndEvent:
                if (handler := handlers.get(type(event))) is not None:
                    handler(event)
        except yaml.MarkedYAMLError as e:
            raise _explain(e) from e
        finally:
            loader.dispose()
        return self._root

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise _error(event, "it holds more than one document")

    def _scalar(self, event: Any) -> None:
        text: str = event.value
        style = event.style
        start: int = event.start_mark.index
        end: int = event.end_mark.index
        if not style:
            if start == end and self._source[start - 1 : start] not in (":", "-", "?"):
                start = end = self._end  # `{a}` and `? a` have their empty value at the next token
        elif event.end_mark.line > event.start_mark.line:
            if style in "|>":
                if "+" not in self._source[start : self._source.index("\n", start)]:
                    blank_content = text.rstrip("\n")[-1:] in (
                        " ",
                        "\t",
                    )  # a last line of spaces that counts
                    end = start + len(
                        self._source[start:end].rstrip("\r\n" if blank_content else " \t\r\n")
                    )
            elif self._stack and not self._stack[-1].flow:
                self._check_indent(
                    start, end, event.start_mark.line, self._stack[-1].indent, closing=""
                )
        if self._hidden is not None:
            text = self._hidden.restore(text, double_quoted=style == '"')
        value: Scalar = text
        if event.tag is None:
            if not style:
                value = resolve(text)
        elif event.tag in _TAGGED and isinstance(resolve(text), _TAGGED[event.tag]):
            value = resolve(text)
        self._end = end
        size = len(text) + 1
        self._place(value, start, end, size, 1, event)
        if event.anchor:
            self._anchors[event.anchor] = _Anchor(value, size, weight=1, depth=0)

    def _alias(self, event: Any) -> None:
        anchor = self._anchors.get(event.anchor)
        if anchor is None:
            raise _error(event, f"the anchor '{event.anchor}' is not defined before it is used")
        anchor.count += 1
        weight = anchor.count * anchor.weight
        if weight > MAX_ALIASES:
            raise _error(event, f"the anchor '{event.anchor}' is repeated too often")
        self._nest(anchor.depth, event)
        self._end = event.end_mark.index
        self._place(anchor.value, event.start_mark.index, self._end, anchor.size, weight, event)

    def _open(self, event: Any) -> None:
        self._nest(1, event)
        value: Value = {} if type(event) is yaml.MappingStartEvent else []
        self._stack.append(_Frame(value, event, self._stack[-1].indent if self._stack else -1))

    def _nest(self, depth: int, event: Any) -> None:
        """Note that the value being read contains one of this depth. Raises: InvalidYaml where that
        is too deep."""
        if len(self._stack) + depth > MAX_DEPTH:
            raise _error(event, f"lists and mappings are nested deeper than {MAX_DEPTH}")
        if self._stack and depth >= self._stack[-1].depth:
            self._stack[-1].depth = depth + 1

    def _close(self, event: Any) -> None:
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
        self._place(frame.value, frame.mark.index, self._end, frame.size, frame.weight, event)
        if frame.anchor:
            self._anchors[frame.anchor] = _Anchor(
                frame.value, frame.size, frame.weight, frame.depth
            )

    def _place(
        self, value: Value, start: int, end: int, size: int, weight: int, event: Any
    ) -> None:
        """Put a finished value where it belongs: into the list, as a key, under its key, or at the
        root."""
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
                key, whole = (
                    Span(base + key_start, base + key_end),
                    Span(base + key_start, base + end),
                )
                items = tuple([Span(base + first, base + last) for first, last in self._items])
                self._outline.entries.append(
                    Entry(frame.key, value, key, Span(base + start, base + end), items, whole)
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
        """Refuse, as the app does, continuation lines no deeper than their property; brackets may
        close there."""
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


def key_text(value: Value, *, nested: bool = False) -> str:
    """Return a key converted to text as in JavaScript: `1`, `true`, "" for null, `{ a: b }` for a
    mapping."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null" if nested else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        inner = ", ".join(key_text(item, nested=True) for item in value)
        return f"[ {inner} ]" if inner else "[]"
    if isinstance(value, dict):
        # an unquoted template field, `{{title}}`, is a mapping whose key is the mapping { title }
        pairs = (
            key if item is None else f"{key}: {key_text(item, nested=True)}"
            for key, item in value.items()
        )
        inner = ", ".join(pairs)
        return f"{{ {inner} }}" if inner else "{}"
    return str(value)


def _explain(error: yaml.MarkedYAMLError) -> InvalidYaml:
    problem = error.problem or "it is not valid YAML"
    mark = error.problem_mark or error.context_mark
    if problem in _UNFINISHED:
        mark = error.context_mark or mark
    words = _UNFINISHED.get(problem) or _IN_PLAIN_WORDS.get(problem, problem)
    return InvalidYaml(words, mark.line + 1 if mark else 1)


def _error(event: Any, problem: str) -> InvalidYaml:
    return InvalidYaml(problem, event.start_mark.line + 1)


_FOREIGN = re.compile(
    "[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|\r(?!\n)"
)
"""Characters that PyYAML refuses or misreads and the app takes as text: controls, line separators
of Unicode, a CR alone, surrogates. A `Mask` replaces them at equal length by unassigned code
points, and puts them back in values."""
_ESCAPE = re.compile(r"\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.DOTALL)
_PLANES = range(13, 3, -1)
"""Planes without a single assigned character."""


def mask(text: str) -> Mask | None:
    """What hides the text's foreign characters, None when it has none (nearly always)."""
    if _FOREIGN.search(text) or (
        "\\u" in text and any(len(escape) > 2 for escape in _ESCAPE.findall(text))
    ):
        return Mask(text)
    return None


class Mask:
    """`source` is the text for PyYAML, as long as the original; `restore` gives back what a value
    really says."""

    def __init__(self, text: str) -> None:
        self._base = next(
            (plane << 16 for plane in _PLANES if not _uses(text, plane)), _PLANES[0] << 16
        )
        hidden = f"[{chr(self._base)}-{chr(self._base + 0xFFFF)}]"
        self._hidden = re.compile(hidden)
        self._escape = re.compile(f"{self._hide(chr(92))}{self._hide('u')}({hidden}{{4}})")
        self.source = _ESCAPE.sub(
            self._hide_escape, _FOREIGN.sub(lambda match: self._hide(match.group()), text)
        )

    def restore(self, value: str, *, double_quoted: bool) -> str:
        if double_quoted and self._escape.search(value):
            value = self._escape.sub(lambda match: chr(int(self._show(match.group(1)), 16)), value)
            value = value.encode("utf-16", "surrogatepass").decode(
                "utf-16", "surrogatepass"
            )  # joins pairs
        return self._show(value)

    def _hide(self, text: str) -> str:
        return "".join(chr(self._base + ord(char)) for char in text)

    def _show(self, text: str) -> str:
        return self._hidden.sub(lambda match: chr(ord(match.group()) - self._base), text)

    def _hide_escape(self, match: re.Match[str]) -> str:
        escape = match.group()
        return escape if len(escape) == 2 else self._hide(escape)


def _uses(text: str, plane: int) -> bool:
    """Whether a text holds a character of a plane, as such or escaped (`\\U000D0041`)."""
    found = re.search(
        f"[{chr(plane << 16)}-{chr((plane << 16) + 0xFFFF)}]|\\\\U000{plane:x}", text, re.IGNORECASE
    )
    return found is not None
