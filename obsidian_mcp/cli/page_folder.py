"""The folder of the pages that `view` writes, which hold text of notes (specs/views.md VIEW-14)."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from obsidian_mcp import computer

DAY: Final = 86_400
"""Seconds after which a page is removed: nobody reloads it any more."""


class PageFolder:
    """Keeps pages for a day, where only the user can read them.

    Not in the system's temporary folder: other users can list that one, some systems empty it never
    and others while the page is open, and a browser in a sandbox sees another one under its name.
    """

    def __init__(self, cache: Path) -> None:
        """Take the folder of the cache, in which this one is made when a page is written."""
        self._folder = cache / "pages"

    def write(self, name: str, page: str) -> Path:
        """Write a page under a new name that begins with `name`, and remove those of yesterday.

        Raises: OSError.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder.chmod(0o700)  # it may have been there
        self._remove_old_pages()
        handle, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".html", dir=self._folder)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(page)
        return Path(path)

    def _remove_old_pages(self) -> None:
        oldest = time.time() - DAY
        for page in self._folder.glob("*.html"):
            with suppress(OSError):  # another command removes it, or a browser on Windows has it
                if page.stat().st_mtime < oldest:
                    computer.remove_file(page)
