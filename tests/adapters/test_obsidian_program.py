"""Where the program is found on each system, and what stands around it when it runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from obsidian_mcp.adapters.obsidian_program import (
    ObsidianProgram,
    complete_environment,
    find_program,
    flatpak_socket,
    this_environment,
)
from obsidian_mcp.errors import AppCommandFailed, OperationTimeout
from tests.system import SYSTEM_ENVIRONMENT

HOME = {"HOME": "/home/ann", "PATH": "/usr/bin:/bin"}
WINDOWS = {
    "LOCALAPPDATA": r"C:\Users\Ann\AppData\Local",
    "ProgramFiles": r"C:\Program Files",
    "Path": r"C:\Windows;C:\Tools\;D:\Obsidian",
}
COM, EXE = r"D:\Obsidian\Obsidian.com", r"D:\Obsidian\Obsidian.exe"
FLATPAK = "/var/lib/flatpak/exports/bin/md.obsidian.Obsidian"

PLACES: list[tuple[str, dict[str, str], set[str], str | None]] = [
    ("linux", HOME, set(), None),
    ("linux", HOME, {"/usr/bin/obsidian"}, "/usr/bin/obsidian"),
    ("linux", HOME, {"/usr/bin/obsidian", "/home/ann/.local/bin/obsidian"}, "/home/ann/.local/bin/obsidian"),
    ("linux", HOME, {"/usr/bin/obsidian", "/usr/bin/obsidian-cli"}, "/usr/bin/obsidian-cli"),
    ("linux", HOME, {"/opt/Obsidian/obsidian-cli"}, "/opt/Obsidian/obsidian-cli"),
    ("linux", HOME, {FLATPAK}, FLATPAK),
    ("linux", HOME, {"/usr/bin/obsidian-mcp", "/usr/bin/obsidian-cli"}, None),
    ("darwin", HOME, {"/usr/local/bin/obsidian"}, "/usr/local/bin/obsidian"),
    (
        "darwin",
        {"HOME": "/Users/ann", "PATH": "/Applications/Obsidian.app/Contents/MacOS"},
        {
            "/Applications/Obsidian.app/Contents/MacOS/obsidian",  # the app itself: the disk does not tell O from o
            "/Applications/Obsidian.app/Contents/MacOS/obsidian-cli",
        },
        "/Applications/Obsidian.app/Contents/MacOS/obsidian-cli",
    ),
    (
        "darwin",
        {"HOME": "/Users/ann", "PATH": "/usr/bin"},
        {"/Users/ann/Applications/Obsidian.app/Contents/MacOS/obsidian-cli"},
        "/Users/ann/Applications/Obsidian.app/Contents/MacOS/obsidian-cli",
    ),
    ("win32", WINDOWS, {EXE}, None),
    ("win32", WINDOWS, {EXE, COM}, COM),
    (
        "win32",
        {"LOCALAPPDATA": r"C:\Users\Ann\AppData\Local"},
        {r"C:\Users\Ann\AppData\Local\Programs\Obsidian\Obsidian.com"},
        r"C:\Users\Ann\AppData\Local\Programs\Obsidian\Obsidian.com",
    ),
    ("win32", WINDOWS, {r"C:\Program Files\Obsidian\Obsidian.com"}, r"C:\Program Files\Obsidian\Obsidian.com"),
]


def same(path: str) -> str:
    return path


def among(*files: str) -> Callable[[str], bool]:
    return set(files).__contains__


@pytest.mark.parametrize(("platform", "environment", "files", "found"), PLACES)
def test_the_command_line_program_is_found_and_never_the_app_itself(
    platform: str, environment: dict[str, str], files: set[str], found: str | None
) -> None:
    """PROG-01"""
    program = find_program(None, environment, platform=platform, is_program=among(*files), real_path=same)

    assert program == (None if found is None else (found,))


def test_a_link_on_path_leads_to_the_program_in_the_apps_folder() -> None:
    links = {"/usr/bin/obsidian": "/opt/Obsidian/obsidian"}

    program = find_program(
        None,
        HOME,
        platform="linux",
        is_program=among("/usr/bin/obsidian", "/opt/Obsidian/obsidian-cli"),
        real_path=lambda path: links.get(path, path),
    )

    assert program == ("/opt/Obsidian/obsidian-cli",)


CONFIGURED: list[tuple[str, str, set[str], tuple[str, ...]]] = [
    ("linux", "/own/obsidian", {"/own/obsidian"}, ("/own/obsidian",)),
    ("linux", " obsidian ", {"/usr/bin/obsidian"}, ("/usr/bin/obsidian",)),
    ("linux", "/my apps/obsidian", {"/my apps/obsidian"}, ("/my apps/obsidian",)),
    (
        "linux",
        "flatpak run md.obsidian.Obsidian",
        {"/usr/bin/flatpak"},
        ("/usr/bin/flatpak", "run", "md.obsidian.Obsidian"),
    ),
    ("linux", "'/my apps/python' -I x.py", {"/my apps/python"}, ("/my apps/python", "-I", "x.py")),
    ("win32", EXE, {EXE, COM}, (COM,)),
    ("win32", r"D:\My Notes\Obsidian.com", {r"D:\My Notes\Obsidian.com"}, (r"D:\My Notes\Obsidian.com",)),
    ("win32", "Obsidian.com", {COM}, (COM,)),
]


@pytest.mark.parametrize(("platform", "value", "files", "command"), CONFIGURED)
def test_the_setting_names_the_program(platform: str, value: str, files: set[str], command: tuple[str, ...]) -> None:
    environment = WINDOWS if platform == "win32" else HOME

    assert find_program(value, environment, platform=platform, is_program=among(*files), real_path=same) == command


@pytest.mark.parametrize(
    ("platform", "value"),
    [("linux", "/not/there"), ("linux", "nope"), ("win32", EXE), ("win32", r"D:\obsidian.cmd"), ("win32", "x.BAT")],
)
def test_a_setting_that_names_no_usable_program_is_an_error(platform: str, value: str) -> None:
    files = among(EXE, r"D:\obsidian.cmd", "x.BAT", r"C:\Tools\x.BAT")

    with pytest.raises(AppCommandFailed, match="OBSIDIAN_MCP_CLI"):
        find_program(value, WINDOWS, platform=platform, is_program=files, real_path=same)


def test_an_empty_setting_is_none() -> None:
    assert find_program(" ", HOME, platform="linux", is_program=among(), real_path=same) is None


def test_a_stripped_environment_is_completed_and_a_whole_one_left_alone() -> None:
    """PROG-02"""

    def complete(environment: dict[str, str]) -> dict[str, str]:
        return complete_environment(
            environment,
            platform="linux",
            home="/home/ann",
            user="ann",
            runtime_folder="/run/user/1000",
            temporary_folder=None,
        )

    stripped = complete({"PATH": "/bin", "HOME": "", "ELECTRON_RUN_AS_NODE": "1"})
    whole = complete({"HOME": "/own", "USER": "me", "LOGNAME": "me"})

    assert stripped == {
        "PATH": "/bin",
        "HOME": "/home/ann",
        "USER": "ann",
        "LOGNAME": "ann",
        "XDG_RUNTIME_DIR": "/run/user/1000",
    }
    assert whole == {"HOME": "/own", "USER": "me", "LOGNAME": "me", "XDG_RUNTIME_DIR": "/run/user/1000"}


def test_a_mac_gets_its_temporary_folder_and_windows_its_profile() -> None:
    mac = complete_environment(
        {}, platform="darwin", home="/Users/ann", user="ann", runtime_folder=None, temporary_folder="/var/folders/x/T/"
    )
    windows = complete_environment(
        {}, platform="win32", home=r"C:\Users\Ann", user="Ann", runtime_folder=None, temporary_folder=None
    )

    assert mac["TMPDIR"] == "/var/folders/x/T/"
    assert windows == {
        "USERPROFILE": r"C:\Users\Ann",
        "USERNAME": "Ann",
        "APPDATA": r"C:\Users\Ann\AppData\Roaming",
        "LOCALAPPDATA": r"C:\Users\Ann\AppData\Local",
    }


def test_an_account_without_a_known_home_gets_no_path_that_is_none() -> None:
    """PROG-02"""
    found = complete_environment({}, platform="win32", home="", user="Ann", runtime_folder=None, temporary_folder=None)

    assert found == {"USERNAME": "Ann"}


def test_this_account_is_known() -> None:
    name = "USERPROFILE" if sys.platform == "win32" else "HOME"

    assert Path(this_environment({})[name]).is_absolute()


def test_the_socket_of_a_flatpak_app_is_found_where_the_plain_one_is_missing(tmp_path: Path) -> None:
    """PROG-03"""
    hidden = tmp_path / ".flatpak" / "md.obsidian.Obsidian" / "xdg-run"
    hidden.mkdir(parents=True)
    environment = {"XDG_RUNTIME_DIR": str(tmp_path)}

    assert flatpak_socket(environment) == environment
    (hidden / ".obsidian-cli.sock").touch()
    assert flatpak_socket(environment) == {"XDG_RUNTIME_DIR": str(hidden)}
    (tmp_path / ".obsidian-cli.sock").touch()
    assert flatpak_socket(environment) == environment
    assert flatpak_socket({}) == {}


def test_what_a_program_prints_and_its_status_come_back_as_they_are() -> None:
    code = "import sys; sys.stdout.buffer.write(b'\\xff\\r\\n'); sys.stderr.write('oh'); sys.exit(3)"

    outcome = ObsidianProgram((sys.executable, "-I", "-S", "-c"), this_environment({})).run_program([code], 20)

    assert (outcome.stdout, outcome.stderr, outcome.status) == (b"\xff\r\n", b"oh", 3)


def test_a_program_that_left_while_another_keeps_its_output_open_is_given_up_at_the_limit(tmp_path: Path) -> None:
    """PROG-04: the app's own binary starts the app, which inherits the pipes, and leaves."""
    end = tmp_path / "end"
    other = f"import pathlib, time\nwhile not pathlib.Path({str(end)!r}).exists(): time.sleep(0.02)"
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-I', '-S', '-c', sys.argv[1]])"

    with pytest.raises(OperationTimeout):
        ObsidianProgram((sys.executable, "-I", "-S", "-c"), this_environment({})).run_program([code, other], 0.5)
    end.touch()  # Windows ends no program with the one that started it


def test_a_pipe_that_another_program_keeps_open_is_not_closed_under_its_reader(tmp_path: Path) -> None:
    """PROG-04: closing it waits on Windows until that program ends, and ends that program
    elsewhere."""
    wrote, go_on = tmp_path / "wrote", tmp_path / "go on"
    other = (
        "import pathlib, time\n"
        f"while not pathlib.Path({str(go_on)!r}).exists(): time.sleep(0.02)\n"
        f"print('late', flush=True); pathlib.Path({str(wrote)!r}).touch()"
    )
    code = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-I', '-S', '-c', sys.argv[1]], "
        "start_new_session=True)"
    )

    python = ObsidianProgram((sys.executable, "-I", "-S", "-c"), this_environment(SYSTEM_ENVIRONMENT))
    begun = time.monotonic()
    python.run_program(["pass"], 30)
    with pytest.raises(OperationTimeout):
        python.run_program([code, other], 0.5 + 3 * (time.monotonic() - begun))  # the first program has ended by then

    go_on.touch()
    end = time.monotonic() + 20
    while not wrote.exists():
        assert time.monotonic() < end, "the other program could not write"


def test_each_word_of_a_command_on_windows_may_have_quotes() -> None:
    """PROG-01"""
    python, script = r"C:\Program Files\Python\python.exe", r"C:\My files\x.py"

    found = find_program(f'"{python}" "{script}"', WINDOWS, platform="win32", is_program={python}.__contains__)

    assert found == (python, script)
