"""The terminal behind standard output."""

from __future__ import annotations

import sys

STANDARD_OUTPUT, OBEYS_SEQUENCES = -11, 0x0004
"""Of Windows: the number of the stream, and the bit of a console that obeys escape sequences."""


def obeys_colours() -> bool:
    """Return whether the terminal obeys the sequences of colours; a console of Windows must be told to (CLI-07)."""
    if sys.platform != "win32":
        return True
    import ctypes

    kernel, mode = ctypes.windll.kernel32, ctypes.c_ulong()
    console = kernel.GetStdHandle(STANDARD_OUTPUT)
    return bool(
        kernel.GetConsoleMode(console, ctypes.byref(mode))
        and kernel.SetConsoleMode(console, mode.value | OBEYS_SEQUENCES)
    )
