"""How links and embeds are written (specs/note.md, NOTE-40 to NOTE-59)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.text.wikilink import split_subpath

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "specs" / "vectors" / "link_syntax.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=[f"{case['rule']} {case['text'][:40]!r}" for case in CASES])
def test_the_links_of_a_text_are_those_of_the_table(case: dict[str, Any]) -> None:
    note = parse(case["text"])
    found = [(link.target, link.display_text, link.embed) for link in note.links]
    assert found == [(want["link"], want["display"], want.get("embed", False)) for want in case["links"]]
    for link, want in zip(note.links, case["links"], strict=True):
        assert link.original == want.get("original", link.original)


def test_a_link_knows_where_its_target_stands_in_the_source() -> None:
    body = "[[a#b|c]] ![x](<d e.md#f> 'g') [y](h%20i.md)\n\n| x |\n|---|\n| [[n\\|d]] |\n\n> [[ j ]]"
    note = parse(body)
    assert [link.target_span.slice(body) for link in note.links] == ["a#b", "d e.md#f", "h%20i.md", "n", " j "]
    assert [link.span.slice(body) for link in note.links] == [link.original for link in note.links]


def test_a_link_over_the_lines_of_a_quote_covers_its_marks() -> None:
    """NOTE-26"""
    body = "> see [a\n> b](c.md) and [[d]]"
    note = parse(body)
    assert [link.original for link in note.links] == ["[a\n> b](c.md)", "[[d]]"]
    assert [link.target_span.slice(body) for link in note.links] == ["c.md", "d"]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("![[i.png|100x50]]", (100, 50)),
        ("![[i.png|100]]", (100, None)),
        ("![[i.png|alt|100x50]]", (100, 50)),
        ("![250](i.png)", (250, None)),
        ("![alt|100x145](i.png)", (100, 145)),
        ("![[i.png|alt]]", None),
        ("![[i.png]]", None),
        ("[[i.png|100]]", None),
    ],
)
def test_the_size_of_an_embed_is_the_last_part_of_its_display(text: str, size: object) -> None:
    """NOTE-53"""
    (link,) = parse(text).links
    assert link.size == size


@pytest.mark.parametrize(
    ("yaml", "keys"),
    [
        ('k: "[[n]]"', {"k": "n"}),
        ('l: ["[[n#h|d]]", x, ["[[m]]"]]', {"l.0": "n#h", "l.2.0": "m"}),
        ('t: "see [[n]]"', {}),
        ('t: "[[n]] [[m]]"', {}),
        ("a: [[n]]", {}),
        ('o: {p: {q: "[[n]]"}}', {"o.p.q": "n"}),
        ('m: "[t](a%20b.md#h)"', {"m": "a b.md#h"}),
        ('m: "[t](https://x.y)"', {}),
        ('m: "[t](a.md) x"', {}),
        ('e: "![[n]]"', {}),
        ('b: "[[n"', {}),
    ],
)
def test_a_property_that_is_nothing_but_a_link_is_a_link(yaml: str, keys: dict[str, str]) -> None:
    """NOTE-48"""
    note = parse(f"---\n{yaml}\n---\n")
    assert {link.key: link.target for link in note.property_links} == keys


def test_property_links_keep_the_order_in_which_they_are_written() -> None:
    """NOTE-48"""
    note = parse('---\nz: "[[1]]"\na:\n  - "[[2]]"\n  - "[[3]]"\nm: "[[4]]"\n---\n')
    assert [(link.key, link.path) for link in note.property_links] == [
        ("z", "1"),
        ("a.0", "2"),
        ("a.1", "3"),
        ("m", "4"),
    ]


def test_a_target_is_taken_apart_at_its_first_hash() -> None:
    """NOTE-43"""
    assert split_subpath("a#b#c") == ("a", "#b#c")
    assert split_subpath("#^x") == ("", "#^x")
    assert split_subpath("a") == ("a", "")


def test_a_property_link_shows_its_display_or_its_target() -> None:
    """NOTE-44"""
    note = parse('---\na: "[[n#h|d]]"\nb: "[[n#h]]"\n---\n')
    assert [link.display_text for link in note.property_links] == ["d", "n > h"]
