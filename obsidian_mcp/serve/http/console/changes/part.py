"""The part Changes of the console: which page an address means, and what its forms do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from obsidian_mcp.core.files.ports import ChangeHead
from obsidian_mcp.core.operations.conversations import conversation_of, list_visible_heads
from obsidian_mcp.core.operations.undo import UndoneChange, Wins, undo
from obsidian_mcp.errors import ChangeNotFound, InvalidArguments, UndoConflict
from obsidian_mcp.serve.http.console.fields import RequestFields
from obsidian_mcp.serve.http.console.part import ConsolePage, Part, Visit

from .change_page import change_page, review_fields, review_page, undoable_numbers
from .conflict_page import conflict_page, touches
from .file_card import NAME
from .list_page import is_new, list_page
from .versions_page import version_document, versions_page
from .wording import name_author, write_moment

_WINS: Final[dict[str, Wins]] = {"undo": "undo", "current": "current", "both": "both"}


class ChangesPart(Part):
    """What was changed in a vault, by whom, and taking it back."""

    name = NAME
    title = "Changes"

    def show(self, visit: Visit) -> ConsolePage:
        """Return the list, one change, a file of it, or several changes as one review."""
        heads = list_visible_heads(visit.vault)
        number = visit.query.number("change")
        if not number:
            reviewed = _changes_of_review(visit.query, heads)
            if reviewed is None:
                return list_page(visit, heads)
            return review_page(visit, _title_of(visit.query, reviewed), reviewed)
        head = _find_head(heads, number)
        match visit.query.text("view"):
            case "conflict":
                return conflict_page(visit, head)
            case "versions":
                return versions_page(visit, head)
            case "version":
                return version_document(visit, head)
        return change_page(visit, head)

    def act(self, visit: Visit) -> str:
        """Take something back, or mark changes as seen."""
        form = visit.form
        match form.text("do"):
            case "undo":
                return _undo(visit, form.number("change"))
            case "undo-review":
                return _undo_review(visit)
            case "seen":
                return _mark_seen(visit)
        raise InvalidArguments("The form says nothing that can be done here.", argument="do")


def _find_head(heads: Sequence[ChangeHead], number: int) -> ChangeHead:
    """Raises: ChangeNotFound."""
    head = next((head for head in heads if head.number == number), None)
    if head is None:
        raise ChangeNotFound(
            f"There is no change {number}, or it was too long ago: changes are kept for 60 days.",
            change=number,
        )
    return head


def _changes_of_review(
    fields: RequestFields, heads: Sequence[ChangeHead]
) -> list[ChangeHead] | None:
    """Return the changes of the review that an address or a form names; None where it names
    none."""
    if number := fields.number("conversation"):
        return conversation_of(heads, number)
    if fields.text("since"):
        return [head for head in heads if head.number > fields.number("since")]
    return None


def _title_of(fields: RequestFields, heads: Sequence[ChangeHead]) -> str:
    if not heads:
        return "No changes"
    if fields.number("conversation"):
        return f"{name_author(heads[0].author)}, {write_moment(heads[-1].time)}"
    return f"Since {write_moment(heads[-1].time)}"


def _undo(visit: Visit, number: int) -> str:
    """Take back a change, a file or a hunk of it; where the file has changed since, the person
    chooses on another page. Raises: InvalidArguments, ChangeNotFound, AppError."""
    try:
        undone = _take_back(visit, number)
    except UndoConflict as conflict:
        return _ask_who_wins(visit, number, conflict)
    # who takes back an undo looks at what is there again, not at the undo
    undoes = undone.recorded.undoes
    subject = number if undoes is None else undoes.change
    return visit.link(NAME, change=subject, done=undone.change.change)


def _take_back(visit: Visit, number: int) -> UndoneChange:
    """Raises: InvalidArguments, ChangeNotFound, UndoConflict, AppError."""
    form = visit.form
    paths = [path] if (path := form.text("path")) else []
    hunks = [form.number("hunk")] if form.text("hunk") else []
    return undo(visit.vault, number, _wins_of(form), paths, hunks)


def _ask_who_wins(visit: Visit, number: int, conflict: UndoConflict) -> str:
    """Return the address of the page on which a person chooses. Raises: the conflict, where there
    is nothing to choose."""
    form = visit.form
    wins = _wins_of(form)
    disputed = str(conflict.data.get("path", ""))
    if wins not in ("neither", "both") or not touches(visit, number, disputed):
        raise conflict
    return visit.link(
        NAME,
        change=number,
        view="conflict",
        path=disputed,
        only=form.text("path"),
        hunk=form.text("hunk"),
        unmerged=1 if wins == "both" else None,
    )


def _wins_of(form: RequestFields) -> Wins:
    return _WINS.get(form.text("wins"), "neither")


def _undo_review(visit: Visit) -> str:
    """Take back all changes of a review, the latest first, each by a change of its own; it ends at
    the first one whose file has changed since, with the choice."""
    heads = list_visible_heads(visit.vault)
    reviewed = _changes_of_review(visit.form, heads) or []
    for number in undoable_numbers(reviewed):
        try:
            _take_back(visit, number)
        except UndoConflict as conflict:
            return _ask_who_wins(visit, number, conflict)
    return visit.link(NAME, **review_fields(visit.form))


def _mark_seen(visit: Visit) -> str:
    """Mark one change, those of a review, or all up to a number as seen."""
    form, vault = visit.form, visit.vault
    if number := form.number("change"):
        vault.journal.mark_seen([number])
        return visit.link(NAME)
    heads = list_visible_heads(vault)
    reviewed = _changes_of_review(form, heads)
    if reviewed is None:
        reviewed = [head for head in heads if head.number <= form.number("upto")]
    vault.journal.mark_seen([head.number for head in reviewed if is_new(head)])
    return visit.link(NAME)
