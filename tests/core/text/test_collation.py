"""The order of texts for people (EXPR-25)."""

from __future__ import annotations

from obsidian_mcp.core.text.collation import natural_key


def test_texts_are_in_the_order_of_people() -> None:
    """EXPR-25"""
    expected = [
        "",
        "_a",
        "-",
        "(x)",
        "2",
        "10",
        "a",
        "Ä 2",
        "ä 10",
        "a-b",
        "B",
        "b2",
        "b10",
        "b010x",
        "ß",
        "z",
        "か",
        "ザ",
        "漢",
    ]
    shuffled = expected[::-1]
    assert sorted(shuffled, key=natural_key) == expected


def test_case_accents_and_kana_do_not_matter() -> None:
    """EXPR-25"""
    assert natural_key("Éa") == natural_key("ea")
    assert natural_key("カ") == natural_key("か")
    assert natural_key("007") == natural_key("7")
