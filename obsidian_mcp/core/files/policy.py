"""What the user allows in a vault (specs/policy.md).

Hidden means hidden: a file that may not be read is not in the catalog, so that no search, link,
count or error tells of it. What may be written is asked by `Vault.commit`, which every change goes
through. `policy_file` reads the file in which the user writes this down.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.vault_path import VaultPath, name_key, parse_folder
from obsidian_mcp.errors import ConfirmationRequired, PermissionDenied, StorageFailed

CONFIRMABLE = ("create", "overwrite", "edit", "move", "delete", "permanent_delete")
"""Kinds of change that `confirm` may name."""
_DELETIONS = frozenset({"delete", "permanent_delete"})


class Globs:
    """Paths that match one of some patterns of gitignore's syntax, compared as the app compares
    names.

    Two with the same patterns are equal, so that a policy that is read again from an unchanged file
    equals the one that was read before.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        from pathspec import GitIgnoreSpec  # most vaults have no policy

        self._spec = GitIgnoreSpec.from_lines([name_key(pattern) for pattern in self.patterns])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Globs) and self.patterns == other.patterns

    def __hash__(self) -> int:
        return hash(self.patterns)

    def match(self, path: str) -> bool:
        return self._spec.match_file(name_key(path))


class Policy(NamedTuple):
    """The user's rules for one vault. The default allows every change inside the vault."""

    read_only: bool = False
    hidden: tuple[Globs, ...] = ()
    """Files that do not exist for the tools."""
    read: tuple[Globs, ...] = ()
    """Only files that all of these match exist for the tools."""
    write: tuple[Globs, ...] = ()
    """Only files that all of these match may be changed."""
    largest_write: int | None = None
    """Bytes that one file may have after a write."""
    permanent_delete: bool = True
    confirm: frozenset[str] = frozenset()
    """Kinds of change that a person must confirm."""
    confirm_after_hidden_text: bool = False
    """Whether a person must confirm every change by a client that has read hidden text (POL-13)."""
    rules: bool = True
    """Whether clients are told the rules of the vault's owner (MEM-30)."""
    scopes: tuple[VaultPath, ...] = ()
    """Folders: only files below every one of them exist for the tools (POL-10)."""
    common_scopes: tuple[VaultPath, ...] = ()
    """Those scopes that hold every vault: one that lacks such a folder is left out (POL-12)."""

    def narrow_by(self, other: Policy) -> Policy:
        """Return the policy that allows what both allow."""
        sizes = [size for size in (self.largest_write, other.largest_write) if size is not None]
        return Policy(
            read_only=self.read_only or other.read_only,
            hidden=self.hidden + other.hidden,
            read=self.read + other.read,
            write=self.write + other.write,
            largest_write=min(sizes, default=None),
            permanent_delete=self.permanent_delete and other.permanent_delete,
            confirm=self.confirm | other.confirm,
            confirm_after_hidden_text=self.confirm_after_hidden_text
            or other.confirm_after_hidden_text,
            rules=self.rules and other.rules,
            scopes=self.scopes + other.scopes,
            common_scopes=self.common_scopes + other.common_scopes,
        )

    @property
    def asks(self) -> bool:
        """Whether a person may have to confirm a change."""
        return bool(self.confirm) or self.confirm_after_hidden_text

    @property
    def restricts_reading(self) -> bool:
        return bool(self.hidden or self.read or self.scopes)

    def is_visible(self, path: str) -> bool:
        """Return whether the file at this path exists for the tools."""
        return not self.conceals(path) and all(globs.match(path) for globs in self.read)

    def conceals(self, path: str) -> bool:
        """Return whether a path is hidden or outside the scope, for files and for folders (with `/`
        behind them)."""
        hidden = any(globs.match(path) for globs in self.hidden)
        return hidden or not all(
            name_key(path).startswith(name_key(folder) + "/") for folder in self.scopes
        )

    @property
    def fingerprint(self) -> str:
        """Tells apart the indexes of policies that show different files; empty when every file is
        shown."""
        if not self.restricts_reading:
            return ""
        hidden, read = (
            [globs.patterns for globs in several] for several in (self.hidden, self.read)
        )
        import hashlib  # takes 3 ms

        limits = repr((hidden, read, self.scopes)).encode()
        return f"-{hashlib.blake2b(limits, digest_size=4).hexdigest()}"

    def check_write(self, path: str, size: int = 0) -> None:
        """Raises: PermissionDenied, StorageFailed for what is too large."""
        if self.read_only:
            raise PermissionDenied(
                "The vault is open for reading only: nothing may be changed.", path=path
            )
        if not self.is_visible(path) or not all(globs.match(path) for globs in self.write):
            raise self.refusal_of(path)
        if self.largest_write is not None and size > self.largest_write:
            raise StorageFailed(
                f"{path!r} would have {size:,} bytes; the user's policy allows "
                f"{self.largest_write:,}. Write less.",
                path=path,
                size=size,
            )

    def refusal_of(self, path: str) -> PermissionDenied:
        """Return the refusal: the same words for hidden files and for read-only ones."""
        return PermissionDenied(
            f"The user's policy does not allow {path!r} to be changed.{self._limits} Choose "
            "another place, or ask the "
            "user.",
            path=path,
        )

    def refused_setting(self, what: str) -> PermissionDenied:
        """Return the refusal of what the vault's settings name, without that name (POL-18).

        `what`: in words, such as "the folder of new notes".
        """
        return PermissionDenied(
            f"The user's policy does not show {what} that the vault's settings "
            f"name.{self._limits} Name another one, "
            "or ask the user."
        )

    @property
    def _limits(self) -> str:
        return "".join(f" Only files below {folder!r} may be changed." for folder in self.scopes)

    def check_permanent(self, path: str) -> None:
        """Raises: PermissionDenied."""
        if not self.permanent_delete:
            raise PermissionDenied(
                f"The user's policy does not allow {path!r} to be deleted for good. Leave "
                "permanent out: it then goes "
                "to the trash.",
                path=path,
            )

    def check_confirmed(self, action: str, kind: str = "") -> None:
        """Raises: ConfirmationRequired for a change (of a CONFIRMABLE `kind`) that needs an
        agreement and has none."""
        call = current_call.get()
        source = call.hidden_text() if self.confirm_after_hidden_text else ""
        needed = kind in self.confirm if kind else bool(self.confirm)
        if call.has_consent or not (needed or source):
            return
        if source:
            action += (
                f" (before, this session read {source!r}, which holds text that people do not see)"
            )
        raise ConfirmationRequired(
            f"The user wants to confirm this: {action}. Ask, and after a yes call again with "
            "confirm set to true.",
            kind=kind,
            action=action,
        )

    def check_free_hand(self, what: str) -> None:
        """Check that the app may do `what` (in words) by itself, beyond any policy (APP-TOOL-03).

        Raises: PermissionDenied, ConfirmationRequired.
        """
        if self.read_only:
            raise PermissionDenied("The vault is open for reading only: nothing is run in the app.")
        if (
            self.restricts_reading
            or self.write
            or self.largest_write is not None
            or not self.permanent_delete
        ):
            raise PermissionDenied(
                "The user's policy limits what may be read or changed in this vault, and "
                "nothing could hold the app "
                f"to it: this program does not {what}."
            )
        self.check_confirmed(what)


DEFAULT = Policy()


def process_policy(
    scope: str, *, read_only: bool, hidden: tuple[str, ...] = (), confirms_deleting: bool = False
) -> Policy:
    """Return the policy that a process sets for all its vaults, beside those of the file.

    `scope`: a folder, empty for the whole vault; `hidden`: patterns. Raises: PermissionDenied for a
    scope that is no path inside a vault.
    """
    folder = parse_folder(scope)
    scopes = () if folder is None else (folder,)
    return Policy(
        read_only=read_only,
        hidden=(Globs(hidden),) if hidden else (),
        confirm=_DELETIONS if confirms_deleting else frozenset(),
        scopes=scopes,
        common_scopes=scopes,
    )
