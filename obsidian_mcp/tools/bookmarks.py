"""The bookmarks of a vault: listed, added and removed.

They lie in a file of the app, which the app rewrites while it runs. A change is therefore made from
the file as it is at that moment, and repeated where it has changed meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.app import App
from obsidian_mcp.core.calendar import clock
from obsidian_mcp.core.files import bookmarks as stored
from obsidian_mcp.core.files.bookmarks import Bookmark
from obsidian_mcp.core.files.settings import BOOKMARKS_FILE
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.typed_text import typed_key
from obsidian_mcp.core.text.vault_path import is_note
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError, InvalidArguments, NoteNotFound

from .arguments import MOST_RESULTS, Argument, VaultName
from .paging import first_of
from .registry import tool

if TYPE_CHECKING:
    from obsidian_mcp.core.vault.operation import Operation


@dataclass(frozen=True, slots=True)
class ListedBookmark:
    kind: str
    target: str
    title: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Bookmarks:
    bookmarks: list[ListedBookmark]
    more_bookmarks: int | None = None
    """How many others there are: text finds them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedBookmark(ListedBookmark):
    changed: bool


@tool(title="Bookmarks")
def list_bookmarks(
    app: App,
    text: Annotated[str, Argument(description="Part of target or title")] = "",
    vault: VaultName = "",
) -> Bookmarks:
    """List the app's bookmarks with their groups."""
    opened = app.vaults.get(vault)
    bookmarks, sought = (
        stored.read_visible_bookmarks(opened.files.config(BOOKMARKS_FILE), opened.policy),
        typed_key(text),
    )
    matching = [
        bookmark
        for bookmark in bookmarks
        if sought in typed_key(f"{bookmark.target} {bookmark.title}")
    ]
    listed = [
        ListedBookmark(
            bookmark.kind, bookmark.target, bookmark.title or None, bookmark.group or None
        )
        for bookmark in matching
    ]
    return Bookmarks(*first_of(listed, MOST_RESULTS))


@tool(title="Edit bookmarks", writes=True, destructive=True)
def edit_bookmarks(
    app: App,
    action: Annotated[Literal["add", "remove"], Argument(description="What to do")],
    target: Annotated[str, Argument(description="Note#Heading, Folder/, https://… or search:…")],
    title: Annotated[str, Argument(description="add: shown for it")] = "",
    group: Annotated[str, Argument(description="add: into this group")] = "",
    vault: VaultName = "",
) -> ChangedBookmark:
    """Add or remove a bookmark of the app."""
    if not target.strip():
        raise InvalidArguments(f"{action} needs `target`: what is bookmarked.", argument="target")
    opened = app.vaults.get(vault)
    for attempt in opened.attempts():
        with attempt.lock:
            opened.policy.check_write(stored.PATH)  # before an error names other bookmarks
            data = opened.files.config(BOOKMARKS_FILE)
            body = stored.body_of(data)
            if action == "add":
                bookmark = _bookmark(opened, target, title, group)
                now_ms = clock.nanoseconds(opened.calendar.now()) // 1_000_000
                after = stored.add(body, bookmark, now_ms)
            else:
                after, bookmark = _remove(opened, body, target)
            changed = after != body
            if not changed or attempt.commit("edit_bookmarks", [_write(data, after)]):
                break
    shown_title, shown_group = bookmark.title or None, bookmark.group or None
    return ChangedBookmark(
        bookmark.kind, bookmark.target, shown_title, shown_group, changed=changed
    )


def _write(before: bytes | None, body: str) -> Operation:
    """Return the operation that gives the file of the bookmarks a text."""
    from obsidian_mcp.core.vault.operation import (
        Create,
        Write,
    )  # lists of bookmarks load none of it

    written = Text(body, before is not None and Text.decode(before).bom).encode()
    return Create(stored.PATH, written) if before is None else Write(stored.PATH, before, written)


def _remove(vault: Vault, body: str | None, target: str) -> tuple[str, Bookmark]:
    """Return the file without a bookmark, and the bookmark, named as it is listed, or as `add`
    takes it. Raises: NoteNotFound, AmbiguousName."""
    try:
        return stored.remove(body, target, vault.policy)
    except NoteNotFound as missing:
        try:
            named = _bookmark(vault, target, "", "").target
        except AppError:
            raise missing from None
        return stored.remove(body, named, vault.policy)


def _bookmark(vault: Vault, target: str, title: str, group: str) -> Bookmark:
    """Return the bookmark that a target means. Raises: NoteNotFound, AmbiguousName,
    SectionNotFound."""
    plain = target.strip()
    if plain.startswith(("http://", "https://")):
        return Bookmark("url", plain, title, group)
    if plain.lower().startswith("search:"):
        return Bookmark("search", plain[len("search:") :].strip(), title, group)
    if plain.endswith("/"):
        spelled, _ = vault.folders.describe_folder(vault.folders.find_folder(target) or "")
        return Bookmark("folder", spelled, title, group)
    name, mark, subpath = target.partition("#")
    entry = vault.find(name)
    if mark:
        if not is_note(entry.path):
            raise InvalidArguments(
                f"{str(entry.path)!r} is no note, so it has no headings.", argument="target"
            )
        from obsidian_mcp.core.note import parser, sections  # what listing them does without

        sections.find(parser.parse(vault.read_text(entry).text.body), f"#{subpath}", by_link=True)
    return Bookmark("file", f"{entry.path}{mark}{subpath}", title, group)
