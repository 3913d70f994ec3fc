"""What the user allows in a vault: read from one TOML file, held in one place (specs/policy.md).

Hidden means hidden: a file that may not be read is not in the catalog, so that no search, link, count or error knows
it. What may be written is asked by `Vault.commit`, which every change goes through.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from obsidian_mcp.core.text.vault_path import VaultPath, name_key, parse_folder
from obsidian_mcp.errors import AppError, ConfirmationRequired, PermissionDenied, PolicyInvalid, StorageFailed

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)?\s*\Z", re.IGNORECASE)
_UNITS = {"b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}

CONFIRMABLE = ("create", "overwrite", "edit", "move", "delete", "permanent_delete")
"""Kinds of change that `confirm` may name."""

confirmed: ContextVar[bool] = ContextVar("confirmed", default=False)
"""Whether a person has agreed to the current call's change."""


class Globs:
    """Paths that match one of some patterns of gitignore's syntax, compared as the app compares names."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        if self.patterns:
            from pathspec import GitIgnoreSpec  # most vaults have no policy

            self._spec = GitIgnoreSpec.from_lines([name_key(pattern) for pattern in self.patterns])

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def match(self, path: str) -> bool:
        return bool(self.patterns) and self._spec.match_file(name_key(path))


NOWHERE = Globs(())


@dataclass(frozen=True, slots=True)
class Policy:
    """The user's rules for one vault. The default allows every change inside the vault."""

    read_only: bool = False
    hidden: Globs = NOWHERE
    """Files that do not exist for the tools."""
    read: Globs = NOWHERE
    """Where given, only these files exist for the tools."""
    write: Globs = NOWHERE
    """Where given, only these files may be changed."""
    largest_write: int | None = None
    """Bytes that one file may have after a write."""
    permanent_delete: bool = True
    confirm: frozenset[str] = frozenset()
    """Kinds of change that a person must confirm."""
    scopes: tuple[VaultPath, ...] = ()
    """Folders: only files below every one of them exist for the tools (POL-10)."""

    @property
    def restricts_reading(self) -> bool:
        return bool(self.hidden or self.read or self.scopes)

    def visible(self, path: str) -> bool:
        """Whether the file at this path exists for the tools."""
        return not self.conceals(path) and (not self.read or self.read.match(path))

    def conceals(self, path: str) -> bool:
        """Whether a path is hidden or outside the scope, for files and for folders (with `/` behind them)."""
        return self.hidden.match(path) or any(not _is_below(path, folder) for folder in self.scopes)

    @property
    def fingerprint(self) -> str:
        """Tells apart the indexes of policies that show different files; empty when every file is shown."""
        if not self.restricts_reading:
            return ""
        patterns = (self.hidden.patterns, self.read.patterns)
        shown = repr((*patterns, self.scopes) if self.scopes else patterns).encode()
        return f"-{hashlib.blake2b(shown, digest_size=4).hexdigest()}"

    def check_write(self, path: str, size: int = 0) -> None:
        """Raises: PermissionDenied, StorageFailed for what is too large."""
        if self.read_only:
            raise PermissionDenied("The vault is open for reading only: nothing may be changed.", path=path)
        if not self.visible(path) or (self.write and not self.write.match(path)):
            raise self.refused(path)
        if self.largest_write is not None and size > self.largest_write:
            raise StorageFailed(
                f"{path!r} would have {size:,} bytes; the user's policy allows {self.largest_write:,}. Write less.",
                path=path,
                size=size,
            )

    def refused(self, path: str) -> PermissionDenied:
        """Return the refusal: the same words for hidden files and for read-only ones."""
        limits = "".join(f" Only files below {folder!r} may be." for folder in self.scopes)
        return PermissionDenied(
            f"The user's policy does not allow {path!r} to be changed.{limits} Choose another place, or ask the user.",
            path=path,
        )

    def check_permanent(self, path: str) -> None:
        """Raises: PermissionDenied."""
        if not self.permanent_delete:
            raise PermissionDenied(
                f"The user's policy does not allow {path!r} to be deleted for good. Leave permanent out: it then goes "
                "to the trash.",
                path=path,
            )

    def check_confirmed(self, kind: str, action: str) -> None:
        """Raises: ConfirmationRequired if this kind of change needs the user's agreement and has none."""
        if kind in self.confirm and not confirmed.get():
            raise ConfirmationRequired(
                f"The user wants to confirm this: {action}. Ask, and after a yes call again with confirm set to true.",
                kind=kind,
                action=action,
            )


DEFAULT = Policy()


def _is_below(path: str, folder: VaultPath) -> bool:
    """Whether a path lies in a folder, or is the folder itself with `/` behind it."""
    return name_key(path).startswith(name_key(folder) + "/")


def parse(text: str, name: str, folder: str, *, read_only: bool = False, scope: str = "") -> Policy:
    """The policy of the vault called `name` at `folder`, from the text of the file.

    `read_only` and `scope`, a folder of the vault, limit it further.

    The file has the settings for all vaults at its top level, and those of one vault in `[vaults."name or folder"]`,
    which win.
    Raises: PolicyInvalid with the line and the key of a mistake: nothing is allowed by a file that cannot be read;
    PermissionDenied for a scope that is no path inside the vault.
    """
    settings = _settings(text, name, folder) if text else {}
    if read_only:
        settings["read_only"] = True
    if (below := parse_folder(scope)) is not None:
        settings["scopes"] = (*settings.get("scopes", ()), below)
    return Policy(**settings)


def _settings(text: str, name: str, folder: str) -> dict[str, Any]:
    import tomllib  # most users have no policy

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyInvalid(f"The policy file is not valid TOML: {error}.") from error
    vaults = data.pop("vaults", {})
    if not isinstance(vaults, Mapping):
        raise _mistake(text, "vaults", 'must be a table such as [vaults."Notes"]')
    settings = _checked(text, data)
    for key, own in vaults.items():
        if not isinstance(own, Mapping):
            raise _mistake(text, key, "must be a table of settings")
        checked = _checked(text, own)
        if name_key(key) in (name_key(name), name_key(folder)):
            settings |= checked
    return settings


def _checked(text: str, table: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key, value in table.items():
        match key:
            case "read_only" | "permanent_delete":
                if not isinstance(value, bool):
                    raise _mistake(text, key, "must be true or false")
                settings[key] = value
            case "hidden" | "read" | "write":
                settings[key] = Globs(_texts(text, key, value))
            case "scope":
                settings["scopes"] = _folders(text, key, value)
            case "largest_write":
                settings[key] = _size(text, key, value)
            case "confirm":
                kinds = _texts(text, key, value)
                if unknown := [kind for kind in kinds if kind not in CONFIRMABLE]:
                    raise _mistake(text, key, f"knows no {unknown[0]!r}; it may name {', '.join(CONFIRMABLE)}")
                settings[key] = frozenset(kinds)
            case _:
                known = "read_only, scope, hidden, read, write, largest_write, permanent_delete, confirm"
                raise _mistake(text, key, f"is not a setting; there are {known}")
    return settings


def _texts(text: str, key: str, value: Any) -> Sequence[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise _mistake(text, key, 'must be a list of patterns such as ["Private/", "*.secret.md"]')
    return value


def _folders(text: str, key: str, value: Any) -> tuple[VaultPath, ...]:
    try:
        folder = parse_folder(value) if isinstance(value, str) else None
    except AppError:
        folder = None
    if folder is None:
        raise _mistake(text, key, 'must be a folder of the vault such as "Projects/Alpha"')
    return (folder,)


def _size(text: str, key: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    found = _SIZE.match(value) if isinstance(value, str) else None
    if found is None:
        raise _mistake(text, key, 'must be a size such as "200 KB" or a number of bytes')
    return int(float(found[1]) * _UNITS[(found[2] or "b").lower()])


def _mistake(text: str, key: str, problem: str) -> PolicyInvalid:
    wanted = re.compile(rf"""^\s*(\[.*)?["']?{re.escape(key)}["']?""", re.MULTILINE)
    found = wanted.search(text)
    line = text.count("\n", 0, found.start() + len(found.group()) - len(found.group().lstrip())) + 1 if found else 0
    return PolicyInvalid(f"The policy file, line {line}: {key} {problem}.", key=key, line=line)
