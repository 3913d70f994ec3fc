"""Files outside the vaults that the user allows to be brought in (OBSIDIAN_MCP_IMPORT)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from obsidian_mcp.errors import NoteNotFound, PermissionDenied, StorageFailed


def read_allowed(folders: Sequence[Path], path: str, most: int) -> bytes:
    """Return a file of at most `most` bytes below one of the folders. Raises: PermissionDenied outside the folders,
    with links followed; NoteNotFound, StorageFailed."""
    if not folders:
        raise PermissionDenied(
            "No folder is allowed as a source. Send the file as base64 in `data`, or name folders in the "
            "environment variable OBSIDIAN_MCP_IMPORT.",
            path=path,
        )
    try:
        real = Path(path).expanduser().resolve()
        allowed = [folder.expanduser().resolve() for folder in folders]
        if not any(real.is_relative_to(folder) for folder in allowed):
            raise PermissionDenied(
                f"'{path}' is not below an allowed folder: {', '.join(map(str, allowed))}.", path=path
            )
        if not real.is_file():
            raise NoteNotFound(f"There is no file '{path}'.", path=path)
        if real.stat().st_size > most:
            raise StorageFailed(f"'{path}' is larger than {most:,} bytes.", path=path)
        return real.read_bytes()
    except (OSError, ValueError, RuntimeError) as error:
        raise StorageFailed(f"'{path}' cannot be read: {error}.", path=path) from error
