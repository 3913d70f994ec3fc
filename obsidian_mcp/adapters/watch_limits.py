"""How many folders the system watches, and what is said where it watches no more (WATCH-13)."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

from obsidian_mcp import TYPE_CHECKING

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver


def describe_polling(reason: str) -> str:
    """Return why a folder is looked at before calls, as a person reads it."""
    return f"All folders are looked at before calls, which takes longer: {reason}."


def explain_polling(error: Exception) -> str:
    """Return what an error of the system's watcher means, with what to do."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EMFILE):
        limit = "watches" if error.errno == errno.ENOSPC else "instances"
        return describe_polling(
            f"the system watches no more folders; raise fs.inotify.max_user_{limit}"
        )
    return describe_polling(str(error))


def check_room(observer: BaseObserver) -> None:
    """Check that the system watches as many folders as there are.

    Where the limit of the system is reached below the vault's own folder, watchdog leaves out the
    remaining folders without an error. So one more folder is watched for a moment. Raises: OSError.
    """
    if sys.platform == "linux":
        from watchdog.events import FileSystemEventHandler

        another = Path(__file__).parent  # a folder that is there, can be read and is in no vault
        try:
            observer.unschedule(observer.schedule(FileSystemEventHandler(), str(another)))
        except OSError:
            observer.stop()
            raise
