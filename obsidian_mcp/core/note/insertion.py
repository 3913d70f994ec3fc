"""Put a template into a note (PERIODIC-18)."""

from __future__ import annotations

from typing import Literal

from obsidian_mcp.core.frontmatter import parser
from obsidian_mcp.core.frontmatter.edits import merge_properties
from obsidian_mcp.errors import TemplateFailed

from . import sections
from .edits import Position, insert_text

End = Literal["append", "prepend"]
Left = Literal["link", "embed", "nothing"]
"""What stays where a part of a note was taken out."""


def insert_template(body: str, template: str, position: Position = "append", heading: str = "") -> str:
    """Return a note with a filled template's text at a place, and its properties merged in. Raises: SectionNotFound,
    PropertiesUnreadable, TemplateFailed."""
    read = parser.read(template)
    if read is not None and read.error:
        raise TemplateFailed(f"The properties of the template cannot be read. {read.error} Nothing was written.")
    text = template[parser.text_start(template) :]
    if text.strip():
        body = insert_text(body, text, position, heading)
    elif heading:
        sections.locate(body, heading)
    if read is not None and read.values:
        body = merge_properties(body, read.values)
    return body
