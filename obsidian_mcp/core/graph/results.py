"""What questions about many notes are answered with; of tags and properties, how often they occur (semantics 3.4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from obsidian_mcp.core.index.facts import LinkFact, TagFact
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.vault_path import VaultPath


@dataclass(frozen=True, slots=True)
class Reference:
    """A link of the file `source`, and the file it leads to: None when there is none."""

    source: VaultPath
    target: VaultPath | None
    link: LinkFact

    @property
    def line(self) -> int | None:
        """The line of the link, 1-based; None for links of properties and cards."""
        return self.link.line + 1 if self.link.line is not None and not self.link.at else None


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A name that links lead to and no file has, with the number of links in every source."""

    name: str
    sources: Mapping[VaultPath, int]

    @property
    def count(self) -> int:
        return sum(self.sources.values())


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A file that is connected with another one over `distance` links, in either direction."""

    path: VaultPath
    distance: int
    via: VaultPath
    """The file before it on a shortest path."""


@dataclass(frozen=True, slots=True)
class TagUse:
    """A tag with its descendants: occurrences and files. `tag` has the spelling used most."""

    tag: str
    occurrences: int
    files: int
    spellings: tuple[str, ...] = field(default=(), compare=False)
    """All ways in which it is written."""


@dataclass(frozen=True, slots=True)
class TaggedFile:
    """A file with a tag or descendants of it, as written, in the order of the file."""

    path: VaultPath
    tags: tuple[TagFact, ...]


@dataclass(frozen=True, slots=True)
class PropertyUse:
    """A property of the vault: the name used most, the number of files, and the types of its values."""

    name: str
    files: int
    types: Mapping[str, int]
    """Inferred type -> files, the most frequent first; without what `types.json` assigns."""


@dataclass(frozen=True, slots=True)
class PropertyValue:
    """One property of one file; `value` is as JSON has it."""

    path: VaultPath
    value: Any


@dataclass(frozen=True, slots=True)
class LinkMaps:
    """The app's `resolvedLinks` and `unresolvedLinks`: source -> target or name -> how many links."""

    resolved: Mapping[VaultPath, Mapping[VaultPath, int]]
    unresolved: Mapping[VaultPath, Mapping[str, int]]


def tag_uses(found: Iterable[tuple[int, int, str]], shown: Collection[int]) -> tuple[TagUse, ...]:
    """Return every tag of the `shown` files, by name, from a column; it counts for every tag above it."""
    files_of: dict[str, list[int]] = defaultdict(list)
    for file, _, tag in found:
        if file in shown:
            files_of[tag].append(file)
    written: dict[str, Counter[str]] = defaultdict(Counter)
    files: dict[str, set[int]] = defaultdict(set)
    for tag, numbers in files_of.items():
        for above in tags.ancestry(tag):
            written[tags.key(above)][above] += len(numbers)
            files[tags.key(above)].update(numbers)
    return tuple(
        TagUse(_most_used(written[key]), written[key].total(), len(files[key]), tuple(sorted(written[key])))
        for key in sorted(written)
    )


def property_uses(found: Iterable[tuple[int, int, str, str, str]], shown: Collection[int]) -> tuple[PropertyUse, ...]:
    """Return every property of the `shown` files, by name, from a column of key, name and type."""
    names: dict[str, Counter[str]] = defaultdict(Counter)
    types: dict[str, Counter[str]] = defaultdict(Counter)
    files: dict[str, set[int]] = defaultdict(set)
    for file, _, key, name, kind in found:
        if file in shown:
            names[key][name] += 1
            types[key][kind] += 1
            files[key].add(file)
    return tuple(
        PropertyUse(
            _most_used(names[key]),
            len(files[key]),
            dict(sorted(types[key].items(), key=lambda item: (-item[1], item[0]))),
        )
        for key in sorted(names)
    )


def _most_used(written: Counter[str]) -> str:
    """Return the most frequent spelling, the smallest of several: the order of files must not matter."""
    return min(written, key=lambda spelling: (-written[spelling], spelling))
