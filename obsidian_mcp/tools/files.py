"""What the vault holds: folders, notes, attachments.

A list has names by folder instead of paths, which repeat the folder, and instead of sizes and
times, which few calls need: 500 paths took 52 KB as records and take 9 KB so (TOOL-35).
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Literal

from obsidian_mcp.app import App
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.settings import last_open_files
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.vault_path import TEXT_EXTENSIONS, is_note, name_key
from obsidian_mcp.core.text.vault_path import extension as extension_of
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError

from .arguments import Argument, Limit, Offset, VaultName, VaultNames
from .paging import names_by_folder, page_of
from .registry import tool

HASHED_BYTES = 1 << 20
"""Larger files are listed without an etag, for which they would have to be read."""
KINDS_LISTED = 20
"""Extensions that an overview counts, the most frequent first."""
RECENT_NOTES = 10
"""Notes changed last that an overview names."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    path: str
    size: int
    modified: str
    etag: str | None = None
    """Of notes, canvases and bases."""


@dataclass(frozen=True, slots=True)
class FileListing:
    folder: str
    folders: list[str]
    """With `recursive`, only those without a file that matches."""
    total: int
    """Files that match, on all pages."""
    names: dict[str, list[str]] | None = None
    """File names by folder; of a list that is sorted otherwise `paths`, with `details` `files`."""
    paths: list[str] | None = None
    files: list[ListedFile] | None = None
    next_offset: int | None = None
    folders_total: int | None = None
    """Folders on all pages, where they are not all on this one."""


@tool(title="List files of a folder")
def list_files(
    app: App,
    folder: Annotated[str, Argument(description="Else the root")] = "",
    recursive: Annotated[bool, Argument(description="Subfolders too")] = False,
    extension: Annotated[str, Argument(description="md, pdf …")] = "",
    sort: Annotated[
        Literal["name", "modified", "size", "opened"],
        Argument(description="modified: latest first; opened: only those"),
    ] = "name",
    details: Annotated[bool, Argument(description="Also size, time, etag")] = False,
    limit: Limit = 100,
    offset: Offset = 0,
    vault: VaultNames = "",
) -> FileListing:
    """List the notes and attachments of a folder."""
    opened = app.vaults.get(vault)
    inside = opened.folders.find_folder(folder)
    prefix = name_key(inside) + "/" if inside else ""
    suffix = f".{extension.lower().removeprefix('.')}" if extension else ""
    with opened.lock:
        below = [entry for entry in opened.entries() if name_key(entry.path).startswith(prefix)]
        spelled, folders = opened.folders.describe_folder(inside or "")
    depth = prefix.count("/")
    files = [
        entry
        for entry in below
        if (recursive or entry.path.count("/") == depth)
        and (not suffix or extension_of(entry.path) == suffix)
    ]
    if sort in ("modified", "size"):
        files.sort(key=attrgetter("mtime_ns" if sort == "modified" else "size"), reverse=True)
    elif sort == "opened":
        ranks = {
            path: rank
            for rank, path in enumerate(last_open_files(opened.files.config("workspace.json")))
        }
        files = sorted(
            (entry for entry in files if entry.path in ranks), key=lambda entry: ranks[entry.path]
        )
    page, following = page_of(files, offset, limit, attrgetter("path"))
    details = details or current_call.get().wants_all
    names = sorted(set(map(normal_form, folders)))
    if recursive and not details:
        named = {name_key(entry.path[len(prefix) :].partition("/")[0]) for entry in files}
        names = [name for name in names if name_key(name) not in named]
    shown_folders, more_folders = page_of(names, offset, limit, name="folders")
    paths = [str(entry.path) for entry in page]
    is_by_name = not details and sort == "name"
    return FileListing(
        spelled,
        list(shown_folders),
        len(files),
        names_by_folder(paths) if is_by_name else None,
        None if details or is_by_name else paths,
        [_describe_file(opened, entry) for entry in page] if details else None,
        following or more_folders,
        folders_total=len(names) if len(shown_folders) < len(names) else None,
    )


def _describe_file(vault: Vault, entry: FileEntry) -> ListedFile:
    etag = None
    if extension_of(entry.path) in TEXT_EXTENSIONS and entry.size <= HASHED_BYTES:
        with suppress(AppError):  # gone or unreadable since it was listed
            etag = vault.read_content(entry).etag
    return ListedFile(entry.path, entry.size, entry.modified, etag)


CONSOLE = (
    "To see and take back what assistants changed, the user picks this server's prompt 'Open the "
    "console', or runs `obsidian-mcp ui`."
)


@dataclass(frozen=True, slots=True)
class VaultInfo:
    vault: str
    path: str
    notes: int
    attachments: int
    folders: int
    """Folders that hold a file."""
    bytes: int
    extensions: dict[str, int]
    recent: list[str]
    """Notes changed last."""
    vaults: list[str] | None = None
    """Every vault, where there are several."""
    rules: str | None = None
    """What the owner tells assistants: the beginning of the note at `rules_path`."""
    rules_path: str | None = None
    warning: str | None = None
    """Says that hidden text was left out of the rules, or why the vault's folder is not watched."""
    console: str | None = None
    """How the user opens the console; no address, because that opens it (UI-11)."""


@tool(title="Vault overview")
def vault_info(app: App, vault: VaultName = "") -> VaultInfo:
    """Overview of the vault: notes and files, size, kinds, notes changed last, other vaults."""
    opened = app.vaults.get(vault)
    with opened.lock:
        entries = opened.entries()
        folders = len(opened.catalog.folders.paths)
    notes = [entry for entry in entries if is_note(entry.path)]
    kinds = Counter(extension_of(entry.path).removeprefix(".") or "none" for entry in entries)
    latest = sorted(notes, key=lambda entry: -entry.mtime_ns)
    vaults = app.vaults.names()
    rules = app.vaults.rules(vault)
    rules_warning = "" if rules is None else rules.warning
    return VaultInfo(
        vault=opened.name,
        path=str(opened.files.root),
        notes=len(notes),
        attachments=len(entries) - len(notes),
        folders=folders,
        bytes=sum(entry.size for entry in entries),
        extensions=dict(kinds.most_common(KINDS_LISTED)),
        recent=[str(entry.path) for entry in latest[:RECENT_NOTES]],
        vaults=vaults if len(vaults) > 1 else None,
        rules=None if rules is None else rules.text,
        rules_path=None if rules is None else rules.path,
        warning=" ".join(filter(None, (rules_warning, opened.watch_problem))) or None,
        console=None if app.open_console is None else CONSOLE,
    )
