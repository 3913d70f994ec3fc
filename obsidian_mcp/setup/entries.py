"""One server's entry in the text of a client's configuration file: read, written, taken out, and each change proved."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

from obsidian_mcp.core.text import json_text
from obsidian_mcp.core.text.diff import common_ends
from obsidian_mcp.core.text.text import Text, split_lines

from . import yaml_entries
from .clients import McpClient

Entry = dict[str, Any]


class Broken(Exception):
    """The text cannot be read, or not be changed safely. The message completes 'the file …'."""


def servers(client: McpClient, text: str) -> dict[str, Entry]:
    """Every server in the file by name. Raises: Broken."""
    found = _parse(client, text).get(client.key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Broken(f"has a member {client.key!r} that is not an object")
    return {name: entry for name, entry in found.items() if isinstance(entry, dict)}


def write(client: McpClient, text: str, name: str, entry: Mapping[str, Any], *, afresh: bool = False) -> str:
    """Return the text with the entry in it and nothing else changed. Members of an existing entry that `entry` does not
    name stay (a user's `env`), unless `afresh`. Raises: Broken."""
    before = _parse(client, text)
    existing = servers(client, text).get(name)
    if existing is None and name in (before.get(client.key) or {}):
        raise Broken(f"has a member {name!r} in {client.key!r} that is no server")
    merged = dict(entry) if existing is None or afresh else {**existing, **entry}
    if merged == existing:
        return text
    with _refusal(client, text):
        if client.format == "toml":
            return put_table(without_table(text, client.key, name) if afresh else text, client.key, name, entry)
        if client.format == "yaml":
            after = yaml_entries.put(text, client.key, name, entry, afresh=afresh)
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
    """The text without the entry; nothing else differs. Raises: Broken."""
    before = _parse(client, text)
    if name not in servers(client, text):
        return text
    with _refusal(client, text):
        if client.format == "toml":
            return without_table(text, client.key, name)
        if client.format == "yaml":
            after = yaml_entries.remove(text, client.key, name)
        else:
            after = json_text.remove(text, (client.key, name))
    kept = {key: value for key, value in before[client.key].items() if key != name}
    return _prove(client, after, {**before, client.key: kept})


def _prove(client: McpClient, after: str, expected: dict[str, Any]) -> str:
    """`after`, if it says what is expected, and in that order."""
    said, meant = (
        {key: value for key, value in data.items() if key != client.key or value}  # an emptied object may stay or go
        for data in (_parse(client, after), expected)
    )
    if said != meant or list(said) != list(meant):
        raise Broken("is laid out in a way that this program cannot change safely")
    return after


def _parse(client: McpClient, text: str) -> dict[str, Any]:
    with _refusal(client, text):
        if client.format == "toml":
            return tomllib.loads(text)
        if not text.strip():
            return {}
        if client.format == "yaml":
            return yaml_entries.read(text)
        document = json_text.parse(text)
        if client.format == "json" and document.beyond:
            construct, offset = document.beyond
            raise Broken(f"has {construct} at {_position(text, offset)}, which {client.title} cannot read")
        if not isinstance(document.root.value, dict):
            raise Broken("does not hold an object in { }")
        return document.root.value


@contextmanager
def _refusal(client: McpClient, text: str) -> Iterator[None]:
    """The one place where the formats' errors become a sentence."""
    try:
        yield
    except json_text.Unreadable as error:
        raise Broken(f"is not valid JSON: at {_position(text, error.offset)} {error.problem}") from error
    except yaml_entries.UnreadableYaml as error:
        raise Broken(f"is not valid YAML: {error}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Broken(f"is not valid TOML: {error}") from error
    except ValueError as error:
        raise Broken(f"holds {client.key!r} in a form that this program does not change") from error


def put_table(text: str, key: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text with a server's table that holds `entry`; its other keys stay (TEXT-01, TEXT-02). Raises:
    ValueError for a text in which nothing else would stay as it is (TEXT-06)."""
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
    above, added, below = _changed_lines(text, tomlkit.dumps(document))
    candidates = ["".join([*above, *added, *below])]
    comment = next((at for at in range(len(above), 0, -1) if not above[at - 1].startswith("#")), 0)
    if is_new and below and comment < len(above) and (comment == 0 or not above[comment - 1].strip()):
        if not added[0].strip():
            added = [*added[1:], added[0]]
        # The comment is the next table's.
        candidates.insert(0, "".join([*above[:comment], *added, *above[comment:], *below]))
    for after in candidates:
        if _says(after, expected, key):
            return after
    raise ValueError(name)


def without_table(text: str, key: str, name: str) -> str:
    """Return the text without a server's table and those below it; comments behind it are the next table's and stay.
    Raises: ValueError for a text in which nothing else would stay as it is (TEXT-06)."""
    import tomlkit
    from tomlkit.items import Comment, Item, Table, Whitespace

    document = tomlkit.parse(text)
    servers: Any = document.get(key, {})
    if name not in servers:
        return text
    if not isinstance(servers[name], Table):
        raise ValueError(name)
    behind: list[Item] = []
    last: Any = servers[name]
    while isinstance(last, Table):
        items = [item for _, item in last.value.body]
        kept = next((at for at in range(len(items), 0, -1) if not isinstance(items[at - 1], Comment | Whitespace)), 0)
        behind = [*items[kept:], *behind]
        last = items[kept - 1] if kept else None
    before = tomllib.loads(text)
    expected = {**before, key: {other: table for other, table in before[key].items() if other != name}}
    placeholder = tomlkit.table()
    if any(isinstance(item, Comment) for item in behind):
        for item in behind:
            placeholder.value.append(None, item)
    servers[name] = placeholder
    spelled = f'(?:{re.escape(name)}|"{re.escape(name)}")'
    header = re.compile(rf"^ *\[ *{re.escape(key)} *\. *{spelled} *\][ \t]*\r?\n?", re.MULTILINE)
    emptied = tomlkit.dumps(document)
    for found in header.finditer(emptied):  # a string over several lines may hold the same line
        after = emptied[: found.start()] + emptied[found.end() :]
        if _says(after, expected, key):
            return "".join(chain(*_changed_lines(text, after)))
    raise ValueError(name)


def _says(text: str, expected: Mapping[str, Any], key: str) -> bool:
    """Whether a text holds what is expected; an empty table under `key` may be there or not."""
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return {**said, key: said.get(key, {})} == {**expected, key: expected.get(key, {})}


def _changed_lines(before: str, after: str) -> tuple[list[str], list[str], list[str]]:
    """The lines of `after`: those above a change to `before`, the changed ones with its line ends, those below."""
    old, new = split_lines(before), split_lines(after)
    above, below = common_ends(old, new)
    end = len(new) - below
    changed = new[above:end]
    if Text(before).newline == "\r\n":
        changed = [re.sub(r"(?<!\r)\n", "\r\n", line) for line in changed]
    return new[:above], changed, new[end:]


def _position(text: str, offset: int) -> str:
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return f"line {line}, column {column}"
