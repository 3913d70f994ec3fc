"""The index's file: damage, other versions, disks that cannot be written, several programs at once."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from obsidian_mcp.adapters.index_database import IndexDatabase
from obsidian_mcp.adapters.index_files import version_file
from obsidian_mcp.core.index.database import Busy, Replaced
from obsidian_mcp.core.index.index import Index
from obsidian_mcp.core.index.pending_files import BATCH_FILES
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import StorageFailed
from tests.conftest import is_open
from tests.core.memory import MemoryVault, apply
from tests.index_dump import dump
from tests.system import can, needs

SCHEMA = ("CREATE TABLE state (identity TEXT, generation INTEGER)", "CREATE TABLE words (word TEXT UNIQUE)")
PACKAGE = Path(__file__).parents[2]


OPEN: list[IndexDatabase | Index] = []


@pytest.fixture(autouse=True)
def _closed(unclosed: Callable[[], list[sqlite3.Connection]]) -> Iterator[None]:
    """Whatever happened: a closed database leaves no connection to the collector."""
    yield
    while OPEN:
        OPEN.pop().close()
    assert unclosed() == []


def opened(file: Path | None) -> IndexDatabase:
    database = IndexDatabase(file, SCHEMA, 7)
    OPEN.append(database)
    return database


def add(database: IndexDatabase, *words: str) -> None:
    with database.write_transaction() as connection:
        connection.executemany("INSERT INTO words VALUES (?)", [(word,) for word in words])


def words(database: IndexDatabase) -> list[str]:
    with database.read_transaction() as connection:
        return [word for (word,) in connection.execute("SELECT word FROM words ORDER BY rowid")]


@pytest.mark.parametrize("place", ["v.db", None])
def test_what_was_written_is_read_and_a_failed_transaction_is_not(tmp_path: Path, place: str | None) -> None:
    database = opened(tmp_path / place if place else None)
    add(database, "a")
    with pytest.raises(sqlite3.IntegrityError):
        add(database, "b", "a")

    assert words(database) == ["a"]
    assert database.warning is None
    database.close()


def test_what_is_under_way_when_the_database_is_closed_ends_well_and_leaves_nothing_open(tmp_path: Path) -> None:
    database = opened(tmp_path / "v.db")
    add(database, "a")

    with database.read_transaction() as connection:
        database.close()
        assert connection.execute("SELECT word FROM words").fetchall() == [("a",)]
    assert not is_open(connection)
    with database.write_transaction() as late:
        late.execute("INSERT INTO words VALUES ('b')")
    assert not is_open(late)
    assert words(opened(tmp_path / "v.db")) == ["a", "b"]


@pytest.mark.parametrize("place", ["v.db", None])
def test_a_closed_database_that_is_begun_anew_stays_closed(
    tmp_path: Path, place: str | None, unclosed: Callable[[], list[sqlite3.Connection]]
) -> None:
    database = opened(tmp_path / place if place else None)
    add(database, "a")
    database.close()
    database.begin_anew()
    assert unclosed() == []
    if place:
        assert words(database) == ["a"]  # as of a closed database: the file is the one that it was
    else:
        with pytest.raises(Replaced):
            words(database)
    assert unclosed() == []


@pytest.mark.parametrize("place", ["v.db", None])
def test_a_database_that_cannot_be_copied_leaves_no_copy_open(
    tmp_path: Path, place: str | None, unclosed: Callable[[], list[sqlite3.Connection]]
) -> None:
    database = opened(tmp_path / place if place else None)
    database.close()
    shutil.rmtree(tmp_path)
    with pytest.raises(Replaced):
        database.copy_to_memory()
    assert unclosed() == []


def test_a_second_opening_finds_what_the_first_one_wrote(tmp_path: Path) -> None:
    """INDEX-10"""
    first = opened(tmp_path / "v.db")
    add(first, "a")
    second = opened(tmp_path / "v.db")
    add(second, "b")

    assert words(first) == words(second) == ["a", "b"]
    assert first.file == second.file


def test_each_version_of_the_program_has_a_file_of_its_own(tmp_path: Path) -> None:
    """INDEX-11: Those of other versions go when nobody has used them for long, with the numbered
    ones of former versions."""
    names = ["index.00000007.sqlite3", "index.00000007.3.sqlite3", "index.00000009.sqlite3", "indexed.00000007.sqlite3"]
    for name in names:
        (tmp_path / name).touch()
        if "9" not in name:
            os.utime(tmp_path / name, (0, 0))

    file = version_file(tmp_path / "index.sqlite3")
    file.touch()
    os.utime(file, (0, 0))

    assert version_file(tmp_path / "index.sqlite3") == file
    assert sorted(found.name for found in tmp_path.iterdir()) == sorted([file.name, *names[2:]])


@pytest.mark.parametrize("damage", [b"", b"no database", b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_begun_anew_when_it_is_opened(tmp_path: Path, damage: bytes) -> None:
    """INDEX-12"""
    first = opened(tmp_path / "v.db")
    add(first, "a")
    first.close()
    assert first.file is not None
    first.file.write_bytes(damage)

    again = opened(tmp_path / "v.db")
    add(again, "b")

    assert words(again) == ["b"]
    assert again.warning is None


def test_a_foreign_database_under_the_name_is_replaced(tmp_path: Path) -> None:
    """INDEX-12"""
    foreign = sqlite3.connect(tmp_path / "v.db")
    foreign.execute("PRAGMA user_version=99")
    foreign.close()

    again = opened(tmp_path / "v.db")
    add(again, "a")

    assert words(again) == ["a"]
    assert again.file == tmp_path / "v.db"


def test_a_program_notices_that_another_one_has_replaced_the_file_where_that_is_possible(tmp_path: Path) -> None:
    """INDEX-12"""
    first, second = opened(tmp_path / "v.db"), opened(tmp_path / "v.db")
    add(first, "a")
    assert words(second) == ["a"]
    if not can("removing open files"):
        with pytest.raises(StorageFailed, match="open in another program"):
            second.begin_anew()
        assert words(first) == words(second) == ["a"]
        first.close()
        second.begin_anew()
        assert words(second) == []
        return
    second.begin_anew()
    add(second, "b")

    with pytest.raises(Replaced):
        words(first)
    assert words(first) == ["b"]
    add(first, "c")
    assert words(second) == ["b", "c"]
    assert (first.epoch, second.epoch) == (1, 1)


@needs("removing open files")
def test_a_cache_folder_that_is_removed_while_the_program_runs_is_made_again(tmp_path: Path) -> None:
    """INDEX-12"""
    database = opened(tmp_path / "cache" / "v.db")
    add(database, "a")
    shutil.rmtree(tmp_path / "cache")

    with pytest.raises(Replaced):
        words(database)
    add(database, "b")
    assert words(opened(tmp_path / "cache" / "v.db")) == ["b"]


def test_damage_found_while_the_program_runs_gives_an_empty_database(tmp_path: Path) -> None:
    """INDEX-12"""
    database = opened(tmp_path / "v.db")
    add(database, *(f"word {number}" * 20 for number in range(2000)))
    damage(database)

    with pytest.raises(Replaced):
        words(database)
    assert words(database) == []
    add(database, "a")
    assert words(database) == ["a"]
    assert database.epoch == 1
    assert words(opened(tmp_path / "v.db")) == ["a"]


def test_damage_found_while_writing_gives_an_empty_database(tmp_path: Path) -> None:
    database = opened(tmp_path / "v.db")
    add(database, *(f"word {number}" * 20 for number in range(2000)))
    damage(database)

    with pytest.raises(Replaced), database.write_transaction() as connection:
        connection.execute("DELETE FROM words")
    add(database, "a")
    assert words(database) == ["a"]


def test_a_wrong_statement_is_no_damage(tmp_path: Path) -> None:
    database = opened(tmp_path / "v.db")
    add(database, "a")

    with pytest.raises(sqlite3.OperationalError), database.read_transaction() as connection:
        connection.execute("SELECT FROM WHERE")
    assert words(database) == ["a"]
    assert database.epoch == 0


def damage(database: IndexDatabase) -> None:
    """Overwrite the middle of the file, as a bad disk would."""
    with database.write_transaction() as connection:
        connection.execute("INSERT INTO words VALUES ('last')")
        connection.execute("PRAGMA cache_size=0")
    file = database.file
    assert file is not None
    with database.read_transaction() as connection:
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(file.read_bytes())
    data[4096 : len(data) // 2] = b"\xff" * (len(data) // 2 - 4096)
    file.write_bytes(data)


def test_where_no_file_can_be_made_the_temporary_folder_serves(tmp_path: Path) -> None:
    """INDEX-13"""
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    database = opened(tmp_path / "file" / "v.db")
    add(database, "a")

    assert words(database) == ["a"]
    assert database.warning is not None
    assert database.file is not None
    assert tmp_path not in database.file.parents
    database.close()
    assert not database.file.exists()


def test_without_a_temporary_folder_memory_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file" / "tmp"))
    database = opened(tmp_path / "file" / "v.db")
    add(database, "a")

    assert words(database) == ["a"]
    assert database.file is None
    assert database.warning is not None


def test_a_full_disk_moves_the_database_elsewhere(tmp_path: Path) -> None:
    """INDEX-13"""
    database = opened(tmp_path / "v.db")
    add(database, "a")
    with database.write_transaction() as connection:
        connection.execute("PRAGMA max_page_count=4")  # SQLite then says what it says when the disk is full

    with pytest.raises(Replaced):
        add(database, *(f"{n}" * 2000 for n in range(100)))
    add(database, *(f"{n}" * 2000 for n in range(100)))

    assert len(words(database)) == 100
    assert database.warning is not None
    assert "full" in database.warning
    database.close()


def test_a_writer_that_never_ends_makes_others_busy_and_not_broken(tmp_path: Path) -> None:
    first, second = opened(tmp_path / "v.db"), opened(tmp_path / "v.db")
    with first.write_transaction() as connection:
        connection.execute("INSERT INTO words VALUES ('a')")
        with pytest.raises(Busy), second.write_transaction(0.05):
            pass
        with ThreadPoolExecutor(1) as thread:
            assert isinstance(thread.submit(first.write_transaction(0.05).__enter__).exception(), Busy)
        assert words(second) == []
    add(second, "b")
    assert words(first) == ["a", "b"]
    assert second.epoch == 0


@pytest.mark.parametrize("place", ["v.db", None])
def test_many_threads_write_and_read_one_database(tmp_path: Path, place: str | None) -> None:
    database = opened(tmp_path / place if place else None)

    def work(number: int) -> None:
        for step in range(20):
            add(database, f"{number} {step}")
            assert f"{number} {step}" in words(database)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))

    assert len(words(database)) == 160


BUILD = """
    import sys
    from pathlib import Path
    from tests.core.memory import MemoryVault, apply

    class Pausing(MemoryVault):
        looks = 0

        def stat(self, disk):  # called inside the transaction, once a file
            self.looks += 1
            if self.looks == int(sys.argv[2]):
                print("there", flush=True)
                sys.stdin.readline()
            return super().stat(disk)

    vault = Pausing({f"{n}.md": f"[[{n + 1}]] #t{n % 7}\\n" * 20 for n in range(700)}, Path(sys.argv[1]))
    vault.indexer.pending.begin()
    print("begun", flush=True)
    sys.stdin.readline()
    vault.indexer.complete()
    vault.index.close()
"""


class Program:
    """A program of its own that builds an index. It waits when it has begun, and at the `pause`th file."""

    def __init__(self, place: Path, pause: int = 0) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(BUILD), str(place), str(pause)],
            cwd=PACKAGE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        self.expect("begun\n")

    def expect(self, line: str) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == line

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go on\n")
        self.process.stdin.flush()

    def end(self) -> int:
        self.process.communicate(timeout=60)
        return self.process.returncode


def vault_of_build(place: Path | None = None) -> MemoryVault:
    vault = MemoryVault({f"{n}.md": f"[[{n + 1}]] #t{n % 7}\n" * 20 for n in range(700)}, place)
    OPEN.append(vault.index)
    vault.indexer.pending.begin()
    return vault


def dump_of_build() -> dict[str, list[tuple[object, ...]]]:
    vault = vault_of_build()
    apply(vault.index, vault.contents())
    return dump(vault.index)


def test_two_programs_that_build_one_index_leave_what_one_would(tmp_path: Path) -> None:
    """INDEX-14"""
    programs = [Program(tmp_path / "v.db"), Program(tmp_path / "v.db")]
    for program in programs:
        program.go_on()
    assert [program.end() for program in programs] == [0, 0]

    vault = vault_of_build(tmp_path / "v.db")
    assert vault.indexer.pending.by_path == {}
    assert dump(vault.index) == dump_of_build()


def test_a_build_that_was_killed_goes_on_from_where_it_was(tmp_path: Path) -> None:
    """INDEX-15"""
    program = Program(tmp_path / "v.db", pause=600)  # in the middle of the second batch
    program.go_on()
    program.expect("there\n")
    program.process.kill()
    assert program.end() != 0

    vault = vault_of_build(tmp_path / "v.db")
    assert len(vault.indexer.pending.by_path) == 700 - BATCH_FILES
    assert [found.source for found in vault.graph.backlinks(VaultPath("699.md")).value] == ["698.md"] * 20
    assert dump(vault.index) == dump_of_build()
