"""Standard output: bytes as they are (CLI-03), and what is said where they cannot be written."""

from __future__ import annotations

import sys

from obsidian_mcp.errors import StorageFailed


def write_bytes(data: bytes) -> None:
    """Raises: StorageFailed where the disk is full, BrokenPipeError where the reader has seen enough."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        sys.stdout = None  # nothing is left to flush at exit
        raise StorageFailed(f"The output could not be written: {error.strerror}.") from error
