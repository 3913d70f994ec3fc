"""List, complete, change and add tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from obsidian_mcp.app import App
from obsidian_mcp.core.expressions.answer import Page
from obsidian_mcp.core.operations import tasks
from obsidian_mcp.core.tasks.answer import TaskPage, UpdatedTask, shorten_page, without_repeats
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.errors import InvalidArguments

from .arguments import Argument, DryRun, Etag, Limit, Offset, VaultName, VaultNames
from .registry import tool

TaskAction = Literal["update", "add"]


LEVELS = ("highest", "high", "medium", "none", "low", "lowest")
ACTIONS = ("keep", "delete", "")
"""What becomes of a task that is done; empty removes the field."""


@tool(title="List tasks")
def list_tasks(
    app: App,
    status: Annotated[
        str,
        Argument(
            description="todo (default), done, all, in_progress, on_hold, cancelled, non_task, a "
            "symbol"
        ),
    ] = "",
    due: Annotated[
        str,
        Argument(description="today, this week, last 7 days, on or after 2026-11-30, none, any"),
    ] = "",
    scheduled: Annotated[str, Argument(description="As due")] = "",
    start: Annotated[str, Argument(description="As due")] = "",
    done: Annotated[str, Argument(description="Completed then")] = "",
    created: Annotated[str, Argument(description="As due")] = "",
    cancelled: Annotated[str, Argument(description="As due")] = "",
    happens: Annotated[str, Argument(description="start, scheduled or due")] = "",
    priority: Annotated[str, Argument(description="high, above none, not low …")] = "",
    tag: Annotated[str, Argument(description="Or one below")] = "",
    folder: Annotated[str, Argument(description="Below this folder")] = "",
    note: Annotated[str, Argument(description="Of this note")] = "",
    heading: Annotated[str, Argument(description="Part of its heading")] = "",
    text: Annotated[str, Argument(description="Part of its text")] = "",
    blocked: Annotated[bool | None, Argument(description="Waiting for an open task")] = None,
    query: Annotated[str, Argument(description="Lines of a Tasks query")] = "",
    limit: Limit = 50,
    offset: Offset = 0,
    vault: VaultNames = "",
) -> TaskPage:
    """List tasks (todos, checkboxes), most urgent first."""
    from obsidian_mcp.core.tasks.listing import ListRequest

    opened = app.vaults.get(vault, listed=False)
    below = opened.folders.find_folder(folder)
    wants_closed = any(day.strip().lower() not in ("", "none") for day in (done, cancelled))
    request = ListRequest(
        status=status or ("all" if query.strip() or wants_closed else "todo"),
        dates={
            "due": due,
            "scheduled": scheduled,
            "start": start,
            "done": done,
            "created": created,
            "cancelled": cancelled,
            "happens": happens,
        },
        priority=priority,
        tag=tag,
        folder=below or "",
        path=str(opened.find(note).path) if note else "",
        heading=heading,
        text=text,
        blocked=blocked,
    )
    page = tasks.list_tasks(opened, request, query, Page(limit, offset))
    if below and not page.total:
        opened.folders.describe_folder(below)
    return page if current_call.get().wants_all else shorten_page(page, offset)


@tool(title="Update task", writes=True, destructive=True)
def update_task(
    app: App,
    name: Annotated[str, Argument(description="Note; else any")] = "",
    line: Annotated[int | None, Argument(description="1-based", ge=1)] = None,
    task: Annotated[str, Argument(description="Its id, ^block-id, line or part of its text")] = "",
    action: Annotated[TaskAction, Argument(description="add: a new task with text")] = "update",
    status: Annotated[
        str, Argument(description="toggle, done, cancelled, todo, in_progress, on_hold, a symbol")
    ] = "",
    due: Annotated[
        str | None,
        Argument(description="2026-11-30, next friday, later: +1 week; empty removes it"),
    ] = None,
    scheduled: Annotated[str | None, Argument(description="As due")] = None,
    start: Annotated[str | None, Argument(description="As due")] = None,
    created: Annotated[str | None, Argument(description="As due")] = None,
    priority: Annotated[
        str | None, Argument(description="none removes it", suggested=LEVELS)
    ] = None,
    recurrence: Annotated[
        str | None, Argument(description="every Monday, every month when done")
    ] = None,
    on_completion: Annotated[
        str | None, Argument(description="delete: once done", suggested=ACTIONS)
    ] = None,
    new_id: Annotated[str | None, Argument(description="Id that others depend on")] = None,
    depends_on: Annotated[list[str] | None, Argument(description="Ids")] = None,
    text: Annotated[str | None, Argument(description="New description")] = None,
    section: Annotated[str, Argument(description="add: below this heading")] = "",
    lane: Annotated[str, Argument(description="To this Kanban lane")] = "",
    daily: Annotated[bool, Argument(description="add: to the daily note")] = False,
    etag: Etag = "",
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> UpdatedTask:
    """Complete (tick off), change or add a task; a recurring one recurs."""
    from obsidian_mcp.core.tasks.task_change import TaskChange

    opened = app.vaults.get(vault)
    change = TaskChange(
        status=status,
        due=due,
        scheduled=scheduled,
        start=start,
        created=created,
        priority=priority,
        recurrence=recurrence,
        on_completion=on_completion,
        new_id=new_id,
        depends_on=depends_on,
        text=text,
    )
    if action == "add":
        section = section or lane
        if line is not None or task:
            raise InvalidArguments(
                "`line` and `task` name a task that is there; a new one has `text`.",
                argument="task",
            )
        return _without_repeats(
            tasks.add_task(opened, name, change, section, daily=daily, etag=etag, dry_run=dry_run)
        )
    if section or daily:
        raise InvalidArguments(
            "`section` and `daily` are for action add.", argument="section" if section else "daily"
        )
    return _without_repeats(
        tasks.update_task(opened, name, line, task, change, lane=lane, etag=etag, dry_run=dry_run)
    )


def _without_repeats(updated: UpdatedTask) -> UpdatedTask:
    """Return what a model needs to know of a change, of which `new` has the lines (TASK-133)."""
    if current_call.get().wants_all:
        return updated
    following = updated.next and replace(without_repeats(updated.next), due=updated.next.due)
    return replace(updated, task=None, next=following)
