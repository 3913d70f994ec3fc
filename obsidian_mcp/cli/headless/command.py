"""`obsidian-mcp obsidian …`: run one command line of the official program (HEADLESS-01); and what
this program says of itself: version, help, vaults (HEADLESS-08)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path

from obsidian_mcp import __version__, logger
from obsidian_mcp.cli.options import INTERRUPTED, Options
from obsidian_mcp.cli.stdout import write
from obsidian_mcp.config import Config
from obsidian_mcp.environment import DROP_IN
from obsidian_mcp.errors import AppError, StorageFailed

from .words import (
    COMMANDS,
    HELP,
    KEYS,
    DropInCommand,
    DropInRefused,
    Words,
    check_values,
    read_words,
    unknown_command_error,
)

APP_VERSION = "1.13.8"
"""The version of the app whose command line this one follows."""
NAME_WIDTH, KEY_WIDTH = 22, 20
"""Columns of the help: names of commands, and forms of keys."""
NOT_FOUND = "Vault not found."
UNREACHABLE = (
    "The CLI is unable to find Obsidian. Please make sure Obsidian is running and try again."
)
HINTS = {
    "history": "Changes made by obsidian-mcp: obsidian-mcp history",
    "diff": "Changes made by obsidian-mcp: obsidian-mcp history",
    "sync": "obsidian-headless syncs without the app.",
    "plugin:enable": "Enabling code is left to the app.",
}
"""What to do instead of a command that needs the app, by the command or its family."""


def main(arguments: Sequence[str]) -> int:
    """Run the command line of a process that has no other options; return its exit status."""
    try:
        return run_drop_in(arguments, Options())
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has seen enough (`| head`)
        sys.stdout = None  # nothing is left to flush at exit
        return 0
    except StorageFailed as error:  # errors of the command itself are its answer
        print(f"obsidian-mcp: {error.message}", file=sys.stderr)
        return 1


def run_drop_in(arguments: Sequence[str], options: Options) -> int:
    """Run one command line, print its answer and return the exit status."""
    words, status = read_words(arguments), 0
    try:
        answer = _answer(words, options)
    except DropInRefused as refusal:
        answer, status = f"Error: {refusal}", refusal.status
    except AppError as error:
        # the first sentence says what was wrong
        wrong, *_ = re.split(r"(?<=[.!?])\s", error.message, maxsplit=1)
        answer = f"Error: {wrong}".replace("\n", " ")
    except Exception as error:  # a script gets a sentence, whatever happens
        log = logger(__name__)
        log.info("this failed", exc_info=True)
        answer = f"Error: internal error, {type(error).__name__}: {' '.join(str(error).split())}"
    if isinstance(answer, int):
        return answer
    text = answer if not answer or answer.endswith("\n") else f"{answer}\n"
    write(text, may_page=False)  # the app's own command has no pager
    if words.copy:
        from obsidian_mcp.computer import copy_to_clipboard

        if not copy_to_clipboard(answer):
            print("There is no clipboard here; nothing was copied.", file=sys.stderr)
    failed = answer == NOT_FOUND or answer.startswith("Error:")
    return 1 if failed and os.environ.get("OBSIDIAN_MCP_STRICT_EXIT") == "1" else status


def _answer(words: Words, options: Options) -> str | int:
    """Return the text to print, or the exit status of a command of the app. Raises: DropInRefused,
    AppError."""
    if not words.command or words.command in HELP:
        return help_text(next(iter(words.keys), "") if words.command == "help" else "")
    command = COMMANDS.get(words.command)
    if words.help and command is not None:
        return help_text(command.name)
    if command is not None and command.verdict == "app":
        return _run_app_command(command, words, options)
    if command is not None and command.name == "version":
        return f"{APP_VERSION} (obsidian-mcp {__version__})"
    if command is None and words.vault is None:
        raise unknown_command_error(words.command)
    from obsidian_mcp.core.text.call import Client, set_call

    from .call import DropInCall, locate

    settings = options.config()
    if command is not None and command.name == "vaults":
        return list_vaults(words, settings)
    folder = locate(words.vault, options, settings)
    if folder is None:
        return NOT_FOUND
    if command is None:
        raise unknown_command_error(words.command)
    check_values(command, words)
    set_call(client=Client("obsidian command"))
    module = import_module(f"obsidian_mcp.cli.headless.{command.module}")
    with closing(DropInCall(settings, folder, words, writes="writes" in command.marks)) as call:
        answer: str = getattr(module, command.function)(call)
    return answer


def _run_app_command(command: DropInCommand, words: Words, options: Options) -> int:
    """Hand a command to the app, else say that it needs the app; return the exit status. Raises:
    DropInRefused for a missing key or a session that only reads."""
    check_values(command, words)
    if command.name == "open" and not (words.text("file") or words.text("path")):
        raise DropInRefused("Missing required parameter: file or path")
    settings = options.config()
    if settings.app.backend != "files" and DROP_IN not in os.environ:
        status = _hand_to_app(command, words, options, settings)
        if status is not None:
            return status
    family = command.name.partition(":")[0]
    usual = f'obsidian-mcp works from the files; "{command.name}" needs the app.'
    print(f"{UNREACHABLE}\n{HINTS.get(command.name, HINTS.get(family, usual))}", file=sys.stderr)
    return 1


def _hand_to_app(
    command: DropInCommand, words: Words, options: Options, settings: Config
) -> int | None:
    """Return the app's exit status, None where it does not run. Raises: DropInRefused, AppError
    (APP-TOOL-03)."""
    from obsidian_mcp import policies, vault_builder
    from obsidian_mcp.errors import ObsidianNotRunning

    from .call import locate

    if settings.read_only and "reads" not in command.marks:
        raise DropInRefused("This session only reads.")
    folder = locate(words.vault, options, settings)
    if folder is None:
        write(f"{NOT_FOUND}\n")
        return 0
    if "code" in command.marks and not settings.app.allow_eval:
        raise DropInRefused(
            "JavaScript is not run in the app: the user has not allowed it. It needs the option "
            "--allow-eval or OBSIDIAN_MCP_ALLOW_EVAL=1."
        )
    rules = policies.policy_of(settings, folder, policies.principal_of(settings))
    if rules.restricts_reading or "reads" not in command.marks:
        rules.check_free_hand(f"run the app's command {command.name!r}")
    arguments = [key if value == "true" else f"{key}={value}" for key, value in words.keys.items()]
    arguments += ["--copy"] if words.copy else []
    try:
        outcome = vault_builder.app_access(settings).run_official_program(
            folder, [command.name, *arguments]
        )
    except ObsidianNotRunning:
        return None
    for stream, data in ((sys.stdout, outcome.stdout), (sys.stderr, outcome.stderr)):
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    return outcome.status


# The program itself


def list_vaults(words: Words, settings: Config) -> str:
    from obsidian_mcp.computer import registries

    paths = [Path(vault.path) for vault in next(registries(settings.app_folders), ())]
    if not paths:
        paths = [path.absolute() for path in settings.vaults]
    if words.has("total"):
        return str(len(paths))
    return "\n".join(
        f"{path.name}\t{path}" if words.has("verbose") else path.name for path in paths
    )


def help_text(name: str = "") -> str:
    """Return the help, or that of a command and those below it. Raises: DropInRefused."""
    commands = [
        command
        for command in COMMANDS.values()
        if not name or command.name == name or command.name.startswith(f"{name}:")
    ]
    if not commands:
        raise unknown_command_error(name)
    if name:
        return "".join(map(_entry, commands))
    parts = [
        Path(__file__).with_name("introduction.txt").read_text(encoding="utf-8"),
        "Commands:\n",
    ]
    parts += [_entry(command) for command in commands if "developer" not in command.marks]
    parts += [
        "\nDeveloper:\n",
        *(_entry(command) for command in commands if "developer" in command.marks),
    ]
    return "".join(parts)


def _entry(command: DropInCommand) -> str:
    note = " [needs the app]" if command.verdict == "app" else ""
    parts = [f"  {command.name:<{NAME_WIDTH}}{command.summary}{note}\n"]
    for parameter in command.parameters:
        form = parameter.form
        padded = f"{form:<{KEY_WIDTH}}" if len(form) < KEY_WIDTH else f"{form}  "
        required = " (required)" if parameter.required else ""
        parts.append(f"    {padded}- {KEYS[parameter.name][1]}{required}\n")
    return "".join(parts) + "\n"
