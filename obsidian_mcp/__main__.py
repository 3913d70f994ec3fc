"""`python -m obsidian_mcp` and the command `obsidian-mcp`."""

from __future__ import annotations

import gc
import os
import sys

from obsidian_mcp import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SERVERS = ("serve", "bridge", "http")
"""Commands that end when their clients do."""
HELP = ("--help", "-h", "--version")
COLLECT_OBJECTS = {True: 10_000, False: 200_000}
"""New objects after which Python looks for garbage, in a server and in a short command: a table of
10 000 notes makes 60 000, nearly none of it garbage, and what a vault's list of files makes
stays."""


def speak_utf8() -> None:
    """Read names of files and write text in UTF-8, as the app does, whatever the system's habits
    (CLI-03)."""
    if sys.getfilesystemencoding() != "utf-8" and os.environ.get("PYTHONUTF8") != "1":
        os.environ["PYTHONUTF8"] = "1"  # how names are read is settled when Python starts
        # this program itself, with the arguments that it was started with
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and stream.encoding.lower() != "utf-8":  # Windows, in a pipe
            stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # Python's own


def run_command(arguments: Sequence[str]) -> int:
    """Run a command that ends by itself; return its exit status."""
    if arguments[0] == "obsidian":
        from obsidian_mcp.cli.headless.command import main as run

        arguments = arguments[1:]
    else:
        from obsidian_mcp.cli.main import run_command_line as run
    status = run(arguments)
    # at its end Python looks through all objects twice, which takes a tenth of a search
    gc.freeze()
    return status


def main() -> None:
    """Run the command line; a server answers its first messages before the rest of the program is
    loaded."""
    speak_utf8()
    arguments = sys.argv[1:]
    # loading pathlib takes 10 ms
    if os.path.basename(sys.argv[0]).lower().removesuffix(".exe") == "obsidian":  # noqa: PTH119
        arguments = ["obsidian", *arguments]  # the link of `install obsidian-command`
    if "_OBSIDIAN_MCP_COMPLETE" in os.environ:
        from obsidian_mcp.cli.completion import print_completions

        sys.exit(print_completions(os.environ))
    first = arguments[0] if arguments else "serve"
    is_server = first in SERVERS or (first.startswith("-") and first not in HELP)
    gc.set_threshold(COLLECT_OBJECTS[is_server])
    if not is_server:
        sys.exit(run_command(arguments))
    gc.disable()  # imports make no garbage worth looking for; enabled when the vault is open
    from obsidian_mcp.cli.main import main as command

    command(arguments)


if __name__ == "__main__":
    main()
