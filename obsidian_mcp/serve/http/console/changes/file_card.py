"""One file of a change: what became of it, and what can be taken back of it (UI-31 to UI-35)."""

from __future__ import annotations

from typing import Final

from obsidian_mcp.core.files.ports import Recorded
from obsidian_mcp.core.operations.plan import FileChange, changed_files
from obsidian_mcp.core.review.file_review import FileReview, review_file
from obsidian_mcp.core.text.text import Text, write_count
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.http.console.markup import Markup, element, join
from obsidian_mcp.serve.http.console.part import Visit

from .hunk_view import take_hunks, write_hunk

NAME: Final = "changes"
KINDS: Final = {"create": "New", "modify": "Changed", "move": "Moved", "delete": "Deleted"}
MOST_LINES: Final = 300
"""Lines of one file on a page with several; a page of the file alone shows LINES_ALONE."""
LINES_ALONE: Final = 3_000


def find_file(visit: Visit, recorded: Recorded, path: str) -> FileChange:
    """Return what a change did to the file at a path, before it or after it. Raises:
    InvalidArguments where it did not touch that."""
    for file in changed_files(recorded, visit.vault.catalog.path_of):
        if path in (file.path, file.to):
            return file
    raise InvalidArguments(f"Change {recorded.number} did not touch {path!r}.", argument="path")


def write_file(
    visit: Visit,
    change: int,
    file: FileChange,
    *,
    may_undo: bool,
    is_alone: bool = False,
    heading: str = "h2",
) -> Markup:
    """Return the card of a file. `may_undo`: its change can be taken back; `is_alone`: it is the
    only one of its change, or on its page; `heading`: the element of its name."""
    review = review_change(file)
    undo_file = None
    if may_undo and not is_alone:
        undo_file = _button(
            visit, "Undo this file", f"Undo this file: {file.path}", change=change, path=file.path
        )
    title = [element("span", file.path, class_="path")]
    if file.to:
        title.append(element("span", " → ", element("span", file.to, class_="path")))
    head = element(
        "div",
        element(
            heading, *title, " ", element("span", KINDS[file.kind], class_="badge"), class_="grow"
        ),
        _versions_link(visit, change, file) if review is not None else None,
        undo_file,
        class_="row card-head",
    )
    body = (
        _write_binary(file)
        if review is None
        else _write_review(visit, change, file, review, may_undo=may_undo, is_alone=is_alone)
    )
    return element("article", head, body, class_="card")


def review_change(file: FileChange) -> FileReview | None:
    """Return the review of a text; None for what is no text."""
    if not file.is_text:
        return None
    before, after = (Text.decode(data or b"").body for data in (file.before, file.after))
    return review_file(file.to or file.path, before, after)


def _write_binary(file: FileChange) -> Markup:
    sizes = [f"{len(data):,} bytes" for data in (file.before, file.after) if data is not None]
    return element("p", f"Not a text: {' → '.join(sizes)}.", class_="quiet inside")


def _write_review(
    visit: Visit,
    change: int,
    file: FileChange,
    review: FileReview,
    *,
    may_undo: bool,
    is_alone: bool,
) -> Markup:
    if not review.hunks:
        return element("p", "Its text does not change.", class_="quiet inside")
    has_parts = may_undo and file.before is not None and file.after is not None
    parts: list[Markup] = [*_write_properties(review), *_write_links(review)]
    first = visit.query.number("hunk", 1) if is_alone else 1
    hunks = take_hunks(review.hunks[first - 1 :], LINES_ALONE if is_alone else MOST_LINES)
    for hunk in hunks:
        actions = []
        if has_parts and len(review.hunks) > 1:
            label = f"Undo this part: {hunk.number} of {file.path}"
            part = {"change": change, "hunk": hunk.number}
            actions = [_button(visit, "Undo this part", label, path=file.path, **part)]
        parts.append(write_hunk(hunk, *actions))
    following = first + len(hunks)
    if following <= len(review.hunks):
        count = write_count(len(review.hunks) - following + 1, "more place")
        address = visit.link(NAME, change=change, path=file.path, hunk=following)
        parts.append(element("p", element("a", f"Show {count}", href=address), class_="inside"))
    return join(*parts)


def _write_properties(review: FileReview) -> list[Markup]:
    if not review.properties:
        return []
    items = (
        element(
            "div",
            element("dt", change.key),
            element(
                "dd",
                _write_value("del", change.before),
                element("span", " becomes ", class_="hidden-text"),
                _write_value("ins", change.after),
            ),
        )
        for change in review.properties
    )
    return [
        element("p", "Properties", class_="inside place"),
        element("dl", *items, class_="inside"),
    ]


def _write_value(name: str, value: str | None) -> Markup:
    if value is None:
        return element("span", "not there", class_="quiet")
    return element(name, value or "(empty)")


def _write_links(review: FileReview) -> list[Markup]:
    if not review.links:
        return []
    items = (
        element(
            "li",
            element("q", link.text),
            " leads to ",
            element("ins", link.after),
            ", before to ",
            element("del", link.before),
        )
        for link in review.links
    )
    return [
        element("p", "Links that read the same and lead elsewhere", class_="inside place"),
        element("ul", *items, class_="inside plain"),
    ]


def _versions_link(visit: Visit, change: int, file: FileChange) -> Markup:
    address = visit.link(NAME, change=change, path=file.path, view="versions")
    return element("a", "Both versions", href=address, class_="no-print")


def _button(
    visit: Visit, text: str, label: str, *, change: int, path: str, hunk: int | None = None
) -> Markup:
    """Return a button that takes back a part of a change; `label` says which one, for those who
    hear it alone."""
    button = element("button", text, aria_label=label)
    return visit.write_form(NAME, button, do="undo", change=change, path=path, hunk=hunk)
