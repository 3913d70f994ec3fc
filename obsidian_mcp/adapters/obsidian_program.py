"""The `obsidian` program: where it is, what it needs around it, one bounded run
(specs/obsidian-command.md, PROG)."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PureWindowsPath
from typing import IO, NamedTuple

from obsidian_mcp.errors import AppCommandFailed, AppError, OperationTimeout, PermissionDenied

_FLATPAK = "md.obsidian.Obsidian"
_SOCKET = ".obsidian-cli.sock"
_OWN_NAME = "obsidian-mcp"
"""What a link to this program under the name `obsidian` leads to; it is not the app's command
(PROG-01)."""
_CREATION_FLAGS = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(
    subprocess, "CREATE_NO_WINDOW", 0
)
"""On Windows a group of its own, which the kill reaches, and no console window that flashes up."""
_END_SECONDS = 2.0
"""How long a killed program is waited for."""

INSTALL_HINT = (
    "In Obsidian 1.12 or later turn on Settings > General > Command line interface, which "
    "registers the command, or name the program in OBSIDIAN_MCP_CLI."
)


class ProgramResult(NamedTuple):
    """Output and exit status of a finished run."""

    stdout: bytes
    stderr: bytes
    status: int
    """Exit status; negative for a signal (POSIX)."""


class ObsidianProgram(NamedTuple):
    """The command that starts the program, and the environment that it gets."""

    command: tuple[str, ...]
    environment: Mapping[str, str]

    def run_program(self, arguments: Sequence[str], timeout: float) -> ProgramResult:
        """Run once with a closed stdin, for at most `timeout` seconds. Raises: OperationTimeout
        after all that was started was killed, AppCommandFailed where there is no such program,
        PermissionDenied."""
        command = [*self.command, *arguments]
        environment = flatpak_socket(self.environment)
        try:
            # a list, never a shell: no text is read as syntax
            process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
                creationflags=_CREATION_FLAGS,
            )
        except OSError as error:
            raise _not_started(self.command[0], error) from error
        outputs = [_Output(pipe) for pipe in (process.stdout, process.stderr) if pipe is not None]
        end = time.monotonic() + timeout
        try:
            process.wait(timeout)
            for output in outputs:
                output.join(max(end - time.monotonic(), 0))
            if any(output.is_alive() for output in outputs):
                raise subprocess.TimeoutExpired(command, timeout)
        except BaseException as error:
            kill_all(process)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_END_SECONDS)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise OperationTimeout(
                f"The obsidian command did not answer within {timeout:g} seconds and was stopped. "
                "Obsidian may be busy or may be waiting for an answer in one of its windows; if "
                "this was a change, look whether it was made before trying again."
            ) from error
        return ProgramResult(outputs[0].data, outputs[1].data, process.returncode)


class _Output(threading.Thread):
    """Reads a pipe to its end and closes it there. Nobody else does: on Windows, closing it waits
    for its reader, for as long as any program keeps the other end open."""

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(name="obsidian-output", daemon=True)
        self._pipe = pipe
        self.data = b""
        """All that came; complete when the thread has ended."""
        self.start()

    def run(self) -> None:
        with self._pipe:
            self.data = self._pipe.read()


def _not_started(program: str, error: OSError) -> AppError:
    if isinstance(error, PermissionError):
        return PermissionDenied(
            f"The system does not let us start '{program}'. Make it executable, or allow it in the "
            "sandbox that this server runs in.",
            program=program,
        )
    return AppCommandFailed(
        f"The obsidian command '{program}' cannot be started ({error.strerror}). {INSTALL_HINT}",
        program=program,
    )


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads a session of its own, its group and its descendants."""
    from .processes import descendants_of, kill  # here: only a run that hangs needs psutil

    # before anything dies: orphans are no longer found below their parent
    descendants = descendants_of(process.pid)
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            # the leader of a session of its own: its pid is the group's id
            os.killpg(process.pid, signal.SIGKILL)
    for descendant in descendants:
        kill(descendant)
    process.kill()


def complete_environment(
    environment: Mapping[str, str],
    *,
    platform: str,
    home: str,
    user: str,
    runtime_folder: str | None = None,
    temporary_folder: str | None = None,
) -> dict[str, str]:
    """Return the environment with what the program needs to find the app's socket (PROG-02).

    Clients with windows strip it. What is already set stays as it is. A client built on Electron
    may pass ELECTRON_RUN_AS_NODE on, which would make the app's binary a JavaScript interpreter: it
    is left out.
    """
    if platform == "win32":
        needed = {"USERPROFILE": home, "USERNAME": user}
        if home:
            needed |= {
                "APPDATA": rf"{home}\AppData\Roaming",
                "LOCALAPPDATA": rf"{home}\AppData\Local",
            }
    else:
        needed = {"HOME": home, "USER": user, "LOGNAME": user}
    values = {**needed, "XDG_RUNTIME_DIR": runtime_folder, "TMPDIR": temporary_folder}
    missing = {
        name: value
        for name, value in values.items()
        if value and not environment.get(name, "").strip()
    }
    inherited = {
        name: value for name, value in environment.items() if name != "ELECTRON_RUN_AS_NODE"
    }
    return inherited | missing


def this_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return `complete_environment` with the facts of this account and system."""
    complete = partial(complete_environment, environment, platform=sys.platform)
    if sys.platform == "win32":
        home = ""
        with contextlib.suppress(RuntimeError):  # the client has stripped USERPROFILE
            home = str(Path.home())
        return complete(home=home, user=os.getlogin())
    import pwd

    account, runtime = pwd.getpwuid(os.getuid()), Path(f"/run/user/{os.getuid()}")
    return complete(
        home=account.pw_dir,
        user=account.pw_name,
        runtime_folder=str(runtime) if runtime.is_dir() else None,
        temporary_folder=os.confstr("CS_DARWIN_USER_TEMP_DIR")
        if sys.platform == "darwin"
        else None,
    )


def flatpak_socket(environment: Mapping[str, str]) -> dict[str, str]:
    """Point the program at the socket that a Flatpak app hides in its own runtime folder
    (PROG-03)."""
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    hidden = Path(runtime, ".flatpak", _FLATPAK, "xdg-run")
    if runtime and not Path(runtime, _SOCKET).exists() and Path(hidden, _SOCKET).exists():
        return {**environment, "XDG_RUNTIME_DIR": str(hidden)}
    return dict(environment)


# Finding it


def find_program(
    configured: str | None,
    environment: Mapping[str, str],
    *,
    platform: str = sys.platform,
    is_program: Callable[[str], bool] = lambda path: (
        Path(path).is_file() and os.access(path, os.X_OK)
    ),
    real_path: Callable[[str], str] = os.path.realpath,
) -> tuple[str, ...] | None:
    """Return the command that starts the `obsidian` program, None where there is none (PROG-01).

    `configured` is the value of OBSIDIAN_MCP_CLI: a path, a name on PATH, or a whole command, such
    as `flatpak run md.obsidian.Obsidian`. Raises: AppCommandFailed when it names no program that
    can be used.
    """

    def is_ours(path: str) -> bool:
        return PureWindowsPath(real_path(path)).name == _OWN_NAME

    if configured and configured.strip():
        return _split_command(configured.strip(), environment, platform, is_program, is_ours)
    for candidate in _candidates(platform, environment):
        if is_program(candidate) and not is_ours(candidate):
            # `obsidian` on PATH may be the app itself, which opens a window and answers nothing;
            # its folder then holds the command-line program.
            twin = real_path(candidate).rpartition("/")[0] + "/obsidian-cli"
            has_twin = platform != "win32" and real_path(candidate) != twin and is_program(twin)
            return (twin if has_twin else candidate,)
    return None


def _split_command(
    configured: str,
    environment: Mapping[str, str],
    platform: str,
    is_program: Callable[[str], bool],
    is_ours: Callable[[str], bool],
) -> tuple[str, ...]:
    words = [configured]
    if not is_program(configured) and any(character.isspace() for character in configured):
        import shlex  # most computers have no such setting

        # else a backslash of a path would be an escape
        words = shlex.split(configured, posix=platform != "win32")
        words = [word.strip('"') for word in words] if platform == "win32" else words
    program = words[0] if words else configured
    if not any(separator in program for separator in "/\\"):
        there = (path for path in _on_path(program, platform, environment) if is_program(path))
        program = next((path for path in there if not is_ours(path)), program)
    if platform == "win32":
        if (
            program.lower().endswith(".exe")
            and PureWindowsPath(program).name.lower() == "obsidian.exe"
        ):
            # the .exe detaches from its output: every answer would be empty
            program = program[:-4] + ".com"
        if program.lower().endswith((".bat", ".cmd")):
            raise AppCommandFailed(
                f"OBSIDIAN_MCP_CLI names the batch file '{program}'. Windows would read the text "
                "of notes as commands there: name Obsidian.com, which lies beside Obsidian.exe.",
                program=program,
            )
    if is_ours(program):
        raise AppCommandFailed(
            f"OBSIDIAN_MCP_CLI names '{configured}', which is a link to this program. Name the "
            "app's obsidian command.",
            program=program,
        )
    if not is_program(program):
        raise AppCommandFailed(
            f"OBSIDIAN_MCP_CLI names '{configured}', and there is no such program. Give the full "
            "path of the obsidian command.",
            program=configured,
        )
    return (program, *words[1:])


def _candidates(platform: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield where the command may be, best first: what the app registers itself, then PATH, then
    the app's own folder."""
    if platform == "win32":
        yield from _on_path("Obsidian.com", platform, environment)
        for variable, below in (
            ("LOCALAPPDATA", r"Programs\Obsidian"),
            ("ProgramFiles", "Obsidian"),
        ):
            if folder := environment.get(variable):
                yield rf"{folder}\{below}\Obsidian.com"
        return
    home = environment.get("HOME", "").rstrip("/")
    if platform == "darwin":
        yield "/usr/local/bin/obsidian"
        yield from _on_path("obsidian", platform, environment)
        for folder in ("/Applications", f"{home}/Applications"):
            yield f"{folder}/Obsidian.app/Contents/MacOS/obsidian-cli"
        return
    yield f"{home}/.local/bin/obsidian"
    yield from _on_path("obsidian", platform, environment)
    yield "/opt/Obsidian/obsidian-cli"
    yield f"/var/lib/flatpak/exports/bin/{_FLATPAK}"
    yield f"{home}/.local/share/flatpak/exports/bin/{_FLATPAK}"


def _on_path(name: str, platform: str, environment: Mapping[str, str]) -> Iterator[str]:
    divider, separator = (";", "\\") if platform == "win32" else (":", "/")
    folders = next(
        (value for variable, value in environment.items() if variable.upper() == "PATH"), ""
    )
    for folder in folders.split(divider):
        if folder:
            yield folder.rstrip(separator) + separator + name
