"""Is the Obsidian app running? The process list, judged by a pure function
(specs/obsidian-command.md, APP rules)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence

import psutil

from . import processes

_CANDIDATE = re.compile(r"obsid|electron", re.IGNORECASE)
"""Names worth a closer look; the path and arguments of every other process are never read."""

# Where the packages put the program. Another program called `obsidian` lives elsewhere and has no
# Electron children.
_LINUX_PLACE = re.compile(
    r"(?i)^(/opt/obsidian|/snap/obsidian/[^/]+|/app|/usr/(lib|share)/obsidian"
    r"|.*/md\.obsidian\.obsidian/.*|.*/\.mount_obsid[^/]*|.*/squashfs-root"
    r"|/nix/store/[^/]*obsidian[^/]*/.*)/obsidian$"
)
_WINDOWS_PLACE = re.compile(
    r"(?i)\\(programs|program files|program files \(x86\)|apps)\\obsidian(\\[^\\]+)?\\[^\\]+$"
)
_MAC_PROGRAM = re.compile(
    r"/Obsidian[^/]*\.app/Contents/(MacOS/Obsidian|Frameworks/.*/Obsidian Helper[^/]*)$"
)
_ASAR = re.compile(r"(?i)[/\\]obsidian[/\\](resources[/\\])?(app|obsidian)\.asar$")
"""What a packager's launcher gives to the system's Electron (Arch, Nix)."""


def is_app(name: str, exe: str, cmdline: Sequence[str], platform: str) -> bool:
    """Whether this process shows that the app is running on `platform` (of `sys.platform`).

    `exe` and `cmdline` are empty if the system does not report them. True for the app itself and
    for its Electron helpers; false for this program, for the `obsidian` command-line program, for
    the app's own binary while it only carries a command, and for any other program of that name.
    """
    program = exe or next(iter(cmdline), "").partition(" --")[0]
    program = program.removesuffix(" (deleted)")  # the file was replaced by an update (Linux)
    arguments = cmdline[1:]
    if platform == "darwin":
        if not program:
            return name == "Obsidian"
        return bool(_MAC_PROGRAM.search(program)) and (
            _is_child(arguments) or not _is_command(arguments)
        )
    if platform == "win32":
        if not program:  # an elevated app hides everything but its name
            return name.lower() == "obsidian.exe"
        if program.rpartition("\\")[2].lower() != "obsidian.exe":
            return False
        return _is_child(arguments) or (
            bool(_WINDOWS_PLACE.search(program)) and not _is_command(arguments)
        )
    leaf = program.rpartition("/")[2]
    if leaf.startswith((".electron", "electron")):
        return any(_ASAR.search(argument) for argument in arguments) and not _is_command(arguments)
    if leaf != "obsidian" or not cmdline:  # without a command line it is a zombie
        return False
    return _is_child(cmdline) or (bool(_LINUX_PLACE.match(program)) and not _is_command(arguments))


def _is_child(arguments: Iterable[str]) -> bool:
    """An Electron helper: `--type=renderer` and its like (some rewrite their arguments into one
    string)."""
    return any(argument.startswith("--type=") or " --type=" in argument for argument in arguments)


def _is_command(arguments: Iterable[str]) -> bool:
    """Arguments of a command call (`vault=Notes read path=a.md`) and not of a start of the app."""
    return any(
        word and not word.startswith(("-", "obsidian://")) and not word.endswith(".asar")
        for word in arguments
    )


class AppProcess:
    """Finds the app in the process list. A process once found is only checked for being alive."""

    def __init__(
        self,
        platform: str = sys.platform,
        listed: Callable[[], Iterable[psutil.Process]] = processes.processes,
    ) -> None:
        self._platform = platform
        self._listed = listed
        self._known: psutil.Process | None = None

    def is_running(self) -> bool:
        """Whether the app is running now."""
        if self._known is None or not processes.is_alive(self._known):
            self._known = next(
                (process for process in self._listed() if self._shows_app(process)), None
            )
        return self._known is not None

    def _shows_app(self, process: psutil.Process) -> bool:
        name = processes.ask_psutil(process.name, "")
        if not _CANDIDATE.search(name):
            return False
        cmdline: list[str] = processes.ask_psutil(process.cmdline, [])
        shown = is_app(name, processes.ask_psutil(process.exe, ""), cmdline, self._platform)
        # what has gone meanwhile has no command line either
        return shown and processes.is_alive(process)
