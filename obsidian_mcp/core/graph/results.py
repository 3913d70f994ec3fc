"""What questions about many notes are answered with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from obsidian_mcp.core.index.facts import LinkFact, TagFact
from obsidian_mcp.core.text.vault_path import VaultPath


@dataclass(frozen=True, slots=True)
class Reference:
    """A link of the file `source`, and the file it leads to: None when there is none."""

    source: VaultPath
    target: VaultPath | None
    link: LinkFact


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
