"""What operations of a change are compared by."""

from __future__ import annotations

from itertools import combinations

from obsidian_mcp.core.vault.operation import Create, MakeFolder, Move, Operation, Remove, RemoveFolder, Write


def test_operations_of_two_kinds_are_never_equal() -> None:
    """A tuple with the same members would be: making a folder, and removing the empty one."""
    operations: list[Operation] = [
        Write("a", b"", b""),
        Create("a", b""),
        Move("a", "", False),
        Remove("a", False, False),
        Remove("a", True, False),
        RemoveFolder("a"),
        MakeFolder("a"),
    ]

    assert not [pair for pair in combinations(operations, 2) if pair[0] == pair[1]]
