"""What the owner has allowed one program that signed in (specs/remote.md GRANT)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

MOST_WORD: Final = 32
"""Characters of the word that a grant is named after; a number may follow."""
_NO_WORD: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Grant:
    """A connection that the owner allowed on the consent page.

    It lives until it is ended, or until nothing of it was used for as long as refresh tokens live.
    Times are seconds since 1970, in UTC.
    """

    id: str
    """Random, and no secret: what sessions, history and the principal are bound to."""
    name: str
    """A word that is unique among grants and keys, such as `claude` or `claude-2`."""
    app: str
    """What the program calls itself; nobody has checked that."""
    host: str
    """Where the browser went with the answer: `claude.ai`, or `localhost` for a program of the
    owner's own computer."""
    client: str
    """The `client_id` with which the program signed in."""
    resource: str
    """The address for which it was allowed (the audience of its tokens): `PUBLIC/mcp`."""
    vault: str
    """Absolute folder of the vault that it opens; empty = every vault of the server."""
    folder: str
    """Folder of the vault outside which nothing exists for it; empty = the whole vault."""
    is_read_only: bool
    created: float
    used: float
    """When it was used last, exact to a minute; `created` if never."""
    expires: float = 0.0
    """When it ends whatever happens; 0 = never."""
    asked_less: bool = False
    """Whether the program itself asked for reading alone, so that it may ask for more (403)."""


def choose_name(app: str, taken: Collection[str]) -> str:
    """Return a word for a program of this name that is not taken, numbered where it must be."""
    plain = unicodedata.normalize("NFKD", app).encode("ascii", "ignore").decode().lower()
    word = _NO_WORD.sub("-", plain).strip("-")[:MOST_WORD].strip("-") or "app"
    if word not in taken:
        return word
    number = 2
    while f"{word}-{number}" in taken:
        number += 1
    return f"{word}-{number}"
