"""A file that has changed since: what the change did, and what happened afterwards, as two sides
(UI-37)."""

from __future__ import annotations

import sys
from contextlib import suppress

from obsidian_mcp.core.files.ports import ChangeHead, Recorded
from obsidian_mcp.core.operations.history import recall
from obsidian_mcp.core.operations.plan import FileChange, changed_files
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments, NoteNotFound
from obsidian_mcp.serve.http.console.markup import Markup, element, join
from obsidian_mcp.serve.http.console.part import ConsolePage, Visit

from .file_card import LINES_ALONE, NAME, find_file, review_change
from .hunk_view import take_hunks, write_hunk


def conflict_page(visit: Visit, head: ChangeHead) -> ConsolePage:
    """Return the page on which a person chooses. Raises: ChangeNotFound, InvalidArguments."""
    recorded = recall(visit.vault, head.number)
    file = find_file(visit, recorded, visit.query.text("path"))
    now = _read_present(visit.vault, recorded, file)
    sides = element(
        "div",
        _write_side(
            f"What change {head.number} did",
            FileChange(file.path, "modify", file.before, file.after),
        ),
        _write_side("What happened since", FileChange(file.path, "modify", file.after, now)),
        class_="sides",
    )
    name = file.to or file.path
    reason = (
        " was changed in the same lines since, which cannot be merged. Choose one of them:"
        if _is_unmerged(visit)
        else " has changed since, so nothing was taken back. Choose what it should be:"
    )
    intro = element(
        "p",
        element("strong", name),
        reason,
        class_="notice",
        role="alert",
    )
    back = visit.link(NAME, change=head.number)
    has_others = len(changed_files(recorded, visit.vault.catalog.path_of)) > 1
    choices = _write_choices(visit, file, now, back, has_others=has_others)
    body = join(intro, choices, sides)
    return ConsolePage("Which one counts?", body, 409)


def touches(visit: Visit, number: int, path: str) -> bool:
    """Return whether a change touched a file, so that its two sides can be shown. Raises:
    ChangeNotFound."""
    try:
        find_file(visit, recall(visit.vault, number), path)
    except InvalidArguments:
        return False
    return True


def _is_unmerged(visit: Visit) -> bool:
    """Return whether the person has tried to merge, in vain."""
    return bool(visit.query.text("unmerged"))


def _read_present(vault: Vault, recorded: Recorded, file: FileChange) -> bytes | None:
    """Return what a file holds now; None where it is gone."""
    paths = {file.path, file.to}
    disks = [
        step.target or step.disk
        for step in recorded.steps
        if paths & {vault.catalog.path_of(disk) for disk in (step.disk, step.target) if disk}
    ]
    for disk in reversed(disks):
        with suppress(NoteNotFound):
            return vault.files.read_file(disk, sys.maxsize)
    return None


def _write_choices(
    visit: Visit, file: FileChange, now: bytes | None, back: str, *, has_others: bool
) -> Markup:
    """Return the buttons; `has_others`: the change touched other files, too."""
    fields = {
        "do": "undo",
        "change": visit.query.text("change"),
        "path": visit.query.text("only"),
        "hunk": visit.query.text("hunk"),
    }
    choices = [
        visit.write_form(NAME, element("button", "Put the old text back"), wins="undo", **fields)
    ]
    is_mergeable = file.is_text and None not in (file.before, file.after, now)
    if is_mergeable and not _is_unmerged(visit):
        button = element("button", "Take it back, and keep what happened since", class_="main")
        choices.insert(0, visit.write_form(NAME, button, wins="both", **fields))
    if not fields["path"] and has_others:
        button = element("button", "Leave this file, undo the others")
        choices.append(visit.write_form(NAME, button, wins="current", **fields))
    choices.append(element("a", "Leave everything as it is", href=back, class_="button"))
    return element("div", *choices, class_="row")


def _write_side(title: str, change: FileChange) -> Markup:
    """Return one difference under its title."""
    return element("section", element("h2", title), _write_difference(change), class_="side")


def _write_difference(change: FileChange) -> Markup:
    if change.after is None:
        return element("p", "The file was moved or deleted.")
    review = review_change(change)
    if review is None:
        return element("p", "It is not a text.")
    if not review.hunks:
        return element("p", "Nothing of its text.")
    fitting = take_hunks(review.hunks, LINES_ALONE)
    written = [write_hunk(hunk) for hunk in fitting]
    if len(fitting) < len(review.hunks):
        written.append(element("p", "There is more than is shown here.", class_="quiet"))
    return join(*written)
