"""What a change would do, worked out and not made yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from obsidian_mcp.core.files.ports import Undoing
from obsidian_mcp.core.text.vault_path import VaultPath

from .operation import Create, Operation, Write, difference
from .rewritten import Rewritten

_NOTHING = VaultPath("")


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What a change would do. `Vault.commit` makes its operations, all or none."""

    rewritten: tuple[Rewritten, ...] = ()
    """Files whose text changes: they are written first, where they still are."""
    steps: tuple[Operation, ...] = ()
    """What is made, moved and removed then."""
    warnings: tuple[str, ...] = ()
    reformed: tuple[tuple[str, str], ...] = ()
    """The paths of links that are written in another form, before and after (RENAME-16)."""
    source: VaultPath = _NOTHING
    """The note or folder that is moved, merged or divided; empty for changes of other kinds."""
    target: VaultPath = _NOTHING
    """Where it goes."""
    moved: Mapping[VaultPath, VaultPath] = field(default_factory=dict)
    """The files that get other paths, with these."""
    undoes: Undoing | None = None
    """The change that this one takes back."""

    @property
    def depends_on_all(self) -> bool:
        """Whether a change of any other file could make this plan wrong, as a new link to a file
        that moves."""
        return True

    @property
    def operations(self) -> tuple[Operation, ...]:
        return (*(file.operation for file in self.rewritten), *self.steps)

    @property
    def changes_anything(self) -> bool:
        """Whether a file is not as before when the change is made."""
        return any(
            not isinstance(operation, Write) or operation.after != operation.before
            for operation in self.operations
        )

    def diffs(self) -> Iterator[str]:
        """Yield what is written anew or changes in every text, the new files first."""
        yield from (difference(step) for step in self.steps if isinstance(step, Create | Write))
        yield from (file.diff for file in self.rewritten)


class Planned(Exception):
    """The change that a call would have made, allowed by the policy but for a person's consent."""

    def __init__(self, tool: str, change: PlannedChange) -> None:
        self.tool = tool
        self.change = change
