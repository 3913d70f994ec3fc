"""Numbers as characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.text.packed_numbers import (
    from_gaps,
    from_steps,
    from_turns,
    pack_numbers,
    to_gaps,
    to_steps,
    to_turns,
    unpack_numbers,
)
from tests.examples import examples

LARGEST = 2**28 - 1
numbers = st.lists(
    st.one_of(
        st.integers(0, LARGEST),
        st.sampled_from([0, 127, 128, 0xD7FF, 0xD800, 0xDFFF, 0x10EFFF, 0x10F000, 0x10FFFF, 0x110000, LARGEST]),
    )
)


@given(numbers)
@examples(200)
def test_what_is_packed_is_unpacked_also_through_bytes(some: list[int]) -> None:
    packed = pack_numbers(some)
    assert unpack_numbers(packed) == some
    data = packed.encode("utf-8", "surrogatepass")
    assert unpack_numbers(data.decode("utf-8", "surrogatepass")) == some


@pytest.mark.parametrize("number", [-1, LARGEST + 1, 2**63])
def test_a_number_that_no_two_characters_hold_is_refused(number: int) -> None:
    with pytest.raises(OverflowError):
        pack_numbers([1, number])


@given(st.lists(st.integers(0, 1_000_000)))
@examples(100)
def test_steps_and_turns_lead_back_to_the_numbers(some: list[int]) -> None:
    assert from_steps(to_steps(sorted(some))) == sorted(some)
    assert from_turns(to_turns(some)) == some
    assert min(to_turns(some), default=0) >= 0


@given(st.lists(st.tuples(st.integers(0, 1_000_000), st.integers(0, 1_000))))
@examples(100)
def test_gaps_lead_back_to_starts_and_ends(some: list[tuple[int, int]]) -> None:
    spans = [(start, start + length) for start, length in sorted(some)]
    starts, ends = from_gaps(to_gaps(spans))
    assert list(zip(starts, ends, strict=True)) == spans
