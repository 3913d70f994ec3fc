"""Mentions of a note's name or aliases that are no links, and links made of them (LINK-30 to
LINK-33).

A link in the wrong place changes what a note says: in code, in a heading that links name, in the
cell of a table, whose pipe it splits. So mentions are looked for only where a link can stand, and a
note with new links is read again before it is written: each link must be read as it was meant, and
everything else as before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate
from typing import NamedTuple

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.file_list import Names
from obsidian_mcp.core.files.settings import AppSettings
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.links.write_link import generate_link
from obsidian_mcp.core.note import drawing, parser
from obsidian_mcp.core.note.edits import Edit, apply
from obsidian_mcp.core.note.headings import heading_key
from obsidian_mcp.core.note.links import Link
from obsidian_mcp.core.note.parser import Note
from obsidian_mcp.core.query.parser import quote_phrase
from obsidian_mcp.core.search.hits import Facet, Order, Request
from obsidian_mcp.core.tasks.line import read_line
from obsidian_mcp.core.text.analysis import phrase
from obsidian_mcp.core.text.call import check_each, checkpoint
from obsidian_mcp.core.text.page_order import page_start
from obsidian_mcp.core.text.text import Span, to_printable
from obsidian_mcp.core.text.vault_path import VaultPath, basename, is_note
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError

MOST_FILES = 2_000
"""Files that are looked through."""
CONTEXT = 200
"""Code points of a line that are shown."""
_fixed = re.compile(
    r"(?:(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+://|\bwww\.)(?:[^\s<>()]|\([^\s<>()]*+\))*+"
    r"|(?<![A-Za-z0-9_.+-])[A-Za-z0-9_.+-]++@[A-Za-z0-9.-]+"
    r"|\[[!^][^\[\]\r\n]*+\]"
    r"|\[[^\[\]\r\n]*+\]\[[^\[\]\r\n]*+\]"
    r"|(?<!\S)\^[A-Za-z0-9-]++[ \t]*+$",
    re.MULTILINE,
).finditer
"""Text that a link inside it would break: an address, an e-mail address, a footnote's name or a
callout's kind, a link by reference, and the id of a block."""
_bracketed = re.compile(r"\[([^\[\]\r\n]++)\]")
_field_keys = re.compile(r"^[^:\r\n]*+::|[\[(](?:[^\[\]()\r\n:]|:(?!:))*::", re.MULTILINE).finditer
"""The keys of inline fields (DV-04, DV-05), and some other text before two colons."""


@dataclass(frozen=True, slots=True)
class Mention:
    path: VaultPath
    line: int
    """0-based."""
    span: Span
    text: str
    """What is written there."""
    context: str
    """The line, cut where it is long."""


def names_of(vault: Vault, entry: FileEntry) -> list[str]:
    """Return the name of a file and the aliases of a note, without those of a single letter."""
    names = [basename(entry.path)]
    if is_note(entry.path):
        names += parser.parse(vault.read_text(entry).text.body).aliases
    return [name for name in dict.fromkeys(map(to_printable, names)) if len(name) > 1]


class NamingNotes(NamedTuple):
    """The notes that have one of some names."""

    notes: list[FileEntry]
    """By path."""
    more: int = 0
    """How many files with one come after them."""
    unsearched: str | None = None
    """A sentence with the files in whose text nobody could look."""


def notes_with(
    vault: Vault, entry: FileEntry, names: Sequence[str], offset: int = 0
) -> NamingNotes:
    """Return the other notes that have one of the names in their text.

    An exact search finds them, and MOST_FILES from `offset` on are looked at.
    """
    if not names:
        return NamingNotes([])
    query = f"content:({' OR '.join(map(quote_phrase, names))})"
    by_path = Order(Facet("path"), descending=False)  # which stays while notes are changed
    hits = vault.search.find(
        Request(query, "exact", None, MOST_FILES, offset, 0, order=by_path, characters=1 << 40)
    )
    entries = [vault.catalog.get(hit.path) for hit in hits.hits]
    notes = [
        other
        for other in entries
        if other is not None and other.path != entry.path and is_note(other.path)
    ]
    more = max(hits.total - page_start(offset) - len(hits.hits), 0)
    return NamingNotes(notes, more, hits.incomplete)


def unlinked_mentions(
    vault: Vault, notes: Iterable[FileEntry], names: Sequence[str]
) -> Iterator[Mention]:
    """Yield where these notes have one of the names as whole words that could be made a link
    (LINK-30)."""
    for note in notes:
        checkpoint()
        try:
            body = to_printable(vault.read_text(note).text.body)
        except AppError:  # gone or unreadable since the search
            continue
        yield from mentions_in_note(note.path, parser.parse(body), names)


def mentions_in_note(path: VaultPath, note: Note, names: Sequence[str]) -> list[Mention]:
    """Return the mentions in one note, in the order of its text.

    A text is none where a link would break something: in code, links, tags, addresses, definitions,
    properties and the fields of tasks (LINK-30).
    """
    body = note.body
    # By code point: 1 where no mention can be, or one was found. Intervals would have to be merged.
    closed = bytearray(len(body))
    spans = [
        *note.external_links,
        *(link.span for link in note.links),
        *(area.span for area in note.areas),
    ]
    spans += [tag.span for tag in note.tags]
    definitions = [section.span for section in note.sections if section.kind == "definition"]
    spans += [*definitions, *_references(body, definitions)]
    spans += [
        Span(*occurrence.span())
        for pattern in (_fixed, _field_keys)
        for occurrence in pattern(body)
    ]
    spans += [Span(0, text_start(body)), Span(drawing.text_end(path, body), len(body))]
    for start, end in spans:
        closed[start:end] = b"\1" * (end - start)
    occurrence = []
    by_length = sorted(names, key=len, reverse=True)
    for name in by_length:  # a shorter name inside a longer one is no mention of its own
        for match in check_each(phrase(name, match_case=False).finditer(body)):
            start, end = match.span()
            if closed.find(1, start, end) < 0:
                closed[start:end] = b"\1" * (end - start)
                occurrence.append(match)
    tasks = {item.line for item in note.tasks}
    contexts: dict[int, str] = {}
    fields: dict[int, list[Span]] = {}
    mentions = []
    for match in check_each(sorted(occurrence, key=lambda match: match.start())):
        line = note.lines.line(match.start())
        start = note.lines.starts[line]
        if line not in contexts:
            text = body[start : body.find("\n", start) + 1 or len(body)]
            contexts[line] = text.strip()[:CONTEXT]
            task = read_line(text.rstrip("\r\n"), "both") if line in tasks else None
            fields[line] = [field.span for field in task.fields] if task is not None else []
        if not any(field.start <= match.start() - start < field.end for field in fields[line]):
            mentions.append(Mention(path, line, Span(*match.span()), match[0], contexts[line]))
    return mentions


def _references(body: str, definitions: Sequence[Span]) -> Iterator[Span]:
    """Yield where the label of a definition stands alone in brackets, which makes it a link."""
    labels = {
        _label(match) for span in definitions if (match := _bracketed.match(body, span.start))
    }
    for match in _bracketed.finditer(body) if labels else ():
        if _label(match) in labels:
            yield Span(*match.span())


def _label(match: re.Match[str]) -> str:
    return " ".join(match[1].casefold().split())


ATTEMPTS = 3
"""How often the links of a note are tried. A mention has two spellings, for text and for the cell
of a table (with an escaped pipe); one that is misread loses its spelling, and after both the
mention stays as it is. The third time all spellings that are left are right."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A note with its mentions as links."""

    after: str
    made: int
    """How many mentions are links now."""
    left: list[Mention]
    """Those that stay as they are."""


@dataclass(frozen=True)
class MentionLinker:
    """Makes mentions of `target` links to it, as the vault's settings want links."""

    files: Names
    settings: AppSettings
    target: VaultPath
    names: Sequence[str]
    """The names and aliases of the target."""

    def link(self, path: VaultPath, body: str) -> Linked:
        """Make the mentions in the note at `path` links that show the same text (LINK-31).

        Mentions stay where the link would not be read as one or change a heading or how other
        text is read (LINK-32). Raises: InvalidName.
        """
        before = parser.parse(to_printable(body))
        mentions = mentions_in_note(path, before, self.names)
        if not mentions:
            return Linked(body, 0, [])
        written = cache(partial(self._spellings, path))
        spellings = [list(written(mention.span.slice(body))) for mention in check_each(mentions)]
        for _ in range(ATTEMPTS):
            chosen = [
                (mention, spelling)
                for mention, spelling in zip(mentions, spellings, strict=True)
                if spelling
            ]
            after = apply(body, [Edit(mention.span, spelling[0]) for mention, spelling in chosen])
            note = parser.parse(to_printable(after))
            failed, further_links = self._check_links(path, before, note, chosen)
            if not failed:
                if (*before.links,) != further_links or _elements(before) != _elements(note):
                    break  # it says something else
                stay = [
                    mention
                    for mention, spelling in zip(mentions, spellings, strict=True)
                    if not spelling
                ]
                return Linked(after, len(chosen), stay)
            for spelling in failed:
                del spelling[0]
        return Linked(body, 0, mentions)

    def _check_links(
        self,
        path: VaultPath,
        before: Note,
        after: Note,
        chosen: Sequence[tuple[Mention, list[str]]],
    ) -> tuple[list[list[str]], tuple[Link, ...]]:
        """Return the spellings that are not read as what they should be in the note `after`, and
        the links that it has besides."""
        leads = cache(lambda link: resolve(self.files, path, link) == self.target)
        growth = accumulate(
            (len(spelling[0]) - len(mention.text) for mention, spelling in chosen), initial=0
        )
        places = [
            mention.span.start + grown for (mention, _), grown in zip(chosen, growth, strict=False)
        ]
        links = {link.span: link for link in after.links}
        outlines = zip(before.outline, after.outline, strict=False)
        renamed = {
            old.line for old, new in outlines if heading_key(old.text) != heading_key(new.text)
        }
        failed = []
        for (mention, spelling), place in check_each(zip(chosen, places, strict=True)):
            link = links.pop(Span(place, place + len(spelling[0])), None)
            is_read = (
                link is not None
                and not link.embed
                and link.display_text == mention.text
                and leads(link.path)
            )
            if not is_read or mention.line in renamed:
                failed.append(spelling)
        return failed, (*links.values(),)

    def _spellings(self, path: VaultPath, text: str) -> list[str]:
        """Return the links that show a text, by how they are tried: for text, and for the cell of
        a table."""
        occurrences = (
            generate_link(
                self.files, self.target, path, settings=self.settings, display=text, in_table=cell
            )
            for cell in (False, True)
        )
        return list(dict.fromkeys(occurrences))


def _elements(note: Note) -> tuple[object, ...]:
    """Return what must be the same before and after mentions become links, but for the links."""
    headings = [(heading.level, heading.nested, heading.line) for heading in note.headings]
    blocks = note.sections, note.list_items, note.block_ids, note.footnotes, note.footnote_refs
    return (*blocks, headings, note.tags, note.areas, len(note.external_links))
