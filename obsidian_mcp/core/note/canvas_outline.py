"""The outline of a canvas as a person reads it: groups, their cards, and the edges between them.

(CANVAS-9)
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.fit import cut_text_within

from .canvas_layout import Rect
from .canvas_text import CONTENT, number, text_of


@dataclass(frozen=True, slots=True)
class OutlinedCard:
    """A card of an outline.

    `shows` is its text, its file with the subpath, its address or its label.
    """

    id: str
    kind: str
    shows: str
    rect: Rect
    color: str
    depth: int = 0
    """Number of groups that the card is in."""


@dataclass(frozen=True, slots=True)
class OutlinedEdge:
    id: str
    start: str
    end: str
    label: str
    arrow: str
    """`->`, `<-`, `<->` or `--`."""


@dataclass(frozen=True, slots=True)
class CanvasOutline:
    """Cards in reading order, those of a group behind it; edges in the order of the file."""

    cards: tuple[OutlinedCard, ...]
    edges: tuple[OutlinedEdge, ...]


def outline_canvas(body: str) -> CanvasOutline:
    """Return the outline of a canvas whose text `canvas.read_canvas` can read."""
    value = json.loads(body) if body.strip() else {}
    cards = [_outline_card(node) for node in value.get("nodes") or [] if isinstance(node, dict)]
    edges = [_outline_edge(edge) for edge in value.get("edges") or [] if isinstance(edge, dict)]
    return CanvasOutline(tuple(_order(cards)), tuple(edges))


def cut_title(card: OutlinedCard, limit: int = 60) -> str:
    """Return a card's first line, cut to `limit` characters."""
    first = card.shows.strip().partition("\n")[0]
    return cut_text_within(first, limit)


def _order(cards: list[OutlinedCard]) -> Iterator[OutlinedCard]:
    """Yield rows from the top, and the cards of a row from the left.

    A group comes before the cards in it.
    """
    groups = sorted(
        (card for card in cards if card.kind == "group"),
        key=lambda group: -group.rect.width * group.rect.height,
    )
    ranks = {id(group): rank for rank, group in enumerate(groups)}
    inside: dict[int, list[OutlinedCard]] = {}
    """Cards by the id of the smallest group around them; 0 for those in none."""
    for card in cards:
        checkpoint()
        rank = ranks.get(id(card), len(groups))
        around = (
            group
            for group in reversed(groups)
            if group is not card
            and group.rect.contains(card.rect)
            # Of two groups on one place, the later one is in the first.
            and (group.rect != card.rect or ranks[id(group)] < rank)
        )
        inside.setdefault(id(next(around, None) or 0), []).append(card)
    waiting = [(card, 0) for card in _rows(inside.get(id(0), []))][::-1]
    while waiting:
        card, depth = waiting.pop()
        yield replace(card, depth=depth)
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
