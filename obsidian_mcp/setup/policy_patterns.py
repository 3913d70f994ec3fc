"""Writes patterns into the policy file, in which everything else stays (specs/console.md UI-53).

The text is changed, then read again: unless it says exactly what was meant, nothing is written.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from obsidian_mcp.core.files.policy_file import names_vault

from .entries import changed_lines

VAULTS = "vaults"


def put_patterns(text: str, table: str | None, setting: str, patterns: Sequence[str] | None) -> str:
    """Return the text of a policy file in which a setting has these patterns; None takes it out.

    `table` names the table of a vault, None the top level. Patterns that stay keep their places,
    lines and comments, and new ones come behind them. Raises: ValueError for a text in which not
    everything else would stay as it is.
    """
    import tomlkit

    expected = tomllib.loads(text)
    target = expected if table is None else _table(expected, table)
    if patterns is not None:
        former = target.get(setting, ())
        old = [pattern for pattern in former if pattern in patterns]
        target[setting] = [*old, *(pattern for pattern in patterns if pattern not in former)]
    else:
        target.pop(setting, None)
    document = tomlkit.parse(text)
    settings: Any = document
    if table is not None:
        tables = document.setdefault(VAULTS, tomlkit.table(is_super_table=True))
        if table not in tables:
            tables[table] = tomlkit.table()
        settings = tables[table]
    if patterns is None:
        settings.pop(setting, None)
    elif setting in settings:
        _change_list(settings[setting], patterns)
    else:
        settings[setting] = list(patterns)
    above, changed, below = changed_lines(text, tomlkit.dumps(document))
    after = "".join([*above, *changed, *below])
    if tomllib.loads(after) != expected:
        raise ValueError(setting)
    return after


def _table(settings: dict[str, Any], name: str) -> dict[str, Any]:
    table: dict[str, Any] = settings.setdefault(VAULTS, {}).setdefault(name, {})
    return table


def _change_list(array: Any, patterns: Sequence[str]) -> None:
    """Take out of a list what is not among the patterns, and add those that are new at its end."""
    for index in reversed(range(len(array))):
        if array[index] not in patterns:
            del array[index]
    for pattern in patterns:
        if pattern not in array:
            array.append(pattern)


def table_of(settings: Mapping[str, Any], vault: str, folder: str) -> str | None:
    """Return the name of the table of a vault, the one that counts where it has several; None where
    it has none."""
    tables = settings.get(VAULTS, {})
    named = [name for name in tables if names_vault(name, vault, folder)]
    return named[-1] if named else None
