"""Drawings of the Excalidraw plugin: the text in them that is for readers (DRAW-1 to DRAW-4).

The rules are in specs/index.md.
"""

from __future__ import annotations

import json
import re

from obsidian_mcp.core.frontmatter import parser
from obsidian_mcp.core.text.vault_path import DRAWING_EXTENSION
from obsidian_mcp.errors import NotText

_DATA = re.compile(
    r"^(?:%%[ \t]*\r?\n)?#{1,2} (?:Excalidraw Data|Text Elements)[ \t]*\r?$", re.MULTILINE
)
_ELEMENTS = re.compile(r"^#{1,2} Text Elements[ \t]*\r?$", re.MULTILINE)
_DRAWING = re.compile(r"^(?:%%|#{1,2} Drawing)[ \t]*\r?$", re.MULTILINE)
_NEXT_PART = re.compile(r"^#{1,2} (?:Element Links|Embedded Files)[ \t]*\r?$", re.MULTILINE)
_ID = re.compile(r"[ \t]\^[\w-]{8}(?=[ \t]*\r?$)", re.MULTILINE)
_LINE = re.compile(r"[^\r\n]+")


def is_drawing(path: str, body: str) -> bool:
    """Return whether a note is a drawing: by its name, or by a property of the plugin."""
    return path.lower().endswith(f"{DRAWING_EXTENSION}.md") or parser.has_property(
        body, "excalidraw-plugin"
    )


def without_drawing(body: str) -> str:
    """Return a drawing's text with blanks in the place of the drawing itself.

    Every offset stays.
    """
    data = _DATA.search(body)
    drawing = _DRAWING.search(body, data.end()) if data else None
    if drawing is None:
        return body
    data_text = _LINE.sub(_replace_by_spaces, body[drawing.start() :])
    return body[: drawing.start()] + data_text


def searched_text(body: str) -> str:
    """Return `without_drawing` without the ids behind the text elements, too.

    Every offset stays.
    """
    body = without_drawing(body)
    elements = _ELEMENTS.search(body)
    if elements is None:
        return body
    following = _NEXT_PART.search(body, elements.end())
    end = following.start() if following else len(body)
    part = _ID.sub(_replace_by_spaces, body[elements.end() : end])
    return body[: elements.end()] + part + body[end:]


def _replace_by_spaces(match: re.Match[str]) -> str:
    return " " * len(match[0])


def texts_of_file(body: str) -> list[str]:
    """Return the texts of a drawing that is no note, in the order of the file.

    A broken drawing has none.
    """
    try:
        value = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError):
        return []
    elements = value.get("elements") if isinstance(value, dict) else None
    texts = (
        element.get("text")
        for element in (elements if isinstance(elements, list) else ())
        if isinstance(element, dict)
        and element.get("type") == "text"
        and element.get("isDeleted") is not True
    )
    return [text for text in texts if isinstance(text, str)]


def text_end(path: str, body: str) -> int:
    """Return where the data begins that the plugin writes; the end of a note that is no drawing."""
    data = _DATA.search(body) if is_drawing(path, body) else None
    return data.start() if data is not None else len(body)


def check_edit(path: str, before: str, after: str) -> None:
    """Refuse an edit of a note that changes the data of its drawing.

    Raises: NotText.
    """
    if not after.endswith(before[text_end(path, before) :]):
        raise NotText(
            f"{path!r} is a drawing: what stands below its heading Excalidraw Data belongs to the "
            "plugin and is not edited. Nothing was written; text can go above it (prepend, or a "
            "section of its own).",
            path=path,
        )
