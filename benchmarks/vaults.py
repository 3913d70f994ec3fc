"""Vaults to measure on: generated once, copied for each peer, put back in order after a measurement changed them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.generate import folder_of, generate, name_of, words

RARE = "quetzalcoatl400"
"""A word of one note of every generated vault."""


def prepared(folder: Path, size: int) -> Path:
    """The vault of this size, as it was generated."""
    vault = folder.resolve() / f"vault{size}"
    if _mark(vault).exists():  # a measurement was ended in the middle of its changes
        shutil.rmtree(vault)
    generate(vault, size)
    _mark(vault).unlink(missing_ok=True)
    return vault


def copied(vault: Path, owner: str) -> Path:
    """A copy of its own for a server that may write into the vault or leave something there."""
    place = vault.parent / owner / vault.name
    if not (place / ".obsidian" / "app.json").exists():
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(vault, place, ignore=shutil.ignore_patterns(".obsidian"))
        shutil.copytree(vault / ".obsidian", place / ".obsidian")  # last: it marks a whole copy
    return place


@contextmanager
def changing(vault: Path, *notes: str) -> Iterator[dict[str, bytes]]:
    """The bytes of some notes, put back afterwards; a note that was not there is removed."""
    before = {note: (vault / note).read_bytes() for note in notes if (vault / note).exists()}
    mark = _mark(vault)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    try:
        yield before
    finally:
        for note in notes:
            if note not in before:
                (vault / note).unlink(missing_ok=True)
            elif not (vault / note).exists() or (vault / note).read_bytes() != before[note]:
                (vault / note).write_bytes(before[note])
        mark.unlink()


def _mark(vault: Path) -> Path:
    return vault.with_name(f"{vault.name}-kept") / "changed"


def paths(count: int, most: int = 200) -> list[str]:
    """Paths of some notes of a generated vault, from all over it."""
    vocabulary = words()
    some = range(0, count, max(1, count // most))
    return [f"{folder_of(number)}/{name_of(number, vocabulary)}.md" for number in some][:most]
