"""Numbers packed as characters: in UTF-8 a small one takes a byte, and both ways run in C."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from operator import sub

_LARGE = 0x10F000
"""From here on a number takes two characters; the first of them is this or a greater one."""
_LOW_BITS = 16
_LOW = (1 << _LOW_BITS) - 1
_TOO_LARGE = (0x110000 - _LARGE) << _LOW_BITS
"""Two characters hold the numbers below this, 268 million."""


def pack_numbers(numbers: Iterable[int]) -> str:
    """Return numbers that are not negative as characters.

    The characters may be lone surrogates: they are encoded with `surrogatepass`. Raises:
    OverflowError for a number that is negative or at least 2**28.
    """
    listed = list(numbers)
    if not listed:
        return ""
    least, greatest = min(listed), max(listed)
    if least < 0 or greatest >= _TOO_LARGE:
        raise OverflowError(f"{least} to {greatest} cannot be packed")
    if greatest < _LARGE:
        return "".join(map(chr, listed))
    return "".join(
        chr(number) if number < _LARGE else chr(_LARGE + (number >> _LOW_BITS)) + chr(number & _LOW)
        for number in listed
    )


def unpack_numbers(packed: str) -> list[int]:
    """Return the numbers that `pack_numbers` packed."""
    numbers = list(map(ord, packed))
    if packed.isascii() or max(numbers) < _LARGE:
        return numbers
    characters, numbers = iter(numbers), []
    for character in characters:
        if character >= _LARGE:
            numbers.append(((character - _LARGE) << _LOW_BITS) + next(characters))
        else:
            numbers.append(character)
    return numbers


def to_steps(numbers: Iterable[int]) -> list[int]:
    """Return the first of some numbers that do not fall, and the step from each to the next."""
    listed = list(numbers)
    return list(map(sub, listed, chain((0,), listed)))


def from_steps(steps: Iterable[int]) -> list[int]:
    """Return the numbers of `to_steps`."""
    return list(accumulate(steps))


def to_turns(numbers: Iterable[int]) -> list[int]:
    """As `to_steps`, of numbers that may fall: a step up is even, a step down odd."""
    return [2 * step if step >= 0 else -2 * step - 1 for step in to_steps(numbers)]


def from_turns(turns: Iterable[int]) -> list[int]:
    """Return the numbers of `to_turns`."""
    return from_steps([-(turn + 1) // 2 if turn & 1 else turn // 2 for turn in turns])


def to_gaps(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return the starts of spans as steps, and then the gaps from each end to the next start.

    Parts of a text mostly follow each other at the same distance, so that gaps pack better than
    lengths. The last gap leads back to the last start. Starts must not fall.
    """
    starts, ends = [span[0] for span in spans], [span[1] for span in spans]
    gaps = list(map(sub, starts[1:] + starts[-1:], ends))
    return to_steps(starts) + [2 * gap if gap >= 0 else -2 * gap - 1 for gap in gaps]


def from_gaps(numbers: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the starts and the ends of the spans of `to_gaps`."""
    count = len(numbers) // 2
    starts = from_steps(numbers[:count])
    gaps = [-(gap + 1) // 2 if gap & 1 else gap // 2 for gap in numbers[count:]]
    return starts, list(map(sub, starts[1:] + starts[-1:], gaps))
