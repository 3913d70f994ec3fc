"""Frontmatter as the app reads it (specs/frontmatter.md, specs/vectors/frontmatter.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from obsidian_mcp.core.frontmatter import parser, property_types, yaml12
from obsidian_mcp.core.frontmatter.block import locate_block
from obsidian_mcp.core.text.text import Span, Text
from tests.examples import examples

from .frontmatter_texts import notes

ROOT = Path(__file__).parents[3]
RECORDINGS = ROOT / ".." / "shared" / "data" / "recordings"
VECTORS: list[dict[str, Any]] = json.loads((ROOT / "specs/vectors/frontmatter.json").read_text(encoding="utf-8"))


def identify(row: dict[str, Any]) -> str:
    return f"{row['rule']}: {row['note'][:40]!r}"


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason="../shared/data/recordings is not there")
def test_the_recordings_of_the_app_agree_on_properties_and_tags() -> None:
    recordings = sorted(RECORDINGS.glob("*.json"))
    assert recordings
    for file in recordings:
        recording = json.loads(file.read_text(encoding="utf-8"))
        cached = recording["cachedMetadata"]
        found = parser.read_frontmatter(recording["fileContents"])
        values = found.values if found else None
        assert values == cached.get("frontmatter"), file.name
        assert parser.tags(values or {}) == recording["parseFrontMatterTags"], file.name
        assert (found is not None) == any(s["type"] == "yaml" for s in cached.get("sections", [])), file.name
        if found and values is not None:
            assert found.block.span.end == cached["frontmatterPosition"]["end"]["offset"], file.name


@pytest.mark.parametrize("row", VECTORS, ids=identify)
def test_a_note_has_the_properties_of_the_table(row: dict[str, Any]) -> None:
    found = parser.read_frontmatter(row["note"])

    if not row.get("block", True):
        assert found is None
        return
    assert found is not None
    assert found.values == row["values"]
    assert types(found.values) == types(row["values"])
    assert found.line == row.get("error_line")
    assert (found.error is None) == (found.line is None)
    values = found.values or {}
    if "tags" in row:
        assert parser.tags(values) == row["tags"]
    if "aliases" in row:
        assert parser.aliases(values) == row["aliases"]


@pytest.mark.parametrize("row", [row for row in VECTORS if "\t" not in row["note"]], ids=identify)
def test_the_table_holds_without_the_c_library(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    found = parser.read_frontmatter(row["note"])

    assert (found.values if found else None) == row["values"]


def types(value: Any) -> Any:
    """The shape of a value: `True == 1` and `7 == 7.0` to Python, but not to a reader."""
    if isinstance(value, dict):
        return {key: types(item) for key, item in value.items()}
    return [types(item) for item in value] if isinstance(value, list) else type(value)


def test_a_byte_order_mark_is_no_character_in_front_of_the_block() -> None:
    # table 4.5 row 5
    found = parser.read_frontmatter(Text.decode(b"\xef\xbb\xbf---\na: 1\n---").body)

    assert found is not None
    assert found.values == {"a": 1}


def test_the_block_ends_with_its_dashes_and_the_text_starts_on_the_next_line() -> None:
    """FM-04"""
    body = "---\r\na: 😀\r\n---  \r\nText"
    block = locate_block(body)

    assert block is not None
    assert block.span.slice(body) == "---\r\na: 😀\r\n---"
    assert block.yaml_span.slice(body) == "a: 😀\r\n"
    assert body[block.body_start :] == "Text"


def test_bytes_that_are_not_utf8_stay_in_the_value() -> None:
    """FM-17"""
    found = parser.read_frontmatter(Text.decode(b"---\na: caf\xe9\n---\n").body)

    assert found is not None
    assert found.values is not None
    assert Text(found.values["a"]).encode() == b"caf\xe9"


LAUGHS = "a: &a [x]\n" + "\n".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)

TOWER = "a0: &a0 [x]\n" + "\n".join(f"a{n}: &a{n} {'[' * 90}*a{n - 1}{']' * 90}" for n in range(1, 12))


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 500_000,
        "a: " + "{" * 500_000,
        "- " * 250_000,
        "? " * 250_000,
        "\n".join(" " * depth + "a:" for depth in range(1000)),
        LAUGHS,
        "a: &a [" + "x," * 50_000 + "]\n" + "\n".join(f"b{number}: *a" for number in range(99)),
        "a: &a [*a]",
        TOWER,
        "a" * 1_500_000 + ": 1",
        'a: "' + "\\u" * 200_000,
    ],
    ids=[
        "brackets",
        "braces",
        "dashes",
        "marks",
        "indents",
        "laughs",
        "copies",
        "itself",
        "tower",
        "length",
        "escapes",
    ],
)
def test_hostile_yaml_is_an_error_with_a_line(text: str) -> None:
    """FM-19: a hang or a RecursionError would fail here"""
    found = parser.read_frontmatter(f"---\n{text}\n---\n")

    assert found is not None
    assert found.values is None
    assert found.line is not None


def test_numbers_too_long_to_print_are_no_numbers() -> None:
    """FM-16"""
    digits = "f" * 10_000
    found = parser.read_frontmatter(f"---\na: 0x{digits}\nb: {'9' * 10_000}\nc: 1{'0' * 400}.5\n---\n")

    assert found is not None
    assert found.values == {"a": None, "b": None, "c": None}


@given(notes())
@examples(150)
def test_every_property_stands_where_its_spans_say(body: str) -> None:
    """FM-40"""
    block = locate_block(body)
    assert block is not None
    read = parser.read_frontmatter(body)
    assert read is not None
    outline = parser.outline(body, block)

    assert {entry.key: entry.value for entry in outline.entries} == read.values
    end = block.yaml_span.start
    for entry in outline.entries:
        assert end <= entry.span.start <= entry.key_span.start < entry.key_span.end
        assert entry.key_span.end <= entry.value_span.start <= entry.value_span.end <= entry.span.end
        assert yaml12.load(f"{entry.key_span.slice(body)}: 1\n") == {entry.key: 1}
        lines = entry.span.slice(body)
        assert yaml12.load("{" + lines + "}" if outline.flow else lines) == {entry.key: entry.value}
        end = entry.span.end
        if isinstance(entry.value, list):
            assert len(entry.items) == len(entry.value)
            inside = entry.value_span
            assert all(inside.start <= item.start <= item.end <= inside.end for item in entry.items)
    assert end <= block.yaml_span.end


@given(st.text(alphabet=st.sampled_from("ab:-#[]{}'\"&*!|>%@`?,. \t\r\n\\u0d8\u2028😀\x07"), max_size=60))
@examples(300)
@example("0:\r\r")  # a carriage return before a line end of two characters is text
def test_any_text_in_a_block_is_properties_or_an_error_but_no_accident(text: str) -> None:
    body = f"---\n{text}\n---\n"
    found = parser.read_frontmatter(body)

    assert found is not None
    json.dumps(found.values, allow_nan=False)
    if found.values is not None:
        assert found.error is None
        assert parser.outline(body, found.block).entries or not found.values


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (["a", "b"], "multitext"),
        ([], "multitext"),
        (True, "checkbox"),
        (0, "number"),
        (1.5, "number"),
        ("2024-01-02", "date"),
        ("2024-01-02T10:30", "text"),
        ("2024-1-2", "text"),
        ("", "text"),
        (None, "text"),
        (["a", 1], "unknown"),
        ({"a": 1}, "unknown"),
    ],
)
def test_a_value_without_an_assigned_type_has_the_type_it_looks_like(value: Any, kind: str) -> None:
    """FM-33"""
    assert property_types.infer_type(value) == kind


def test_spans_of_an_entry_give_its_source_back() -> None:
    """FM-40"""
    body = '---\n"a b" : &x [1, "c"] # d\n# e\nf:\n  - g\n\n---\n'
    block = locate_block(body)
    assert block is not None
    first, second = parser.outline(body, block).entries

    def source(*spans: Span) -> list[str]:
        return [span.slice(body) for span in spans]

    assert source(first.key_span, first.value_span, first.span) == [
        '"a b"',
        '&x [1, "c"]',
        '"a b" : &x [1, "c"] # d\n',
    ]
    assert source(*first.items) == ["1", '"c"']
    assert source(second.value_span, second.span, *second.items) == ["- g", "f:\n  - g\n", "g"]
