"""Boards of the Kanban plugin: its lanes and cards, and which text the plugin would drop.

The plugin writes a board anew from the first list below each heading: any other text is gone with
its next change (BOARD-1, 2).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.core.text.text import Span, to_printable
from obsidian_mcp.core.text.typed_text import typed_form
from obsidian_mcp.errors import NotText, SectionNotFound

from .elements import Heading, ListItem, Section
from .headings import heading_key
from .markdown import html_block
from .parser import Note, parse

LANES_SHOWN = 12
"""Lanes that a message lists."""
CHARACTERS_SHOWN = 60
"""Characters of a line in a message."""
SETTINGS = "%% kanban:settings"
"""The first line of the comment in which the plugin keeps the settings of a board."""
LIMIT_DIGITS = 9
"""No lane has a limit of more digits, and Python reads no number of 5 000."""
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?<!\w)_+|_+(?!\w)")
_ITEM = re.compile(r" {0,3}(?:[0-9]+)?[-*+.)](?:[ \t]|$)")
_COMPLETE = re.compile(r"\s*\*\*[^*\n]+\*\*[ \t\r]*(?:\n|\Z)")
"""The line by which the plugin marks a lane of finished cards.

Its word is in the language of the app.
"""


@dataclass(frozen=True, slots=True)
class BoardCard:
    """A card: a list item from its first line to its last one, with all that is inside it.

    `span` begins and ends where lines do, without the last line end and without blank lines below.
    """

    item: ListItem
    span: Span


@dataclass(frozen=True, slots=True)
class Lane:
    """A heading of a board and its cards: the first list below it (BOARD-1)."""

    heading: Heading
    content: Span
    """The text below the heading, and below the mark of a lane of finished cards."""
    cards: tuple[BoardCard, ...]
    is_finished: bool
    is_archive: bool

    @property
    def title(self) -> str:
        """The heading without the number of cards that the lane should hold (BOARD-4)."""
        return _split_title(self.heading.text)[0]

    @property
    def limit(self) -> int:
        """How many cards the lane should hold at most; 0 for any number."""
        return _split_title(self.heading.text)[1]


class Board:
    """The lanes of a board, in the order of the note, and every card by its line."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self.body: Final = note.body
        self._items = [item for item in check_each(note.list_items) if item.parent < 0]
        self._starts = [item.span.start for item in self._items]
        self.lanes: tuple[Lane, ...] = tuple(self._read_lanes())

    def card_at(self, line: int) -> BoardCard | None:
        """Return the card whose first line this is, from 0; None inside a card, or in a quote.

        A list that the plugin does not read (BOARD-2) has cards too.
        """
        start = self._note.lines.starts[line]
        sections = self._note.sections
        number = bisect_right(sections, start, key=lambda section: section.span.start) - 1
        if number < 0 or sections[number].kind != "list":
            return None
        cards = self._cards_of(sections[number])
        return next((card for card in check_each(cards) if card.item.line == line), None)

    def count_lines(self, card: BoardCard) -> int:
        return self.body.count("\n", *card.span) + 1

    def lane_of(self, line: int) -> Lane | None:
        """Return the lane of a line, from 0; None in front of the first lane."""
        number = bisect_left(self.lanes, line, key=lambda lane: lane.heading.line)
        return self.lanes[number - 1] if number else None

    def find_lanes(self, name: str) -> list[Lane]:
        """Return the lanes that a name means: one, or those of the same title.

        A name is the heading, or its title without limit and marks (BOARD-4).
        Raises: SectionNotFound with the lanes.
        """
        name = name.strip().lstrip("#").strip()
        for key in (heading_key, title_key):
            lanes = [lane for lane in self.lanes if key(lane.heading.text) == key(name)]
            if lanes and key(name):
                return lanes
        titles = [to_printable(lane.title) for lane in self.lanes[:LANES_SHOWN]]
        choice = f"Its lanes are: {', '.join(map(repr, titles))}." if titles else "It has no lanes."
        raise SectionNotFound(
            f"The board has no lane {name!r}. {choice}", heading=name, headings=titles
        )

    def _read_lanes(self) -> Iterator[Lane]:
        note = self._note
        headings = {heading.span.start: heading for heading in note.outline}
        settings = settings_start(note)
        sections = [
            section for section in check_each(note.sections) if section.span.start < settings
        ]
        at_headings = [n for n, section in enumerate(sections) if section.kind == "heading"]
        for number, following in zip(at_headings, [*at_headings[1:], len(sections)], strict=True):
            below = sections[number + 1 : following]
            end = sections[following].span.start if following < len(sections) else settings
            if below and _is_rule_of_archive(note, sections, following - 1):
                end = below.pop().span.start
            is_archive = number > 0 and _is_rule_of_archive(note, sections, number - 1)
            heading = headings[sections[number].span.start]
            yield self._read_lane(heading, below, end, is_archive=is_archive)

    def _read_lane(
        self, heading: Heading, below: Sequence[Section], end: int, *, is_archive: bool
    ) -> Lane:
        """Read the lane of a heading, and of the blocks below it up to `end`."""
        body = self._note.body
        of_cards = next((section for section in below if section.kind == "list"), None)
        start = min(body.find("\n", heading.span.end) + 1 or len(body), end)
        content = Span(start, end)
        mark = _COMPLETE.match(body, *content)
        return Lane(
            heading,
            content if mark is None else Span(mark.end(), content.end),
            tuple(self._cards_read(of_cards)) if of_cards else (),
            is_finished=mark is not None and not is_archive,
            is_archive=is_archive,
        )

    def _cards_read(self, section: Section) -> Iterator[BoardCard]:
        """Yield the cards of a list up to a text without an indent that ends it for the plugin."""
        end = section.span.start
        for card in self._cards_of(section):
            if self.body[end : card.span.start].strip():
                return
            yield card
            end = card.span.end

    def _cards_of(self, section: Section) -> Iterator[BoardCard]:
        """Yield the items of a list at the top level."""
        first = bisect_left(self._starts, section.span.start)
        after = bisect_left(self._starts, section.span.end, first)
        ends = [*self._starts[first + 1 : after], section.span.end]
        for item, end in zip(self._items[first:after], ends, strict=True):
            yield BoardCard(item, Span(item.span.start, _end_of_card(self._note.body, item, end)))


def is_board(body: str) -> bool:
    return frontmatter.has_property(body, "kanban-plugin")


def lane_span(note: Note, section: Span) -> Span:
    """Return a section of a note; of a board without the settings and the archive behind it.

    See BOARD-1.
    """
    if not is_board(note.body):
        return section
    ends = (
        entry.span.start
        for number, entry in enumerate(check_each(note.sections))
        if section.start < entry.span.start < section.end
        and (_is_settings(note, entry) or _is_rule_of_archive(note, note.sections, number))
    )
    return Span(section.start, next(ends, section.end))


def cards_span(body: str, content: Span) -> Span:
    """Return the text below a heading; of a board without the mark of a finished lane (BOARD-1)."""
    mark = _COMPLETE.match(body, content.start, content.end) if is_board(body) else None
    return content if mark is None else Span(mark.end(), content.end)


def title_key(heading: str) -> str:
    """Return the form in which titles of lanes compare: without limit and marks (BOARD-4)."""
    return heading_key(typed_form(_EMPHASIS.sub("", _split_title(heading)[0])))


def lane_heading(note: Note, name: str) -> Heading | None:
    """Return the heading of the first lane of a board that has this title (BOARD-4)."""
    if not is_board(note.body) or not (key := title_key(name)):
        return None
    return next((entry for entry in note.outline if title_key(entry.text) == key), None)


def settings_start(note: Note) -> int:
    """Return where the settings of a board begin: no lane is below them."""
    starts = (entry.span.start for entry in check_each(note.sections) if _is_settings(note, entry))
    return next(starts, len(note.body))


def check_edit(path: str, before: str, after: str) -> None:
    """Refuse an edit that adds text to a board that is no card of a lane (BOARD-2).

    Text of that kind that the board had before may stay.
    Raises: NotText.
    """
    if not is_board(before):
        return
    lost_before, lost = _list_lost(before), _list_lost(after)
    if len(lost) <= len(lost_before):
        return
    lines_before = set(lost_before)
    line = next((line for line in lost if line not in lines_before), lost[-1])
    lanes = [to_printable(lane.title) for lane in islice(Board(parse(before)).lanes, LANES_SHOWN)]
    advice = "Prepend a heading with cards."
    if lanes:
        advice = f"Name a lane as heading: {', '.join(map(repr, lanes))}."
    raise NotText(
        f"{path!r} is a Kanban board: when the plugin next writes the file, it would not keep "
        f"{cut_text(line, CHARACTERS_SHOWN)!r} as it is. Nothing was written. A card is a list "
        f"item below a heading (`- [ ] text`) with the mark of the lane's other cards, and further "
        f"lines of it are indented. {advice}",
        path=path,
    )


def _list_lost(body: str) -> list[str]:
    """Return the lines that are no part of the first list of a lane.

    The plugin drops them, or adds them to the card before.
    """
    note = parse(body)
    lost: list[str] = []
    in_lane = has_cards = behind_settings = False
    for number, section in enumerate(check_each(note.sections)):
        lines = section.span.slice(body).splitlines()
        if behind_settings:
            lost += (line.strip() for line in lines if line.strip())
        elif section.kind == "heading":
            in_lane, has_cards = True, False
        elif _is_settings(note, section):
            behind_settings = True
        elif section.kind == "list" and in_lane and not has_cards:
            has_cards = True
            lost += _list_lost_of_cards(lines)
        elif section.kind != "yaml" and not _is_rule_of_archive(note, note.sections, number):
            marks = in_lane and section.kind == "paragraph"
            lost += (
                line.strip()
                for line in lines
                if line.strip() and not (marks and _COMPLETE.fullmatch(line))
            )
    return lost


def _list_lost_of_cards(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a lane's first list that are no part of a card.

    Behind a quote or HTML without an indent there is no card for the plugin.
    """
    is_ended = False
    for line in check_each(lines):
        is_ended = is_ended or _ends_list(line, 0, len(line))
        if line.strip() and (is_ended or (line[0] not in " \t" and not _ITEM.match(line))):
            yield line.strip()


def _ends_list(text: str, start: int, end: int) -> bool:
    """Return whether a line is a quote or HTML without an indent."""
    return text.startswith(">", start, end) or html_block(text, start, end) is not None


def _is_settings(note: Note, section: Section) -> bool:
    return section.kind == "comment" and note.body.startswith(SETTINGS, section.span.start)


def _is_rule_of_archive(note: Note, sections: Sequence[Section], number: int) -> bool:
    """Return whether a block is the rule above the archive: one right above a heading.

    The plugin writes `***`; another rule is taken for it above the last heading.
    """
    if sections[number].kind != "thematicBreak" or number + 1 == len(sections):
        return False
    if sections[number + 1].kind != "heading":
        return False
    is_last = note.outline[-1].span.start == sections[number + 1].span.start
    return is_last or sections[number].span.slice(note.body).strip() == "***"


def _split_title(heading: str) -> tuple[str, int]:
    """Return the title of a lane, and how many cards it should hold; 0 for any number.

    So the plugin reads the heading: `Backlog (3)`.
    """
    text = _BREAK.sub(" ", heading).strip()
    title, _, limit = text.removesuffix(")").rpartition("(")
    if text.endswith(")") and limit.isdecimal() and limit.isascii() and title.strip():
        return title.rstrip(), int(limit[:LIMIT_DIGITS])
    return text, 0


def _end_of_card(body: str, item: ListItem, end: int) -> int:
    """Return where a card ends whose lines end before `end`, without the blank lines below it.

    A quote or HTML without an indent ends the list for the plugin, not for the app.
    """
    first_end = body.find("\n", item.span.start, end)
    at = first_end + 1 or end
    while at < end:
        if _ends_list(body, at, end):
            end = at
            break
        at = body.find("\n", at, end) + 1 or end
    return item.span.start + len(body[item.span.start : end].rstrip())
