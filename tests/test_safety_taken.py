"""Another program takes a file away in the middle of a call (specs/errors.md ERR-03, specs/safety.md SAFE-23)."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.core.vault.vault import Vault
from tests.conftest import app_on
from tests.vaults import answer, write_files

TEXTS = {
    "Work/A.md": "---\ntags: [t]\n---\n# Part\n[[B]] ![[img.png]] [[C#Hed]] B\n- [ ] task\n[[Gone]]\n",
    "Work/B.md": "# Head\n[[A]] #t A\n",
    "Work/Sub/C.md": "# Head\n[[A#Part]] [[B]] A\n",
    "Work/img.png": "x",
}
TAKEN = ("Work/A.md", "Work/B.md")
MOMENTS = 80
"""More than any of the calls looks at the disk."""
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read_note", {"name": "A", "view": "context"}),
    ("edit_note", {"name": "A", "operation": "rename_heading", "section": "Part", "content": "Whole"}),
    ("replace", {"query": "A", "find": "A", "content": "Z"}),
    ("compose_notes", {"action": "merge", "name": "A", "into": "B"}),
    ("compose_notes", {"action": "extract", "name": "A", "part": "Part", "into": "B"}),
    ("move_note", {"name": "A", "to": "X"}),
    ("move_note", {"name": "Work", "to": "Job"}),
    ("move_note", {"names": ["A", "B"], "to": "Q/"}),
    ("delete_note", {"name": "A", "attachments": True}),
    ("check", {}),
]


class Taking:
    """Does something once, before the call's thread looks at the disk for the nth time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._left = 0
        self._act: Callable[[], object] = lambda: None
        for name in ("read_file", "head", "stat", "exists", "config", "subfolders"):
            monkeypatch.setattr(Disk, name, self._before(getattr(Disk, name)))

    def arm(self, moment: int, act: Callable[[], object]) -> None:
        self._left, self._act = moment, act

    @property
    def is_done(self) -> bool:
        return self._left == 0

    def _before(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def look(*arguments: Any, **named: Any) -> Any:
            if self._left and threading.current_thread() is threading.main_thread():
                self._left -= 1
                if not self._left:
                    self._act()
            return method(*arguments, **named)

        return look


def write_anew(root: Path) -> None:
    """Give the vault its first files again, whatever a call has left."""
    for place in root.iterdir():
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    write_files(root, TEXTS)


def look_everywhere(vault: Vault) -> None:
    """Another call, in its thread, notices the change, unless this one has the lock."""

    def look() -> None:
        if vault.lock.acquire(blocking=False):
            try:
                vault.look_everywhere()
            finally:
                vault.lock.release()

    other = threading.Thread(target=look)
    other.start()
    other.join()


@pytest.fixture
def taking(monkeypatch: pytest.MonkeyPatch) -> Taking:
    return Taking(monkeypatch)


@pytest.mark.parametrize(("tool", "given"), CALLS, ids=[f"{n} {tool}" for n, (tool, _) in enumerate(CALLS)])
def test_a_file_that_is_taken_at_any_moment_of_a_call_is_no_fault_of_ours(
    tmp_path: Path, taking: Taking, tool: str, given: dict[str, Any]
) -> None:
    """Issue 56, point 8: a folder's move beside another server ended with KeyError in 6 of 278 calls."""
    root = tmp_path / "vault"
    root.mkdir()
    app = app_on(root)
    vault = app.vaults.get()
    for path in TAKEN:

        def take(place: Path = root / path) -> None:
            place.unlink(missing_ok=True)
            look_everywhere(vault)

        for moment in range(1, MOMENTS):
            write_anew(root)
            vault.look_everywhere()
            vault.indexer.complete()

            taking.arm(moment, take)
            answer(app, tool, **given)  # raises for what is no AppError
            is_taken = taking.is_done
            taking.arm(0, lambda: None)  # what is done to the vault afterwards is no part of the call
            if not is_taken:
                break
        else:
            raise AssertionError(f"{tool} looks at the disk more than {MOMENTS} times")
