"""The files of one vault: which there are, what they hold, and what the app's settings say of them.

It knows neither index nor changes, which `vault` adds: reading a note needs none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from math import inf

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileContent, FileEntry
from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.files.ports import Change, Files, Obsidian
from obsidian_mcp.core.files.settings import (
    ENABLED_PLUGINS_FILE,
    AppSettings,
    IgnoreFilters,
    PropertyTypes,
    app_settings,
    enabled_plugins,
    property_types,
)
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    TEXT_EXTENSIONS,
    VaultPath,
    clean,
    extension,
    is_note,
)
from obsidian_mcp.errors import NoteNotFound, NotText

from .first_look import COMMAND_SECONDS
from .folders import Folders
from .listing import Listing
from .scanning import Dirty

_filters_of = lru_cache(IgnoreFilters)
"""The same object for the same filters."""
_EDITORS = {
    ".canvas": "obsidian_edit_canvas changes the cards of a canvas.",
    ".base": (
        "obsidian_create_note with overwrite replaces a base by a whole new text, which is checked "
        "first."
    ),
}
_NO_EDITOR = (
    "No tool changes files of this kind; obsidian_move_note and obsidian_delete_note work on "
    "every file."
)


class KnownCatalog:
    """Gives a vault the catalog of its files; who asks first waits until all are known.

    From then on it is an attribute like any other.
    """

    def __get__(self, vault: VaultFiles, owner: type) -> Catalog:
        catalog = vault.list_all()
        vars(vault)["catalog"] = catalog
        return catalog


class VaultFiles:
    """The visible files of a vault, in step with the disk.

    Every method may be called from any thread.
    """

    catalog = KnownCatalog()

    def __init__(
        self, name: str, files: Files, dirty: Dirty, *, policy: Policy, app: Obsidian | None
    ) -> None:
        self.name = name
        self.files = files
        self.app = app
        self.policy = policy
        catalog = Catalog(read_uri=self._read_uri, root_bytes=len(bytes(files.root)) + 1)
        self._listing = Listing(files, dirty, policy, catalog, self._note)
        self.lock = self._listing.lock
        self.first_look_seconds = COMMAND_SECONDS
        """How long a search waits until the files are known."""
        self.is_looked_at_aside = False
        """Whether a thread beside the calls looks at the folder for the first time."""
        self.folders = Folders(files, policy, self._listing)

    def _note(self, changes: Iterable[Change]) -> None:
        """Take notice of changed files, for what is kept of their contents; here nothing is."""

    def _place_of(self, disk: str) -> str:
        """Return where a file is that a running change moves; here no change is made."""
        return disk

    def refresh(self, *, if_listed: bool = False) -> None:
        """Bring the catalog in step with the disk; `if_listed`: only where it was known once."""
        if not if_listed or self._listing.has_looked or self._listing.is_known:
            self._listing.refresh()

    @property
    def watch_problem(self) -> str:
        """A sentence about why the folder is not watched; empty where it is."""
        return self._listing.watch_problem

    def list_all(self) -> Catalog:
        """Return the visible files when all are known."""
        return self._listing.list_all()

    def wait_for_files(self, seconds: float | None = None) -> bool:
        """Wait until the catalog is known; return whether it is (SEARCH-115).

        Only a first look beside the calls is not waited for to its end: at most so many seconds,
        None as many as is usual here. Raises: AppError.
        """
        if self._listing.has_looked:
            return True
        seconds = self.first_look_seconds if seconds is None else seconds
        if self.is_looked_at_aside and seconds != inf:
            return self._listing.wait_for_look(seconds)
        self.refresh()
        return True

    def look_everywhere(self) -> None:
        """As `refresh`, with a scan of the whole folder in any case (WATCH-10)."""
        self._listing.look_everywhere()

    def catch_up(self) -> float | None:
        """As `refresh`, with a scan if one is due beside the calls.

        Return the seconds until the next one is due, None where the calls scan.
        """
        return self._listing.catch_up()

    @property
    def is_listed(self) -> bool:
        """Whether the catalog is known."""
        return self._listing.is_known

    def catalog_of(self, *filenames: str) -> Catalog:
        """Return a catalog of the files of these names, or of all files where they are known.

        Only names are read for it, in a fifth of the time of a whole list.
        """
        # without the lock, which the first look holds
        return self.catalog if self.is_listed else self._listing.list_named(filenames)

    def find_unlisted(self, raw: str) -> FileEntry | None:
        """Return the file that a path or file name means, before all files are known; None where it
        may mean something else, as an alias. Raises: as `Catalog.find`."""
        last = raw.rpartition("/")[2]
        return self._find_exact(raw) or self.catalog_of(last, last + NOTE_EXTENSION).find(raw)

    def _find_exact(self, raw: str) -> FileEntry | None:
        """Return the file whose whole path this is, as the disk spells it; None where that cannot
        be told without a list of files, as of a bare name.

        No other file is looked at, because an exact path wins over all others (NAME-03). Raises:
        PermissionDenied for a symbolic link.
        """
        if not raw.isascii() or "/" not in raw or extension(raw) not in TEXT_EXTENSIONS:
            return None
        if raw != clean(raw) or not self._listing.is_visible(raw):
            return None
        file = self.files.stat(raw)
        is_spelled_so = file is not None and raw in self.files.filter_exact_spellings([raw])
        return FileEntry(VaultPath(raw), *file) if file is not None and is_spelled_so else None

    def entries(self) -> list[FileEntry]:
        """Return every file, sorted by path."""
        with self.lock:
            return sorted(self.catalog, key=lambda entry: entry.path)

    def _read_uri(self, raw: str) -> str:
        from obsidian_mcp.core.files import uri

        return uri.note_name(raw, self.name, self.files.root)

    def entry_at(self, path: VaultPath) -> FileEntry | None:
        """Return the file at this path, in any case and normal form."""
        with self.lock:
            path_of_entry = self.catalog.path_at(path)
            if path_of_entry is not None:  # it may have been deleted a moment ago
                self._listing.look_at(self.catalog.entry(path_of_entry).disk)
                path_of_entry = self.catalog.path_at(path)
            return None if path_of_entry is None else self.catalog.entry(path_of_entry)

    def look_for(self, disk: str) -> FileEntry | None:
        """Return a file that the watcher may not have reported yet; None where there is none.

        Raises: PermissionDenied for a symbolic link, StorageFailed for a file that is not
        downloaded.
        """
        with self.lock:
            if not self._listing.is_visible(disk):
                return None
            if self.files.stat(disk) is None:
                self.files.exists(disk)  # raises for a file that is in the cloud only
                return None
            if disk in self.files.filter_exact_spellings([disk]):
                self._listing.look_at(disk)
                return self.catalog.on_disk(disk)
            # on a disk without case, another spelling of a file that only a list has
            self._listing.rescan()
            path = self.catalog.path_at(VaultPath(normal_form(disk)))
            return None if path is None else self.catalog.entry(path)

    def check_target(self, disk: str, files: Iterable[VaultPath] = ()) -> None:
        """Refuse a target that may not be seen, whether or not something is there (POL-01).

        An answer must not tell it. The target is a file, or a folder with the `files` that go into
        it. Raises: PermissionDenied.
        """
        path = normal_form(disk)
        if files and self.policy.conceals(f"{path}/"):
            raise self.policy.refusal_of(path)
        for file in files or (path,):
            if not self.policy.is_visible(file):
                raise self.policy.refusal_of(file)

    @property
    def settings(self) -> AppSettings:
        """The app's current settings of this vault."""
        return app_settings(self.files.config("app.json"))

    @property
    def property_types(self) -> PropertyTypes:
        """The types that the user has currently assigned to properties."""
        return property_types(self.files.config("types.json"))

    @property
    def uses_dataview(self) -> bool:
        """Whether the plugin Dataview is switched on: then inline fields are properties (DV-19)."""
        return "dataview" in enabled_plugins(self.files.config(ENABLED_PLUGINS_FILE))

    def hides(self) -> Callable[[str], bool]:
        """Return the test for files that the user excludes (semantics 8.3).

        They are left out of search, graph, tags and properties.
        """
        return self._filters()

    def _filters(self) -> IgnoreFilters:
        """Return the current filters: the same object until the settings change."""
        return _filters_of(self.settings.ignore_filters)

    # -- reading
    # ----------------------------------------------------------------------------------------------

    def read_content(self, entry: FileEntry) -> FileContent:
        """Return the file's content, also while a change moves it.

        Raises: NoteNotFound, PermissionDenied, StorageFailed.
        """
        try:
            data = self.files.read_file(entry.disk)
        except NoteNotFound:
            disk = self._place_of(entry.disk)
            if disk == entry.disk:
                raise
            data = self.files.read_file(disk)
        return FileContent(entry, data)

    def read_text(self, entry: FileEntry) -> FileContent:
        """As `read_content`, for text only. Raises: NotText."""
        content = self.read_content(entry)
        if not content.is_text:
            raise NotText(
                f"{str(entry.path)!r} is not a text file ({entry.size:,} bytes of binary data).",
                path=entry.path,
            )
        return content

    def read_note(self, entry: FileEntry) -> FileContent:
        """As `read_text`, for notes only (EDIT-09).

        Raises: NotText naming the tool that can change the file.
        """
        if not is_note(entry.path):
            raise NotText(
                f"{str(entry.path)!r} is not a note, so its text and properties cannot be "
                "edited: that could break "
                f"the file. {_EDITORS.get(extension(entry.path), _NO_EDITOR)}",
                path=entry.path,
            )
        return self.read_text(entry)

    def read_shown(self, entry: FileEntry) -> FileContent:
        """As `read_text`, for an answer: with the backend `cli` the app has to return the note too.

        What counts is the file: the app may not have noticed a change yet (APP-FILE-08).
        """
        content = self.read_text(entry)
        if self.app is not None and is_note(entry.path) and entry.path == entry.disk:
            with suppress(NoteNotFound):  # the note is too new for the app
                if not self.app.shows(entry.path, content.data):
                    return self.read_text(entry)
        return content
