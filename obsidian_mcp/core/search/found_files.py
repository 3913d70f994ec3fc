"""The files that a search has found, before they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .hits import Order
from .plan import SearchPlan
from .second_pass import Fields
from .signals import Item
from .snapshot import Snapshot


class FoundFiles(NamedTuple):
    """Files in their order, and how to show them."""

    snapshot: Snapshot
    items: Sequence[Item]
    """From the first file on, to the end of the page or of the result."""
    total: int
    order: Order | None
    """What the files were sorted by; None if they are ranked."""
    plan: SearchPlan
    fields: dict[int, Fields]
    """Files that were read already."""
    note: str | None = None
    successors: frozenset[int] = frozenset()
    """Files without the words, which supersede files that have them."""
    lowered: frozenset[int] = frozenset()
    """Files that would come earlier if they, or what they say of this, were not outdated."""
    is_about_past: bool = False
    """Whether hits say what held when."""
