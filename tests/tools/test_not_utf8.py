"""Notes that are not UTF-8: what a read shows is found again, and no answer shows half of a character (FILE-17)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError
from obsidian_mcp.tools.registry import call

pytestmark = pytest.mark.usefixtures("disk_of_macos")

BAD = b"""\
---
title: caf\xe9
tags: [caf\xe9, x]
k\xe9y: v
---
# Caf\xe9 one

Text caf\xe9 au lait
- [ ] t\xe2che caf\xe9

| a\xe9 | b |
|----|---|
| c\xe9 | 2 |
"""
CANVAS = b'{"nodes":[{"id":"a","type":"text","text":"caf\xe9 au lait","x":0,"y":0,"width":9,"height":9}],"edges":[]}'
CHANGES: dict[str, tuple[str, dict[str, Any], bytes, bytes]] = {
    "text": (
        "edit_note",
        {"operation": "replace_text", "find": "Text caf\ufffd au", "content": "Tea and"},
        b"Text caf\xe9 au",
        b"Tea and",
    ),
    "text that keeps a byte": (
        "edit_note",
        {"operation": "replace_text", "find": "Text caf\ufffd au", "content": "My caf\ufffd of"},
        b"Text caf\xe9 au",
        b"My caf\xe9 of",
    ),
    "every text": (
        "edit_note",
        {"operation": "replace_text", "find": "caf\ufffd", "content": "tea", "all": True},
        b"caf\xe9",
        b"tea",
    ),
    "text of many notes": (
        "replace",
        {"find": "caf\ufffd", "content": "\ufffdtea", "names": ["Bad"]},
        b"caf\xe9",
        b"\xe9tea",
    ),
    "a section": (
        "edit_note",
        {"operation": "replace_section", "section": "Caf\ufffd one", "content": "new"},
        BAD[BAD.index(b"Text") :],
        b"new\n",
    ),
    "a heading": (
        "edit_note",
        {"operation": "rename_heading", "section": "Caf\ufffd one", "content": "New"},
        b"# Caf\xe9 one",
        b"# New",
    ),
    "a property": ("set_properties", {"names": ["Bad"], "properties": {"k\ufffdy": "w"}}, b"k\xe9y: v", b"k\xe9y: w"),
    "a tag": ("rename_tag", {"tag": "caf\ufffd", "to": "coffee"}, b"[caf\xe9, x]", b"[coffee, x]"),
    "a task": ("update_task", {"task": "t\ufffdche caf\ufffd", "status": "done"}, b"- [ ] t", b"- [x] t"),
    "a part of a task": ("update_task", {"task": "t\ufffdche", "status": "done"}, b"- [ ] t", b"- [x] t"),
    "a row and a column": (
        "edit_table",
        {"operations": {"op": "set", "row": "c\ufffd", "column": "b", "value": "3"}},
        b"| 2 |",
        b"| 3 |",
    ),
    "a column": (
        "edit_table",
        {"operations": {"op": "set", "row": 1, "column": "a\ufffd", "value": "dd"}},
        b"| c\xe9 ",
        b"| dd ",
    ),
}


@pytest.fixture
def bad(basic: Path) -> Path:
    (basic / "Cards.canvas").write_bytes(CANVAS)
    (basic / "Bad.md").write_bytes(BAD)
    return basic / "Bad.md"


@pytest.mark.parametrize("case", CHANGES)
def test_what_a_read_shows_is_found_and_other_bytes_stay(app: App, bad: Path, case: str) -> None:
    tool, arguments, before, after = CHANGES[case]
    named = {} if {"names", "tag"} & arguments.keys() else {"name": "Bad"}
    call(app, f"obsidian_{tool}", {**named, **arguments})
    written = bad.read_bytes()
    stamp = written.find(" \u2705".encode())  # the day on which a task was done
    if tool == "update_task" and stamp >= 0:
        written = written[:stamp] + written[written.index(b"\n", stamp) :]
    assert written == BAD.replace(before, after)


def test_a_replacement_with_groups_brings_no_character_in_the_place_of_a_byte(app: App, bad: Path) -> None:
    given = {"find": "(caf.) au", "content": "$1 with", "regex": True, "names": ["Bad"]}
    call(app, "obsidian_replace", given)
    assert bad.read_bytes() == BAD.replace(b"caf\xe9 au", b"caf\xe9 with")


def test_a_card_is_found_and_changed(app: App, bad: Path) -> None:
    call(app, "obsidian_replace", {"find": "caf\ufffd au", "content": "tea and", "names": ["Cards.canvas"]})
    assert (bad.parent / "Cards.canvas").read_bytes() == CANVAS.replace(b"caf\xe9 au", b"tea and")
    call(app, "obsidian_undo", {})
    edit = {"op": "edit", "card": "caf\ufffd au lait", "text": "new"}
    assert call(app, "obsidian_edit_canvas", {"name": "Cards", "operations": edit}).data["ids"] == ["a"]


def test_searches_and_reads_name_what_they_show(app: App, bad: Path) -> None:
    for query in ('"caf\ufffd au"', '[title:"caf\ufffd"]', "tag:caf\ufffd"):
        hits = call(app, "obsidian_search", {"query": query}).data["hits"]
        assert "Bad.md" in [hit["path"] for hit in hits]
    assert call(app, "obsidian_read_note", {"name": "Bad", "section": "Caf\ufffd one"}).text
    read = call(app, "obsidian_get_properties", {"name": "Bad", "property": "k\ufffdy"})
    assert read.data["properties"]


BROKEN = [b"\xff", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe2\x82\xe2\x82"]


@pytest.mark.parametrize("broken", BROKEN)
def test_every_read_and_search_shows_a_broken_character_as_it_is_found(app: App, basic: Path, broken: bytes) -> None:
    """FILE-17"""
    (basic / "Bad.md").write_bytes(b"# Part\nquuxly " + broken + b" end\n")
    (basic / "Bad.txt").write_bytes(b"quuxly " + broken + b" end\n")
    reads: list[tuple[str, dict[str, Any]]] = [
        ("read_note", {"name": "Bad"}),
        ("read_note", {"name": "Bad", "section": "Part"}),
        ("read_note", {"name": "Bad", "lines": "2-2"}),
        ("read_note", {"names": ["Bad", "Alpha"]}),
        ("attachments", {"name": "Bad.txt"}),
        ("search", {"query": "quuxly"}),
    ]
    shown = "quuxly " + "\ufffd" * len(broken) + " end"
    for tool, arguments in reads:
        answer = call(app, f"obsidian_{tool}", arguments)
        assert shown in f"{answer.text} {json.dumps(answer.data, ensure_ascii=False)}", (tool, arguments)
    given = {"name": "Bad", "operation": "replace_text", "find": shown, "content": f"{shown}!"}
    change = call(app, "obsidian_edit_note", given).data["change"]
    assert (basic / "Bad.md").read_bytes() == b"# Part\nquuxly " + broken + b" end!\n"
    assert f"+{shown}!" in call(app, "obsidian_history", {"change": change}).data["diff"]


MISSES: list[tuple[str, dict[str, Any]]] = [
    ("read_note", {"name": "Bad", "section": "Caf"}),
    ("edit_note", {"name": "Bad", "operation": "replace_text", "find": "Text kaf au lait", "content": ""}),
    ("edit_note", {"name": "Bad", "operation": "replace_text", "find": "Text caf\n", "content": ""}),
    ("edit_table", {"name": "Bad", "operations": {"op": "set", "row": "zz", "column": "b", "value": "9"}}),
    ("edit_table", {"name": "Bad", "operations": {"op": "set", "row": 1, "column": "zz", "value": "9"}}),
    ("edit_canvas", {"name": "Cards", "operations": {"op": "edit", "card": "zz", "text": "9"}}),
    ("update_task", {"name": "Bad", "task": "nothing"}),
    ("update_task", {"name": "Bad", "line": 1}),
    ("get_links", {"name": "Caf\ufffd"}),
]


@pytest.mark.parametrize(("tool", "arguments"), MISSES)
def test_errors_show_no_half_of_a_character(app: App, bad: Path, tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(AppError) as failure:
        call(app, f"obsidian_{tool}", arguments)
    said = failure.value.to_text() + json.dumps(failure.value.payload())
    assert "\\udc" not in said
    said.encode()


def test_a_new_note_is_made_from_a_template_that_is_not_utf8(app: App, bad: Path) -> None:
    """FILE-17"""
    made = call(app, "obsidian_create_note", {"name": "Made", "template": "Bad", "content": "more"}).data

    assert b"# Caf\xe9 one" in bad.with_name("Made.md").read_bytes()
    assert made["path"] == "Made.md"
