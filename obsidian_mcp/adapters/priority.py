"""How a worker process begins. It imports nothing else of the program, so that it gives way before the imports."""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading


def begin_worker(niceness: int) -> None:
    """Set up a process of a pool: `niceness` lower in priority, silent, and gone when its parent is."""
    if hasattr(os, "nice"):
        os.nice(niceness)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in (sys.__stdin__, sys.__stdout__):  # the client's: it shall see them close when the server ends
        if pipe is not None:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(nothing, pipe.fileno())
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()


def _end_with_parent() -> None:
    """A pool's process would wait for ever for work from a parent that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
