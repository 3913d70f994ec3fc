"""Where the values of a YAML text stand (BASE-09)."""

from __future__ import annotations

from typing import Any

import yaml

Path = tuple[str | int, ...]
"""Keys and list positions that lead to a value of the YAML."""


def locate(text: str, path: Path, inside: int = 0) -> tuple[int, int] | None:
    """Line and column, from 1, of a value in the YAML, or of the character `inside` it; None where there is none."""
    node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    for step in path:
        found = _child(node, step)
        if found is None:
            break
        node = found
    if node is None:
        return None
    line, column = node.start_mark.line + 1, node.start_mark.column + 1
    if inside and isinstance(node, yaml.ScalarNode) and node.style not in ("|", ">"):
        written = text.splitlines()[line - 1][column - 1 :]
        shift = 1 if node.style in ("'", '"') else 0
        if written[shift:].startswith(node.value):
            column += shift + inside
    return line, column


def _child(node: Any, step: str | int) -> Any:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step]
    return None
