"""Text of notes that belongs to a plugin, which edits leave alone (DRAW-4, BOARD-2)."""

from __future__ import annotations

from . import board, drawing


def check_edit(path: str, before: str, after: str) -> None:
    """Raises: NotText for an edit that a plugin would drop, or that changes what only the plugin writes."""
    drawing.check_edit(path, before, after)
    board.check_edit(path, before, after)
