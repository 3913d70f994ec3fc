"""Change a canvas: cards and edges added, changed, moved, connected and removed (CANVAS-1 to 8).

A card is named by its id, or by its text, file or label. Everything that is not named keeps its
bytes: objects, unknown keys, the layout of the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from obsidian_mcp.core.text.call import check_each, checkpoint
from obsidian_mcp.errors import AmbiguousName, InvalidArguments

from . import canvas_layout as layout
from .canvas_layout import EdgeSide, Rect, Side
from .canvas_text import CONTENT, CanvasObject, CanvasText

_SIZES = {"file": (400, 400), "link": (400, 200), "group": (400, 400)}
_COLOR = re.compile(r"[1-6]|#[0-9A-Fa-f]{6}")

CardKind = Literal["text", "file", "link", "group"]


@dataclass(frozen=True, slots=True)
class CardPlace:
    """Where a card goes: coordinates, beside a card, or inside a group.

    By default it goes right of everything.
    """

    x: int | None = None
    y: int | None = None
    beside: str = ""
    side: Side = "right"
    group: str = ""


@dataclass(frozen=True, slots=True)
class AddCard:
    kind: CardKind
    content: Mapping[str, str]
    """`text`, `file` and `subpath`, `url` or `label`."""
    place: CardPlace = field(default_factory=CardPlace)
    width: int | None = None
    height: int | None = None
    color: str = ""
    around: Sequence[str] = ()
    """Cards around which a new group is made."""


@dataclass(frozen=True, slots=True)
class EditCard:
    """New values of a card or an edge. An empty text removes a text that a card can do without."""

    card: str
    content: Mapping[str, str] = field(default_factory=dict)
    width: int | None = None
    height: int | None = None
    color: str | None = None


@dataclass(frozen=True, slots=True)
class MoveCard:
    card: str
    place: CardPlace


@dataclass(frozen=True, slots=True)
class Connect:
    start: str
    end: str
    start_side: EdgeSide | None = None
    end_side: EdgeSide | None = None
    label: str | None = None
    color: str | None = None


@dataclass(frozen=True, slots=True)
class Disconnect:
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class RemoveCard:
    """A card to remove with its edges, or an edge.

    Of a group only the frame is removed, or with `contents` the cards in it, too.
    """

    card: str
    contents: bool = False


CanvasOperation = AddCard | EditCard | MoveCard | Connect | Disconnect | RemoveCard


@dataclass(frozen=True, slots=True)
class EditedCanvas:
    body: str
    ids: tuple[str, ...]
    """Ids of the card or edge that each operation changed."""


def edit(
    body: str, operations: Sequence[CanvasOperation], new_id: Callable[[], str]
) -> EditedCanvas:
    """Return the text of a canvas after all operations.

    `new_id` makes ids of 16 hexadecimal digits.

    Raises: CanvasUnreadable for a file that is no canvas; AmbiguousName and InvalidArguments, with
    the number of the operation, for an operation that cannot be carried out; OperationTimeout.
    """
    canvas = _CanvasEditor(body, new_id)
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
    return EditedCanvas(canvas.write(), tuple(ids))


class _CanvasEditor(CanvasText):
    """A canvas with the operations on it."""

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

    def _add(self, request: AddCard) -> str:
        for key in request.content:
            if key not in CONTENT[request.kind]:
                raise InvalidArguments(f"A {request.kind} card has no {key}.", argument=key)
        needed = CONTENT[request.kind][0]
        if request.kind != "group" and not request.content.get(needed, "").strip():
            raise InvalidArguments(f"A {request.kind} card needs {needed}.", argument=needed)
        rect, place = self._new_rect(request)
        values: dict[str, Any] = {"id": self._unused_id(), "type": request.kind}
        values |= {
            key: request.content[key] for key in CONTENT[request.kind] if request.content.get(key)
        }
        card = CanvasObject(values | {key: round(getattr(rect, key)) for key in Rect._fields})
        _set_text(card, "color", _check_color(request.color))
        if request.kind == "group":
            new_groups = sum(member.node is None and member.is_group for member in self.cards)
            self.cards.insert(new_groups, card)
        else:
            self.cards.append(card)
        self._grow(place, card)
        return card.id

    def _edit(self, request: EditCard) -> str:
        target = self.card_or_edge(request.card)
        is_edge = any(target is edge for edge in self.edges)
        kind = "edge" if is_edge else str(target.values.get("type"))
        allowed = ("label",) if is_edge else CONTENT.get(kind, ())
        if request.content.get("file", target.values.get("file")) != target.values.get("file"):
            target.values.pop("subpath", None)  # it names a heading or block of the old file
        for key, value in request.content.items():
            if key not in allowed:
                content = "its content is not known"
                if allowed:
                    content = f"its content is {' and '.join(allowed)}"
                raise InvalidArguments(
                    f"{kind.capitalize()} {target.id!r} has no {key}: {content}.", argument=key
                )
            if value or key == "text":
                target.values[key] = value
            elif key in ("label", "subpath"):
                target.values.pop(key, None)
            else:
                raise InvalidArguments(f"A {kind} card needs {key}.", argument=key)
        if is_edge and (request.width is not None or request.height is not None):
            raise InvalidArguments("An edge has no size.", argument="width")
        for key, size in (("width", request.width), ("height", request.height)):
            if size is not None:
                target.values[key] = _check_size(size, key)
        _set_text(target, "color", _check_color(request.color))
        return target.id

    def _move(self, request: MoveCard) -> str:
        card = self.card(request.card)
        before = card.rect
        along = [member for member in self.members(card) if member is not card]
        moving = [card, *along]
        rect, place = self._place(request.place, before, moving)
        dx, dy = rect.x - before.x, rect.y - before.y
        for node in moving:
            _put(node, node.rect.move(dx, dy), ("x", "y"))
        self._grow(place, card)
        return card.id

    def _connect(self, request: Connect) -> str:
        start, end = self.end(request.start), self.end(request.end)
        edge = self.edge(start, end)
        if edge is None:
            sides = layout.find_facing_sides(start.rect, end.rect)
            values = {
                "id": self._unused_id(),
                "fromNode": start.id,
                "fromSide": request.start_side or sides[0],
                "toNode": end.id,
                "toSide": request.end_side or sides[1],
            }
            edge = CanvasObject(values)
            self.edges.append(edge)
        else:
            edge.values |= {"fromSide": request.start_side} if request.start_side else {}
            edge.values |= {"toSide": request.end_side} if request.end_side else {}
        _set_text(edge, "color", _check_color(request.color))
        _set_text(edge, "label", request.label)
        return edge.id

    def _disconnect(self, request: Disconnect) -> str:
        start, end = self.end(request.start), self.end(request.end)
        target = self.edge(start, end)
        if target is None:
            raise InvalidArguments(
                f"No edge leads from {start.id!r} to {end.id!r}.", argument="from"
            )
        self.edges = [edge for edge in self.edges if edge.ends != target.ends]
        return target.id

    def _remove(self, request: RemoveCard) -> str:
        target = self.card_or_edge(request.card)
        if any(target is edge for edge in self.edges):
            self.edges = [edge for edge in self.edges if edge is not target]
            return target.id
        removed = {id(target)}
        if request.contents:
            removed |= {id(member) for member in self.members(target)}
        ids = {card.id for card in self.cards if id(card) in removed}
        self.cards = [card for card in self.cards if id(card) not in removed]
        self.edges = [edge for edge in self.edges if ids.isdisjoint(edge.ends)]
        return target.id

    def _new_rect(self, request: AddCard) -> tuple[Rect, CardPlace]:
        usual = _SIZES.get(request.kind) or (
            layout.TEXT_WIDTH,
            layout.text_height(request.content.get("text", "")),
        )
        width = usual[0] if request.width is None else _check_size(request.width, "width")
        height = usual[1] if request.height is None else _check_size(request.height, "height")
        size = Rect(0, 0, width, height)
        if request.around:
            if request.kind != "group":
                raise InvalidArguments("Only a group is made around cards.", argument="cards")
            return layout.enclose(self.card(name).rect for name in request.around), request.place
        return self._place(request.place, size, [])

    def _place(
        self, place: CardPlace, size: Rect, moving: Sequence[CanvasObject]
    ) -> tuple[Rect, CardPlace]:
        """Return where a card goes, and its place.

        The place is a group if the card was to go beside a neighbour that has no room beside it:
        the card then goes into the neighbour's group.
        """
        if place.x is not None or place.y is not None:
            x = size.x if place.x is None else place.x
            y = size.y if place.y is None else place.y
            return Rect(x, y, size.width, size.height), place
        still = [card for card in self.cards if not any(card is moved for moved in moving)]
        if place.beside:
            anchor = self.card(place.beside)
            if any(anchor is moved for moved in moving):
                raise InvalidArguments("A card cannot go beside itself.", argument="beside")
            free = layout.place_beside(
                anchor.rect, size, place.side, self._obstacles(still, anchor.rect)
            )
            around = (
                card
                for card in still
                if card.is_group and card is not anchor and card.rect.contains(anchor.rect)
            )
            smallest = min(around, key=_area, default=None)
            group = self.group(place.group) if place.group else smallest
            is_next = free == layout.place_beside(anchor.rect, size, place.side, ())
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
            obstacles = self._obstacles(still, group.rect)
            return layout.place_inside(group.rect, members, size, obstacles), place
        return layout.place_at_end((card.rect for card in still), size), place

    def _obstacles(self, cards: Iterable[CanvasObject], own: Rect) -> list[Rect]:
        """Return the rectangles that a card next to `own` must keep clear of.

        They are all but the groups that `own` is in.
        """
        rects = ((card, card.rect) for card in check_each(cards))
        return [rect for card, rect in rects if not (card.is_group and rect.contains(own))]

    def _grow(self, place: CardPlace, card: CanvasObject) -> None:
        """Make the group that a card was put into large enough, and the groups that this one is in.

        Beside a neighbour, these are the groups that contain the neighbour and a part of the card.
        """
        if not (place.group or place.beside):
            return
        inner = card.rect
        anchor = self.group(place.group).rect if place.group else self.card(place.beside).rect
        frames = [frame for frame in self.cards if frame.is_group and frame.rect.contains(anchor)]
        outer = [frame for frame in frames if place.group or frame.rect.overlaps(inner)]
        for frame in sorted(outer, key=_area):
            if frame is card:
                continue
            inner = layout.grow_to_hold(frame.rect, inner)
            _put(frame, inner, Rect._fields)

    def _unused_id(self) -> str:
        while True:
            id_ = self._new_id()
            if id_ not in self._used_ids:
                self._used_ids.add(id_)
                return id_

    @cached_property
    def _used_ids(self) -> set[str]:
        """The ids that any card or edge has had: of the canvas as it was read, and new ones."""
        return {node.id for node in check_each([*self.cards, *self.edges])}


def _area(card: CanvasObject) -> float:
    return card.rect.width * card.rect.height


def _put(card: CanvasObject, rect: Rect, keys: Iterable[str]) -> None:
    """Give a card another place; a number that stays the same keeps its bytes."""
    before = card.rect
    for key in keys:
        if getattr(before, key) != getattr(rect, key):
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


def _set_text(target: CanvasObject, key: str, text: str | None) -> None:
    """Set a text; an empty one removes it, None leaves it."""
    if text:
        target.values[key] = text
    elif text is not None:
        target.values.pop(key, None)
