"""Where cards of a canvas go (CANVAS-4): rectangles, free places, members of groups. Units are
those of the file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor
from typing import Literal, NamedTuple

from obsidian_mcp.core.text.call import checkpoint

GAP = 40
GRID = 10
PADDING = 20
"""Between a group's border and the cards in it."""
TEXT_WIDTH, TEXT_HEIGHT, LINE_HEIGHT, MOST_HEIGHT = 250, 60, 24, 400
COLUMNS = 30
"""Characters in a line of a card of the usual width; wide characters count two."""

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

    def overlaps(self, other: Rect) -> bool:
        return (
            self.x < other.right
            and other.x < self.right
            and self.y < other.bottom
            and other.y < self.bottom
        )

    def holds(self, other: Rect) -> bool:
        return (
            self.x <= other.x
            and self.y <= other.y
            and other.right <= self.right
            and other.bottom <= self.bottom
        )

    def moved(self, dx: float, dy: float) -> Rect:
        return Rect(self.x + dx, self.y + dy, self.width, self.height)


def around(rects: Iterable[Rect], padding: float = PADDING) -> Rect:
    """Return the rectangle around others, on the grid."""
    known = list(rects)
    left = floor((min(rect.x for rect in known) - padding) / GRID) * GRID
    top = floor((min(rect.y for rect in known) - padding) / GRID) * GRID
    right = ceil((max(rect.right for rect in known) + padding) / GRID) * GRID
    bottom = ceil((max(rect.bottom for rect in known) + padding) / GRID) * GRID
    return Rect(left, top, right - left, bottom - top)


def grown(frame: Rect, inner: Rect) -> Rect:
    """Return a group's rectangle, large enough for another one in it."""
    need = around([inner])
    left, top = min(frame.x, need.x), min(frame.y, need.y)
    return Rect(
        left, top, max(frame.right, need.right) - left, max(frame.bottom, need.bottom) - top
    )


def text_height(text: str) -> int:
    """Return the height of a text card of the usual width: 24 a line, from 60 to 400."""
    lines = sum(
        max(1, ceil(sum(1 + (ord(char) > 0x2E7F) for char in line) / COLUMNS))
        for line in text.split("\n")
    )
    return min(MOST_HEIGHT, TEXT_HEIGHT + LINE_HEIGHT * (lines - 1))


def beside(anchor: Rect, size: Rect, side: Side, obstacles: Iterable[Rect]) -> Rect:
    """Return a free place for a card beside another one, moved on in that direction until nothing
    overlaps."""
    aligned = Rect(_near(anchor.x), _near(anchor.y), size.width, size.height)
    return _moved_on(_beyond(aligned, side, [anchor]), side, list(obstacles))


def at_the_end(cards: Iterable[Rect], size: Rect) -> Rect:
    """Return the place right of everything, top aligned with the top card; the origin on an empty
    canvas."""
    known = list(cards)
    if not known:
        return Rect(0, 0, size.width, size.height)
    right, top = max(rect.right for rect in known), min(rect.y for rect in known)
    return Rect(_up(right + GAP), _near(top), size.width, size.height)


def inside(group: Rect, members: Iterable[Rect], size: Rect, obstacles: Iterable[Rect]) -> Rect:
    """Return a place in a group: where it has room, row by row; else right of its cards, or below
    them where it would grow over others."""
    known, others = list(members), list(obstacles)
    corner = Rect(_up(group.x + PADDING), _up(group.y + PADDING), size.width, size.height)
    tops = sorted(
        {corner.y, *(_near(rect.y) for rect in known), *(_up(rect.bottom + GAP) for rect in known)}
    )
    lefts = sorted(
        {corner.x, *(_near(rect.x) for rect in known), *(_up(rect.right + GAP) for rect in known)}
    )
    taken = [around([rect], GAP) for rect in known] + others
    room = Rect(
        group.x + PADDING, group.y + PADDING, group.width - 2 * PADDING, group.height - 2 * PADDING
    )
    if (free := _first_free(room, size, tops, lefts, taken)) is not None:
        return free
    right = at_the_end(known, size) if known else corner
    below = corner._replace(y=_up(max((rect.bottom for rect in known), default=group.bottom) + GAP))

    def newly_covered(placed: Rect) -> int:
        frame = grown(group, placed)
        return sum(frame.overlaps(rect) and not group.overlaps(rect) for rect in others)

    return min(
        _moved_on(right, "right", others), _moved_on(below, "below", others), key=newly_covered
    )


def _first_free(
    room: Rect, size: Rect, tops: Iterable[float], lefts: Iterable[float], taken: Sequence[Rect]
) -> Rect | None:
    """Return the first place that is free, row by row; `lefts` ascend."""
    columns = [left for left in lefts if room.holds(size._replace(x=left, y=room.y))]
    for top in tops:
        if not room.holds(size._replace(x=room.x, y=top)):
            continue
        row = [rect for rect in taken if rect.y < top + size.height and top < rect.bottom]
        beyond = room.x
        for left in columns:
            if left < beyond:
                continue
            checkpoint()
            placed = size._replace(x=left, y=top)
            hit = [rect.right for rect in row if rect.overlaps(placed)]
            if not hit:
                return placed
            beyond = max(hit)  # up to there it is in the way of every place
    return None


def facing(start: Rect, end: Rect) -> tuple[EdgeSide, EdgeSide]:
    """Return the pair of sides at which two cards face each other."""
    across = max(end.x - start.right, start.x - end.right)
    along = max(end.y - start.bottom, start.y - end.bottom)
    if across >= along:
        return (
            ("right", "left")
            if start.x + start.width / 2 <= end.x + end.width / 2
            else ("left", "right")
        )
    return (
        ("bottom", "top")
        if start.y + start.height / 2 <= end.y + end.height / 2
        else ("top", "bottom")
    )


def _moved_on(placed: Rect, side: Side, obstacles: list[Rect]) -> Rect:
    if side in ("right", "left"):  # only what is in its way can be hit
        obstacles = [
            rect for rect in obstacles if rect.y < placed.bottom and placed.y < rect.bottom
        ]
    else:
        obstacles = [rect for rect in obstacles if rect.x < placed.right and placed.x < rect.right]
    while hit := [rect for rect in obstacles if rect.overlaps(placed)]:
        placed = _beyond(placed, side, hit)
    return placed


def _beyond(placed: Rect, side: Side, rects: list[Rect]) -> Rect:
    """Return a rectangle moved in one direction, to just beyond others."""
    match side:
        case "right":
            return placed._replace(x=_up(max(rect.right for rect in rects) + GAP))
        case "left":
            return placed._replace(x=_down(min(rect.x for rect in rects) - GAP - placed.width))
        case "below":
            return placed._replace(y=_up(max(rect.bottom for rect in rects) + GAP))
        case "above":
            return placed._replace(y=_down(min(rect.y for rect in rects) - GAP - placed.height))


def _up(value: float) -> int:
    return ceil(value / GRID) * GRID


def _down(value: float) -> int:
    return floor(value / GRID) * GRID


def _near(value: float) -> int:
    return floor(value / GRID + 0.5) * GRID
