"""What results are sorted and grouped by: a fact of each file (specs/search.md, SEARCH-64 to 66)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from obsidian_mcp.core.index.rows import MANY, marks
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import InvalidArguments

from .snapshot import Scene

Kind = Literal["relevance", "modified", "name", "path", "folder", "tag", "property"]
KINDS = get_args(Kind)[:-1]
_SAME = {"tags": "tag"}
_PROPERTY = re.compile(r"property:\s*(.+)|\[(.+)\]", re.IGNORECASE | re.DOTALL)


class Item(NamedTuple):
    """A file of a result."""

    path: VaultPath
    number: int | None
    """In the scene; None for a file without contents."""
    time: int
    """Of the last change, in nanoseconds since the epoch."""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Facet:
    kind: Kind
    property: str = ""
    """Name of the property; empty for the other kinds."""


def facet(text: str) -> Facet:
    """What a name means: one of KINDS, else a property, which may also be written `[name]` or `property:name`."""
    text = text.strip()
    if named := _PROPERTY.fullmatch(text):
        return Facet("property", (named[1] or named[2]).strip())
    plain = _SAME.get(text.lower(), text.lower())
    return next((Facet(kind) for kind in KINDS if kind == plain), Facet("property", text))


def tags_of(scene: Scene, items: Sequence[Item]) -> Mapping[int | None, Sequence[str]]:
    """The tags of each file that has some, each once, as written in the first of these files."""
    spelled: dict[str, str] = {}
    found: dict[int, dict[str, None]] = {}
    for number, tag in _tags(scene, items):
        key = tags.key(tag)
        spelled.setdefault(key, tag.removeprefix("#"))
        found.setdefault(number, {})[key] = None
    return {number: [f"#{spelled[key]}" for key in keys] for number, keys in found.items()}


def _tags(scene: Scene, items: Sequence[Item]) -> Iterable[tuple[int, str]]:
    numbers = {item.number for item in items if item.number is not None}
    stored = sorted(number for number in numbers if number > 0)
    for start in range(0, len(stored), MANY):
        some = stored[start : start + MANY]
        yield from scene.connection.execute(
            f"SELECT file, tag FROM tags WHERE file IN ({marks(some)}) ORDER BY file, n",  # noqa: S608 - placeholders
            some,
        )
    for number in sorted(numbers - set(stored), reverse=True):
        yield from ((number, tag) for tag in scene.subject(number).tags)


def values_of(scene: Scene, name: str, items: Sequence[Item]) -> Mapping[int | None, object]:
    """The value of a property in each file that has one; one without a value counts as absent."""
    key = name.lower()
    found: dict[int | None, object] = {}
    numbers = {item.number for item in items if item.number is not None}
    for number, value in scene.connection.execute(
        "SELECT file, value FROM properties WHERE key = ? ORDER BY n", (key,)
    ):
        if number in numbers:
            found.setdefault(number, json.loads(value))
    for number in numbers:
        if number < 0:
            for own, value in scene.subject(number).properties.items():
                if own.lower() == key:
                    found.setdefault(number, value)
    return {number: value for number, value in found.items() if value is not None}


def check(scene: Scene, facet: Facet) -> None:
    """Refuse a property that no note has: it is misspelled. Raises: InvalidArguments."""
    if facet.kind != "property" or any(_has(scene, number, facet.property.lower()) for number in scene.fresh):
        return
    rows = scene.connection.execute("SELECT file FROM properties WHERE key = ?", (facet.property.lower(),))
    if not any(number in scene.files for (number,) in rows):
        raise InvalidArguments(
            f"No note has a property {facet.property!r} to sort or group by. Give {', '.join(KINDS)} or the name of a "
            "property that notes have.",
            property=facet.property,
        )


def _has(scene: Scene, number: int, key: str) -> bool:
    return any(own.lower() == key for own in scene.subject(number).properties)


def told(value: object) -> str:
    """The value of a property in one line."""
    if isinstance(value, str):
        text = value
    elif isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        text = str(int(value))
    elif isinstance(value, list):
        text = ", ".join(map(told, value))
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return " ".join(text.split())
