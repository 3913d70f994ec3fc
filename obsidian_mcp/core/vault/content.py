"""The content of a file, and an edit of it (specs/edits.md, SAFE-07)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.note import drawing
from obsidian_mcp.core.note.edits import diff
from obsidian_mcp.core.note.merge import merge
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.vault_path import VaultPath, extension, is_note
from obsidian_mcp.errors import NotText, StaleEtag

_EDITORS = {
    ".canvas": "obsidian_edit_canvas changes the cards of a canvas.",
    ".base": "obsidian_create_note with overwrite replaces a base by a whole new text, which is checked first.",
}
_NO_EDITOR = "No tool changes files of this kind; obsidian_move_note and obsidian_delete_note work on every file."


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it was read."""

    entry: FileEntry
    data: bytes

    @property
    def etag(self) -> str:
        return etag_of(self.data)

    @property
    def text(self) -> Text:
        return Text.decode(self.data)


@dataclass(frozen=True, slots=True)
class Edited:
    """A file before and after an edit. `merged`: the file had changed since the `etag`, and both changes are kept."""

    before: Content
    after: Content
    merged: bool

    @property
    def path(self) -> VaultPath:
        return self.before.entry.path

    @property
    def diff(self) -> str:
        return diff(self.path, self.before.text.body, self.after.text.body)


def etag_of(data: bytes) -> str:
    """Return the content hash that a write can depend on: 16 hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=20).hexdigest()[:16]


def check_is_note(path: VaultPath) -> None:
    """Raises: NotText naming the tool that can change the file (EDIT-09)."""
    if not is_note(path):
        raise NotText(
            f"{str(path)!r} is not a note, so its text and properties cannot be edited: that could break "
            f"the file. {_EDITORS.get(extension(path), _NO_EDITOR)}",
            path=path,
        )


def edited(before: Content, change: Callable[[str], str], etag: str, version: Callable[[str], bytes | None]) -> Edited:
    """Return a file with its text changed, and nothing written.

    With the `etag` of an older version, `change` is made to that `version` and merged with the later changes.
    Raises: StaleEtag, and the errors of `change`.
    """
    text = before.text
    is_merged = bool(etag) and etag != before.etag
    body = _merged(before, change, etag, version(etag)) if is_merged else change(text.body)
    drawing.check_edit(before.entry.path, text.body, body)
    return Edited(before, Content(before.entry, Text(body, text.bom).encode()), is_merged)


def _merged(now: Content, change: Callable[[str], str], etag: str, known: bytes | None) -> str:
    if known is None:
        raise stale(now, etag, "Read it again and repeat the edit.")
    base = Text.decode(known).body
    ours = change(base)
    merged = merge(base, ours, now.text.body)
    if merged is None:
        theirs = diff(now.entry.path, base, now.text.body)
        raise stale(
            now,
            etag,
            f"The later changes touch this edit, so nothing was written. Changed since:\n{theirs}"
            f"This edit:\n{diff(now.entry.path, base, ours)}Read the note again and repeat the edit.",
        )
    return merged


def stale(now: Content, etag: str, advice: str) -> StaleEtag:
    return StaleEtag(
        f"{str(now.entry.path)!r} has changed since it was read: its etag is {now.etag} now, not {etag}. {advice}",
        path=now.entry.path,
        etag=now.etag,
    )
