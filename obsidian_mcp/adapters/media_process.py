"""Pictures and PDF files for answers: `app.Media` by a process for each call (ATT-12)."""

from __future__ import annotations

import threading
from typing import Final

from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.errors import NotShowable

from .helper_loop import HelperMessage
from .helper_process import HelperEnded, HelperProcess, can_start
from .media_worker import TOO_LARGE

MEMORY_BYTES: Final = 700_000_000
"""Most memory of a process: a picture with as many pixels as are opened takes half of it."""
MOST_PROCESSES: Final = 2
"""Processes that read files at a time; further calls wait for one of them."""
_WAIT_SECONDS: Final = 0.05


class MediaProcess:
    """Decodes what a model is shown. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(MOST_PROCESSES)

    def shrink_image(self, data: bytes, most_bytes: int, longest_side: int) -> bytes:
        """Return an image as JPEG within these limits. Raises: NotShowable."""
        return self._ask("shrink_image", most_bytes, longest_side, data=data)[1]

    def pdf_text(self, data: bytes, first: int, last: int, most: int) -> tuple[int, list[str]]:
        """Return the number of pages, and the text of some in `most` characters.

        Raises: NotShowable.
        """
        answer, _ = self._ask("pdf_text", first, last, most, data=data)
        return answer["total"], answer["texts"]

    def pdf_page(self, data: bytes, number: int, longest_side: int) -> bytes:
        """Return a page of a PDF, 1-based, as PNG. Raises: NotShowable."""
        return self._ask("pdf_page", number, longest_side, data=data)[1]

    def _ask(self, function: str, *arguments: int, data: bytes) -> HelperMessage:
        """Return the answer of a process, which has ended then. Raises: NotShowable."""
        if not can_start():
            raise NotShowable("This program cannot read the file: it is no Python installation.")
        while not self._free.acquire(timeout=_WAIT_SECONDS):
            checkpoint()
        module = "obsidian_mcp.adapters.media_worker"
        try:
            with HelperProcess(module, str(MEMORY_BYTES), memory_bytes=MEMORY_BYTES) as helper:
                answer, body = helper.ask([function, *arguments], data, look=checkpoint)
        except HelperEnded as error:
            raise NotShowable(TOO_LARGE) from error
        except OSError as error:
            message = f"The program that reads the file could not be started: {error}."
            raise NotShowable(message) from error
        finally:
            self._free.release()
        if "problem" in answer:
            raise NotShowable(answer["problem"])
        return answer, body
