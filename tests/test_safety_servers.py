"""Several servers and another program change the same notes at random (SAFE-08, SAFE-20, SAFE-22, BATCH-03).

Every line of a change that was accepted stands once, unless it was undone; every line of one that was refused or undone
stands nowhere; every line of the other program stands once.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from obsidian_mcp.adapters.journal import SqliteJournal
from tests import forked
from tests.examples import EXPLORED
from tests.serve.raw import PATIENCE, RawServer
from tests.system import needs
from tests.vaults import contents, write_files

SERVERS = 5
SHARED_NOTES = 6
FOLDERS = ("", "F/", "F/G/", "H/")


class Made(NamedTuple):
    """A change that a server has accepted: which marks stood before it, and which do now."""

    number: int
    before: dict[str, bool]
    after: dict[str, bool]


class Refused(Exception):
    """A call that was answered with an error."""


class Assistant:
    """Makes random calls on a server of its own, and knows which of its lines must stand in the vault."""

    def __init__(self, server: RawServer, name: str, seed: int) -> None:
        self.server = server
        self.name = name
        self.dice = random.Random(seed)
        self.stands: dict[str, bool] = {}
        """Whether each mark must stand in the vault."""
        self.touched: dict[str, int] = {}
        """The last change of each mark, and of each own note: only that one is undone."""
        self.changes: list[Made] = []
        self.own_notes: dict[str, set[str]] = {}
        """Notes that only this assistant makes, merges and deletes, with its marks in them."""
        self.log: list[str] = []
        self.errors: Counter[str] = Counter()
        self.count = 0

    def run(self, end: float) -> None:
        self.server.initialize()
        steps: list[Callable[[], None]] = [
            self.append, self.append, self.edit_old_version, self.batch, self.batch, self.move, self.move_folder,
            self.create, self.delete, self.merge, self.remove_line, self.undo, self.undo, self.undo_last,
        ]  # fmt: skip
        while time.monotonic() < end:
            try:
                self.dice.choice(steps)()
            except Refused:
                continue

    # --- calls

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        params = {"name": f"obsidian_{tool}", "arguments": arguments}
        answer = self.server.call("tools/call", params)
        result = answer.get("result", {})
        if "error" in answer or result.get("isError"):
            said = json.dumps(answer.get("error") or result)[:300]
            self.log.append(f"refused {tool} {json.dumps(arguments)}: {said}")
            error = answer.get("error", {})
            self.errors[str(error.get("data", {}).get("errorCode") or error.get("code") or said)] += 1
            raise Refused
        content: dict[str, Any] = json.loads(result["content"][0]["text"])["data"]
        self.log.append(f"change {content.get('change')}: {tool} {json.dumps(arguments)}")
        return content

    def new_mark(self) -> str:
        self.count += 1
        mark = f"mark-{self.name}-{self.count}."
        self.stands[mark] = False
        return mark

    def note(self) -> str:
        return f"n{self.dice.randrange(SHARED_NOTES)}"

    def record(self, answer: dict[str, Any], after: Mapping[str, bool]) -> None:
        """Note which marks stand after an accepted change."""
        if answer.get("change") is None:
            return
        before = {mark: self.stands.get(mark, False) for mark in after}
        made = Made(answer["change"], before, dict(after))
        self.changes.append(made)
        self.stands |= made.after
        self.touched |= dict.fromkeys(made.after, made.number)
        self.log.append(f"since {made.number}: {made.after}")

    def append(self) -> None:
        mark = self.new_mark()
        operation = self.dice.choice(["append", "prepend"])
        self.record(self.call("edit_note", name=self.note(), operation=operation, content=mark), {mark: True})

    def edit_old_version(self) -> None:
        """Append to the version of a note that was read a moment ago."""
        note, mark = self.note(), self.new_mark()
        etag = self.call("read_note", name=note)["etag"]
        self.record(self.call("edit_note", name=note, operation="append", content=mark, etag=etag), {mark: True})

    def batch(self) -> None:
        marks = [self.new_mark() for _ in range(self.dice.randint(1, 3))]
        calls: list[dict[str, Any]] = [
            {"tool": "edit_note", "name": self.note(), "operation": "append", "content": mark} for mark in marks
        ]
        if self.dice.random() < 0.5:
            calls.append({"tool": "move_note", "name": self.note(), "to": f"/{self.dice.choice(FOLDERS)}"})
        if self.dice.random() < 0.3:
            calls.append({"tool": "replace", "find": "nobody", "content": "n", "names": [self.note()]})
        self.dice.shuffle(calls)
        self.record(self.call("batch", calls=calls), dict.fromkeys(marks, True))

    def move(self) -> None:
        self.record(self.call("move_note", name=self.note(), to=f"/{self.dice.choice(FOLDERS)}"), {})

    def move_folder(self) -> None:
        source, target = self.dice.sample(["F", "H", "F/G", "H/K", "L"], 2)
        self.record(self.call("move_note", name=source, to=target), {})

    def create(self) -> None:
        mark = self.new_mark()
        name = f"own-{self.name}-{self.count}"
        folder = self.dice.choice(FOLDERS)
        answer = self.call("create_note", name=f"{folder}{name}", content=f"# {name}\n\n{mark}\n")
        self.own_notes[name] = {mark}
        self.record(answer, {mark: True, name: True})

    def own_note(self) -> str:
        names = [name for name in self.own_notes if self.stands[name]]
        if not names:
            raise Refused
        return self.dice.choice(names)

    def standing(self, name: str) -> list[str]:
        """The marks of an own note that stand."""
        return [mark for mark in self.own_notes[name] if self.stands[mark]]

    def delete(self) -> None:
        name = self.own_note()
        gone = dict.fromkeys([name, *self.standing(name)], False)
        delete = {"name": name, "permanent": self.dice.random() < 0.5}
        if self.dice.random() < 0.5:
            self.record(self.call("delete_note", **delete), gone)
            return
        mark = self.new_mark()
        edit = {"tool": "edit_note", "name": self.note(), "operation": "append", "content": mark}
        self.record(self.call("batch", calls=[{"tool": "delete_note", **delete}, edit]), {**gone, mark: True})

    def merge(self) -> None:
        name = self.own_note()
        answer = self.call("compose_notes", action="merge", name=name, into=self.note())
        self.record(answer, {name: False, **dict.fromkeys(self.standing(name), True)})

    def remove_line(self) -> None:
        """Remove one of its lines from whatever note has it."""
        marks = [mark for mark, stands in self.stands.items() if stands and mark.startswith("mark")]
        if not marks:
            raise Refused
        mark = self.dice.choice(marks)
        answer = self.call("replace", query=f'"{mark}"', find=f"{mark}\n", content="")
        self.record(answer, {mark: False})

    def undo(self) -> None:
        """Undo one of its changes, or an undo, with which no later one has to do."""
        undoable = [change for change in self.changes if change.after and self.is_last(change)]
        if not undoable:
            raise Refused
        self.undo_change(self.dice.choice(undoable[-6:]))

    def undo_last(self) -> None:
        if not self.changes:
            raise Refused
        change = self.changes[-1]
        if self.is_last(change):
            self.undo_change(change)

    def is_last(self, change: Made) -> bool:
        """Whether no later change has to do with the same marks."""
        return all(self.touched[mark] == change.number for mark in change.after)

    def undo_change(self, change: Made) -> None:
        wins = self.dice.choice(["neither", "both"])
        answer = self.call("undo", change=change.number, wins=wins)
        self.record(answer, change.before)


class Appended(NamedTuple):
    """A line of the other program."""

    mark: str
    path: str
    replaced: bool


class Soak(NamedTuple):
    """What happened: who did what, and what the vault holds in the end."""

    root: Path
    assistants: list[Assistant]
    foreign: list[Appended]
    tracebacks: list[str]
    """What servers have logged of internal errors."""


@contextmanager
def appending_program(root: Path, seed: int) -> Iterator[list[Appended]]:
    """The program that appends meanwhile; its lines are in the list at the end."""
    lines: list[Appended] = []
    command = [sys.executable, "-m", "tests.appending_program", str(root), str(seed)]
    with forked.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        output = program.stdout
        reading = threading.Thread(target=lambda: lines.extend(Appended(**json.loads(line)) for line in output))
        reading.start()
        try:
            yield lines
        finally:
            program.stdin.close()
            reading.join(PATIENCE)
            assert program.wait(PATIENCE) == 0


def soak(base: Path, seed: int, seconds: float) -> Soak:
    """Have the servers and the other program change a vault for so long."""
    notes = {f"n{number}.md": f"# n{number}\n\n[[n{(number + 1) % SHARED_NOTES}]]\n" for number in range(SHARED_NOTES)}
    root = write_files(base / "vault", {**notes, ".obsidian/app.json": '{"trashOption": "local"}'})
    own = {"OBSIDIAN_MCP_CACHE": str(base / "cache"), "OBSIDIAN_MCP_STATE": str(base / "state")}
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", str(root)]
    servers = [RawServer(command, env=own) for _ in range(SERVERS)]
    assistants = [Assistant(server, f"{who}", seed * SERVERS + who) for who, server in enumerate(servers)]
    failures: list[BaseException] = []

    def run(assistant: Assistant, end: float) -> None:
        try:
            assistant.run(end)
        except BaseException as error:  # noqa: BLE001  raised again below
            failures.append(error)

    with appending_program(root, seed) as foreign:
        end = time.monotonic() + seconds
        threads = [threading.Thread(target=run, args=(assistant, end)) for assistant in assistants]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds + PATIENCE)
    for server in servers:
        with server:
            server.close_stdin()
            assert server.wait() == 0
    if failures:
        raise failures[0]
    logs = [server.stderr() for server in servers]
    return Soak(root, assistants, foreign, [log for log in logs if "Traceback" in log])


def faults(ended: Soak) -> dict[str, list[str]]:
    """Return the lines that are not where they must be, by what is wrong with them."""
    (folder,) = (ended.root.parent / "state").iterdir()
    journal = SqliteJournal(folder)
    assert journal.list_unfinished() == []
    files = contents(ended.root)
    visible = [line for path, data in files.items() if not path.startswith(".trash/") for line in data.split(b"\n")]
    hidden = {line for path, data in files.items() if path.startswith(".trash/") for line in data.split(b"\n")}
    for recorded in journal.changes(None, 100_000, 0)[0]:
        change = journal.change(recorded.number)
        for step in change.steps if change else ():
            if step.kind == "remove" and step.before is not None:
                hidden |= set(step.before.split(b"\n"))
    journal.close()
    counted = Counter(line.decode() for line in visible)
    wrong: dict[str, list[str]] = defaultdict(list)
    for assistant in ended.assistants:
        for mark, stands in assistant.stands.items():
            if mark.startswith("mark") and counted[mark] != stands:
                kind = "twice" if counted[mark] > 1 else "lost" if stands else "there, though refused or undone"
                wrong[kind].append(mark)
    for line in ended.foreign:
        if counted[line.mark] > 1:
            wrong["twice"].append(line.mark)
        elif not counted[line.mark] and not line.replaced and line.mark.encode() not in hidden:
            wrong["lost"].append(line.mark)
    return wrong


IS_EXPLORING = settings().max_examples >= EXPLORED
SECONDS = 30.0 if IS_EXPLORING else 2.0
SEEDS = 10 if IS_EXPLORING else 1


@needs("forks", "signals between processes")
@settings(
    max_examples=SEEDS, phases=[Phase.generate]
)  # processes take turns otherwise each time: nothing can be shrunk
@given(seed=st.integers(0, 2**32))
def test_five_servers_and_another_program_lose_double_and_leave_nothing(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """SAFE-02, SAFE-08, SAFE-22, BATCH-03, ERR-03: Issue 56: 16 of 4 624 lines were lost beside batches."""
    ended = soak(tmp_path_factory.mktemp("servers"), seed, SECONDS)
    assert faults(ended) == {}
    assert ended.tracebacks == []
