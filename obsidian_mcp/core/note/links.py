"""Links and embeds in a note: their record and their syntax (semantics 1.1, 1.5; specs/note.md)."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from obsidian_mcp.core.text.text import Span

Style = Literal["wiki", "markdown"]

wikilink = re.compile(r"\[\[((?:[^\[\]\r\n]++|\](?!\])|\[(?!\[))+)\]\]").match
"""A wikilink without its `!`; group 1 is the text between the brackets (NOTE-40)."""

_RESERVED = "|".join(f"{ord(char):02X}" for char in ";/?:@&=+$,#")
"""What JavaScript's `decodeURI` leaves encoded."""
_escapes = re.compile(rf"(?:%(?!{_RESERVED})[0-9A-F]{{2}})+", re.IGNORECASE)
_percent = re.compile(r"%(?![0-9A-Fa-f]{2})")
_backslash = re.compile(r"\\([!-/:-@\[-`{-~])")
_entity = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_size = re.compile(r"([0-9]+)(?:x([0-9]+))?").fullmatch
_space = re.compile(r"\s*").match
_title = re.compile(
    r"""\s+(?:"(?:[^"\\]|\\.){0,1000}"|'(?:[^'\\]|\\.){0,1000}'|\((?:[^()\\]|\\.){0,1000}\))"""
).match
_special = re.compile(r"[\s()\\]")

MAX_PARENTHESES = 32
"""Maximum nesting depth of brackets in a destination, as in CommonMark."""


@dataclass(frozen=True, slots=True)
class Link:
    """One link or embed, whatever its syntax. `path` is decoded, without subpath ("" for `[[#h]]`);
    `subpath` begins with `#` or is empty; `display` stands after the pipe or between the brackets.
    `span` covers the source, `target_span` the raw target in it. `key` names the property whose
    whole text the link is (`up`, `related.0`): spans count from its beginning."""

    style: Style
    embed: bool
    path: str
    subpath: str
    display: str | None
    original: str
    span: Span = field(compare=False)
    target_span: Span = field(compare=False)
    key: str = ""

    @property
    def target(self) -> str:
        """Return path and subpath: the app's `link`."""
        return self.path + self.subpath

    @property
    def display_text(self) -> str:
        """Return the text that a reader sees: the app's `displayText`."""
        return self.display if self.display is not None else shown(self.target)

    @property
    def size(self) -> tuple[int, int | None] | None:
        """Return width and height, in pixels, in an embed's display text: its last part, `100` or
        `100x50` (1.5)."""
        found = _size((self.display or "").rpartition("|")[2].strip())
        return (
            (int(found[1]), int(found[2]) if found[2] else None) if found and self.embed else None
        )


class Destination(NamedTuple):
    """The span of a Markdown link's destination, and the end of the link."""

    start: int
    stop: int
    end: int


def split_wikilink(inner: str, *, cell: bool = False) -> tuple[str, str | None]:
    """Target and display text between `[[` and `]]`; in a table cell `\\|` is the pipe (NOTE-41,
    NOTE-42)."""
    at = inner.find("|", 1)
    if at < 0:
        return inner, None
    target, display = inner[:at], inner[at + 1 :]
    if cell:
        target, display = target.removesuffix("\\"), display.replace("\\|", "|")
    return target, display or None


def split_subpath(target: str) -> tuple[str, str]:
    """Return link path and subpath: the subpath starts at the first `#` (NOTE-43)."""
    at = target.find("#")
    return (target, "") if at < 0 else (target[:at], target[at:])


def shown(target: str) -> str:
    """Return the text that the app shows for a target without display text: `a#b#c` as `a > b > c`
    (NOTE-44)."""
    return " > ".join(part for part in target.split("#") if part) if "#" in target else target


def is_internal(destination: str) -> bool:
    """Return whether a decoded Markdown destination is internal: it has no scheme, so no colon
    (NOTE-46)."""
    return bool(destination) and (":" not in destination or destination.startswith(("./", "../")))


def find_destination(text: str, at: int, end: int) -> Destination | None:
    """Return the destination of a Markdown link whose `(` is at `at` (NOTE-45); None if it is not a
    link."""
    start = _space(text, at + 1, end).end()  # type: ignore[union-attr]  # matches everything
    if text.startswith("<", start, end):
        stop = text.find(">", start, end)
        if stop < 0 or "\n" in text[start:stop]:
            return None
        start, after = start + 1, stop + 1
    else:
        stop = after = _bare_end(text, start, end)
    if title := _title(text, after, end):
        after = title.end()
    after = _space(text, after, end).end()  # type: ignore[union-attr]  # matches everything
    return (
        Destination(start, stop, after + 1)
        if stop >= 0 and text.startswith(")", after, end)
        else None
    )


def _bare_end(text: str, at: int, end: int) -> int:
    """The end of a destination without `<>`: at white space or at a bracket of its own; -1 when
    nested too deeply."""
    depth = 0
    while found := _special.search(text, at, end):
        at = found.end()
        match found[0]:
            case "\\":
                at += 1
            case "(":
                depth += 1
                if depth > MAX_PARENTHESES:
                    return -1
            case ")" if depth:
                depth -= 1
            case _:
                return found.start()
    return end


def decode(destination: str) -> str:
    """A raw destination with backslashes and entities resolved, and `%20` decoded as `decodeURI`
    does (NOTE-47)."""
    if "\\" in destination:
        destination = _backslash.sub(r"\1", destination)
    if "&" in destination:
        destination = _entity.sub(lambda found: html.unescape(found[0]), destination)
    if "%" not in destination or _percent.search(destination):
        return destination
    try:
        return _escapes.sub(
            lambda found: bytes.fromhex(found[0].replace("%", "")).decode(), destination
        )
    except UnicodeDecodeError:
        return destination


def read_property(key: str, value: str) -> Link | None:
    """Return the link that is a property's whole text (NOTE-48); None if there is text around it or
    no link."""
    whole = Span(0, len(value))
    if found := wikilink(value):
        if found.end() == len(value):
            target, display = split_wikilink(found[1])
            return Link(
                "wiki",
                False,
                *split_subpath(target),
                display,
                value,
                whole,
                Span(2, 2 + len(target)),
                key,
            )
        return None
    if value.startswith("[") and value.endswith(")"):
        closing = value.find("](")
        found_at = find_destination(value, closing + 1, len(value)) if closing > 0 else None
        if found_at and found_at.end == len(value) and "[" not in value[1:closing]:
            target_span = Span(found_at.start, found_at.stop)
            destination, label = decode(target_span.slice(value)), value[1:closing]
            if is_internal(destination):
                return Link(
                    "markdown",
                    False,
                    *split_subpath(destination),
                    label,
                    value,
                    whole,
                    target_span,
                    key,
                )
    return None
