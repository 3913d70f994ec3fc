"""A note in the app's metadata format: `CachedMetadata` of `obsidian.d.ts`, positions in UTF-16 code units
(semantics 0.4).

Keys are there exactly when the app has them: an empty list is left out, except `frontmatterLinks` beside frontmatter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from obsidian_mcp.core.frontmatter import parser
from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.text import Lines, Span

from .links import Link
from .parser import Note

Json = dict[str, Any]


def cached_metadata(note: Note) -> Json:
    """Return the app's `CachedMetadata` of a note, as JSON."""
    position = _positions(note.lines)

    def at(element: Any, **fields: Any) -> Json:
        return {**fields, "position": position(element.span)}

    headings = note.headings if compat.NESTED_HEADINGS_ARE_CACHED else note.outline
    found: Json = {
        "links": [at(link, **_link(link)) for link in note.links if not link.embed],
        "embeds": [at(link, **_link(link)) for link in note.links if link.embed],
        "tags": [at(tag, tag="#" + tag.name) for tag in note.tags],
        "headings": [at(heading, heading=heading.text, level=heading.level) for heading in headings],
        "footnotes": [at(footnote, id=footnote.id) for footnote in note.footnotes],
        "footnoteRefs": [at(reference, id=reference.id) for reference in note.footnote_refs],
        "sections": [at(section, type=section.kind, **_id(section.id)) for section in note.sections],
        "listItems": [
            at(item, parent=item.parent, **({} if item.mark is None else {"task": item.mark}), **_id(item.id))
            for item in note.list_items
        ],
        "blocks": {block.id.lower(): at(block, id=block.id) for block in note.block_ids},
    }
    found = {key: value for key, value in found.items() if value}
    if note.frontmatter is not None and note.frontmatter.values is not None:
        found["frontmatter"] = note.frontmatter.values
        found["frontmatterPosition"] = position(note.frontmatter.block.span)
        found["frontmatterLinks"] = [{"key": link.key, **_link(link)} for link in note.property_links]
    return found


def parse_frontmatter_tags(note: Note) -> list[str] | None:
    """Return the app's `parseFrontMatterTags`: None without tags or with an empty value."""
    return parser.tags(note.properties)


def _id(id_: str | None) -> Json:
    return {} if id_ is None else {"id": id_}


def _link(link: Link) -> Json:
    return {"link": link.target, "original": link.original, "displayText": link.display_text}


def _positions(lines: Lines) -> Callable[[Span], Json]:
    def place(offset: int) -> Json:
        return {"line": lines.line(offset), "col": lines.column_utf16(offset), "offset": lines.utf16(offset)}

    return lambda span: {"start": place(span.start), "end": place(span.end)}
