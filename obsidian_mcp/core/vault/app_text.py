"""Whether the running app shows what a note's file holds (backend `cli`)."""

from __future__ import annotations

import logging

from obsidian_mcp.core.files.ports import Obsidian
from obsidian_mcp.errors import AppCommandFailed, NoteNotFound

from .content import Content

log = logging.getLogger(__name__)


def is_shown(app: Obsidian, content: Content) -> bool:
    """Whether the app shows the text that a note's file has; True where it cannot say. Raises: AppCommandFailed."""
    path = content.entry.path
    try:
        said = app.read(path).encode()
    except NoteNotFound:
        log.info("the app does not know %s yet", path)
        return True
    except AppCommandFailed as error:
        if error.data.get("reason") != "inexact":
            raise
        return True
    if said != content.data:
        log.info("the app shows another text of %s than its file has", path)
    return said == content.data
