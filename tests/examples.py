"""How many examples a property is tried with: in proportion to the profile (conftest.py)."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

USUAL = 30
"""Examples of a test that says nothing, in `make test`; a fault that one of 45 examples shows is found there in half of
the cases; `make explore` finds rarer ones."""
CHECKED = 20
"""The same in `make check`."""
EXPLORED = 1_000
"""The same in `make explore`, which tries other examples each time."""


def examples(percent: int, **others: Any) -> settings:
    """Return settings for so many examples in proportion to those of a test that says nothing."""
    return settings(max_examples=max(1, percent * settings().max_examples // 100), **others)
