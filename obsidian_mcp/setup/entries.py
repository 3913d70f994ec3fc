"""One server's entry in the text of a client's configuration file: read, written, taken out, and each change proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from . import jsontext, tomltext
from .clients import Client

Entry = dict[str, Any]


class Broken(Exception):
    """The text cannot be read, or not be changed safely. The message completes 'the file …'."""


def servers(client: Client, text: str) -> dict[str, Entry]:
    """Every server in the file by name. Raises: Broken."""
    found = _parse(client, text).get(client.key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Broken(f"has a member {client.key!r} that is not an object")
    return {name: entry for name, entry in found.items() if isinstance(entry, dict)}


def write(client: Client, text: str, name: str, entry: Mapping[str, Any], *, afresh: bool = False) -> str:
    """The text with the entry in it; nothing else differs. Raises: Broken.

    Members of an existing entry that `entry` does not name stay (a user's `env`), unless `afresh` replaces it whole.
    """
    before = _parse(client, text)
    existing = servers(client, text).get(name)
    if existing is None and name in (before.get(client.key) or {}):
        raise Broken(f"has a member {name!r} in {client.key!r} that is no server")
    merged = dict(entry) if existing is None or afresh else {**existing, **entry}
    if merged == existing:
        return text
    with _refused(client, text):
        if client.format == "toml":
            cleared = tomltext.remove(text, (client.key, name)) if afresh else text
            after = tomltext.put(cleared, (client.key, name), dict(entry))
        elif existing is None or afresh:
            after = jsontext.put(text, (client.key, name), merged)
        else:
            after = text
            for key, value in entry.items():
                if existing.get(key) != value:
                    after = jsontext.put(after, (client.key, name, key), value)
    inner = before.get(client.key) or {}
    return _proved(client, after, {**before, client.key: {**inner, name: merged}})


def erase(client: Client, text: str, name: str) -> str:
    """The text without the entry; nothing else differs. Raises: Broken."""
    before = _parse(client, text)
    if name not in servers(client, text):
        return text
    with _refused(client, text):
        after = (tomltext if client.format == "toml" else jsontext).remove(text, (client.key, name))
    kept = {key: value for key, value in before[client.key].items() if key != name}
    return _proved(client, after, {**before, client.key: kept})


def _proved(client: Client, after: str, expected: dict[str, Any]) -> str:
    """`after`, if it says what is expected, and in that order where the format has one."""
    said, meant = (
        {key: value for key, value in data.items() if key != client.key or value}  # an emptied object may stay or go
        for data in (_parse(client, after), expected)
    )
    if said != meant or (client.format != "toml" and list(said) != list(meant)):
        raise Broken("is laid out in a way that this program cannot change safely")
    return after


def _parse(client: Client, text: str) -> dict[str, Any]:
    with _refused(client, text):
        if client.format == "toml":
            return tomltext.parse(text)
        if not text.strip():
            return {}
        document = jsontext.parse(text)
        if client.format == "json" and document.beyond:
            what, offset = document.beyond
            raise Broken(f"has {what} at {_position(text, offset)}, which {client.title} cannot read")
        if not isinstance(document.root.value, dict):
            raise Broken("does not hold an object in { }")
        return document.root.value


@contextmanager
def _refused(client: Client, text: str) -> Iterator[None]:
    """The one place where the formats' errors become a sentence."""
    try:
        yield
    except jsontext.Unreadable as error:
        raise Broken(f"is not valid JSON: at {_position(text, error.offset)} {error.problem}") from error
    except tomltext.Unreadable as error:
        raise Broken(f"is not valid TOML: {error}") from error
    except (tomltext.NotATable, ValueError) as error:
        raise Broken(f"holds {client.key!r} in a form that this program does not change") from error


def _position(text: str, offset: int) -> str:
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return f"line {line}, column {column}"
