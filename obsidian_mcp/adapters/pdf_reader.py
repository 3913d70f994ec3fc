"""Reads the text of a vault's PDFs into its index, beside the calls: a thread, and a process
(PDF-2)."""

from __future__ import annotations

import time
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from obsidian_mcp import TYPE_CHECKING, logger
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index import search_document
from obsidian_mcp.core.index.columns import to_stored_path
from obsidian_mcp.core.index.database import Busy, Replaced
from obsidian_mcp.core.index.pending_files import PendingFiles
from obsidian_mcp.core.index.row_writer import Record
from obsidian_mcp.worker import Worker

from .file_lock import acquire_lock
from .index_workers import NICENESS
from .media import INSTALL

if TYPE_CHECKING:
    from .helper_process import HelperProcess

MEMORY_BYTES: Final = 1_500_000_000
"""Most memory of the process that reads."""
SECONDS: Final = 30.0
"""Longest that one PDF is read."""
RETRY_SECONDS: Final = 5.0
"""After a PDF could not be stored, and while another program reads the PDFs."""


class TooSlow(Exception):
    """A PDF takes longer than `SECONDS`."""


class PdfReader:
    """`PdfBackground` of one vault's indexer: a thread and a process that read PDFs. One of several
    programs reads."""

    def __init__(self, pending: PendingFiles, root: Path, *, is_reading: bool) -> None:
        """`root` is the vault's folder."""
        self.is_reading = is_reading and not _missing_reason()
        self._pending = pending
        self._root = root
        self._process: HelperProcess | None = None
        self._worker = Worker("pdf", self._work)
        pending.pdfs.background = self

    @property
    def notice(self) -> str:
        """What to do about PDFs that are not in the index yet, as a sentence for an answer."""
        return _missing_reason() or (
            "Ask again in a while."
            if self.is_reading
            else "`obsidian-mcp index update` reads them."
        )

    def begin(self) -> bool:
        """Start to read PDFs, and return whether the libraries for it are installed."""
        self.is_reading = not _missing_reason()
        self.wake()
        return self.is_reading

    def wake(self) -> None:
        """Look for PDFs to read."""
        self._worker.wake()
        if self.is_reading:
            self._worker.start()

    def stop(self) -> None:
        """End without waiting; the PDF that is being read is read again at the next start."""
        self._worker.stop()
        process = self._process
        if process is not None:
            process.kill()

    def _work(self, _: bool) -> None:
        try:
            self._read_all()
        except (Busy, Replaced, OSError) as error:  # with it the time-out of a lock
            logger(__name__).info("PDFs are read later: %r", error)
            self._worker.retry(RETRY_SECONDS)
        except Exception:
            self.is_reading = False  # nobody waits for what is not read
            raise

    def _read_all(self) -> None:
        """Raises: TimeoutError while another program reads, OSError."""
        if self._pending.pdfs.next_pdf() is None:
            return
        file = self._pending.index.database.file
        try:
            with acquire_lock(f"{file}-pdf") if file else nullcontext():
                while (
                    not self._worker.is_stopping
                    and (entry := self._pending.pdfs.next_pdf()) is not None
                ):
                    is_read = not self._pending.index.find_stale([entry])
                    record = None if is_read else self._read(entry)
                    if not self._worker.is_stopping:
                        self._pending.pdfs.store(entry, record)
        except TimeoutError:
            self._pending.pdfs.forget_read()
            raise
        finally:
            self._end_reader()

    def _read(self, entry: FileEntry) -> Record:
        from obsidian_mcp.core.index import extract  # a process without PDFs does without it

        from .helper_process import HelperEnded

        path = to_stored_path(entry.path)
        end = time.monotonic() + SECONDS

        def look() -> None:
            if time.monotonic() >= end:
                raise TooSlow

        try:
            answer, _ = self._reader().ask([entry.disk, path], look=look)
            content = search_document.SearchContent.from_json(answer["content"])
            digest = bytes.fromhex(answer["digest"]) if answer["digest"] else None
            facts = extract.extract_pdf(content, answer["starts"], answer["problem"])
            return Record(entry, digest, facts)
        except TooSlow:
            problem = f"takes more than {SECONDS:.0f} seconds to read"
        except HelperEnded:
            problem = "takes too much memory"
        self._end_reader()
        facts = extract.extract_pdf(search_document.compose(path, ""), (), problem)
        return Record(entry, b"", facts)

    def _reader(self) -> HelperProcess:
        """Return the process that reads, begun where there is none. Raises: OSError."""
        from .helper_process import HelperProcess

        if self._process is None or self._process.has_ended:
            self._end_reader()
            self._process = HelperProcess(
                "obsidian_mcp.adapters.pdf_worker",
                str(MEMORY_BYTES),
                str(self._root),
                str(NICENESS),
                memory_bytes=MEMORY_BYTES,
            )
            if self._worker.is_stopping:
                self._process.kill()
        return self._process

    def _end_reader(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()


def _missing_reason() -> str:
    """Return why no PDF can be read; empty if they can."""
    from .helper_process import can_start

    if not can_start():
        return "This program cannot read them."
    return "" if find_spec("pypdf") else f"Nothing is there to read them. {INSTALL}"
