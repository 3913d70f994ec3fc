"""Several changes as one: the calls of writing tools that a model would make one by one.

A batch saves the answers between the calls, and it is all or nothing. Its calls are made on a
draft of the vault (`core/vault/draft.py`), so that each sees what earlier ones made; the draft's
operations then become one change. Models write calls in the forms of many interfaces, and all
forms that can mean only one thing are read (specs/batch.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.app import App
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.operations.batch import CallSequence
from obsidian_mcp.core.text.fit import MARK, cut_text
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.core.vault.draft import DraftVault
from obsidian_mcp.core.vault.operation import (
    Create,
    MakeFolder,
    Move,
    Operation,
    RemoveFolder,
    Write,
    difference,
)
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError, InvalidArguments

from .arguments import Argument, DryRun, VaultName, read_json
from .offer import CONFIRM, PREFIX, offer_of
from .outcome import Outcome
from .paging import FILES_SHOWN, SHOWN_BYTES, first_of, json_size, shown_diff, take_fitting_items
from .registry import TOOLS, Tool, call, tool

if TYPE_CHECKING:
    from obsidian_mcp.app import Vaults

MOST_CALLS = 100
"""Calls of one batch: a longer one is rather a change by a query."""
ANSWER_BYTES = 400
"""JSON of the answer of one call that is shown whole."""
TOOL_MEMBERS = ("tool", "tool_name", "toolName", "function")
"""Members of a call that name its tool; so does `name` beside the arguments."""
ARGUMENT_MEMBERS = ("arguments", "args", "params", "parameters", "input", "tool_input")
"""Members of a call that hold its arguments."""
ENVELOPE = ("type", "id")
"""Members that models copy from the calls of their own interface."""
NOT_IN_A_BATCH = ("obsidian_batch", "obsidian_undo")
"""Writing tools that change the history itself, of which a batch is one entry."""
UNTRUE_LATER = ("etag", "change", "late")
"""Members of an answer that the calls behind it make untrue."""
USUAL = (("changed", True), ("created", True), ("moved", True))
"""Members of an answer that say only that its call was made, as all calls of a batch are."""
SAID_BY_ALL = {"tool", "path"}
"""What the batch itself says of a call that says no more."""


@dataclass(frozen=True, slots=True)
class Batch:
    total: int
    """Files that were changed, or with dry_run would be."""
    calls: int | None = None
    results: list[dict[str, Any]] | None = None
    """What the answers of the calls say beside the files that they changed, with the number of the
    call."""
    changed: list[str] | None = None
    """The first of them; without those of a plan, whose dry run has named them."""
    more_changed: int | None = None
    diff: str | None = None
    """What would change; only with dry_run."""


@tool(title="Batch of changes", writes=True, destructive=True)
def batch(
    app: App,
    calls: Annotated[
        list[dict[str, Any]],
        Argument(description='[{"tool": "edit_note", "arguments": {…}}, …]'),
    ] = [],  # noqa: B006  never changed
    plan: Annotated[str, Argument(description="Instead: a dry run's plan")] = "",
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> Batch:
    """Make up to 100 writing calls as one change, all or none; each sees what earlier ones made."""
    if plan:
        return _apply_plan(app.vaults.get(vault), plan, calls, dry_run=dry_run)
    if not 1 <= len(calls) <= MOST_CALLS:
        raise InvalidArguments(f"Give 1 to {MOST_CALLS} calls, not {len(calls)}.", argument="calls")
    read = [_read(app, number, given) for number, given in enumerate(calls, 1)]
    opened = app.vaults.get(vault)
    try:
        made = CallSequence(opened, [partial(_make, app, *one) for one in read]).make(
            dry_run=dry_run
        )
    except AppError as error:
        if (number := error.data.get("call")) is not None:
            named, _ = read[number - 1]
            error.message = (
                f"Call {number} ({named.name}): {error.message} Nothing of the batch was changed."
            )
        raise
    operations = made.operations
    answers = (
        _result(named, outcome) for (named, _), outcome in zip(read, made.answers, strict=True)
    )
    said_more = (
        {"call": number, **said}
        for number, said in enumerate(answers, 1)
        if said.keys() - SAID_BY_ALL
    )
    results = list(said_more) or None
    if not operations:
        return Batch(0, len(calls), results, [])
    changed = list(
        dict.fromkeys(
            str(opened.catalog.path_of(one.disk)) for one in operations if _is_of_file(one)
        )
    )
    diff = shown_diff(map(_lines, operations), SHOWN_BYTES) if dry_run else None
    return Batch(len(changed), len(calls), results, *first_of(changed, FILES_SHOWN), diff=diff)


def _apply_plan(vault: Vault, plan: str, calls: list[dict[str, Any]], *, dry_run: bool) -> Batch:
    """Make the change that a dry run has planned (PLAN-09). Raises: InvalidArguments,
    ChangeNotFound, StaleEtag."""
    if calls or dry_run:
        raise InvalidArguments(
            "`plan` is what a dry run has planned: give it alone, or `calls`.", argument="plan"
        )
    from obsidian_mcp.core.operations.plans import Plans

    plans = vault.get_or_make(Plans)
    plans.apply(plan)
    return Batch(len(plans.get(plan).by_path))


def _read(app: App, number: int, given: Mapping[str, Any]) -> tuple[Tool, dict[str, Any]]:
    """Return the tool and the arguments of a call, in any form in which models write calls
    (BATCH-11). Raises: InvalidArguments."""
    usable = [
        entry.name
        for entry in offer_of(app.config).usable_entries().values()
        if not entry.read_only and not entry.needs_app and entry.name not in NOT_IN_A_BATCH
    ]
    given = _unwrap(given)
    member, tool_name = _named_tool(given, usable)
    if tool_name is None:
        names = ", ".join(tool.removeprefix(PREFIX) for tool in usable)
        raise _call_error(number, f"{_tool_problem(given, usable)}; these are: {names}")
    named = TOOLS[tool_name]
    others = {key: value for key, value in given.items() if key != member}
    holders = [key for key in ARGUMENT_MEMBERS if key in others and key not in named.parameters]
    if not holders:
        arguments: Any = others
    elif surplus := sorted(others.keys() - {holders[0], *ENVELOPE}):
        raise _call_error(
            number, f"{', '.join(surplus)} stands beside {holders[0]!r} and belongs into it"
        )
    else:
        arguments = read_json(others[holders[0]])
    if not isinstance(arguments, dict):
        raise _call_error(number, f"its {holders[0]} must be an object")
    if arguments.get("vault") or arguments.get("dry_run"):
        raise _call_error(number, "vault and dry_run are arguments of the batch")
    return named, arguments


def _unwrap(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a call without the message that it is in: one of MCP, or a function of OpenAI."""
    if given.get("method") == "tools/call" and isinstance(given.get("params"), dict):
        return dict(given["params"])
    return dict(given["function"]) if isinstance(given.get("function"), dict) else given


def _named_tool(given: Mapping[str, Any], usable: Collection[str]) -> tuple[str, str | None]:
    """Return the member of a call that names its tool, and the tool's whole name.

    `name` is that member only in a call without another one, and with a member that holds the
    arguments: else it is the name of a note.
    """
    members = [key for key in TOOL_MEMBERS if key in given]
    if not members and "name" in given and any(key in given for key in ARGUMENT_MEMBERS):
        members = ["name"]
    for member in members:
        name = _whole_name(given[member], usable)
        if name is not None:
            return member, name
    return "", None


def _whole_name(written: object, names: Collection[str]) -> str | None:
    """Return which of some tools is meant by a name without its beginning, or with that of a
    server: `edit-note`, `mcp__obsidian__obsidian_edit_note`."""
    name = str(written).rpartition("__")[2].replace("-", "_")
    return next((whole for whole in (name, f"{PREFIX}{name}") if whole in names), None)


def _tool_problem(given: Mapping[str, Any], usable: Collection[str]) -> str:
    """Return what is wrong with a call that names no tool of a batch."""
    member = next((key for key in TOOL_MEMBERS if key in given), None)
    if member is not None:
        return f"{given[member]!r} is no tool of a batch"
    name = given.get("name")
    if _whole_name(name, usable) is not None:
        return f'use "tool" instead of "name" for {name!r}, because a note has a name as well'
    if _whole_name(name, TOOLS) is not None:
        return f"{name!r} is no tool of a batch"
    return 'its member "tool" is missing, the name of a tool of a batch'


def _call_error(number: int, problem: str) -> InvalidArguments:
    return InvalidArguments(
        f"Call {number}: {problem}. Nothing was changed.", argument="calls", call=number
    )


class _Drafts:
    """`Vaults` for the calls of a batch: the draft, in place of the vault that it was made from."""

    def __init__(self, vaults: Vaults, drafted: DraftVault) -> None:
        self._vaults = vaults
        self._drafted = drafted

    def __getattr__(self, name: str) -> Any:
        return getattr(self._vaults, name)

    def get(self, *_: object, **__: object) -> Vault:
        return self._drafted


def _make(app: App, named: Tool, arguments: dict[str, Any], drafted: DraftVault) -> Outcome:
    """Make one call on the draft. Raises: AppError."""
    # A person agrees to the change as a whole, when it is made (POL-04).
    return call(
        app.replace(vaults=_Drafts(app.vaults, drafted)), named.name, {**arguments, CONFIRM: True}
    )


def _result(named: Tool, outcome: Outcome) -> dict[str, Any]:
    """Return what a model needs of a call's answer: all of a short one; of a longer one what is no
    list, and its warnings, because nothing else tells what they say (BATCH-12)."""
    data = {
        key: value
        for key, value in outcome.data.items()
        if key not in UNTRUE_LATER and value != [] and (key, value) not in USUAL
    }
    if json_size(data) > ANSWER_BYTES:
        warnings = data.get("warnings") or []
        data = {
            key: value
            for key, value in data.items()
            if not isinstance(value, list | dict) and key != "diff"
        }
        if warnings:
            data["warnings"] = _fit_warnings(warnings, ANSWER_BYTES - json_size(data))
    return {"tool": named.name.removeprefix(PREFIX), **data}


def _fit_warnings(warnings: Sequence[str], room: int) -> list[str]:
    """Return the first warnings that fit so many bytes, at least one, and how many more there
    are."""
    cut = [cut_text(warning, ANSWER_BYTES) for warning in warnings]
    first = take_fitting_items(cut, room, least=1)
    more = len(warnings) - len(first)
    return [*first, f"{MARK} and {write_count(more, 'more warning')}"] if more else first


def _is_of_file(operation: Operation) -> bool:
    return not isinstance(operation, MakeFolder | RemoveFolder)


def _lines(operation: Operation) -> str:
    """Return what one operation changes, for a person or model."""
    match operation:
        case Write() | Create():
            return difference(operation)
        case Move():
            return f"{normal_form(operation.disk)} -> {normal_form(operation.target)}\n"
        case MakeFolder():
            return f"{normal_form(operation.disk)}/ is made\n"
        case RemoveFolder():
            return f"{normal_form(operation.disk)}/ is removed where it is empty\n"
    return f"{normal_form(operation.disk)} is removed\n"
