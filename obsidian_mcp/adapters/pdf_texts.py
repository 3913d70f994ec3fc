"""The text of a vault's PDFs, read by a process for each and kept in files of the cache (PDF-1 to PDF-3)."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.files.pdf import PdfText
from obsidian_mcp.core.text import deadline, progress
from obsidian_mcp.errors import AppError, NotShowable

from .media import INSTALL

SECONDS: Final = 30.0
"""Longest that one PDF is read, if the time of the call allows."""
ENOUGH_SECONDS: Final = 10.0
"""A PDF that had so long and was not read is given up, so that it does not hold up the others again and again."""
MOST_PAGES: Final = 2_000
MOST_BYTES: Final = 200_000_000
"""Largest PDF that is read."""

log = logging.getLogger(__name__)


class PdfTexts:
    """The `PdfReader` of one vault. A text is kept under the file's path, size and time."""

    def __init__(self, folder: Path, read: Callable[[str, int], bytes]) -> None:
        """`folder` of the cache; `read` gives a file of the vault of at most so many bytes, or raises AppError."""
        self._folder = folder
        self._read = read

    def texts(self, entries: Sequence[FileEntry], seconds: float) -> tuple[list[tuple[FileEntry, PdfText]], int]:
        if find_spec("pypdf") is None or getattr(sys, "frozen", False):
            raise NotShowable(f"Nothing is there to read PDF files. {INSTALL}")
        end = time.monotonic() + seconds
        found: list[tuple[FileEntry, PdfText]] = []
        left = 0
        kept = {entry.path: self._folder / _key(entry) for entry in entries}
        self._sweep({file.name for file in kept.values()})
        for number, entry in enumerate(entries):
            text = _load(kept[entry.path])
            if text is None and time.monotonic() < end:
                progress.report(number, len(entries), "Reading PDFs")
                deadline.checkpoint()
                text = self._extract(entry, min(SECONDS, max(1.0, _remaining())))
                if text is not None:
                    self._keep(kept[entry.path], text)
            if text is None:
                left += 1
            else:
                found.append((entry, text))
        return found, left

    def _extract(self, entry: FileEntry, seconds: float) -> PdfText | None:
        """Read one PDF in a process; None where the time of this call was too short for it."""
        if entry.size > MOST_BYTES:
            return PdfText(problem=f"larger than {MOST_BYTES // 1_000_000} MB")
        try:
            data = self._read(entry.disk, MOST_BYTES)
        except AppError as error:
            log.info("%s: %s", entry.path, error.message)
            return None
        command = [sys.executable, "-m", "obsidian_mcp.adapters.pdf_worker", str(MOST_PAGES)]
        try:
            done = subprocess.run(  # noqa: S603  our own module
                command,
                input=data,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                env={**os.environ, "PYTHONSAFEPATH": "1"},
            )
        except subprocess.TimeoutExpired:
            return (
                PdfText(problem=f"takes more than {seconds:.0f} seconds to read") if seconds >= ENOUGH_SECONDS else None
            )
        except OSError as error:
            log.warning("no process can be started: %r", error)
            return None
        text = _parsed(done.stdout)
        return PdfText(problem="takes too much memory, or is broken") if text is None else text

    def _keep(self, file: Path, text: PdfText) -> None:
        with suppress(OSError):  # a full disk: it is read again the next time
            self._folder.mkdir(parents=True, exist_ok=True)
            made = file.with_suffix(f".{os.getpid()}")
            made.write_text(json.dumps({"pages": text.pages, "problem": text.problem}), encoding="utf-8")
            made.replace(file)

    def _sweep(self, wanted: set[str]) -> None:
        """Remove the texts of PDFs that have changed or gone."""
        with suppress(OSError):
            for file in self._folder.iterdir():
                if file.suffix == ".json" and file.name not in wanted:
                    file.unlink(missing_ok=True)


def _key(entry: FileEntry) -> str:
    named = f"{entry.disk}\0{entry.size}\0{entry.mtime_ns}".encode("utf-8", "surrogateescape")
    return hashlib.blake2b(named, digest_size=16).hexdigest() + ".json"


def _load(file: Path) -> PdfText | None:
    try:
        return _parsed(file.read_bytes())
    except OSError:
        return None


def _parsed(data: bytes) -> PdfText | None:
    try:
        value = json.loads(data)
        return PdfText(tuple(map(str, value["pages"])), str(value["problem"]))
    except (ValueError, KeyError, TypeError):
        return None


def _remaining() -> float:
    limit = deadline.current.get()
    return SECONDS if limit is None else limit.remaining - 1.0
