"""Where the links of a file stand, so that parts of them can be rewritten: in text, properties,
cards.

A note's property and a canvas card are quoted text. A place knows how its link is quoted, so code
that rewrites a link works with the link's own characters.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.frontmatter.quoted import Quoted, read_yaml
from obsidian_mcp.core.frontmatter.yaml12 import Outline, PropertyEntry
from obsidian_mcp.core.frontmatter.yaml_values import YamlValue
from obsidian_mcp.core.note import canvas, parser
from obsidian_mcp.core.note.edits import Edit
from obsidian_mcp.core.note.links import Link, decode
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.core.text.vault_path import CANVAS_EXTENSION, VaultPath, extension, is_note

_SCALAR = re.compile(r'(?<!\\)"(?:[^"\\\r\n]|\\.)*"|' + r"'(?:[^'\r\n]|'')*'")


class Unwritable(Exception):
    """A link that must change and cannot be written, with the reason in a sentence."""


class LocatedLink(NamedTuple):
    """A link and where it stands.

    The link's spans are offsets in `host`: the body, or a quoted text in it.
    """

    link: Link
    host: str
    within: Quoted | None = None
    at: str = ""
    """The index's name of the place: the property (`related.0`) or the card (`nodes.<id>`).

    It is empty in a note's text.
    """
    is_certain: bool = True
    """False for a property whose source is not certain: such a link can be read, not rewritten."""

    def check_certain(self) -> None:
        """Refuse a change where the place is not certain.

        Raises: Unwritable.
        """
        if not self.is_certain:
            raise Unwritable(
                "The place of this property in the YAML is not certain. Change it by hand."
            )

    def edit(self, span: Span, text: str) -> Edit:
        """Return the edit that puts `text` in the place of a part of `host`.

        Raises: Unwritable.
        """
        self.check_certain()
        if self.within is None:
            return Edit(span, text)
        return Edit(self.within.place(span), self.within.write_quoted(text))

    @property
    def angled(self) -> bool:
        """Return whether the destination of a Markdown link stands in `<…>`."""
        return self.host.startswith("<", self.link.target_span.start - 1)

    def parts(self) -> tuple[Span, tuple[Span, ...]] | None:
        """Return the path and the segments of the subpath as they are written.

        Return None where escapes hide where the parts end.
        """
        link, target = self.link, self.link.target_span
        raw = target.slice(self.host)
        path, *segments = raw.split("#")
        start = target.start + len(path) - len(path.lstrip())
        path_span = Span(start, start + len(path.strip()))
        written = path.strip() if link.style == "wiki" else decode(path)
        if written != link.path:
            return None
        spans, at = [], target.start + len(path)
        for segment in segments:
            spans.append(Span(at + 1, at + 1 + len(segment)))
            at += 1 + len(segment)
        return path_span, tuple(spans)

    def display(self) -> Span | None:
        """Return where the display stands as written, without its pipe; None without one."""
        link, host = self.link, self.host
        if link.style == "markdown":
            start = link.span.start + (2 if link.embed else 1)
            return Span(start, host.rindex("](", start, link.target_span.start))
        if link.display is None:
            return None
        end = link.span.end - 2
        return Span(host.index("|", link.target_span.end, end) + 1, end)


class CardPath(NamedTuple):
    """A path of the vault in a canvas: the file of a card, or the picture of a group.

    `subpath` is the one beside a card's file.
    """

    path: Quoted
    subpath: Quoted | None = None


class Referrer(NamedTuple):
    """A file and everything in it that leads to other files."""

    path: VaultPath
    places: tuple[LocatedLink, ...] = ()
    card_paths: tuple[CardPath, ...] = ()


def read_referrer(path: VaultPath, body: str) -> Referrer:
    """Return the links of a note or canvas; any other file has none."""
    if is_note(path):
        return read_note_referrer(path, parser.parse(body))
    places: list[LocatedLink] = []
    paths: list[CardPath] = []
    for card in canvas.read_canvas(body).cards if extension(path) == CANVAS_EXTENSION else ():
        if card.text is not None:
            links = parser.parse(card.text.value).links
            places += [LocatedLink(link, card.text.value, card.text, card.key) for link in links]
        if card.file is not None:
            paths.append(CardPath(card.file, card.subpath))
        if card.background is not None:
            paths.append(CardPath(card.background))
    return Referrer(path, tuple(places), tuple(paths))


def read_note_referrer(path: VaultPath, parsed: parser.Note) -> Referrer:
    places = []
    if parsed.frontmatter is not None and parsed.property_links:
        sources = _Sources(parsed.body, frontmatter.outline(parsed.body, parsed.frontmatter.block))
        for link in parsed.property_links:
            if sources.is_alias(link):
                continue  # it says what its anchor says, which has a place of its own
            quoted = sources.take(link)
            places.append(
                LocatedLink(link, link.original, quoted, link.key, is_certain=quoted is not None)
            )
    places += [LocatedLink(link, parsed.body) for link in parsed.links]
    return Referrer(path, tuple(places))


class _Sources:
    """The source of each property that is a link.

    Links are taken in the order of the text, and each source once: so two equal links get two
    sources.
    """

    def __init__(self, body: str, outline: Outline) -> None:
        self._body = body
        self._exact: dict[str, Span] = {}
        self._entries: dict[str, PropertyEntry] = {}
        self._used: set[int] = set()
        for entry in outline.entries:
            self._entries[entry.key] = entry
            if isinstance(entry.value, list):
                self._exact |= {
                    f"{entry.key}.{number}": span for number, span in enumerate(entry.items)
                }
            else:
                self._exact[entry.key] = entry.value_span

    def is_alias(self, link: Link) -> bool:
        span = self._exact.get(link.key)
        return span is not None and self._body.startswith("*", span.start)

    def take(self, link: Link) -> Quoted | None:
        """Return the scalar that contains a link and nothing else; None when it is not certain."""
        span = self._exact.get(link.key)
        if span is not None:
            candidates = self._scalars_within(span, link.original)
            return candidates[0] if len(candidates) == 1 else None
        owner = next(
            (entry for key, entry in self._entries.items() if link.key.startswith(key + ".")), None
        )
        return self._take_nested(owner, link.original) if owner is not None else None

    def _take_nested(self, entry: PropertyEntry, original: str) -> Quoted | None:
        """Return the next source in a value with lists or mappings inside.

        Return None unless each of its links has a source, because the sources are then not told
        apart.
        """
        candidates = self._scalars_within(entry.value_span, original)
        if len(candidates) != _count(entry.value, original):
            return None
        for quoted in candidates:
            if quoted.span.start not in self._used:
                self._used.add(quoted.span.start)
                return quoted
        return None

    def _scalars_within(self, span: Span, original: str) -> list[Quoted]:
        """Return the scalars of one line in `span` whose text is `original`.

        They are quoted, or alone in a block scalar.
        """
        if (
            self._body.startswith(("|", ">"), span.start)
            and self._body.count(original, span.start, span.end) == 1
        ):
            at = self._body.index(original, span.start, span.end)
            return [Quoted(original, "none", Span(at, at + len(original)))]
        scalars = _SCALAR.finditer(self._body, span.start, span.end)
        texts = (read_yaml(self._body, Span(*scalar.span())) for scalar in scalars)
        return [quoted for quoted in texts if quoted.value == original]


def _count(value: YamlValue, text: str) -> int:
    """Return how often a list or mapping contains a text, at any depth."""
    if isinstance(value, list | dict):
        items = value.values() if isinstance(value, dict) else value
        return sum(_count(item, text) for item in items)
    return int(value == text)
