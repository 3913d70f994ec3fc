"""The app on this computer: whether it runs, which vaults it has registered (`obsidian.json`,
semantics 6.1) and open, and the command that reaches one of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.files.settings import RegisteredVault, parse_registry
from obsidian_mcp.environment import DROP_IN
from obsidian_mcp.errors import AppCommandFailed, AppError, ObsidianNotRunning

if TYPE_CHECKING:
    from .app_process import AppProcess
    from .obsidian_cli import ObsidianCommand
    from .obsidian_program import ObsidianProgram, ProgramResult

PRESENT_SECONDS = 5.0
"""How long `is_there` keeps its answer: every list of tools calls it."""
SAME_FILES = 0.9
"""Share of the app's files that must exist here for two folders to be the same vault (CMD-11)."""


class AppAccess:
    """Access to the running app and its command. Thread-safe; slow imports wait for the first use
    (CLI-20)."""

    def __init__(
        self,
        program: str,
        environment: Mapping[str, str],
        app_folders: tuple[Path, ...],
        *,
        assume_running: bool,
        timeout: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`program` is the `obsidian` command, "" to search for it; `timeout` in seconds is for one
        operation."""
        self._program = program
        self._environment = environment
        self._app_folders = app_folders
        self._assume_running = assume_running
        self._timeout = timeout
        self._clock = clock
        self._lock = threading.RLock()
        self._process: AppProcess | None = None
        self._present = (float("-inf"), False)
        self._commands: dict[Path, ObsidianCommand] = {}

    def is_running(self) -> bool:
        """Return whether the app runs, or is configured to count as running."""
        if self._assume_running:
            return True
        from .app_process import AppProcess  # psutil takes 20 ms to import

        with self._lock:
            if self._process is None:
                self._process = AppProcess()
            return self._process.is_running()

    def is_there(self) -> bool:
        """Return whether the app or its command is on this computer; the answer is kept for
        PRESENT_SECONDS."""
        then, present = self._present
        if self._clock() - then > PRESENT_SECONDS:
            try:
                self._find_program()
                present = True
            except ObsidianNotRunning:
                present = False
            # a configured program that is missing: the tool says so when it is called
            except AppError:
                present = not self._assume_running and self.is_running()
            self._present = (self._clock(), present)
        return present

    def has_open(self, folder: Path) -> bool:
        """Return whether the app runs and has the vault in this folder open.

        Where the app is configured to count as running, because it is in another container, a vault
        that is not registered here counts as open.
        """
        if not self.is_running():
            return False
        row = find_registered(folder, self._app_folders)
        return row.open if row is not None else self._assume_running

    def command(self, folder: Path) -> ObsidianCommand:
        """Return the command for the vault in this folder. Raises: AppCommandFailed if the program
        is missing, ObsidianNotRunning if the app does not run either."""
        with self._lock:
            if folder not in self._commands:
                from .obsidian_cli import ObsidianCommand

                program = self._find_program()
                row = find_registered(folder, self._app_folders)
                # two vaults may have one name, none have one id
                vault = folder.name if row is None else row.id
                self._commands[folder] = ObsidianCommand(
                    program,
                    vault,
                    self._timeout,
                    running=self.is_running,
                    same_folder=partial(is_same_vault, folder),
                )
            return self._commands[folder]

    def run_official_program(self, folder: Path, words: Sequence[str]) -> ProgramResult:
        """Run the official program on the vault in this folder. Raises: ObsidianNotRunning, also
        where the app does not know the vault; AppCommandFailed where the program is missing;
        OperationTimeout."""
        row = find_registered(folder, self._app_folders)
        if row is None or not self.is_running():
            raise ObsidianNotRunning
        program = self._find_program()
        marked = program._replace(environment={**program.environment, DROP_IN: "1"})
        return marked.run_program([f"vault={row.id}", *words], self._timeout)

    def _find_program(self) -> ObsidianProgram:
        """Return the official program. Raises: AppCommandFailed, ObsidianNotRunning."""
        from .obsidian_program import INSTALL_HINT, ObsidianProgram, find_program, this_environment

        environment = this_environment(self._environment)
        program = find_program(self._program, environment)
        if program is not None:
            return ObsidianProgram(program, environment)
        if not self.is_running():
            raise ObsidianNotRunning
        raise AppCommandFailed(f"The obsidian command is not on this computer. {INSTALL_HINT}")


def is_same_vault(folder: Path, path: str, files: Callable[[], Sequence[str]]) -> bool:
    """Return whether the vault that the app has at `path` is the one at `folder` (CMD-11).

    A path that does not exist here belongs to another computer, as seen from a container. For such
    a path, and for an empty one, the vaults are the same if SAME_FILES of the app's files exist
    here.
    """
    if path and Path(path).exists():
        return is_same_folder(path, folder)
    names = files()
    here = sum((folder / name).is_file() for name in names)
    return bool(names) and here >= SAME_FILES * len(names)


def registries(app_folders: Iterable[Path]) -> Iterator[tuple[RegisteredVault, ...]]:
    """Yield the vaults of every registry that can be read, in the order of the file."""
    for folder in app_folders:
        try:
            text = (folder / "obsidian.json").read_text(encoding="utf-8")
        except (OSError, ValueError):
            continue
        yield parse_registry(text)


def registered_vaults(app_folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders of the vaults that exist, open ones first, then the last used; empty
    without the app."""
    for vaults in registries(app_folders):
        rows = sorted(vaults, key=lambda row: (not row.open, -row.opened))
        if folders := tuple(path for row in rows if (path := Path(row.path)).is_dir()):
            return folders
    return ()


def find_registered(folder: Path, app_folders: Iterable[Path]) -> RegisteredVault | None:
    """Return what the app has registered about the vault in this folder, None if it does not know
    the vault."""
    return next(
        (
            row
            for vaults in registries(app_folders)
            for row in vaults
            if is_same_folder(row.path, folder)
        ),
        None,
    )


def is_same_folder(path: str, folder: Path) -> bool:
    """Return whether the path in the registry leads to this folder."""
    try:
        return folder.samefile(path)
    except OSError:
        return False
