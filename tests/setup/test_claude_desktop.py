"""Telling Claude Desktop from the command line of the same name (specs/install.md, INST-08)."""

from __future__ import annotations

import pytest

from obsidian_mcp.setup.clients import is_claude, is_claude_running


@pytest.mark.parametrize(
    ("path", "platform", "is_app"),
    [
        ("/Applications/Claude.app/Contents/MacOS/Claude", "darwin", True),
        ("/opt/homebrew/bin/claude", "darwin", False),
        (r"C:\Program Files\WindowsApps\Claude_1.2.3.0_x64__pzs8sxrjxfjjc\app\Claude.exe", "win32", True),
        (r"C:\Users\me\AppData\Local\AnthropicClaude\app-0.14.1\claude.exe", "win32", True),
        (r"C:\Users\me\.local\bin\claude.exe", "win32", False),
        ("/usr/lib/claude-desktop/node_modules/electron/dist/electron", "linux", True),
        ("/home/me/.local/bin/claude", "linux", False),
        ("/usr/lib/claude-desktop/electron", "freebsd", False),
    ],
)
def test_the_app_is_known_by_where_its_program_lies(path: str, platform: str, is_app: bool) -> None:
    assert is_claude(path, platform) is is_app


def test_processes_of_others_and_those_that_end_meanwhile_do_no_harm() -> None:
    assert is_claude_running("freebsd") is False
