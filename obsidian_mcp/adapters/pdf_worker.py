"""A process of its own that reads the text of PDFs: a PDF may take any time and memory (PDF-2). Its arguments are the
vault's folder and how much lower its priority is to be. It takes a line of JSON for every PDF on standard input: the
file as the disk spells it, and its path as the index stores it. It answers with a line of JSON: the `digest` of the
bytes (null: try again at the next start), the fields of the `content`, where its pages begin, and the `problem` that
kept text back. It ends with its standard input, or is killed."""
# mypy: disable-error-code="import-not-found,unused-ignore"

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import sys
import time
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .disk import Disk

MEMORY_BYTES: Final = 1_500_000_000
"""Most address space, where the system limits it."""
CPU_SECONDS: Final = 60
"""Most processor time for one PDF, where the system limits it."""
MOST_BYTES: Final = 200_000_000
"""Largest PDF that is read."""
MOST_PAGES: Final = 2_000
MOST_CHARACTERS: Final = 2_000_000
"""About a thousand printed pages."""
_LIGATURES = str.maketrans(dict(zip("ﬀﬁﬂﬃﬄﬅﬆ\0", ("ff", "fi", "fl", "ffi", "ffl", "st", "st", " "), strict=True)))


def main() -> None:
    """Read the PDFs that the parent process names on stdin, until stdin ends."""
    root, niceness = sys.argv[1:]
    if hasattr(os, "nice"):
        os.nice(int(niceness))
    from .disk import Disk

    disk = Disk(Path(root))
    for line in sys.stdin.buffer:
        _limit()
        sys.stdout.buffer.write(json.dumps(_answer(disk, *json.loads(line))).encode() + b"\n")
        sys.stdout.flush()


def _limit() -> None:
    """Limit the memory of this process, and its time for one PDF: nobody may be there any more to kill it."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + CPU_SECONDS, most))


def _answer(folder: Disk, disk: str, path: str) -> dict[str, Any]:
    from obsidian_mcp.core.index import search_document
    from obsidian_mcp.errors import AppError

    digest, pages, problem = None, list[str](), ""
    try:
        data = folder.read(disk, MOST_BYTES)
        digest = hashlib.blake2b(data, digest_size=16).hexdigest()
        pages, problem = read(data)
    except AppError as error:
        problem = error.message
    text = "\n".join(pages)
    starts = list(accumulate((len(page) + 1 for page in pages[:-1]), initial=0)) if pages else []
    content = search_document.compose(path, text)[:-1]  # bytes are no JSON
    return {"digest": digest, "content": content, "starts": starts, "problem": problem}


def read(data: bytes) -> tuple[list[str], str]:
    """Return the text of the pages, and why it is not all; whatever a broken file makes the library stumble over."""
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
    return pages, "" if any(page.strip() for page in pages) else "no text; its pages may be pictures"


if __name__ == "__main__":
    main()
