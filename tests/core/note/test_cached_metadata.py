"""What the parser finds, in the shape of the app's metadata cache."""

from __future__ import annotations

from typing import Any

from obsidian_mcp.core.frontmatter.parser import tags
from obsidian_mcp.core.note.parser import parse
from tests.cached_metadata import cached_metadata


def place(line: int, col: int, offset: int) -> dict[str, int]:
    return {"line": line, "col": col, "offset": offset}


def cached(text: str) -> dict[str, Any]:
    return cached_metadata(parse(text))


def test_positions_count_utf16_units_from_the_start_of_the_line_and_of_the_note() -> None:
    (tag,) = cached("😀\n日 😀 #t😀\n")["tags"]
    assert tag == {"tag": "#t😀", "position": {"start": place(1, 5, 8), "end": place(1, 9, 12)}}


def test_positions_in_a_note_with_crlf_count_both_characters_of_a_line_end() -> None:
    found = cached("a\r\n\r\n# H\r\n")
    assert found["headings"][0]["position"] == {"start": place(2, 0, 5), "end": place(2, 3, 8)}
    assert found["sections"][0]["position"]["end"] == place(0, 1, 1)


def test_a_key_is_there_only_when_there_is_something_to_say() -> None:
    assert cached("") == {}
    assert cached("text").keys() == {"sections"}
    assert cached("---\n---\nx").keys() == {"sections"}
    assert cached("---\na: 1\n---\n").keys() == {"sections", "frontmatter", "frontmatterPosition", "frontmatterLinks"}
    assert cached("---\na: [\n---\n").keys() == {"sections"}


def test_links_and_embeds_are_told_apart_and_shown_as_the_app_shows_them() -> None:
    found = cached("[[a#b|c]] ![[d]] [e](f%20g.md)")
    assert [(link["link"], link["displayText"], link["original"]) for link in found["links"]] == [
        ("a#b", "c", "[[a#b|c]]"),
        ("f g.md", "e", "[e](f%20g.md)"),
    ]
    assert [link["link"] for link in found["embeds"]] == ["d"]


def test_block_ids_stand_on_their_sections_items_and_under_their_lower_cased_key() -> None:
    """NOTE-35"""
    found = cached("text ^Ab\n\n- item ^x\n")
    assert found["sections"][0]["id"] == "Ab"
    assert found["listItems"][0]["id"] == "x"
    assert {key: block["id"] for key, block in found["blocks"].items()} == {"ab": "Ab", "x": "x"}


def test_footnotes_and_their_references_have_lists_of_their_own() -> None:
    """NOTE-24"""
    found = cached("a[^1]\n\n[^1]: b\n")
    assert [note["id"] for note in found["footnotes"]] == ["1"]
    assert [reference["id"] for reference in found["footnoteRefs"]] == ["1"]
    assert [section["type"] for section in found["sections"]] == ["paragraph", "footnoteDefinition"]


def test_headings_in_quotes_are_left_out() -> None:
    """NOTE-15"""
    assert [heading["heading"] for heading in cached("> # Q\n\n# H")["headings"]] == ["H"]


def test_tags_of_the_properties_are_none_without_a_value_and_empty_for_an_empty_list() -> None:
    """FM-30"""
    assert tags(parse("---\ntags:\n---\n").properties) is None
    assert tags(parse("---\ntags: []\n---\n").properties) == []
    assert tags(parse("---\ntags: [a, '#b']\n---\n").properties) == ["#a", "#b"]
    assert tags(parse("no frontmatter").properties) is None
