"""Put text into a note at a place that a person names: at an end, or below a heading (PERIODIC-18)."""

from __future__ import annotations

from typing import Literal

from obsidian_mcp.core.frontmatter import parser
from obsidian_mcp.core.frontmatter.edits import merge_properties
from obsidian_mcp.errors import TemplateFailed

from . import edits, sections

Position = Literal["append", "prepend", "section"]
"""`prepend` is behind the frontmatter, `section` at the end of a heading's section or behind a block."""

End = Literal["append", "prepend"]
Left = Literal["link", "embed", "nothing"]
"""What stays where a part of a note was taken out."""


def insert_text(body: str, content: str, position: Position = "append", heading: str = "") -> str:
    """A note with text on lines of its own at a place, with a heading in its section. Raises: SectionNotFound."""
    if heading:
        found = sections.locate(body, heading).content
        if position == "prepend":
            return edits.prepend_to_span(body, found, content)
        return edits.append_to_span(body, found, content)
    if position == "prepend":
        return edits.insert(body, parser.text_start(body), content)
    return edits.append(body, content)


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
