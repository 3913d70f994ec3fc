"""Is Claude Desktop running? While it does, it writes its own copy of its configuration file back (INST-08)."""

from __future__ import annotations

import re
import sys

import psutil

_PROGRAM = {
    "darwin": re.compile(r"/Claude\.app/Contents/MacOS/Claude$"),
    "win32": re.compile(r"(?i)\\(WindowsApps\\Claude_[^\\]*|AnthropicClaude)\\(.*\\)?claude\.exe$"),
    "linux": re.compile(r"/claude-desktop(/.*)?$"),
}
"""Where the app's program lies. `claude` alone is the command line of Claude Code."""


def is_program(path: str, platform: str) -> bool:
    """Whether the executable at `path` is the app's."""
    pattern = _PROGRAM.get(platform)
    return pattern is not None and pattern.search(path) is not None


def is_running(platform: str = sys.platform) -> bool:
    """Whether a process of the app runs on `platform` (a value of `sys.platform`)."""
    for process in psutil.process_iter():
        try:
            if is_program(process.exe(), platform):
                return True
        except psutil.Error:  # gone, or somebody else's
            continue
    return False
