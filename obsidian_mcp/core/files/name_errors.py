"""The errors for names that several files have or none has any more, and for files that have
changed meanwhile (specs/names.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import AmbiguousName, NoteNotFound, StaleEtag

from .spellings import normal_form

CANDIDATES_SHOWN = 10


def ambiguous_name_error(raw: str, paths: Sequence[VaultPath]) -> AmbiguousName:
    """Return the error for a name that several files have.

    Twins (NAME-06) look alike; the escapes of JSON tell a person and a model which is which.
    """
    from json import dumps  # no name that is right needs it

    alike = Counter(map(normal_form, paths))
    named = [
        f"{path!r} (in JSON {dumps(path)})" if alike[normal_form(path)] > 1 else repr(path)
        for path in paths
    ]
    return AmbiguousName(
        f"{len(paths)} files match the name {raw!r}: {name_first(named, CANDIDATES_SHOWN)}. "
        "Give the full path of the one you mean, with its extension.",
        candidates=[str(path) for path in paths[:CANDIDATES_SHOWN]],
    )


def file_gone(path: str) -> NoteNotFound:
    """Return the error for a file that another program has taken since it was found."""
    return NoteNotFound(
        f"There is no file {to_printable(path)!r} any more: another program has just moved or "
        "deleted it. Look where it is now, and try again.",
        path=path,
    )


def changed_meanwhile_error(disk: str) -> StaleEtag:
    """Return the error for a file that no longer holds what a change was made from."""
    path = normal_form(disk)
    return StaleEtag(
        f"{path!r} was changed by another program in this moment. "
        "Nothing was written; read it again and repeat the edit.",
        path=path,
    )
