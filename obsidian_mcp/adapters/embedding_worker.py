"""Embeds the notes of a vault beside the calls, on idle processors (specs/semantic.md, SEM-04)."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from obsidian_mcp.core.semantic.meaning import Meaning
from obsidian_mcp.errors import AppError

BATCH_FILES: Final = 4
LOOK_SECONDS: Final = 15.0
"""Between two looks for notes that changed."""
RETRY_SECONDS: Final = 300.0
"""After a model or an endpoint failed."""

log = logging.getLogger(__name__)


class EmbeddingWorker:
    """A thread that embeds what is pending; of several programs on one vault, one does. It goes on where it stopped."""

    def __init__(self, meaning: Meaning, lock: Path) -> None:
        """Start the thread."""
        self._meaning = meaning
        self._lock = FileLock(lock, timeout=0)
        self._stopping = threading.Event()
        threading.Thread(target=self._run, name="embedding", daemon=True).start()

    def stop(self) -> None:
        """End without waiting; what is not stored is made again at the next start."""
        self._stopping.set()

    def _run(self) -> None:
        if sys.platform == "linux":
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
        while not self._stopping.is_set():
            pause = LOOK_SECONDS
            try:
                self._meaning.prepare()
                with self._lock:
                    self._embed_pending()
            except Timeout:
                pass
            except AppError as error:
                log.info("%s", error.message)
                pause = RETRY_SECONDS
            except Exception:
                if not self._stopping.is_set():
                    log.exception("Notes are not embedded any more. Please report this.")
                return
            self._stopping.wait(pause)

    def _embed_pending(self) -> None:
        pending = self._meaning.pending()
        for at in range(0, len(pending), BATCH_FILES):
            begun = time.monotonic()
            self._meaning.embed(pending[at : at + BATCH_FILES])
            if self._stopping.wait(time.monotonic() - begun):  # as long as it took, for everything else
                return
