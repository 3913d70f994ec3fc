"""What the user allows in a vault: read from one TOML file, held in one place (specs/policy.md). A file that may not be
read is not in the catalog, so nothing tells of it; `Vault.commit` asks what may be written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.vault_path import VaultPath, name_key, parse_folder
from obsidian_mcp.errors import AppError, ConfirmationRequired, PermissionDenied, PolicyInvalid, StorageFailed

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)?\s*\Z", re.IGNORECASE)
_UNITS = {"b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}

CONFIRMABLE = ("create", "overwrite", "edit", "move", "delete", "permanent_delete")
"""Kinds of change that `confirm` may name."""

SHORTEST_KEY = 16
"""Characters of an API key that is written into the file as it is."""
_KEY_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_SHA256 = re.compile(r"[0-9A-Fa-f]{64}")


class Globs:
    """Paths that match one of some patterns of gitignore's syntax, compared as the app compares names."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        from pathspec import GitIgnoreSpec  # most vaults have no policy

        self._spec = GitIgnoreSpec.from_lines([name_key(pattern) for pattern in self.patterns])

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
    scopes: tuple[VaultPath, ...] = ()
    """Folders: only files below every one of them exist for the tools (POL-10)."""
    common_scopes: tuple[VaultPath, ...] = ()
    """Those scopes that hold every vault: one that lacks such a folder is left out (POL-12)."""

    def narrowed(self, other: Policy) -> Policy:
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
            confirm_after_hidden_text=self.confirm_after_hidden_text or other.confirm_after_hidden_text,
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

    def visible(self, path: str) -> bool:
        """Whether the file at this path exists for the tools."""
        return not self.conceals(path) and all(globs.match(path) for globs in self.read)

    def conceals(self, path: str) -> bool:
        """Whether a path is hidden or outside the scope, for files and for folders (with `/` behind them)."""
        hidden = any(globs.match(path) for globs in self.hidden)
        return hidden or not all(name_key(path).startswith(name_key(folder) + "/") for folder in self.scopes)

    @property
    def fingerprint(self) -> str:
        """Tells apart the indexes of policies that show different files; empty when every file is shown."""
        if not self.restricts_reading:
            return ""
        hidden, read = ([globs.patterns for globs in several] for several in (self.hidden, self.read))
        import hashlib  # takes 3 ms

        shown = repr((hidden, read, self.scopes)).encode()
        return f"-{hashlib.blake2b(shown, digest_size=4).hexdigest()}"

    def check_write(self, path: str, size: int = 0) -> None:
        """Raises: PermissionDenied, StorageFailed for what is too large."""
        if self.read_only:
            raise PermissionDenied("The vault is open for reading only: nothing may be changed.", path=path)
        if not self.visible(path) or not all(globs.match(path) for globs in self.write):
            raise self.refused(path)
        if self.largest_write is not None and size > self.largest_write:
            raise StorageFailed(
                f"{path!r} would have {size:,} bytes; the user's policy allows {self.largest_write:,}. Write less.",
                path=path,
                size=size,
            )

    def refused(self, path: str) -> PermissionDenied:
        """Return the refusal: the same words for hidden files and for read-only ones."""
        return PermissionDenied(
            f"The user's policy does not allow {path!r} to be changed.{self._limits} Choose another place, or ask the "
            "user.",
            path=path,
        )

    def refused_setting(self, what: str) -> PermissionDenied:
        """Return the refusal of what the vault's settings name, without that name (POL-18). `what`: in words, such as
        "the folder of new notes"."""
        return PermissionDenied(
            f"The user's policy does not show {what} that the vault's settings name.{self._limits} Name another one, "
            "or ask the user."
        )

    @property
    def _limits(self) -> str:
        return "".join(f" Only files below {folder!r} may be changed." for folder in self.scopes)

    def check_permanent(self, path: str) -> None:
        """Raises: PermissionDenied."""
        if not self.permanent_delete:
            raise PermissionDenied(
                f"The user's policy does not allow {path!r} to be deleted for good. Leave permanent out: it then goes "
                "to the trash.",
                path=path,
            )

    def check_confirmed(self, action: str, kind: str = "") -> None:
        """Raises: ConfirmationRequired for a change (of a CONFIRMABLE `kind`) that needs an agreement and has none."""
        call = current_call.get()
        source = call.hidden_text() if self.confirm_after_hidden_text else ""
        needed = kind in self.confirm if kind else bool(self.confirm)
        if call.has_consent or not (needed or source):
            return
        if source:
            action += f" (before, this session read {source!r}, which holds text that people do not see)"
        raise ConfirmationRequired(
            f"The user wants to confirm this: {action}. Ask, and after a yes call again with confirm set to true.",
            kind=kind,
            action=action,
        )

    def check_free_hand(self, what: str) -> None:
        """Check that the app may do `what` (in words) by itself, beyond any policy (APP-TOOL-03). Raises:
        PermissionDenied, ConfirmationRequired."""
        if self.read_only:
            raise PermissionDenied("The vault is open for reading only: nothing is run in the app.")
        if self.restricts_reading or self.write or self.largest_write is not None or not self.permanent_delete:
            raise PermissionDenied(
                f"The user's policy limits what may be read or changed in this vault, and nothing could hold the app "
                f"to it: this program does not {what}."
            )
        self.check_confirmed(what)


DEFAULT = Policy()


class ApiKey(NamedTuple):
    """A key of the HTTP server that has a name; `parse` applies its limits (POL-14)."""

    name: str
    digest: bytes
    """SHA-256 of the key."""
    vaults: tuple[str, ...] = ()
    """Names or folders of the vaults that it opens; empty = all."""
    tools: str = ""
    """Tools that it may use, as in `--tools`; empty = all that the server offers."""
    limits: Policy = DEFAULT

    def opens(self, vault: str, folder: str) -> bool:
        """Whether the key may use the vault of this name at this folder."""
        return not self.vaults or any(_is_named(named, vault, folder) for named in self.vaults)

    @property
    def is_limited(self) -> bool:
        """Whether it opens less than everything."""
        return bool(self.vaults) or self.limits != DEFAULT


def parse(text: str, name: str, folder: str, *, read_only: bool = False, scope: str = "", key: str = "") -> Policy:
    """Return the policy of the vault `name` at `folder` from the file's text: its top level, then `[vaults."name or
    folder"]`, limited further by `read_only`, `scope` (a folder) and `key` (the name of an API key). Raises:
    PolicyInvalid with line and key of a mistake, which allows nothing; PermissionDenied for a scope that is no path
    inside the vault."""
    data = _read(text)
    keys = {known.name: known for known in _keys(text, data.pop("keys", {}))}
    vaults = _table(text, "vaults", data.pop("vaults", {}))
    settings = _checked(text, data)
    settings["common_scopes"] = settings.get("scopes", ())
    for named, own in vaults.items():
        checked = _checked(text, _table(text, named, own))
        if _is_named(named, name, folder):
            settings |= checked | ({"common_scopes": ()} if "scopes" in checked else {})
    below = parse_folder(scope)
    scopes = () if below is None else (below,)
    limits = Policy(read_only=read_only, scopes=scopes, common_scopes=scopes)
    return Policy(**settings).narrowed(limits).narrowed(keys[key].limits if key else DEFAULT)


def keys(text: str) -> tuple[ApiKey, ...]:
    """Return the API keys of a policy file. Raises: PolicyInvalid."""
    return _keys(text, _read(text).get("keys", {}))


def unmatched_vaults(text: str, vaults: Iterable[tuple[str, str]]) -> list[str]:
    """Return the tables `[vaults.…]` that name none of the vaults, given by name and folder. Raises: PolicyInvalid."""
    known = list(vaults)
    for name, folder in known or [("", "")]:
        parse(text, name, folder)
    named = _table(text, "vaults", _read(text).get("vaults", {}))
    return [own for own in named if not any(_is_named(own, name, folder) for name, folder in known)]


def digest(key: str) -> bytes:
    """Return the hash of a key: all have one length, so that comparing keys takes the same time."""
    import hashlib

    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _read(text: str) -> dict[str, Any]:
    if not text:
        return {}
    import tomllib  # most users have no policy

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyInvalid(f"The policy file is not valid TOML: {error}.") from error


def _table(text: str, key: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _mistake(text, key, 'must be a table of settings, such as [vaults."Notes"] or [keys.phone]')
    return value


def _is_named(named: str, vault: str, folder: str) -> bool:
    return name_key(named) in (name_key(vault), name_key(folder))


def is_key_name(name: str) -> bool:
    """Whether an API key can have this name."""
    return _KEY_NAME.fullmatch(name) is not None


def _keys(text: str, tables: Any) -> tuple[ApiKey, ...]:
    found: dict[bytes, ApiKey] = {}
    for name, table in _table(text, "keys", tables).items():
        if not is_key_name(name):
            raise _mistake(text, name, "must be 1 to 40 letters, digits, - and _ to name an API key")
        settings = dict(_table(text, name, table))
        digest = _key_digest(text, name, settings.pop("key", None), settings.pop("sha256", None))
        if digest in found:
            raise _mistake(text, name, f"is the same key as {found[digest].name}; every name needs its own")
        vaults, tools = settings.pop("vaults", []), settings.pop("tools", "")
        if not isinstance(tools, str):
            raise _mistake(text, "tools", 'must be a profile such as "core", or names of tools')
        checked = _checked(text, settings, known=f"{_KNOWN}, vaults, tools, and key or sha256")
        limits = Policy(**checked, common_scopes=checked.get("scopes", ()))
        found[digest] = ApiKey(name, digest, tuple(_texts(text, "vaults", vaults)), tools, limits)
    return tuple(found.values())


def _key_digest(text: str, name: str, key: Any, sha256: Any) -> bytes:
    match key, sha256:
        case str(), None if len(key) >= SHORTEST_KEY and fits_header(key):
            return digest(key)
        case None, str() if _SHA256.fullmatch(sha256):
            return bytes.fromhex(sha256)
    raise _mistake(
        text,
        name,
        f"needs either key, of at least {SHORTEST_KEY} ASCII characters, or sha256, its SHA-256 in hexadecimal",
    )


def fits_header(key: str) -> bool:
    """Return whether every program can send a key in a header of HTTP."""
    return key.isascii() and key.isprintable()


_KNOWN = "read_only, scope, hidden, read, write, largest_write, permanent_delete, confirm, confirm_after_hidden_text"


def _checked(
    text: str, table: Mapping[str, Any], known: str = f"{_KNOWN}, and tables of vaults and keys"
) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key, value in table.items():
        match key:
            case "read_only" | "permanent_delete" | "confirm_after_hidden_text":
                if not isinstance(value, bool):
                    raise _mistake(text, key, "must be true or false")
                settings[key] = value
            case "hidden" | "read" | "write":
                patterns = _texts(text, key, value)
                settings[key] = (Globs(patterns),) if patterns or key != "hidden" else ()
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
