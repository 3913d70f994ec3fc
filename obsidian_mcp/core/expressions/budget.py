"""How much memory one query may take (EXPR-60 to EXPR-62).

All that can grow (texts, lists, rows, cells) is charged before it is built. Time is bounded by the
deadline of the call, which `Budget` looks at in passing.
"""

from __future__ import annotations

from collections.abc import Iterable

from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.errors import QueryInvalid

from .values import ExpressionError, Value

QUERY_UNITS = 12_000_000
"""Units that one query may hold.

A unit is one character, which is 1 to 4 bytes; a list item counts ITEM_UNITS.
"""

ROW_UNITS = 1_000_000
"""Units that the expressions of one row may build."""

ITEM_UNITS = 16
"""Units of one list item, object entry or cell."""

SCALAR_UNITS = 8
"""Units of a number, boolean or null that a row keeps."""

_TICKS = 64
"""Steps between two looks at the deadline."""

_LARGE = 20_000
"""Units from which a single operation takes long enough to look at the deadline."""


class Budget:
    """Counts what a query builds. One per run; not shared between threads."""

    def __init__(self, query_units: int = QUERY_UNITS, row_units: int = ROW_UNITS) -> None:
        self._query_units = query_units
        self._row_units = row_units
        self._held = 0
        """Units that all rows so far keep."""
        self._row_held = 0
        self._row = 0
        """Units built for the present row, most of which are gone soon."""
        self._ticks = 0

    def charge(self, units: float) -> None:
        """Count what is about to be built for the present row.

        Raises: ExpressionError when the row builds too much, OperationTimeout when the call's time
        is over.
        """
        self._row += int(min(units, self._row_units + 1))
        if self._row > self._row_units:
            raise ExpressionError(
                f"The expression builds more than {self._row_units:,} characters for one row and "
                "was stopped."
            )
        if units > _LARGE:
            checkpoint()

    def charge_items(self, count: int) -> None:
        """As `charge`, for the items of a list."""
        self.charge(count * ITEM_UNITS)

    def join(self, texts: Iterable[str], separator: str = ", ") -> str:
        """Return the texts joined; each is charged before the next one is made."""
        parts = []
        for text in texts:
            self.charge(len(text) + len(separator))
            parts.append(text)
        return separator.join(parts)

    def hold(self, value: Value) -> None:
        """Count a value that the present row keeps until the query ends."""
        if isinstance(value, str):
            self._row_held += len(value)
            return
        if value is None or isinstance(value, bool | float):
            self._row_held += SCALAR_UNITS
            return
        match value:
            case list() if not any(isinstance(item, list | dict) for item in value):
                texts = sum(len(item) for item in value if isinstance(item, str))
                self._row_held += ITEM_UNITS + ITEM_UNITS * len(value) + texts
            case list() | dict():
                self._row_held += ITEM_UNITS + self._row
            case _:
                self._row_held += ITEM_UNITS

    def tick(self) -> None:
        """Call once per step of a loop.

        Raises: OperationTimeout.
        """
        self._ticks += 1
        if self._ticks >= _TICKS:
            self._ticks = 0
            checkpoint()

    def end_row(self, *, kept: bool) -> None:
        """Begin the next row; what a row holds that is not `kept` counts no more.

        Raises: QueryInvalid when the rows together hold too much, OperationTimeout.
        """
        if kept and self._row_held:
            self._held += self._row_held
            if self._held > self._query_units:
                raise QueryInvalid(
                    "The query holds more than fits in memory and was stopped. Filter the rows "
                    "further, or make its texts and lists shorter."
                )
        self._row = self._row_held = 0
        self.tick()
