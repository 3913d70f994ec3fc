"""How a worker process begins. It imports nothing else of the program, so that it is set up before
the imports."""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing.connection import Connection, wait


def begin_worker(lifeline: "Connection[None, None]") -> None:
    """Set up a process of a pool: silent, and gone when its parent or pool is. `lifeline` is the
    reading end of a pipe whose other end only the pool has."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # these are the client's, which must see them close when the server ends
    null = os.open(os.devnull, os.O_RDWR)
    for pipe in (sys.__stdin__, sys.__stdout__):
        if pipe is not None:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(null, pipe.fileno())
    threading.Thread(target=_end_with_pool, args=(lifeline,), name="lifeline", daemon=True).start()


def _end_with_pool(lifeline: "Connection[None, None]") -> None:
    """End this process when its pool or its parent does.

    It would wait for ever for work from a parent that was killed, or from a pool that broke while
    the process started.
    """
    parent = multiprocessing.parent_process()
    wait([lifeline] if parent is None else [lifeline, parent.sentinel])
    os._exit(1)
