"""The command line: every tool is a subcommand, and without one the command is the stdio server (specs/cli.md)."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, get_args

import click

from obsidian_mcp import __version__, config
from obsidian_mcp.errors import AppError, InternalError

from . import powershell  # noqa: F401  importing it makes PowerShell known to click's completion
from .options import INTERRUPTED, Options

WELCOME = """\
obsidian-mcp lets assistants work on your Obsidian vault, and works on it from here.

  obsidian-mcp install claude-desktop    give your vault to Claude Desktop (install --list: others)
  obsidian-mcp doctor                    check that everything works
  obsidian-mcp search "brass gear"       find notes; read, edit, links, tags ... work the same way
  obsidian-mcp --help                    every command

Without a command the program is an MCP server: it reads messages of an MCP client on standard input."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the command `obsidian-mcp`; ends the process with the status of specs/cli.md."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status. An error is one line on stderr (CLI-02)."""
    try:
        status = command.main(list(arguments), prog_name="obsidian-mcp", standalone_mode=False)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        error.show(sys.stderr)
        return error.exit_code
    except AppError as error:
        print(f"obsidian-mcp: {in_command_words(' '.join(error.message.split()))}", file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:  # the reader of our output has seen enough (`| head`)
        sys.stdout = None  # nothing is left to flush at exit
        return 0
    except Exception as error:  # a person gets one line, whatever happens
        logging.getLogger(__name__).info("this failed", exc_info=True)
        problem = f"internal error, {type(error).__name__}: {' '.join(str(error).split())}"
        print(f"obsidian-mcp: {problem}. With --verbose it says where.", file=sys.stderr)
        return InternalError.exit_status
    return status if isinstance(status, int) else 0


def in_command_words(message: str) -> str:
    """A message written for tools, with the names of tools as the commands that a person types (CLI-12)."""
    if "obsidian_" not in message:
        return message
    from obsidian_mcp.tools import TOOLS

    def command_of(name: re.Match[str]) -> str:
        command = TOOLS.commands.get(name[0])
        return name[0] if command is None else f"`obsidian-mcp {command}`"

    return re.sub(r"\bobsidian_[a-z_]+", command_of, message)


OWN: Final[Mapping[str, str]] = {
    "obsidian": "main",
    "serve": "serve_commands",
    "bridge": "serve_commands",
    "http": "serve_commands",
    "keys": "key_commands",
    "index": "index_commands",
    "semantic": "semantic_commands",
    "view": "view_commands",
    "install": "setup_commands",
    "uninstall": "setup_commands",
    "doctor": "setup_commands",
    "vaults": "setup_commands",
    "completion": "setup_commands",
    "attach": "tool_commands",
    "move": "tool_commands",
    "task": "task_commands",
}
"""The module of every command that is no tool, or not like its tool: it has a variable of the command's name."""


class Commands(click.Group):
    """The subcommands: those of this package, and one for every tool; loaded when one is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  the base class's signature
        from obsidian_mcp.tools import TOOLS

        return list(dict.fromkeys((*TOOLS.commands.values(), *OWN)))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A client that cuts the vault's path at a space gets a server that says so, instead of none (CLI-21)."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            vaults = ctx.params.get("vaults")
            if not vaults or Path(vaults[-1]).exists():
                raise
            from obsidian_mcp.compose import split_at_a_space

            advice = split_at_a_space(config.expanded(vaults[-1]).absolute())
            if not advice:
                raise
            if sys.stdin is not None and sys.stdin.isatty():
                raise click.UsageError(f"{error.message} {advice}", ctx) from None
            return "serve", self.get_command(ctx, "serve"), []

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name in OWN:
            command: click.Command = getattr(import_module(f"obsidian_mcp.cli.{OWN[cmd_name]}"), cmd_name)
            return command
        from .tool_commands import tool_command

        return tool_command(cmd_name)


class _Verbatim(click.Command):
    """A command whose words are all its own: no option of ours is read among them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.params = {"words": tuple(args)}
        return []


def _run_obsidian(words: tuple[str, ...]) -> int:
    from .headless.command import run

    return run(words, click.get_current_context().obj or Options())


obsidian = _Verbatim(
    "obsidian",
    callback=_run_obsidian,
    add_help_option=False,
    epilog="Examples:  obsidian-mcp obsidian read file=Alpha  |  obsidian-mcp obsidian help",
    help="Do what the app's own `obsidian` command does, from the files alone: obsidian read file=Note.",
)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='Examples:  obsidian-mcp --vault ~/Notes  |  obsidian-mcp read Alpha  |  obsidian-mcp search "quick fox"',
)
@click.version_option(__version__, prog_name="obsidian-mcp")
@click.option("--vault", "-V", "vaults", multiple=True, metavar="NAME|DIR", help="Vault name or folder; repeatable.")
@click.option("--read-only", is_flag=True, help="Refuse every change.")
@click.option(
    "--backend",
    type=click.Choice(get_args(config.Backend)),
    help="Who reads and writes notes: this program (files, the default), the running app through its obsidian command "
    "(cli), or the app for writing while it has the vault open (auto).",
)
@click.option("--allow-eval", is_flag=True, help="Let clients run JavaScript in the app.")
@click.option("--scope", metavar="FOLDER", help="See and change only what lies below this folder of the vault.")
@click.option("--key", metavar="NAME", help="Hold everything to the limits of this API key (see keys).")
@click.option(
    "--tools",
    metavar="PROFILE",
    help="Tools to offer: core, standard, all (the default), names, or over HTTP research.",
)
@click.option("--verbose", "-v", is_flag=True, help="Log to stderr what the server does.")
@click.pass_context
def command(ctx: click.Context, /, verbose: bool, **options: Any) -> int | None:
    """Work on Obsidian vaults: an MCP server on stdio without a COMMAND, and a tool with one."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO if verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    ctx.obj = Options(**{name: value for name, value in options.items() if value is not None})
    if ctx.invoked_subcommand is not None:
        return None
    if sys.stdin is not None and sys.stdin.isatty():
        click.echo(WELCOME)
        return 0
    from .serve_commands import serve_vaults

    return serve_vaults(ctx.obj)
