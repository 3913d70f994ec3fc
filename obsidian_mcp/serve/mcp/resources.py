"""The vault as resources: every file by its URI, and a few pages about the whole (specs/resources.md)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from obsidian_mcp.app import App
from obsidian_mcp.core.files import media, uri
from obsidian_mcp.core.files.catalog import FileEntry, normal_form
from obsidian_mcp.core.text.clock import timestamp
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.vault_path import basename, is_note, parse
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments, NoteNotFound

from . import pagination

PAGE: Final = 200
"""Resources of one page of the list."""
MAX_BYTES: Final = 16 * 2**20
"""Largest file that is read as a resource."""
RECENT: Final = 20
TAGS_SHOWN: Final = 30

OVERVIEW: Final = "obsidian://overview"
RECENT_NOTES: Final = "obsidian://recent"
TODAY: Final = "obsidian://today"
TEMPLATE: Final = uri.TEMPLATE


@dataclass(frozen=True, slots=True)
class Resource:
    uri: str
    name: str
    title: str
    mime: str
    description: str | None = None
    size: int | None = None
    modified: str | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """What a resource holds: `text`, or `blob` where it is no text."""

    uri: str
    mime: str
    text: str | None = None
    blob: bytes | None = None


@dataclass(frozen=True, slots=True)
class Page:
    resources: list[Resource]
    next_cursor: str | None = None


STATIC: Final = (
    Resource(OVERVIEW, "overview", "Vault overview", media.NOTE, "Counts, folders, tags and recent notes"),
    Resource(RECENT_NOTES, "recent", "Recent notes", media.NOTE, "The notes changed last"),
    Resource(TODAY, "today", "Today's note", media.NOTE, "The daily note of today"),
)


def listed(app: App, cursor: str | None = None) -> Page:
    """The pages about the vault, then every file of the default vault by path. Raises: InvalidArguments."""
    place = app.vaults.get()
    entries = place.entries()
    start = 0
    if cursor is not None:
        start = bisect_right(entries, pagination.place_of(cursor), key=lambda entry: str(entry.path))
    room = PAGE - (len(STATIC) if cursor is None else 0)
    shown = entries[start : start + room]
    more = start + room < len(entries)
    found = [_file(place, entry) for entry in shown]
    return Page(
        [*STATIC, *found] if cursor is None else found,
        pagination.cursor_after(shown[-1].path) if more else None,
    )


def _file(place: Vault, entry: FileEntry) -> Resource:
    name = entry.path.rpartition("/")[2]
    return Resource(
        uri=uri.of_file(place.name, entry.path),
        name=str(entry.path),
        title=basename(name),
        mime=media.mime_of(entry.path),
        size=entry.size,
        modified=timestamp(entry.mtime_ns),
    )


def read(app: App, address: str) -> Content:
    """Raises: InvalidArguments for a URI of no known form, NoteNotFound, PermissionDenied, StorageFailed."""
    known = {OVERVIEW: _overview, RECENT_NOTES: _recent}
    if address in known:
        return Content(address, media.NOTE, known[address](app.vaults.get()))
    if address == TODAY:
        place = app.vaults.get()
        today = place.periodic.locate("day")
        if today.entry is None:
            raise place.periodic.missing(today)
        entry = today.entry
    else:
        place, entry = find(app, address)
    data = place.files.read(entry.disk, MAX_BYTES)
    mime = media.mime_of(entry.path)
    if media.is_text(entry.path, data):
        text = Text.decode(data).body.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return Content(address, "text/plain" if mime == media.UNKNOWN else mime, text)
    return Content(address, mime, blob=data)


def find(app: App, address: str) -> tuple[Vault, FileEntry]:
    """The file that a URI names. Raises: InvalidArguments, VaultNotFound, NoteNotFound, PermissionDenied."""
    named = uri.parse(address)
    if named is None:
        raise InvalidArguments(
            f"Unknown resource: {address!r}. Resources are {OVERVIEW}, {RECENT_NOTES}, {TODAY} and {uri.TEMPLATE}.",
            uri=address,
        )
    place = app.vaults.get(named.vault)
    spellings = dict.fromkeys((normal_form(named.path), normal_form(named.literal)))
    for spelling in spellings:
        with place.lock:  # any name that the disk holds, also one that nobody could type
            known = place.catalog.get(spelling)
        if known is not None and (entry := place.look_for(known.disk)) is not None:
            return place, entry
    paths = [parse(spelling) for spelling in spellings]
    for path in paths:
        if (entry := place.at(path) or place.look_for(path)) is not None:
            return place, entry
    raise NoteNotFound(f"There is no file {str(paths[0])!r} in the vault {place.name!r}.", uri=address, path=paths[0])


def recent_notes(place: Vault, wanted: Callable[[FileEntry], bool] = lambda _: True) -> list[FileEntry]:
    """Notes that the user does not hide, the latest first."""
    hidden = place.hides()
    notes = [entry for entry in place.entries() if is_note(entry.path) and not hidden(entry.path) and wanted(entry)]
    return sorted(notes, key=lambda entry: -entry.mtime_ns)


def _overview(place: Vault) -> str:
    entries = place.entries()
    notes = sum(is_note(entry.path) for entry in entries)
    folders: dict[str, int] = {}
    for entry in entries:
        top, slash, _ = entry.path.partition("/")
        folders[top if slash else "(root)"] = folders.get(top if slash else "(root)", 0) + 1
    tags = sorted(place.graph.tags().value, key=lambda use: (-use.files, use.tag))[:TAGS_SHOWN]
    lines = [
        f"# {place.name}",
        "",
        f"{notes} notes, {len(entries) - notes} other files, {sum(entry.size for entry in entries):,} bytes.",
        "",
        "## Folders",
        "",
        *(f"- {name}: {count} files" for name, count in sorted(folders.items())),
        "",
        "## Tags",
        "",
        *(f"- #{use.tag}: {use.files} notes" for use in tags),
        "",
        "## Changed last",
        "",
        *(_line(place, entry) for entry in recent_notes(place)[:RECENT]),
    ]
    return "\n".join(lines) + "\n"


def _recent(place: Vault) -> str:
    lines = [_line(place, entry) for entry in recent_notes(place)[:RECENT]]
    return "\n".join(["# Notes changed last", "", *lines]) + "\n"


def _line(place: Vault, entry: FileEntry) -> str:
    return f"- {timestamp(entry.mtime_ns)} [{entry.path}]({uri.of_file(place.name, entry.path)})"
