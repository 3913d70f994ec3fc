"""Show a change before or after it is made, and make a planned one (specs/views.md, PLAN-…).

A view shows the change to the user, who applies or undoes it by a button. The view then calls
`plan_diff` and `apply_plan`, which are no tools for models (VIEW_TOOLS without a view of their
own).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from obsidian_mcp.app import App
from obsidian_mcp.core.calendar.timestamp import timestamp
from obsidian_mcp.core.files.ports import Recorded
from obsidian_mcp.core.operations import history
from obsidian_mcp.core.operations.plan import FileChange, Plan, changed_files
from obsidian_mcp.core.operations.plans import Plans
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import ChangeNotFound, InvalidArguments

from .arguments import Argument, VaultName
from .offer import CONFIRM, PREFIX, offer_of
from .paging import json_size, take_fitting_items
from .registry import TOOLS, VIEW_TOOLS, call, tool

PAGE_BYTES = 9_000
"""JSON of the files on one page of a change: with the rest it stays below the 10 000 that a model
should see."""
HUNK_BYTES = 60_000
"""JSON of the changed lines of one file."""
LINE_CHARACTERS = 4_000
"""Of one changed line."""

PlanId = Annotated[str, Argument(description="Plan, from obsidian_show_changes")]


@tool(title="Show changes", among=VIEW_TOOLS, view="changes")
def show_changes(
    app: App,
    tool: Annotated[str, Argument(description="To plan")] = "",
    arguments: Annotated[dict[str, Any], Argument(description="Of that tool")] = {},  # noqa: B006
    change: Annotated[int, Argument(description="Made; 0: the last", ge=0)] = 0,
    vault: VaultName = "",
) -> dict[str, Any]:
    """Opens a planned or made change for the user, to apply or undo."""
    opened = app.vaults.get(vault or str(arguments.get("vault") or ""))
    if not tool:
        return _shown_change(
            opened, history.recall(opened, change) if change else history.latest_own_change(opened)
        )
    if change:
        raise InvalidArguments("Give tool or change, not both.", argument="change")
    plan = _plan(app, opened, tool, arguments)
    if plan is None:
        return {
            "view": "changes",
            "tool": tool,
            "summary": "This would change nothing.",
            "files": [],
            "total": 0,
        }
    return _shown_plan(opened, plan)


def _plan(app: App, vault: Vault, name: str, arguments: dict[str, Any]) -> Plan | None:
    offered = offer_of(app.config).usable_entries().values()
    usable = [entry.name for entry in offered if not entry.read_only and not entry.needs_app]
    full_name = name if name in usable else f"{PREFIX}{name}"
    if full_name not in usable:
        raise InvalidArguments(
            f"{name!r} is no tool whose changes can be planned. These are: {', '.join(usable)}.",
            argument="tool",
        )
    # The person who applies the plan is the one who is to agree (POL-04): until then nothing is
    # written.
    given = {key: value for key, value in arguments.items() if key != "dry_run"} | {CONFIRM: True}
    return vault.get_or_make(Plans).draft(lambda: call(app, full_name, given))


def _describe_file(file: FileChange, state: str, needs: str | None = None) -> dict[str, Any]:
    """Return one file of a change, with what became of it: pending, applied or stale."""
    added, removed = file.counts()
    data = {"path": file.path, "to": file.to, "op": file.kind, "added": added, "removed": removed}
    data |= {"state": state, "needs": needs, "binary": None if file.is_text else True}
    return {key: value for key, value in data.items() if value is not None}


def _shown_plan(vault: Vault, plan: Plan, cursor: int = 0) -> dict[str, Any]:
    plans = vault.get_or_make(Plans)
    files = plans.files(plan)
    shown = (
        _describe_file(file, plans.state(plan, file.path), plans.needs(plan, file.path))
        for file in files[cursor:]
    )
    expires = timestamp(int((time.time() + plans.seconds_left(plan)) * 1e9))
    head = {
        "plan": plan.id,
        "tool": plan.tool,
        "summary": _summary(plan.tool, files),
        "expires": expires,
    }
    return _page(vault, head, shown, len(files), cursor)


def _shown_change(vault: Vault, recorded: Recorded, cursor: int = 0) -> dict[str, Any]:
    files = changed_files(recorded, vault.catalog.path_of)
    head = {
        "change": recorded.number,
        "tool": recorded.tool,
        "summary": _summary(recorded.tool, files),
        "time": timestamp(int(recorded.time * 1e9)),
        "by": history.describe_author(vault, recorded),
        **({"undone_by": recorded.undone_by} if recorded.undone_by is not None else {}),
    }
    return _page(
        vault,
        head,
        (_describe_file(file, "applied") for file in files[cursor:]),
        len(files),
        cursor,
    )


def _page(
    vault: Vault, head: dict[str, Any], shown: Iterable[dict[str, Any]], total: int, cursor: int
) -> dict[str, Any]:
    """Return as many files as fit a page, and where the next one begins."""
    files = take_fitting_items(shown, PAGE_BYTES, least=1)
    following = cursor + len(files)
    more = {"cut": total - following, "cursor": following} if following < total else {}
    return {"view": "changes", "vault": vault.name, **head, "files": files, "total": total, **more}


def _summary(name: str, files: Sequence[FileChange]) -> str:
    """Return what a change does, in a line."""
    moved = [file for file in files if file.kind == "move"]
    # another tool may change the other files in any way
    if len(moved) == 1 and name == "move_note":
        rest = len(files) - 1
        also = f" and rewrite links in {write_count(rest, 'file')}" if rest else ""
        return f"Move {moved[0].path} to {moved[0].to}{also}"
    title = (
        TOOLS[f"obsidian_{name}"].title
        if f"obsidian_{name}" in TOOLS
        else name.replace("_", " ").capitalize()
    )
    return f"{title}: {files[0].path if len(files) == 1 else f'{len(files)} files'}"


@tool(title="Lines of a change", among=VIEW_TOOLS)
def plan_diff(
    app: App,
    plan: PlanId = "",
    change: Annotated[int, Argument(description="Change of obsidian_history", ge=0)] = 0,
    path: Annotated[
        str, Argument(description="File; without it more files of the change are listed")
    ] = "",
    cursor: Annotated[int, Argument(description="Where to go on: cursor", ge=0)] = 0,
    vault: VaultName = "",
) -> dict[str, Any]:
    """The lines of one file that a change changes, or more of its files."""
    opened = app.vaults.get(vault)
    if not path:
        if plan:
            return _shown_plan(opened, opened.get_or_make(Plans).get(plan), cursor)
        return _shown_change(opened, history.recall(opened, change), cursor)
    if plan:
        files = opened.get_or_make(Plans).files(opened.get_or_make(Plans).get(plan))
    else:
        files = changed_files(history.recall(opened, change), opened.catalog.path_of)
    for file in files:
        if file.path == path:
            return {"path": path, **lines_of(file)}
    raise ChangeNotFound(f"The change does not touch {path!r}.", path=path)


def lines_of(file: FileChange) -> dict[str, Any]:
    """Return the changed lines of a file as a view shows them, as many as fit."""
    shown: list[dict[str, Any]] = []
    room = HUNK_BYTES
    for hunk, heading in file.hunks():
        lines = [line.rstrip("\r")[:LINE_CHARACTERS] for line in hunk.lines]
        kept = take_fitting_items(lines, room)
        if kept:
            shown.append({"old": hunk.old, "new": hunk.new, "heading": heading, "lines": kept})
        if len(kept) < len(lines):
            return {"hunks": shown, "cut": True}
        room -= json_size(kept)
    return {"hunks": shown, "cut": False}


@tool(title="Apply a plan", among=VIEW_TOOLS, writes=True, destructive=True)
def apply_plan(
    app: App,
    plan: PlanId,
    paths: Annotated[list[str], Argument(description="Only these files")] = [],  # noqa: B006
    vault: VaultName = "",
) -> dict[str, Any]:
    """Make a planned change, whole or for some of its files."""
    opened = app.vaults.get(vault)
    plans = opened.get_or_make(Plans)
    done = plans.apply(plan, paths)
    return {**_shown_plan(opened, plans.get(plan)), "change": done.change}
