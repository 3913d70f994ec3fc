"""Embeds the notes of a vault beside the calls, on idle processors (specs/semantic.md, SEM-04)."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from obsidian_mcp import logger
from obsidian_mcp.core.semantic.meaning import Meaning
from obsidian_mcp.errors import AppError
from obsidian_mcp.worker import Worker

from .file_lock import acquire_lock
from .index_workers import NICENESS

BATCH_FILES: Final = 4
SETTLE_SECONDS: Final = 2.0
"""From a change until the notes that changed are looked for: most changes come in bursts."""
SHARE_SECONDS: Final = 60.0
"""Until the lock is tried again, while another program embeds the notes of the vault."""
RETRY_SECONDS: Final = 300.0
"""After a model or an endpoint failed."""


class EmbeddingWorker(Worker):
    """Embeds what is pending; of several programs on one vault, one does. What is not stored when
    it ends is made again at the next start."""

    def __init__(self, meaning: Meaning, lock: Path) -> None:
        """Start the worker, which is to be woken when notes were indexed."""
        super().__init__("embedding", self._embed)
        self._meaning = meaning
        self._lock = lock
        self.wake()
        self.start()

    def _embed(self, is_woken: bool) -> float | None:
        if sys.platform == "linux":
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        try:
            self._meaning.prepare()
            if is_woken and self.wait_or_stop(SETTLE_SECONDS):
                return None
            with acquire_lock(self._lock):
                pending = self._meaning.pending_notes()
                for at in range(0, len(pending), BATCH_FILES):
                    begun = time.monotonic()
                    self._meaning.embed(pending[at : at + BATCH_FILES])
                    # as long as it took, for everything else
                    if self.wait_or_stop(time.monotonic() - begun):
                        return None
        except TimeoutError:
            return SHARE_SECONDS
        except AppError as error:
            logger(__name__).info("%s", error.message)
            return RETRY_SECONDS
        return None
