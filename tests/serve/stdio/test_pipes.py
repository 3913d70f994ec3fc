"""Lines out of bytes (specs/stdio.md, PIPE)."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.serve.stdio.pipes import LineSplitter
from tests.examples import examples


def _split(*chunks: bytes, limit: int = 100) -> list[bytes | None]:
    splitter = LineSplitter(limit)
    return [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.flush()


def test_blank_lines_and_carriage_returns_vanish() -> None:
    """PIPE-02"""
    assert _split(b"\n \r\n{}\r\n\n  [1]\t\n") == [b"{}", b"[1]"]


def test_a_last_line_without_its_end_is_still_a_line() -> None:
    """PIPE-02"""
    assert _split(b"{}\n[", b"1]") == [b"{}", b"[1]"]
    assert _split(b"{}\n") == [b"{}"]


def test_a_byte_order_mark_is_dropped_before_the_first_line_only() -> None:
    """PIPE-02"""
    assert _split(b"\xef", b"\xbb\xbf\n", b"{}\n") == [b"{}"]
    assert _split(b"\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n") == [b"{}", b"\xef\xbb\xbf{}"]


def test_a_line_over_the_limit_comes_out_as_none_and_the_next_one_whole() -> None:
    """PIPE-03"""
    assert _split(b"1234567890\n", b"12345678901\n{}\n", limit=10) == [b"1234567890", None, b"{}"]
    assert _split(*[b"123"] * 5, b"\n{}\n", limit=10) == [None, b"{}"]
    assert _split(*[b"123"] * 5, limit=10) == [None]


@examples(100)
@given(st.binary(max_size=80).map(lambda data: data.replace(b"0", b"\n")), st.lists(st.integers(0, 80)))
def test_the_lines_do_not_depend_on_how_the_bytes_arrive(data: bytes, cuts: list[int]) -> None:
    """PIPE-02"""
    places = [0, *sorted(cuts), len(data)]
    chunks = [data[a:b] for a, b in itertools.pairwise(places) if a < b]
    assert _split(*chunks, limit=7) == _split(data, limit=7)
