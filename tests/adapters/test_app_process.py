"""Which processes show that the app is running, and which only look like it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import psutil
import pytest

from obsidian_mcp.adapters import processes
from obsidian_mcp.adapters.app_process import AppProcess, is_app
from obsidian_mcp.adapters.filesystems import filesystem_of
from obsidian_mcp.setup.clients import is_claude_running

MAC = "/Applications/Obsidian.app/Contents"
LOCAL = r"C:\Users\Ann\AppData\Local\Programs\Obsidian"

APP = [
    ("darwin", "Obsidian", f"{MAC}/MacOS/Obsidian", []),
    ("darwin", "Obsidian", f"{MAC}/MacOS/Obsidian", ["obsidian://open?vault=Notes"]),
    ("darwin", "Obsidian", "/Users/ann/Applications/Obsidian 2.app/Contents/MacOS/Obsidian", ["--no-sandbox"]),
    (
        "darwin",
        "Obsidian Helper (Renderer)",
        f"{MAC}/Frameworks/Obsidian Helper (Renderer).app/Contents/MacOS/Obsidian Helper (Renderer)",
        ["--type=renderer"],
    ),
    ("darwin", "Obsidian", "", None),
    ("win32", "Obsidian.exe", rf"{LOCAL}\Obsidian.exe", []),
    ("win32", "Obsidian.exe", r"C:\Program Files\Obsidian\Obsidian.exe", ["obsidian://open?vault=Notes"]),
    ("win32", "Obsidian.exe", r"D:\portable\notes\Obsidian.exe", ["--type=gpu-process"]),
    ("win32", "Obsidian.exe", r"C:\Users\Ann\scoop\apps\obsidian\current\Obsidian.exe", []),
    ("win32", "Obsidian.exe", "", None),
    ("linux", "obsidian", "/opt/Obsidian/obsidian", []),
    ("linux", "obsidian", "/opt/Obsidian/obsidian (deleted)", ["--no-sandbox"]),
    ("linux", "obsidian", "/snap/obsidian/47/obsidian", ["--no-sandbox"]),
    ("linux", "obsidian", "/app/obsidian", ["--ozone-platform=wayland"]),
    ("linux", "obsidian", "/tmp/.mount_ObsidiK3xYz/obsidian", []),
    ("linux", "obsidian", "/home/ann/apps/squashfs-root/obsidian", []),
    ("linux", "obsidian", "/home/ann/apps/obsidian-1.12.7/obsidian", ["--type=zygote"]),
    ("linux", "electron", "/usr/lib/electron39/electron", ["/usr/lib/obsidian/app.asar"]),
    (
        "linux",
        ".electron-wrapp",
        "/nix/store/abc-electron-39/libexec/electron/.electron-wrapped",
        ["/nix/store/xyz-obsidian-1.12.7/share/obsidian/app.asar", "--ozone-platform=wayland"],
    ),
]

NOT_APP = [
    ("darwin", "obsidian-cli", f"{MAC}/MacOS/obsidian-cli", ["vault=Notes", "read", "path=a.md"]),
    ("darwin", "Obsidian", f"{MAC}/MacOS/Obsidian", ["vault=Notes", "read", "path=a.md"]),
    ("darwin", "python3.12", "/opt/homebrew/bin/python3.12", ["/opt/homebrew/bin/obsidian-mcp", "--vault", "x"]),
    ("darwin", "Obsidian Importer", "/Applications/Obsidian Importer.app/Contents/MacOS/Obsidian Importer", []),
    ("win32", "Obsidian.com", rf"{LOCAL}\Obsidian.com", ["vault=Notes", "version"]),
    ("win32", "Obsidian.exe", rf"{LOCAL}\Obsidian.exe", ["version"]),
    ("win32", "Obsidian.exe", r"D:\games\Doom\Obsidian.exe", []),
    ("win32", "obsidian-mcp.exe", r"C:\Python\Scripts\obsidian-mcp.exe", []),
    ("win32", "obsidian-mcp.exe", "", None),
    ("linux", "obsidian", "/home/ann/.local/bin/obsidian", ["vault=Notes", "read", "path=a.md"]),
    ("linux", "obsidian", "/home/ann/.local/bin/obsidian", []),
    ("linux", "obsidian", "/opt/Obsidian/obsidian", ["vault=Notes", "read", "path=a.md"]),
    ("linux", "obsidian-cli", "/opt/Obsidian/obsidian-cli", ["version"]),
    ("linux", "obsidian-mcp", "/usr/bin/python3.12", ["/home/ann/.local/bin/obsidian-mcp"]),
    ("linux", "obsidian-mcp", "/home/ann/.local/bin/obsidian-mcp", []),
    ("linux", "obsidian", "/usr/bin/python3.12", ["/usr/bin/python3.12", "/home/ann/.local/bin/obsidian", "read"]),
    ("darwin", "obsidian", "/opt/homebrew/bin/python3.12", ["/Users/ann/.local/bin/obsidian", "files"]),
    ("win32", "obsidian.exe", r"C:\Python\Scripts\obsidian.exe", ["files"]),
    ("linux", "obsidian", "/usr/games/obsidian", ["--batch", "doom.wad"]),
    ("linux", "obsidian.sh", "/usr/bin/bash", ["/app/bin/obsidian.sh"]),
    ("linux", "obsidian", "", None),
    ("linux", "electron", "/usr/lib/electron39/electron", ["/usr/lib/code/out/main.js", "/home/ann/obsidian"]),
    ("linux", "electron", "/usr/lib/electron39/electron", ["/usr/lib/obsidian/app.asar", "read", "path=a.md"]),
    ("linux", "vim", "/usr/bin/vim", ["obsidian"]),
]


class ProcessRow(NamedTuple):
    """What the system reports about one process."""

    name: str
    exe: str
    cmdline: tuple[str, ...]


def row(name: str, exe: str, arguments: list[str] | None) -> ProcessRow:
    return ProcessRow(name, exe, () if arguments is None else (exe, *arguments))


@pytest.mark.parametrize(("platform", "name", "exe", "arguments"), APP)
def test_the_app_is_recognised(platform: str, name: str, exe: str, arguments: list[str] | None) -> None:
    """APP-01"""
    assert is_app(*row(name, exe, arguments), platform)


@pytest.mark.parametrize(("platform", "name", "exe", "arguments"), NOT_APP)
def test_another_program_is_not_taken_for_the_app(
    platform: str, name: str, exe: str, arguments: list[str] | None
) -> None:
    """APP-02"""
    assert not is_app(*row(name, exe, arguments), platform)


def test_a_helper_that_rewrote_its_arguments_into_one_string_counts() -> None:
    assert is_app("obsidian", "", ("/home/ann/obsidian --type=renderer --lang=en",), "linux")


@dataclass
class Process:
    """As much of psutil's process as is asked for; `hidden` are the questions that the system refuses."""

    row: ProcessRow
    hidden: frozenset[str] = frozenset()
    alive: bool = True

    def name(self) -> str:
        return self._tell("name", self.row.name)

    def exe(self) -> str:
        return self._tell("exe", self.row.exe)

    def cmdline(self) -> list[str]:
        self._tell("cmdline", "")
        return list(self.row.cmdline)

    def is_running(self) -> bool:
        return self.alive

    def status(self) -> str:
        return psutil.STATUS_RUNNING

    def _tell(self, what: str, value: str) -> str:
        if not self.alive:
            raise psutil.NoSuchProcess(1)
        if what in self.hidden:
            raise psutil.AccessDenied(1)
        return value


class Machine:
    def __init__(self, *processes: Process) -> None:
        self.processes = processes
        self.scans = 0

    def __call__(self) -> Iterator[psutil.Process]:
        self.scans += 1
        return iter(self.processes)  # type: ignore[arg-type]  # a stand-in with the methods that are used


APP_ROW = ProcessRow("obsidian", "/opt/Obsidian/obsidian", ("/opt/Obsidian/obsidian",))


def test_an_app_that_is_there_is_looked_for_once_and_again_when_it_is_gone() -> None:
    """APP-03"""
    app = Process(APP_ROW)
    machine = Machine(Process(ProcessRow("bash", "/bin/bash", ("bash",))), app)
    process = AppProcess("linux", machine)

    assert process.is_running()
    assert process.is_running()
    assert machine.scans == 1
    app.alive = False
    assert not process.is_running()
    app.alive = True
    assert process.is_running()


def test_processes_that_vanish_or_hide_are_passed_over() -> None:
    gone = Process(APP_ROW, alive=False)
    nameless = Process(APP_ROW, hidden=frozenset({"name"}))
    elevated = Process(ProcessRow("Obsidian.exe", "x", ("x",)), hidden=frozenset({"exe", "cmdline"}))

    assert not AppProcess("linux", Machine(gone, nameless)).is_running()
    assert AppProcess("win32", Machine(elevated)).is_running()


def test_this_machine_can_be_asked() -> None:
    assert AppProcess().is_running() in (True, False)


@pytest.mark.parametrize("number", [87, 998, 1450])
def test_whatever_fails_while_processes_are_listed_means_that_none_is_found(
    number: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """APP-01"""

    def failing(*_: object, **__: object) -> Iterator[psutil.Process]:
        raise OSError(number, "the system call failed")

    for name in ("process_iter", "disk_partitions"):
        monkeypatch.setattr(psutil, name, failing)
    monkeypatch.setattr(psutil.Process, "children", failing)

    for _ in range(3):
        assert not AppProcess("win32").is_running()
        assert not is_claude_running("win32")
        assert filesystem_of("/") == ""
        assert processes.descendants_of(os.getpid()) == []
    assert len(caplog.records) == 1


def test_a_process_that_fails_to_be_asked_hides_no_other() -> None:
    """APP-01"""

    class Failing(Process):
        def name(self) -> str:
            raise OSError(1450, "not enough resources")

    assert AppProcess("linux", Machine(Failing(APP_ROW), Process(APP_ROW))).is_running()
