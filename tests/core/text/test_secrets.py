"""Secrets are known by the shape of their value, on both sides (specs/memory.md)."""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
import zlib

import pytest

from obsidian_mcp.core.text.secrets import find_secrets, mask_secrets

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def letters(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Letters by chance, the same in each run; no real secret is written down anywhere."""
    return "".join(random.Random(count).choices(alphabet, k=count))


def with_check(prefix: str) -> str:
    body = letters(30)
    number, check = zlib.crc32(body.encode()), ""
    while number:
        number, digit = divmod(number, 62)
        check = DIGITS[digit] + check
    return f"{prefix}{body}{check:0>6}"


def part(data: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")


PEM = "-----BEGIN {0}PRIVATE KEY-----\n" + letters(64) + "\n-----END {0}PRIVATE KEY-----"
SECRETS = {
    "AWS access key": "AKIA" + letters(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "GitHub token": with_check("ghp_"),
    "GitHub token of fine grain": f"github_pat_{letters(22)}_{letters(59)}",
    "GitLab token": "glpat-" + letters(19) + "7",
    "npm token": with_check("npm_"),
    "PyPI token": "pypi-AgEIcHlwaS5vcmc" + letters(60),
    "Slack token": "xoxb-" + "123456789012-" * 2 + letters(24),
    "Anthropic key": "sk-ant-api03-" + letters(90),
    "OpenAI key": "sk-proj-" + letters(48),
    "Google key": "AIza" + letters(35),
    "Stripe key": "sk_live_" + letters(24),
    "Hugging Face token": "hf_" + letters(34, string.ascii_letters),
    "SendGrid key": f"SG.{letters(22)}.{letters(43)}",
    "JSON Web Token": f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part({'sub': '1'})}.{letters(43)}",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_masked_with_its_kind(kind: str) -> None:
    """MEM-44"""
    text = f"The key is {SECRETS[kind]}, for now."

    (secret,) = find_secrets(text)
    assert secret.kind == kind
    assert mask_secrets(text) == f"The key is [{kind} left out], for now."


@pytest.mark.parametrize("label", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_a_private_key_is_masked_whole_also_without_its_end(label: str) -> None:
    """MEM-44"""
    whole = PEM.format(label)
    assert mask_secrets(f"a {whole} b") == "a [private key left out] b"
    assert mask_secrets(f"a {whole[:60]}") == "a [private key left out]"


def test_a_password_in_an_address_is_masked_and_the_address_stays() -> None:
    """MEM-44"""
    text = "postgres://app:s3cr3tPw99@db.example.com/orders"
    assert mask_secrets(text) == "postgres://[password in an address left out]@db.example.com/orders"


@pytest.mark.parametrize(
    "text",
    [
        "The password is changed every month; the token of the API lies in the safe.",
        "password: hunter2",
        f"commit {letters(40, '0123456789abcdef')}",
        f"id {uuid.UUID(int=123456789123456789123456789)}",
        f"^memory-{letters(10, '0123456789abcdef')}",
        "ghp_" + "a" * 36,
        "npm_" + "x1" * 18,
        "AKIA is how such a key begins",
        "glpat-is-the-prefix-of-those-tokens-here",
        "sk-learn and sk-SK are no keys",
        "-----BEGIN PUBLIC KEY-----\n" + letters(64) + "\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\n" + letters(64) + "\n-----END CERTIFICATE-----",
        "eyJubyI6IGhlYWRlciJ9.eyJzdWIiOiIxIn0." + letters(43),
        "data:image/png;base64," + base64.b64encode(bytes(range(200))).decode(),
        "https://example.com:8443/path@home",
        "https://user:password@example.com",
        "ISBN 978-3-16-148410-0, IBAN DE89 3704 0044 0532 0130 00",
    ],
)
def test_what_only_looks_like_one_or_speaks_of_one_stays(text: str) -> None:
    """MEM-44"""
    assert find_secrets(text) == []
    assert mask_secrets(text) == text
