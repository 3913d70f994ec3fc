"""Processes that are killed at any moment, and several that change the same notes at once (specs/safety.md)."""

from __future__ import annotations

import gc
import itertools
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.adapters.place import TEMP_PREFIX
from obsidian_mcp.core.files.ports import Step, Undoing
from obsidian_mcp.tools.registry import call
from tests import forked
from tests.conftest import app_on
from tests.killed_writer import NOTES
from tests.serve.raw import PATIENCE, RawServer, tool_call
from tests.system import can, needs
from tests.vaults import contents, vault_on, write_files

KILLED = -signal.SIGKILL if can("signals between processes") else 1
"""The exit status of what is killed; that of Windows is not the one of `tests.killed_writer` when it fails."""
KILLS = 100 if can("forks") else 12
"""A program that is started and not forked takes a second to begin."""


def eventually(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came true"
        threading.Event().wait(0.05)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


def after_kills(root: Path, work: str, times: int) -> Iterator[dict[str, bytes]]:
    """What the files hold after a program that repeats `work` was killed and the vault was opened for a change."""
    rng = random.Random(7)
    for _ in range(times):
        command = [sys.executable, "-m", "tests.killed_writer", str(root), work]
        with forked.start(command, stdout=subprocess.PIPE, env=os.environ) as writer:
            assert writer.stdout is not None
            for _ in range(rng.randint(1, 3)):  # it is about to begin, or has done one or two changes
                assert os.read(writer.stdout.fileno(), 1)
            time.sleep(rng.uniform(0.0, 0.02))
            writer.kill()
            assert writer.wait() == KILLED, "it died of something else"
        vault = vault_on(Disk(root))
        with vault.lock_changes():
            yield contents(root)
        vault.close()
        assert not list(root.rglob(f"{TEMP_PREFIX}*"))


def test_a_hundred_kills_at_random_moments_leave_whole_changes_only(root: Path) -> None:
    """SAFE-03: every change writes one generation into all notes; after a kill and a start they hold the same one."""
    for number in range(NOTES):
        (root / f"{number}.md").write_bytes(f"note {number}\nold\n".encode())
    generations = set()
    for held in after_kills(root, "write_a_generation", KILLS):
        lines = {data.split(b"\n")[1] for data in held.values()}
        assert (len(held), len(lines)) == (NOTES, 1), held
        generations |= lines
    assert len(generations) > KILLS // 10, "the children were killed before they did anything"


def test_kills_in_a_move_with_links_leave_every_link_leading_to_its_note(root: Path) -> None:
    """SAFE-03: the note, and eight files that link to it in different ways."""
    (root / "T0.md").write_bytes(b"target\r\n")
    for number in range(8):
        (root / f"{number}.md").write_bytes(b"---\nup: '[[T0]]' # keep\n---\r\nsee [[T0|it]] and [it](T0.md)  \n")
    names = set()
    for held in after_kills(root, "move_with_links", KILLS // 2):
        (target,) = [path for path in held if path.rpartition("/")[2].startswith("T")]
        assert held[target] == b"target\r\n"
        name = target.rpartition("/")[2].removesuffix(".md")
        names.add(name)
        for number in range(8):
            text = held[f"{number}.md"].decode()
            assert set(re.findall(r"T\d+", text)) == {name}, (target, text)
            assert text.endswith("  \n")
            assert "# keep\n---\r\n" in text
    assert len(names) > KILLS // 20, "the children were killed before they did anything"


BATCH_VAULT = {
    "Old.md": "---\naliases: [O]\n---\n# Old\r\nbody\n",
    "Links.md": "[[Old]] and [it](Old.md)  \n",
    "In/Deep.md": "up: [[Old|it]] #tag\n",
    "Gone.md": "to be deleted\n",
    "A.md": "one\n",
    "B.md": "two\n",
}
BATCH = [
    {"tool": "create_note", "name": "Made/Deep/New", "content": "see [[Old]]\n"},
    {"tool": "edit_note", "name": "Links", "operation": "append", "content": "more"},
    {"tool": "move_note", "name": "Old", "to": "Moved/Fresh"},
    {"tool": "delete_note", "name": "Gone"},
    {"tool": "rename_tag", "tag": "tag", "to": "label"},
    {"tool": "move_note", "name": "A", "to": "C"},
    {"tool": "move_note", "name": "B", "to": "A"},
    {"tool": "move_note", "name": "C", "to": "B"},
]


def make_the_batch(root: Path) -> None:
    app = app_on(root)
    call(app, "obsidian_batch", {"calls": BATCH})
    app.vaults.close()


def undo_the_last_change(root: Path) -> None:
    app = app_on(root)
    call(app, "obsidian_undo", {"change": call(app, "obsidian_history", {}).data["changes"][0]["change"]})
    app.vaults.close()


def after_a_start(root: Path) -> dict[str, bytes]:
    """What the files hold, the trash left out, after a start and the next change, which is none."""
    app = app_on(root)
    with app.vaults.get("").lock_changes():
        held = contents(root)
    app.vaults.close()
    assert not list(root.rglob(f"{TEMP_PREFIX}*"))
    return {path: data for path, data in held.items() if not path.startswith(".trash/")}


CHANGING = {
    "_io": ("write", "flush"),
    "posix": ("fsync", "link", "mkdir", "remove", "rename", "replace", "rmdir", "unlink", "write"),
    "sqlite3": ("__exit__", "execute", "executemany"),
}
"""Functions of Python's modules of the system and of SQLite that may change something on disk."""


def end_before_changing(number: int) -> None:
    """Have this process end before it changes something on disk for the n-th time in a change.

    A profiler counts. It is set when the change begins: before that it would make the calls slower and end nothing.
    """
    begin, counted = SqliteJournal.begin, itertools.count()

    def profile(_: FrameType, event: str, argument: Any) -> None:
        if event != "c_call":
            return
        of = getattr(argument, "__module__", None) or type(getattr(argument, "__self__", None)).__module__
        if getattr(argument, "__name__", "") in CHANGING.get(of, ()) and next(counted) == number:
            os._exit(9)

    def begin_counting(journal: SqliteJournal, tool: str, steps: Sequence[Step], undoes: Undoing | None = None) -> int:
        sys.setprofile(profile)
        return begin(journal, tool, steps, undoes)

    pytest.MonkeyPatch().setattr(SqliteJournal, "begin", begin_counting)  # of a process that ends soon


@needs("forks")
def test_a_batch_that_dies_before_any_of_its_writes_is_whole_or_was_never_made(tmp_path: Path) -> None:
    """SAFE-03, BATCH-08: notes made, edited, moved with their links, exchanged and deleted; every moment in turn."""
    root = write_files(tmp_path / "vault", BATCH_VAULT)
    before = after_a_start(root)
    make_the_batch(write_files(tmp_path / "whole/vault", BATCH_VAULT))
    after = after_a_start(tmp_path / "whole/vault")
    half_done = 0
    for number in itertools.count():
        child = os.fork()
        if child == 0:
            try:
                gc.disable()  # it would write to all of the memory that both processes share
                end_before_changing(number)
                make_the_batch(root)
                os._exit(0)
            finally:
                os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, 9), "it died of something else"
        half_done += {p: d for p, d in contents(root).items() if not p.startswith(".trash/")} not in (before, after)
        held = after_a_start(root)
        if held == after:
            break
        assert held == before, number
    assert half_done > 10, "no moment was between two files"
    undo_the_last_change(root)
    assert after_a_start(root) == before


def test_servers_killed_while_they_make_a_batch_leave_all_of_it_or_nothing(tmp_path: Path) -> None:
    """SAFE-03, BATCH-08: killed from the moment on when the first file is changed; no process and no lock is left."""
    root = write_files(tmp_path / "vault", BATCH_VAULT)
    before, rng = after_a_start(root), random.Random(7)
    for _ in range(8):
        (server,) = servers(root, 1)
        with server:
            server.initialize()
            server.send(tool_call(1, "obsidian_batch", {"calls": BATCH}))
            end = time.monotonic() + PATIENCE
            with suppress(OSError):  # on Windows the file is not there for a moment
                while (root / "Links.md").read_bytes() == before["Links.md"]:
                    assert time.monotonic() < end, "the batch was never made"
            time.sleep(rng.uniform(0.0, 0.01))
            server.process.kill()
            server.wait()
        held = after_a_start(root)
        if held != before:
            assert (held["A.md"], held["B.md"]) == (b"two\n", b"one\n")
            assert held.keys() == {"A.md", "B.md", "Links.md", "In/Deep.md", "Made/Deep/New.md", "Moved/Fresh.md"}
            undo_the_last_change(root)
            assert after_a_start(root) == before


def test_a_server_that_starts_takes_back_what_a_killed_one_left_half_done(root: Path) -> None:
    """SAFE-03: before anybody changes anything, and while it only answers questions."""
    (root / "0.md").write_bytes(b"old")
    (root / "1.md").write_bytes(b"old")
    (first,) = servers(root, 1)
    with first:
        first.initialize()
        arguments = {"name": "0", "operation": "append", "content": "x"}
        first.call("tools/call", {"name": "obsidian_edit_note", "arguments": arguments})
    changed = (root / "0.md").read_bytes()
    (folder,) = (path.parent for path in (root.parent / "state").glob("*/journal.sqlite3"))
    journal = SqliteJournal(folder)
    journal.begin("rename", [Step("write", f"{n}.md", before=b"old", after=b"new") for n in range(2)])
    journal.close()
    (root / "1.md").write_bytes(b"new")

    (second,) = servers(root, 1)
    with second:
        second.initialize()
        eventually(lambda: (root / "1.md").read_bytes() == b"old")
    assert (root / "0.md").read_bytes() == changed  # another text than the cut-off change knows is left as it is


def servers(root: Path, count: int) -> list[RawServer]:
    own = {"OBSIDIAN_MCP_CACHE": str(root.parent / "cache"), "OBSIDIAN_MCP_STATE": str(root.parent / "state")}
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", str(root)]
    return [RawServer(command, env=own) for _ in range(count)]


def all_at_once(started: list[RawServer], work: Callable[[RawServer, int], None]) -> None:
    threads = [threading.Thread(target=work, args=(server, who)) for who, server in enumerate(started)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    for server in started:
        with server:
            server.close_stdin()
            assert server.wait() == 0


def test_three_servers_appending_to_one_note_lose_no_line(root: Path) -> None:
    (root / "0.md").write_bytes(b"first\r\n")
    lines = 15
    failures: list[Any] = []

    def append(server: RawServer, who: int) -> None:
        server.initialize()
        for number in range(lines):
            arguments = {"name": "0", "operation": "append", "content": f"server {who} line {number}"}
            answer = server.call("tools/call", {"name": "obsidian_edit_note", "arguments": arguments})
            if "result" not in answer:
                failures.append(answer)

    all_at_once(servers(root, 3), append)
    written = (root / "0.md").read_bytes().split(b"\r\n")
    assert not failures
    assert sorted(written[1:-1]) == sorted(
        f"server {who} line {number}".encode() for who in range(3) for number in range(lines)
    )


def test_three_servers_that_do_different_things_to_the_same_notes_lose_nothing(root: Path) -> None:
    """SAFE-08: lines are added, a property is set, a tag and the note itself are renamed, all at the same time."""
    rounds = 6
    (root / "Note A0.md").write_bytes(b"---\ncount: 0 # keep\n---\n#tag0 text\n")
    (root / "Other.md").write_bytes(b"[[Note A0]] #tag0\n")
    failures: list[Any] = []

    def change(server: RawServer, who: int) -> None:
        server.initialize()
        for number in range(rounds):
            calls: list[tuple[str, dict[str, Any]]] = [
                ("obsidian_edit_note", {"name": "Other", "operation": "append", "content": f"line {who}.{number}"}),
                ("obsidian_set_properties", {"names": ["Other"], "properties": {f"p{who}": number}}),
            ]
            if who == 1:
                calls.append(("obsidian_move_note", {"name": f"Note A{number}", "to": f"Note A{number + 1}"}))
            if who == 2:
                calls.append(("obsidian_rename_tag", {"tag": f"tag{number}", "to": f"tag{number + 1}"}))
            for tool, arguments in calls:
                answer = server.call("tools/call", {"name": tool, "arguments": arguments})
                if "result" not in answer:
                    failures.append((tool, arguments, answer))

    all_at_once(servers(root, 3), change)
    assert not failures
    assert sorted(contents(root)) == [f"Note A{rounds}.md", "Other.md"]
    text = (root / "Other.md").read_text(encoding="utf-8")
    assert f"[[Note A{rounds}]] #tag{rounds}\n" in text
    assert {f"p{who}: {rounds - 1}" for who in range(3)} <= set(text.splitlines())
    added = [line for line in text.splitlines() if line.startswith("line ")]
    assert sorted(added) == sorted(f"line {who}.{number}" for who in range(3) for number in range(rounds))
    assert (root / f"Note A{rounds}.md").read_bytes() == b"---\ncount: 0 # keep\n---\n#tag%d text\n" % rounds

    vault = vault_on(Disk(root))
    (journal,) = (root.parent / "state").glob("*/journal.sqlite3")
    kept = SqliteJournal(journal.parent)
    assert kept.list_unfinished() == []
    changes, total = kept.changes(None, 500, 0)
    assert total == 3 * rounds * 2 + 2 * rounds
    assert [change.number for change in changes] == list(range(total, 0, -1))
    kept.close()
    vault.close()
