"""Commands of ours that merge notes and take parts out of them, by the MCP tool's function (HEADLESS-20)."""

from __future__ import annotations

from typing import Any, Literal

from .call import Answer, Call


def _compose(call: Call, action: Literal["merge", "extract"]) -> str:
    """`a -> b`: the note that was merged or taken from, and the one that the text went to."""
    from obsidian_mcp.tools.composer import compose_notes  # imports every tool: only for these commands

    given: dict[str, Any] = {name: call.text(name) for name in ("part", "position", "leave") if call.text(name)}
    into = call.text("into")
    entry = call.note()
    if action == "merge":
        into = (call.at(into) if into in call.vault.catalog else call.called(into)).path
    done: Any = compose_notes(call.place.app, action, entry.path, into, **given)
    return f"{done.path} -> {done.into}"


def merge(call: Call) -> str:
    return f"Merged: {_compose(call, 'merge')}"


def extract(call: Call) -> str:
    return f"Extracted: {_compose(call, 'extract')}"


ANSWERS: dict[str, Answer] = {"note:extract": extract, "note:merge": merge}
