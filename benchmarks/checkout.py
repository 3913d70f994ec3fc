"""Another program that changes many notes, as `git checkout` does: `python -m benchmarks.checkout VAULT WORD < paths`.

Each file is removed and made anew, with a line that holds the word at its end in place of the last such line.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

MARK = b"\nChecked out: "


def change(path: Path, word: str) -> None:
    data = path.read_bytes().partition(MARK)[0]
    path.unlink()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(descriptor, data + MARK + word.encode() + b"\n")
    os.close(descriptor)


def main() -> None:
    vault, word = Path(sys.argv[1]), sys.argv[2]
    for line in sys.stdin.buffer.read().decode().splitlines():
        change(vault / line, word)


if __name__ == "__main__":
    main()
