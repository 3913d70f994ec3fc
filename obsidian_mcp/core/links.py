"""Links and embeds as they stand in a note (semantics 1.1, 1.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .text import Span

Style = Literal["wiki", "markdown"]


@dataclass(frozen=True, slots=True)
class Link:
    """One link or embed: kind, target and display are fields of one record, whatever its syntax.

    `path` is the decoded link path without subpath ("" for `[[#h]]`), `subpath` begins with `#` or is empty.
    `display` is the text after the pipe or between the brackets, None when a wikilink has none.
    `span` covers the whole source (`original`), `target_span` the raw target with its subpath inside it.
    """

    style: Style
    embed: bool
    path: str
    subpath: str
    display: str | None
    original: str
    span: Span
    target_span: Span
