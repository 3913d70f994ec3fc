"""Keys, tokens and private keys, known by the shape of their value (MEM-44).

Words such as "password" say nothing: a note about a password has none. Where a kind of token has a
check of its own, that decides, so that a text that only looks like one stays as it is.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CHECK_LETTERS = 6


def _has_checksum(token: str) -> bool:
    """Return whether the last letters of a token are the CRC of the others, as GitHub and npm write
    it."""
    body = token.partition("_")[2]
    number, digits = zlib.crc32(body[:-_CHECK_LETTERS].encode()), ""
    while number:
        number, digit = divmod(number, len(_BASE62))
        digits = _BASE62[digit] + digits
    return digits.rjust(_CHECK_LETTERS, "0") == body[-_CHECK_LETTERS:]


def _has_header(token: str) -> bool:
    """Return whether the first part of a token is the header of a JSON Web Token."""
    part = token.partition(".")[0]
    try:
        header = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except ValueError:
        return False
    return isinstance(header, dict) and "alg" in header


def _is_mixed(token: str) -> bool:
    """Return whether a token has digits and letters, as made by chance and not by a person."""
    return any(map(str.isdigit, token)) and any(map(str.isalpha, token))


_PRIVATE_KEY = (
    r"-----BEGIN (?P<label>[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----[\s\S]*?"
    r"(?:-----END (?P=label)-----|\Z)"
)
_OPENAI_KEY = (
    r"\bsk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}"
    r"|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})"
)
_KINDS: Mapping[str, tuple[str, Callable[[str], bool] | None]] = {
    "private key": (_PRIVATE_KEY, None),
    "AWS access key": (r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b", None),
    "GitHub token": (r"\bgh[pousr]_[A-Za-z0-9]{36}\b", _has_checksum),
    "GitHub token of fine grain": (r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b", None),
    "GitLab token": (r"\bgl(?:pat|rt|dt)-[A-Za-z0-9_-]{20,}", _is_mixed),
    "npm token": (r"\bnpm_[A-Za-z0-9]{36}\b", _has_checksum),
    "PyPI token": (r"\bpypi-AgE[A-Za-z0-9_-]{50,}", None),
    "Slack token": (r"\bxox[abeoprs]-(?:[0-9]+-)+[A-Za-z0-9-]{10,}", None),
    "Anthropic key": (r"\bsk-ant-[a-z]+[0-9]{2}-[A-Za-z0-9_-]{32,}", None),
    "OpenAI key": (_OPENAI_KEY, None),
    "Google key": (r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])", None),
    "Stripe key": (r"\b[rs]k_live_[A-Za-z0-9]{24,}\b", None),
    "Hugging Face token": (r"\bhf_[A-Za-z]{34}\b", None),
    "SendGrid key": (r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])", None),
    "JSON Web Token": (r"\beyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{20,}", _has_header),
    "password in an address": (r"(?<=://)[^\s/:@]+:[^\s/:@]{6,}(?=@[\w.-]+)", _is_mixed),
}
"""What a value of each kind looks like, and what it must satisfy besides."""


@dataclass(frozen=True, slots=True)
class SecretValue:
    """A secret in a text."""

    start: int
    end: int
    kind: str


def find_secrets(text: str) -> list[SecretValue]:
    """Return the secrets of a text, by place; none within another."""
    secrets = [
        SecretValue(*match.span(), kind)
        for kind, (pattern, is_real) in _KINDS.items()
        for match in re.finditer(pattern, text)
        if is_real is None or is_real(match[0])
    ]
    secrets.sort(key=lambda secret: (secret.start, -secret.end))
    apart: list[SecretValue] = []
    for secret in secrets:
        if not apart or secret.start >= apart[-1].end:
            apart.append(secret)
    return apart


def mask_secrets(text: str) -> str:
    """Return a text with each secret replaced by its kind."""
    parts, start = [], 0
    for secret in find_secrets(text):
        parts += [text[start : secret.start], f"[{secret.kind} left out]"]
        start = secret.end
    return "".join([*parts, text[start:]])
