"""The tasks of one vault: listed, queried, changed and added (TASK-03, TASK-67, TASK-96,
TASK-130)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import cache, partial
from itertools import groupby
from operator import itemgetter

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.calendar.days import Days
from obsidian_mcp.core.expressions.answer import Page
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.settings import ENABLED_PLUGINS_FILE
from obsidian_mcp.core.index.facts import TaskFact
from obsidian_mcp.core.tasks.answer import TaskEntry, TaskPage, UpdatedTask, entry_of, page_of
from obsidian_mcp.core.tasks.environment import Dependencies, Environment
from obsidian_mcp.core.tasks.explanation import Explanation
from obsidian_mcp.core.tasks.file_date import file_date
from obsidian_mcp.core.tasks.filters import Filter
from obsidian_mcp.core.tasks.line import read_line
from obsidian_mcp.core.tasks.listing import ListRequest, list_filters
from obsidian_mcp.core.tasks.query import TasksQuery, parse_query
from obsidian_mcp.core.tasks.settings import SETTINGS_FILE, read_task_settings
from obsidian_mcp.core.tasks.statements import QueryNote
from obsidian_mcp.core.tasks.task import Task, TaskPlace, parse_line, read_task
from obsidian_mcp.core.text.call import check_each, checkpoint, may_go_on
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.vault_path import VaultPath, is_note
from obsidian_mcp.errors import InvalidArguments, NoteNotFound, NotText

# what changes tasks is imported when one is changed: a list does without the parser of notes
if TYPE_CHECKING:
    from obsidian_mcp.core.tasks.change import UpdatedNote
    from obsidian_mcp.core.tasks.task_change import TaskChange
    from obsidian_mcp.core.vault.vault import Vault

TOOL = "update_task"
MOST_TASKS = 50_000
"""Tasks that one question looks at: more would take too much memory."""
TEMPLATES_NAMED = 3
"""Templates that an answer names whose tasks are left out."""


def list_tasks(vault: Vault, request: ListRequest, query: str, page: Page) -> TaskPage:
    """Return the tasks that a request and the lines of a query leave, without those of templates
    unless the request or a line names a folder or note, or asks for paths; and say so (TASK-135).

    Raises: InvalidArguments, QueryInvalid.
    """
    from .template_texts import TemplateTexts  # loaded when it is needed

    if query.strip():  # which means what it means in the app
        return find_tasks(vault, request, query, page)
    templates = TemplateTexts(vault)
    left_out: dict[str, None] = {}

    def leaves_out(path: str) -> bool:
        is_template = templates.has(path)
        if is_template:
            left_out[path] = None
        return is_template

    found = find_tasks(vault, replace(request, leaves_out=leaves_out), query, page)
    if not left_out:
        return found
    named = name_first(list(left_out), TEMPLATES_NAMED, write=repr)
    return replace(found, note=f"Tasks of templates are left out ({named}); name one with note.")


def find_tasks(vault: Vault, request: ListRequest, query: str, page: Page) -> TaskPage:
    """Return the tasks that a request and the lines of a query leave. Raises: InvalidArguments,
    QueryInvalid."""
    source = _VaultTasks(vault)
    narrowed = parse_query(
        query, source.environment, more=list_filters(request, source.environment)
    )
    return source.page(narrowed, page)


def query_tasks(vault: Vault, text: str, this: FileEntry | None, page: Page) -> TaskPage:
    """Return what a query finds that stands in the note or canvas `this`. Raises: QueryInvalid."""
    source = _VaultTasks(vault)
    note = None
    if this is not None:
        from obsidian_mcp.core.note.parser import parse

        properties = parse(vault.read_text(this).text.body).properties if is_note(this.path) else {}
        note = QueryNote(str(this.path), properties)
    return source.page(parse_query(text, source.environment, note), page)


def update_task(
    vault: Vault,
    name: str,
    line: int | None,
    wanted: str,
    change: TaskChange,
    *,
    lane: str = "",
    etag: str = "",
    dry_run: bool = False,
) -> UpdatedTask:
    """Change one task (TASK-67, TASK-70).

    It is named by `line` in the note `name`, by `wanted` (its id, block id or text) in a note or in
    the vault, or by both. Raises: TextNotFound, TextNotUnique, InvalidArguments, NotText,
    StaleEtag, and as `Vault.find`.
    """
    if line is None and not wanted:
        raise InvalidArguments(
            "Name the task: `line`, with the note as `name`, or `task`.", argument="task"
        )
    if line is not None and not name:
        raise InvalidArguments(
            "`line` needs `name`: the note in which the task stands.", argument="name"
        )
    source = _VaultTasks(vault)
    entry = vault.find(name) if name else source.holder(wanted)
    if not is_note(entry.path):
        raise NotText(f"{str(entry.path)!r} is no note: tasks stand in notes.", path=entry.path)

    from obsidian_mcp.core.note.parser import parse
    from obsidian_mcp.core.tasks.card import update_card
    from obsidian_mcp.core.tasks.find import find_at, find_named, list_checkboxes

    def apply(body: str) -> UpdatedNote:
        boxes = list_checkboxes(str(entry.path), parse(body))
        if line is None:
            box = find_named(boxes, wanted, source.settings)
        else:
            box = find_at(boxes, line, wanted, source.settings)
        return update_card(body, box, change, source.settings, source.today, lane=lane)

    return source.write(entry, apply, etag=etag, dry_run=dry_run)


def add_task(
    vault: Vault,
    name: str,
    change: TaskChange,
    heading: str,
    *,
    daily: bool,
    etag: str = "",
    dry_run: bool = False,
) -> UpdatedTask:
    """Add a task to a note, or with `daily` to today's daily note (TASK-66).

    A periodic note is made where it is missing. Raises: InvalidArguments, SectionNotFound,
    StaleEtag, and as `Vault.find`.
    """
    if bool(name) == daily:
        raise InvalidArguments(
            "Say where to add the task: `name`, or `daily` for today's note.", argument="name"
        )
    source = _VaultTasks(vault)

    from obsidian_mcp.core.tasks import change as task_changes

    def apply(body: str) -> UpdatedNote:
        return task_changes.add_task(body, change, heading, source.settings, source.today)

    located = vault.periodic.locate("day") if daily else vault.periodic.find_by_name(name)
    if located is None:
        return source.write(vault.find(name), apply, etag=etag, dry_run=dry_run)
    if located.entry is not None:
        with suppress(NoteNotFound):  # gone since the folder was read: it is made anew
            return source.write(located.entry, apply, etag=etag, dry_run=dry_run)
    from .periodic_notes import PeriodicNotes  # loaded when it is needed

    updated: list[UpdatedNote] = []

    def apply_to_new(body: str) -> str:
        updated.append(apply(body))
        return updated[-1].body

    if dry_run:
        _, creation = PeriodicNotes(vault).plan(located, apply_to_new)
        vault.check(TOOL, [creation])
        return source.answer_update(str(located.path), updated[-1], "")
    opened = PeriodicNotes(vault).open(
        TOOL, located.rule.period, located.day.isoformat(), apply_to_new
    )
    return source.answer_update(str(located.path), updated[-1], opened.content.etag)


def _shift_lines(updated: UpdatedNote, body: str) -> UpdatedNote:
    """Return an update whose lines are numbered as they stand after a merge."""
    lines = [line.removesuffix("\r") for line in body.split("\n")]
    new = list(updated.new)
    for at in range(len(lines)):
        if new and lines[at : at + len(new)] == new:
            shift = at + 1 - min(updated.line, updated.next_line or updated.line)
            following = None if updated.next_line is None else updated.next_line + shift
            return replace(updated, body=body, line=updated.line + shift, next_line=following)
    return replace(updated, body=body)


class _VaultTasks:
    """The tasks of a vault for one call, read from the index as far as the call needs them."""

    def __init__(self, vault: Vault) -> None:
        self.settings = read_task_settings(
            vault.files.config(ENABLED_PLUGINS_FILE), vault.files.config(SETTINGS_FILE)
        )
        self.today = vault.calendar.today
        self.environment = Environment(self.settings, self.today, self.dependencies)
        self._vault = vault
        self._notice: str | None = None
        self._left_out = ""
        """A sentence about tasks that were not looked at."""
        self._dependencies: Dependencies | None = None
        self._file_date = cache(partial(file_date, settings=self.settings, today=self.today))

    def page(self, query: TasksQuery, page: Page) -> TaskPage:
        """Run a query on the tasks of the vault and return one page of what it finds."""
        result = query.run_tasks_query(self.load(query.filters))
        return page_of(
            result,
            self.dependencies(),
            page,
            explanation=query.explanation,
            incomplete=self._notice,
        )

    def load(self, filters: Sequence[Filter]) -> list[Task]:
        """Return every task that the filters may let pass, and all with an id or dependencies.

        The index is asked for lines with one of the days and marks that the filters need; the
        filters themselves run on what it returns (TASK-130).
        """
        days = self._days(filters)
        without = [
            status.symbol
            for status in self.settings.statuses.statuses
            if not all(
                part.status(self.settings.statuses.get(status.symbol))
                for part in filters
                if part.status
            )
        ]
        answer = self._vault.graph.tasks(partial(self._read_tasks, filters), days, without)
        tasks = answer.value
        self._notice = " ".join(filter(None, (answer.notice, self._left_out))) or None
        self._dependencies = Dependencies.collect(
            task for task in tasks if task.id or task.depends_on
        )
        return tasks

    def _read_tasks(
        self, filters: Sequence[Filter], located: Iterable[tuple[VaultPath, TaskFact]]
    ) -> list[Task]:
        """Return the tasks that the filters may let pass, as many as time and memory allow."""
        tasks: list[Task] = []
        self._left_out = ""
        on_path = [part.path for part in filters if part.path is not None]
        for path, facts in groupby(located, key=itemgetter(0)):
            checkpoint()
            if len(tasks) >= MOST_TASKS or not may_go_on():
                self._left_out = (
                    f"Only {len(tasks)} tasks were looked at, up to the note {path}: this answer "
                    "has none of the others. Ask for a folder, a tag or days."
                )
                break
            is_wanted = all(matches(path) for matches in on_path)
            for _, fact in facts:
                if is_wanted or fact.linked:
                    place = TaskPlace(path, fact.line + 1, fact.heading)
                    task = read_task(fact.text, place, self.settings, self._file_date(path))
                    if task is not None:
                        tasks.append(task)
        return tasks

    def dependencies(self) -> Dependencies:
        """Return who waits for whom in the vault."""
        if self._dependencies is None:
            self.load([_NOTHING])
        assert self._dependencies is not None  # noqa: S101  set by load
        return self._dependencies

    def tasks_in_note(self, path: str, body: str, lines: Collection[int | None]) -> dict[int, Task]:
        """Return the checkboxes in some lines of a note with this text, by line.

        Those that lack the global filter are among them: a caller may name any checkbox.
        """
        from obsidian_mcp.core.note.parser import parse
        from obsidian_mcp.core.tasks.find import list_checkboxes

        note = parse(body)
        tasks_by_line: dict[int, Task] = {}
        for box in list_checkboxes(path, note):
            line = read_line(box.text, self.settings.notation) if box.line in lines else None
            if line is not None:
                above = (
                    heading.text
                    for heading in reversed(note.outline)
                    if heading.line < box.line - 1
                )
                place = TaskPlace(path, box.line, next(above, None))
                tasks_by_line[box.line] = parse_line(
                    line, place, self.settings, self._file_date(path)
                )
        return tasks_by_line

    def _days(self, filters: Sequence[Filter]) -> tuple[str, str] | None:
        """Return the days of which a task must have one in its line; None for no such range.

        A date that a task takes from its note's name stands in no line, so then every line counts.
        """
        ranges = [part.days for part in filters if part.days is not None]
        if not ranges or self.settings.use_filename_as_scheduled_date:
            return None
        narrowest = min(ranges, key=lambda days: (days.last - days.first).days)
        return narrowest.first.isoformat(), narrowest.last.isoformat()

    def holder(self, wanted: str) -> FileEntry:
        """Return the note of the one task of the vault that is named.

        A task of a template counts only where no other is meant. Raises: TextNotFound,
        TextNotUnique.
        """
        from obsidian_mcp.core.tasks.find import Checkbox, could_be, find_named

        # another task of that name may stand in a file that is not indexed (INDEX-43)
        self._vault.indexer.complete()

        def read_boxes(located: Iterable[tuple[VaultPath, TaskFact]]) -> list[Checkbox]:
            return [
                Checkbox(str(path), fact.line + 1, fact.text)
                for path, fact in check_each(located)
                if could_be(fact.text, wanted)
            ]

        boxes = self._vault.graph.tasks(read_boxes).value
        if len(boxes) > 1:
            from .template_texts import TemplateTexts  # loaded when it is needed

            is_template = TemplateTexts(self._vault).has
            boxes = [box for box in boxes if not is_template(box.path)] or boxes
        return self._vault.find(find_named(boxes, wanted, self.settings).path)

    def write(
        self, entry: FileEntry, apply: Callable[[str], UpdatedNote], *, etag: str, dry_run: bool
    ) -> UpdatedTask:
        """Change a note by `apply`, and return what became of the task."""
        updated_notes: list[UpdatedNote] = []

        def change(body: str) -> str:
            updated_notes.append(apply(body))
            return updated_notes[-1].body

        edited = self._vault.edit(TOOL, entry, change, etag, dry_run=dry_run)
        updated = updated_notes[-1]
        if edited.merged:
            updated = _shift_lines(updated, edited.after.text.body)
        answer = self.answer_update(str(entry.path), updated, edited.after.etag)
        return replace(answer, merged=edited.merged or None)

    def answer_update(self, path: str, updated: UpdatedNote, etag: str) -> UpdatedTask:
        """Return the answer about a task in a note that has the updated text."""
        own = self.tasks_in_note(path, updated.body, (updated.line, updated.next_line))
        is_linked = any(task.id or task.depends_on for task in own.values())
        dependencies = self.dependencies() if is_linked else Dependencies.collect(())

        def entry_at(line: int | None) -> TaskEntry | None:
            task = None if line is None else own.get(line)
            return None if task is None else entry_of(task, dependencies)

        return UpdatedTask(
            path,
            updated.line,
            [to_printable(line) for line in updated.old],
            [to_printable(line) for line in updated.new],
            changed=bool(updated.lane) or updated.old != updated.new,
            etag=etag,
            task=None if updated.deleted else entry_at(updated.line),
            next=entry_at(updated.next_line),
            deleted=updated.deleted or None,
            lane=updated.lane or None,
            warnings=[to_printable(warning) for warning in updated.warnings] or None,
        )


_NOTHING = Filter(lambda _: False, Explanation(""), days=Days(date.max, date.min))
