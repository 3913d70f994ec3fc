"""HTML that is escaped where it is made: a text becomes HTML in `element` alone (UI-20)."""

from __future__ import annotations

from html import escape
from typing import Final

from obsidian_mcp.core.text.text import to_printable

VOID: Final = frozenset({"br", "hr", "input", "link", "meta"})
"""Elements that have no end."""


class Markup(str):
    """Text that is HTML already. Everything else is escaped when it is put into an element."""

    __slots__ = ()


Child = str | Markup | None
Attribute = str | int | bool | None


def element(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """Return an element with its children, of which those that are no Markup are escaped.

    `class_` and `for_` are the attributes of these names, `aria_label` is `aria-label`. True gives
    an attribute without a value; False and None leave it out, and so does None as a child.
    """
    written = "".join(
        _write_attribute(key.rstrip("_").replace("_", "-"), value)
        for key, value in attributes.items()
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(*children)}</{name}>")


def join(*children: Child) -> Markup:
    """Return children one behind the other, those that are no Markup escaped."""
    return Markup("".join(map(_write_child, children)))


def _write_child(child: Child) -> str:
    if child is None:
        return ""
    return child if isinstance(child, Markup) else escape(_to_visible(child))


def _write_attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(_to_visible(str(value)))}"'


def _to_visible(text: str) -> str:
    """Return a text that every browser shows as it is: NUL is an error in HTML."""
    return to_printable(text).replace("\0", "\ufffd")
