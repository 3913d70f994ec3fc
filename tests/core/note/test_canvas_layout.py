"""Where cards of a canvas go (specs/canvas.md CANVAS-4)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.note.canvas_layout import (
    Rect,
    Side,
    enclose,
    find_facing_sides,
    grow_to_hold,
    place_at_end,
    place_beside,
    place_inside,
)

ANCHOR = Rect(0, 0, 100, 60)
SIZE = Rect(0, 0, 100, 60)


def corner(rect: Rect) -> tuple[float, float]:
    return rect.x, rect.y


@pytest.mark.parametrize(
    ("side", "in_the_way", "place"),
    [
        ("right", Rect(200, 50, 100, 60), (340, 0)),
        ("left", Rect(-200, -50, 100, 60), (-340, 0)),
        ("below", Rect(90, 110, 100, 60), (0, 210)),
        ("above", Rect(-90, -110, 100, 60), (0, -210)),
    ],
)
def test_a_card_moves_on_behind_what_is_in_its_way(side: Side, in_the_way: Rect, place: tuple[float, float]) -> None:
    """CANVAS-4"""
    assert corner(place_beside(ANCHOR, SIZE, side, [ANCHOR, in_the_way])) == place


@pytest.mark.parametrize(
    ("side", "neighbours", "place"),
    [
        ("right", [Rect(140, 60, 100, 60), Rect(140, -60, 100, 60)], (140, 0)),
        ("left", [Rect(-140, 60, 100, 60), Rect(-140, -60, 100, 60)], (-140, 0)),
        ("below", [Rect(100, 100, 100, 60), Rect(-100, 100, 100, 60)], (0, 100)),
        ("above", [Rect(100, -100, 100, 60), Rect(-100, -100, 100, 60)], (0, -100)),
    ],
)
def test_cards_that_only_touch_its_place_are_not_in_the_way(
    side: Side, neighbours: list[Rect], place: tuple[float, float]
) -> None:
    """CANVAS-4"""
    assert corner(place_beside(ANCHOR, SIZE, side, [ANCHOR, *neighbours])) == place


@pytest.mark.parametrize(
    ("side", "place"), [("right", (430, 0)), ("left", (-430, 0)), ("below", (0, 310)), ("above", (0, -310))]
)
def test_a_card_moves_on_as_often_as_it_meets_another(side: Side, place: tuple[float, float]) -> None:
    """CANVAS-4: the second one is met only behind the first."""
    obstacles = {
        "right": [Rect(140, 0, 100, 60), Rect(290, 0, 100, 60)],
        "left": [Rect(-140, 0, 100, 60), Rect(-290, 0, 100, 60)],
        "below": [Rect(0, 100, 100, 60), Rect(0, 210, 100, 60)],
        "above": [Rect(0, -100, 100, 60), Rect(0, -210, 100, 60)],
    }[side]
    assert corner(place_beside(ANCHOR, SIZE, side, obstacles)) == place


def test_places_are_on_the_grid() -> None:
    """CANVAS-4"""
    anchor = Rect(3, -4, 101, 61)
    places = [corner(place_beside(anchor, SIZE, side, [anchor])) for side in ("right", "left", "below", "above")]

    assert places == [(150, 0), (-140, 0), (0, 100), (0, -110)]
    assert corner(place_at_end([anchor, Rect(0, 16, 150, 60)], SIZE)) == (190, 0)
    assert enclose([Rect(1, 1, 8, 8), Rect(12, -3, 10, 5)]) == Rect(-20, -30, 70, 60)


def test_a_group_grows_on_every_side() -> None:
    """CANVAS-4"""
    group = Rect(0, 0, 200, 100)
    assert grow_to_hold(group, Rect(50, 30, 20, 20)) == group
    assert grow_to_hold(group, Rect(-10, -20, 20, 20)) == Rect(-30, -40, 230, 140)
    assert grow_to_hold(group, Rect(190, 90, 20, 20)) == Rect(0, 0, 230, 130)


@pytest.mark.parametrize(
    ("members", "place"),
    [
        ([], (20, 20)),
        ([Rect(20, 20, 100, 60)], (160, 20)),
        ([Rect(20, 20, 240, 60)], (20, 120)),
        ([Rect(160, 20, 100, 60)], (20, 20)),
        ([Rect(20, 20, 100, 60), Rect(160, 20, 100, 60)], (20, 120)),
        ([Rect(20, 20, 100, 60), Rect(160, 20, 100, 60), Rect(20, 120, 100, 60)], (160, 120)),
    ],
)
def test_a_group_is_filled_row_by_row(members: list[Rect], place: tuple[float, float]) -> None:
    """CANVAS-4"""
    group = Rect(0, 0, 280, 200)
    assert corner(place_inside(group, members, SIZE, [])) == place


def test_a_full_group_grows_where_it_covers_fewer_other_cards() -> None:
    """CANVAS-4"""
    group, full = Rect(0, 0, 140, 100), [Rect(20, 20, 100, 60)]
    right, below = (160, 20), (20, 120)

    assert corner(place_inside(group, full, SIZE, [])) == right
    assert corner(place_inside(group, full, SIZE, [Rect(200, 90, 50, 50)])) == below
    assert corner(place_inside(group, full, SIZE, [Rect(200, 90, 50, 50), Rect(0, 190, 50, 50)])) == right


@pytest.mark.parametrize(
    ("end", "sides"),
    [
        (Rect(200, 0, 100, 60), ("right", "left")),
        (Rect(-200, 0, 100, 60), ("left", "right")),
        (Rect(0, 200, 100, 60), ("bottom", "top")),
        (Rect(0, -200, 100, 60), ("top", "bottom")),
        (Rect(200, 160, 100, 60), ("right", "left")),
        (Rect(199, 160, 100, 60), ("bottom", "top")),
        (Rect(50, 0, 100, 60), ("right", "left")),
        (Rect(0, 0, 100, 60), ("bottom", "top")),
    ],
)
def test_cards_face_each_other_where_they_are_farthest_apart(end: Rect, sides: tuple[str, str]) -> None:
    """CANVAS-4: level cards at their left and right sides"""
    assert find_facing_sides(ANCHOR, end) == sides
