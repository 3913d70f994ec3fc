"""The address at which other computers reach the server (specs/remote.md)."""

from __future__ import annotations

import pytest

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.http.access.public_url import read_public_url


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("https://notes.example.com", "https://notes.example.com"),
        (" https://Notes.Example.COM/ ", "https://notes.example.com"),
        ("https://notes.example.com:443", "https://notes.example.com"),
        ("https://notes.example.com:8443/", "https://notes.example.com:8443"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
        ("http://localhost:3000/", "http://localhost:3000"),
        ("http://[::1]:3000", "http://[::1]:3000"),
    ],
)
def test_a_public_address_has_one_spelling(typed: str, address: str) -> None:
    """REMOTE-01"""
    assert read_public_url(typed) == address


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("notes.example.com", "must begin with https://"),
        ("ftp://notes.example.com", "must begin with https://"),
        ("https://", "must begin with https:// and name a host"),
        ("https://notes.example.com/mcp", "must end behind the host"),
        ("https://notes.example.com?x=1", "must end behind the host"),
        ("https://notes.example.com/#x", "must end behind the host"),
        ("https://me:secret@notes.example.com", "must not hold a user name"),
        ("http://notes.example.com", "http is for this machine alone"),
        ("http://192.168.1.5:3000", "http is for this machine alone"),
        ("https://notes.example.com:port", "is no URL"),
    ],
)
def test_what_cannot_be_the_address_of_the_server_is_refused_with_what_to_write(typed: str, problem: str) -> None:
    """REMOTE-01"""
    with pytest.raises(InvalidArguments, match=problem) as raised:
        read_public_url(typed)
    assert "such as https://notes.example.com" in raised.value.message
