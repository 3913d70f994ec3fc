"""The command line: every tool is a subcommand, and without one the command is the stdio server
(specs/cli.md)."""

from __future__ import annotations

import atexit
import os
import re
import sys
from functools import partial
from importlib import import_module

from obsidian_mcp import TYPE_CHECKING, logger
from obsidian_mcp.errors import AppError, InternalError, InvalidArguments

from . import grammar
from .grammar import HELP, Subcommand
from .options import INTERRUPTED, Options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Final, NoReturn

    from obsidian_mcp.app import App
    from obsidian_mcp.serve.stdio.sdk import SdkServer

VERBATIM: Final = "obsidian"
"""The command whose words are all its own: no option of ours is read among them."""
HOOK: Final = "hook"
"""The command that a coding agent runs, whose session no mistake may hold up (MEM-50)."""
SERVERS: Final = ((), ("serve",), ("bridge",))
"""The words of the servers that a client starts."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command line, and end the process with the exit status of specs/cli.md.

    The process ends through `os._exit`, without Python's own shutdown. That shutdown would stop a
    background thread in the middle of compiled code, and some of it, such as pydantic's, then
    aborts the process (END-09). Threads that must finish have been joined before.
    """
    status = InternalError.exit_status
    atexit.register(lambda: _end_process(status))  # before any other, so that it is called last
    status = run_command_line(sys.argv[1:] if arguments is None else arguments)
    sys.exit(status)


def _end_process(status: int) -> NoReturn:
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # its reader has gone, or it is closed
                stream.flush()
    os._exit(status)


def run_command_line(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status. An error is one line on stderr (CLI-02)."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except AppError as error:
        print(
            f"obsidian-mcp: {translate_tool_names(' '.join(error.message.split()))}",
            file=sys.stderr,
        )
        return error.exit_status
    except BrokenPipeError:  # the reader of our output has seen enough (`| head`)
        sys.stdout = None  # nothing is left to flush at exit
        return 0
    except Exception as error:  # a person gets one line, whatever happens
        log = logger(__name__)
        log.info("this failed", exc_info=True)
        problem = f"internal error, {type(error).__name__}: {' '.join(str(error).split())}"
        print(f"obsidian-mcp: {problem}. With --verbose it says where.", file=sys.stderr)
        return InternalError.exit_status


def _run(arguments: Sequence[str]) -> int:
    program = grammar.root()
    reading = grammar.scan(program, arguments, stops=True)
    if tuple(reading.rest or reading.placed) in SERVERS or reading.rest[:1] == (HOOK,):
        reading = _without_empty_path(reading)
    typed = grammar.values(program, reading)
    if typed.pop(HELP.name, False):
        return _show_help(program)
    if typed.pop("version", False):
        from obsidian_mcp import __version__

        return _show(f"obsidian-mcp, version {__version__}\n")
    is_verbose = typed.pop("verbose", False)
    options = Options(tuple(typed.pop("vault", ())), **typed)
    words: Sequence[str] = reading.rest or reading.placed
    if not words and sys.stdin is not None and sys.stdin.isatty():
        from pathlib import Path  # takes 5 ms

        return _show(Path(__file__).with_name("welcome.txt").read_text(encoding="utf-8"))
    if words and words[0] != VERBATIM:
        words = _without_rest_of_path(words, options)
    if not words or tuple(words) == ("serve",):
        return serve(options, partial(_log, is_verbose=is_verbose))
    if is_verbose or words[0] in ("bridge", "http", "ui"):
        _log(is_verbose=is_verbose)
    if words[0] == VERBATIM:
        from .headless.command import run_drop_in as run_obsidian

        return run_obsidian(words[1:], options)
    return _run_command(options, words)


def serve(options: Options, start_log: Callable[[], None] = lambda: None) -> int:
    """Serve the vaults on stdio, or a plugin's tools; return the exit status. `start_log` is called
    when the first messages are answered. Raises: InvalidArguments, PolicyInvalid."""
    settings = options.config()
    if settings.bridge or settings.key:
        from obsidian_mcp import compose, policies

        settings = policies.limit_to_key(settings)
    if settings.tools != "all":
        from obsidian_mcp.tools.offer import Offer

        Offer(settings)  # a profile without tools is refused before the first message is read
    if settings.bridge:
        return compose.serve_plugin(settings, start_log)
    from obsidian_mcp.serve import stdio
    from obsidian_mcp.serve.vault_dispatcher import VaultDispatcher

    def open_app() -> App:
        from obsidian_mcp import compose

        app = compose.build(settings, serving=True)
        # a key is somebody's who may not see all
        return app if settings.key else app.replace(open_console=_open_console)

    def load() -> SdkServer:
        from obsidian_mcp.serve.mcp.server import build_sdk_server

        return build_sdk_server(dispatcher.app)

    dispatcher = VaultDispatcher(settings, open_app)
    return stdio.serve_stdio(load, dispatcher, prepare=lambda _: start_log())


def _open_console(app: App) -> str:
    from .console_commands import open_beside

    return open_beside(app)


def _without_empty_path(reading: grammar.Reading) -> grammar.Reading:
    """Return the reading with a blank in place of each empty vault path.

    An empty path is an error for a person, but must not end a server: with a blank the server
    starts, and tells the client what is wrong (CLI-21).
    """
    waits = reading.waiting is not None and reading.waiting.name == "vault"
    named = [*reading.options.get("vault", ()), *([""] if waits else ())]
    options = reading.options | ({"vault": [path or " " for path in named]} if named else {})
    return grammar.Reading(
        options, reading.placed, None if waits else reading.waiting, reading.rest
    )


def _without_rest_of_path(words: Sequence[str], options: Options) -> Sequence[str]:
    """Return the words, or none if they are the second half of a vault path cut at a space.

    Without words the server starts, and tells the client about the path (CLI-21). Raises:
    InvalidArguments for a person at a terminal, and for words that are no command.
    """
    from .command_table import find_command, group_titles  # a server has no words at its start

    if words[0] in group_titles():
        return words
    try:
        find_command(words)
    except InvalidArguments as error:
        from obsidian_mcp.config import expand_home
        from obsidian_mcp.vault_paths import explain_split

        cut = expand_home(options.vaults[-1]) if options.vaults else None
        if cut is None or cut.exists() or not (advice := explain_split(cut.absolute())):
            raise
        if sys.stdin is not None and sys.stdin.isatty():
            raise InvalidArguments(f"{error.message} {advice}") from None
        return ()
    return words


def _run_command(options: Options, words: Sequence[str]) -> int:
    from .command_table import find_command, group_titles, listing_command

    if words[0] in group_titles() and (not words[1:] or words[1] in ("-h", "--help")):
        from .help import group_help

        if words[1:]:
            return _show(group_help(words[0]))
        if listing_command(words) is None:
            sys.stderr.write(group_help(words[0]))
            return InvalidArguments.exit_status
    command, remaining = find_command(words)
    reading = grammar.scan(command, remaining)
    if reading.options.get(HELP.name):
        return _show_help(command)
    module, _, function = (command.run or "tool_commands.run_tool_command").rpartition(".")
    execute: Any = getattr(import_module(f"obsidian_mcp.cli.{module}"), function)
    typed = grammar.values(command, reading)
    try:
        status = execute(options, command, typed) if command.tool else execute(options, **typed)
    except AppError as error:
        from .typed_names import name_arguments_as_typed

        error.message = name_arguments_as_typed(error.message, command)
        raise
    return status or 0


def _show_help(command: Subcommand) -> int:
    from .help import command_help

    return _show(command_help(command))


def _show(text: str) -> int:
    from .stdout import write

    write(text)
    return 0


def _log(*, is_verbose: bool) -> None:
    import logging

    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO if is_verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )


def translate_tool_names(message: str) -> str:
    """Return a message with the names of tools replaced by the commands to type (CLI-12)."""
    if "obsidian_" not in message:
        return message
    from obsidian_mcp.tools.offer import table

    def command_of(name: re.Match[str]) -> str:
        entry = table().tools.get(name[0])
        return f"`obsidian-mcp {entry.command}`" if entry and entry.command else name[0]

    return re.sub(r"\bobsidian_[a-z_]+", command_of, message)
