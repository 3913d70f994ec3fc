"""Where cards of a canvas go (CANVAS-4): rectangles, free places, members of groups.

Units are those of the file, which are pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor
from typing import Literal, NamedTuple

from obsidian_mcp.core.text.call import check_each, checkpoint

GAP = 40
"""Between two cards."""
GRID = 10
"""New places are multiples of it."""
PADDING = 20
"""Between a group's border and the cards in it."""
TEXT_WIDTH = 250
TEXT_HEIGHT = 60
"""Height of a text card with one line."""
LINE_HEIGHT = 24
MAX_TEXT_HEIGHT = 400
COLUMNS = 30
"""Characters in a line of a card of the usual width; wide characters count two."""
_FIRST_WIDE = "\u2e80"
"""From here on come the East Asian scripts, and with them most wide characters."""

Side = Literal["right", "left", "above", "below"]
EdgeSide = Literal["top", "right", "bottom", "left"]


class Rect(NamedTuple):
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    def overlaps(self, rect: Rect) -> bool:
        return (
            self.x < rect.right
            and rect.x < self.right
            and self.y < rect.bottom
            and rect.y < self.bottom
        )

    def contains(self, rect: Rect) -> bool:
        return (
            self.x <= rect.x
            and self.y <= rect.y
            and rect.right <= self.right
            and rect.bottom <= self.bottom
        )

    def move(self, dx: float, dy: float) -> Rect:
        return Rect(self.x + dx, self.y + dy, self.width, self.height)


def enclose(rects: Iterable[Rect], padding: float = PADDING) -> Rect:
    """Return the rectangle around others, on the grid."""
    all_rects = list(rects)
    left = floor((min(rect.x for rect in all_rects) - padding) / GRID) * GRID
    top = floor((min(rect.y for rect in all_rects) - padding) / GRID) * GRID
    right = ceil((max(rect.right for rect in all_rects) + padding) / GRID) * GRID
    bottom = ceil((max(rect.bottom for rect in all_rects) + padding) / GRID) * GRID
    return Rect(left, top, right - left, bottom - top)


def grow_to_hold(frame: Rect, inner: Rect) -> Rect:
    """Return a group's rectangle, large enough to hold another one."""
    need = enclose([inner])
    left, top = min(frame.x, need.x), min(frame.y, need.y)
    right, bottom = max(frame.right, need.right), max(frame.bottom, need.bottom)
    return Rect(left, top, right - left, bottom - top)


def text_height(text: str) -> int:
    """Return the height of a text card of the usual width, from TEXT_HEIGHT to MAX_TEXT_HEIGHT."""
    text = text[: MAX_TEXT_HEIGHT // LINE_HEIGHT * (COLUMNS + 1)]  # more of it is not higher
    lines = sum(
        max(1, ceil(sum(1 + (char >= _FIRST_WIDE) for char in line) / COLUMNS))
        for line in text.split("\n")
    )
    return min(MAX_TEXT_HEIGHT, TEXT_HEIGHT + LINE_HEIGHT * (lines - 1))


def place_beside(anchor: Rect, size: Rect, side: Side, obstacles: Iterable[Rect]) -> Rect:
    """Return a free place for a card beside another one.

    It is moved on in that direction until nothing overlaps.
    """
    aligned = Rect(_round_nearest(anchor.x), _round_nearest(anchor.y), size.width, size.height)
    return _move_on(_move_beyond(aligned, side, [anchor]), side, list(obstacles))


def place_at_end(cards: Iterable[Rect], size: Rect) -> Rect:
    """Return the place right of everything, its top aligned with the top card's.

    On an empty canvas it is the origin.
    """
    all_cards = list(cards)
    if not all_cards:
        return Rect(0, 0, size.width, size.height)
    right, top = max(rect.right for rect in all_cards), min(rect.y for rect in all_cards)
    return Rect(_round_up(right + GAP), _round_nearest(top), size.width, size.height)


def place_inside(
    group: Rect, members: Iterable[Rect], size: Rect, obstacles: Iterable[Rect]
) -> Rect:
    """Return a place in a group: where it has room, row by row.

    Without room, it is right of the group's cards, or below them where the group would otherwise
    grow over cards that are not in it.
    """
    cards, outside = list(members), list(obstacles)
    corner = Rect(
        _round_up(group.x + PADDING), _round_up(group.y + PADDING), size.width, size.height
    )
    tops = sorted(
        {
            corner.y,
            *(_round_nearest(rect.y) for rect in cards),
            *(_round_up(rect.bottom + GAP) for rect in cards),
        }
    )
    lefts = sorted(
        {
            corner.x,
            *(_round_nearest(rect.x) for rect in cards),
            *(_round_up(rect.right + GAP) for rect in cards),
        }
    )
    taken = [enclose([rect], GAP) for rect in cards] + outside
    room = Rect(
        group.x + PADDING, group.y + PADDING, group.width - 2 * PADDING, group.height - 2 * PADDING
    )
    if (free := _first_free(room, size, tops, lefts, taken)) is not None:
        return free
    right = place_at_end(cards, size) if cards else corner
    below = corner._replace(
        y=_round_up(max((rect.bottom for rect in cards), default=group.bottom) + GAP)
    )

    def newly_covered(placed: Rect) -> int:
        frame = grow_to_hold(group, placed)
        return sum(frame.overlaps(rect) and not group.overlaps(rect) for rect in outside)

    places = _move_on(right, "right", outside), _move_on(below, "below", outside)
    return min(places, key=newly_covered)


def _first_free(
    room: Rect, size: Rect, tops: Iterable[float], lefts: Iterable[float], taken: Sequence[Rect]
) -> Rect | None:
    """Return the first place that is free, row by row; `lefts` ascend."""
    columns = [left for left in lefts if room.contains(size._replace(x=left, y=room.y))]
    for top in tops:
        if not room.contains(size._replace(x=room.x, y=top)):
            continue
        row = [
            rect for rect in check_each(taken) if rect.y < top + size.height and top < rect.bottom
        ]
        beyond = room.x
        for left in columns:
            if left < beyond:
                continue
            checkpoint()
            placed = size._replace(x=left, y=top)
            hit = [rect.right for rect in row if rect.overlaps(placed)]
            if not hit:
                return placed
            beyond = max(hit)  # every place up to there overlaps what was hit
    return None


def find_facing_sides(start: Rect, end: Rect) -> tuple[EdgeSide, EdgeSide]:
    """Return the pair of sides at which two cards face each other."""
    across = max(end.x - start.right, start.x - end.right)
    along = max(end.y - start.bottom, start.y - end.bottom)
    if across >= along:
        is_left = start.x + start.width / 2 <= end.x + end.width / 2
        return ("right", "left") if is_left else ("left", "right")
    is_above = start.y + start.height / 2 <= end.y + end.height / 2
    return ("bottom", "top") if is_above else ("top", "bottom")


def _move_on(placed: Rect, side: Side, obstacles: list[Rect]) -> Rect:
    """Return a rectangle moved in one direction until it overlaps no obstacle."""
    if side in ("right", "left"):  # only obstacles in its way can be hit
        obstacles = [
            rect for rect in obstacles if rect.y < placed.bottom and placed.y < rect.bottom
        ]
    else:
        obstacles = [rect for rect in obstacles if rect.x < placed.right and placed.x < rect.right]
    while hit := [rect for rect in check_each(obstacles) if rect.overlaps(placed)]:
        placed = _move_beyond(placed, side, hit)
    return placed


def _move_beyond(placed: Rect, side: Side, rects: list[Rect]) -> Rect:
    """Return a rectangle moved in one direction, to just beyond others."""
    match side:
        case "right":
            return placed._replace(x=_round_up(max(rect.right for rect in rects) + GAP))
        case "left":
            return placed._replace(
                x=_round_down(min(rect.x for rect in rects) - GAP - placed.width)
            )
        case "below":
            return placed._replace(y=_round_up(max(rect.bottom for rect in rects) + GAP))
        case "above":
            return placed._replace(
                y=_round_down(min(rect.y for rect in rects) - GAP - placed.height)
            )


def _round_up(value: float) -> int:
    return ceil(value / GRID) * GRID


def _round_down(value: float) -> int:
    return floor(value / GRID) * GRID


def _round_nearest(value: float) -> int:
    return floor(value / GRID + 0.5) * GRID
