"""Shows an answer that is longer than the screen in the person's pager (CLI-27).

It is loaded when an answer is longer than the terminal that it goes to. A program that reads the
output has no terminal, so it never meets a pager.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from typing import Final

_USUAL: Final = ("less", "-FRX")
"""-F ends for what fits the screen, -R shows colours, -X leaves the text on the screen."""
_OPTIONS_OF_LESS: Final = "FRX"
"""For a pager that is `less` under another name, where LESS does not say otherwise."""


def show_in_pager(data: bytes) -> bool:
    """Show an answer in the pager; return False where there is none, and nothing was shown."""
    words = _pager_words()
    if not words:
        return False
    try:
        process = subprocess.Popen(  # noqa: S603  the person's own program, and no shell
            words, stdin=subprocess.PIPE, env={"LESS": _OPTIONS_OF_LESS, **os.environ}
        )
    except OSError:  # PAGER names what is not installed: the answer matters more
        return False
    # Ctrl-C is for the pager, which stops a search with it; this process waits for its end.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with suppress(BrokenPipeError):  # it was left before all was read
            process.communicate(data)
    finally:
        process.wait()
        signal.signal(signal.SIGINT, before)
    return True


def _pager_words() -> list[str]:
    """Return the words that start the pager; none where the person wants none."""
    named = os.environ.get("PAGER")
    if named is not None:
        words = shlex.split(named, posix=os.name != "nt")
        return [] if words in ([], ["cat"]) else words
    is_there = os.name != "nt" and os.environ.get("TERM") != "dumb" and shutil.which(_USUAL[0])
    return list(_USUAL) if is_there else []
