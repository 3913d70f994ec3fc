"""Whether a file can mention a name at all: a look at its bytes that costs microseconds where parsing costs a
thousand. A wrong yes costs time, a wrong no would lose an answer; so every way to write a letter is thought of.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote

from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, name_key

Probe = Callable[[bytes], bool]

WIDEST = 40
"""Bytes that one character other than a letter or digit of ASCII can take: three Hangul parts, percent-encoded."""

_ASCII_RUN = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"\w+")
_DISGUISED_ASCII = re.compile(
    rb"%[3-7][0-9a-f]"  # percent-encoded in a Markdown link
    rb"|\\[ux]0*[3-7][0-9a-f]"  # escaped in YAML or in a canvas's JSON
    rb"|&#"  # a character reference
    # the Kelvin sign and the dotted capital I, which compare equal to k and i
    rb"|\xe2\x84\xaa|\xc4\xb0|%e2%84%aa|%c4%b0|\\u0*212a|\\u0*130",
    re.IGNORECASE,
)
_MARKS = (b"%", b"\\", b"&", b"\xe2", b"\xc4")
"""One of these bytes is in every disguise; to look for them first is ten times as fast."""
_DISGUISED = re.compile(r"\\[uUxNLP_]|&#?\w+;|&#")


def of_name(path: str) -> Probe:
    """For links to this file: their path ends in its name."""
    return of_text(path.rpartition("/")[2].removesuffix(NOTE_EXTENSION))


def of_text(text: str) -> Probe:
    """For anything that compares equal to `text`, written in any of the ways of Markdown, YAML and JSON."""
    key = name_key(text)
    if not key.isascii() and sum(map(len, _ASCII_RUN.findall(key))) < 3:
        return _of_letters(key)
    runs = [run.encode() for run in _ASCII_RUN.findall(key)]
    gaps = [b".{1,%d}?" % (WIDEST * len(gap)) for gap in _ASCII_RUN.split(key)[1:-1]]
    pattern = b"".join(part for pair in zip(runs, [*gaps, b""], strict=True) for part in pair) if runs else b""
    telling = sorted(runs, key=len, reverse=True)
    in_order = re.compile(pattern, re.DOTALL).search

    def probe(data: bytes) -> bool:
        lowered = data.lower()
        if all(run in lowered for run in telling) and in_order(lowered):
            return True
        return any(mark in data for mark in _MARKS) and _DISGUISED_ASCII.search(data) is not None

    return probe


def _of_letters(key: str) -> Probe:
    """For a text of other scripts, where every byte may be written in several ways."""
    word = max(_WORD.findall(key), key=len, default="")

    def probe(data: bytes) -> bool:
        body = data.decode("utf-8", "replace")
        return word in name_key(body) or _DISGUISED.search(body) is not None or word in name_key(unquote(body))

    return probe
