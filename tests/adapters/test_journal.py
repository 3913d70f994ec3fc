"""The journal on disk: what it keeps and for how long, and who may read it (specs/safety.md)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.adapters.journal_pruning import KEEP_CHANGES, PRUNE_EVERY
from obsidian_mcp.core.files.ports import Step
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.core.text.digest import etag_of
from obsidian_mcp.errors import OperationTimeout, StorageFailed
from tests.system import needs

DAY = 86_400.0
POSIX = needs("permissions of POSIX")


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def journal(tmp_path: Path, clock: Clock) -> Iterator[SqliteJournal]:
    opened = SqliteJournal(tmp_path / "state" / "vault", clock, keep_bytes=150_000)
    yield opened
    opened.close()


def record(journal: SqliteJournal, data: bytes, before: bytes = b"old") -> int:
    number = journal.begin("test", [Step("write", "a.md", before=before, after=data)])
    journal.finish(number)
    return number


def numbers(journal: SqliteJournal) -> list[int]:
    return [change.number for change in journal.changes(None, 10_000, 0)[0]]


def test_what_was_seen_is_kept_and_goes_with_its_change(journal: SqliteJournal, clock: Clock, tmp_path: Path) -> None:
    """UI-34: lists of thousands of changes are read without their steps"""
    first, second = record(journal, b"1"), record(journal, b"2")
    journal.mark_seen([first, first, 99])

    assert [(head.number, head.is_seen) for head in journal.list_heads()] == [(second, False), (first, True)]
    assert [change.number for change in journal.list_numbered([first, 99])] == [first]
    clock.now += 61 * DAY
    for _ in range(KEEP_CHANGES):
        record(journal, b"x")
    journal.prune()
    assert first not in [head.number for head in journal.list_heads()]
    with closing(sqlite3.connect(tmp_path / "state" / "vault" / "journal.sqlite3")) as again:
        assert again.execute("SELECT count(*) FROM seen").fetchone() == (0,)


def test_what_is_older_than_sixty_days_is_forgotten_but_not_the_latest_changes(
    journal: SqliteJournal, clock: Clock
) -> None:
    """SAFE-11"""
    for number in range(5):
        record(journal, b"%d" % number)
    clock.now += 61 * DAY
    for number in range(KEEP_CHANGES):
        record(journal, b"%d" % number)
    journal.prune()

    assert numbers(journal) == list(range(KEEP_CHANGES + 5, 5, -1))


def test_the_oldest_changes_go_first_when_the_journal_is_too_large(journal: SqliteJournal) -> None:
    """SAFE-11"""
    texts = [os.urandom(30_000) for _ in range(8)]
    kept = [record(journal, text) for text in texts]
    journal.prune()

    assert numbers(journal) == kept[:-4:-1]
    assert journal.version("a.md", etag_of(texts[-1])) == texts[-1]
    assert journal.version("a.md", etag_of(texts[0])) is None
    enormous = os.urandom(200_000)
    last = record(journal, enormous)
    journal.prune()
    assert numbers(journal) == [last]
    change = journal.change(last)
    assert change is not None
    assert change.steps[0].after == enormous


def test_size_is_looked_at_after_every_change(journal: SqliteJournal) -> None:
    """SAFE-11"""
    kept = [record(journal, os.urandom(30_000)) for _ in range(10)]

    assert numbers(journal) == kept[:-4:-1]


def test_age_is_looked_at_on_its_own(journal: SqliteJournal, clock: Clock) -> None:
    """SAFE-11"""
    record(journal, b"first")
    clock.now += 61 * DAY
    for number in range(3 * PRUNE_EVERY):
        record(journal, b"%d" % number)

    assert numbers(journal)[-1] == 2


@pytest.mark.parametrize("jump", [100 * 365 * DAY, -40 * 365 * DAY])
def test_a_clock_that_jumps_forgets_nothing_and_keeps_the_order(
    journal: SqliteJournal, clock: Clock, jump: float
) -> None:
    """SAFE-12"""
    first = [record(journal, b"%d" % number) for number in range(3)]
    clock.now += jump
    second = record(journal, b"later")
    clock.now -= jump
    third = record(journal, b"last")
    journal.prune()

    assert numbers(journal) == [third, second, *reversed(first)]


@POSIX
def test_nobody_else_may_read_old_versions_of_notes(journal: SqliteJournal, tmp_path: Path) -> None:
    """SAFE-13"""
    with journal.lock_for_writing():
        record(journal, b"secret")
        folder = tmp_path / "state" / "vault"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for file in folder.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600 or not file.read_bytes(), file.name  # that of the lock


def test_a_journal_that_cannot_be_used_says_so_and_where_it_is(tmp_path: Path) -> None:
    """SAFE-13"""
    (tmp_path / "occupied").write_bytes(b"")
    unusable = SqliteJournal(tmp_path / "occupied" / "state")
    with pytest.raises(StorageFailed, match="occupied"), unusable.lock_for_writing():
        pass
    with pytest.raises(StorageFailed, match="OBSIDIAN_MCP_STATE"):
        unusable.begin("test", [])
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / "journal.sqlite3").write_bytes(b"this is no database" * 100)
    damaged = SqliteJournal(folder)
    with pytest.raises(StorageFailed, match="damaged"):
        damaged.changes(None, 1, 0)
    damaged.close()


def test_equal_contents_are_kept_once(journal: SqliteJournal, tmp_path: Path) -> None:
    """SAFE-13"""
    text = os.urandom(50_000)
    for _ in range(5):
        record(journal, text, before=text)
    connection = sqlite3.connect(tmp_path / "state" / "vault" / "journal.sqlite3")
    assert connection.execute("SELECT count(*) FROM content").fetchone() == (1,)
    connection.close()


def test_what_was_not_finished_is_no_history_and_is_found_at_the_next_start(journal: SqliteJournal) -> None:
    """SAFE-13"""
    number = journal.begin("test", [Step("create", "n\udcff.md", after=b"x"), Step("move", "a", target="b")])

    assert numbers(journal) == []
    (cut_off,) = journal.list_unfinished()
    assert cut_off.number == number
    assert cut_off.steps == (Step("create", "n\udcff.md", after=b"x"), Step("move", "a", target="b"))
    journal.discard(number)
    assert journal.list_unfinished() == []
    assert journal.latest() == 0


def test_a_writer_that_waits_too_long_is_told_that_nothing_was_changed(tmp_path: Path) -> None:
    """SAFE-08"""
    one = SqliteJournal(tmp_path / "state")
    other = SqliteJournal(tmp_path / "state", patience=0.1)
    with one.lock_for_writing(), pytest.raises(OperationTimeout, match="Nothing was changed"), other.lock_for_writing():
        pass
    with other.lock_for_writing():
        with other.lock_for_writing():
            pass
        with pytest.raises(OperationTimeout), SqliteJournal(tmp_path / "state", patience=0).lock_for_writing():
            pass
    one.close()
    other.close()


def test_a_call_waits_for_another_writer_no_longer_than_its_limit(tmp_path: Path) -> None:
    """SAFE-17"""
    with (
        closing(SqliteJournal(tmp_path / "state")) as one,
        closing(SqliteJournal(tmp_path / "state", patience=60)) as other,
        one.lock_for_writing(),
        call_with(limit=Deadline(0.1)),
        pytest.raises(OperationTimeout, match=r"longer than 0\.1 s"),
        other.lock_for_writing(),
    ):
        pass


def test_a_change_that_was_undone_and_redone_a_thousand_times_is_listed(journal: SqliteJournal, tmp_path: Path) -> None:
    """SAFE-04"""
    first = record(journal, b"new")
    with closing(sqlite3.connect(tmp_path / "state" / "vault" / "journal.sqlite3")) as database, database:
        database.executemany(
            "INSERT INTO change (time, tool, undoes, done) VALUES (1, 'undo', ?, 1)",
            [(number,) for number in range(first, first + 2001)],
        )
    latest, before = journal.changes(None, 2, 0)[0]
    assert (latest.undone_by, before.undone_by) == (None, latest.number)
    found = journal.change(first)
    assert found is not None
    assert found.undone_by == first + 1


def test_a_full_disk_of_the_journal_is_called_full_where_sqlite_speaks_of_input_and_output(
    journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FILE-08"""

    def refused(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(sqlite3, "connect", refused)
    with pytest.raises(StorageFailed, match=r"\(disk I/O error\)"):
        journal.list_heads()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
    with pytest.raises(StorageFailed, match=r"\(the disk is full\).*Check the folder '[^']*'"):
        journal.list_heads()


def test_the_folder_of_a_journal_that_cannot_be_used_is_named_as_it_is(tmp_path: Path) -> None:
    """FILE-08"""
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / r"a\b"
    journal = SqliteJournal(folder)
    with pytest.raises(StorageFailed) as refused:
        journal.list_heads()
    journal.close()
    assert f"'{folder}'" in refused.value.message
    assert "\\\\" not in refused.value.message


def test_a_vault_that_is_only_read_gets_no_journal(tmp_path: Path) -> None:
    """SAFE-13"""
    journal = SqliteJournal(tmp_path / "state")

    assert journal.latest() == 0
    assert not (tmp_path / "state").exists()
    journal.close()
