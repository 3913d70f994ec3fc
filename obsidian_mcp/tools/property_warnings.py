"""What the answer to a change says of notes whose properties the app cannot read (TOOL-38).

No query finds such a note by its properties any more, and nobody sees it before a person opens the
note. So the answer to the change says it, while whoever wrote it can still mend it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from obsidian_mcp.core.frontmatter.plain_block import is_plainly_sound
from obsidian_mcp.core.text.text import Text, to_printable
from obsidian_mcp.core.vault.operation import Create, Write

MOST_NOTES = 200
"""Notes of one change whose properties are read."""
NOTES_NAMED = 5
"""Of one change of many notes, those whose fault is told; the others are counted."""
_LINE = b"---"
"""Begins and ends properties; behind it and a byte order mark, six bytes, there are none."""


def warn_of_properties(operations: Iterable[Any]) -> list[str]:
    """Return a sentence for each note that a change writes, or would write, and whose properties
    cannot be read then, with the line; for the first of many."""
    written = [
        operation
        for operation in operations
        if isinstance(operation, Write | Create) and _may_have_properties(operation)
    ]
    if not written:
        return []
    faults = [
        (operation.disk, fault)
        for operation in written[:MOST_NOTES]
        if (fault := _find_fault(operation)) is not None
    ]
    if len(written) == 1:
        return [fault for _, fault in faults]
    warnings = [f"{to_printable(disk)!r}: {fault}" for disk, fault in faults[:NOTES_NAMED]]
    others = len(faults) - len(warnings)
    if others:
        warnings.append(f"The properties of {others} more of these notes cannot be read.")
    return warnings


def property_faults(body: str) -> list[str]:
    """Return why the properties of a note cannot be read, as a list of at most one sentence."""
    if is_plainly_sound(body):
        return []
    from obsidian_mcp.core.frontmatter.parser import find_fault  # most notes are read without

    fault = find_fault(body)
    return [fault.message] if fault is not None else []


def _may_have_properties(operation: Write | Create) -> bool:
    is_note = operation.disk.lower().endswith(".md")
    return is_note and _LINE in operation.before[:6] + operation.after[:6]


def _find_fault(operation: Write | Create) -> str | None:
    """Return why the properties of a note cannot be read after a change.

    Text that was added above properties without an end hides their fault: what was wrong before is
    told then.
    """
    body, before = (Text.decode(data).body for data in (operation.after, operation.before))
    if is_plainly_sound(body) and is_plainly_sound(before):
        return None
    from obsidian_mcp.core.frontmatter.parser import find_fault  # most notes do without

    fault = find_fault(body)
    if fault is not None:
        return fault.message
    if before and body.endswith(before) and body != before:
        covered = find_fault(before)
        if covered is not None and covered.is_unclosed:
            return f"Before the change: {covered.message} The new text stands above it."
    return None
