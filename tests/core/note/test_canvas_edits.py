"""Changing canvases: what is asked changes, and no other byte (CANVAS-1 to CANVAS-8)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count, cycle
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obsidian_mcp.core.note import canvas_layout as layout
from obsidian_mcp.core.note.canvas_edits import (
    AddCard,
    CanvasOperation,
    CardPlace,
    Connect,
    Disconnect,
    EditCard,
    MoveCard,
    RemoveCard,
    edit,
)
from obsidian_mcp.core.text.call import Deadline, call_with, checkpoint, current_call, limit_call
from obsidian_mcp.errors import AmbiguousName, CanvasUnreadable, InvalidArguments, OperationTimeout


def changed(body: str, *operations: CanvasOperation) -> str:
    numbers = count(1)
    return edit(body, operations, lambda: f"{next(numbers):016x}").body


def cards(body: str) -> dict[str, dict[str, Any]]:
    return {card["id"]: card for card in json.loads(body)["nodes"]}


def text_card(text: str, **more: Any) -> AddCard:
    return AddCard("text", {"text": text}, **more)


def card(id_: str, x: int = 0, y: int = 0, width: int = 250, height: int = 60, **more: Any) -> dict[str, Any]:
    return {"id": id_, "type": "text", "text": id_, "x": x, "y": y, "width": width, "height": height, **more}


def canvas(*nodes: dict[str, Any], edges: list[dict[str, Any]] | None = None) -> str:
    """A canvas as the app writes it."""
    lists = [
        "["
        + ",".join("\n\t\t" + json.dumps(item, separators=(",", ":")) for item in objects)
        + ("\n\t]" if objects else "]")
        for objects in (nodes, edges or [])
    ]
    return f'{{\n\t"nodes":{lists[0]},\n\t"edges":{lists[1]}\n}}'


def test_the_first_card_of_an_empty_canvas() -> None:
    """CANVAS-2, CANVAS-4"""
    made = '{"id":"0000000000000001","type":"text","text":"a","x":0,"y":0,"width":250,"height":60}'
    expected = f'{{"nodes":[\n\t{made}\n],"edges":[]}}'
    assert changed("", text_card("a")) == expected
    assert changed("{}", text_card("a")) == expected


def test_cards_go_beside_others_where_there_is_room() -> None:
    """CANVAS-4"""
    first = canvas(card("a"))
    once = changed(first, text_card("b", place=CardPlace(beside="a")))
    assert (cards(once)["0000000000000001"]["x"], cards(once)["0000000000000001"]["y"]) == (290, 0)
    twice = cards(
        changed(first, text_card("b", place=CardPlace(beside="a")), text_card("c", place=CardPlace(beside="a")))
    )
    assert [(card["x"], card["y"]) for card in twice.values()] == [(0, 0), (290, 0), (580, 0)]
    for side, place in {"left": (-290, 0), "below": (0, 100), "above": (0, -100)}.items():
        made = cards(changed(first, text_card("b", place=CardPlace(beside="a", side=side))))  # type: ignore[arg-type]
        assert (made["0000000000000001"]["x"], made["0000000000000001"]["y"]) == place


def test_a_card_without_a_place_goes_right_of_everything() -> None:
    """CANVAS-4"""
    made = cards(changed(canvas(card("a", 5, 100), card("b", 700, -33)), text_card("c")))["0000000000000001"]
    assert (made["x"], made["y"]) == (990, -30)


def test_text_cards_grow_with_their_lines() -> None:
    """CANVAS-4"""
    heights = [cards(changed("", text_card("\n".join("x" * n)))).popitem()[1]["height"] for n in (1, 2, 5, 40)]
    assert heights == [60, 84, 156, 400]


def test_a_group_grows_for_a_card_that_is_put_into_it() -> None:
    """CANVAS-4"""
    group = {"id": "g", "type": "group", "label": "Plan", "x": 0, "y": 0, "width": 300, "height": 110}
    body = canvas(group, card("a", 20, 20))
    made = cards(changed(body, text_card("b", place=CardPlace(group="Plan"))))
    assert (made["0000000000000001"]["x"], made["0000000000000001"]["y"]) == (310, 20)
    assert (made["g"]["x"], made["g"]["width"], made["g"]["height"]) == (0, 580, 110)
    empty = cards(changed(canvas(group), text_card("b", place=CardPlace(group="Plan"))))["0000000000000001"]
    assert (empty["x"], empty["y"]) == (20, 20)


@pytest.mark.parametrize("beside", [320, 500])
def test_a_group_that_grows_covers_no_card_beside_it(beside: int) -> None:
    """CANVAS-4"""
    group = {"id": "g", "type": "group", "label": "Plan", "x": 0, "y": 0, "width": 300, "height": 110}
    body = canvas(group, card("a", 20, 20), card("other", beside, 20))
    made = cards(changed(body, text_card("b", place=CardPlace(group="Plan"))))
    assert [made["0000000000000001"][key] for key in ("x", "y")] == [20, 120]
    assert [made["g"][key] for key in ("x", "y", "width", "height")] == [0, 0, 300, 200]
    assert made["other"]["x"] == beside


def test_a_group_takes_its_cards_along() -> None:
    """CANVAS-6"""
    group = {"id": "g", "type": "group", "x": 0, "y": 0, "width": 300, "height": 110}
    moved = cards(changed(canvas(group, card("a", 20, 20), card("b", 500)), MoveCard("g", CardPlace(x=100, y=1000))))
    assert [(card["x"], card["y"]) for card in moved.values()] == [(100, 1000), (120, 1020), (500, 0)]


def test_a_group_is_made_around_cards_and_lies_below_them() -> None:
    """CANVAS-4, CANVAS-8"""
    body = canvas(card("a"), card("b", 300, 100))
    made = list(cards(changed(body, AddCard("group", {"label": "G"}, around=["a", "b"]))).values())
    assert made[0] == {
        "id": "0000000000000001",
        "type": "group",
        "label": "G",
        "x": -20,
        "y": -20,
        "width": 590,
        "height": 200,
    }


def test_connected_cards_face_each_other_and_are_connected_once() -> None:
    """CANVAS-5"""
    body = canvas(card("a"), card("b", 400), card("c", 0, 400))
    after = changed(body, Connect("a", "b"), Connect("c", "a"), Connect("a", "b", label="so", color="1"))
    edges = json.loads(after)["edges"]
    assert edges == [
        {
            "id": "0000000000000001",
            "fromNode": "a",
            "fromSide": "right",
            "toNode": "b",
            "toSide": "left",
            "color": "1",
            "label": "so",
        },
        {"id": "0000000000000002", "fromNode": "c", "fromSide": "top", "toNode": "a", "toSide": "bottom"},
    ]
    assert json.loads(changed(after, Disconnect("a", "b")))["edges"] == edges[1:]


def test_a_removed_card_takes_its_edges_along_and_leaves_every_other_byte() -> None:
    """CANVAS-2, CANVAS-7"""
    nodes = [card("a"), card("b", 300), card("c", 600)]
    edges = [{"id": f"e{n}", "fromNode": ends[0], "toNode": ends[1]} for n, ends in enumerate(("ab", "bc", "ba", "ca"))]
    body = canvas(*nodes, edges=edges)
    assert changed(body, RemoveCard("b")) == canvas(nodes[0], nodes[2], edges=edges[3:])
    assert changed(body, RemoveCard("e0")) == canvas(*nodes, edges=edges[1:])


def test_a_group_is_removed_alone_or_with_its_cards() -> None:
    """CANVAS-7"""
    group = {"id": "g", "type": "group", "x": 0, "y": 0, "width": 300, "height": 110}
    body = canvas(group, card("a", 20, 20), card("b", 500))
    assert list(cards(changed(body, RemoveCard("g")))) == ["a", "b"]
    assert list(cards(changed(body, RemoveCard("g", contents=True)))) == ["b"]


def test_a_card_is_named_by_what_it_shows_where_that_is_unique() -> None:
    """CANVAS-3"""
    note = {"id": "f", "type": "file", "file": "A/Note.md", "x": 0, "y": 0, "width": 1, "height": 1}
    body = canvas(card("1", text="same"), card("2", text="same"), card("3", text="# Plan\nmore"), note)
    for name, id_ in {"plan": "3", "A/note.md": "f", "Note": "f", "2": "2"}.items():
        assert edit(body, [EditCard(name, color="1")], lambda: "").ids == (id_,)
    with pytest.raises(AmbiguousName, match="'1', '2'"):
        changed(body, Connect("same", "f"))
    with pytest.raises(InvalidArguments, match="no card 'other'"):
        changed(body, Connect("other", "f"))


def test_members_are_changed_in_their_place_and_new_ones_follow_the_apps_order() -> None:
    """CANVAS-2, CANVAS-6"""
    body = (
        '{"nodes":[{"id":"a" , "type":"text","text":"x","x":0.50,"y":1e1,"width":5,"height":5,"odd":{"k" :1}}],"m":1}'
    )
    after = changed(body, EditCard("a", {"text": "ü\n"}, color="#AABBCC", width=9))
    assert after == (
        '{"nodes":[{"id":"a" , "type":"text","text":"ü\\n","x":0.50,"y":1e1,"width":9,"height":5 , "color":"#AABBCC",'
        '"odd":{"k" :1}}],"m":1}'
    )
    assert changed(after, EditCard("a", {"text": "x"}, color="", width=5)) == body


def test_a_pretty_printed_file_stays_pretty() -> None:
    """CANVAS-2"""
    body = json.dumps({"nodes": [card("a")], "edges": []}, indent=2) + "\n"
    after = changed(body, text_card("b", place=CardPlace(x=400, y=0)), Connect("a", "b"))
    parsed = json.loads(body)
    parsed["nodes"].append({**card("0000000000000001", 400, 0), "text": "b"})
    ends = {"fromNode": "a", "fromSide": "right", "toNode": "0000000000000001", "toSide": "left"}
    parsed["edges"].append({"id": "0000000000000002", **ends})
    assert after == json.dumps(parsed, indent=2) + "\n"


def test_a_file_on_one_line_stays_on_one_line() -> None:
    """CANVAS-2"""
    body = '{"nodes":[],"edges":[]}'
    assert "\n" not in changed(body, text_card("a"), text_card("b"), Connect("a", "b"))


def test_a_list_that_is_missing_is_added() -> None:
    """CANVAS-2"""
    after = changed(
        '{"nodes":[{"id":"a","type":"text","text":"a","x":0,"y":0,"width":1,"height":1}]}', Connect("a", "a")
    )
    assert after.endswith(
        '}],"edges":[{"id":"0000000000000001","fromNode":"a","fromSide":"right","toNode":"a","toSide":"left"}]}'
    )


@pytest.mark.parametrize(
    "operation",
    [
        text_card("x", color="7"),
        EditCard("a", color="red"),
        EditCard("a", {"file": "x.md"}),
        EditCard("a", width=0),
        AddCard("file", {}),
        AddCard("text", {"text": "x", "url": "y"}),
        MoveCard("a", CardPlace(beside="a")),
        text_card("x", place=CardPlace(group="a")),
        Disconnect("a", "a"),
    ],
)
def test_what_cannot_be_done_is_an_error(operation: CanvasOperation) -> None:
    """CANVAS-6"""
    with pytest.raises(InvalidArguments):
        changed(canvas(card("a")), operation)


@pytest.mark.parametrize(("width", "height"), [(10, None), (None, 10), (10, 10)])
def test_an_edge_gets_no_size(width: int | None, height: int | None) -> None:
    """CANVAS-6"""
    edge = {"id": "e", "fromNode": "a", "fromSide": "right", "toNode": "b", "toSide": "left"}
    body = canvas(card("a"), card("b", 400), edges=[edge])

    with pytest.raises(InvalidArguments, match="An edge has no size"):
        changed(body, EditCard("e", width=width, height=height))
    assert changed(body, EditCard("e", color="1")) != body


def test_the_error_of_one_of_several_operations_says_which() -> None:
    with pytest.raises(InvalidArguments, match=r"Operation 2: .* Nothing was written"):
        changed(canvas(card("a")), EditCard("a", color="1"), EditCard("b", color="1"))


@pytest.mark.parametrize("body", ["{", "[]", '{"nodes":1}', '{"nodes":[],}', '{"a":1} x', '{/* */"nodes":[]}'])
def test_a_broken_canvas_is_refused(body: str) -> None:
    """CANVAS-1"""
    with pytest.raises(CanvasUnreadable, match="Nothing was written"):
        changed(body, text_card("a"))


_INTS = st.integers(-1000, 1000)
_VALUES = st.one_of(
    st.text(max_size=8), _INTS, st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none()
)
_NODES = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["text", "file", "group", "odd"]),
            "x": _INTS,
            "y": _INTS,
            "width": _INTS,
            "height": _INTS,
        },
        optional={
            "text": st.text(max_size=8),
            "styleAttributes": st.dictionaries(st.text(max_size=3), _VALUES, max_size=2),
        },
    ),
    min_size=1,
    max_size=6,
)
_LAYOUTS: list[dict[str, Any]] = [
    {"separators": (",", ":")},
    {"indent": "\t"},
    {"indent": 2},
    {},
    {"ensure_ascii": False},
]
_OPERATIONS = st.lists(
    st.one_of(
        st.builds(text_card, st.text(min_size=1, max_size=5).filter(str.strip)),
        st.builds(EditCard, st.just("n0"), color=st.sampled_from(["", "3", "#001122"])),
        st.builds(lambda x, y: MoveCard("n0", CardPlace(x, y)), _INTS, _INTS),  # into no group, which would grow
        st.builds(Connect, st.just("n0"), st.sampled_from(["n0", "n1"]), label=st.sampled_from([None, "", "l"])),
        st.builds(RemoveCard, st.just("n1"), st.booleans()),
    ),
    max_size=4,
)


def changes_others(nodes: list[dict[str, Any]], operations: Any) -> bool:
    """Whether an operation is about all that lies inside a group."""
    groups = {f"n{number}" for number, node in enumerate(nodes) if node["type"] == "group"}
    return any(
        operation.card in groups
        for operation in operations
        if isinstance(operation, MoveCard) or (isinstance(operation, RemoveCard) and operation.contents)
    )


@given(_NODES, st.sampled_from(_LAYOUTS), _OPERATIONS, st.text(max_size=3))
def test_no_other_byte_changes(nodes: list[dict[str, Any]], style: dict[str, Any], operations: Any, extra: str) -> None:
    """CANVAS-2: every object that no operation named is there as it was, in its order."""
    named = [{"id": f"n{number}", **node} for number, node in enumerate(nodes)]
    body = json.dumps(
        {"nodes": named, "metadata": {"version": extra}, "edges": [{"id": "e", "fromNode": "n5"}]}, **style
    )
    try:
        after = changed(body, *operations)
    except (InvalidArguments, AmbiguousName):
        return
    now = json.loads(after)
    assert now["metadata"] == {"version": extra}
    for node in named[2:] if not changes_others(nodes, operations) else []:
        written = json.dumps({"k": [node]}, **style)
        inner = written[written.index("{", 1) : written.rindex("}", 0, len(written) - 1) + 1]
        assert inner in after or "\n" in inner
        assert node in now["nodes"]
    order = [card.get("id") for card in now["nodes"] if str(card.get("id")).startswith("n")]
    assert order == sorted(order)
    if not operations:
        assert after == body


@given(_NODES, st.sampled_from(_LAYOUTS))
def test_adding_and_removing_a_card_gives_the_same_bytes(nodes: list[dict[str, Any]], style: dict[str, Any]) -> None:
    """CANVAS-2"""
    body = json.dumps({"nodes": [{"id": f"n{k}", **node} for k, node in enumerate(nodes)], "edges": []}, **style)
    added = changed(body, text_card("\u2603 new"))
    assert changed(added, RemoveCard("0000000000000001")) == body


@given(_NODES.filter(lambda nodes: len(nodes) > 1), st.sampled_from(_LAYOUTS))
def test_a_new_card_is_written_in_the_layout_of_the_file(nodes: list[dict[str, Any]], style: dict[str, Any]) -> None:
    """CANVAS-2"""
    canvas_ = {"nodes": [{"id": f"n{k}", **node} for k, node in enumerate(nodes)], "edges": []}
    after = changed(json.dumps(canvas_, **style), text_card("new"))
    new = next(card for card in json.loads(after)["nodes"] if card["id"] == "0000000000000001")
    assert list(new) == ["id", "type", "text", "x", "y", "width", "height"]
    assert after == json.dumps({**canvas_, "nodes": [*canvas_["nodes"], new]}, **style)


_GAPS = st.lists(st.sampled_from(["", " ", "\n", "\t", "\r\n\t "]), min_size=1, max_size=7)


def loosely(value: Any, gap: Iterator[str]) -> str:
    """JSON with white space of any kind wherever it may stand."""
    if isinstance(value, dict):
        members = (
            f"{next(gap)}{json.dumps(key)}{next(gap)}:{next(gap)}{loosely(item, gap)}{next(gap)}"
            for key, item in value.items()
        )
        return "{" + ",".join(members) + "}"
    return json.dumps(value)


@given(_NODES, _GAPS, _OPERATIONS)
@example(
    [{"type": kind, "x": 0, "y": 0, "width": 0, "height": 0} for kind in ("text", "group", "text")],
    [""],
    [RemoveCard("n1", contents=True)],
)
def test_objects_and_what_stands_between_them_stay_however_they_are_written(
    nodes: list[dict[str, Any]], gaps: list[str], operations: Any
) -> None:
    """CANVAS-2"""
    gap = cycle(gaps)
    objects = [loosely({"id": f"n{k}", **node}, gap) for k, node in enumerate(nodes)]
    last = ",".join(f"{next(gap)}{item}{next(gap)}" for item in objects[2:]).strip()
    first = ",".join(f"{next(gap)}{item}{next(gap)}" for item in objects[:2])
    metadata = loosely({"version": "1", "odd": [1.50]}, gap)
    nodes_ = f"[{first}{f',{next(gap)}{last}' if last else ''}{next(gap)}]"
    body = (
        f'{next(gap)}{{{next(gap)}"nodes":{nodes_},{next(gap)}"metadata":{metadata}{next(gap)},"edges":[]}}{next(gap)}'
    )
    try:
        after = changed(body, *operations)
    except (InvalidArguments, AmbiguousName):
        return
    json.loads(after)
    assert metadata in after
    assert changes_others(nodes, operations) or last in after
    assert operations or after == body


@given(_NODES, _GAPS, st.text(max_size=6))
def test_a_new_text_of_a_card_is_all_that_changes(nodes: list[dict[str, Any]], gaps: list[str], text: str) -> None:
    """CANVAS-2"""
    gap = cycle(gaps)
    named = [{"id": f"n{k}", **node} for k, node in enumerate(nodes)]
    named[0] |= {"type": "text", "text": "\u2603 old"}
    body = '{"nodes":[' + ",".join(loosely(item, gap) + next(gap) for item in named) + "]}"
    after = changed(body, EditCard("n0", {"text": text}))
    before, _, behind = body.partition(json.dumps("\u2603 old"))
    assert after.startswith(before)
    assert after.endswith(behind)
    assert json.loads(after[len(before) : len(after) - len(behind)]) == text


def test_very_many_operations_end_with_the_time_of_the_call() -> None:
    """TOOL-09: others could not write for as long as they took"""
    begun: list[str] = []

    def stopped() -> str:
        begun.append(f"{len(begun):016x}")
        limit = current_call.get().limit
        assert limit is not None
        limit.cancel()
        return begun[-1]

    with limit_call(60.0), pytest.raises(OperationTimeout):
        edit("", [text_card("a"), text_card("b"), text_card("c")], stopped)
    assert len(begun) == 1


@pytest.mark.parametrize(
    ("height", "place", "position", "frame"),
    [
        (400, CardPlace(group="Plan"), (20, 120), (300, 400)),  # free room below the card
        (150, CardPlace(beside="a", side="below"), (20, 120), (300, 200)),
        (110, CardPlace(beside="a", side="right", group="Plan"), (310, 20), (580, 110)),
    ],
)
def test_a_card_goes_into_free_room_of_its_group_and_beside_another_in_it(
    height: int, place: CardPlace, position: tuple[int, int], frame: tuple[int, int]
) -> None:
    """CANVAS-4"""
    group = {"id": "g", "type": "group", "label": "Plan", "x": 0, "y": 0, "width": 300, "height": height}
    made = cards(changed(canvas(group, card("a", 20, 20)), text_card("b", place=place)))
    assert (made["0000000000000001"]["x"], made["0000000000000001"]["y"]) == position
    assert (made["g"]["width"], made["g"]["height"]) == frame


@pytest.mark.parametrize("group", ["", "Plan"])
@pytest.mark.parametrize("height", [400, 110])
def test_a_card_without_room_beside_its_neighbour_stays_in_the_group(group: str, height: int) -> None:
    """CANVAS-4"""
    plan = {"id": "g", "type": "group", "label": "Plan", "x": 0, "y": 0, "width": 580, "height": height}
    other = {"id": "h", "type": "group", "label": "Done", "x": 640, "y": 0, "width": 500, "height": 110}
    body = canvas(plan, other, card("a", 20, 20), card("b", 310, 20))
    made = cards(changed(body, text_card("c", place=CardPlace(beside="a", group=group))))
    frame = made["g"]

    assert [made["0000000000000001"][key] for key in ("x", "y")] == [20, 120]
    assert [frame[key] for key in ("x", "y", "width", "height")] == [0, 0, 580, max(height, 200)]


def test_the_height_of_a_card_with_a_very_long_text_is_known_at_once() -> None:
    """SAFE-17"""
    with call_with(limit=Deadline(20)):
        heights = {layout.text_height(text) for text in ("x" * 50_000_000, "x\n" * 25_000_000)}
        checkpoint()

    assert heights == {layout.MAX_TEXT_HEIGHT}


def test_operations_of_two_kinds_are_never_equal() -> None:
    """As tuples, an edge to remove would be equal to an edge to add, and to a card to move."""
    assert Disconnect("a", "b") != Connect("a", "b")  # type: ignore[comparison-overlap]
    assert RemoveCard("a") != Disconnect("a", "")  # type: ignore[comparison-overlap]
