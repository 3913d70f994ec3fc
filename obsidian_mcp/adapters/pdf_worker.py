"""A process of its own that reads the text of one PDF: a PDF may take any time and memory (PDF-2).

Takes the file on standard input and the most pages as argument; writes `{"pages": […], "problem": "…"}`.
"""
# mypy: disable-error-code="import-not-found,unused-ignore"

from __future__ import annotations

import io
import json
import logging
import sys
from contextlib import suppress
from typing import Final

MEMORY_BYTES: Final = 1_500_000_000
"""Most address space, where the system limits it."""
MOST_CHARACTERS: Final = 4_000_000


def main() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    pages, problem = read(sys.stdin.buffer.read(), int(sys.argv[1]))
    sys.stdout.buffer.write(json.dumps({"pages": pages, "problem": problem}).encode())


def read(data: bytes, most_pages: int) -> tuple[list[str], str]:
    """Return the text of the pages, and why it is not all; whatever a broken file makes the library stumble over."""
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    pages: list[str] = []
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return [], "locked with a password"
        length = 0
        for page in reader.pages[:most_pages]:
            text = page.extract_text().encode("utf-8", "replace").decode()
            length += len(text)
            if length > MOST_CHARACTERS:
                return pages, f"only the first {len(pages)} pages are read: it has too much text"
            pages.append(text)
        if len(reader.pages) > most_pages:
            return pages, f"only the first {most_pages} of {len(reader.pages)} pages are read"
    except Exception as error:  # noqa: BLE001  a broken file raises anything
        return pages, f"broken ({type(error).__name__})"
    return pages, ""


if __name__ == "__main__":
    main()
