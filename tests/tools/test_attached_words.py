"""Smart search finds what a person of that language expects, and says what exact search finds (SEARCH-94, 95)."""

from __future__ import annotations

from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.text.attached_words import is_attached, without_article
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.tools.registry import call
from tests.tools.conftest import Opened

ARABIC = {
    "plain": "كتاب",
    "article": "الكتاب",
    "preposition": "بالكتاب",
    "to": "للكتاب",
    "and": "وكتاب",
    "and the": "والكتاب",
    "so the": "فالكتاب",
    "and in the": "وبالكتاب",
    "like the": "كالكتاب",
    "his": "بكتابه",
    "lengthened": "كتــاب",
    "lengthened with article": "الكتــاب",
    "vowels": "كِتَابٌ",
}
HEBREW = {
    "plain": "ספר",
    "the": "הספר",
    "in": "בספר",
    "to": "לספר",
    "and": "וספר",
    "and the": "והספר",
    "that the": "שהספר",
    "when the": "כשהספר",
    "and when the": "וכשהספר",
    "points": "סֵפֶר",
    "points with article": "הַסֵּפֶר",
}
OTHERS = {"مكتبة": "Library.md", "שלום": "Peace.md", "ספרייה": "Reading room.md"}


def paths(app: App, query: str, match: str = "smart") -> set[str]:
    hits = call(app, "obsidian_search", {"query": query, "match": match, "limit": 50}).data["hits"]
    return {hit["path"] for hit in hits}


@pytest.mark.parametrize("words", [ARABIC, HEBREW], ids=["Arabic", "Hebrew"])
def test_a_word_is_found_with_what_is_attached_to_it(opened: Opened, words: dict[str, str]) -> None:
    """SEARCH-94"""
    notes = {f"{name}.md": f"1 {word} 2\n" for name, word in words.items()}
    app = opened({**notes, **{path: f"1 {word} 2\n" for word, path in OTHERS.items()}})
    for query in (words["plain"], words.get("article") or words["the"]):
        assert paths(app, query) == notes.keys(), query


@pytest.mark.parametrize("query", ["كِتاب", "كتـاب", "סֵפֶר"])
def test_marks_and_lengthening_in_the_query_do_not_matter(opened: Opened, query: str) -> None:
    """SEARCH-94"""
    app = opened({"a.md": "الكتاب\n", "b.md": "הספר\n"})
    assert paths(app, query) == ({"b.md"} if "\u0590" <= query[0] <= "\u05ff" else {"a.md"})


@pytest.mark.parametrize("word", ["مكتب", "سكتاب", "xكتاب"])
def test_other_letters_before_a_word_make_another_one(opened: Opened, word: str) -> None:
    """SEARCH-94"""
    assert paths(opened({"a.md": f"{word}\n", "b.md": "كتاب\n"}), "كتاب") == {"b.md"}


def test_what_may_be_attached() -> None:
    """SEARCH-94"""
    assert all(map(is_attached, ("ال", "وال", "بال", "لل", "ولل", "و", "وب", "ה", "וה", "כשה", "ב", "וכשה", "מ")))
    assert not any(map(is_attached, ("", "م", "الا", "ר", "אה", "x", "the")))
    assert without_article("والكتاب") == "كتاب"
    assert without_article("הספר") == "ספר"
    assert without_article("הר") == "הר"


LAMPS = {"a.md": "lamp on\n", "b.md": "The lamp\n", "c.md": "lamps\n", "d.md": "A clamp\n", "e.md": "clamps\n"}


def test_a_search_says_how_many_more_an_exact_search_finds(opened: Opened) -> None:
    """SEARCH-95"""
    app = opened(LAMPS)
    answer = call(app, "obsidian_search", {"query": "lamp"}).data
    exact = call(app, "obsidian_search", {"query": "lamp", "match": "exact"}).data
    assert exact["total"] - answer["total"] == 2
    assert answer["note"] == ("match=exact would find 2 more: the files have 'lamp' inside other words, such as clamp.")
    assert "note" not in exact


@pytest.mark.parametrize("query", ["heron", "lamp", "lamp on", "-lamp", "tag:x"])
def test_a_search_says_nothing_where_an_exact_search_finds_no_more(opened: Opened, query: str) -> None:
    """SEARCH-95"""
    answer = call(
        opened({"a.md": "lamp on\n", "b.md": "lamps\n", "c.md": "heron\n"}), "obsidian_search", {"query": query}
    )
    assert "note" not in answer.data


def test_files_outside_of_the_request_are_not_counted(opened: Opened) -> None:
    """SEARCH-95"""
    app = opened({"In/a.md": "lamp\n", "Out/b.md": "clamp\n"})
    assert "note" not in call(app, "obsidian_search", {"query": "lamp", "folder": "In"}).data


CHANGES: dict[str, dict[str, Any]] = {
    "replace": {"find": "a", "content": "b"},
    "set_properties": {"properties": {"x": 1}},
    "move_note": {"to": "New/"},
}


@pytest.mark.parametrize("tool", CHANGES)
def test_a_change_says_which_of_its_notes_a_search_does_not_find(opened: Opened, tool: str) -> None:
    """TOOL-39"""
    answer = call(opened(LAMPS), f"obsidian_{tool}", {**CHANGES[tool], "query": "lamp", "dry_run": True}).data
    said = "query is matched exactly, as with match=exact: 2 have it inside other words only (d.md, e.md)."
    assert said in answer["warnings"]


def test_a_change_says_which_notes_it_leaves_that_a_search_finds(opened: Opened) -> None:
    """TOOL-39"""
    app = opened({"a.md": "running\n", "b.md": "He runs\n"})
    answer = call(app, "obsidian_set_properties", {"query": "running", "properties": {"x": 1}, "dry_run": True}).data
    assert answer["changed"] == ["a.md"]
    (warning,) = answer["warnings"]
    assert "1 with other forms of the words is left as it is (b.md)" in warning
    with pytest.raises(InvalidArguments, match="matched exactly; other forms of the words are in"):
        call(app, "obsidian_set_properties", {"query": "runnings", "properties": {"x": 1}})


def test_a_change_says_of_one_note_that_it_has_the_word_inside_another(opened: Opened) -> None:
    """TOOL-39"""
    app = opened({"a.md": "lamp\n", "d.md": "clamp\n"})
    answer = call(app, "obsidian_set_properties", {"query": "lamp", "properties": {"x": 1}, "dry_run": True}).data
    assert answer["warnings"] == [
        "query is matched exactly, as with match=exact: 1 has it inside other words only (d.md)."
    ]


def test_a_change_says_nothing_where_both_searches_agree(opened: Opened) -> None:
    """TOOL-39"""
    app = opened({"a.md": "lamp\n", "b.md": "heron\n"})
    answer = call(app, "obsidian_set_properties", {"query": "lamp", "properties": {"x": 1}, "dry_run": True}).data
    assert "warnings" not in answer
