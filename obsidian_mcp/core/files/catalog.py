"""The list of a vault's files, and which of them the names mean that people and models write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from obsidian_mcp.core.text import vault_path
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    TEXT_EXTENSIONS,
    VaultPath,
    extension,
    name_key,
    parse,
)
from obsidian_mcp.core.text.wikilink import read_whole_wikilink
from obsidian_mcp.errors import AppError

from .file_entry import FileEntry
from .file_list import FileList
from .name_errors import ambiguous_name_error
from .ports import DiskFile
from .spellings import normal_form

MOST_NAMES = 1_000
"""Names whose files are remembered until files come or go."""


class Catalog(FileList):
    """The list of a vault's files, with what is asked of it by a name that somebody wrote: which
    file the name means, and where a new file of that name goes (specs/names.md)."""

    def __init__(
        self,
        files: Iterable[DiskFile] = (),
        read_uri: Callable[[str], str] = lambda raw: raw,
        root_bytes: int = 0,
    ) -> None:
        """`read_uri` returns the name of the note that a URI names (NAME-16); it raises
        VaultNotFound, InvalidName, PermissionDenied. `root_bytes`: the length of the path of the
        vault's folder, with its `/`."""
        super().__init__(files)
        self._read_uri = read_uri
        self._root_bytes = root_bytes
        self._found: tuple[int, dict[str, VaultPath]] = (-1, {})
        """The generation in which names were looked up, and the paths that they mean: calls repeat
        the same names."""

    def parse(self, raw: str) -> VaultPath:
        """Return the normal form of a path, in a folder that is listed exactly so as it is, however
        odd its name (NAME-14), and with the names of twins as they are spelled (NAME-06). Raises:
        PermissionDenied, InvalidName, VaultNotFound for the URI of another vault."""
        if "://" in raw:
            raw = self._read_uri(raw)
        with suppress(AppError):
            clean = vault_path.clean(raw)
            if clean == raw or normal_form(clean) == normal_form(raw):
                return VaultPath(clean) if clean.isascii() else self.as_listed(clean)
        listed = self.as_listed(raw)
        folder = self.folders.longest_folder(listed.rpartition("/")[0])
        if folder:
            return VaultPath(f"{folder}/{parse(f'.{listed[len(folder) :]}')}")
        return self.as_listed(vault_path.clean(raw))

    def find(self, raw: str) -> FileEntry | None:
        """Return the one file that `raw` names: bare name or path, `.md` optional, in any case and
        form (NAME-01 to NAME-06). An exact path wins over other files of the name; an odd name
        counts as it stands (NAME-14). Raises: AmbiguousName with the candidates, PermissionDenied
        for a path out of the vault."""
        generation, remembered = self.generation, self._found
        path = remembered[1].get(raw) if remembered[0] == generation else None
        if path is not None and (entry := self._by_path.get(path)) is not None:
            return entry
        entry = self._look_up(raw)
        if entry is not None and remembered[0] == generation and len(remembered[1]) < MOST_NAMES:
            remembered[1][raw] = entry.path
        elif entry is not None:
            self._found = (generation, {raw: entry.path})
        return entry

    def _look_up(self, raw: str) -> FileEntry | None:
        """Return the file of a name, in the order of NAME-03: exact path, path, then file name.

        A name that no path can have may still be that of a file on disk, written exactly so.
        Raises: AmbiguousName where several files fit.
        """
        try:
            path = self.parse(raw)
        except AppError:
            if (entry := self._find_odd(raw)) is None:
                raise
            return entry
        if (
            path != raw
            and normal_form(path) != normal_form(raw)
            and (entry := self._find_odd(raw)) is not None
        ):
            return entry
        suffix = extension(path)
        spellings = [path] if suffix == NOTE_EXTENSION else [path, VaultPath(path + NOTE_EXTENSION)]
        if suffix and (entry := self.get(path)) is not None:
            return entry
        paths: Sequence[VaultPath] = ()
        if "/" in path or suffix in TEXT_EXTENSIONS:
            for spelling in spellings:
                if (entry := self.get(spelling)) is not None:
                    return entry
            paths = sorted(
                {candidate for spelling in spellings for candidate in self.find_equal(spelling)}
            )
        if not paths:
            paths = self.find_by_name(*[spelling.rpartition("/")[2] for spelling in spellings])
            if "/" in path:
                tails = tuple("/" + name_key(spelling) for spelling in spellings)
                paths = [candidate for candidate in paths if name_key(candidate).endswith(tails)]
        if len(paths) > 1:
            raise ambiguous_name_error(raw, paths)
        return self.get(paths[0]) if paths else None

    def _find_odd(self, raw: str) -> FileEntry | None:
        """Return the one file of exactly this path or name, such as one that begins with a space or
        holds a `:`."""
        spelled = self.as_listed(raw)
        for spelling in (spelled, spelled + NOTE_EXTENSION):
            if (entry := self.get(spelling)) is not None:
                return entry
            exact = [
                path
                for path in self.paths_by_key().get(name_key(spelling.rpartition("/")[2]), ())
                if path.endswith(f"/{spelling}")
            ]
            if len(exact) > 1:
                raise ambiguous_name_error(raw, sorted(exact))
            if exact:
                return self.get(exact[0])
        return None

    def new_path(self, raw: str) -> tuple[VaultPath, str]:
        """Return the path of a new file of this name, and its spelling for the disk: with `.md`
        unless it ends as a text file that the app makes, in folders as they are spelled (NAME-07,
        NAME-08). Raises: InvalidName, PermissionDenied."""
        path = self.parse(link_target(raw) or raw)
        if extension(path) not in TEXT_EXTENSIONS:
            path = VaultPath(path + NOTE_EXTENSION)
        self.check_creatable(path)
        return self.spell_path(path)

    def check_creatable(self, path: VaultPath, source: str = "") -> None:
        """Check the path of a new file or folder. Parts that exist, or that `source` has, which is
        moved there, may be named oddly. Raises: InvalidName."""
        existing = self.folders.longest_folder(path.rpartition("/")[0])
        vault_path.check_creatable(
            path,
            f"{source}/{existing}",
            self._root_bytes,
            is_taken=lambda usable: self.path_at(usable) is not None,
        )

    def check_length(self, path: VaultPath) -> None:
        """Check the length of a path that a file gets with its folder. Raises: InvalidName."""
        vault_path.check_length(path, self._root_bytes)

    def spell_path(self, path: VaultPath) -> tuple[VaultPath, str]:
        """Return a path with its folders spelled as they exist: in the vault, and on disk."""
        folder, _, name = path.rpartition("/")
        if not folder:
            return path, path
        vault_folder, disk_folder = self.existing_folder(folder)
        return VaultPath(f"{vault_folder}/{name}"), f"{disk_folder}/{name}"

    def existing_folder(self, folder: str) -> tuple[str, str]:
        """Return the spelling that the longest known part of `folder` has, in the vault and on
        disk."""
        longest = self.folders.longest_folder(folder)
        spelled = self.folders.find(longest) or ("", "")
        return spelled[0] + folder[len(longest) :], spelled[1] + folder[len(longest) :]


def link_target(raw: str) -> str | None:
    """Return what a name written as a link names: `[[Alpha|the plan]]` is Alpha (NAME-12). None for
    any other name."""
    link = read_whole_wikilink(raw.strip()) if "[[" in raw else None
    return None if link is None else link.path + link.subpath
