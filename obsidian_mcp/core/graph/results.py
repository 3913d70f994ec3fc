"""What questions about many notes are answered with; of tags and properties, how often they occur
(semantics 3.4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index.facts import BODY_LIMIT, LinkFact, TagFact
from obsidian_mcp.core.index.file_sets import PropertyFiles
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.fit import mark_excerpt
from obsidian_mcp.core.text.text import Text, to_printable
from obsidian_mcp.core.text.vault_path import DRAWING_EXTENSION, VaultPath, extension, is_note
from obsidian_mcp.errors import AppError


@dataclass(frozen=True, slots=True)
class Reference:
    """A link of the file `source`, and the file it leads to: None when there is none."""

    source: VaultPath
    target: VaultPath | None
    link: LinkFact

    @property
    def line(self) -> int | None:
        """The line of the link, 1-based; None for links of properties and cards."""
        return self.link.line + 1 if self.link.line is not None and not self.link.at else None


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A name that links lead to and no file has, with the number of links in every source."""

    name: str
    sources: Mapping[VaultPath, int]

    @property
    def count(self) -> int:
        return sum(self.sources.values())


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A file that is connected with another one over `distance` links, in either direction."""

    path: VaultPath
    distance: int
    via: VaultPath
    """The file before it on a shortest path."""


@dataclass(frozen=True, slots=True)
class TagUse:
    """A tag with its descendants: occurrences and files. `tag` has the spelling used most."""

    tag: str
    occurrences: int
    files: int
    spellings: tuple[str, ...] = field(default=(), compare=False)
    """All ways in which it is written."""


@dataclass(frozen=True, slots=True)
class TaggedFile:
    """A file with a tag or descendants of it, as written, in the order of the file."""

    path: VaultPath
    tags: tuple[TagFact, ...]


@dataclass(frozen=True, slots=True)
class PropertyUse:
    """A property of the vault: the name used most, the number of files, and the types of its
    values."""

    name: str
    files: int
    types: Mapping[str, int]
    """Inferred type -> files, the most frequent first; without what `types.json` assigns."""


@dataclass(frozen=True, slots=True)
class PropertyValue:
    """One property of one file; `value` is as JSON has it."""

    path: VaultPath
    value: Any


@dataclass(frozen=True, slots=True)
class LinkMaps:
    """The app's `resolvedLinks` and `unresolvedLinks`: source -> target or name -> how many
    links."""

    resolved: Mapping[VaultPath, Mapping[VaultPath, int]]
    unresolved: Mapping[VaultPath, Mapping[str, int]]


def tag_uses(
    files_by_tag: Iterable[tuple[str, Sequence[int]]], invisible_files: Collection[int]
) -> tuple[TagUse, ...]:
    """Return every tag, by name, from the file of each occurrence of every spelling.

    An occurrence counts for every tag above it, too; those in `invisible_files` do not count.
    """
    written: dict[str, Counter[str]] = defaultdict(Counter)
    files: dict[str, set[int]] = defaultdict(set)
    for tag, occurrences in files_by_tag:
        checkpoint()
        numbers = _leave_out(occurrences, invisible_files)
        for above in tags.ancestry(tag) if numbers else ():
            written[tags.key(above)][above] += len(numbers)
            files[tags.key(above)].update(numbers)
    return tuple(
        TagUse(
            _most_used(written[key]),
            written[key].total(),
            len(files[key]),
            tuple(sorted(written[key])),
        )
        for key in sorted(written)
    )


def property_uses(
    spellings: Iterable[PropertyFiles], invisible_files: Collection[int]
) -> tuple[PropertyUse, ...]:
    """Return every property, by name, from the files of every spelling and type, by key."""
    uses = []
    for key, same_key in groupby(spellings, key=attrgetter("key")):
        checkpoint()
        names, types, files = Counter[str](), Counter[str](), set[int]()
        for spelling in same_key:
            numbers = _leave_out(spelling.files, invisible_files)
            names[spelling.name] += len(numbers)
            types[spelling.type] += len(numbers)
            files.update(numbers)
        if files:
            ordered = sorted((+types).items(), key=lambda item: (-item[1], item[0]))
            uses.append((key, PropertyUse(_most_used(names), len(files), dict(ordered))))
    return tuple(use for _, use in sorted(uses, key=itemgetter(0)))


def _leave_out(files: Sequence[int], invisible_files: Collection[int]) -> Sequence[int]:
    if not invisible_files:
        return files
    return [file for file in files if file not in invisible_files]


def _most_used(written: Counter[str]) -> str:
    """Return the most frequent spelling, the smallest of several: the order of files must not
    matter."""
    return min(written, key=lambda spelling: (-written[spelling], spelling))


# The line around a link (INDEX-39)

CONTEXT = 200
"""Code points that are shown of the line around a link."""


def link_lines(
    references: Iterable[Reference], catalog: Catalog, read: Callable[[FileEntry], bytes]
) -> Iterator[str]:
    """Yield the line around every link, cut to CONTEXT code points; the link alone in a property.

    Lines are read from the files: in the index they would take as much room as the notes.
    """
    source, texts = None, {}
    for reference in references:
        link = reference.link
        if link.kind == "property":
            yield f"{link.at}: {link.original}"
        elif link.start is None:
            yield link.original
        else:
            if reference.source != source:
                checkpoint()
                source, texts = reference.source, _texts(catalog.get(reference.source), read)
            yield _cut_context(texts.get(link.at, ""), link.original, link.start)


def _texts(entry: FileEntry | None, read: Callable[[FileEntry], bytes]) -> dict[str, str]:
    """Return the texts that hold a file's links, by `LinkFact.at`; none when it cannot be read any
    more."""
    if entry is None or extension(entry.path) == DRAWING_EXTENSION:
        return {}
    try:
        body = to_printable(Text.decode(read(entry)[:BODY_LIMIT]).body)
    except AppError:
        return {}
    if is_note(entry.path):
        return {"": body}
    from obsidian_mcp.core.note import canvas  # loaded when it is needed

    cards = canvas.read_canvas(body).cards
    return {
        to_printable(card.key): to_printable(card.text.value)
        for card in cards
        if card.text is not None
    }


def _cut_context(body: str, link: str, start: int) -> str:
    """Return the line of a link, cut to CONTEXT code points around it."""
    if not body.startswith(link, start):  # the file has changed since it was indexed
        start = body.find(link)
        if start < 0:
            return link
    begin = body.rfind("\n", 0, start) + 1
    end = body.find("\n", start + len(link))
    end = len(body) if end < 0 else end
    first = max(begin, start - max(0, CONTEXT - len(link)) // 2)
    last = min(end, first + max(CONTEXT, len(link)))
    excerpt = body[first:last].strip()
    return mark_excerpt(excerpt, cut_before=first > begin, cut_after=last < end)
