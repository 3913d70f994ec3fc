"""Tables that stand as files beside the modules that read them: a row a line, tabs between
columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def read_rows(module: str, name: str) -> Iterator[list[str]]:
    """Yield the columns of each line of the file `name.tsv` beside a module.

    `module` is the module's own `__file__`.
    """
    lines = (Path(module).parent / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return (line.split("\t") for line in lines)
