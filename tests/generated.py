"""Files of the repository that the program determines. `make update` writes them anew, and tests compare them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def advice(path: Path) -> str:
    """Return what to do about a generated file that is old."""
    return f"{path.relative_to(ROOT)} is old: run `make update`, and look at what changed."


def check_text(path: Path, wanted: str, *, update: bool) -> None:
    """Assert that a generated file has this text; with `update`, write it first."""
    if update:
        path.write_text(wanted, encoding="utf-8", newline="\n")
    assert path.read_text(encoding="utf-8") == wanted, advice(path)


def check_json(path: Path, value: Any, *, update: bool) -> None:
    check_text(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n", update=update)


def check_section(path: Path, mark: str, wanted: str, *, update: bool) -> None:
    """Assert that a document has this text between the comments `mark` and `/mark`; with `update`, write it first."""
    head, _, rest = path.read_text(encoding="utf-8").partition(f"<!-- {mark} -->\n")
    tail = rest.partition(f"<!-- /{mark} -->")[2]
    check_text(path, f"{head}<!-- {mark} -->\n{wanted}<!-- /{mark} -->{tail}", update=update)
