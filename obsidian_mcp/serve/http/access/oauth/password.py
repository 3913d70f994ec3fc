"""The owner's password: kept as a scrypt hash (OAUTH-20)."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from typing import Final

from obsidian_mcp.errors import InvalidArguments

SHORTEST: Final = 12
SETTING: Final = "password"
"""Name of the setting that holds the hash."""
_COST, _BLOCK, _PARALLEL = 2**15, 8, 1
_MEMORY_BYTES: Final = 64 * 1024 * 1024
_ONE_AT_A_TIME: Final = threading.Lock()
"""A hash takes 32 MB and a tenth of a second: a flood of guesses must not multiply that."""


def check_password(password: str) -> None:
    """Refuse a password that can be guessed. Raises: InvalidArguments."""
    if len(password) < SHORTEST:
        raise InvalidArguments(
            f"The password has {len(password)} characters; it needs {SHORTEST} or more. Whoever "
            "has it can open the vault from anywhere: four random words are good."
        )


def hash_password(password: str) -> str:
    """Return what is kept of a password. Raises: InvalidArguments."""
    check_password(password)
    salt = secrets.token_bytes(16)
    return f"scrypt${salt.hex()}${_derive(password, salt).hex()}"


def is_password(password: str, stored: str) -> bool:
    """Return whether a password is the one of which a hash is kept."""
    form, _, values = stored.partition("$")
    salt, _, derived = values.partition("$")
    if form != "scrypt" or not derived:
        return False
    return hmac.compare_digest(_derive(password, bytes.fromhex(salt)), bytes.fromhex(derived))


def _derive(password: str, salt: bytes) -> bytes:
    with _ONE_AT_A_TIME:
        return hashlib.scrypt(
            password.encode("utf-8", "replace"),
            salt=salt,
            n=_COST,
            r=_BLOCK,
            p=_PARALLEL,
            maxmem=_MEMORY_BYTES,
        )
