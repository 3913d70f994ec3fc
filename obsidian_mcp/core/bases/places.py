"""Where the values of a YAML text stand (BASE-09)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import yaml

Path = tuple[str | int, ...]
"""Keys and list positions that lead to a value of the YAML."""


class Places:
    """Lines and columns of one YAML text that is known to be sound; it is looked through when first needed."""

    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, path: Path, inside: int = 0) -> tuple[int, int]:
        """Line and column, from 1, of a value, or of the character `inside` it; of what is around it without one."""
        node = self._root
        if node is None:
            return 1, 1
        for step in path:
            found = _child(node, step)
            if found is None:
                break
            node = found
        line, column = node.start_mark.line + 1, node.start_mark.column + 1
        if inside and isinstance(node, yaml.ScalarNode) and node.style not in ("|", ">"):
            written = self._lines[line - 1][column - 1 :]
            quote = 1 if node.style in ("'", '"') else 0
            if written[quote:].startswith(node.value):
                column += quote + inside
        return line, column

    @cached_property
    def _root(self) -> Any:
        try:
            return yaml.compose(self._text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.YAMLError:  # sound for the app, as a template field without quotes is
            return None

    @cached_property
    def _lines(self) -> list[str]:
        return self._text.split("\n")


def _child(node: Any, step: str | int) -> Any:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step]
    return None
