"""Changes that are planned and kept, so that a person can look at them before they are made (PLAN).

A plan is what a call would have changed. It lives in memory, and is made whole or file by file:
each file has a state, and those that changed since are refused.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.call import call_with
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.vault_path import name_key
from obsidian_mcp.core.vault.changes import Done
from obsidian_mcp.core.vault.operation import (
    Create,
    MakeFolder,
    Move,
    Operation,
    Remove,
    RemoveFolder,
    Write,
)
from obsidian_mcp.core.vault.planned_change import Planned
from obsidian_mcp.errors import ChangeNotFound, InvalidArguments, StaleEtag

from .plan import FileChange, Plan

if TYPE_CHECKING:
    from obsidian_mcp.core.vault.vault import Vault

KEEP_SECONDS = 30 * 60
MOST_PLANS = 20
MOST_BYTES = 64_000_000
"""Of the texts of all plans; the latest one is kept in any case."""
SHOWN_BYTES = 1_000_000
"""Largest file that is to be deleted of which the text is shown."""
NAMED = 10
"""Files named in an error."""

State = Literal["pending", "applied", "stale"]


class Plans:
    """The plans of one vault, in memory: at most MOST_PLANS, each for KEEP_SECONDS.

    They are shared by all threads.
    """

    def __init__(self, vault: Vault, clock: Callable[[], float] = time.monotonic) -> None:
        self._vault = vault
        self._clock = clock
        self._plans: dict[str, Plan] = {}
        self._lock = threading.Lock()

    def draft(self, make: Callable[[], object]) -> Plan | None:
        """Run a call up to its first write, and keep what it would have changed.

        Return None where it would change nothing. Raises: what the call raises.
        """
        planned = _capture_plan(make)
        return None if planned is None else self.keep(planned, make)

    def keep(self, planned: Planned, make: Callable[[], object]) -> Plan:
        """Keep what a call would have changed; `make` makes the call."""
        files = self._vault.files
        leaving = (
            operation
            for operation in planned.change.operations
            if isinstance(operation, Move | Remove)
        )
        base = {operation.disk: files.stat(operation.disk) for operation in leaving}
        paths = {
            operation.disk: self._vault.catalog.path_of(operation.disk)
            for operation in planned.change.operations
        }
        number, expires = f"p_{secrets.token_hex(16)}", self._clock() + KEEP_SECONDS
        plan = Plan(number, planned.tool, planned.change, paths, base, expires, make)
        with self._lock:
            self._plans[plan.id] = plan
            self._drop_old(plan)
        return plan

    def _drop_old(self, latest: Plan) -> None:
        """Forget plans that have ended, and the oldest of those that are too many or too large."""
        now, room = self._clock(), MOST_BYTES
        valid_plans: list[Plan] = []
        for plan in reversed(self._plans.values()):
            room -= plan.size
            if plan is latest or (
                plan.expires > now and len(valid_plans) < MOST_PLANS and room >= 0
            ):
                valid_plans.append(plan)
        self._plans = {plan.id: plan for plan in reversed(valid_plans)}

    def get(self, plan_id: str) -> Plan:
        """Return a plan. Raises: ChangeNotFound for one that has ended."""
        with self._lock:
            plan = self._plans.get(plan_id)
        if plan is None or plan.expires <= self._clock():
            raise ChangeNotFound(
                f"There is no plan {plan_id!r}: plans end after {KEEP_SECONDS // 60} minutes, "
                "and with the server. Nothing was changed. Plan the change again.",
                plan=plan_id,
            )
        return plan

    def seconds_left(self, plan: Plan) -> float:
        return plan.expires - self._clock()

    def files(self, plan: Plan) -> list[FileChange]:
        """Return what a plan does to every file, in the order of the change."""
        return [self._file_change(path, operations) for path, operations in plan.by_path.items()]

    def _file_change(self, path: str, operations: Sequence[Operation]) -> FileChange:
        """Return what the operations on one file do to it together."""
        change = FileChange(path, "modify")
        for operation in operations:
            match operation:
                case Write():
                    change = replace(change, before=operation.before, after=operation.after)
                case Create():
                    change = replace(change, kind="create", after=operation.after)
                case Move():
                    change = replace(
                        change, kind="move", to=self._vault.catalog.path_of(operation.target)
                    )
                case Remove():
                    there = self._vault.files.stat(operation.disk)
                    is_shown = there is not None and there.size <= SHOWN_BYTES
                    before = self._vault.files.read_file(operation.disk) if is_shown else None
                    change = replace(change, kind="delete", before=before)
        return change

    def state(self, plan: Plan, path: str) -> State:
        """Return whether a file is as the plan found it, as the plan would leave it, or neither."""
        states = {self._state_of(plan, operation) for operation in plan.by_path[path]}
        return states.pop() if len(states) == 1 else "stale"

    def _state_of(self, plan: Plan, operation: Operation) -> State:
        """Return the state of the file of one operation, as far as that operation is concerned."""
        files = self._vault.files
        match operation:
            case Write():
                disk = self._now_at(plan, operation.disk)
                data = files.read_file(disk) if files.stat(disk) is not None else None
                return (
                    "pending"
                    if data == operation.before
                    else "applied"
                    if data == operation.after
                    else "stale"
                )
            case Create():
                if files.stat(operation.disk) is None:
                    return "stale" if files.exists(operation.disk) else "pending"
                return "applied" if files.read_file(operation.disk) == operation.after else "stale"
            case Move():
                is_there, is_moved = files.exists(operation.disk), files.exists(operation.target)
                if is_there and (
                    not is_moved or name_key(operation.disk) == name_key(operation.target)
                ):
                    return "pending" if self._is_unchanged(plan, operation) else "stale"
                return "applied" if is_moved and not is_there else "stale"
            case Remove():
                if not files.exists(operation.disk):
                    return "applied"
                return "pending" if self._is_unchanged(plan, operation) else "stale"
        return "applied"  # an empty folder that is removed on the way

    def _is_unchanged(self, plan: Plan, operation: Move | Remove) -> bool:
        """Return whether a file that is moved or removed is as it was when the plan was made.

        Its size and time tell that. Where the plan changes its text, too, that operation compares
        the text.
        """
        if any(
            isinstance(operation_of_file, Write)
            for operation_of_file in plan.by_path[plan.paths[operation.disk]]
        ):
            return True
        return plan.base[operation.disk] == self._vault.files.stat(operation.disk)

    def _now_at(self, plan: Plan, disk: str) -> str:
        """Return the path of a file after those moves of the plan that have been made."""
        files, target = self._vault.files, plan.moves.place_after(disk)
        return (
            target if target != disk and not files.exists(disk) and files.exists(target) else disk
        )

    def needs(self, plan: Plan, path: str) -> str | None:
        """Return the file whose move must be made before, or together with, the change of this one.

        The links of this one are rewritten to where that file is going to be. None where no move is
        needed.
        """
        sources = [plan.paths[move.disk] for move in plan.moves]
        if path in sources:
            return None
        return next((source for source in sources if self.state(plan, source) == "pending"), None)

    def apply(self, plan_id: str, paths: Sequence[str] = ()) -> Done:
        """Make the change of a plan, or of some of its files, as one entry of the journal.

        A whole change is first planned again: a file that has come to need a change since, such as
        one with a new link, would be left behind. Raises: ChangeNotFound; InvalidArguments for a
        path that is not in it or needs another; StaleEtag naming files that changed; what
        `Vault.commit` raises.
        """
        plan = self.get(plan_id)
        if len(plan.by_path) > 1 or len(plan.moves):
            self._vault.indexer.complete()  # without the lock (INDEX-43)
        with self._vault.lock_changes():
            self._vault.look_everywhere()
            by_path = plan.by_path
            if unknown := [path for path in paths if path not in by_path]:
                raise InvalidArguments(
                    f"The plan does not change {_join_names(unknown)}. It changes "
                    f"{_join_names(by_path)}.",
                    argument="paths",
                )
            states = {path: self.state(plan, path) for path in paths or by_path}
            chosen = self._choose_files(plan, states, whole=not paths)
            chosen_operations = {id(operation) for path in chosen for operation in by_path[path]}
            is_whole = len(chosen) == len(by_path)
            if is_whole and plan.change.undoes is None and (len(chosen) > 1 or len(plan.moves) > 0):
                _check_covers(plan)
            operations = [
                replace(operation, disk=self._now_at(plan, operation.disk))
                if isinstance(operation, Write)
                else operation
                for operation in plan.change.operations
                if isinstance(operation, RemoveFolder | MakeFolder)
                or id(operation) in chosen_operations
            ]
            undoes = plan.change.undoes
            if undoes is not None and not is_whole:
                undoes = undoes._replace(is_part=True)
            return self._vault.commit(plan.tool, operations, undoes)

    def _choose_files(self, plan: Plan, states: dict[str, State], *, whole: bool) -> list[str]:
        """Return the paths whose change is still to be made.

        `whole`: nobody chose among them. Raises: StaleEtag for files that changed since,
        InvalidArguments where all are as the plan leaves them, or one needs another.
        """
        if stale := [path for path, state in states.items() if state == "stale"]:
            raise StaleEtag(
                f"{_join_names(stale)} changed since the plan was made. Nothing was written; plan "
                "the change again.",
                paths=stale[:NAMED],
            )
        chosen = [path for path, state in states.items() if state == "pending"]
        if not chosen:
            raise InvalidArguments(
                "These files are as the plan leaves them: it has been applied.", argument="paths"
            )
        if not whole:
            for path in chosen:
                needed = self.needs(plan, path)
                if needed is not None and needed not in chosen:
                    raise InvalidArguments(
                        f"The change of {path!r} needs the move of {needed!r}. Apply that first, "
                        "or both together.",
                        argument="paths",
                    )
        return chosen


def _capture_plan(make: Callable[[], object]) -> Planned | None:
    """Run a call up to its first write; return what it would have changed, None for nothing.

    Raises: what the call raises.
    """
    try:
        with call_with(is_planning=True):
            make()
    except Planned as planned:
        return planned
    return None


def _check_covers(plan: Plan) -> None:
    """Check that the call would change no further file by now, such as one with a new link.

    Raises: StaleEtag naming the further files.
    """
    again = _capture_plan(plan.make)
    disks = (
        {operation.disk for operation in again.change.operations} if again is not None else set()
    )
    if further := sorted(map(normal_form, disks - plan.paths.keys())):
        raise StaleEtag(
            f"Since the plan was made, {_join_names(further)} came to be changed too, as by a new "
            "link. Nothing was written; plan the change again.",
            paths=further[:NAMED],
        )


def _join_names(paths: Iterable[str]) -> str:
    return name_first([repr(path) for path in paths], NAMED)
