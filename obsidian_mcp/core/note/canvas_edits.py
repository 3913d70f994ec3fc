"""Cards and edges added, changed, moved, connected and removed, all else byte for byte (CANVAS-1 to
CANVAS-8)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.errors import AmbiguousName, InvalidArguments

from . import canvas_layout as layout
from .canvas_layout import EdgeSide, Rect, Side
from .canvas_text import CONTENT, CanvasObject, CanvasText

_SIZES = {"file": (400, 400), "link": (400, 200), "group": (400, 400)}
_COLOR = re.compile(r"[1-6]|#[0-9A-Fa-f]{6}")

CardKind = Literal["text", "file", "link", "group"]


class CardPlace(NamedTuple):
    """Where a card goes: coordinates, beside a card, or inside a group; nothing of it: right of
    everything."""

    x: int | None = None
    y: int | None = None
    beside: str = ""
    side: Side = "right"
    group: str = ""


class AddCard(NamedTuple):
    kind: CardKind
    content: Mapping[str, str]
    """`text`, `file` and `subpath`, `url` or `label`."""
    place: CardPlace = CardPlace()
    width: int | None = None
    height: int | None = None
    color: str = ""
    around: Sequence[str] = ()
    """Cards that a new group is made around."""


@dataclass(frozen=True, slots=True)
class EditCard:
    """New values of a card or an edge; a text that is empty takes away what may be absent."""

    card: str
    content: Mapping[str, str] = field(default_factory=dict)
    width: int | None = None
    height: int | None = None
    color: str | None = None


class MoveCard(NamedTuple):
    card: str
    place: CardPlace


class Connect(NamedTuple):
    start: str
    end: str
    start_side: EdgeSide | None = None
    end_side: EdgeSide | None = None
    label: str | None = None
    color: str | None = None


class Disconnect(NamedTuple):
    start: str
    end: str


class RemoveCard(NamedTuple):
    """A card with its edges, or an edge; of a group the frame alone, or with `contents` the cards
    in it too."""

    card: str
    contents: bool = False


CanvasOperation = AddCard | EditCard | MoveCard | Connect | Disconnect | RemoveCard


class EditedCanvas(NamedTuple):
    body: str
    ids: tuple[str, ...]
    """Of the card or edge that each operation was about."""


def edit(
    body: str, operations: Sequence[CanvasOperation], new_id: Callable[[], str]
) -> EditedCanvas:
    """Return the text of a canvas after all operations; `new_id` makes 16 hexadecimal digits.
    Raises: CanvasUnreadable, AmbiguousName and InvalidArguments with the number of the operation,
    OperationTimeout."""
    canvas = _Canvas(body, new_id)
    ids = []
    for number, operation in enumerate(operations, 1):
        checkpoint()
        try:
            ids.append(canvas.apply(operation))
        except (InvalidArguments, AmbiguousName) as error:
            if len(operations) == 1:
                raise
            message = f"Operation {number}: {error.message} Nothing was written."
            raise type(error)(message, **{**error.data, "operation": number}) from None
    return EditedCanvas(canvas.written(), tuple(ids))


class _Canvas(CanvasText):
    def __init__(self, body: str, new_id: Callable[[], str]) -> None:
        super().__init__(body)
        self._new_id = new_id

    def apply(self, operation: CanvasOperation) -> str:
        match operation:
            case AddCard():
                return self._add(operation)
            case EditCard():
                return self._edit(operation)
            case MoveCard():
                return self._move(operation)
            case Connect():
                return self._connect(operation)
            case Disconnect():
                return self._disconnect(operation)
            case RemoveCard():
                return self._remove(operation)

    def _add(self, wanted: AddCard) -> str:
        for key in wanted.content:
            if key not in CONTENT[wanted.kind]:
                raise InvalidArguments(f"A {wanted.kind} card has no {key}.", argument=key)
        needed = CONTENT[wanted.kind][0]
        if wanted.kind != "group" and not wanted.content.get(needed, "").strip():
            raise InvalidArguments(f"A {wanted.kind} card needs {needed}.", argument=needed)
        rect, place = self._new_rect(wanted)
        values: dict[str, Any] = {"id": self._unused_id(), "type": wanted.kind}
        values |= {
            key: wanted.content[key] for key in CONTENT[wanted.kind] if wanted.content.get(key)
        }
        made = CanvasObject(values | {key: round(getattr(rect, key)) for key in Rect._fields})
        _set_text(made, "color", _check_color(wanted.color))
        if wanted.kind == "group":
            self.cards.insert(sum(card.node is None and card.is_group for card in self.cards), made)
        else:
            self.cards.append(made)
        self._grow(place, made)
        return made.id

    def _edit(self, wanted: EditCard) -> str:
        found = self.card_or_edge(wanted.card)
        edge = any(found is known for known in self.edges)
        kind = "edge" if edge else str(found.values.get("type"))
        allowed = ("label",) if edge else CONTENT.get(kind, ())
        if wanted.content.get("file", found.values.get("file")) != found.values.get("file"):
            found.values.pop("subpath", None)  # a heading or block of the file before
        for key, value in wanted.content.items():
            if key not in allowed:
                has = (
                    f"its content is {' and '.join(allowed)}"
                    if allowed
                    else "its content is not known"
                )
                raise InvalidArguments(
                    f"{kind.capitalize()} {found.id!r} has no {key}: {has}.", argument=key
                )
            if value or key == "text":
                found.values[key] = value
            elif key in ("label", "subpath"):
                found.values.pop(key, None)
            else:
                raise InvalidArguments(f"A {kind} card needs {key}.", argument=key)
        if edge and (wanted.width is not None or wanted.height is not None):
            raise InvalidArguments("An edge has no size.", argument="width")
        for key, size in (("width", wanted.width), ("height", wanted.height)):
            if size is not None:
                found.values[key] = _check_size(size, key)
        _set_text(found, "color", _check_color(wanted.color))
        return found.id

    def _move(self, wanted: MoveCard) -> str:
        card = self.card(wanted.card)
        before = card.rect
        along = [member for member in self.members(card) if member is not card]
        moving = [card, *along]
        rect, place = self._place(wanted.place, before, moving)
        dx, dy = rect.x - before.x, rect.y - before.y
        for node in moving:
            _put(node, node.rect.moved(dx, dy), ("x", "y"))
        self._grow(place, card)
        return card.id

    def _connect(self, wanted: Connect) -> str:
        start, end = self.end(wanted.start), self.end(wanted.end)
        found = self.edge(start, end)
        if found is None:
            sides = layout.facing(start.rect, end.rect)
            values = {
                "id": self._unused_id(),
                "fromNode": start.id,
                "fromSide": wanted.start_side or sides[0],
                "toNode": end.id,
                "toSide": wanted.end_side or sides[1],
            }
            found = CanvasObject(values)
            self.edges.append(found)
        else:
            found.values |= {"fromSide": wanted.start_side} if wanted.start_side else {}
            found.values |= {"toSide": wanted.end_side} if wanted.end_side else {}
        _set_text(found, "color", _check_color(wanted.color))
        _set_text(found, "label", wanted.label)
        return found.id

    def _disconnect(self, wanted: Disconnect) -> str:
        start, end = self.end(wanted.start), self.end(wanted.end)
        found = self.edge(start, end)
        if found is None:
            raise InvalidArguments(
                f"No edge leads from {start.id!r} to {end.id!r}.", argument="from"
            )
        self.edges = [edge for edge in self.edges if edge.ends != found.ends]
        return found.id

    def _remove(self, wanted: RemoveCard) -> str:
        found = self.card_or_edge(wanted.card)
        if any(found is edge for edge in self.edges):
            self.edges = [edge for edge in self.edges if edge is not found]
            return found.id
        gone = {id(found)} | (
            {id(member) for member in self.members(found)} if wanted.contents else set()
        )
        ids = {card.id for card in self.cards if id(card) in gone}
        self.cards = [card for card in self.cards if id(card) not in gone]
        self.edges = [edge for edge in self.edges if ids.isdisjoint(edge.ends)]
        return found.id

    def _new_rect(self, wanted: AddCard) -> tuple[Rect, CardPlace]:
        usual = _SIZES.get(wanted.kind) or (
            layout.TEXT_WIDTH,
            layout.text_height(wanted.content.get("text", "")),
        )
        width = usual[0] if wanted.width is None else _check_size(wanted.width, "width")
        height = usual[1] if wanted.height is None else _check_size(wanted.height, "height")
        size = Rect(0, 0, width, height)
        if wanted.around:
            if wanted.kind != "group":
                raise InvalidArguments("Only a group is made around cards.", argument="cards")
            return layout.around(self.card(name).rect for name in wanted.around), wanted.place
        return self._place(wanted.place, size, [])

    def _place(
        self, place: CardPlace, size: Rect, moving: Sequence[CanvasObject]
    ) -> tuple[Rect, CardPlace]:
        """Return where a card goes, and the place that this is: the group of a neighbour that has
        no room beside it."""
        if place.x is not None or place.y is not None:
            x = size.x if place.x is None else place.x
            y = size.y if place.y is None else place.y
            return Rect(x, y, size.width, size.height), place
        still = [card for card in self.cards if not any(card is moved for moved in moving)]
        if place.beside:
            anchor = self.card(place.beside)
            if any(anchor is moved for moved in moving):
                raise InvalidArguments("A card cannot go beside itself.", argument="beside")
            free = layout.beside(anchor.rect, size, place.side, self._obstacles(still, anchor.rect))
            around = (
                one
                for one in still
                if one.is_group and one is not anchor and one.rect.holds(anchor.rect)
            )
            smallest = min(around, key=lambda one: one.rect.width * one.rect.height, default=None)
            group = self.group(place.group) if place.group else smallest
            is_next = free == layout.beside(anchor.rect, size, place.side, ())
            if group is None or is_next or group.rect.overlaps(free):
                return free, place
            place = CardPlace(group=group.id)
        if place.group:
            group = self.group(place.group)
            members = [
                card.rect
                for card in self.members(group)
                if not any(card is moved for moved in moving)
            ]
            return layout.inside(
                group.rect, members, size, self._obstacles(still, group.rect)
            ), place
        return layout.at_the_end((card.rect for card in still), size), place

    def _obstacles(self, cards: Iterable[CanvasObject], own: Rect) -> list[Rect]:
        """The rectangles that a card next to `own` must keep clear of: all but the groups that
        `own` is in."""
        rects = ((card, card.rect) for card in cards)
        return [rect for card, rect in rects if not (card.is_group and rect.holds(own))]

    def _grow(self, place: CardPlace, card: CanvasObject) -> None:
        """Make the group that a card was put into large enough, and the groups that this one is in;
        beside a neighbour, those that hold the neighbour and a part of the card."""
        if not (place.group or place.beside):
            return
        inner = card.rect
        held = self.group(place.group).rect if place.group else self.card(place.beside).rect
        frames = [frame for frame in self.cards if frame.is_group and frame.rect.holds(held)]
        outer = [frame for frame in frames if place.group or frame.rect.overlaps(inner)]
        for frame in sorted(outer, key=lambda found: found.rect.width * found.rect.height):
            if frame is card:
                continue
            inner = layout.grown(frame.rect, inner)
            _put(frame, inner, Rect._fields)

    def _unused_id(self) -> str:
        used = {node.id for node in [*self.cards, *self.edges]}
        while (made := self._new_id()) in used:
            pass
        return made


def _put(card: CanvasObject, rect: Rect, keys: Iterable[str]) -> None:
    """Give a card another place; a number that stays the same keeps its bytes."""
    now = card.rect
    for key in keys:
        if getattr(now, key) != getattr(rect, key):
            card.values[key] = round(getattr(rect, key))


def _check_size(size: int, key: str) -> int:
    if size <= 0:
        raise InvalidArguments(f"{key} must be a positive number, not {size}.", argument=key)
    return size


def _check_color(color: str | None) -> str | None:
    if color and not _COLOR.fullmatch(color):
        raise InvalidArguments(
            f"{color!r} is no colour of a canvas: it must be 1 (red), 2 (orange), 3 (yellow), 4 "
            "(green), 5 (cyan), 6 (purple) or #RRGGBB.",
            argument="color",
        )
    return color


def _set_text(found: CanvasObject, key: str, text: str | None) -> None:
    """Set a text; an empty one takes it away, None leaves it."""
    if text:
        found.values[key] = text
    elif text is not None:
        found.values.pop(key, None)
