"""What setup and the command line use of this computer, beside vaults: the app, other programs,
files, the terminal.

With `compose`, which wires the servers, and `vault_builder`, which opens vaults, this is the place
where adapters are named. Each is imported when it is asked for: help, errors and a command about
one file wait for none.
"""

from __future__ import annotations

from obsidian_mcp import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from obsidian_mcp.adapters.watcher import Watcher
    from obsidian_mcp.core.files.ports import Files
    from obsidian_mcp.core.files.settings import RegisteredVault

APP_SECONDS = 10.0
"""How long the app's command may take to say its version."""


# The app


def registries(app_folders: Iterable[Path]) -> Iterator[tuple[RegisteredVault, ...]]:
    """Yield the vaults of every registry of the app that can be read, in the order of its file."""
    from obsidian_mcp.adapters import app_access

    return app_access.registries(app_folders)


def registered_vaults(app_folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders of the vaults that exist, open ones first, then the last used; empty
    without the app."""
    from obsidian_mcp.adapters import app_access

    return app_access.registered_vaults(app_folders)


def is_app_running(platform: str) -> bool:
    """Return whether the app runs."""
    from obsidian_mcp.adapters.app_process import AppProcess

    return AppProcess(platform).is_running()


def find_app_command(
    environment: Mapping[str, str], platform: str, named: str | None = None
) -> tuple[str, ...] | None:
    """Return what starts the app's own command, with `named` that program; None where it is not
    installed. Raises: AppCommandFailed for a named program that is not there."""
    from obsidian_mcp.adapters.obsidian_program import find_program, this_environment

    return find_program(named, this_environment(environment), platform=platform)


def app_version(command: tuple[str, ...], environment: Mapping[str, str]) -> str:
    """Return the version that the app's command says. Raises: AppError."""
    from obsidian_mcp.adapters.obsidian_cli import ObsidianCommand
    from obsidian_mcp.adapters.obsidian_program import ObsidianProgram, this_environment

    program = ObsidianProgram(command, this_environment(environment))
    return ObsidianCommand(program, timeout=APP_SECONDS).version()


# The web


def find_addresses(host: str, port: int) -> list[str]:
    """Return the network addresses of a host, IPv4 first; none for a name that leads nowhere."""
    from obsidian_mcp.adapters import web_probe

    return web_probe.find_addresses(host, port)


def find_tls_fault(host: str, port: int) -> str:
    """Return what is wrong with the certificate of a server, in words; empty where nothing is."""
    from obsidian_mcp.adapters import web_probe

    return web_probe.find_tls_fault(host, port)


def send_request(
    method: str, url: str, headers: Mapping[str, str], body: bytes = b""
) -> tuple[int, dict[str, str], bytes] | str:
    """Return status, headers and body of the answer to one request, or why there is none."""
    from obsidian_mcp.adapters import web_probe

    return web_probe.send_request(method, url, headers, body)


# Other programs


def running_programs() -> Iterator[str]:
    """Yield the path of each program that runs, as far as the system tells."""
    from obsidian_mcp.adapters import processes

    return (processes.ask_psutil(process.exe, "") for process in processes.processes())


def kill_with_descendants(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads a session of its own, its group and its descendants."""
    from obsidian_mcp.adapters.obsidian_program import kill_all

    kill_all(process)


# Files


def files_of(folder: Path) -> Files:
    """Return what writes files below a folder, each in one step."""
    from obsidian_mcp.adapters.disk import Disk

    return Disk(folder)


def remove_file(file: Path) -> None:
    """Remove a file, or a link and not what it leads to.

    Windows refuses it while another program has the file open; it is tried again for a moment then
    (FILE-11). Raises: OSError.
    """
    from obsidian_mcp.adapters.place import patiently

    patiently(file.unlink)


def watch(folder: Path, report: Callable[[], None]) -> Watcher:
    """Return what reports changes below a folder, not started yet."""
    from obsidian_mcp.adapters.watcher import Watcher

    return Watcher(folder, report)


def remote_filesystem(path: str) -> str:
    """Return the type of the file system that holds a path, where the system does not report
    changes of other computers on it; empty for any other."""
    from obsidian_mcp.adapters.filesystems import REMOTE, filesystem_of

    kind = filesystem_of(path)
    return kind if kind in REMOTE else ""


# Models


def missing_packages() -> Sequence[str]:
    """Return which packages of the extra `semantic` are not installed; none is imported."""
    from obsidian_mcp.adapters import embedding_model

    return embedding_model.missing_packages()


def missing_media_packages() -> Sequence[str]:
    """Return which packages of the extra `media` are not installed; none is imported."""
    from importlib.util import find_spec

    packages = {"pypdfium2": "pypdfium2", "PIL": "Pillow"}
    return [name for module, name in packages.items() if find_spec(module) is None]


def check_packages() -> None:
    """Raises: SemanticUnavailable where one of them is missing."""
    from obsidian_mcp.adapters import embedding_model

    embedding_model.check_packages()


def download_model(model: str, folder: Path) -> None:
    """Download a model for search by meaning, with progress on the terminal.

    Raises: SemanticUnavailable.
    """
    from obsidian_mcp.adapters import model_download

    model_download.download_model(model, folder)


# The terminal


def copy_to_clipboard(text: str) -> bool:
    """Put a text on the clipboard; return False where there is none."""
    from obsidian_mcp.adapters import terminal

    return terminal.copy(text)


def obeys_colours() -> bool:
    """Return whether the terminal obeys the sequences of colours."""
    from obsidian_mcp.adapters import terminal

    return terminal.obeys_colours()
