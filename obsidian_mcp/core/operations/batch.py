"""Several calls that change a vault, worked out on a draft and made as one change (specs/batch.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from obsidian_mcp.core.text.call import report_progress
from obsidian_mcp.core.vault.changes import Operation
from obsidian_mcp.core.vault.draft import DraftVault
from obsidian_mcp.core.vault.vault import Vault

Answer = TypeVar("Answer")


def draft(vault: Vault, calls: Sequence[Callable[[DraftVault], Answer]]) -> tuple[list[Answer], list[Operation]]:
    """Make calls one after the other on a draft of a vault; return their answers, and their changes as one."""
    drafted = DraftVault(vault)
    answers: list[Answer] = []
    try:
        for done, make in enumerate(calls):
            report_progress(done, len(calls), "Working out the batch")
            drafted.refresh()
            answers.append(make(drafted))
        return answers, drafted.operations()
    finally:
        drafted.close()
