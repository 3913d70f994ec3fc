"""A canvas as objects that can be changed, and its text with the changes in it (CANVAS-2,
CANVAS-3); its outline in the order a person reads it: groups, their cards, and the edges between
them (CANVAS-9)."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.json_list import JsonItem, ListLayout, layout_of, rewrite_list
from obsidian_mcp.core.text.json_text import JsonNode, Unreadable, parse
from obsidian_mcp.core.text.text import printable
from obsidian_mcp.errors import AmbiguousName, CanvasUnreadable, InvalidArguments

from .canvas import parse_root
from .canvas_layout import Rect

CONTENT: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "file": ("file", "subpath"),
    "link": ("url",),
    "group": ("label",),
}
"""What a card of a kind says, by the keys that hold it."""
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
FARTHEST = 10**15
"""Farthest place and largest size of a card. At 1e21 a step of 10 leads nowhere."""


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
        """The ids of the cards that an edge connects."""
        return self.values.get("fromNode"), self.values.get("toNode")

    @property
    def item(self) -> JsonItem:
        strange = self.node is not None and not isinstance(self.node.value, dict)
        return JsonItem(
            self.node.value if self.node is not None and strange else self.values, self.node
        )

    @property
    def rect(self) -> Rect:
        return Rect(*(number(self.values, key) for key in Rect._fields))


def text_of(values: Mapping[str, Any], key: str) -> str:
    """Return a text of a card or an edge; empty where it is none."""
    value = values.get(key)
    return value if isinstance(value, str) else ""


def number(values: Mapping[str, Any], key: str) -> float:
    """Return a number of a card; 0 where it is none, or none that can be reckoned with."""
    value = values.get(key)
    return value if is_number(value) else 0


def is_number(value: object) -> TypeGuard[float]:
    """Return whether this is a number that leaves room for exact arithmetic."""
    return isinstance(value, int | float) and value.__class__ is not bool and abs(value) <= FARTHEST


class CanvasText:
    """The cards and edges of a canvas file, in order; `written` is the file with them. Raises:
    CanvasUnreadable."""

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
        """The card of an id, or the only one with this text, file or label. Raises: AmbiguousName,
        InvalidArguments."""
        found = [card for card in self.cards if name and card.id == name]
        if len(found) > 1:
            shown = [_title(card) for card in found[:CANDIDATES_SHOWN]]
            raise AmbiguousName(
                f"{len(found)} cards have the id {name!r}: {', '.join(map(repr, shown))}. Name "
                "the one you mean by its text, file or label.",
                candidates=shown,
            )
        if found:
            return found[0]
        wanted = name.strip().lower()
        for names in (_whole_names, _short_names):
            found = [
                card
                for card in self.cards
                if wanted and wanted in {printable(known).strip().lower() for known in names(card)}
            ]
            if len(found) == 1:
                return found[0]
            if found:
                shown = [card.id for card in found[:CANDIDATES_SHOWN]]
                raise AmbiguousName(
                    f"{len(found)} cards are {name!r}: {', '.join(map(repr, shown))}. Give the id "
                    "of the one you mean.",
                    candidates=shown,
                )
        known = [f"{card.id} {_title(card)!r}" for card in self.cards[:CANDIDATES_SHOWN]]
        raise InvalidArguments(
            f"There is no card {name!r} on the canvas. "
            + (f"Cards are {', '.join(known)}." if known else "It has no cards."),
            argument="card",
        )

    def end(self, name: str) -> CanvasObject:
        """The card at the end of an edge, which names it by its id. Raises: AmbiguousName,
        InvalidArguments."""
        return self.card(self.card(name).id)

    def card_or_edge(self, name: str) -> CanvasObject:
        edge = next((edge for edge in self.edges if edge.id == name), None)
        return edge if edge is not None and name else self.card(name)

    def edge(self, start: CanvasObject, end: CanvasObject) -> CanvasObject | None:
        return next((edge for edge in self.edges if edge.ends == (start.id, end.id)), None)

    def members(self, group: CanvasObject) -> list[CanvasObject]:
        """The cards of a group: those whose rectangle is inside its own."""
        if not group.is_group:
            return []
        return [card for card in self.cards if card is not group and group.rect.holds(card.rect)]

    def group(self, name: str) -> CanvasObject:
        group = self.card(name)
        if not group.is_group:
            raise InvalidArguments(f"Card {group.id!r} is no group.", argument="group")
        return group

    def written(self) -> str:
        now = {"nodes": self.cards, "edges": self.edges}
        if self._root is None or not self._root.members:
            if not self.cards and not self.edges:
                return self._body
            lists = ([entry.item for entry in entries] for entries in now.values())
            nodes, edges = (rewrite_list("[]", JsonNode(0, 2, []), items, _NEW) for items in lists)
            return f'{{"nodes":{nodes},"edges":{edges}}}'
        text = self._body
        orders = {"nodes": NODE_KEYS, "edges": EDGE_KEYS}
        known = {name: array for name, array in self._arrays.items() if array is not None}
        usual = self._usual_layout(known)
        splices: list[tuple[int, int, str]] = []
        for name, array in known.items():
            if _same(now[name], array):
                continue
            style = layout_of(text, array, usual)
            items = [entry.item for entry in now[name]]
            splices.append(
                (array.start, array.end, rewrite_list(text, array, items, style, orders[name]))
            )
        for start, end, replaced in sorted(splices, reverse=True):
            text = text[:start] + replaced + text[end:]
        for name in LISTS:
            if name not in known and now[name]:
                written = rewrite_list(
                    "", JsonNode(0, 0, []), [JsonItem(entry.values) for entry in now[name]], usual
                )
                text = _with_list(text, name, written)
        return text

    def _usual_layout(self, arrays: Mapping[str, JsonNode]) -> ListLayout:
        """The layout for a list without items: that of the other list; one line in a file that is
        on one line."""
        for array in arrays.values():
            if array.items:
                return layout_of(self._body, array, _NEW)
        if "\n" not in self._body.strip():
            return ListLayout("", ",", "")
        found = re.search(r"\n([ \t]*)\"", self._body)
        unit = found[1] if found else ""
        newline = "\r\n" if "\r\n" in self._body else "\n"
        return ListLayout(
            f"{newline}{unit * 2 or chr(9)}", f",{newline}{unit * 2 or chr(9)}", newline + unit
        )


def _objects(array: JsonNode | None) -> list[CanvasObject]:
    """The items of a list. What is no object stays where it is and is never named."""
    items = array.items if array is not None else ()
    return [
        CanvasObject(dict(item.value) if isinstance(item.value, dict) else {}, item)
        for item in items
    ]


def _same(objects: Sequence[CanvasObject], array: JsonNode) -> bool:
    return len(objects) == len(array.items) and all(
        entry.node is item and (not isinstance(item.value, dict) or entry.values == item.value)
        for entry, item in zip(objects, array.items, strict=True)
    )


def _with_list(text: str, name: str, written: str) -> str:
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
    """A file without its folders and extension; the first line of a text without its marks."""
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
    return next(iter(_whole_names(card)), str(card.values.get("type", "")))[:40]


# The outline


class OutlinedCard(NamedTuple):
    """A card; `shows` is its text, its file with the subpath, its address or its label."""

    id: str
    kind: str
    shows: str
    rect: Rect
    color: str
    depth: int = 0
    """Number of groups that it is in."""


class OutlinedEdge(NamedTuple):
    id: str
    start: str
    end: str
    label: str
    arrow: str
    """`->`, `<-`, `<->` or `--`."""


class CanvasOutline(NamedTuple):
    """Cards in reading order, those of a group behind it; edges in the order of the file."""

    cards: tuple[OutlinedCard, ...]
    edges: tuple[OutlinedEdge, ...]


def outline(body: str) -> CanvasOutline:
    """Return the outline of a canvas whose text `canvas.read` can read."""
    value = json.loads(body) if body.strip() else {}
    cards = [_outline_card(node) for node in value.get("nodes") or [] if isinstance(node, dict)]
    edges = [_outline_edge(edge) for edge in value.get("edges") or [] if isinstance(edge, dict)]
    return CanvasOutline(tuple(_order(cards)), tuple(edges))


def title(card: OutlinedCard, most: int = 60) -> str:
    """Return a card's first line, cut to `most` characters."""
    first = card.shows.strip().partition("\n")[0]
    return first if len(first) <= most else first[: most - 1] + "…"


def _order(cards: list[OutlinedCard]) -> Iterator[OutlinedCard]:
    """Rows from the top, each from the left; a group is followed by the cards in it."""
    groups = sorted(
        (card for card in cards if card.kind == "group"),
        key=lambda one: -one.rect.width * one.rect.height,
    )
    ranks = {id(group): rank for rank, group in enumerate(groups)}
    inside: dict[int, list[OutlinedCard]] = {}
    """By the smallest group around them; 0 for those in none."""
    for card in cards:
        checkpoint()
        rank = ranks.get(id(card), len(groups))
        around = (
            group
            for group in reversed(groups)
            if group is not card
            and group.rect.holds(card.rect)
            and (
                group.rect != card.rect or ranks[id(group)] < rank
            )  # of two on one place, the first is in the other
        )
        inside.setdefault(id(next(around, None) or 0), []).append(card)
    waiting = [(card, 0) for card in _rows(inside.get(id(0), []))][::-1]
    while waiting:
        card, depth = waiting.pop()
        yield card._replace(depth=depth)
        if card.kind == "group":
            waiting += [(inner, depth + 1) for inner in _rows(inside.get(id(card), []))][::-1]


def _rows(cards: list[OutlinedCard]) -> list[OutlinedCard]:
    rows: list[OutlinedCard] = []
    waiting = sorted(cards, key=lambda card: (card.rect.y, card.rect.x))
    start = 0
    while start < len(waiting):
        checkpoint()
        middle = waiting[start].rect.y + waiting[start].rect.height / 2
        end = max(bisect_left(waiting, middle, start, key=lambda card: card.rect.y), start + 1)
        rows += sorted(waiting[start:end], key=lambda card: card.rect.x)
        start = end
    return rows


def _outline_card(node: Mapping[str, Any]) -> OutlinedCard:
    kind = text_of(node, "type")
    shows = "".join(text_of(node, key) for key in CONTENT.get(kind, ("text",)))
    rect = Rect(*(number(node, key) for key in Rect._fields))
    return OutlinedCard(text_of(node, "id"), kind, shows, rect, text_of(node, "color"))


def _outline_edge(edge: Mapping[str, Any]) -> OutlinedEdge:
    back, forth = edge.get("fromEnd") == "arrow", edge.get("toEnd", "arrow") == "arrow"
    arrow = ("<->" if forth else "<-") if back else ("->" if forth else "--")
    id_, start, end, label = (text_of(edge, key) for key in ("id", "fromNode", "toNode", "label"))
    return OutlinedEdge(id_, start, end, label, arrow)
