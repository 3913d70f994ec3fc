"""The folders of a vault, as far as the policy shows them (POL-01)."""

from __future__ import annotations

from contextlib import suppress
from itertools import accumulate

from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.files.ports import Files
from obsidian_mcp.core.files.settings import AppSettings
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.vault_path import VaultPath, parse_folder
from obsidian_mcp.errors import AppError, NoteNotFound

from .listing import Listing

FOLDER_OF_NEW_NOTES = "the folder of new notes"


class Folders:
    """The folders of a vault, as far as the policy shows them (POL-01).

    Every method may be called from any thread.
    """

    def __init__(self, files: Files, policy: Policy, listing: Listing) -> None:
        self._files = files
        self._policy = policy
        self._listing = listing

    def find_folder(self, raw: str) -> VaultPath | None:
        """Return the folder that a person names, None for the root.

        One that is listed exactly so is taken, however odd its name (NAME-14), else the normal
        form, which may be new. Raises: PermissionDenied.
        """
        listed = normal_form(raw).removeprefix("/").rstrip("/")
        with suppress(AppError):
            path = parse_folder(raw)
            if path is None or path == listed:
                return path
        if self._is_listed(listed):
            return VaultPath(listed)
        return self._listing.list_all().parse(listed)

    def _is_listed(self, path: str) -> bool:
        """Return whether a folder is spelled exactly so.

        Folders without files are not in the catalog; they are looked for on disk, in those that
        are.
        """
        above = ""
        for folder in accumulate(path.split("/"), "{}/{}".format):
            with self._listing.lock:
                listed_name = (self._listing.list_all().folders.find(folder) or ("", ""))[0]
            if listed_name != folder and folder not in map(
                normal_form, self.folders_below(self.spell_folder(VaultPath(above))[1]) or ()
            ):
                return False
            above = folder
        return True

    def spell_folder(self, path: VaultPath) -> tuple[str, str]:
        """Return a folder's spelling in the vault and on disk."""
        with self._listing.lock:
            return self._listing.list_all().existing_folder(path)

    def folders_below(self, disk: str) -> list[str] | None:
        """Return the folders directly below one, as the disk spells them.

        None if there is no such folder, or the policy hides all of it.
        """
        folders = self._files.subfolders(disk)
        if folders is None or not self._policy.restricts_reading:
            return folders
        visible_folders = [folder for folder in folders if self._is_visible(folder)]
        return visible_folders if visible_folders or not disk or self._is_visible(disk) else None

    def movable_entries(self, disk: str) -> tuple[str, ...] | None:
        """Return what can leave a folder without its hidden files: files, and folders without such.

        None where the folder has no hidden files, and can move as a whole.
        """
        if not self._policy.restricts_reading:
            return None
        inside = [file.disk for file in self._files.scan(disk)]
        visible_files = [file for file in inside if self._listing.is_visible(file)]
        if len(visible_files) == len(inside):
            return None
        hidden = set(inside) - set(visible_files)
        staying = {
            file[:at] for file in hidden for at in range(len(disk), len(file)) if file[at] == "/"
        }
        files = [file for file in visible_files if file.rpartition("/")[0] in staying]
        folders = [
            below
            for folder in staying
            for below in self.folders_below(folder) or ()
            if below not in staying
        ]
        return tuple(sorted([*files, *folders]))

    def describe_folder(self, folder: str) -> tuple[str, list[str]]:
        """Return a folder's spelling in the vault and the folders directly below it.

        The root is "". Raises: NoteNotFound for a folder that does not exist.
        """
        spelled, disk = self.spell_folder(VaultPath(folder)) if folder else ("", "")
        below = self.folders_below(disk)
        if below is None:
            raise NoteNotFound(
                f"There is no folder {folder!r} in the vault. List the root (empty folder) to "
                "see the folders.",
                folder=folder,
            )
        return spelled, below

    def configured_folder(self, folder: str, what: str) -> str:
        """Return a folder that the vault's settings name.

        Raises: PermissionDenied where the policy hides it, without its name (POL-18).
        """
        if folder.strip("/ ") and self._policy.conceals(normal_form(folder.strip("/ ")) + "/"):
            raise self._policy.refused_setting(what)
        return folder

    def check_new(self, path: VaultPath, what: str) -> None:
        """Check a new file in a folder that the vault's settings name.

        Raises: PermissionDenied, as `configured_folder`.
        """
        if not self._policy.is_visible(path):
            raise self._policy.refused_setting(what)

    def folder_for_notes(self, settings: AppSettings, current: str = "") -> str:
        """Return the folder of a new note that is named without one, "" for the root.

        `current` is the folder of the open note. Raises: PermissionDenied.
        """
        folder_by_location = {"current": current, "folder": settings.new_file_folder.strip("/ ")}
        return self.configured_folder(
            folder_by_location.get(settings.new_file_location, ""), FOLDER_OF_NEW_NOTES
        )

    def _is_visible(self, disk: str) -> bool:
        """Return whether a folder holds a visible file, or is empty and matches no pattern."""
        with self._listing.lock:
            if self._listing.list_all().folders.find(disk) is not None:
                return True
        return (
            self._policy.is_visible(normal_form(disk) + "/")
            and next(iter(self._files.scan(disk)), None) is None
        )
