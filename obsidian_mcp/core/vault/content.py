"""The content of a file (specs/edits.md, SAFE-07)."""

from __future__ import annotations

from typing import NamedTuple

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.text.text import Text, etag_of
from obsidian_mcp.core.text.vault_path import VaultPath, extension, is_note
from obsidian_mcp.errors import NotText

_EDITORS = {
    ".canvas": "obsidian_edit_canvas changes the cards of a canvas.",
    ".base": "obsidian_create_note with overwrite replaces a base by a whole new text, which is checked first.",
}
_NO_EDITOR = "No tool changes files of this kind; obsidian_move_note and obsidian_delete_note work on every file."


class Content(NamedTuple):
    """A file as it was read."""

    entry: FileEntry
    data: bytes

    @property
    def etag(self) -> str:
        return etag_of(self.data)

    @property
    def text(self) -> Text:
        return Text.decode(self.data)

    def with_body(self, body: str) -> Content:
        """Return the file with another text behind its byte order mark."""
        return Content(self.entry, Text(body, self.text.bom).encode())


def check_is_note(path: VaultPath) -> None:
    """Raises: NotText naming the tool that can change the file (EDIT-09)."""
    if not is_note(path):
        raise NotText(
            f"{str(path)!r} is not a note, so its text and properties cannot be edited: that could break "
            f"the file. {_EDITORS.get(extension(path), _NO_EDITOR)}",
            path=path,
        )
