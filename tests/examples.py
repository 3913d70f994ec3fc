"""How many examples a property is tried with: in proportion to the profile (conftest.py)."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

USUAL = 100
"""Examples of a test that says nothing, in `make test`."""


def examples(number: int, **others: Any) -> settings:
    """Return settings for so many examples in `make test`: a quarter in `make check`, ten times in `make explore`."""
    return settings(max_examples=max(1, number * settings().max_examples // USUAL), **others)
