"""A canvas as objects that can be changed, and its text with the changes in it.

See CANVAS-2, CANVAS-3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.core.text.fit import cut_text, name_first
from obsidian_mcp.core.text.json_list import JsonItem, ListLayout, layout_of, rewrite_list
from obsidian_mcp.core.text.json_text import JsonNode, Unreadable, parse
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.typed_text import typed_key
from obsidian_mcp.errors import AmbiguousName, CanvasUnreadable, InvalidArguments

from .canvas import parse_root
from .canvas_layout import Rect

CONTENT: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "file": ("file", "subpath"),
    "link": ("url",),
    "group": ("label",),
}
"""The keys of a card's content, by the kind of card."""
NODE_KEYS = (
    "id",
    "type",
    "text",
    "file",
    "subpath",
    "url",
    "label",
    "x",
    "y",
    "width",
    "height",
    "color",
)
EDGE_KEYS = ("id", "fromNode", "fromSide", "toNode", "toSide", "color", "label")
LISTS = ("nodes", "edges")
_NEW = ListLayout("\n\t", ",\n\t", "\n")
"""How the app writes a list of a new canvas."""
CANDIDATES_SHOWN = 10
"""Cards that a message lists."""
TITLE_SHOWN = 40
"""Characters of a card's text in a message."""
FARTHEST = 10**15
"""Farthest place and largest size of a card. At 1e21 a step of 10 changes nothing."""


@dataclass
class CanvasObject:
    """A card or an edge that is being changed."""

    values: dict[str, Any]
    node: JsonNode | None = None

    @property
    def id(self) -> str:
        return text_of(self.values, "id")

    @property
    def is_group(self) -> bool:
        return self.values.get("type") == "group"

    @property
    def ends(self) -> tuple[Any, Any]:
        """Return the ids of the cards that an edge connects."""
        return self.values.get("fromNode"), self.values.get("toNode")

    @property
    def item(self) -> JsonItem:
        if self.node is not None and not isinstance(self.node.value, dict):
            return JsonItem(self.node.value, self.node)
        return JsonItem(self.values, self.node)

    @property
    def rect(self) -> Rect:
        return Rect(*(number(self.values, key) for key in Rect._fields))


def text_of(values: Mapping[str, Any], key: str) -> str:
    """Return a text of a card or an edge; empty where it is none."""
    value = values.get(key)
    return value if isinstance(value, str) else ""


def number(values: Mapping[str, Any], key: str) -> float:
    """Return a number of a card; 0 where it is no number, or too large for exact arithmetic."""
    value = values.get(key)
    return value if is_number(value) else 0


def is_number(value: object) -> TypeGuard[float]:
    """Return whether this is a number that leaves room for exact arithmetic."""
    return isinstance(value, int | float) and value.__class__ is not bool and abs(value) <= FARTHEST


class CanvasText:
    """The cards and edges of a canvas file, in their order.

    `write` returns the file as they are now.

    Raises: CanvasUnreadable for a file that is no canvas.
    """

    def __init__(self, body: str) -> None:
        self._body = body
        try:
            self._root = parse_root(body, *LISTS)
        except Unreadable as error:
            line = error.line(body)
            raise CanvasUnreadable(
                f"The canvas cannot be edited: line {line}: {error.problem}. Nothing was written.",
                line=line,
            ) from error
        members = {name: self._root.member(name) if self._root else None for name in LISTS}
        self._arrays = {name: member.node if member else None for name, member in members.items()}
        self.cards, self.edges = (_objects(self._arrays[name]) for name in LISTS)

    def card(self, name: str) -> CanvasObject:
        """Return the card of an id, or the only one with this text, file or label.

        Raises: AmbiguousName, InvalidArguments.
        """
        cards = [card for card in self.cards if name and card.id == name]
        if len(cards) > 1:
            titles = [_title(card) for card in cards]
            named = name_first(titles, CANDIDATES_SHOWN, write=repr)
            raise AmbiguousName(
                f"{len(cards)} cards have the id {name!r}: {named}. Name the one you mean by its "
                "text, file or label.",
                candidates=titles[:CANDIDATES_SHOWN],
            )
        if cards:
            return cards[0]
        key = typed_key(name)
        for names_of in (_whole_names, _short_names):
            cards = [
                card
                for card in self.cards
                if key and key in {typed_key(to_printable(text)) for text in names_of(card)}
            ]
            if len(cards) == 1:
                return cards[0]
            if cards:
                ids = [card.id for card in cards]
                named = name_first(ids, CANDIDATES_SHOWN, write=repr)
                raise AmbiguousName(
                    f"{len(cards)} cards are {name!r}: {named}. Give the id of the one you mean.",
                    candidates=ids[:CANDIDATES_SHOWN],
                )
        choice = name_first(
            self.cards, CANDIDATES_SHOWN, write=lambda card: f"{card.id} {_title(card)!r}"
        )
        raise InvalidArguments(
            f"There is no card {name!r} on the canvas. "
            + (f"Cards are {choice}." if choice else "It has no cards."),
            argument="card",
        )

    def end(self, name: str) -> CanvasObject:
        """Return the card at the end of an edge, which names it by its id.

        Raises: AmbiguousName, InvalidArguments.
        """
        return self.card(self.card(name).id)

    def card_or_edge(self, name: str) -> CanvasObject:
        edge = next((edge for edge in self.edges if edge.id == name), None)
        return edge if edge is not None and name else self.card(name)

    def edge(self, start: CanvasObject, end: CanvasObject) -> CanvasObject | None:
        return next((edge for edge in self.edges if edge.ends == (start.id, end.id)), None)

    def members(self, group: CanvasObject) -> list[CanvasObject]:
        """Return the cards of a group: those whose rectangle is inside its own."""
        if not group.is_group:
            return []
        return [card for card in self.cards if card is not group and group.rect.contains(card.rect)]

    def group(self, name: str) -> CanvasObject:
        group = self.card(name)
        if not group.is_group:
            raise InvalidArguments(f"Card {group.id!r} is no group.", argument="group")
        return group

    def write(self) -> str:
        """Return the text of the file with the cards and edges as they are now."""
        objects = {"nodes": self.cards, "edges": self.edges}
        if self._root is None or not self._root.members:
            if not self.cards and not self.edges:
                return self._body
            lists = ([entry.item for entry in entries] for entries in objects.values())
            nodes, edges = (rewrite_list("[]", JsonNode(0, 2, []), items, _NEW) for items in lists)
            return f'{{"nodes":{nodes},"edges":{edges}}}'
        text = self._body
        orders = {"nodes": NODE_KEYS, "edges": EDGE_KEYS}
        arrays = {name: array for name, array in self._arrays.items() if array is not None}
        usual = self._usual_layout(arrays)
        splices: list[tuple[int, int, str]] = []
        for name, array in arrays.items():
            if _is_unchanged(objects[name], array):
                continue
            style = layout_of(text, array, usual)
            items = [entry.item for entry in check_each(objects[name])]
            splices.append(
                (array.start, array.end, rewrite_list(text, array, items, style, orders[name]))
            )
        for start, end, replaced in sorted(splices, reverse=True):
            text = text[:start] + replaced + text[end:]
        for name in LISTS:
            if name not in arrays and objects[name]:
                items = [JsonItem(entry.values) for entry in objects[name]]
                text = _with_list(text, name, rewrite_list("", JsonNode(0, 0, []), items, usual))
        return text

    def _usual_layout(self, arrays: Mapping[str, JsonNode]) -> ListLayout:
        """Return the layout for a list without items.

        It is that of the other list, or one line in a file that is on one line.
        """
        for array in arrays.values():
            if array.items:
                return layout_of(self._body, array, _NEW)
        if "\n" not in self._body.strip():
            return ListLayout("", ",", "")
        indented = re.search(r"\n([ \t]*)\"", self._body)
        unit = indented[1] if indented else ""
        newline = "\r\n" if "\r\n" in self._body else "\n"
        return ListLayout(
            f"{newline}{unit * 2 or chr(9)}", f",{newline}{unit * 2 or chr(9)}", newline + unit
        )


def _objects(array: JsonNode | None) -> list[CanvasObject]:
    """Return the items of a list.

    An item that is no object stays where it is and is never named.
    """
    items = check_each(array.items if array is not None else ())
    return [
        CanvasObject(dict(item.value) if isinstance(item.value, dict) else {}, item)
        for item in items
    ]


def _is_unchanged(objects: Sequence[CanvasObject], array: JsonNode) -> bool:
    return len(objects) == len(array.items) and all(
        entry.node is item and (not isinstance(item.value, dict) or entry.values == item.value)
        for entry, item in zip(objects, array.items, strict=True)
    )


def _with_list(text: str, name: str, written: str) -> str:
    """Return the text with one more member at the end of its object."""
    root = parse(text).root
    last = root.members[-1]
    gap = text[root.members[-2].node.end : last.start] if len(root.members) > 1 else ","
    return f'{text[: last.node.end]}{gap}"{name}":{written}{text[last.node.end :]}'


def _whole_names(card: CanvasObject) -> list[str]:
    return [
        str(card.values[key])
        for key in ("text", "file", "label", "url")
        if isinstance(card.values.get(key), str)
    ]


def _short_names(card: CanvasObject) -> list[str]:
    """Return a file without its folders and extension, or the first line of a text without its
    marks."""
    names = []
    for key, value in card.values.items():
        if not isinstance(value, str):
            continue
        if key == "file":
            name = value.rpartition("/")[2]
            names += [name, name.rpartition(".")[0]]
        elif key == "text":
            names.append(value.strip().partition("\n")[0].lstrip("#-*> ").strip("*_ "))
    return names


def _title(card: CanvasObject) -> str:
    return cut_text(next(iter(_whole_names(card)), str(card.values.get("type", ""))), TITLE_SHOWN)
