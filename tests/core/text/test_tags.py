"""Tags in the text, and how tags compare (specs/tags.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.text import tags

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "specs" / "vectors" / "tags.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=[f"{case['rule']} {case['text'][:40]!r}" for case in CASES])
def test_the_tags_of_a_text_are_those_of_the_table(case: dict[str, Any]) -> None:
    note = parse(case["text"])
    assert [tag.name for tag in note.tags] == case["tags"]
    assert [tag.span.slice(note.body) for tag in note.tags] == ["#" + name for name in case["tags"]]


def test_a_tag_covers_itself_in_any_case_and_what_is_nested_below_it() -> None:
    """TAG-21"""
    assert [tags.covers("#A", other) for other in ("#a/b", "#ab", "#a", "a/B/c")] == [True, False, True, True]
    assert not tags.covers("a/b", "a")


def test_one_tag_has_one_key_however_it_is_written() -> None:
    """TAG-20"""
    assert tags.key("#Project/X") == tags.key("project/x")


def test_the_ancestry_of_a_tag_goes_from_the_top_down_to_it() -> None:
    """TAG-22"""
    assert tags.ancestry("#a/B/c") == ["a", "a/B", "a/B/c"]


def test_all_tags_are_those_of_the_properties_and_then_those_of_the_text_as_often_as_they_stand() -> None:
    """TAG-10"""
    note = parse('---\ntags: [x, "#y", x]\n---\n#b #a #b')
    assert note.all_tags == ["#x", "#y", "#x", "#b", "#a", "#b"]
