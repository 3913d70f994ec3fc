"""What no change may do: make a text unreadable, or more than fits (FILE-10, SAFE-24)."""

from __future__ import annotations

from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import MAX_FILE_BYTES, Text, check_size
from obsidian_mcp.core.text.vault_path import TEXT_EXTENSIONS, extension
from obsidian_mcp.errors import InvalidArguments

from .operation import Create, Operation, Write

MOST_BYTES = 2 * MAX_FILE_BYTES
"""Of all files that one change writes: they are held in memory together."""
MISTAKES_SHOWN = 10


def check_total(size: int) -> None:
    """Check how many bytes one change writes. Raises: InvalidArguments."""
    if size > MOST_BYTES:
        raise InvalidArguments(
            f"The files that would change hold more than {MOST_BYTES:,} bytes together, more "
            "than one change may "
            "have. Nothing was written; change fewer notes at once."
        )


def check_readable(operation: Operation) -> None:
    """Check that a change makes no text unreadable or too large (FILE-10, SAFE-24).

    A file that was unreadable before may stay so. Raises: InvalidArguments, StorageFailed.
    """
    if not isinstance(operation, Write | Create):
        return
    check_size(len(operation.after), normal_form(operation.disk))
    problem = _problem(operation.disk, operation.after)
    if problem is not None and _problem(operation.disk, operation.before) is None:
        path = normal_form(operation.disk)
        raise InvalidArguments(
            f"{path!r} could not be read any more after this change, so nothing was written. "
            f"{problem}",
            path=path,
        )


def _problem(disk: str, data: bytes) -> str | None:
    """Return why a text, canvas or base cannot be read; None for a readable one.

    Of other files nothing is known, so nothing is wrong.
    """
    kind = extension(disk)
    if kind in TEXT_EXTENSIONS and b"\0" in data:
        return "It would hold a NUL character, which no text has: leave it out."
    match kind:
        case ".canvas":
            from obsidian_mcp.core.note import canvas  # loaded when it is needed, as validate

            return canvas.read_canvas(Text.decode(data).body).error
        case ".base":
            from obsidian_mcp.core.bases.validation import validate_base

            refused = [
                str(mistake) for mistake in validate_base(Text.decode(data).body) if mistake.refused
            ]
            if refused:
                return f"The base is not readable: {name_first(refused, MISTAKES_SHOWN, '; ')}"
    return None
