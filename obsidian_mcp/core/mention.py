"""Whether a file can mention a name at all: a look at its bytes that costs microseconds where parsing costs a
thousand. A wrong yes costs time, a wrong no would lose an answer; so every way to write a letter is thought of.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote

from .paths import NOTE_EXTENSION, name_key

Probe = Callable[[bytes], bool]

SHORTEST_RUN = 3
"""Letters and digits of ASCII that a name must have in a row to be looked for in raw bytes."""

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
_DISGUISED = re.compile(r"\\[uUxNLP_]|&#?\w+;|&#")


def of_name(path: str) -> Probe:
    """For links to this file: their path ends in its name."""
    return of_text(path.rpartition("/")[2].removesuffix(NOTE_EXTENSION))


def of_text(text: str) -> Probe:
    """For anything that compares equal to `text`, written in any of the ways of Markdown, YAML and JSON."""
    key = name_key(text)
    run = max(_ASCII_RUN.findall(key), key=len, default="")
    if len(run) >= SHORTEST_RUN or (run and key.isascii()):
        wanted = run.encode()
        return lambda data: wanted in data.lower() or _DISGUISED_ASCII.search(data) is not None
    word = max(_WORD.findall(key), key=len, default="")

    def probe(data: bytes) -> bool:
        body = data.decode("utf-8", "replace")
        return word in name_key(body) or _DISGUISED.search(body) is not None or word in name_key(unquote(body))

    return probe
