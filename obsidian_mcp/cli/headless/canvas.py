"""Commands of ours on canvases: each is one call of the MCP tool (HEADLESS-20)."""

from __future__ import annotations

from typing import Any

from obsidian_mcp.tools.canvas import LOOK, NUMBERS, PLACE, edit_canvas

from .call import DropInCall
from .words import DropInRefused, unescape

KINDS = {"text": "text", "note": "file", "url": "link", "label": "group"}
"""The key that says what a new card shows, and the kind of card that it makes."""


def _edit(call: DropInCall, *operations: dict[str, Any]) -> str:
    """Make the operations as one change; return the id of the last card or edge. Raises:
    DropInRefused."""
    edited: Any = edit_canvas(call.app, call.find_kind(".canvas", "canvas").path, list(operations))
    return str(edited.ids[-1])


def _read_keys(call: DropInCall, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the keys that were given, as the tool takes them. Raises: DropInRefused."""
    values: dict[str, Any] = {}
    for name in names:
        if name not in call.words.keys:
            continue
        value = call.words.number(name) if name in NUMBERS else unescape(call.words.text(name))
        values["file" if name == "note" else name] = value
    return values


def canvas_add(call: DropInCall) -> str:
    kind = next((kind for key, kind in KINDS.items() if call.text(key)), None)
    if kind is None:
        raise DropInRefused("Missing required parameter: text, note, url or label")
    values = _read_keys(call, (*KINDS, *PLACE, *LOOK))
    return f"Added: {_edit(call, {'op': 'add', 'type': kind, **values})}"


def canvas_connect(call: DropInCall) -> str:
    values = _read_keys(call, ("from", "to", "label", "color"))
    return f"Connected: {_edit(call, {'op': 'connect', **values})}"


def canvas_edit(call: DropInCall) -> str:
    card = _read_keys(call, ("card",))
    changes, place = _read_keys(call, (*KINDS, *LOOK)), _read_keys(call, PLACE)
    operations = [{"op": "edit", **card, **changes}] if changes or not place else []
    if place:  # a card that is named by its text is found before the text changes
        operations.insert(0, {"op": "move", **card, **place})
    return f"Edited: {_edit(call, *operations)}"


def canvas_remove(call: DropInCall) -> str:
    operation = {"op": "remove", **_read_keys(call, ("card",)), "contents": call.has("contents")}
    return f"Removed: {_edit(call, operation)}"
