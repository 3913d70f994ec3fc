"""What the index keeps of a list item (DV-15)."""

from __future__ import annotations

from typing import NamedTuple


class ItemPlace(NamedTuple):
    """Where a list item stands in its note, in code points; all else is read from the text."""

    start: int
    end: int
    """Where the item ends, or its first child begins."""
    parent: int | None
    """Line of the parent item."""
    list_line: int
    """As in `ListItemData`."""
    status: str | None
    block_id: str | None
