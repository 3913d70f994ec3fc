"""How JavaScript writes numbers, as far as several languages and files share it."""

from __future__ import annotations

LEAST_EXPONENTIAL = 1e21
"""From here on JavaScript writes a number with an exponent.

Whole numbers below it are written without a point: `7`, not `7.0`. So they become `int`; larger
ones stay floats, whose digits would be made up.
"""
