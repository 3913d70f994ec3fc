"""One change, or several of them as one review (UI-31, UI-35, UI-36)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from obsidian_mcp.core.files.ports import ChangeHead, Recorded
from obsidian_mcp.core.operations.history import recall
from obsidian_mcp.core.operations.plan import FileChange, changed_files
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.http.console.fields import RequestFields
from obsidian_mcp.serve.http.console.markup import Markup, element, join
from obsidian_mcp.serve.http.console.part import ConsolePage, Visit

from .file_card import NAME, write_file
from .list_page import is_new
from .wording import describe_steps, name_author, write_moment, write_time

FILES: Final = 20
"""Files on a page."""
CHANGES: Final = 20
"""Changes of a review on a page."""


def change_page(visit: Visit, head: ChangeHead) -> ConsolePage:
    """Return the page of one change, or of one file of it. Raises: ChangeNotFound,
    InvalidArguments."""
    recorded = recall(visit.vault, head.number)
    files = changed_files(recorded, visit.vault.catalog.path_of)
    path = visit.query.text("path")
    chosen = [file for file in files if path in ("", file.path, file.to)]
    if not chosen:
        raise InvalidArguments(f"Change {head.number} did not touch {path!r}.", argument="path")
    first = visit.query.number("from")
    may_undo = head.undone_by is None
    cards = (
        write_file(
            visit,
            head.number,
            file,
            may_undo=may_undo,
            is_alone=bool(path) or len(files) == 1,
        )
        for file in chosen[first : first + FILES]
    )
    body = join(
        _write_back(visit),
        _write_facts(head),
        write_result(visit),
        _write_actions(visit, head, files, path),
        *cards,
        _write_more(visit, head, len(chosen), first),
    )
    return ConsolePage(describe_steps(recorded.steps, visit.vault.catalog.path_of), body)


def review_page(visit: Visit, title: str, heads: Sequence[ChangeHead]) -> ConsolePage:
    """Return several changes as one review, the first one first."""
    in_order = sorted(heads, key=lambda head: head.number)
    first = visit.query.number("from")
    page = in_order[first : first + CHANGES]
    body = [_write_back(visit), write_result(visit), _write_review_actions(visit, in_order)]
    body += [section for head in page for section in _write_section(visit, head)]
    following = first + CHANGES
    if following < len(in_order):
        address = visit.link(NAME, **review_fields(visit.query), from_=following)
        count = write_count(len(in_order) - following, "more change")
        body.append(element("p", element("a", f"Show {count}", href=address)))
    return ConsolePage(title, join(*body))


def review_fields(fields: RequestFields) -> dict[str, str]:
    """Return those fields of an address or a form that name a review."""
    return {name: fields.text(name) for name in ("conversation", "since")}


def write_result(visit: Visit) -> Markup | None:
    """Return what the person has just done, as far as the journal confirms it."""
    number = visit.query.number("done")
    undo = _find_change(visit, number) if number else None
    if undo is None or undo.undoes is None or undo.undone_by is not None:
        return None
    button = element("button", "Bring it back")
    again = visit.write_form(NAME, button, do="undo", change=number)
    earlier = _find_change(visit, undo.undoes.change)
    if earlier is not None and earlier.undoes is not None:
        text, again = "What was taken back is there again.", Markup()
    elif undo.undoes.is_part:
        text = f"A part of change {undo.undoes.change} was taken back."
    else:
        text = f"Change {undo.undoes.change} was taken back."
    return element(
        "div", element("p", text, class_="grow"), again, class_="row done", role="status"
    )


def _find_change(visit: Visit, number: int) -> Recorded | None:
    return next(iter(visit.vault.journal.list_numbered([number])), None)


def _write_back(visit: Visit) -> Markup:
    return element("p", element("a", "All changes", href=visit.link(NAME)), class_="no-print")


def _write_facts(head: ChangeHead) -> Markup:
    facts = [write_moment(head.time), name_author(head.author), f"change {head.number}"]
    return element("p", " · ".join(facts), class_="meta")


def _write_actions(
    visit: Visit, head: ChangeHead, files: Sequence[FileChange], path: str
) -> Markup:
    """Return what can be done with the whole change."""
    actions: list[Markup] = []
    if head.undone_by is not None:
        actions += _write_undone_by(visit, head.undone_by)
    elif path and len(files) > 1:
        link = visit.link(NAME, change=head.number)
        actions.append(_undo_file(visit, head, path))
        actions.append(element("a", f"The whole change ({len(files)} files)", href=link))
    elif head.undoes is not None:
        actions.append(_undo_all(visit, head, "Bring back what this took back"))
    else:
        actions.append(
            _undo_all(visit, head, "Undo all of it" if len(files) > 1 else "Undo this change")
        )
    if is_new(head):
        button = element("button", "Mark as seen")
        actions.append(visit.write_form(NAME, button, do="seen", change=head.number))
    if head.undoes is not None:
        link = visit.link(NAME, change=head.undoes.change)
        part = "a part of " if head.undoes.is_part else ""
        text = element("a", f"change {head.undoes.change}", href=link)
        actions.append(element("span", f"It took back {part}", text, "."))
    return element("div", *actions, class_="row")


def _write_undone_by(visit: Visit, number: int) -> list[Markup]:
    """Return which undo has taken a change back; nothing where `write_result` says so already."""
    if number == visit.query.number("done"):
        return []
    text = element("a", f"change {number}", href=visit.link(NAME, change=number))
    return [element("p", "This was taken back by ", text, ".", class_="notice")]


def _undo_all(visit: Visit, head: ChangeHead, text: str) -> Markup:
    button = element("button", text, class_="main")
    return visit.write_form(NAME, button, do="undo", change=head.number)


def _undo_file(visit: Visit, head: ChangeHead, path: str) -> Markup:
    button = element("button", "Undo this file", class_="main")
    return visit.write_form(NAME, button, do="undo", change=head.number, path=path)


def _write_more(visit: Visit, head: ChangeHead, total: int, first: int) -> Markup | None:
    following = first + FILES
    if following >= total:
        return None
    address = visit.link(NAME, change=head.number, from_=following)
    count = write_count(total - following, "more file")
    return element("p", element("a", f"Show {count}", href=address))


def _write_review_actions(visit: Visit, heads: Sequence[ChangeHead]) -> Markup:
    """Return what can be done with all changes of a review."""
    named = review_fields(visit.query)
    actions = []
    if any(_is_undoable(head) for head in heads):
        button = element("button", "Undo all of these", class_="main")
        actions.append(visit.write_form(NAME, button, do="undo-review", **named))
    if any(map(is_new, heads)):
        button = element("button", "Mark these as seen")
        actions.append(visit.write_form(NAME, button, do="seen", **named))
    return element("div", *actions, class_="row")


def _is_undoable(head: ChangeHead) -> bool:
    return head.undone_by is None and head.undoes is None


def _write_section(visit: Visit, head: ChangeHead) -> Iterator[Markup]:
    recorded = recall(visit.vault, head.number)
    link = visit.link(NAME, change=head.number)
    path_of = visit.vault.catalog.path_of
    yield element("h2", element("a", describe_steps(recorded.steps, path_of), href=link))
    facts = f"{write_time(head.time)} · change {head.number}"
    yield element("p", facts, class_="meta")
    if head.undone_by is not None:
        yield element("p", "This was taken back.", class_="notice")
        return
    files = changed_files(recorded, path_of)
    for file in files[:FILES]:
        yield write_file(visit, head.number, file, may_undo=True, heading="h3")
    if len(files) > FILES:
        count = write_count(len(files) - FILES, "more file")
        yield element("p", element("a", f"Show {count}", href=visit.link(NAME, change=head.number)))


def undoable_numbers(heads: Sequence[ChangeHead]) -> list[int]:
    """Return the changes of a review that can be taken back, the latest first."""
    numbers = (head.number for head in heads if _is_undoable(head))
    return sorted(numbers, reverse=True)
