"""Links and embeds in a note: their record and their syntax (semantics 1.1, 1.5; specs/note.md).

Which file a link means is the matter of core/links/resolve.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from obsidian_mcp.core.text.text import Span
from obsidian_mcp.core.text.wikilink import read_whole_wikilink, split_subpath

Style = Literal["wiki", "markdown"]

_RESERVED = "|".join(f"{ord(char):02X}" for char in ";/?:@&=+$,#")
"""Characters that JavaScript's `decodeURI` leaves encoded."""
# Percent escapes to decode; a percent sign that begins no escape; an escaped punctuation mark.
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


@dataclass(slots=True)
class Link:
    """One link or embed: its kind, target and display, whatever its syntax.

    Nothing changes it; see `elements` for why it is not frozen.

    `path` is the decoded link path without subpath ("" for `[[#h]]`); `subpath` begins with `#` or
    is empty. `display` is the text after the pipe or between the brackets, None when a wikilink has
    none.

    `span` covers the whole source (`original`), `target_span` the raw target with its subpath in
    it.

    `key` names the property whose whole text the link is, a dotted path with list indexes (`up`,
    `related.0`): its spans count from the beginning of that text. It is empty for a link of the
    note's own text.
    """

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
        return self.display if self.display is not None else show_target(self.target)

    @property
    def size(self) -> tuple[int, int | None] | None:
        """Return width and height, in pixels, that an embed's display text ends with.

        They are its last part: `100` or `100x50` (semantics 1.5).
        """
        match = _size((self.display or "").rpartition("|")[2].strip())
        if match is None or not self.embed:
            return None
        return int(match[1]), int(match[2]) if match[2] else None


class Destination(NamedTuple):
    """The span of a Markdown link's destination, and the end of the link."""

    start: int
    stop: int
    end: int


def show_target(target: str) -> str:
    """Return the text that the app shows for a target without display text (NOTE-44).

    `a#b#c` is shown as `a > b > c`.
    """
    return " > ".join(part for part in target.split("#") if part) if "#" in target else target


def is_internal(destination: str) -> bool:
    """Return whether a decoded Markdown destination leads into the vault (NOTE-46).

    Such a destination has no scheme, so no colon.
    """
    return bool(destination) and (":" not in destination or destination.startswith(("./", "../")))


def find_destination(text: str, at: int, end: int) -> Destination | None:
    """Return the destination of a Markdown link whose `(` is at `at`; None if it is no link.

    See NOTE-45.
    """
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
    if stop < 0 or not text.startswith(")", after, end):
        return None
    return Destination(start, stop, after + 1)


def _bare_end(text: str, at: int, end: int) -> int:
    """Return the end of a destination without `<>`, at white space or at a bracket without partner.

    Return -1 when brackets are nested too deeply.
    """
    depth = 0
    while character := _special.search(text, at, end):
        at = character.end()
        match character[0]:
            case "\\":
                at += 1
            case "(":
                depth += 1
                if depth > MAX_PARENTHESES:
                    return -1
            case ")" if depth:
                depth -= 1
            case _:
                return character.start()
    return end


def decode(destination: str) -> str:
    """Return a raw destination decoded (NOTE-47).

    Backslashes and entities are resolved, and `%20` is decoded as `decodeURI` does.
    """
    if "\\" in destination:
        destination = _backslash.sub(r"\1", destination)
    if "&" in destination:
        destination = _entity.sub(lambda entity: html.unescape(entity[0]), destination)
    if "%" not in destination or _percent.search(destination):
        return destination
    try:
        return _escapes.sub(
            lambda escape: bytes.fromhex(escape[0].replace("%", "")).decode(), destination
        )
    except UnicodeDecodeError:
        return destination


def read_property(key: str, value: str) -> Link | None:
    """Return the link that is a property's whole text; None without one, or with text around it.

    See NOTE-48.
    """
    whole = Span(0, len(value))
    link = read_whole_wikilink(value)
    if link is not None and not link.is_embed:
        inner = Span(2, 2 + len(link.path) + len(link.subpath))
        return Link("wiki", False, link.path, link.subpath, link.display, value, whole, inner, key)
    if value.startswith("[") and value.endswith(")"):
        closing = value.find("](")
        place = find_destination(value, closing + 1, len(value)) if closing > 0 else None
        if place and place.end == len(value) and "[" not in value[1:closing]:
            inner = Span(place.start, place.stop)
            target, label = decode(inner.slice(value)), value[1:closing]
            if is_internal(target):
                path, subpath = split_subpath(target)
                return Link("markdown", False, path, subpath, label, value, whole, inner, key)
    return None
