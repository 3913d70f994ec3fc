"""Reads the text of a vault's PDFs into its index, beside the calls: a thread, and a process (PDF-2)."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from obsidian_mcp import logger
from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.index import search_document
from obsidian_mcp.core.index.index import Busy, Record, Replaced
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.rows import stored

from .index_workers import NICENESS
from .journal import acquire_lock
from .media import INSTALL
from .worker import Worker

if TYPE_CHECKING:
    import subprocess

SECONDS: Final = 30.0
"""Longest that one PDF is read."""
RETRY_SECONDS: Final = 5.0
"""After a PDF could not be stored, and while another program reads the PDFs."""


class PdfReader:
    """`PdfBackground` of one vault's indexer: a thread and a process that read PDFs. One of several programs reads."""

    def __init__(self, indexer: Indexer, root: Path, *, is_reading: bool) -> None:
        """`root` is the vault's folder."""
        self.is_reading = is_reading and not _missing()
        self._indexer = indexer
        self._root = root
        self._process: subprocess.Popen[bytes] | None = None
        self._worker = Worker("pdf", self._work)
        indexer.pdfs.background = self

    @property
    def notice(self) -> str:
        """What to do about PDFs that are not in the index yet, as a sentence for an answer."""
        return _missing() or ("Ask again in a while." if self.is_reading else "`obsidian-mcp index update` reads them.")

    def begin(self) -> bool:
        """Start to read PDFs, and return whether the libraries for it are installed."""
        self.is_reading = not _missing()
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
        if self._indexer.pdfs.next() is None:
            return
        file = self._indexer.index.database.file
        try:
            with acquire_lock(f"{file}-pdf") if file else nullcontext():
                while not self._worker.is_stopping and (entry := self._indexer.pdfs.next()) is not None:
                    is_read = not self._indexer.index.stale([entry])
                    record = None if is_read else self._read(entry)
                    if not self._worker.is_stopping:
                        self._indexer.pdfs.store(entry, record)
        except TimeoutError:
            self._indexer.pdfs.forget_read()
            raise
        finally:
            self._end_reader()

    def _read(self, entry: FileEntry) -> Record:
        from obsidian_mcp.core.index import extract  # the parser; a process without PDFs to read does without

        path = stored(entry.path)
        process = self._reader()
        assert process.stdin is not None  # noqa: S101  for the type checker
        assert process.stdout is not None  # noqa: S101
        end = time.monotonic() + SECONDS
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        with suppress(OSError):  # it is gone already
            process.stdin.write(json.dumps([entry.disk, path]).encode() + b"\n")
            process.stdin.flush()
        answer = process.stdout.readline()
        is_late = time.monotonic() >= end
        timer.cancel()
        try:
            found = json.loads(answer)
            content = search_document.SearchContent(*found["content"])
            digest = bytes.fromhex(found["digest"]) if found["digest"] else None
            return Record(entry, digest, extract.extract_pdf(content, found["starts"], found["problem"]))
        except (ValueError, KeyError, TypeError):
            self._end_reader()
            problem = f"takes more than {SECONDS:.0f} seconds to read" if is_late else "takes too much memory"
            return Record(entry, b"", extract.extract_pdf(search_document.compose(path, ""), (), problem))

    def _reader(self) -> subprocess.Popen[bytes]:
        """The process that reads, begun where there is none. Raises: OSError."""
        import subprocess

        if self._process is None or self._process.poll() is not None:
            self._end_reader()
            self._process = subprocess.Popen(  # noqa: S603  our own module
                [sys.executable, "-m", "obsidian_mcp.adapters.pdf_worker", str(self._root), str(NICENESS)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                env={**os.environ, "PYTHONSAFEPATH": "1"},
            )
            if self._worker.is_stopping:
                self._process.kill()
        return self._process

    def _end_reader(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError):
                process.communicate()


def _missing() -> str:
    """Why no PDF can be read; empty if they can."""
    if getattr(sys, "frozen", False):  # there the executable is no Python
        return "This program cannot read them."
    return "" if find_spec("pypdf") else f"Nothing is there to read them. {INSTALL}"
