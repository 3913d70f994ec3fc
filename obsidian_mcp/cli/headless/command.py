"""`obsidian-mcp obsidian …`: run one command line of the official program (HEADLESS-01)."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from obsidian_mcp.cli.options import Options
from obsidian_mcp.errors import AppError

from .table import COMMANDS, Command
from .words import HELP, Refused, Words, check_required, read, unknown

NOT_FOUND = "Vault not found."
UNREACHABLE = "The CLI is unable to find Obsidian. Please make sure Obsidian is running and try again."
HINTS = {
    "history": "Changes made by obsidian-mcp: obsidian-mcp history",
    "diff": "Changes made by obsidian-mcp: obsidian-mcp history",
    "sync": "obsidian-headless syncs without the app.",
    "plugin:enable": "Enabling code is left to the app.",
}
_SENTENCE = re.compile(r".*?[.!?](?=\s|\Z)", re.DOTALL)


class _Verbatim(click.Command):
    """A command whose words are all its own: no option of ours is read among them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.params = {"words": tuple(args)}
        return []


def _invoked(words: tuple[str, ...]) -> int:
    return run(words, click.get_current_context().obj or Options())


obsidian = _Verbatim(
    "obsidian",
    callback=_invoked,
    add_help_option=False,
    epilog="Examples:  obsidian-mcp obsidian read file=Alpha  |  obsidian-mcp obsidian help",
    help="Do what the app's own `obsidian` command does, from the files alone: obsidian read file=Note.",
)


def run(arguments: Sequence[str], options: Options) -> int:
    """Run one command line, print its answer and return the exit status."""
    words = read(arguments)
    try:
        answer = _answered(words, options)
    except _NeedsApp as refusal:
        print(refusal, file=sys.stderr)
        return 1
    except Refused as refusal:
        answer = f"Error: {refusal}"
    except AppError as error:
        answer = f"Error: {first_sentence(error.message)}"
    except Exception as error:  # a script gets a sentence, whatever happens
        logging.getLogger(__name__).info("this failed", exc_info=True)
        answer = f"Error: internal error, {type(error).__name__}: {' '.join(str(error).split())}"
    _print(answer)
    if words.copy:
        print("There is no clipboard here; nothing was copied.", file=sys.stderr)
    failed = answer == NOT_FOUND or answer.startswith("Error:")
    return 1 if failed and os.environ.get("OBSIDIAN_MCP_STRICT_EXIT") == "1" else 0


class _NeedsApp(Exception):
    """The two lines for a command that only the app can do."""


def first_sentence(message: str) -> str:
    """The first sentence of an error, which says what was wrong."""
    found = _SENTENCE.match(message)
    return (found[0] if found else message).replace("\n", " ")


def _answered(words: Words, options: Options) -> str:
    """The text to print. Raises: Refused, AppError, _NeedsApp."""
    from . import own

    if not words.command or words.command in HELP:
        return own.help_text(next(iter(words.keys), "") if words.command == "help" else "")
    command = COMMANDS.get(words.command)
    if words.help and command is not None:
        return own.help_text(command.name)
    if command is not None and command.verdict == "app":
        _refuse_app_command(command, words)
    if command is not None and command.name == "version":
        return own.version()
    if command is None and words.vault is None:
        raise unknown(words.command)
    from obsidian_mcp.core.files.ports import Client, client

    from .call import Call, NoVault, Place, locate

    settings = options.config()
    if command is not None and command.name == "vaults":
        return own.vaults(words, settings)
    try:
        folder = locate(words.vault, options, settings)
    except NoVault:
        return NOT_FOUND
    if command is None:
        raise unknown(words.command)
    check_required(command, words)
    if command.verdict == "later":
        raise Refused(f'Command "{command.name}" is not supported yet without the app.')
    client.set(Client("obsidian command"))
    place = Place(settings, folder)
    module = import_module(f".{command.module}", __package__)
    try:
        answer: str = module.ANSWERS[command.name](Call(place, words, writes=command.module == "writing"))
    finally:
        place.close()
    return answer


def _refuse_app_command(command: Command, words: Words) -> None:
    """Raises: _NeedsApp, Refused for a required key that is missing."""
    check_required(command, words)
    if command.name == "open" and not (words.text("file") or words.text("path")):
        raise Refused("Missing required parameter: file or path")
    family = command.name.partition(":")[0]
    usual = f'obsidian-mcp works from the files; "{command.name}" needs the app.'
    raise _NeedsApp(f"{UNREACHABLE}\n{HINTS.get(command.name, HINTS.get(family, usual))}")


def _print(answer: str) -> None:
    if answer:
        sys.stdout.flush()
        text = answer if answer.endswith("\n") else f"{answer}\n"
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
