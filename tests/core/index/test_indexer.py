"""How current the rows are that answer a question, and how the index follows the files (specs/index.md)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.core.graph.results import TagUse
from obsidian_mcp.core.index import indexer
from obsidian_mcp.core.index.database import Busy
from obsidian_mcp.core.index.freshness import CURRENT, Answer, Progress
from obsidian_mcp.core.index.pending_files import BATCH_FILES, FIRST_FILES, FRESH_FILES, PendingFiles
from obsidian_mcp.core.links.resolve import keys_of
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import OperationTimeout, PermissionDenied
from tests.core.memory import MemoryVault, apply
from tests.index_dump import dump

MANY = 600


class Held:
    """A background that stores a batch when the test says so."""

    def __init__(self, vault: MemoryVault) -> None:
        self._indexer = vault.indexer
        self.wakes = 0
        vault.indexer.pending.background = self

    def wake(self) -> None:
        self.wakes += 1

    def stop(self) -> None:
        pass

    def store(self, batches: int = 1_000) -> None:
        for _ in range(batches):
            batch = self._indexer.pending.take()
            if batch is None:
                return
            self._indexer.pending.finish_batch(batch, self._indexer.pending.ingest(batch))


@pytest.fixture
def large() -> Iterator[MemoryVault]:
    """More notes than are stored before an answer; none of them is indexed."""
    files = {f"{n:03}.md": f"[[{n + 1:03}]] #t{n % 3}" for n in range(MANY)} | {"Zürich 東京.md": "[[000]]"}
    with MemoryVault(files) as vault:
        vault.indexer.pending.begin()
        yield vault


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer, "BUILD_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(indexer, "WRITE_WAIT_SECONDS", 0.01)


@contextmanager
def being_written(vault: MemoryVault) -> Iterator[None]:
    """Another thread holds the index, so that nothing can be stored."""
    begun, end = threading.Event(), threading.Event()

    def hold() -> None:
        with vault.index.database.write_transaction():
            begun.set()
            end.wait(30)

    with ThreadPoolExecutor(1) as thread:
        holding = thread.submit(hold)
        begun.wait(30)
        try:
            yield
        finally:
            end.set()
            holding.result(30)


def sources(vault: MemoryVault, path: str) -> list[str]:
    return [found.source for found in vault.graph.backlinks(VaultPath(path)).value]


def rewrite(vault: MemoryVault, count: int, text: str) -> None:
    for n in range(count):
        vault.write(f"{n:03}.md", text)
    vault.look()


def test_up_to_so_many_changed_files_are_stored_before_the_answer(large: MemoryVault) -> None:
    """INDEX-40, INDEX-23"""
    large.indexer.complete()
    background = Held(large)
    rewrite(large, FRESH_FILES, "[[250]]")
    answer = large.graph.backlinks(VaultPath("250.md"))

    assert len(answer.value) == FRESH_FILES + 1
    assert (answer.freshness, answer.notice) == (CURRENT, None)
    assert large.indexer.pending.by_path == {}
    assert background.wakes == 0


def test_a_question_waits_for_the_few_files_that_another_thread_stores(large: MemoryVault) -> None:
    """INDEX-40"""
    large.indexer.complete()
    rewrite(large, FRESH_FILES, "#new")
    batch = large.indexer.pending.take()
    assert batch is not None
    reported = threading.Semaphore(0)

    def ask() -> Answer[tuple[TagUse, ...]]:
        with call_with(progress=lambda *_: reported.release()):
            return large.graph.tags()

    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(ask)
        for _ in range(4):  # it has waited longer than for another program
            assert reported.acquire(timeout=30)
        large.indexer.pending.finish_batch(batch, large.indexer.pending.ingest(batch))
        answer = asked.result(30)
    assert {use.tag: use.files for use in answer.value}["new"] == FRESH_FILES
    assert answer.freshness == CURRENT


def test_beyond_that_the_indexed_rows_answer_and_the_answer_says_how_many_files_are_missing(large: MemoryVault) -> None:
    """INDEX-40, INDEX-24"""
    large.indexer.complete()
    background = Held(large)
    rewrite(large, FRESH_FILES + 1, "#new")
    answer = large.graph.tags()

    assert [use.tag for use in answer.value] == ["t0", "t1", "t2"]
    assert answer.freshness.pending == FRESH_FILES + 1
    assert answer.notice == "33 changed files are not in the index yet; this answer shows what was indexed before."
    assert background.wakes > 0

    background.store()
    assert {use.tag: use.files for use in large.graph.tags().value}["new"] == FRESH_FILES + 1
    assert large.graph.tags().notice is None


def test_during_a_first_build_an_answer_covers_what_is_indexed_and_says_so(large: MemoryVault, impatient: None) -> None:
    """INDEX-41"""
    background = Held(large)
    background.store(1)
    answer = large.graph.tags()

    assert answer.freshness.building is not None
    done, total = answer.freshness.building
    assert 2 * FIRST_FILES <= done < total == MANY + 1  # a batch of the background, and at least one of the question
    assert sum(use.files for use in answer.value) == done - 1  # one of them has no tag
    assert answer.notice == (
        f"The index is being built: {done} of 601 notes. This answer covers only those; ask again in a while."
    )
    background.store()
    assert large.graph.tags().notice is None


def test_a_question_waits_a_while_for_a_first_build(large: MemoryVault, monkeypatch: pytest.MonkeyPatch) -> None:
    """INDEX-41"""
    monkeypatch.setattr(indexer, "BUILD_WAIT_SECONDS", 30.0)
    background = Held(large)
    building = threading.Thread(target=background.store)
    building.start()
    answer = large.graph.tags()
    building.join(30)

    assert [(use.tag, use.files) for use in answer.value] == [("t0", MANY // 3), ("t1", MANY // 3), ("t2", MANY // 3)]
    assert answer.notice is None


def test_a_build_that_is_soon_whole_is_waited_for_to_its_end(
    large: MemoryVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INDEX-41"""
    monkeypatch.setattr(indexer, "BUILD_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(indexer, "NEARLY_DONE", 100_000)
    Held(large).store(1)
    answer = large.graph.tags()

    assert sum(use.files for use in answer.value) == MANY
    assert answer.notice is None


def test_the_newest_files_are_indexed_first(large: MemoryVault) -> None:
    """INDEX-41"""
    Held(large).store(1)
    assert set(large.indexer.pending.by_path) == {f"{n:03}.md" for n in range(MANY + 1 - FIRST_FILES)}


def test_the_first_batches_of_a_build_are_small(large: MemoryVault) -> None:
    """INDEX-15"""
    sizes = []
    while batch := large.indexer.pending.take():
        sizes.append(len(batch.entries))
        large.indexer.pending.finish_batch(batch, large.indexer.pending.ingest(batch))
    assert sizes == [32, 32, 64, 128, 256, 89]
    assert max(sizes) < BATCH_FILES


def test_where_a_process_answers_one_question_it_waits_for_the_whole_index(large: MemoryVault) -> None:
    """INDEX-22"""
    background = Held(large)
    large.indexer.is_patient = True
    seen: list[tuple[int, int]] = []

    def report(done: int, total: int, _: str) -> None:
        seen.append((done, total))
        background.store(1)

    with call_with(progress=report):
        answer = large.graph.tags()
    assert sum(use.files for use in answer.value) == MANY
    assert seen == sorted(seen)
    assert {total for _, total in seen[:-1]} == {MANY + 1}


def test_without_a_background_a_question_stores_everything_itself(large: MemoryVault) -> None:
    """INDEX-22"""
    answer = large.graph.tags()

    assert [(use.tag, use.files) for use in answer.value] == [("t0", MANY // 3), ("t1", MANY // 3), ("t2", MANY // 3)]
    assert large.indexer.pending.by_path == {}
    assert answer.notice is None


def test_what_one_file_says_is_read_from_it_while_it_is_pending(large: MemoryVault) -> None:
    """INDEX-20"""
    Held(large)
    answer = large.graph.outgoing_links(VaultPath("007.md"))

    assert [(found.target, found.link.original) for found in answer.value] == [("008.md", "[[008]]")]
    assert answer.notice is None


def test_a_change_of_links_misses_no_file_that_is_pending(large: MemoryVault, impatient: None) -> None:
    """INDEX-43"""
    background = Held(large)
    background.store(1)
    assert large.graph.sources_of(keys_of(VaultPath("007.md"))) == ("006.md",)
    large.delete("006.md")
    large.look()
    assert large.graph.sources_of(keys_of(VaultPath("007.md"))) == ()


def test_what_must_miss_nothing_waits_for_the_whole_index_and_says_how_far_it_is(tmp_path: Path) -> None:
    """INDEX-43"""
    large = MemoryVault({f"{n}.md": "" for n in range(MANY + 1)}, place=tmp_path / "index.sqlite3")
    large.indexer.pending.begin()
    background = Held(large)
    background.store(1)
    with being_written(large), call_with(limit=Deadline(0.4)), pytest.raises(OperationTimeout) as raised:
        large.indexer.complete()
    assert raised.value.message == (
        "The index is being built: 32 of 601 notes. This needs all of them; ask for it again in a while."
    )
    building = threading.Thread(target=background.store)
    building.start()
    large.indexer.complete()
    building.join(30)
    assert large.indexer.pending.by_path == {}


@pytest.mark.parametrize("limit", [Deadline(1.0), None])
def test_what_must_miss_nothing_is_never_answered_because_others_hold_the_database(
    tmp_path: Path, impatient: None, monkeypatch: pytest.MonkeyPatch, limit: Deadline | None
) -> None:
    """INDEX-43"""
    monkeypatch.setattr(indexer, "PATIENCE", 0.05)
    large = MemoryVault({f"{n}.md": "" for n in range(MANY + 1)}, place=tmp_path / "index.sqlite3")
    large.indexer.pending.begin()
    Held(large).store(1)
    with being_written(large), call_with(limit=limit):
        with pytest.raises(OperationTimeout, match=r"32 of 601 notes\. This needs all of them"):
            large.indexer.complete()
        with pytest.raises(OperationTimeout, match=r"32 of 601 notes\. This needs all of them"):
            large.graph.orphans()


def test_progress_counts_up_to_the_files_that_had_to_be_read(large: MemoryVault) -> None:
    assert str(large.indexer.pending.progress) == "0 of 601 notes"
    large.indexer.pending.step()
    assert str(large.indexer.pending.progress) == "32 of 601 notes"
    large.indexer.complete()
    assert large.indexer.pending.progress == Progress(0, 0)


class Restless(MemoryVault):
    """`a.md` changes whenever it is read, some times."""

    changes = 0

    def read(self, entry: FileEntry) -> bytes:
        data = super().read(entry)
        if entry.path == "a.md" and self.changes:
            self.changes -= 1
            self.write("a.md", "[[c]]")
        return data


def test_a_file_that_changes_while_it_is_read_stays_pending() -> None:
    """INDEX-25"""
    with Restless({"a.md": "[[b]]", "b.md": "", "c.md": ""}) as vault:
        vault.changes = 4
        vault.indexer.complete()
        assert list(vault.indexer.pending.by_path) == ["a.md"]
        vault.changes = 4
        answer = vault.graph.tags()
        assert answer.notice == "1 changed file is not in the index yet; this answer shows what was indexed before."
        vault.look()
        assert sources(vault, "c.md") == ["a.md"]
        assert sources(vault, "b.md") == []
        assert vault.indexer.pending.by_path == {}


def test_a_file_that_changed_once_while_it_was_read_is_stored_as_it_is() -> None:
    """INDEX-25"""
    with Restless({"a.md": "[[b]]", "b.md": "", "c.md": ""}) as vault:
        vault.changes = 1
        answer = vault.graph.backlinks(VaultPath("c.md"))
        assert ([found.source for found in answer.value], answer.notice) == (["a.md"], None)
        vault.look()
        assert sources(vault, "c.md") == ["a.md"]
        assert vault.reads.count("a.md") == 2


def test_a_file_that_did_not_hold_still_is_tried_again_when_it_is_reported() -> None:
    """INDEX-25, INDEX-43"""
    with Restless({"a.md": "[[b]]", "b.md": "", "c.md": ""}) as vault:
        vault.changes = 2
        vault.indexer.complete()
        assert list(vault.indexer.pending.by_path) == ["a.md"]
        vault.look()
        vault.indexer.complete()
        assert vault.indexer.pending.by_path == {}


def test_nothing_is_kept_of_a_file_that_was_deleted() -> None:
    """INDEX-01"""
    with MemoryVault({"a.md": "[[b]]", "b.md": "#t"}) as vault:
        vault.indexer.complete()
        vault.delete("b.md")
        vault.look()
        vault.indexer.complete()
        with MemoryVault({"a.md": "[[b]]"}) as fresh:
            fresh.indexer.complete()
            assert dump(vault.index)["tags"] == dump(fresh.index)["tags"] == []
            assert vault.index.status().files == 1


def test_a_file_that_vanished_loses_no_neighbour() -> None:
    with MemoryVault({"a.md": "[[b]]", "b.md": "[[a]]", "c.md": "[[a]]"}) as vault:
        vault.indexer.pending.begin()
        vault.delete("b.md")
        vault.indexer.complete()
        assert sources(vault, "a.md") == ["b.md", "c.md"] or sources(vault, "a.md") == ["c.md"]
        vault.look()
        assert sources(vault, "a.md") == ["c.md"]
        assert vault.indexer.pending.by_path == {}


def test_an_unreadable_file_has_a_warning_and_is_tried_at_the_next_start() -> None:
    """INDEX-26"""
    with MemoryVault({"a.md": "[[b]]", "b.md": "[[a]]"}) as vault:
        vault.broken["a.md"] = PermissionDenied("The system does not allow\nreading 'a.md'.")
        vault.indexer.pending.begin()
        assert vault.graph.warnings().value == {"a.md": ("The system does not allow reading 'a.md'.",)}
        assert sources(vault, "a.md") == ["b.md"]
        assert vault.indexer.pending.by_path == {}

        del vault.broken["a.md"]
        vault.indexer.pending.begin()
        assert sources(vault, "b.md") == ["a.md"]
        assert vault.graph.warnings().value == {}


def test_what_is_noted_while_the_files_are_compared_is_not_lost() -> None:
    with MemoryVault({"a.md": "[[b]]", "b.md": "", "c.md": ""}) as vault:
        listed: list[list[FileEntry]] = []

        def entries() -> list[FileEntry]:
            found = list(vault.catalog)
            if not listed:
                vault.write("a.md", "[[c]]")
                vault.delete("b.md")
                changes = vault.look()
                other.note(changes, vault.catalog.get)
            listed.append(found)
            return found

        other = PendingFiles(vault.index, entries, vault.read, vault.stat)
        other.begin()
        assert sorted(other.by_path) == ["a.md", "c.md"]
        assert other.by_path[VaultPath("a.md")].size == len("[[c]]")


def test_when_the_index_is_lost_everything_is_indexed_again(large: MemoryVault) -> None:
    """INDEX-27"""
    large.indexer.complete()
    large.index.database.begin_anew()

    assert sources(large, "007.md") == ["006.md"]
    assert len(large.graph.tags().value) == 3
    assert large.index.status().files == MANY + 1


def test_a_batch_that_was_stored_in_an_index_that_is_lost_is_stored_again(large: MemoryVault) -> None:
    """INDEX-27: the files of that batch were in no answer until the next start"""
    background = Held(large)
    batch = large.indexer.pending.take()
    assert batch is not None
    refused = large.indexer.pending.ingest(batch)
    large.index.database.begin_anew()
    assert large.indexer.pending.is_behind
    large.indexer.pending.finish_batch(batch, refused)
    background.store()
    assert sum(use.files for use in large.graph.tags().value) == MANY


def test_a_program_keeps_the_rows_of_a_file_that_came_after_it_had_listed_them(tmp_path: Path) -> None:
    """INDEX-04: a command that started while a server stored a new note deleted its rows, and
    the server did not notice"""
    with MemoryVault({"a.md": ""}) as files:
        starting, server = files.opened_again(tmp_path / "v.db"), files.opened_again(tmp_path / "v.db")
        with starting, server:
            files.write("e\u0301.md", "[[a]]")
            server.look()
            assert sources(server, "a.md") == ["\u00e9.md"]
            assert sources(starting, "a.md") == []
            assert starting.indexer.pending.gone == frozenset()
            assert sources(server, "a.md") == ["\u00e9.md"]


def test_what_another_program_has_indexed_is_not_read_again(large: MemoryVault, tmp_path: Path) -> None:
    """INDEX-28"""
    first, second = large.opened_again(tmp_path / "v.db"), large.opened_again(tmp_path / "v.db")
    with first, second:
        first.indexer.pending.begin()
        second.indexer.pending.begin()
        first.indexer.complete()
        second.indexer.complete()

        assert second.reads == []
        assert second.indexer.pending.by_path == {}


class Blocking(MemoryVault):
    """Holds the index for writing, while a thread stores a file, until `go_on`."""

    def stat(self, disk: str) -> DiskFile | None:
        if not self.go_on.is_set():
            self.writes.set()
            assert self.go_on.wait(30)
        return super().stat(disk)

    go_on = threading.Event()
    writes = threading.Event()


def test_while_another_program_writes_the_rows_answer_as_they_are(tmp_path: Path, impatient: None) -> None:
    """INDEX-02, INDEX-40"""
    files = {f"{n}.md": f"[[{n + 1}]]" for n in range(5)}
    with MemoryVault(files, tmp_path / "v.db") as vault, Blocking(files, tmp_path / "v.db") as other:
        vault.indexer.complete()
        other.write("0.md", "[[4]]")
        other.look()
        storing = threading.Thread(target=other.indexer.complete)
        storing.start()
        assert other.writes.wait(30)
        vault.write("1.md", "[[4]]")
        vault.delete("2.md")
        vault.look()

        answer = vault.graph.backlinks(VaultPath("4.md"))
        assert [found.source for found in answer.value] == ["3.md"]
        assert answer.freshness.pending == 1
        assert sources(vault, "3.md") == []  # its rows are left, the file is gone
        with pytest.raises(Busy):
            vault.indexer.pending.step(patience=0.01)
        other.go_on.set()
        storing.join(30)


def test_a_touched_file_is_read_and_keeps_its_rows(large: MemoryVault) -> None:
    large.indexer.complete()
    before = dump(large.index)
    stamp = large.indexer.query(lambda rows: rows.stamp)
    large.write("000.md", large.data["000.md"])
    large.look()
    large.indexer.pending.step()

    after = dump(large.index)
    assert after["links"] == before["links"]
    assert after["files"] != before["files"]
    assert large.indexer.query(lambda rows: rows.stamp) == stamp  # nothing was parsed and stored anew
    assert large.index.find_outdated(large.catalog).changed == ()


def test_questions_and_changes_in_many_threads_agree_in_the_end(large: MemoryVault) -> None:
    background = Held(large)
    building = threading.Thread(target=background.store)
    building.start()
    lock = threading.Lock()

    def work(number: int) -> None:
        for step in range(5):
            n = number * 5 + step
            with lock:
                large.write(f"{n:03}.md", "[[Zürich 東京]]")
                large.look()
            large.indexer.complete()
            assert f"{n:03}.md" in sources(large, "Zürich 東京.md")
            large.graph.tags()

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(6)))
    building.join(30)
    large.indexer.complete()

    with MemoryVault() as fresh:
        apply(fresh.index, large.contents())
        assert dump(large.index) == dump(fresh.index)
        assert PendingFiles(fresh.index, lambda: list(large.catalog), large.read).by_path == {}


class Flooding(MemoryVault):
    """Another file appears whenever one is read."""

    def read(self, entry: FileEntry) -> bytes:
        for number in range(2):
            self.write(f"{entry.path} {number}.md", "new")
        self.look()
        return super().read(entry)


def test_a_question_does_not_store_a_flood_that_begins_meanwhile() -> None:
    """INDEX-40: a search that met the beginning of a checkout took seconds"""
    with Flooding({"a.md": "#t", "b.md": "#t"}) as vault:
        Held(vault)
        answer = vault.graph.tags()
        assert answer.freshness.pending == 4
        assert len(vault.reads) == 2


def test_a_first_build_ends_when_the_new_files_are_stored(large: MemoryVault, impatient: None) -> None:
    """INDEX-41"""
    background = Held(large)
    background.store(1)
    rewrite(large, FRESH_FILES + 1, "[[250]]")
    assert large.graph.tags().freshness.building is not None
    while large.index.status().files < MANY + 1 - FRESH_FILES:
        background.store(1)
    freshness = large.graph.tags().freshness
    assert freshness.building is None
    assert freshness.pending == 0 or "changed" in (freshness.notice or "")
