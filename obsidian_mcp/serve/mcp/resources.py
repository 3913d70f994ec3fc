"""The vault as resources: every file by its URI, and a few pages about the whole
(specs/resources.md).

Tools are called by the model, resources are attached by the person or the host: a host lists them,
shows them in a menu, and reads one without asking the model. So each is whole, without the pages
and limits that a tool's answer has, up to MAX_BYTES.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from typing import Final

import mcp_types as types
from mcp.server.apps import APP_MIME_TYPE

from obsidian_mcp.app import App
from obsidian_mcp.core.files import media, uri
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.name_errors import ambiguous_name_error
from obsidian_mcp.core.text.text import Text, hidden_text_warnings, to_printable, write_count
from obsidian_mcp.core.text.vault_path import basename, is_note, parse
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments, NoteNotFound
from obsidian_mcp.serve import views
from obsidian_mcp.serve.call_queue import kind_of_call
from obsidian_mcp.serve.dispatch import no_page, require_first_page
from obsidian_mcp.tools.offer import offer_of

from .context import RequestContext, peer_of, run_in_client_thread

PAGE_RESOURCES: Final = 200
"""Resources on one page of the list."""
MAX_BYTES: Final = 16 * 2**20
"""Largest file that is read as a resource."""
RECENT: Final = 20
"""Notes on the page of recent notes, and in the overview."""
OVERVIEW_TAGS: Final = 30
"""Tags in the overview, the most used first."""

OVERVIEW: Final = "obsidian://overview"
RECENT_NOTES: Final = "obsidian://recent"
TODAY: Final = "obsidian://today"
TEMPLATE: Final = uri.TEMPLATE
STATIC: Final = tuple(
    types.Resource(
        uri=address, name=name, title=title, description=description, mime_type=media.NOTE
    )
    for address, name, title, description in (
        (OVERVIEW, "overview", "Vault overview", "Counts, folders, tags and recent notes"),
        (RECENT_NOTES, "recent", "Recent notes", "The latest changed notes"),
        (TODAY, "today", "Today's note", "The daily note of today"),
    )
)
"""The pages about the default vault, first in the list of resources."""
FILE_TEMPLATE: Final = types.ResourceTemplate(
    name="file",
    title="Note or attachment",
    uri_template=TEMPLATE,
    description="Any file of a vault by its path, such as Projects/Alpha.md or img/plan.png",
)
_VIEW: Final = re.compile(rf"ui://obsidian-mcp/({'|'.join(views.NAMES)})-[^/]*\.html")
_VIEW_META: Final = {"ui": {"prefersBorder": True}}
_CURSOR: Final = "after:"
"""Begins every cursor of ours, so that no other decodable text is taken for one."""


class Resources:
    """The request handlers of `resources/…` except for subscriptions."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def list(
        self, context: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = (params.cursor or None) if params is not None else None
        listed = await run_in_client_thread(
            context, self._app.config.timeout, partial(list_page, self._app, cursor)
        )
        if cursor is None and offer_of(self._app.config).shows_views(
            peer_does=peer_of(context).shows_views
        ):
            listed.resources += (
                types.Resource(
                    uri=views.address(name),
                    name=f"{name}-view",
                    mime_type=APP_MIME_TYPE,
                    _meta=_VIEW_META,
                )
                for name in views.NAMES
            )
        return listed

    async def templates(
        self, _: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        require_first_page(params.cursor if params is not None else None)
        return types.ListResourceTemplatesResult(resource_templates=[FILE_TEMPLATE])

    async def read_resource(
        self, context: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        named = _VIEW.fullmatch(params.uri)  # any version of it (VIEW-04)
        if named is not None and offer_of(self._app.config).has_views:
            view = types.TextResourceContents(
                uri=params.uri,
                mime_type=APP_MIME_TYPE,
                text=views.page(named[1]),
                _meta=_VIEW_META,
            )
            return types.ReadResourceResult(contents=[view])
        content = await run_in_client_thread(
            context,
            self._app.config.timeout,
            partial(resource_contents, self._app, params.uri),
            kind=kind_of_call("resources/read", {"name": params.uri}),
        )
        return types.ReadResourceResult(contents=[content])


def list_page(app: App, cursor: str | None = None) -> types.ListResourcesResult:
    """Return the pages about the vault, then every file of the default vault by path. A cursor
    names the last path of its page, so that files which come or go move no page (RES-03). Raises:
    InvalidArguments."""
    vault = app.vaults.get()
    entries = vault.entries()
    pages = STATIC if cursor is None else ()
    start = 0
    if cursor is not None:
        start = bisect_right(entries, _place_of(cursor), key=lambda entry: str(entry.path))
    end = start + PAGE_RESOURCES - len(pages)
    listed = entries[start:end]
    return types.ListResourcesResult(
        resources=[*pages, *(_file(vault, entry) for entry in listed)],
        next_cursor=_cursor_after(listed[-1].path) if end < len(entries) else None,
    )


def _file(vault: Vault, entry: FileEntry) -> types.Resource:
    return types.Resource(
        uri=uri.build(vault.name, entry.path),
        name=str(entry.path),
        title=basename(entry.path),
        mime_type=media.mime_of(entry.path),
        size=entry.size,
        annotations=types.Annotations(last_modified=entry.modified),
    )


def _cursor_after(path: str) -> str:
    return base64.urlsafe_b64encode((_CURSOR + path).encode("utf-8", "surrogateescape")).decode()


def _place_of(cursor: str) -> str:
    """Return the path in a cursor. Raises: InvalidArguments for a cursor that this program has not
    made."""
    try:
        path = base64.b64decode(cursor.encode(), b"-_", validate=True).decode(
            "utf-8", "surrogateescape"
        )
    except (binascii.Error, ValueError) as error:
        raise no_page(cursor) from error
    if not path.startswith(_CURSOR) or _cursor_after(path[len(_CURSOR) :]) != cursor:
        raise no_page(cursor)
    return path[len(_CURSOR) :]


def resource_contents(
    app: App, address: str
) -> types.TextResourceContents | types.BlobResourceContents:
    """Return what a resource holds. Raises: InvalidArguments, NoteNotFound, PermissionDenied,
    StorageFailed."""
    pages = {OVERVIEW: _overview, RECENT_NOTES: _render_recent}
    if address in pages:
        return types.TextResourceContents(
            uri=address, mime_type=media.NOTE, text=pages[address](app.vaults.get())
        )
    if address == TODAY:
        vault = app.vaults.get()
        today = vault.periodic.locate("day")
        if today.entry is None:
            raise vault.periodic.describe_missing(today)
        entry = today.entry
    else:
        vault, entry = find_file(app, address)
    data = vault.files.read_file(entry.disk, MAX_BYTES)
    mime = media.mime_of(entry.path)
    if media.is_text(entry.path, data):
        text = to_printable(Text.decode(data).body)
        mime = "text/plain" if mime == media.UNKNOWN else mime
        hidden_text_warnings(text, entry.path, app.hidden_text_reads.add)
        return types.TextResourceContents(uri=address, mime_type=mime, text=text)
    return types.BlobResourceContents(
        uri=address, mime_type=mime, blob=base64.b64encode(data).decode()
    )


def find_file(app: App, address: str) -> tuple[Vault, FileEntry]:
    """Return the file that a URI names.

    A URI has several readings (with and without percent-encoding, and `.md`). A file that has one
    of them to the letter is meant, even under a name that this program would refuse for a new file;
    only then names count as equal that differ in case or form, and the watcher's delay is allowed
    for. Raises: InvalidArguments, VaultNotFound, NoteNotFound, PermissionDenied.
    """
    named = uri.parse(address)
    if named is None:
        raise InvalidArguments(
            f"Unknown resource: {address!r}. Resources are {OVERVIEW}, {RECENT_NOTES}, {TODAY} "
            f"and {uri.TEMPLATE}.",
            uri=address,
        )
    vault = app.vaults.get(named.vault)
    for spelling in named.paths:
        with vault.lock:  # any name that the disk holds
            listed = vault.catalog.get(vault.catalog.as_listed(spelling))
        if listed is not None and (entry := vault.look_for(listed.disk)) is not None:
            return vault, entry
    paths = [parse(spelling) for spelling in named.paths]
    for path in paths:
        with vault.lock:
            alike = vault.catalog.find_equal(path)
        if len(alike) > 1:
            raise ambiguous_name_error(path, alike)
        if (entry := vault.entry_at(path) or vault.look_for(path)) is not None:
            return vault, entry
    raise NoteNotFound(
        f"There is no file {str(paths[0])!r} in the vault {vault.name!r}.",
        uri=address,
        path=paths[0],
    )


def recent_notes(
    vault: Vault, is_wanted: Callable[[FileEntry], bool] = lambda _: True
) -> list[FileEntry]:
    """Return the notes that the user does not hide and `is_wanted` takes, the latest changed
    first."""
    hidden = vault.hides()
    notes = [
        entry
        for entry in vault.entries()
        if is_note(entry.path) and not hidden(entry.path) and is_wanted(entry)
    ]
    return sorted(notes, key=lambda entry: -entry.mtime_ns)


def _overview(vault: Vault) -> str:
    entries = vault.entries()
    notes = sum(is_note(entry.path) for entry in entries)
    folders: dict[str, int] = {}
    for entry in entries:
        top, slash, _ = entry.path.partition("/")
        folders[top if slash else "(root)"] = folders.get(top if slash else "(root)", 0) + 1
    tags = sorted(vault.graph.tags().value, key=lambda use: (-use.files, use.tag))[:OVERVIEW_TAGS]
    size = sum(entry.size for entry in entries)
    lines = [
        f"# {vault.name}",
        "",
        ", ".join(
            (
                write_count(notes, "note"),
                write_count(len(entries) - notes, "other file"),
                f"{size:,} bytes.",
            )
        ),
        "",
        "## Folders",
        "",
        *(f"- {name}: {write_count(count, 'file')}" for name, count in sorted(folders.items())),
        "",
        "## Tags",
        "",
        *(f"- #{use.tag}: {write_count(use.files, 'note')}" for use in tags),
        "",
        "## Changed last",
        "",
        *(_line(vault, entry) for entry in recent_notes(vault)[:RECENT]),
    ]
    return "\n".join(lines) + "\n"


def _render_recent(vault: Vault) -> str:
    lines = [_line(vault, entry) for entry in recent_notes(vault)[:RECENT]]
    return "\n".join(["# Notes changed last", "", *lines]) + "\n"


def _line(vault: Vault, entry: FileEntry) -> str:
    return f"- {entry.modified} [{entry.path}]({uri.build(vault.name, entry.path)})"
