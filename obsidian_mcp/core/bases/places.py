"""Where the values of a base stand in its YAML (BASE-09)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import yaml

YamlPath = tuple[str | int, ...]
"""Keys and list positions that lead to a value of the YAML."""


def find_place(text: str, path: YamlPath, inside: int = 0) -> tuple[int, int]:
    """Return line and column, from 1, of a value in a YAML text that is known to be sound.

    Where the path leads to nothing, it is the place of the innermost value on it. `inside` is the
    index of a character of the value: its column is returned where it is certain, which it is not
    in a text of several lines or with escapes.
    """
    node, lines = _compose(text)
    if node is None:
        return 1, 1
    for step in path:
        child = _child(node, step)
        if child is None:
            break
        node = child
    line, column = node.start_mark.line + 1, node.start_mark.column + 1
    if inside and isinstance(node, yaml.ScalarNode) and node.style not in ("|", ">"):
        written = lines[line - 1][column - 1 :]
        quote = 1 if node.style in ("'", '"') else 0
        if written[quote:].startswith(node.value):
            column += quote + inside
    return line, column


@lru_cache(maxsize=1)
def _compose(text: str) -> tuple[Any, list[str]]:
    """Return the root node of a YAML text, and its lines; it is kept for the next place."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.compose(text, Loader=loader), text.split("\n")
    except yaml.YAMLError:  # sound for the app, as a template field without quotes is
        return None, []


def _child(node: Any, step: str | int) -> Any:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step]
    return None
