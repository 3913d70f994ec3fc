"""A program that appends lines to the notes of a folder until its standard input ends, for the soak of servers.

    python -m tests.appending_program FOLDER SEED

It prints a line of JSON for each line that it has appended: its mark, the note, and whether the note was `replaced`
meanwhile. A program that has opened a file before another one replaces it, and writes to it afterwards, writes to no
file that anybody finds; nobody can help that, so such a line may be lost.
"""

from __future__ import annotations

import json
import os
import random
import select
import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST_PAUSE_SECONDS = 0.01


def main(folder: str, seed: str) -> None:
    root, dice, number = Path(folder), random.Random(seed), 0
    while not select.select([0], [], [], dice.uniform(0, LONGEST_PAUSE_SECONDS))[0]:
        notes = list(notes_in(root))
        if not notes:
            continue
        number += 1
        note = dice.choice(notes)
        mark = f"foreign-{number}."
        try:
            replaced = append(note, mark)
        except FileNotFoundError:  # it has been moved or deleted meanwhile
            continue
        print(json.dumps({"mark": mark, "path": str(note.relative_to(root)), "replaced": replaced}), flush=True)


def notes_in(root: Path) -> Iterator[Path]:
    """Yield the notes of a vault; folders that move meanwhile are passed over."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(folder, name) for name in names if name.endswith(".md"))


def append(note: Path, mark: str) -> bool:
    """Append a line to a note. Returns whether another file has its name now. Raises: FileNotFoundError."""
    descriptor = os.open(note, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, f"{mark}\n".encode())
        return not note.exists() or not os.path.samestat(os.fstat(descriptor), note.stat())
    except FileNotFoundError:
        return True
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main(*sys.argv[1:])
