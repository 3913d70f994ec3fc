"""The system's clipboard, through the program that each system brings for it (HEADLESS-19)."""

from __future__ import annotations

import shutil
import subprocess

SECONDS = 5.0
_PROGRAMS = (
    ("pbcopy",),
    ("termux-clipboard-set",),
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--clipboard", "--input"),
    ("clip.exe",),
)
"""macOS, Android, Wayland, X11, Windows and WSL."""


def copy(text: str) -> bool:
    """Put a text on the clipboard; return False where there is none."""
    for command in _PROGRAMS:
        program = shutil.which(command[0])
        if program is None:
            continue
        # clip.exe reads the code page of the console, but UTF-16 after a byte order mark
        encoding = "utf-16" if command[0] == "clip.exe" else "utf-8"
        try:
            subprocess.run(  # noqa: S603  a list, never a shell
                [program, *command[1:]],
                input=text.encode(encoding, "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
                check=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # no console window that flashes up
            )
        except (OSError, subprocess.SubprocessError):
            continue
        return True
    return False
