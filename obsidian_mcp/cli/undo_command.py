"""Take back a change from the command line (CLI-17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.text.fit import name_first

from .answers import FILES_NAMED, command_of
from .cells import mask_controls
from .grammar import Subcommand
from .options import Options
from .stdout import ask, has_watcher, write
from .tool_commands import call_tool, open_as_command_line

if TYPE_CHECKING:
    from obsidian_mcp.core.vault.vault import Vault


def undo(options: Options, command: Subcommand, typed: Mapping[str, Any]) -> None:
    """Take back a change: the one that was named, else the latest.

    Without a number a script takes back what the command line did last (SAFE-20). A person at a
    terminal means the latest change, and that may be another client's: they are asked then. Raises:
    KeyboardInterrupt for no.
    """
    arguments = dict(typed)
    takes_any = arguments.pop("yes", False)
    if "change" not in arguments and (takes_any or has_watcher()):
        with open_as_command_line(options, typed.get("vault", "")) as app:
            number = _choose_change(app.vaults.get(), takes_any=takes_any)
        arguments |= {"change": number} if number else {}
    call_tool(options, command, arguments)


def _choose_change(vault: Vault, *, takes_any: bool) -> int:
    """Return the number of another client's change that is to be taken back; 0 where the latest one
    is the command line's own. Raises: KeyboardInterrupt where a person does not agree."""
    from obsidian_mcp.core.operations.history import describe_author, latest_change

    latest = latest_change(vault)
    if latest is None or latest.author.is_same(vault.journal.author()):
        return 0
    if not takes_any:
        paths = [str(vault.catalog.path_of(step.disk)) for step in latest.steps]
        question = (
            f"The latest change is not the command line's own. It is number {latest.number}, by "
            f"{describe_author(vault, latest)} ({command_of(latest.tool)}): "
            f"{name_first(list(dict.fromkeys(paths)), FILES_NAMED)}."
        )
        if ask(f"{mask_controls(question)} Take it back? [y/N]").lower() not in ("y", "yes"):
            write("", "Nothing was changed. `obsidian-mcp history` lists all changes.\n")
            raise KeyboardInterrupt
    return latest.number
