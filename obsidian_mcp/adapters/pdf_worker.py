"""The helper process that reads the text of PDFs for the index (PDF-2).

Its arguments are the most bytes of memory, the vault's folder, and how much lower its priority is
to be. A request is the file as the disk spells it, and its path as the index stores it. The answer
is the `digest` of the bytes (null: try again at the next start), the fields of the `content`, where
its pages begin, and the `problem` that kept text back.
"""
# mypy: disable-error-code="import-not-found,unused-ignore"

from __future__ import annotations

import io
import logging
import os
import sys
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.text.digest import content_digest

from .helper_loop import HelperMessage, answer_requests

if TYPE_CHECKING:
    from .disk import Disk

MOST_BYTES: Final = 200_000_000
"""Largest PDF that is read."""
MOST_PAGES: Final = 2_000
MOST_CHARACTERS: Final = 2_000_000
"""About a thousand printed pages."""
_LIGATURES = str.maketrans(
    dict(zip("ﬀﬁﬂﬃﬄﬅﬆ\0", ("ff", "fi", "fl", "ffi", "ffl", "st", "st", " "), strict=True))
)


def main() -> None:
    """Read the PDFs that the parent process names, until it ends."""
    memory_bytes, root, niceness = sys.argv[1:]
    if hasattr(os, "nice"):
        os.nice(int(niceness))
    from .disk import Disk

    disk = Disk(Path(root))

    def answer_request(request: Any, _: bytes) -> HelperMessage:
        return _read_pdf(disk, *request), b""

    answer_requests(answer_request, int(memory_bytes))


def _read_pdf(folder: Disk, disk: str, path: str) -> dict[str, Any]:
    from obsidian_mcp.core.index import search_document
    from obsidian_mcp.errors import AppError

    digest, pages, problem = None, list[str](), ""
    try:
        data = folder.read_file(disk, MOST_BYTES)
        digest = content_digest(data).hex()
        pages, problem = read_pages(data)
    except AppError as error:
        problem = error.message
    text = "\n".join(pages)
    starts = list(accumulate((len(page) + 1 for page in pages[:-1]), initial=0)) if pages else []
    content = search_document.compose(path, text).to_json()
    return {"digest": digest, "content": content, "starts": starts, "problem": problem}


def read_pages(data: bytes) -> tuple[list[str], str]:
    """Return the text of the pages, and why it is not all; whatever a broken file makes the library
    stumble over."""
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    pages: list[str] = []
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return [], "locked with a password"
        length = 0
        for page in reader.pages[:MOST_PAGES]:
            text = page.extract_text().encode("utf-8", "replace").decode().translate(_LIGATURES)
            length += len(text)
            if length > MOST_CHARACTERS:
                return pages, f"only the first {len(pages)} pages are read: it has too much text"
            pages.append(text)
        if len(reader.pages) > MOST_PAGES:
            return pages, f"only the first {MOST_PAGES} of {len(reader.pages)} pages are read"
    except MemoryError:
        return pages, "takes too much memory"
    except Exception as error:  # noqa: BLE001  a broken file raises anything
        return pages, f"broken ({type(error).__name__})"
    return pages, "" if any(
        page.strip() for page in pages
    ) else "no text; its pages may be pictures"


if __name__ == "__main__":
    main()
