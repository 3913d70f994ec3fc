"""Canvases: cards with the places of their texts (semantics 10, specs/rename.md)."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.frontmatter.quoted import Quoted, read_json, read_yaml
from obsidian_mcp.core.note import canvas
from obsidian_mcp.core.text.text import Span
from tests.examples import examples

REAL_VAULTS = Path(__file__).parents[4] / "shared" / "data" / "vaults"
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def written(body: str, quoted: Quoted, old: str, new: str) -> str:
    """`body` with the one occurrence of `old` in a quoted text replaced."""
    at = quoted.value.index(old)
    place = quoted.place(Span(at, at + len(old)))
    return body[: place.start] + quoted.write_quoted(new) + body[place.end :]


@pytest.mark.parametrize("body", ["", " \n", "{}", '{"nodes": []}', '{"edges": [], "metadata": {"a": [1]}}'])
def test_an_empty_canvas_has_no_cards(body: str) -> None:  # semantics 10 #1
    assert canvas.read_canvas(body) == canvas.Canvas()


def test_a_card_has_its_texts_where_they_stand() -> None:  # semantics 10 #2
    body = (
        '{"nodes":[{"id":"a","type":"file","file":"N.md","subpath":"#h","x":0,"y":0,"width":1,"height":1},\n'
        '\t{"id":"b","type":"text","text":"see [[N|x]] #t","x":0},\n'
        '\t{"id":"c","type":"link","url":"https://a.b"},\n'
        '\t{"id":"d","type":"group","label":"G","background":"img/p.png"}\n],"edges":[{"id":"e","file":"no"}]}'
    )
    cards = canvas.read_canvas(body).cards
    texts = [{name: getattr(card, name).value for name in canvas.FIELDS if getattr(card, name)} for card in cards]
    assert [(card.id, card.key) for card in cards] == [
        ("a", "nodes.a"),
        ("b", "nodes.b"),
        ("c", "nodes.c"),
        ("d", "nodes.d"),
    ]
    assert texts == [
        {"file": "N.md", "subpath": "#h"},
        {"text": "see [[N|x]] #t"},
        {},
        {"background": "img/p.png"},
    ]
    for card in cards:
        for name in canvas.FIELDS:
            if quoted := getattr(card, name):
                assert json.loads(quoted.span.slice(body)) == quoted.value
    assert cards[1].text is not None
    assert body.count("\n", 0, cards[1].text.place(Span(0, 0)).start) == 1


def test_unknown_kinds_keys_and_odd_values_are_read_past() -> None:  # semantics 10 #5
    body = (
        '{"x": "nodes", "nodes": [7, null, ["text"], {"id": 3, "type": "star", "deep": {"file": "no", "nodes": ["a"]},'
        ' "text": 5, "file": null, "label": "l"}, {"id": "z"}], "nodes2": [{"file": "no"}]}'
    )
    cards = canvas.read_canvas(body).cards
    assert [(card.id, card.text, card.file) for card in cards] == [("", None, None), ("z", None, None)]


def test_of_a_repeated_key_the_last_one_counts() -> None:
    body = '{"nodes":[{"file":"old"}],"nodes":[{"file":"a","file":"b"},{"text":"t","text":1}]}'
    cards = canvas.read_canvas(body).cards
    assert [card.file.value if card.file else None for card in cards] == ["b", None]
    assert cards[0].file is not None
    assert cards[0].file.span.slice(body) == '"b"'
    assert cards[1].text is None


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("{", 1),
        ('{"nodes": [\n{"id": "a",}\n]}', 2),
        ("[]", 1),
        ('{"nodes": {}}', 1),
        ('{"nodes": [{"x": NaN}]}', 1),
        ("[" * 200_000, 1),
        ('{"nodes":[{"text":"a\nb"}]}', 1),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_broken_canvas_has_no_cards_and_says_why(body: str, line: int | None) -> None:
    found = canvas.read_canvas(body)
    assert found.cards == ()
    assert found.error is not None
    assert found.error.startswith("The canvas is not readable: ")
    assert found.line == line


def test_a_text_is_replaced_and_every_other_character_stays() -> None:
    body = '{ "nodes":[\r\n\t{"text":"caf\\u00e9 \\/ \\"q\\" \\ud83d\\udcc1 [[Old]] \\n","x":1.50 } ]}\r\n'
    card = canvas.read_canvas(body).cards[0]
    assert card.text is not None
    assert card.text.value == 'café / "q" 📁 [[Old]] \n'
    assert written(body, card.text, "Old", 'N"\\e\tw') == body.replace("Old", 'N\\"\\\\e\\tw')


def test_an_escaped_character_is_replaced_as_a_whole() -> None:
    body = '{"nodes":[{"file":"\\u00c4\\ud83d\\ude00/\\u00e9.md"}]}'
    quoted = canvas.read_canvas(body).cards[0].file
    assert quoted is not None
    assert written(body, quoted, "😀/é", "日本") == '{"nodes":[{"file":"\\u00c4\\u65e5\\u672c.md"}]}'


def test_other_scripts_are_escaped_only_where_the_file_escapes_them() -> None:
    plain = '{"nodes":[{"file":"a.md"},{"file":"é\\u00e9"}]}'
    quoted = canvas.read_canvas(plain).cards[0].file
    assert quoted is not None
    assert written(plain, quoted, "a", "日") == plain.replace("a.md", "日.md")


@examples(150)
@given(text=ANY_TEXT, new=ANY_TEXT, ascii_only=st.booleans(), ends=st.tuples(st.integers(0, 12), st.integers(0, 12)))
def test_any_part_of_any_json_text_can_be_replaced(
    text: str, new: str, ascii_only: bool, ends: tuple[int, int]
) -> None:
    start, end = sorted(min(end, len(text)) for end in ends)
    body = f'["", {json.dumps(text, ensure_ascii=ascii_only)}, 1]'
    quoted = read_json(body, Span(5, len(body) - 4), ascii_only=ascii_only)
    assert quoted.value == text
    place = quoted.place(Span(start, end))
    after = body[: place.start] + quoted.write_quoted(new) + body[place.end :]
    assert json.loads(after) == ["", text[:start] + new + text[end:], 1]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ('"[[A]]"', "[[A]]"),
        ('"a\\tb\\x41\\u0042\\U00000043\\"\\\\ \\_"', 'a\tbABC"\\ \xa0'),
        ("'it''s [[A]]'", "it's [[A]]"),
        ("'a\\nb'", "a\\nb"),
    ],
)
def test_quoted_yaml_scalars_of_one_line_are_read(source: str, value: str) -> None:
    assert read_yaml(f"k: {source} # c", Span(3, 3 + len(source))).value == value


@pytest.mark.parametrize(
    ("source", "after"),
    [
        ('"[[Old|\\u00e9]] \\"q\\""', '"[[it\'s \\"new\\" \\\\|\\u00e9]] \\"q\\""'),
        ("'[[Old]] it''s'", "'[[it''s \"new\" \\]] it''s'"),
    ],
)
def test_a_part_of_a_quoted_yaml_scalar_is_replaced(source: str, after: str) -> None:
    found = read_yaml(source, Span(0, len(source)))
    assert found is not None
    assert written(source, found, "Old", 'it\'s "new" \\') == after


def test_a_canvas_of_ten_thousand_cards_is_read_in_a_moment() -> None:
    nodes = [{"id": f"{i:016x}", "type": "text", "text": f"[[Note {i}]]\n", "x": i, "y": 0} for i in range(10_000)]
    body = json.dumps({"nodes": nodes})
    start = time.process_time()
    assert len(canvas.read_canvas(body).cards) == 10_000
    assert time.process_time() - start < 3  # measured: 0.15 s


@pytest.mark.skipif(not REAL_VAULTS.is_dir(), reason="the real vaults of ../shared/data are not here")
def test_the_canvases_of_real_vaults_are_read_as_json_reads_them() -> None:
    files = sorted(REAL_VAULTS.rglob("*.canvas"))
    assert files
    for file in files:
        body = file.read_text(encoding="utf-8")
        nodes = json.loads(body)["nodes"]
        cards = canvas.read_canvas(body).cards
        for name in canvas.FIELDS:
            assert [quoted.value if (quoted := getattr(card, name)) else None for card in cards] == [
                node.get(name) for node in nodes
            ]
