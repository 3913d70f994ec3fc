"""The functions of Dataview, by name (specs/dataview.md, DV-80 to DV-99)."""

from __future__ import annotations

from collections.abc import Mapping

from obsidian_mcp.core.dataview.functions import (
    choices,
    constructors,
    containment,
    formats,
    lists,
    numbers,
    texts,
)
from obsidian_mcp.core.dataview.functions.overloads import Implementation

FUNCTIONS: Mapping[str, Implementation] = {
    **constructors.FUNCTIONS,
    **numbers.FUNCTIONS,
    **choices.FUNCTIONS,
    **containment.FUNCTIONS,
    **lists.FUNCTIONS,
    **texts.FUNCTIONS,
    **formats.FUNCTIONS,
}
"""Names are case-sensitive. A function takes the run and its arguments and raises ExpressionError.
"""
