"""The edits when a heading or block of a note gets another name (RENAME-20 to RENAME-24).

Pure, as `rewrite`: given the note, the change in it and the files that may refer to it, the edits
of each file. The files to look at are the note itself and those with a link whose key is in
`rewrite.link_keys([path])`. (semantics 7)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from obsidian_mcp.core.files.file_list import Names
from obsidian_mcp.core.note.edits import Edit
from obsidian_mcp.core.note.elements import Heading
from obsidian_mcp.core.note.headings import HeadingIndex, heading_for_link, heading_key
from obsidian_mcp.core.note.links import decode
from obsidian_mcp.core.note.parser import Note
from obsidian_mcp.core.note.subpath import id_span, segments
from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import InvalidName

from .link_spans import CardPath, LocatedLink, Referrer, Unwritable
from .resolve import resolve
from .rewrite import FileEdits, file_edits, is_percent_encoded, order_edits
from .write_link import encode_destination, is_balanced, is_wikilink_target

_MARKS = re.compile(r"(#{1,6})[ \t]+")
_BLOCK_ID = re.compile(r"[A-Za-z0-9-]+")
_NO_HEADING = re.compile(r"\^[A-Za-z0-9-]+|\[\^[^\s\]]+\]")
"""Last segment of a subpath to a block or footnote."""
_SQUARE = str.maketrans("[]", "  ")
_ROUND = str.maketrans({"(": "%28", ")": "%29"})

RenameSegments = Callable[[list[str]], list[str] | None]
"""Returns the segments that lead afterwards where the given segments of a subpath lead now.

It returns None where they stay as they are. Raises: Unwritable.
"""


def plan_heading(
    names: Names,
    path: VaultPath,
    parsed: Note,
    heading: Heading,
    text: str,
    *,
    referrers: Iterable[Referrer],
) -> Iterator[FileEdits]:
    """Return the edits that give a heading of the note the name `text`, and take the links to it
    along.

    The heading's own line is edited with the note, if that is among the referrers. Raises:
    InvalidName for a text that is blank, has several lines, or begins with the marks of another
    level.
    """
    text = text.strip()
    marks = _MARKS.match(text)
    if marks and len(marks[1]) != heading.level:
        raise InvalidName(
            f"The heading keeps its level, {heading.level}. Give the new text without {marks[1]!r}."
        )
    text = text[marks.end() :] if marks else text
    if not text or "\n" in text or "\r" in text:
        raise InvalidName(f"{text!r} is no heading. Give one line of text.")
    start = parsed.body.find(heading.text, heading.span.start, heading.span.end)
    if not heading.text or start < 0:
        raise InvalidName("The heading is empty. Edit its line instead.")
    outline = _HeadingOutline(parsed.outline, parsed.outline.index(heading), text)
    own_edit = Edit(Span(start, start + len(heading.text)), text)
    return _plan(names, path, outline.rename_segments, referrers, own_edit)


def plan_block(
    names: Names,
    path: VaultPath,
    parsed: Note,
    old: str,
    new: str,
    *,
    referrers: Iterable[Referrer],
) -> Iterator[FileEdits]:
    """Return the edits that give the block `^old` of a note the id `new`, and take the links to it
    along.

    Raises: InvalidName for a block that the note does not have, and for an id that links cannot
    contain or that another block has.
    """
    if not _BLOCK_ID.fullmatch(new):
        raise InvalidName(f"{new!r} is no block id. Use letters, digits and hyphens only.")
    blocks = [block for block in parsed.block_ids if block.id.lower() == old.lower()]
    if not blocks:
        raise InvalidName(f"The note has no block ^{old}.")
    if any(block.id.lower() == new.lower() != old.lower() for block in parsed.block_ids):
        raise InvalidName(f"The note has a block ^{new} already. Choose another id.")

    def rename_segments(parts: list[str]) -> list[str] | None:
        return [*parts[:-1], "^" + new] if parts[-1].strip().lower() == "^" + old.lower() else None

    written = id_span(parsed.body, blocks[-1])
    if written is None:
        raise InvalidName(f"The place of ^{old} in the note is not certain. Edit its line instead.")
    return _plan(names, path, rename_segments, referrers, Edit(written, new))


@dataclass(frozen=True)
class _HeadingOutline:
    """A note's headings, of which the one at `at` is called `text` afterwards."""

    headings: Sequence[Heading]
    at: int
    text: str

    @cached_property
    def _before(self) -> HeadingIndex:
        """The headings as they are, for all links."""
        return HeadingIndex((heading.level, heading_key(heading.text)) for heading in self.headings)

    @cached_property
    def _after(self) -> HeadingIndex:
        texts = (
            self.text if number == self.at else heading.text
            for number, heading in enumerate(self.headings)
        )
        levels = (heading.level for heading in self.headings)
        return HeadingIndex(zip(levels, map(heading_key, texts), strict=True))

    @cached_property
    def _parents(self) -> list[int | None]:
        """The heading under which each heading stands; None for those at the top."""
        parents: list[int | None] = []
        above: list[int] = []
        for number, heading in enumerate(check_each(self.headings)):
            while above and self.headings[above[-1]].level >= heading.level:
                above.pop()
            parents.append(above[-1] if above else None)
            above.append(number)
        return parents

    def rename_segments(self, parts: list[str]) -> list[str] | None:
        """Return the segments that lead afterwards where `parts` lead now; None where they stay.

        Raises: Unwritable.
        """
        if _NO_HEADING.fullmatch(parts[-1].strip()):
            return None
        chain = self._before.chain(parts)
        if chain is None:
            return None
        written = [
            self._show(self.at) if n == self.at else part
            for n, part in zip(chain, parts, strict=True)
        ]
        goal = chain[-1]
        if self._leads(written, goal):
            return written if self.at in chain else None
        above = self._parent_headings(goal)
        for first in range(len(above), -1, -1):  # with as few of the headings above as possible
            longer = [self._show(n) for n in (*above[first:], goal)]
            if self._leads(longer, goal):
                return longer
        raise Unwritable(
            f"No link can tell the heading {self._show(goal)!r} from others of this text in the "
            "note."
        )

    def _leads(self, parts: Sequence[str], goal: int) -> bool:
        """Return whether a subpath leads to the heading `goal` afterwards."""
        chain = self._after.chain(parts) if all(parts) else None
        return chain is not None and chain[-1] == goal

    def _show(self, number: int) -> str:
        return heading_for_link(self.text if number == self.at else self.headings[number].text)

    def _parent_headings(self, number: int) -> list[int]:
        """Return the headings under which a heading stands, from the top."""
        above: list[int] = []
        parent = self._parents[number]
        while parent is not None:
            above.append(parent)
            parent = self._parents[parent]
        return above[::-1]


def _plan(
    names: Names,
    path: VaultPath,
    rename_segments: RenameSegments,
    referrers: Iterable[Referrer],
    own: Edit,
) -> Iterator[FileEdits]:
    """Yield the edits of each file whose links lead to the renamed part.

    In the note itself the edit `own` of the heading has its place; links inside of the heading are
    not edited besides.
    """
    recall = _remember_renamed(rename_segments)

    def rewrite_link(place: LocatedLink, source: VaultPath) -> list[Edit]:
        leads_here = place.link.subpath and resolve(names, source, place.link.path) == path
        return _rewrite_link(place, recall) if leads_here else []

    def rewrite_card(card: CardPath) -> list[Edit]:
        subpath = card.subpath
        if subpath is None or names.path_at(card.path.value) != path:
            return []
        before = segments(subpath.value)
        after = recall(before) if before else None
        if after is None or after == before:
            return []
        whole = Span(0, len(subpath.value))
        return [Edit(subpath.place(whole), subpath.write_quoted("#" + "#".join(after)))]

    for referrer in referrers:
        file = file_edits(referrer, rewrite_link, rewrite_card)
        if referrer.path == path:
            outside = (
                edit
                for edit in file.edits
                if edit.span.end <= own.span.start or edit.span.start >= own.span.end
            )
            file = file._replace(edits=order_edits([*outside, own]))
        if file.edits or file.skipped:
            yield file


def _remember_renamed(rename_segments: RenameSegments) -> RenameSegments:
    """Return a function that renames each subpath once.

    Many links have the same one, and to rename it takes a look at all headings.
    """
    answers: dict[tuple[str, ...], list[str] | Unwritable | None] = {}

    def recall(parts: list[str]) -> list[str] | None:
        key = tuple(parts)
        if key not in answers:
            try:
                answers[key] = rename_segments(parts)
            except Unwritable as error:
                answers[key] = error
        answer = answers[key]
        if isinstance(answer, Unwritable):
            raise Unwritable(str(answer))
        return answer

    return recall


def _rewrite_link(place: LocatedLink, rename_segments: RenameSegments) -> list[Edit]:
    """Return the edits of a link's segments.

    Raises: Unwritable.
    """
    link = place.link
    before = segments(link.subpath)
    after = rename_segments(before) if before else None
    if after is None or after == before:
        return []
    place.check_certain()
    parts = place.parts()
    spans = [] if parts is None else [span for span in parts[1] if _read(place, span).strip()]
    if [_read(place, span).strip() for span in spans] != [part.strip() for part in before]:
        raise Unwritable(
            "It is written with escapes that hide where its parts end. Change it by hand."
        )
    is_displayed = link.display is not None
    if link.style == "wiki" and not is_wikilink_target(
        "#" + "#".join(after), displayed=is_displayed
    ):
        # In names of headings brackets compare as spaces.
        after = [part.translate(_SQUARE).strip() for part in after]
    if len(after) == len(before):
        pairs = zip(spans, before, after, strict=True)
        return [
            place.edit(span, _write_segment(place, new)) for span, old, new in pairs if old != new
        ]
    whole = Span(spans[0].start, spans[-1].end)
    return [place.edit(whole, "#".join(_write_segment(place, part) for part in after))]


def _read(place: LocatedLink, span: Span) -> str:
    raw = span.slice(place.host)
    return raw if place.link.style == "wiki" else decode(raw)


def _write_segment(place: LocatedLink, part: str) -> str:
    if place.link.style == "wiki":
        return part
    ascii_only = is_percent_encoded(place.link.target_span.slice(place.host))
    text = encode_destination(part, angle=place.angled, ascii_only=ascii_only)
    return text if is_balanced(part) or place.angled else text.translate(_ROUND)
