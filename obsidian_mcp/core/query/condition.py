"""A part of a query, and the place in a file that it is tried on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.text import Span

from .document import Document


class Place:
    """The whole content of a file (`span` None) or a part of it."""

    __slots__ = ("span", "subject")

    def __init__(self, subject: Document, span: Span | None = None) -> None:
        self.subject = subject
        self.span = span

    def within(self, part: Span) -> Place:
        """Return a part of the same file."""
        return Place(self.subject, part)

    @property
    def has_content(self) -> bool:
        return self.subject.kind != "other"

    @property
    def start(self) -> int:
        if self.span is not None:
            return self.span.start
        if compat.SEARCH_FRONTMATTER_IS_CONTENT:
            return 0
        from obsidian_mcp.core.frontmatter.parser import text_start

        return text_start(self.subject.text)

    @property
    def end(self) -> int:
        return len(self.subject.text) if self.span is None else self.span.end

    @property
    def text(self) -> str:
        """The content of the place, for a search that sees nothing around it."""
        text = self.subject.text
        if self.span is not None:
            return text[self.span.start : self.span.end]
        return text if compat.SEARCH_FRONTMATTER_IS_CONTENT else text[self.start :]


class Condition(Protocol):
    """A part of a query, compiled once for many files."""

    cost: int
    """Cheaper conditions are checked first."""

    def holds(self, place: Place) -> bool:
        """Whether it is fulfilled."""
        ...

    def shows(self, place: Place) -> bool:  # noqa: ARG002
        """Whether it holds because of the path (semantics 5.6 row 27); used for files without text."""
        return False

    def places(self, place: Place) -> Iterator[Span]:  # noqa: ARG002
        """Yield where it holds in the content, if anywhere; called only if it holds."""
        return iter(())
