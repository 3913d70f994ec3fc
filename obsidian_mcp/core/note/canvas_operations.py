"""What can be done to a canvas (CANVAS-1). A card is named by its id, or by its text, file or label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .canvas_layout import EdgeSide, Side

CardKind = Literal["text", "file", "link", "group"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a card goes: coordinates, beside a card, or inside a group; nothing of it: right of everything."""

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
    place: Place = field(default_factory=Place)
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


@dataclass(frozen=True, slots=True)
class MoveCard:
    card: str
    place: Place


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
    """A card with its edges, or an edge; of a group the frame alone, or with `contents` the cards in it too."""

    card: str
    contents: bool = False


CanvasOperation = AddCard | EditCard | MoveCard | Connect | Disconnect | RemoveCard
