"""A parsed note in the shape of the app's `CachedMetadata` (`obsidian.d.ts`), to be compared with its recordings.

Positions are in UTF-16 code units (semantics 0.4).
"""

from __future__ import annotations

from typing import Any

from obsidian_mcp.core.note.links import Link
from obsidian_mcp.core.note.parser import Note
from obsidian_mcp.core.text.text import Span

Json = dict[str, Any]


def cached_metadata(note: Note) -> Json:
    """Return the app's `CachedMetadata` of a note, as JSON.

    Keys are there exactly when the app has them: an empty list is left out, except `frontmatterLinks` beside
    frontmatter.
    """
    lines = note.lines

    def place(offset: int) -> Json:
        return {"line": lines.line(offset), "col": lines.column_utf16(offset), "offset": lines.utf16(offset)}

    def position(span: Span) -> Json:
        return {"start": place(span.start), "end": place(span.end)}

    def at(element: Any, **fields: Any) -> Json:
        return {**fields, "position": position(element.span)}

    found: Json = {
        "links": [at(link, **_link(link)) for link in note.links if not link.embed],
        "embeds": [at(link, **_link(link)) for link in note.links if link.embed],
        "tags": [at(tag, tag="#" + tag.name) for tag in note.tags],
        "headings": [at(heading, heading=heading.text, level=heading.level) for heading in note.outline],
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


def _id(id_: str | None) -> Json:
    return {} if id_ is None else {"id": id_}


def _link(link: Link) -> Json:
    return {"link": link.target, "original": link.original, "displayText": link.display_text}
