"""What the index keeps of a task's line, so that a query reads only lines that can matter (TASK-130).

Both hold for every notation, whatever the settings are.
"""

from __future__ import annotations

import re

_find_days = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}").findall
_OF_DEPENDENCIES = ("🆔", "⛔", "id::", "dependsOn::")


def written_days(line: str) -> tuple[str, str]:
    """Return the first and the last day in a line as `YYYY-MM-DD`, two empty texts without one."""
    days = _find_days(line)
    return (min(days), max(days)) if days else ("", "")


def names_dependency(line: str) -> bool:
    """Return whether a task in this line can have an id or depend on one."""
    return any(mark in line for mark in _OF_DEPENDENCIES)
