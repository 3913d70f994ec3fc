"""API keys that have a name and limits: the tables `[keys.NAME]` of the policy file
(specs/policy.md POL-14)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from obsidian_mcp.core.calendar import clock
from obsidian_mcp.core.files.policy_file import POLICY_SETTINGS, PolicyFile

from .principal import Limits, Principal

SHORTEST_KEY: Final = 16
"""Characters of a key that is written into the file as it is."""
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_SHA256: Final = re.compile(r"[0-9A-Fa-f]{64}")
_KEY_SETTINGS: Final = f"{POLICY_SETTINGS}, vaults, tools, expires, and key or sha256"


@dataclass(frozen=True)
class ApiKey:
    """A key of the HTTP server that has a name. The key itself is not kept."""

    name: str
    digest: bytes = field(repr=False)
    """SHA-256 of the key."""
    limits: Limits
    expires: float = 0
    """From when on it opens nothing, in seconds since 1970; 0 = it does not end by itself."""

    def is_over(self, now: float) -> bool:
        """Return whether it has expired at a time in seconds since 1970."""
        return 0 < self.expires <= now

    @property
    def principal(self) -> Principal:
        """Who comes in with the key."""
        return Principal(self.name, self.limits, self.digest)


def read_keys(file: PolicyFile) -> tuple[ApiKey, ...]:
    """Return the keys of a policy file. Raises: PolicyInvalid."""
    keys: dict[bytes, ApiKey] = {}
    for name, table in file.table("keys", file.keys).items():
        if not is_key_name(name):
            raise file.mistake(name, "must be 1 to 40 letters, digits, - and _ to name an API key")
        key = _read_key(file, name, file.table(name, table))
        if key.digest in keys:
            raise file.mistake(
                name, f"is the same key as {keys[key.digest].name}; every name needs its own"
            )
        keys[key.digest] = key
    return tuple(keys.values())


def _read_key(file: PolicyFile, name: str, table: Mapping[str, Any]) -> ApiKey:
    settings = dict(table)
    digest = _read_digest(file, name, settings.pop("key", None), settings.pop("sha256", None))
    vaults, tools = settings.pop("vaults", []), settings.pop("tools", "")
    if not isinstance(tools, str):
        raise file.mistake("tools", 'must be a profile such as "core", or names of tools')
    expires = _read_end(file, settings.pop("expires", None))
    policy = file.limits(settings, _KEY_SETTINGS)
    limits = Limits(tuple(file.texts("vaults", vaults)), tools, policy)
    return ApiKey(name, digest, limits, expires)


def _read_end(file: PolicyFile, value: Any) -> float:
    """Return when a key ends, in seconds since 1970; 0 for one that does not.

    A day counts to its end, and a time without a zone is of this computer. Raises: PolicyInvalid.
    """
    match value:
        case None:
            return 0
        case datetime():  # is a date, too
            return clock.instant(value) / 1_000_000
        case date():
            return clock.instant(datetime.combine(value + timedelta(days=1), time())) / 1_000_000
    raise file.mistake("expires", "must be a day such as 2027-01-31, or a day and a time")


def _read_digest(file: PolicyFile, name: str, key: Any, sha256: Any) -> bytes:
    match key, sha256:
        case str(), None if len(key) >= SHORTEST_KEY and fits_header(key):
            return digest(key)
        case None, str() if _SHA256.fullmatch(sha256):
            return bytes.fromhex(sha256)
    raise file.mistake(
        name,
        f"needs either key, of at least {SHORTEST_KEY} ASCII characters, or sha256, its SHA-256 in "
        "hexadecimal",
    )


def is_key_name(name: str) -> bool:
    """Return whether an API key can have this name."""
    return _NAME.fullmatch(name) is not None


def fits_header(key: str) -> bool:
    """Return whether every program can send a key in a header of HTTP."""
    return key.isascii() and key.isprintable()


def digest(key: str) -> bytes:
    """Return the hash of a key: all have one length, so that comparing them takes the same time."""
    import hashlib

    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
