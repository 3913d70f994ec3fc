"""The text of PDF files, as an adapter reads it (PDF-1 to PDF-4 in specs/search.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .catalog import FileEntry

EXTENSION = ".pdf"


@dataclass(frozen=True, slots=True)
class PdfText:
    """The text of one PDF by its pages; `problem` says in a few words why there is none or not all."""

    pages: tuple[str, ...] = ()
    problem: str = ""


class PdfReader(Protocol):
    """Reads the text of PDFs, and remembers it."""

    def texts(self, entries: Sequence[FileEntry], seconds: float) -> tuple[list[tuple[FileEntry, PdfText]], int]:
        """Return the texts of PDFs, and how many are not read yet after `seconds` of reading.

        Raises: NotShowable where nothing is installed that reads PDFs.
        """
        ...
