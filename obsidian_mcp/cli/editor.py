"""Change a note in the person's own editor: `edit NOTE` without an operation (CLI-25).

What comes back is one change in the journal, like any other. The vault is not locked while a person
writes, so a note that has changed meanwhile is merged or refused, and what was written is never
lost: the file of the editor stays where it could not become the note.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from obsidian_mcp import TYPE_CHECKING, computer
from obsidian_mcp.errors import AppError, InvalidArguments

from .grammar import Subcommand
from .options import Options
from .stdout import write
from .tool_commands import call_tool, open_as_command_line

if TYPE_CHECKING:
    from obsidian_mcp.core.files.file_entry import FileEntry
    from obsidian_mcp.core.vault.vault import Vault

VARIABLES: Final = ("VISUAL", "EDITOR")
"""Environment variables that name the editor, the first that is set, as git and others take it."""


def edit(options: Options, command: Subcommand, typed: Mapping[str, Any]) -> None:
    """Make the operation that was typed, or open the note in the editor. Raises: InvalidArguments
    for neither an operation nor an editor, and what a change raises."""
    if "operation" in typed:
        call_tool(options, command, typed)
        return
    surplus = sorted(typed.keys() - {"name", "vault"})
    program = next((os.environ[name] for name in VARIABLES if os.environ.get(name)), "")
    if surplus or not program:
        instead = "" if surplus else " Without one, the editor that EDITOR names opens the note."
        raise InvalidArguments(f"Missing: OPERATION. Usage: {command.usage}.{instead}")
    with open_as_command_line(options, typed.get("vault", "")) as app:
        vault = app.vaults.get()
        entry = vault.find(typed["name"])
        is_changed = _edit_in(program, vault, entry)
    write(f"{'Changed' if is_changed else 'Unchanged'}: {entry.path}\n")


def _edit_in(program: str, vault: Vault, entry: FileEntry) -> bool:
    """Open a note in an editor; return whether it is another one now."""
    vault.policy.check_write(entry.path)  # before anybody writes in vain
    before = vault.read_note(entry)
    handle, name = tempfile.mkstemp(prefix="obsidian-mcp-", suffix=".md")  # for this user alone
    file = Path(name)
    with os.fdopen(handle, "wb") as stream:
        stream.write(before.text.body.encode("utf-8", "surrogateescape"))
    # the words of the variable, never a shell
    words = [*shlex.split(program, posix=os.name != "nt"), name]
    try:
        status = subprocess.run(words, check=False).returncode  # noqa: S603
    except OSError as error:
        computer.remove_file(file)
        raise InvalidArguments(f"'{program}' cannot be started: {error.strerror}.") from error
    if status:
        raise InvalidArguments(
            f"'{program}' ended with status {status}, so the note was left as it is. What you "
            f"wrote is in {name}."
        )
    after = file.read_bytes().decode("utf-8", "surrogateescape")
    try:
        edited = vault.edit("edit_note", entry, lambda _: after, before.etag)
    except AppError as error:
        error.message += f" What you wrote is in {name}."
        raise
    computer.remove_file(file)
    return edited.before.etag != edited.after.etag
