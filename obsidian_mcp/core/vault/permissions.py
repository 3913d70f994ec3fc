"""Whether the user's policy allows an operation on files, or asks for a person's consent (POL)."""

from __future__ import annotations

from dataclasses import dataclass

from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.files.ports import Files
from obsidian_mcp.core.files.spellings import normal_form

from .listing import Listing
from .operation import Create, MakeFolder, Move, Operation, Remove, RemoveFolder, Write


@dataclass(frozen=True, eq=False, slots=True)
class Permissions:
    """What the policy of one vault allows to be done to its files."""

    _policy: Policy
    _listing: Listing
    _files: Files

    def check(self, operation: Operation, *, overwrites: bool) -> None:
        """Check that an operation may be made; `overwrites`: it replaces a whole note.

        Raises: PermissionDenied, StorageFailed, ConfirmationRequired.
        """
        path = normal_form(operation.disk)
        match operation:
            case RemoveFolder():
                return
            case MakeFolder():
                self._policy.check_write(f"{path}/")
                return
            case Write() | Create():
                self._policy.check_write(path, len(operation.after))
                kind = (
                    "create"
                    if isinstance(operation, Create)
                    else "overwrite"
                    if overwrites
                    else "edit"
                )
            case Move():
                self._check_movable(operation)
                kind = "move"
            case Remove():
                self._policy.check_write(path)
                if operation.permanent:
                    self._policy.check_permanent(path)
                kind = "permanent_delete" if operation.permanent else "delete"
        self._policy.check_confirmed(f"{kind.replace('_', ' ')} {path!r}", kind)

    def _check_movable(self, move: Move) -> None:
        """Check that every file of a folder may be moved. Raises: PermissionDenied."""
        source, target = normal_form(move.disk), normal_form(move.target)
        if (
            self._listing.catalog.on_disk(move.disk) is not None
            or self._files.subfolders(move.disk) is None
        ):
            self._policy.check_write(source)
            self._policy.check_write(target)
            return
        inside = (
            list(self._files.scan(move.disk))
            if self._policy.restricts_reading or self._policy.write
            else []
        )
        for file in inside:
            below = normal_form(file.disk)[len(source) :]
            if not self._listing.is_visible(file.disk):
                raise self._policy.refusal_of(source)
            self._policy.check_write(source + below)
            self._policy.check_write(target + below)
        if not inside:
            self._policy.check_write(source + "/")
            self._policy.check_write(target + "/")
