"""What the command line uses of the system: its clipboard, and the colours of its terminal."""

from __future__ import annotations

import sys
from contextlib import suppress

_COPY_PROGRAMS = (
    ("pbcopy",),
    ("termux-clipboard-set",),
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--clipboard", "--input"),
    ("clip.exe",),
)
"""macOS, Android, Wayland, X11, Windows and WSL."""
STANDARD_OUTPUT, OBEYS_SEQUENCES = -11, 0x0004
"""Of Windows: the number of the stream, and the bit of a console that obeys escape sequences."""


def copy(text: str) -> bool:
    """Put a text on the clipboard, through the program that each system brings for it; return False
    where there is none (HEADLESS-19)."""
    import shutil
    import subprocess

    for command in _COPY_PROGRAMS:
        if (program := shutil.which(command[0])) is None:
            continue
        # clip.exe reads the code page of the console, but UTF-16 after a byte order mark
        encoding = "utf-16" if command[0] == "clip.exe" else "utf-8"
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(  # noqa: S603  a list, never a shell
                [program, *command[1:]],
                input=text.encode(encoding, "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=5,
                check=True,
                # no console window that flashes up
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
            return True
    return False


def obeys_colours() -> bool:
    """Return whether the terminal obeys the sequences of colours; a console of Windows must be told
    to (CLI-07)."""
    if sys.platform != "win32":
        return True
    import ctypes

    kernel, mode = ctypes.windll.kernel32, ctypes.c_ulong()
    console = kernel.GetStdHandle(STANDARD_OUTPUT)
    return bool(
        kernel.GetConsoleMode(console, ctypes.byref(mode))
        and kernel.SetConsoleMode(console, mode.value | OBEYS_SEQUENCES)
    )
