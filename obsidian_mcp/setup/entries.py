"""One server's entry in the text of a client's configuration file: read, written, taken out, and
each change proved.

Comments, order and layout of the file are the user's. A change is made in its text, and then the
text is read again: unless it says exactly what was meant, nothing is written.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from obsidian_mcp.core.text import json_text
from obsidian_mcp.core.text.line_matcher import common_ends
from obsidian_mcp.core.text.text import Text, split_lines

from .clients import McpClient

ServerEntry = dict[str, Any]


class Broken(Exception):
    """The text cannot be read, or not be changed safely. The message completes 'the file …'."""


def servers(client: McpClient, text: str) -> dict[str, ServerEntry]:
    """Return every server in the file by name. Raises: Broken."""
    entries = _parse(client, text).get(client.key)
    if entries is None:
        return {}
    if not isinstance(entries, dict):
        raise Broken(f"has a member {client.key!r} that is not an object")
    return {name: entry for name, entry in entries.items() if isinstance(entry, dict)}


def write(
    client: McpClient, text: str, name: str, entry: Mapping[str, Any], *, afresh: bool = False
) -> str:
    """Return the text with the entry in it and nothing else changed. Members of an existing entry
    that `entry` does not name stay (a user's `env`), unless `afresh`. Raises: Broken."""
    before = _parse(client, text)
    existing = servers(client, text).get(name)
    if existing is None and name in (before.get(client.key) or {}):
        raise Broken(f"has a member {name!r} in {client.key!r} that is no server")
    merged = dict(entry) if existing is None or afresh else {**existing, **entry}
    if merged == existing:
        return text
    with _refusal(client, text):
        if client.format == "toml":
            return put_table(
                without_table(text, client.key, name) if afresh else text, client.key, name, entry
            )
        if client.format == "yaml":
            after = put_yaml(text, client.key, name, entry, afresh=afresh)
        elif existing is None or afresh:
            after = json_text.put(text, (client.key, name), merged)
        else:
            after = text
            for key, value in entry.items():
                if existing.get(key) != value:
                    after = json_text.put(after, (client.key, name, key), value)
    inner = before.get(client.key) or {}
    return _prove(client, after, {**before, client.key: {**inner, name: merged}})


def erase(client: McpClient, text: str, name: str) -> str:
    """Return the text without the entry; nothing else differs. Raises: Broken."""
    before = _parse(client, text)
    if name not in servers(client, text):
        return text
    with _refusal(client, text):
        if client.format == "toml":
            return without_table(text, client.key, name)
        if client.format == "yaml":
            after = without_yaml(text, client.key, name)
        else:
            after = json_text.remove(text, (client.key, name))
    remaining = {key: value for key, value in before[client.key].items() if key != name}
    return _prove(client, after, {**before, client.key: remaining})


def _prove(client: McpClient, after: str, expected: dict[str, Any]) -> str:
    """Return `after`, if it says what is expected, and in that order. Raises: Broken."""
    written, meant = (
        _without_empty(client.key, data) for data in (_parse(client, after), expected)
    )
    if written != meant or list(written) != list(meant):
        raise Broken("is laid out in a way that this program cannot change safely")
    return after


def _without_empty(key: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a file without an empty one that held servers: it may stay or go."""
    return {name: value for name, value in data.items() if name != key or value}


def _parse(client: McpClient, text: str) -> dict[str, Any]:
    with _refusal(client, text):
        if client.format == "toml":
            return tomllib.loads(text)
        if not text.strip():
            return {}
        if client.format == "yaml":
            return _read_yaml(text)
        document = json_text.parse(text)
        if client.format == "json" and document.beyond:
            construct, offset = document.beyond
            raise Broken(
                f"has {construct} at {_position(text, offset)}, which {client.title} cannot read"
            )
        if not isinstance(document.root.value, dict):
            raise Broken("does not hold an object in { }")
        return document.root.value


@contextmanager
def _refusal(client: McpClient, text: str) -> Iterator[None]:
    """Make sentences of the errors of all formats. Raises: Broken."""
    try:
        yield
    except json_text.Unreadable as error:
        raise Broken(
            f"is not valid JSON: at {_position(text, error.offset)} {error.problem}"
        ) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Broken(f"is not valid TOML: {error}") from error
    except ValueError as error:
        raise Broken(f"holds {client.key!r} in a form that this program does not change") from error


def put_table(text: str, key: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text with a server's table that holds `entry`; its other keys stay (TEXT-01,
    TEXT-02). Raises: ValueError for a text in which nothing else would stay as it is (TEXT-06)."""
    import tomlkit

    before = tomllib.loads(text)
    inner = before.get(key, {})
    expected = {**before, key: {**inner, name: {**inner.get(name, {}), **entry}}}

    document = tomlkit.parse(text)
    servers: Any = document.setdefault(key, tomlkit.table(is_super_table=True))
    is_new = name not in servers
    if is_new:
        servers[name] = tomlkit.table()
    for member, value in entry.items():
        if servers[name].get(member) != value:
            servers[name][member] = value
    above, added, below = changed_lines(text, tomlkit.dumps(document))
    candidates = ["".join([*above, *added, *below])]
    comment = _comment_start(above)
    if is_new and below and comment < len(above):
        if not added[0].strip():  # the empty line goes behind the new table
            added = [*added[1:], added[0]]
        candidates.insert(0, "".join([*above[:comment], *added, *above[comment:], *below]))
    for after in candidates:
        if _says(after, expected, key):
            return after
    raise ValueError(name)


def _comment_start(above: Sequence[str]) -> int:
    """Return where the comment at the end of some lines begins, which is about the table below
    them.

    Their number where there is none, or where it follows the line of another table at once.
    """
    start = len(above)
    while start > 0 and above[start - 1].startswith("#"):
        start -= 1
    is_apart = start == 0 or not above[start - 1].strip()
    return start if is_apart else len(above)


def without_table(text: str, key: str, name: str) -> str:
    """Return the text without a server's table and those below it; comments behind it are the next
    table's and stay. Raises: ValueError for a text in which nothing else would stay as it is
    (TEXT-06)."""
    before = tomllib.loads(text)
    if name not in before.get(key, {}):
        return text
    remaining = {member: table for member, table in before[key].items() if member != name}
    expected = {**before, key: remaining}
    header = re.compile(rf"\s*\[\s*{re.escape(key)}\s*\.\s*([\"']?){re.escape(name)}\1\s*[.\]]")
    lines, headers = split_lines(text), list[int]()
    for at, line in enumerate(lines):
        if line.lstrip().startswith("["):
            with suppress(tomllib.TOMLDecodeError):  # else the line is in a value of several
                tomllib.loads("".join(lines[:at]))
                headers.append(at)
    own = [at for at in headers if header.match(lines[at])]
    if own:
        end = behind = next((at for at in headers if at > own[0] and at not in own), len(lines))
        while not lines[behind - 1].strip() or lines[behind - 1].lstrip().startswith("#"):
            behind -= 1
        has_comment = any(line.strip() for line in lines[behind:end])
        after = "".join(lines[: own[0]] + lines[behind if has_comment else end :])
        if _says(after, expected, key):
            return after
    raise ValueError(name)


def _says(text: str, expected: Mapping[str, Any], key: str) -> bool:
    """Return whether a text holds what is expected; an empty table under `key` may be there or
    not."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return {**content, key: content.get(key, {})} == {**expected, key: expected.get(key, {})}


def changed_lines(before: str, after: str) -> tuple[list[str], list[str], list[str]]:
    """Return the lines of `after`: those above a change to `before`, the changed ones with its line
    ends, those below."""
    old, new = split_lines(before), split_lines(after)
    above, below = common_ends(old, new)
    end = len(new) - below
    changed = new[above:end]
    if Text(before).newline == "\r\n":
        changed = [re.sub(r"(?<!\r)\n", "\r\n", line) for line in changed]
    return new[:above], changed, new[end:]


# YAML: values are written as JSON, which is YAML too


def put_yaml(
    text: str, key: str, name: str, entry: Mapping[str, Any], *, afresh: bool = False
) -> str:
    """Return the text with the entry below `key`; other members of one that is there stay, unless
    `afresh`. Raises: ValueError for a layout in which there is no place for it."""
    newline = Text(text).newline
    added = [f"{name}:", *(f"  {member}: {_json(value)}" for member, value in entry.items())]
    servers, existing = _find_yaml(text, key), _find_yaml(text, key, name)
    if servers is None:
        above = text if not text or text.endswith("\n") else text + newline
        return above + newline.join([f"{key}:", *(f"  {line}" for line in added), ""])
    _, node = servers
    if not node.value:  # `extensions:` or `extensions: {}`
        above = text[: node.start_mark.index].rstrip(" ")
        return newline.join([above, *(f"  {line}" for line in added)]) + text[node.end_mark.index :]
    if existing is None:
        return _insert(text, node, added)
    if afresh:
        start, end = _lines_of(text, existing)
        indent = " " * existing[0].start_mark.column
        return text[:start] + "".join(f"{indent}{line}{newline}" for line in added) + text[end:]
    before = (_read_yaml(text)[key] or {}).get(name)
    if not isinstance(before, dict):  # the last of two members of one name counts
        raise ValueError(name)
    for member, value in entry.items():
        place = _find_yaml(text, key, name, member)
        if place is None:
            text = _insert(
                text, (_find_yaml(text, key, name) or existing)[1], [f"{member}: {_json(value)}"]
            )
        elif before.get(member) != value:
            text = f"{text[: place[0].end_mark.index]}: {_json(value)}{text[_end(place[1]) :]}"
    return text


def without_yaml(text: str, key: str, name: str) -> str:
    """Return the text without the lines of the entry. Raises: ValueError for one that has no lines
    of its own."""
    servers, place = _find_yaml(text, key), _find_yaml(text, key, name)
    if servers is None or place is None:
        return text
    if servers[1].flow_style:
        raise ValueError(name)
    start, end = _lines_of(text, servers if len(servers[1].value) == 1 else place)
    return text[:start] + text[end:]


def _read_yaml(text: str) -> dict[str, Any]:
    import yaml  # takes 20 ms to import

    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Broken(f"is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict | None):
        raise Broken("is not valid YAML: it does not hold a mapping")
    return data or {}


def _find_yaml(text: str, *names: str) -> tuple[Any, Any] | None:
    """Return the nodes of a member's key and value; None where there is none of these names in each
    other."""
    import yaml

    node, pair = yaml.compose(text, yaml.SafeLoader), None
    for name in names:
        pairs = node.value if node is not None and isinstance(node.value, list) else []
        pair = next(
            (pair for pair in pairs if isinstance(pair, tuple) and pair[0].value == name), None
        )
        if pair is None:
            return None
        node = pair[1]
    return pair


def _lines_of(text: str, pair: tuple[Any, Any]) -> tuple[int, int]:
    """Return where the lines of a member begin and end."""
    start = text.rfind("\n", 0, pair[0].start_mark.index) + 1
    return start, text.find("\n", _end(pair[1]) - 1) + 1 or len(text)


def _end(node: Any) -> int:
    """Return where the text of a node ends; the parser counts what follows a block as part of
    it."""
    if not isinstance(node.value, list) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)


def _insert(text: str, mapping: Any, lines: Sequence[str]) -> str:
    """Return the text with lines behind the last member. Raises: ValueError for members without
    lines of their own."""
    if mapping.flow_style or not isinstance(mapping.value, list):
        raise ValueError(mapping)
    newline, at = Text(text).newline, _end(mapping)
    indent = " " * mapping.value[0][0].start_mark.column
    end = text.find("\n", at - 1 if text[at - 1 : at] == "\n" else at) + 1
    if not end:
        return newline.join([text, *(indent + line for line in lines)])
    return text[:end] + "".join(f"{indent}{line}{newline}" for line in lines) + text[end:]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _position(text: str, offset: int) -> str:
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return f"line {line}, column {column}"
