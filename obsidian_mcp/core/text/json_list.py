"""A list of objects in a JSON text, rewritten so that what does not change keeps every byte.

See CANVAS-2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .call import check_each
from .json_text import JsonNode


class ListLayout(NamedTuple):
    """How the objects of a list are laid out: the blanks around the items, and inside an object."""

    lead: str
    """Between `[` and the first item."""
    gap: str
    """Between two items, with the comma."""
    tail: str
    """Between the last item and `]`."""
    opening: str = ""
    """Between `{` and the first member."""
    comma: str = ","
    """Between two members."""
    colon: str = ":"
    closing: str = ""
    """Between the last member and `}`."""
    ascii_only: bool = False
    """Whether other scripts are escaped."""

    def value(self, value: Any) -> str:
        if "\n" in self.opening and isinstance(value, dict | list) and value:
            inner = self.opening.rpartition("\n")[2]
            outer = self.closing.rpartition("\n")[2]
            unit = inner[len(outer) :] or "  "
            return json.dumps(value, ensure_ascii=self.ascii_only, indent=unit).replace(
                "\n", "\n" + inner
            )
        separators = (",", self.colon) if "\n" in self.comma else (self.comma, self.colon)
        return json.dumps(value, ensure_ascii=self.ascii_only, separators=separators)

    def member(self, key: str, value: Any) -> str:
        return json.dumps(key, ensure_ascii=self.ascii_only) + self.colon + self.value(value)

    def object(self, values: Mapping[str, Any]) -> str:
        members = self.comma.join(self.member(key, value) for key, value in values.items())
        return "{" + self.opening + members + self.closing + "}"


class JsonItem(NamedTuple):
    """An object of the new list. `node` is its place in the old list; None for a new object."""

    values: Mapping[str, Any]
    node: JsonNode | None = None


def layout_of(text: str, array: JsonNode, default: ListLayout) -> ListLayout:
    """Return the layout of a list by its first two items; `default` for an empty list."""
    if not array.items:
        return default
    first, last = array.items[0], array.items[-1]
    lead = text[array.start + 1 : first.start]
    gap = text[first.end : array.items[1].start] if len(array.items) > 1 else "," + lead
    tail = text[last.end : array.end - 1]
    members = first.members
    ascii_only = text.isascii() and "\\u" in text
    if not members:
        return ListLayout(lead, gap, tail, ascii_only=ascii_only)
    return ListLayout(
        lead,
        gap,
        tail,
        opening=text[first.start + 1 : members[0].start],
        comma=text[members[0].node.end : members[1].start] if len(members) > 1 else ",",
        colon=":" + text[members[0].start : members[0].node.start].rpartition(":")[2],
        closing=text[members[-1].node.end : first.end - 1],
        ascii_only=ascii_only,
    )


def rewrite_list(
    text: str,
    array: JsonNode,
    items: Sequence[JsonItem],
    layout: ListLayout,
    order: Sequence[str] = (),
) -> str:
    """Return the text of a list with these items, in this order.

    Items that do not change keep their bytes, and so do the blanks between them. `order` is the
    order of an object's keys: it says behind which of them a new member is put.
    """
    if not items:
        return text[array.start : array.end] if not array.items else "[]"
    before: dict[int, str] = {}
    """The blanks and comma in front of each item that is there already, by its identity."""
    for first, second in zip(array.items, check_each(array.items[1:]), strict=False):
        before[id(second)] = text[first.end : second.start]
    written = []
    for place, item in enumerate(check_each(items)):
        if place:
            written.append(before.get(id(item.node), layout.gap))
        node, values = item.node, item.values
        written.append(
            layout.object(values) if node is None else _object(text, node, values, layout, order)
        )
    return f"[{layout.lead}{''.join(written)}{layout.tail}]"


def _object(
    text: str, node: JsonNode, values: Mapping[str, Any], layout: ListLayout, order: Sequence[str]
) -> str:
    """Return the text of an object of the list with other values of its members."""
    if node.value == values:
        return text[node.start : node.end]
    remaining = [member for member in node.members if member.key in values]
    parts: list[tuple[str, str]] = []
    """Key and text of every member, in order."""
    for member in remaining:
        same = values[member.key] == node.value[member.key]
        head = text[member.start : member.node.start]
        body = (
            text[member.node.start : member.node.end] if same else layout.value(values[member.key])
        )
        parts.append((member.key, head + body))
    gaps = {
        member.key: text[node.members[k - 1].node.end : member.start]
        for k, member in enumerate(node.members)
        if k
    }
    new = [key for key in values if node.member(key) is None]
    for key in new:
        at = _place(key, [present for present, _ in parts], order)
        parts.insert(at, (key, layout.member(key, values[key])))
    opening = text[node.start + 1 : node.members[0].start] if node.members else layout.opening
    closing = text[node.members[-1].node.end : node.end - 1] if node.members else layout.closing
    comma = next(iter(gaps.values()), layout.comma)
    inside = "".join(
        (gaps.get(key, comma) if k else "") + part for k, (key, part) in enumerate(parts)
    )
    return "{" + opening + inside + closing + "}" if parts else "{}"


def _place(key: str, present: Sequence[str], order: Sequence[str]) -> int:
    """Return where a new member goes: behind the members that come before it in `order`, else
    last."""
    if key not in order:
        return len(present)
    earlier = set(order[: order.index(key)])
    return max(
        (k + 1 for k, present_key in enumerate(present) if present_key in earlier), default=0
    )
