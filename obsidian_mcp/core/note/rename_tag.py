"""Rename a tag, with the tags nested below it, in notes and canvases (semantics 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from obsidian_mcp.core.frontmatter.edits import replace_tag
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.errors import InvalidName

from . import canvas
from .edits import Edit, apply
from .parser import parse

_NOT_IN_A_TAG = re.compile(r"[\s\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]")


def checked(name: str) -> str:
    """Return a tag's name without `#`. Raises: InvalidName for a name that is no tag (semantics 3.1)."""
    found = name.strip().removeprefix("#").rstrip("/")
    bad = _NOT_IN_A_TAG.search(found)
    if not found or bad or found.isdigit() or found.startswith("/") or "//" in found:
        reason = f"{bad.group()!r} cannot stand in a tag" if bad else "a tag needs a character that is not a digit"
        raise InvalidName(f"{name!r} is not a tag: {reason}.", tag=name)
    return found


def in_note(body: str, old: str, new: str) -> str:
    """The note with `old` and its descendants renamed, and nothing else (TAG-30). Raises: PropertiesUnreadable."""
    renamed = apply(body, (Edit(span, new) for span in _names(body, old)))
    return replace_tag(renamed, old, new)


def in_canvas(body: str, old: str, new: str) -> str:
    """Return the canvas with the tag renamed in its text cards, inside their JSON strings (TAG-31)."""
    return apply(body, canvas.text_edits(body, lambda text: (Edit(span, new) for span in _names(text, old))))


def _names(body: str, old: str) -> Iterator[Span]:
    """Yield the spans of the name `old` in the tags of a text."""
    for tag in parse(body).tags:
        if tags.covers(old, tag.name):
            start = tag.span.start + 1  # after the #
            yield Span(start, start + len(tags.part(old, tag.name)))
