"""Proof that a code is redeemed by the program that asked for it (RFC 7636, S256 alone)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import Final

_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def is_challenge(text: str) -> bool:
    """Return whether a text can be the S256 challenge of a verifier."""
    return _CHALLENGE.fullmatch(text) is not None


def proves(verifier: str, challenge: str) -> bool:
    """Return whether a verifier is the one that a challenge was made of."""
    if _VERIFIER.fullmatch(verifier) is None:
        return False
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    computed = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return hmac.compare_digest(computed, challenge)
