"""Put cards into the lanes of a Kanban board (BOARD-2)."""

from __future__ import annotations

from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.errors import NotText

from . import edits
from .board import Board
from .markdown import INDENT, indent
from .parser import parse


def add_card(body: str, lane: int, text: str) -> tuple[str, int]:
    """Return a board with a card at the end of the lane of a number, and the card's line, from 1.

    The card gets the mark of the other cards of the lane: the plugin reads one list (BOARD-2).
    Raises: NotText.
    """
    target = Board(parse(body)).lanes[lane]
    if not target.cards:
        after = edits.append_to_span(body, target.content, text)
    else:
        last = target.cards[-1]
        at = body.find("\n", last.span.end) + 1 or len(body)
        after = edits.insert(body, at, _with_marker(text, last.item.marker))
    lanes = Board(parse(after)).lanes
    if len(lanes) <= lane or len(lanes[lane].cards) <= len(target.cards):
        message = f"No card can be added to the lane {target.title!r}: the text before the place "
        raise NotText(f"{message}is an open code block or comment. Close it.")
    return after, lanes[lane].cards[-1].item.line + 1


def _with_marker(text: str, last: str) -> str:
    """Return a card as an item of the list that ends with an item of the mark `last`.

    It has no indent, with which it could be inside that item.
    """
    lead = indent(text, 0, len(text)).end()
    lines = [_without_indent(line, lead) for line in check_each(text.split("\n"))]
    own = Board(parse(f"#\n{lines[0]}")).lanes[0].cards[0].item.marker
    if own[-1] == last[-1]:
        return "\n".join(lines)
    mark = f"{int(last[:-1]) + 1}{last[-1]}" if last[:-1] else last
    column = len(mark) + 1
    widened = max(0, len(mark) - len(own))
    further = (_indent_to(line, column, widened) for line in check_each(lines[1:]))
    return "\n".join([f"{mark}{lines[0][len(own) :]}", *further])


def _without_indent(line: str, width: int) -> str:
    """Return a line without its first `width` blanks, or fewer if it has a tab among them."""
    blanks = line[:width]
    return line[len(blanks) - len(blanks.lstrip(" ")) :]


def _indent_to(line: str, column: int, widened: int) -> str:
    """Return a line of a card indented enough to stay in it, behind a mark that is `widened`."""
    lead = line[: indent(line, 0, len(line)).end()]
    is_short = lead and len(lead.expandtabs(INDENT)) < column and line.strip()
    return " " * widened + line if is_short else line
