"""How the C library keeps memory: fewer pools, so that threads that come and go leave less behind."""

from __future__ import annotations

import contextlib
import sys
from typing import Final

POOLS: Final = 2
_M_ARENA_MAX: Final = -8
"""A parameter of glibc's mallopt."""


def share_pools() -> None:
    """Let all threads that are started from now on share a few of glibc's pools; elsewhere nothing is done.

    It would make one for each thread, up to eight for each core. What they keep free was a tenth of the memory of a
    server with many calls in flight. Our threads hold the interpreter's lock in turns, so none waits for a pool.
    """
    if sys.platform == "linux":
        with contextlib.suppress(ImportError, OSError, AttributeError):  # no ctypes, or another C library
            import ctypes

            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, POOLS)
