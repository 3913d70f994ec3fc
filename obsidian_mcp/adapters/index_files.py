"""The files of an index on disk: their names, and their removal (specs/index.md, INDEX-11)."""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path

from obsidian_mcp.core.index.schema import VERSION

OTHER_VERSION_SECONDS = 30 * 86_400.0
"""Files of other versions of the program are removed when untouched for so long: until then they
may be in use."""


def version_file(place: Path) -> Path:
    """Return the file of this version's index at `place` (INDEX-11), and remove those of other
    versions that have not changed for OTHER_VERSION_SECONDS."""
    file = place.with_name(f"{place.stem}.{VERSION:08x}{place.suffix}")
    name = re.compile(rf"{re.escape(place.stem)}\.([0-9a-f]{{8}})(\.\d+)?{re.escape(place.suffix)}")
    oldest = time.time() - OTHER_VERSION_SECONDS
    with contextlib.suppress(OSError):
        for file_there in place.parent.iterdir():
            if (
                name.fullmatch(file_there.name)
                and file_there != file
                and file_there.stat().st_mtime < oldest
            ):
                remove_database(file_there)
    return file


def database_files(file: Path) -> list[Path]:
    """Return the files that SQLite keeps of a database; the database itself last, so that it is
    never left with a log that is not its own."""
    return [file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm"), file]


def remove_database(file: Path) -> bool:
    """Remove a database; return whether it could be: on Windows a file that another process has
    open stays."""
    with contextlib.suppress(OSError):
        for part in database_files(file):
            part.unlink(missing_ok=True)
        return True
    return False
