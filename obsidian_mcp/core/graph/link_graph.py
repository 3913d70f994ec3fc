"""The links of a vault, resolved as far as a question needs it (semantics 1.4, INDEX-56).

Nothing is kept of all links: a vault of 300 000 notes has millions. Most questions are answered by
the keys of links and files (`core/index/link_rows.py`); what a link means is worked out only where
keys do not tell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.index.link_rows import LinkRow, LinkRows
from obsidian_mcp.core.index.rows import NumberedFiles, Rows
from obsidian_mcp.core.links.resolve import clean, keys_of, resolve
from obsidian_mcp.core.text.call import check_each, checkpoint
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, VaultPath, parent

MOST_REMEMBERED = 50_000
"""Links whose meaning is remembered while one question is answered."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What the links of one file lead to."""

    resolved: dict[VaultPath, int]
    """Target -> how many links, in the order of the file."""
    missing: dict[str, int]
    """Name without subpath and `.md`, as written -> how many links."""


class LinkGraph:
    """All links of one moment of the index; good for one question, in one thread."""

    def __init__(self, rows: Rows, files: NumberedFiles, catalog: Catalog) -> None:
        self._links: LinkRows = rows.link_rows
        self._file_paths = rows.file_paths
        self._files = files
        self._catalog = catalog
        self._known_targets: dict[tuple[str, str, bool], VaultPath | None] = {}

    # -- some files
    def links_out(self, paths: Collection[str]) -> dict[str, Outgoing]:
        """Return what the links of some files lead to; files without links are left out."""
        numbers = self._file_paths.find_numbers([*paths]).values()
        by_file: dict[str, Outgoing] = {}
        for source, row in self._with_sources(self._links.from_files(numbers)):
            self._add(by_file.setdefault(source, Outgoing({}, {})), source, row)
        return by_file

    def links_in(self, paths: Collection[str]) -> dict[str, set[VaultPath]]:
        """Return the files with links to some files, by target; files without are left out."""
        sought = {*paths}
        keys = {to_printable(key) for path in sought for key in keys_of(path)}
        sources: dict[str, set[VaultPath]] = {}
        for source, row in self._with_sources(self._links.with_keys(keys)):
            target = self.target(source, row.path, is_card=row.is_card)
            if target is not None and target in sought:
                sources.setdefault(target, set()).add(source)
        own = self._file_paths.find_numbers([*sought]).values()
        for source, row in self._with_sources(self._links.without_name(own)):
            if not clean(row.path):  # such a link leads to its own file
                sources.setdefault(source, set()).add(source)
        return sources

    # -- all files
    def every_outgoing(self) -> Iterator[tuple[VaultPath, Outgoing]]:
        """Yield every file that has links, with what they lead to."""
        for file, links in self._links.from_all():
            checkpoint()
            if (source := self._files.paths.get(file)) is not None:
                outgoing = Outgoing({}, {})
                for row in links:
                    self._add(outgoing, source, row)
                yield source, outgoing

    def find_unlinked(self) -> set[VaultPath]:
        """Return the files, notes and others, that no other file links to."""
        placed_keys, reached = set(), set()
        for source, row in self._doubtful_links():
            placed_keys.add(row.key)
            target = self.target(source, row.path, is_card=row.is_card)
            if target is not None and target != source:
                reached.add(target)
        of_shared_names = self._links.files_with(self._shared_keys)
        unsure = self._links.files_with(placed_keys) | of_shared_names
        plainly = self._links.named_plainly(unsure - of_shared_names)
        doubtful = [*self._paths_of(unsure - plainly), *self._files.others]
        unlinked = {path for path in doubtful if path not in reached}
        unlinked.update(self._paths_of(self._links.never_named() - unsure))
        return unlinked

    def linking_nowhere(self) -> set[VaultPath]:
        """Return the files with rows that have no link to another file or to a name of none."""
        numbers = self._links.linking_nowhere() | self._file_paths.read_odd().keys()
        linking = {
            row.file
            for source, row in self._with_sources(self._links.from_files(numbers))
            if self.target(source, row.path, is_card=row.is_card) != source
        }
        return set(self._paths_of(numbers - linking))

    def missing_links(self) -> Iterator[tuple[VaultPath, LinkRow]]:
        """Yield the links that lead to no file, each with its source, in no order."""
        missing_keys = {*self._links.missing_keys()} - self._shared_keys
        yield from self._with_sources(self._links.with_keys(missing_keys))
        for source, row in self._doubtful_links():
            if row.key not in missing_keys and (
                self.target(source, row.path, is_card=row.is_card) is None
            ):
                yield source, row

    def _doubtful_links(self) -> Iterator[tuple[VaultPath, LinkRow]]:
        """Yield the links whose key does not tell which file they mean, with their sources."""
        shared = self._shared_keys
        for source, row in self._with_sources(self._links.placed_links()):
            if row.key not in shared:
                yield source, row
        yield from self._with_sources(self._links.with_keys(shared))

    @cached_property
    def _shared_keys(self) -> set[str]:
        """The keys of links that must be resolved.

        Several files have them, or one that is no note with `.md`; or a file without rows, or with
        rows and gone, has them, or a link of a file that is gone.
        """
        others = (
            *self._file_paths.read_odd().values(),
            *self._files.others,
            *self._files.gone.values(),
        )
        keys = {to_printable(key) for path in others for key in keys_of(path)}
        keys.update(row.key for row in self._links.from_files(self._files.gone))
        return keys | self._links.shared_keys()

    # -- one link
    def target(self, source: VaultPath, path: str, *, is_card: bool) -> VaultPath | None:
        """Return the file that a link leads to, None when there is none."""
        place = (parent(source), path, is_card)  # a link means the same in all files of a folder
        if place in self._known_targets and path:
            return self._known_targets[place]
        target = target_of(self._catalog, source, path, is_card=is_card)
        if clean(path) and len(self._known_targets) < MOST_REMEMBERED:
            self._known_targets[place] = target
        return target

    def _add(self, outgoing: Outgoing, source: VaultPath, row: LinkRow) -> None:
        """Count one link among those of its file."""
        target = self.target(source, row.path, is_card=row.is_card)
        if target is not None:
            outgoing.resolved[target] = outgoing.resolved.get(target, 0) + 1
        else:
            name = missing_name(row.path)
            outgoing.missing[name] = outgoing.missing.get(name, 0) + 1

    def _with_sources(self, rows: Iterable[LinkRow]) -> Iterator[tuple[VaultPath, LinkRow]]:
        """Yield links with the paths of the files that have them, without files that are gone."""
        paths = self._files.paths
        for row in check_each(rows):
            if (source := paths.get(row.file)) is not None:
                yield source, row

    def _paths_of(self, numbers: Iterable[int]) -> Iterator[VaultPath]:
        paths = self._files.paths
        return (paths[number] for number in numbers if number in paths)


def missing_name(linkpath: str) -> str:
    """Return the name of a link that no file has, as the app writes it."""
    return clean(linkpath).removesuffix(NOTE_EXTENSION)


def target_of(
    catalog: Catalog, source: VaultPath, linkpath: str, *, is_card: bool
) -> VaultPath | None:
    """Return the file that a link leads to, None when there is none."""
    target = catalog.path_at(linkpath) if is_card else resolve(catalog, source, linkpath)
    if target is None:
        catalog.check_missing(linkpath)
    return target
