"""What the system can do on which the tests run, found by trying it, and how its processes are started and ended."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from obsidian_mcp.adapters import processes
from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.renames import exchange

LATE_SECONDS = 10_413_792_000
"""2300-01-01, in seconds since the epoch."""


def _links(folder: Path) -> bool:
    (folder / "link").symlink_to(folder)
    return (folder / "link").is_symlink()


def _has_modes(folder: Path) -> bool:
    folder.chmod(0o750)
    return stat.S_IMODE(folder.stat().st_mode) == 0o750


def _binds_us(folder: Path) -> bool:
    folder.chmod(0o500)
    try:
        (folder / "file").touch()
    except PermissionError:
        return True
    finally:
        folder.chmod(0o700)
    return False


def _names(name: str) -> Callable[[Path], bool]:
    def can(folder: Path) -> bool:
        (folder / name).write_bytes(b"")
        return name in os.listdir(folder)  # noqa: PTH208

    return can


def _tells_normal_forms(folder: Path) -> bool:
    (folder / "\u00fc").touch()
    return not (folder / "u\u0308").exists()


def _takes_bytes(folder: Path) -> bool:
    """Whether a name may be any bytes. On Windows, where names are texts, these are none."""
    return _names(os.fsdecode(b"a\xff"))(folder)


def _tells_case(folder: Path) -> bool:
    (folder / "a").touch()
    return not (folder / "A").exists()


def _removes_open_files(folder: Path) -> bool:
    with (folder / "open").open("wb"):
        (folder / "open").unlink()
    return True


def _moves_open_folders(folder: Path) -> bool:
    (folder / "a").mkdir()
    with (folder / "a" / "file").open("wb"):
        (folder / "a").rename(folder / "b")
    return True


def _swaps_files(folder: Path) -> bool:
    """Whether the disk swaps two files in one step."""
    for name in ("one", "other"):
        (folder / name).write_bytes(name.encode())
    with Disk(folder).place("one") as place:
        return exchange(place, "other")


def _knows_late_times(folder: Path) -> bool:
    """Whether a file may be dated after 2262, which is more than 64 bits of nanoseconds hold."""
    (folder / "file").touch()
    os.utime(folder / "file", (LATE_SECONDS, LATE_SECONDS))
    return (folder / "file").stat().st_mtime == LATE_SECONDS


def _is_sparse(folder: Path) -> bool:
    """Whether a file is made long at once. Windows, which tells no blocks, reserves room but writes nothing."""
    with (folder / "file").open("wb") as file:
        file.truncate(1 << 24)
    return int(getattr((folder / "file").stat(), "st_blocks", 0)) * 512 < 1 << 24


def _sockets_are_files(_: Path) -> bool:
    with socket.socket() as any_socket:
        return stat.S_ISSOCK(os.fstat(any_socket.fileno()).st_mode)


def _knows_birth(folder: Path) -> bool:
    """Whether a file keeps its time of creation when it is written into (Wine gives it the time of the last change)."""
    (folder / "a").write_bytes(b"")
    before = getattr((folder / "a").stat(), "st_birthtime")  # noqa: B009  not on Linux
    threading.Event().wait(0.05)
    (folder / "a").write_bytes(b"x")
    return bool(getattr((folder / "a").stat(), "st_birthtime") == before)  # noqa: B009


def _counts_microseconds(_: Path) -> bool:
    """Whether the processor time of a thread comes in steps below a millisecond."""
    before = time.thread_time()
    while (after := time.thread_time()) == before:
        pass
    return after - before < 0.001


def _has(module: Any, *names: str) -> Callable[[Path], bool]:
    return lambda _: all(hasattr(module, name) for name in names)


ABILITIES: Mapping[str, Callable[[Path], bool]] = {
    "symbolic links": _links,
    "permissions of POSIX": _has_modes,
    "permissions that bind us": _binds_us,
    "names with a colon": _names("a:b"),
    "names with a question mark": _names("a?b"),
    "names that end in a space": _names("a "),
    "names with a backslash": _names("a\\b"),
    "names with control characters": _names("a\x01b"),
    "names that are not UTF-8": _takes_bytes,
    "names that differ in case": _tells_case,
    "names that differ in their normal form": _tells_normal_forms,
    "removing open files": _removes_open_files,
    "moving folders with open files": _moves_open_folders,
    "swapped files": _swaps_files,
    "sparse files": _is_sparse,
    "times after 2262": _knows_late_times,
    "times of creation": _knows_birth,
    "sockets among its files": _sockets_are_files,
    "time zones of processes": _has(time, "tzset"),
    "forks": _has(os, "fork"),
    "list of processes": lambda _: processes.ask_psutil(lambda: psutil.Process().children(), None) is not None,
    "signals between processes": _has(signal, "SIGKILL"),
    "named pipes": _has(os, "mkfifo"),
    "pseudo terminals": _has(os, "openpty"),
    "extended attributes": _has(os, "getxattr"),
    "calls relative to an open folder": lambda _: os.open in os.supports_dir_fd,
    "inotify": lambda _: hasattr(ctypes.CDLL(None), "inotify_init"),
    "POSIX shell": lambda _: shutil.which("sh") is not None,
    "accounts of POSIX": lambda _: find_spec("pwd") is not None,
    "a fine clock of threads": _counts_microseconds,
    "limits of processes": lambda _: find_spec("resource") is not None,
}


@cache
def can(ability: str) -> bool:
    """Whether the system does something, tried in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return ABILITIES[ability](Path(folder))
        except (OSError, AttributeError, TypeError, ValueError, NotImplementedError):
            return False


def needs(*abilities: str) -> pytest.MarkDecorator:
    """Skip a test where the system lacks one of these abilities."""
    missing = [ability for ability in abilities if not can(ability)]
    return pytest.mark.skipif(bool(missing), reason=f"the system has no {', no '.join(missing)}")


SYSTEM_ENVIRONMENT = {name: os.environ[name] for name in ("SYSTEMROOT", "WINDIR") if name in os.environ}
"""Without these, a program on Windows opens no socket."""

IN_ITS_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""The `creationflags` of a process that Ctrl+Break shall reach on Windows, and nobody else."""


class EndingSignal(NamedTuple):
    """A signal that asks another process to end: what is sent, and what arrives there."""

    sent: int
    arrives: signal.Signals


def ending_signals() -> list[EndingSignal]:
    """SIGTERM and SIGINT; Ctrl+Break on Windows, where its console can send it; none elsewhere."""
    if sys.platform != "win32":
        return [EndingSignal(number, number) for number in (signal.SIGTERM, signal.SIGINT)]
    command = [sys.executable, "-I", "-S", "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, creationflags=IN_ITS_GROUP) as process:
        try:
            process.send_signal(signal.CTRL_BREAK_EVENT)
        except OSError:
            return []
        finally:
            process.kill()
    return [EndingSignal(signal.CTRL_BREAK_EVENT, signal.SIGBREAK)]
