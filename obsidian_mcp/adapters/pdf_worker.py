"""A process of its own that reads the text of one PDF: a PDF may take any time and memory (PDF-2).

Takes one line of JSON on standard input: the vault's folder, the file as the disk spells it, its path as the index
stores it, and how much lower the priority is to be. Writes JSON: the `digest` of the bytes (null: try again at the next
start), the fields of the `content`, where its pages begin, and the `problem` that kept text back. It ends when its
standard input does.
"""
# mypy: disable-error-code="import-not-found,unused-ignore"

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import sys
import threading
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

MEMORY_BYTES: Final = 1_500_000_000
"""Most address space, where the system limits it."""
MOST_BYTES: Final = 200_000_000
"""Largest PDF that is read."""
MOST_PAGES: Final = 2_000
MOST_CHARACTERS: Final = 2_000_000
"""About a thousand printed pages."""
_LIGATURES = str.maketrans(dict(zip("ﬀﬁﬂﬃﬄﬅﬆ\0", ("ff", "fi", "fl", "ffi", "ffl", "st", "st", " "), strict=True)))


def main() -> None:
    root, disk, path, niceness = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(niceness)
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.stdout.buffer.write(json.dumps(_answer(Path(root), disk, path)).encode())
    sys.stdout.flush()
    os._exit(0)  # the thread holds the lock of standard input


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def _answer(root: Path, disk: str, path: str) -> dict[str, Any]:
    from obsidian_mcp.core.index import search_document
    from obsidian_mcp.errors import AppError

    from .disk import Disk

    digest, pages, problem = None, list[str](), ""
    try:
        data = Disk(root).read(disk, MOST_BYTES)
        digest = hashlib.blake2b(data, digest_size=16).hexdigest()
        pages, problem = read(data)
    except AppError as error:
        problem = error.message
    text = "\n".join(pages)
    starts = list(accumulate((len(page) + 1 for page in pages[:-1]), initial=0)) if pages else []
    content = search_document.of(path, text)[:-1]  # bytes are no JSON
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
