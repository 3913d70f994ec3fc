"""Searches while a vault's folder is looked at for the first time (SEARCH-115, INDEX-64)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from obsidian_mcp.adapters.folder import VaultFolder
from obsidian_mcp.app import App
from obsidian_mcp.core.files.ports import Change, DiskFile
from obsidian_mcp.core.index import early_answers
from obsidian_mcp.core.operations import recall
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.core.vault import first_look
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError, VaultNotFound
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on

WITHIN = 60.0
HELD_UP = 20.0
STILL = "still being looked at"


class Look:
    """Holds up the look at the whole folder until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._go_on = threading.Event()
        scan = VaultFolder.scan

        def wait_and_scan(
            folder: VaultFolder, below: str = "", is_wanted: Callable[[str], bool] | None = None
        ) -> Iterator[DiskFile]:
            if not below and is_wanted is None:
                assert self._go_on.wait(HELD_UP)
            return scan(folder, below, is_wanted)

        monkeypatch.setattr(VaultFolder, "scan", wait_and_scan)
        monkeypatch.setattr(early_answers, "SMALL_FILES", 0)
        monkeypatch.setattr(first_look, "SERVER_SECONDS", 0.01)
        monkeypatch.setattr(first_look, "COMMAND_SECONDS", 0.01)

    def end(self) -> None:
        self._go_on.set()

    @property
    def has_ended(self) -> bool:
        return self._go_on.is_set()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with an index on disk."""
    root = tmp_path / "vault"
    (root / "Trips").mkdir(parents=True)
    write(root / "Clocks.md", "The escapement ticks.")
    write(root / "Gears.md", "The escapement has teeth. See [[Rome]].")
    write(root / "Trips" / "Rome.md", "A clock tower.")
    opened = app_on(root)
    assert search(opened, "escapement") == (["Clocks.md", "Gears.md"], "")
    opened.vaults.get().indexer.complete()
    opened.vaults.close()
    return root


def write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8", newline="\n")


def search(app: App, query: str, **arguments: object) -> tuple[list[str], str]:
    """Return the paths found, sorted, and what is said of what is missing."""
    with call_with(limit=Deadline(WITHIN)):
        answer = call(app, "obsidian_search", {"query": query, **arguments}).data
    return sorted(hit["path"] for hit in answer["hits"]), answer.get("incomplete", "")


@pytest.mark.parametrize("serving", [False, True])
def test_a_search_does_not_wait_for_a_look_that_takes_long_and_says_so(root: Path, look: Look, serving: bool) -> None:
    """SEARCH-115, INDEX-64"""
    opened = app_on(root, serving=serving, watch=False)
    paths, remark = search(opened, "escapement")
    assert paths == ["Clocks.md", "Gears.md"]
    assert STILL in remark


def test_a_note_that_changed_or_went_meanwhile_is_never_shown_as_it_was(root: Path, look: Look) -> None:
    write(root / "Clocks.md", "Nothing ticks here, but a longer text.")
    write(root / "Gears.md", "The escapement has thirty teeth.")
    write(root / "New.md", "Another escapement.")
    opened = app_on(root)
    paths, remark = search(opened, "escapement")
    assert paths == ["Gears.md"]
    assert STILL in remark
    (root / "Gears.md").unlink()
    look.end()
    assert search(opened, "escapement") == (["New.md"], "")


def test_a_small_vault_is_looked_at_to_the_end(root: Path, look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_answers, "SMALL_FILES", 3)
    write(root / "New.md", "Another escapement.")
    threading.Timer(0.1, look.end).start()
    assert search(app_on(root), "escapement") == (["Clocks.md", "Gears.md", "New.md"], "")


def test_that_nothing_is_found_is_said_when_all_files_are_known(root: Path, look: Look) -> None:
    write(root / "New.md", "A remontoire.")
    opened = app_on(root)
    threading.Timer(0.1, look.end).start()
    assert search(opened, "remontoire") == (["New.md"], "")


@pytest.mark.parametrize(
    ("query", "arguments"),
    [("path:Trips", {}), ("tower", {"folder": "Trips"}), ("tower", {"name": "Rome"})],
)
def test_a_search_by_names_waits_until_all_files_are_known(
    root: Path, look: Look, query: str, arguments: dict[str, object]
) -> None:
    opened = app_on(root)
    threading.Timer(0.1, look.end).start()
    paths, remark = search(opened, query, **arguments)
    assert paths == ["Trips/Rome.md"]
    assert not remark


def test_groups_and_times_are_answered_before_the_look_has_ended(root: Path, look: Look) -> None:
    opened = app_on(root)
    grouped = call(opened, "obsidian_search", {"query": "escapement", "group": "folder"}).data
    assert [group["count"] for group in grouped["groups"]] == [2]
    assert STILL in grouped["incomplete"]
    paths, remark = search(opened, "", modified_after="last 7 days")
    assert paths == ["Clocks.md", "Gears.md", "Trips/Rome.md"]
    assert STILL in remark


def test_what_a_person_excludes_is_not_found_before_the_look_has_ended(root: Path, look: Look) -> None:
    (root / ".obsidian").mkdir()
    write(root / ".obsidian" / "app.json", '{"userIgnoreFilters": ["Gears"]}')
    assert search(app_on(root), "escapement")[0] == ["Clocks.md"]


def test_a_vault_that_is_gone_is_an_error_and_no_answer_from_before(root: Path, look: Look) -> None:
    opened = app_on(root)
    assert search(opened, "escapement")[0]
    root.rename(root.with_name("away"))
    with pytest.raises(AppError) as caught:
        search(opened, "escapement")
    assert isinstance(caught.value, VaultNotFound)


def test_recall_shows_what_notes_say_now(root: Path, look: Look) -> None:
    write(root / "Gears.md", "The escapement has thirty teeth.")
    opened = app_on(root).vaults.get("", listed=False)
    passages = recall.recall(opened, "escapement teeth", 1_500, patience=0.01)
    assert next(passage.text for passage in passages) == "The escapement has thirty teeth."


def test_a_command_that_ends_does_not_wait_for_the_look(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Look(monkeypatch)
    opened = app_on(root)
    assert search(opened, "escapement")[0]
    threading.Timer(0.2, held.end).start()
    opened.vaults.close()


def test_the_files_of_the_first_look_do_not_count_as_changed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where a question compares them with the index in the moment in which they are noted."""
    held = Look(monkeypatch)
    noted, going_on = threading.Event(), threading.Event()
    note = Vault._note

    def hold_up_note(vault: Vault, changes: Iterable[Change]) -> None:
        noted.set()
        assert going_on.wait(WITHIN)
        note(vault, changes)

    monkeypatch.setattr(Vault, "_note", hold_up_note)
    opened = app_on(root).vaults.get("", listed=False)
    questions = threading.Thread(target=opened.indexer.pending.begin_once)
    held.end()
    assert noted.wait(WITHIN)
    questions.start()
    questions.join(0.1)
    going_on.set()
    questions.join(WITHIN)
    opened.refresh()
    assert not opened.indexer.pending.by_path
