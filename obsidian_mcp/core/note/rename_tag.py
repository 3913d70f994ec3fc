"""A tag renamed in a note: in the text and in the properties, with the tags nested below it (semantics 3)."""

from __future__ import annotations

import re

from obsidian_mcp.core.frontmatter.edits import replace_tag
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.errors import InvalidName

from .parser import parse

_NOT_IN_A_TAG = re.compile(r"[\s\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]")


def checked(name: str) -> str:
    """A tag's name without `#`. Raises: InvalidName for one that the app would not read as a tag (semantics 3.1)."""
    found = name.strip().removeprefix("#").rstrip("/")
    bad = _NOT_IN_A_TAG.search(found)
    if not found or bad or found.isdigit() or found.startswith("/") or "//" in found:
        reason = f"{bad.group()!r} cannot stand in a tag" if bad else "a tag needs a character that is not a digit"
        raise InvalidName(f"{name!r} is not a tag: {reason}.", tag=name)
    return found


def rename(body: str, old: str, new: str) -> str:
    """The body with the tag `old` and its descendants called `new`; every other character stays.

    Raises: PropertiesUnreadable where an item of the `tags` property cannot be changed on its own.
    """
    parsed = parse(body)
    parts, at = [], 0
    for tag in parsed.tags:
        if tags.covers(old, tag.name):
            name = tag.span.start + 1  # after the #
            parts += [body[at:name], new]
            levels = tag.name.split("/")[: old.count("/") + 1]  # not len(old): another case can have another length
            at = name + len("/".join(levels))
    return replace_tag("".join([*parts, body[at:]]), old, new, Text(body).newline)
