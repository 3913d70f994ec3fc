"""A change dies half made, a person goes on writing, and the next change takes back what was made, only that (SAFE-03).

What the dead process has not written is not taken back: its old lines stand in the files already.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.errors import AppError
from tests.examples import examples
from tests.other_program import CHANGING, Append, Line, places_of, without_lines
from tests.random_calls import BEFORE, CALLS, MORE_CALLS, SETTINGS, open_again, shared_vault
from tests.system import needs
from tests.vaults import contents, write_files

NOTES = 200
WRITTEN = 10
"""Notes that are written when the process dies."""


class Death(BaseException):
    """The process is gone: it does nothing after this, not even tidy up."""


def die() -> None:
    raise Death


def kill_this_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DyingDisk(Disk):
    """The disk of a process that dies before its n-th change of a file, or right after it."""

    def __init__(self, root: Path, *, at: int, is_late: bool, die: Callable[[], None] = die) -> None:
        super().__init__(root)
        self.die = die
        self.left = at
        self.is_late = is_late
        self.changed: list[str] = []
        """Files that it has changed, in order."""

    def __getattribute__(self, name: str) -> Any:
        method = super().__getattribute__(name)
        return partial(self.change, method) if name in CHANGING else method

    def change(self, method: Any, disk: str, *arguments: Any, **named: Any) -> Any:
        self.left -= 1
        if self.left < 0 or (self.left == 0 and not self.is_late):
            self.die()
        answer = method(disk, *arguments, **named)
        self.changed.append(disk)
        if self.left == 0:
            self.die()
        return answer


def make_next_change(root: Path) -> None:
    """As the next process does that is about to change something."""
    with open_again(root) as vault, vault.app.vaults.get("").lock_changes():
        pass


BODIES = {
    "removes the last line": ("keep\n{0}\nlast\n", "^last\n", ""),
    "removes the only line": ("last\n", "^last\n", ""),
    "removes a line in the middle": ("keep\nlast\n{0}\n", "^last\n", ""),
    "changes the last line": ("keep\n{0}\nlast\n", "last", "other"),
    "adds a line at the end": ("keep\n{0}\nlast\n", "last\n", "last\nmore\n"),
    "doubles the last line": ("keep\n{0}\nlast\n", "last\n", "last\nlast\n"),
    "removes one of two last lines": ("keep\n{0}\nlast\nlast\n", "^last\nlast\n", "last\n"),
}
"""What a replace does: the text of each note, what is found, and what replaces it."""


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("body", BODIES)
def test_what_a_killed_replace_has_not_written_is_not_taken_back(tmp_path: Path, body: str, is_late: bool) -> None:
    """SAFE-01, SAFE-03: Issue 56, point 2: in 190 of 200 notes the removed line stood twice."""
    text, find, content = BODIES[body]
    root = write_files(tmp_path / "vault", {f"{number}.md": text.format(number) for number in range(NOTES)})
    disk = DyingDisk(root, at=WRITTEN + 1 - is_late, is_late=is_late)
    with open_again(root, lambda _: disk) as vault, pytest.raises(Death):
        vault.call({"tool": "replace", "query": "last", "regex": True, "find": find, "content": content})
    assert len(disk.changed) == WRITTEN
    assert (
        sum(data != text.format(path.removesuffix(".md")).encode() for path, data in contents(root).items()) == WRITTEN
    )
    for path in root.glob("*.md"):
        with path.open("ab") as file:
            file.write(b"a person's\n")

    make_next_change(root)

    expected = {f"{number}.md": f"{text.format(number)}a person's\n".encode() for number in range(NOTES)}
    assert contents(root) == expected


@needs("forks", "signals between processes")
def test_a_replace_that_is_killed_as_a_process_is_taken_back_in_the_notes_it_has_written(tmp_path: Path) -> None:
    """SAFE-03: Issue 56, point 2: kill -9 after ten of the notes."""
    root = write_files(tmp_path / "vault", {f"{number}.md": f"{number}\nlast\n" for number in range(NOTES)})
    child = os.fork()
    if child == 0:
        try:
            with open_again(root, partial(DyingDisk, at=WRITTEN, is_late=True, die=kill_this_process)) as vault:
                vault.call({"tool": "replace", "query": "last", "find": "last\n", "content": ""})
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    for path in root.glob("*.md"):
        with path.open("ab") as file:
            file.write(b"a person's\n")

    make_next_change(root)

    assert contents(root) == {f"{number}.md": f"{number}\nlast\na person's\n".encode() for number in range(NOTES)}


@pytest.mark.parametrize("first", CALLS)
@examples(5)
@given(data=st.data())
def test_a_killed_batch_is_taken_back_around_what_a_person_writes(first: str, data: st.DataObject) -> None:
    """SAFE-03, BATCH-08, SAFE-22: before the next change, and while that takes the batch back."""
    batch = [data.draw(CALLS[first]), *data.draw(MORE_CALLS)]
    dying = partial(DyingDisk, at=data.draw(st.integers(1, 8)), is_late=data.draw(st.booleans()))
    with shared_vault(dying) as vault:
        try:
            vault.batch(batch)
        except AppError:
            return
        except Death:
            paths = sorted(vault.files().keys() - SETTINGS)
        else:
            return
        appends = [Append(path, makes=False) for path in data.draw(st.lists(st.sampled_from(paths), max_size=4))]
        late = data.draw(st.lists(st.tuples(st.integers(0, 60), st.sampled_from(paths)), max_size=2))
        with open_again(vault.root) as again:
            for append in appends:
                again.other.write(append)
            lines = list(again.other.lines)
            again.other.plan({moment: [Append(path, makes=False)] for moment, path in late})
            with again.app.vaults.get("").lock_changes():
                check_taken_back(again.files(), [*lines, *again.other.lines])


def check_taken_back(left: dict[str, bytes], lines: list[Line]) -> None:
    """Check that the files are as before, but for a person's lines and for new files that hold such a line."""
    own = without_lines(left)
    for path in own.keys() - BEFORE.keys():
        assert any(path in places_of(line, left) for line in lines)
        del own[path]
    assert own == without_lines(BEFORE)
    assert {line: places_of(line, left).total() for line in lines} == dict.fromkeys(lines, 1)
