"""Makes the facts of one file from its bytes alone, whatever else the vault holds.

So a file that did not change never needs to be parsed again (specs/index.md).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

from obsidian_mcp import logger
from obsidian_mcp.core.calendar.iso import DAY
from obsidian_mcp.core.dataview.literals import inline_value
from obsidian_mcp.core.dataview.note_data import find_item_places, read_inline_fields
from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.frontmatter.property_types import infer_type
from obsidian_mcp.core.links.resolve import link_key
from obsidian_mcp.core.note import canvas, drawing, parser
from obsidian_mcp.core.note.elements import TextTag
from obsidian_mcp.core.note.links import Link
from obsidian_mcp.core.query.document import structure_of, structure_of_pages
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.text import Lines, Text, to_printable
from obsidian_mcp.core.text.vault_path import (
    DRAWING_EXTENSION,
    NOTE_EXTENSION,
    extension,
    is_note,
    name_key,
)
from obsidian_mcp.errors import AppError, OperationTimeout

from . import facts
from . import search_document as content

_CUT_CHARACTER = re.compile(rb"(?:[\xc0-\xff]|[\xe0-\xff][\x80-\xbf]|[\xf0-\xff][\x80-\xbf]{2})\Z")
"""The beginning of a character in UTF-8 without its last bytes."""
_json = json.JSONEncoder(ensure_ascii=False).encode


def unreadable_facts(error: AppError) -> facts.Facts:
    """Return the facts of a file that cannot be read: a warning that says why."""
    return facts.Facts(warnings=(_one_line(error.message),))


def read_facts(path: str, data: bytes, size: int) -> facts.Facts:
    """Return the facts of a note or canvas from its first facts.BODY_LIMIT bytes.

    `size` is that of the whole file. What cannot be read becomes a warning. Raises:
    OperationTimeout.
    """
    warnings = []
    if size > facts.BODY_LIMIT:
        warnings.append(
            f"Only the first {facts.BODY_LIMIT:,} of {size:,} bytes are indexed: the file is too "
            "large."
        )
        data = _beginning(data)
    text = Text.decode(data)
    if not text.is_utf8:
        warnings.append(
            "The file is not UTF-8: characters that could not be read are left out of the index."
        )
    body = to_printable(text.body)
    searched, structure = body if is_note(path) else "", None
    try:
        if is_note(path):
            if drawing.is_drawing(path, body):
                body, searched = drawing.without_drawing(body), drawing.searched_text(body)
            parsed = parser.parse(body)
            note_facts, structure = _extract_note(parsed), structure_of(parsed)
        elif extension(path) == DRAWING_EXTENSION:
            note_facts, searched = facts.Facts(), searched_text(path, body)
        else:
            cards = canvas.read_canvas(body)
            note_facts, searched = _extract_canvas(cards), cards_text(cards)
    except OperationTimeout:
        raise
    except Exception as error:  # noqa: BLE001  the file counts as one without facts
        logger(__name__).warning("%s could not be parsed: %r", path, error)
        logger(__name__).debug("Where it happened:", exc_info=True)
        note_facts = facts.Facts(warnings=(facts.UNPARSED,))
    note_facts.warnings = (*warnings, *note_facts.warnings)
    note_facts.content = content.compose(
        to_printable(path),
        searched,
        aliases=[alias.alias for alias in note_facts.aliases],
        headings=[heading.text for heading in note_facts.headings if heading.level],
        tags=[tag.tag for tag in note_facts.tags],
        properties=[fact.name for fact in note_facts.properties],
        truncated=size > facts.BODY_LIMIT,
        structure=structure,
    )
    return note_facts


def extract_pdf(
    pdf_content: content.SearchContent, starts: Sequence[int], problem: str
) -> facts.Facts:
    """Return the facts of a PDF.

    `starts` is where its pages begin in the text; `problem` says why not all of it is there.
    """
    pages = tuple(
        facts.HeadingFact(0, str(number), start) for number, start in enumerate(starts, 1)
    )
    pdf_content = pdf_content._replace(structure=structure_of_pages(starts, len(pdf_content.text)))
    return facts.Facts(
        headings=pages, warnings=(_one_line(problem),) if problem else (), content=pdf_content
    )


def searched_text(path: str, body: str) -> str:
    """Return the text of a file in which a search looks, from its whole text."""
    if is_note(path):
        return drawing.searched_text(body) if drawing.is_drawing(path, body) else body
    if extension(path) == DRAWING_EXTENSION:
        return to_printable("\n\n".join(drawing.texts_of_file(body)))
    return cards_text(canvas.read_canvas(body))


def cards_text(read: canvas.Canvas) -> str:
    """Return the text of a canvas: that of its cards, separated by empty lines."""
    return to_printable(
        "\n\n".join(card.text.value for card in read.cards if card.text is not None)
    )


def _beginning(data: bytes) -> bytes:
    """Return whole lines of at most facts.BODY_LIMIT bytes.

    Where there is only one line, whole characters.
    """
    lines = data.rfind(b"\n", 0, facts.BODY_LIMIT) + 1
    if lines:
        return data[:lines]
    data = data[: facts.BODY_LIMIT]
    cut = _CUT_CHARACTER.search(data, len(data) - 3)
    return data[: cut.start()] if cut else data


def _extract_note(parsed: parser.Note) -> facts.Facts:
    lines, values = parsed.lines, parsed.properties
    links = [_property_link(link) for link in parsed.property_links]
    links += [
        _link(link, "", lines.line(link.span.start)) for link in parsed.links[: facts.LINKS_LIMIT]
    ]
    names = (to_printable(tag.removeprefix("#")) for tag in frontmatter.tags(values) or ())
    tagged = [facts.TagFact(tags.key(name), name, "tags", None) for name in names]
    tagged += [_tag(tag, "", lines) for tag in parsed.tags]
    fields = [
        facts.InlineFieldFact(*_property(key, inline_value(text, plain=True)), text)
        for key, text in read_inline_fields(parsed)
    ]
    block = parsed.frontmatter
    spans = block.spans if block else {}
    broken = [_one_line(block.error)] if block and block.error is not None else []
    if len(parsed.links) > facts.LINKS_LIMIT:
        broken.append(
            f"Only the first {facts.LINKS_LIMIT:,} of {len(parsed.links):,} links are indexed."
        )
    return facts.Facts(
        tuple(links),
        tuple(tagged),
        tuple(
            facts.PropertyFact(*_property(name, value), *spans[name])
            for name, value in values.items()
        ),
        tuple(
            facts.AliasFact(name_key(alias), alias) for alias in map(to_printable, parsed.aliases)
        ),
        tuple(
            facts.HeadingFact(found.level, found.text, found.span.start) for found in parsed.outline
        ),
        tuple(_tasks(parsed)),
        tuple(fields),
        find_item_places(parsed),
        tuple(broken),
    )


def _extract_canvas(parsed: canvas.Canvas) -> facts.Facts:
    """Return the facts of a canvas.

    Files on cards are links of kind `card`; the text of a card is parsed as a note without
    properties.
    """
    links: list[facts.LinkFact] = []
    tagged: list[facts.TagFact] = []
    for card in parsed.cards:
        at = to_printable(card.key)
        if card.file is not None:
            links.append(_card(card.file.value, card.subpath.value if card.subpath else "", at))
        if card.background is not None:
            links.append(_card(card.background.value, "", at))
        if card.text is not None:
            text = parser.parse(to_printable(card.text.value))
            lines = text.lines
            links += [_link(link, at, lines.line(link.span.start)) for link in text.links]
            tagged += [_tag(tag, at, lines) for tag in text.tags]
    warnings = () if parsed.error is None else (_one_line(parsed.error),)
    return facts.Facts(
        tuple(links[: facts.LINKS_LIMIT]),
        tuple(tagged),
        headings=_card_parts(parsed),
        warnings=warnings,
    )


def _card_parts(parsed: canvas.Canvas) -> tuple[facts.HeadingFact, ...]:
    """Return where the text of each card begins in `cards_text`, as headings of level 0."""
    parts, start = [], 0
    for card in parsed.cards:
        if card.text is not None:
            parts.append(facts.HeadingFact(0, to_printable(card.id), start))
            start += len(card.text.value) + 2
    return tuple(parts)


def _link(link: Link, at: str, line: int) -> facts.LinkFact:
    kind: facts.LinkKind = "embed" if link.embed else "link"
    key, start = link_key(link.path), link.span.start
    return facts.LinkFact(
        key, kind, link.path, link.subpath, link.display, link.original, at, line, start
    )


def _property_link(link: Link) -> facts.LinkFact:
    path, subpath, original, at = map(
        to_printable, (link.path, link.subpath, link.original, link.key)
    )
    display = None if link.display is None else to_printable(link.display)
    return facts.LinkFact(
        link_key(path), "property", path, subpath, display, original, at, None, None
    )


def _card(path: str, subpath: str, at: str) -> facts.LinkFact:
    """Return the link of a card to a file.

    `path` is a path of the vault, not a link text: no character in it has a special meaning.
    """
    path, subpath = to_printable(path), to_printable(subpath)
    key = name_key(path.rpartition("/")[2]).removesuffix(NOTE_EXTENSION)
    return facts.LinkFact(key, "card", path, subpath, None, path + subpath, at, None, None)


def _property(name: str, value: Any) -> tuple[str, str, str, str]:
    name = to_printable(name)
    return name.lower(), name, infer_type(value), to_printable(_json(value))


def _tasks(parsed: parser.Note) -> Iterator[facts.TaskFact]:
    """Yield the checkboxes, each with the heading above it and the days in its line."""
    body, line_starts = parsed.body, parsed.lines.starts
    heading_starts = [heading.span.start for heading in parsed.outline]
    for item in parsed.tasks:
        start = line_starts[item.line]
        end = body.find("\n", start)
        text = body[start : end if end >= 0 else len(body)].removesuffix("\r")
        above = bisect_left(heading_starts, start)
        yield facts.TaskFact(
            item.mark or " ",
            item.line,
            text,
            end >= 0 and end < item.span.end,
            parsed.outline[above - 1].text if above else None,
            *written_days(text),
            names_dependency(text),
        )


def _tag(tag: TextTag, at: str, lines: Lines) -> facts.TagFact:
    return facts.TagFact(tags.key(tag.name), tag.name, at, lines.line(tag.span.start), *tag.span)


def _one_line(text: str) -> str:
    return " ".join(to_printable(text).split())


_find_days = re.compile(DAY).findall
_find_dependency = re.compile("🆔|⛔|id::|dependsOn::").search


def written_days(line: str) -> tuple[str, str]:
    """Return the first and the last day in a line as `YYYY-MM-DD`, two empty texts without one."""
    days = _find_days(line)
    return (min(days), max(days)) if days else ("", "")


def names_dependency(line: str) -> bool:
    """Return whether a task in this line can have an id or depend on one."""
    return _find_dependency(line) is not None
