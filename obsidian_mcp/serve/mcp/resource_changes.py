"""Which resources have changed since they were looked at last."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from obsidian_mcp.app import App
from obsidian_mcp.core.files import uri
from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.text.vault_path import name_key
from obsidian_mcp.errors import InvalidArguments

from . import resources


@dataclass(slots=True)
class _Seen:
    """What was there when a vault was last looked at."""

    files: dict[str, FileEntry]
    """By path."""
    revision: int
    """The catalog's."""

    def brought_up(self, catalog: Catalog) -> tuple[Sequence[str], bool]:
        """The paths that are different now, and whether a file appeared or went."""
        revision = catalog.revision
        changed = catalog.changed_since(self.revision)
        if changed is None:
            before, now = self.files, catalog.by_path()
        else:
            before = {path: entry for path in changed if (entry := self.files.get(path)) is not None}
            now = {path: entry for path in changed if (entry := catalog.get(path)) is not None}
        different = [path for path in {**before, **now} if before.get(path) != now.get(path)]
        moved = before.keys() != now.keys()
        for path in before.keys() - now.keys():
            del self.files[path]
        self.files.update(now)
        self.revision = revision
        return different, moved


@dataclass(frozen=True, slots=True)
class Changes:
    addresses: list[str]
    """Resources that are different, as subscribers have written them."""
    listed: bool
    """Whether files appeared or went."""


class Followed:
    """Resources that somebody wants to hear about, in the spellings they were asked for. Safe to share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._addresses: dict[tuple[str, str], set[str]] = {}
        """Vault and compared path -> URIs."""
        self._static: set[str] = set()
        self._seen: dict[str, _Seen] = {}
        """By vault; "" is the default vault."""

    def __len__(self) -> int:
        return sum(map(len, self._addresses.values()))

    def add(self, app: App, addresses: Iterable[str]) -> None:
        """From now on these, and the default vault's list. Raises: InvalidArguments, VaultNotFound."""
        static = {resource.uri for resource in resources.STATIC}
        vaults = {""}
        for address in addresses:
            named = uri.parse(address)
            with self._lock:
                if address in static:
                    self._static.add(address)
                elif named is None:
                    raise InvalidArguments(f"Unknown resource: {address!r}. See resources/templates/list.", uri=address)
                else:
                    for key in named.keys:
                        self._addresses.setdefault((name_key(named.vault), key), set()).add(address)
                    vaults.add(named.vault)
        for vault in vaults:
            if vault not in self._seen:
                catalog = app.vaults.get(vault).catalog
                revision = catalog.revision  # before the files: what changes in between is looked at again
                seen = _Seen(catalog.by_path(), revision)
                with self._lock:
                    self._seen.setdefault(vault, seen)

    def changes(self, app: App) -> Changes:
        """Raises: VaultNotFound."""
        found: set[str] = set()
        listed = False
        for vault in list(self._seen):
            place = app.vaults.get(vault)
            with self._lock:
                different, moved = self._seen[vault].brought_up(place.catalog)
                if not different:
                    continue
                keys = {name_key(place.name), name_key(str(place.files.root))}
                for path in different:
                    for key in keys:
                        found |= self._addresses.get((key, name_key(path)), set())
                if vault:
                    continue
                listed = moved
                found |= self._static & {resources.OVERVIEW, resources.RECENT_NOTES}
                if place.periodic.locate("day").path in different:
                    found |= self._static & {resources.TODAY}
        return Changes(sorted(found), listed)
