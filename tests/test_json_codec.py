"""JSON that programs exchange: what is written, and what is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.json_codec import MAX_DEPTH, decode, encode

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    # every character, and halves of pairs
    | st.text(st.characters(exclude_categories=[]), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def with_pairs_joined(value: Any) -> Any:
    """The value as UTF-16 would carry it: two halves side by side are one character."""
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass"))


@given(VALUES)
def test_what_was_written_reads_back_the_same(value: Any) -> None:
    """HTTP-06"""
    assert decode(encode(value, keeps_halves=True), keeps_halves=True) == with_pairs_joined(value)


@given(VALUES)
def test_what_is_written_for_other_clients_is_utf8_without_half_a_character(value: Any) -> None:
    """MSG-07"""
    written = encode(value)
    assert decode(written) == json.loads(written.decode("utf-8", "strict"))
    assert b"\n" not in written


def test_a_half_becomes_the_replacement_character_or_its_escape() -> None:
    """MSG-07, HTTP-06"""
    assert encode(["\ud83d", "a\ud83d\ude00b"]) == '["\ufffd","a\U0001f600b"]'.encode()
    assert encode(["\ud83d", "ü"], keeps_halves=True) == '["\\ud83d","ü"]'.encode()


def test_what_no_number_of_json_says_is_null() -> None:
    """HTTP-06"""
    assert encode({"a": [math.nan, math.inf, -math.inf, 1.5], "half": "\udcff"}) == (
        b'{"a":[null,null,null,1.5],"half":"\xef\xbf\xbd"}'
    )


def test_values_that_are_none_of_json_are_converted_or_refused() -> None:
    assert encode({"a": {1, 2}}, default=sorted) == b'{"a":[1,2]}'
    with pytest.raises(TypeError):
        encode({"a": object()})
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises((ValueError, RecursionError)):
        encode(loop)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf \n", "empty"),
        (b"\xff", "utf-8"),
        (b"{bad", "line 1 column 2"),
        (b"1 2", "Extra data"),
        (b"[NaN]", "NaN is not a number"),
        (b"[-Infinity]", "-Infinity is not a number"),
        (b"1e400", "1e400 is not a number"),
        (b"9" * 309, "is not a number"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "nested too deeply"),
        (b"[" * 100_000, "nested too deeply"),
        (b'"\\ud83d"', "surrogate"),
        (b'{"\\uDE00":1}', "surrogate"),
    ],
)
def test_what_is_not_json_is_refused_with_what_is_wrong(data: bytes, problem: str) -> None:
    """MSG-04"""
    with pytest.raises(ValueError, match=problem):
        decode(data)


def test_a_byte_order_mark_and_the_deepest_level_are_taken() -> None:
    """HTTP-06"""
    assert decode(b'\xef\xbb\xbf{"a":1}') == {"a": 1}
    assert decode("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert decode("[[]" + ",[]" * 500 + "]") == [[]] * 501
    assert decode(b'"\\ud83d"', keeps_halves=True) == "\ud83d"
