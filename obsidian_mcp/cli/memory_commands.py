"""The commands of a vault as memory (specs/memory.md)."""

from __future__ import annotations

import sys
from typing import Any

from obsidian_mcp.core.text.call import Client, call_with, set_call
from obsidian_mcp.errors import InvalidArguments

from .command_table import find_command
from .options import Options
from .stdout import has_watcher, write, write_answer
from .tool_commands import call_tool, read_standard_input

BUDGET = 1_500
"""Characters of what is recalled."""
NOT_LOOKED = (
    "The vault was not looked at whole, because it is large: what changed since the last session "
    "may be missing.\n"
)
NOTHING_FITS = 1
"""Exit status of `recall` without an answer."""


def write_successor(options: Options, old: str, new: str, reason: str = "", **typed: Any) -> None:
    """Mark a note or block as superseded by another, and list what still says the old thing."""
    compose, _ = find_command(["compose"])
    arguments = {"action": "supersede", "name": old, "into": new, **typed}
    call_tool(options, compose, arguments | ({"reason": reason} if reason else {}))


def recall(
    options: Options, text: list[str], *, vault: str = "", budget: int = BUDGET, json: bool = False
) -> int:
    """Print the passages that matter for a text; nothing, and exit 1, where none do (MEM-40)."""
    from obsidian_mcp.core.operations import recall as recalling

    words = _read_text(text)
    set_call(client=Client("command line"))
    with call_with(wants_all=True), options.app((vault,) if vault else ()) as app:
        opened = app.vaults.get("", listed=False)
        passages = recalling.recall(opened, words, budget)
        framed = recalling.frame(opened, passages)
        is_current = opened.is_listed
    if not passages:
        return NOTHING_FITS
    if not is_current:
        write("", NOT_LOOKED)
    listed = [
        {"path": passage.path, "line": passage.line, "date": passage.date, "text": passage.text}
        | ({"outdated": passage.outdated} if passage.outdated else {})
        | ({"warning": passage.warning} if passage.warning else {})
        for passage in passages
    ]
    write_answer({"passages": listed}, framed, as_json=json)
    return 0


def remember(options: Options, text: list[str] | None = None, **typed: Any) -> int:
    """Write a line into the vault's memory, list what is there, or take a line back (MEM-43)."""
    from obsidian_mcp.core.operations import remember as remembering

    vault, as_json = typed.get("vault", ""), typed.get("json", False)
    set_call(client=Client(typed.get("client") or "command line"))
    with call_with(wants_all=True), options.app((vault,) if vault else ()) as app:
        opened = app.vaults.get("")
        if typed.get("list"):
            memories = remembering.list_memories(opened)[: typed.get("limit")]
            data = [_describe(memory) for memory in memories]
            lines = ["{path}:{line} {text} ^{id}\n".format(**described) for described in data]
            write_answer({"memories": data}, "".join(lines), as_json=as_json)
            return 0
        if taken := typed.get("take_back"):
            memory = remembering.forget(opened, taken)
            write_answer(_describe(memory), f"Taken back: {memory.text}\n", as_json=as_json)
            return 0
        words = _without_secrets(_read_text(text or []))
        provenance = ", ".join(
            filter(None, (typed.get("client"), typed.get("project"), typed.get("session")))
        )
        memory, is_new = remembering.remember(opened, words, provenance, app.config.memories)
    verb = "Remembered" if is_new else "Already remembered"
    answer = f"{verb} in {memory.path}:{memory.line} ^{memory.id}\n"
    write_answer(_describe(memory) | {"new": is_new}, answer, as_json=as_json)
    return 0


def _describe(memory: Any) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in ("id", "path", "line", "text")}


def _read_text(words: list[str]) -> str:
    text = " ".join(words)
    return read_standard_input() if text in ("", "-") and not sys.stdin.isatty() else text


def _without_secrets(text: str) -> str:
    """Return a text without secrets: a person is told, and where nobody watches they are masked.

    Raises: InvalidArguments for a person at a terminal.
    """
    from obsidian_mcp.core.text.secrets import find_secrets, mask_secrets

    secrets = find_secrets(text)
    if secrets and has_watcher():
        kinds = ", ".join(dict.fromkeys(secret.kind for secret in secrets))
        raise InvalidArguments(
            f"The text has a secret ({kinds}), which does not belong into a note. Leave it out.",
            argument="text",
        )
    masked = mask_secrets(text)
    if secrets:
        write("", "A secret was left out.\n")
    return masked
