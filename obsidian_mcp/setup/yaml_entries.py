"""One server's entry in a client's YAML file: put in, changed and taken out at its place in the text. Values are
written as JSON, which is YAML too; `entries` proves that nothing else changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class UnreadableYaml(Exception):
    """The text is no YAML, or holds no mapping. The message says where."""


def read(text: str) -> dict[str, Any]:
    """Return what the text says. Raises: UnreadableYaml."""
    import yaml  # takes 20 ms to import

    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UnreadableYaml(" ".join(str(error).split())) from error
    if not isinstance(data, dict | None):
        raise UnreadableYaml("it does not hold a mapping")
    return data or {}


def put(text: str, key: str, name: str, entry: Mapping[str, Any], *, afresh: bool = False) -> str:
    """Return the text with the entry below `key`; other members of one that is there stay, unless `afresh`. Raises:
    ValueError for a layout in which there is no place for it."""
    newline = "\r\n" if "\r\n" in text else "\n"
    servers = _member(_root(text), key)
    if servers is None:
        above = text if not text or text.endswith("\n") else text + newline
        return above + newline.join([f"{key}:", *_lines("  ", name, entry), ""])
    _, node = servers
    if not node.value:  # `extensions:` or `extensions: {}`
        below = text[node.end_mark.index :]
        return text[: node.start_mark.index].rstrip(" ") + newline + newline.join(_lines("  ", name, entry)) + below
    existing = _member(node, name)
    if existing is None:
        indent = " " * _block(node)[0][0].start_mark.column
        return _insert(text, _end(node), _lines(indent, name, entry), newline)
    if afresh:
        start, end = _span(text, existing)
        indent = " " * existing[0].start_mark.column
        return text[:start] + newline.join([*_lines(indent, name, entry), ""]) + text[end:]
    for member, value in entry.items():
        _, node = existing
        found = _member(node, member)
        if found is None:
            indent = " " * _block(node)[0][0].start_mark.column
            text = _insert(text, _end(node), [f"{indent}{member}: {_json(value)}"], newline)
        elif read(text)[key][name][member] != value:
            text = f"{text[: found[0].end_mark.index]}: {_json(value)}{text[_end(found[1]) :]}"
        existing = _require_member(_require_member(_root(text), key)[1], name)
    return text


def remove(text: str, key: str, name: str) -> str:
    """Return the text without the lines of the entry. Raises: ValueError for one that has no lines of its own."""
    servers = _member(_root(text), key)
    found = _member(servers[1], name) if servers else None
    if servers is None or found is None:
        return text
    is_only = len(_block(servers[1])) == 1
    start, end = _span(text, servers if is_only else found)
    return text[:start] + text[end:]


def _span(text: str, pair: tuple[Any, Any]) -> tuple[int, int]:
    """Return where the lines of a member begin and end."""
    start = text.rfind("\n", 0, pair[0].start_mark.index) + 1
    return start, text.find("\n", _end(pair[1]) - 1) + 1 or len(text)


def _root(text: str) -> Any:
    import yaml

    return yaml.compose(text, yaml.SafeLoader)


def _member(node: Any, name: str) -> tuple[Any, Any] | None:
    """Return the nodes of a mapping's key and value; None where there is none."""
    pairs = node.value if node is not None and isinstance(node.value, list) else []
    return next((pair for pair in pairs if isinstance(pair, tuple) and pair[0].value == name), None)


def _require_member(node: Any, name: str) -> tuple[Any, Any]:
    found = _member(node, name)
    if found is None:
        raise ValueError(name)
    return found


def _block(node: Any) -> list[tuple[Any, Any]]:
    """Return the pairs of a mapping whose members have lines of their own. Raises: ValueError for another one."""
    if node.flow_style or not isinstance(node.value, list):
        raise ValueError(node)
    return list(node.value)


def _end(node: Any) -> int:
    """Return where the text of a node ends; the parser counts what follows a block as part of it."""
    if not isinstance(node.value, list) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)


def _insert(text: str, at: int, lines: list[str], newline: str) -> str:
    """Return the text with lines after the one in which `at` is."""
    end = text.find("\n", at - 1 if text[at - 1 : at] == "\n" else at) + 1
    if not end:
        return text + newline + newline.join(lines)
    return text[:end] + newline.join([*lines, ""]) + text[end:]


def _lines(indent: str, name: str, entry: Mapping[str, Any]) -> list[str]:
    return [f"{indent}{name}:", *(f"{indent}  {member}: {_json(value)}" for member, value in entry.items())]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
