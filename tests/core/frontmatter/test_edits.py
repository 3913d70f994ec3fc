"""Changing one property and no other byte (specs/frontmatter.md, specs/vectors/properties.json)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from obsidian_mcp.core.frontmatter import edits, parser
from obsidian_mcp.core.frontmatter.block import locate_block
from obsidian_mcp.core.frontmatter.yaml12 import Outline, PropertyEntry
from obsidian_mcp.errors import AppError, InvalidArguments, PropertiesUnreadable
from tests.examples import examples

from .frontmatter_texts import notes, texts, values

ROOT = Path(__file__).parents[3]
VECTORS: list[dict[str, Any]] = json.loads((ROOT / "specs/vectors/properties.json").read_text(encoding="utf-8"))
BLOCK = "---\na: 1\n---\nText\n"


def identify(row: dict[str, Any]) -> str:
    return f"{row['rule']}: {row['do']} {row['with']}"


def change(row: dict[str, Any]) -> Callable[[str], str]:
    arguments = row["with"]
    match row["do"]:
        case "set":
            return lambda body: edits.set_property(body, arguments[0], arguments[1])
        case "remove":
            return lambda body: edits.remove_property(body, arguments[0])
        case _:
            return lambda body: edits.replace_tag(body, arguments[0], arguments[1])


@pytest.mark.parametrize("row", VECTORS, ids=identify)
def test_an_edit_gives_the_text_of_the_table(row: dict[str, Any]) -> None:
    if "error" not in row:
        assert change(row)(row["before"]) == row["after"]
        return
    with pytest.raises(AppError) as caught:
        change(row)(row["before"])
    assert caught.value.error_code == row["error"]
    if "line" in row:
        assert caught.value.data["line"] == row["line"]


def outline_of(body: str) -> Outline:
    block = locate_block(body)
    assert block is not None
    return parser.outline(body, block)


def says(body: str) -> dict[str, Any]:
    found = parser.read_frontmatter(body)
    if found is None:
        return {}
    assert found.error is None
    return found.values or {}


def is_inside(part: str, whole: str) -> bool:
    """Whether every character of `part` stands in `whole`, in the same order."""
    rest = iter(whole)
    return all(char in rest for char in part)


def newline_of(body: str) -> str:
    return "\r\n" if body.startswith("---\r\n") else "\n"


def a_property(data: st.DataObject, body: str) -> PropertyEntry:
    return data.draw(st.sampled_from(outline_of(body).entries), label="property")


@given(notes(), values, st.data())
@examples(80)
def test_setting_a_property_changes_its_own_lines_alone(body: str, value: Any, data: st.DataObject) -> None:
    """FM-50, FM-60"""
    entry = a_property(data, body)
    changed = edits.set_property(body, entry.key, value)

    assert says(changed) == {**says(body), entry.key: value}
    assert list(says(changed)) == list(says(body))
    assert changed.startswith(body[: entry.span.start])
    assert changed.endswith(body[entry.span.end :])
    assert edits.set_property(changed, entry.key, value) == changed
    if newline_of(body) == "\r\n":
        assert changed.count("\n") == changed.count("\r\n")


@given(notes(), texts, values)
@examples(80)
def test_a_new_property_adds_its_lines_and_nothing_else(body: str, key: str, value: Any) -> None:
    """FM-62"""
    before = says(body)
    if parser.key_of(before, key) is not None:
        return
    changed = edits.set_property(body, key, value)

    assert says(changed) == {**before, key: value}
    assert list(says(changed))[-1] == key
    assert is_inside(body, changed)
    if outline_of(body).flow:  # the comma stands apart from the rest where a comment is between them
        return
    at = next((i for i, (old, new) in enumerate(zip(body, changed, strict=False)) if old != new), len(body))
    assert changed.endswith(body[at:])


@given(notes(), st.data())
@examples(80)
def test_removing_a_property_takes_its_lines_alone(body: str, data: st.DataObject) -> None:
    """FM-65"""
    outline = outline_of(body)
    entry = a_property(data, body)
    changed = edits.remove_property(body, entry.key)

    assert says(changed) == {key: value for key, value in says(body).items() if key != entry.key}
    assert is_inside(changed, body)
    if len(outline.entries) == 1:
        return
    assert all(other.span.slice(body).strip() in changed for other in outline.entries if other.key != entry.key)
    if not outline.flow:
        end = entry.span.start + len(body) - len(changed)
        assert changed == body[: entry.span.start] + body[end:]
        # blank lines and indented comments go along where they would have become text of the property above
        along = body[entry.span.end : end].splitlines()
        assert all(not line.strip() or line.lstrip(" ")[0] == "#" != line[0] for line in along)


@given(notes(), values)
@example("---\na: a\n---\n", "\xa0\n")
@examples(80)
def test_setting_and_removing_a_new_property_gives_the_note_back(body: str, value: Any) -> None:
    changed = edits.set_property(body, "new", value)

    if not outline_of(body).flow:
        assert edits.remove_property(changed, "new") == body


@given(st.sampled_from(["", "Text", "\nText\r\n", "---\nopen\n", "--- \na: 1\n---\n"]), texts, values)
@examples(80)
@example("Text", "", "\ud800\udc00")
def test_the_first_property_makes_the_block_and_leaves_the_text(body: str, key: str, value: Any) -> None:
    assume(len({ord(character) >> 16 for character in f"{key}{value}"}) < 10)  # one unassigned plane is left for PyYAML
    changed = edits.set_property(body, key, value)

    assert changed.endswith(body)
    assert edits.remove_property(changed, key) == body
    assert edits.set_property(changed, key, value) == changed


@given(notes(), st.sampled_from(["a", "日本", "x"]))
@examples(80)
def test_renaming_a_tag_changes_the_items_that_match_and_no_line_beside_them(body: str, old: str) -> None:
    """FM-71"""
    changed = edits.replace_tag(body, old, "new/tag")

    tags = parser.tags(says(body)) or []
    expected = ["#new/tag" if tag == f"#{old}" else tag for tag in tags]
    assert (parser.tags(says(changed)) or []) == expected
    assert (changed == body) == (expected == tags)
    for entry in outline_of(body).entries:
        if entry.key == "tags":
            assert changed.startswith(body[: entry.span.start])
            assert changed.endswith(body[entry.span.end :])


@pytest.mark.parametrize("value", [float("inf"), float("nan"), {1: "x"}, {"x"}, b"x", 10**400])
def test_what_no_property_can_hold_is_refused(value: Any) -> None:
    """FM-50"""
    with pytest.raises(InvalidArguments):
        edits.set_property(BLOCK, "b", value)


def test_a_value_nested_too_deep_is_refused() -> None:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]

    with pytest.raises(InvalidArguments):
        edits.set_property(BLOCK, "b", value)


@pytest.mark.parametrize("opening", ["---\na: 1\n", '---\n{"a": 1}\n'])
def test_a_value_nested_as_deep_as_can_be_read_is_written_or_refused_whole(opening: str) -> None:
    body = opening + "---\nText\n"
    for depth in (50, 97, 98, 99, 100):
        value: Any = "x"
        for _ in range(depth):
            value = [value]
        try:
            changed = edits.set_property(body, "b", value)
        except (InvalidArguments, PropertiesUnreadable):
            assert depth >= 99
        else:
            assert says(changed) == {"a": 1, "b": value}


def test_a_name_too_long_for_yaml_is_refused() -> None:
    with pytest.raises(InvalidArguments):
        edits.set_property(BLOCK, "k" * 1100, 1)
