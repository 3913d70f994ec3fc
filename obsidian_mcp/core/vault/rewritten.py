"""Texts that change: a file before and after, and edits that keep what others wrote (SAFE-07)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from obsidian_mcp.core.files.file_entry import FileContent
from obsidian_mcp.core.note import board, drawing
from obsidian_mcp.core.text.diff import diff, merge, short_diff
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import StaleEtag

from .operation import Write


class Rewritten(NamedTuple):
    """A file whose text changes, before and after."""

    before: FileContent
    after: FileContent
    lines: tuple[int, ...] = ()
    """Those that change (1-based), where links were rewritten."""
    merged: bool = False
    """Whether the file had changed since the `etag` of the change, and both changes are kept."""

    @property
    def path(self) -> VaultPath:
        return self.before.entry.path

    @property
    def operation(self) -> Write:
        return Write(self.before.entry.disk, self.before.data, self.after.data)

    @property
    def diff(self) -> str:
        return diff(self.path, self.before.text.body, self.after.text.body)


def rewritten(before: FileContent, body: str, *, merged: bool = False) -> Rewritten:
    """Return a note with another text.

    Raises: NotText for an edit that a plugin would drop, or that changes what only the plugin
    writes (DRAW-4, BOARD-2).
    """
    path, text = before.entry.path, before.text.body
    if "excalidraw" in path.lower() or "excalidraw-plugin" in text:
        drawing.check_edit(path, text, body)
    if "kanban-plugin" in text:
        board.check_edit(path, text, body)
    return Rewritten(before, before.with_body(body), merged=merged)


def edit_content(
    before: FileContent,
    change: Callable[[str], str],
    etag: str,
    version: Callable[[str], bytes | None],
) -> Rewritten:
    """Return a file with its text changed; nothing is written.

    With the etag of an older version, `change` is made to that one, which `version` returns, and
    merged with what happened since, where the two do not touch (SAFE-07). Raises: StaleEtag,
    NotText, and what `change` raises.
    """
    now = before.text.body
    if not etag or etag == before.etag:
        return rewritten(before, change(now))
    old_version = version(etag)
    if old_version is None:
        raise stale_etag_error(before, etag, "Read it again and repeat the edit.")
    base = Text.decode(old_version).body
    ours = change(base)
    merged = merge(base, ours, now)
    if merged is None:
        path = before.entry.path
        raise stale_etag_error(
            before,
            etag,
            "The later changes touch this edit, so nothing was written. Changed since:\n"
            f"{short_diff(path, base, now)}This edit:\n{short_diff(path, base, ours)}"
            "Read the note again and repeat the edit.",
        )
    return rewritten(before, merged, merged=True)


def stale_etag_error(now: FileContent, etag: str, advice: str) -> StaleEtag:
    """Return the error for a file that has changed since the caller read it."""
    return StaleEtag(
        f"{str(now.entry.path)!r} has changed since it was read: its etag is {now.etag} now, not "
        f"{etag}. {advice}",
        path=now.entry.path,
        etag=now.etag,
    )
