"""An edit of one file, merged with what changed since it was read (specs/edits.md, SAFE-07)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from obsidian_mcp.core.note import board, drawing
from obsidian_mcp.core.note.edits import diff, short_diff
from obsidian_mcp.core.note.merge import merge
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import StaleEtag

from .content import Content


class Edited(NamedTuple):
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


def edited(before: Content, change: Callable[[str], str], etag: str, version: Callable[[str], bytes | None]) -> Edited:
    """Return a file with its text changed, and nothing written; a change made to the `version` of an older `etag` is
    merged with the later ones. Raises: StaleEtag, and the errors of `change`."""
    text = before.text
    is_merged = bool(etag) and etag != before.etag
    body = _merged(before, change, etag, version(etag)) if is_merged else change(text.body)
    check_plugin_text(before.entry.path, text.body, body)
    return Edited(before, Content(before.entry, Text(body, text.bom).encode()), is_merged)


def check_plugin_text(path: VaultPath, before: str, after: str) -> None:
    """Raises: NotText for an edit that a plugin would drop, or that changes what only it writes (DRAW-4, BOARD-2)."""
    if "excalidraw" in path.lower() or "excalidraw-plugin" in before:
        drawing.check_edit(path, before, after)
    if "kanban-plugin" in before:
        board.check_edit(path, before, after)


def _merged(now: Content, change: Callable[[str], str], etag: str, known: bytes | None) -> str:
    if known is None:
        raise stale(now, etag, "Read it again and repeat the edit.")
    base = Text.decode(known).body
    ours = change(base)
    merged = merge(base, ours, now.text.body)
    if merged is None:
        theirs = short_diff(now.entry.path, base, now.text.body)
        raise stale(
            now,
            etag,
            f"The later changes touch this edit, so nothing was written. Changed since:\n{theirs}"
            f"This edit:\n{short_diff(now.entry.path, base, ours)}Read the note again and repeat the edit.",
        )
    return merged


def stale(now: Content, etag: str, advice: str) -> StaleEtag:
    return StaleEtag(
        f"{str(now.entry.path)!r} has changed since it was read: its etag is {now.etag} now, not {etag}. {advice}",
        path=now.entry.path,
        etag=now.etag,
    )
