"""The list of changes: by day and app, those first that the person has not looked at (UI-34)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from obsidian_mcp.core.files.ports import ChangeHead, Recorded
from obsidian_mcp.core.operations.conversations import group_conversations
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.serve.http.console.markup import Markup, element, join
from obsidian_mcp.serve.http.console.part import CLIENT, ConsolePage, Visit

from .file_card import NAME
from .wording import describe_steps, name_author, write_day, write_time

PAGE: Final = 50
"""Changes on a page."""


def is_new(head: ChangeHead) -> bool:
    """Return whether a person has yet to look at a change. What they did here themselves is not
    new."""
    return not head.is_seen and head.author.client != CLIENT


def list_page(visit: Visit, heads: Sequence[ChangeHead]) -> ConsolePage:
    """Return the page of the list. `heads`: all changes, latest first."""
    app, only_new = visit.query.text("app"), visit.query.text("show") == "new"
    chosen = [
        head
        for head in heads
        if (not app or name_author(head.author) == app) and (is_new(head) or not only_new)
    ]
    chosen.sort(key=lambda head: (not is_new(head), -head.number))
    first = visit.query.number("from")
    body = [
        _write_summary(visit, heads),
        _write_filters(visit, heads),
        *_write_days(visit, chosen[first : first + PAGE]),
        _write_more(visit, len(chosen), first),
    ]
    return ConsolePage("Changes", join(*body))


def _write_summary(visit: Visit, heads: Sequence[ChangeHead]) -> Markup:
    """Return what is new, with a button that marks it as seen, and the last conversation."""
    new = [head for head in heads if is_new(head)]
    if not heads:
        return element(
            "p",
            "No assistant has changed anything in this vault so far. What assistants change will "
            "be listed here, and you can take it back.",
        )
    if new:
        button = element("button", "Mark all as seen")
        says = element("p", element("strong", f"{write_count(len(new), 'change')} to look at."))
        mark = visit.write_form(NAME, button, do="seen", upto=new[0].number)
        row = element("div", says, mark, _write_review_of_new(visit, new), class_="row")
    else:
        row = element("p", "You have looked at everything.")
    return join(row, _write_last_conversation(visit, heads))


def _write_review_of_new(visit: Visit, new: Sequence[ChangeHead]) -> Markup | None:
    """Return a link to all changes since the oldest one that is new, as one review."""
    if len(new) < 2:
        return None
    address = visit.link(NAME, since=new[-1].number - 1)
    return element("a", "Look at all of them together", href=address)


def _write_last_conversation(visit: Visit, heads: Sequence[ChangeHead]) -> Markup | None:
    others = [head for head in heads if head.author.client != CLIENT]
    if not others:
        return None
    latest = group_conversations(others)[0]
    text = f"{write_count(len(latest), 'change')} by {name_author(latest[0].author)}"
    address = visit.link(NAME, conversation=latest[0].number)
    return element("p", "Last conversation: ", element("a", text, href=address), ".")


def _write_filters(visit: Visit, heads: Sequence[ChangeHead]) -> Markup | None:
    """Return links that choose an app, and the new changes alone."""
    apps = list(dict.fromkeys(name_author(head.author) for head in heads))
    if not apps:
        return None
    app, show = visit.query.text("app"), visit.query.text("show")
    links = [_write_choice(visit, "All apps", not app, show=show)]
    links += [_write_choice(visit, name, name == app, app=name, show=show) for name in apps]
    states = [
        _write_choice(visit, "All", show != "new", app=app),
        _write_choice(visit, "Only new", show == "new", app=app, show="new"),
    ]
    return element(
        "div",
        element("nav", *links, class_="choices", aria_label="App") if len(apps) > 1 else None,
        element("nav", *states, class_="choices", aria_label="Seen or new"),
        class_="row no-print",
    )


def _write_choice(visit: Visit, text: str, is_chosen: bool, **fields: str) -> Markup:
    address = visit.link(NAME, **fields)
    return element("a", text, href=address, aria_current="true" if is_chosen else None)


def _write_days(visit: Visit, heads: Sequence[ChangeHead]) -> Iterator[Markup]:
    """Yield the changes under a title for each day, the new ones first."""
    by_number = {
        recorded.number: recorded
        for recorded in visit.vault.journal.list_numbered([head.number for head in heads])
    }

    def place(head: ChangeHead) -> tuple[bool, str]:
        return is_new(head), write_day(head.time)

    for (new, day), of_day in groupby(heads, place):
        label = element("span", " new", class_="badge") if new else None
        yield element("h2", day, " ", label)
        for author, of_author in groupby(of_day, lambda head: name_author(head.author)):
            items = (
                _write_item(visit, head, by_number[head.number])
                for head in of_author
                if head.number in by_number
            )
            yield element("h3", author, class_="app")
            yield element("ul", *items, class_="plain changes")


def _write_item(visit: Visit, head: ChangeHead, recorded: Recorded) -> Markup:
    text = describe_steps(recorded.steps, visit.vault.catalog.path_of)
    return element(
        "li",
        element("span", write_time(head.time), class_="time quiet"),
        element("a", text, href=visit.link(NAME, change=head.number)),
        _write_state(head),
    )


def _write_state(head: ChangeHead) -> Markup | None:
    """Return what became of a change, or which one it takes back."""
    if head.undone_by is not None:
        return element("span", "taken back", class_="badge")
    if head.undoes is not None:
        part = "a part of " if head.undoes.is_part else ""
        return element("span", f"takes back {part}change {head.undoes.change}", class_="badge")
    return None


def _write_more(visit: Visit, total: int, first: int) -> Markup | None:
    following = first + PAGE
    if following >= total:
        return None
    query = visit.query
    address = visit.link(NAME, app=query.text("app"), show=query.text("show"), from_=following)
    return element("p", element("a", f"Show more ({total - following:,})", href=address))
