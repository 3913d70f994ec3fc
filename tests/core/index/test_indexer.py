"""The index is brought up to date in the background, and every question is answered whole meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.index import extract, indexer
from obsidian_mcp.core.index.extract import Facts, Job
from obsidian_mcp.core.index.index import Busy
from obsidian_mcp.core.index.indexer import Keeper
from obsidian_mcp.core.index.ingest import Intake
from obsidian_mcp.core.text import deadline, progress
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import OperationTimeout, PermissionDenied
from tests.core.memory import MemoryVault

MANY = 300


@pytest.fixture
def large() -> Iterator[MemoryVault]:
    """Enough notes that they are not taken in at once."""
    files = {f"{n:03}.md": f"[[{n + 1:03}]] #t{n % 3}" for n in range(MANY)} | {"Zürich 東京.md": "[[000]]"}
    with MemoryVault(files) as vault:
        vault.keeper.begin()
        yield vault


def sources(vault: MemoryVault, path: str) -> list[str]:
    return [each.source for each in vault.graph.backlinks(VaultPath(path)).value]


# INDEX-20
def test_a_question_during_the_build_is_answered_from_the_files(large: MemoryVault) -> None:
    answer = large.graph.backlinks(VaultPath("007.md"))

    assert [each.source for each in answer.value] == ["006.md"]
    assert answer.building == "The index is being built: 0 of 301 notes."


# INDEX-21
def test_what_a_question_has_parsed_is_indexed(large: MemoryVault) -> None:
    large.graph.backlinks(VaultPath("007.md"))
    assert large.index.status().files > 0
    assert "006.md" not in large.keeper.pending()[0]
    assert "250.md" in large.keeper.pending()[0]


# INDEX-22
def test_a_question_about_everything_finishes_the_build(large: MemoryVault) -> None:
    answer = large.graph.tags()

    assert [(use.tag, use.files) for use in answer.value] == [("t0", 100), ("t1", 100), ("t2", 100)]
    assert answer.building is not None
    assert large.keeper.pending() == ({}, None)
    assert large.graph.tags().building is None


@pytest.mark.parametrize(
    "link",
    [
        "[[Zürich 東京]]",
        "[[ZU\u0308RICH 東京.md]]",
        "[x](Z%C3%BCrich%20%E6%9D%B1%E4%BA%AC.md)",
        '---\nup: "[[Z\\u00fcrich 東京]]"\n---\n',
        '---\nup: "[[Z\\xFCrich 東京]]"\n---\n',
    ],
)
def test_a_name_is_found_in_every_way_to_write_it_before_the_file_is_indexed(large: MemoryVault, link: str) -> None:
    large.write("new.md", link)
    large.look()
    assert sources(large, "Zürich 東京.md") == ["new.md"]


def test_a_file_that_is_not_indexed_yet_hides_its_old_rows(large: MemoryVault) -> None:
    large.keeper.finish()
    for n in range(MANY):
        large.write(f"{n:03}.md", "[[000]]")
    large.look()

    assert sources(large, "007.md") == []
    assert len(sources(large, "000.md")) == MANY + 1


# INDEX-23
def test_a_few_changed_files_are_taken_in_before_the_answer(large: MemoryVault) -> None:
    large.keeper.finish()
    large.write("000.md", "[[007]]")
    large.rename("001.md", "moved/001.md")
    large.look()

    assert sources(large, "007.md") == ["000.md", "006.md"]
    assert sources(large, "moved/001.md") == []
    assert large.keeper.pending() == ({}, None)


class Parsing:
    """A worker that parses as the test says, and counts how often it could rest."""

    apart = False

    def __init__(self, parse: Callable[[Sequence[Job]], Sequence[Facts]]) -> None:
        self.parse = parse
        self.rests = 0

    def take_in(self, here: Intake, entries: Sequence[FileEntry], gone: Sequence[VaultPath]) -> list[FileEntry]:
        return replace(here, parse=self.parse).take_in(entries, gone)

    def rest(self) -> None:
        self.rests += 1


# INDEX-23
def test_threads_in_the_background_take_in_everything(large: MemoryVault) -> None:
    done = threading.Event()

    def parse(jobs: Sequence[Job]) -> Sequence[Facts]:
        if large.keeper.progress.done + len(jobs) >= MANY - indexer.BATCH_FILES:
            done.set()
        return extract.parse(jobs)

    parsers = [Parsing(parse), Parsing(parse)]
    large.keeper.start(parsers)
    assert done.wait(30)
    large.keeper.finish()
    large.keeper.stop()

    assert sum(parser.rests for parser in parsers) > 0

    assert large.keeper.pending() == ({}, None)
    assert large.index.status().files == MANY + 1


class Apart(Parsing):
    """As if another process did it: one batch each time `go_on` is set."""

    apart = True

    def __init__(self) -> None:
        super().__init__(extract.parse)
        self.go_on = threading.Semaphore(0)
        self.ending = False

    def take_in(self, here: Intake, entries: Sequence[FileEntry], gone: Sequence[VaultPath]) -> list[FileEntry]:
        assert self.go_on.acquire(timeout=30)
        return [] if self.ending else super().take_in(here, entries, gone)


# INDEX-22
def test_a_question_about_everything_waits_for_other_processes_and_reports_how_far_they_are(large: MemoryVault) -> None:
    worker = Apart()
    large.keeper.start([worker])
    told: list[tuple[int, int]] = []

    def report(done: int, total: int, _: str) -> None:
        told.append((done, total))
        worker.go_on.release()

    token = progress.current.set(report)
    try:
        answer = large.graph.tags()
    finally:
        progress.current.reset(token)
    assert [(use.tag, use.files) for use in answer.value] == [("t0", 100), ("t1", 100), ("t2", 100)]
    assert [each for each, _ in told] == sorted(each for each, _ in told)
    assert {total for _, total in told} == {MANY + 1}
    assert len(told) >= MANY // indexer.BATCH_FILES
    worker.go_on.release(10)


# INDEX-15
def test_batches_of_another_process_are_large_while_much_is_pending(
    large: MemoryVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("BATCH_FILES", 4), ("LARGE_FILES", 40), ("LARGE_PART", 5)):
        monkeypatch.setattr(indexer, name, value)
    sizes: list[int] = []

    def parse(jobs: Sequence[Job]) -> Sequence[Facts]:
        sizes.append(len(jobs))
        return extract.parse(jobs)

    worker = Parsing(parse)
    worker.apart = True
    large.keeper.start([worker])
    large.keeper.finish()

    assert sum(sizes) == MANY + 1
    assert sizes[:4] == [40, 40, 40, 36]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-2] == 4


def test_workers_are_recruited_for_a_large_build_alone(large: MemoryVault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer, "RECRUITED_FROM", MANY)
    workers: list[Parsing] = []

    def recruit() -> list[Parsing]:
        workers.append(Parsing(extract.parse))
        return workers

    large.keeper.recruit = recruit
    large.keeper.finish()
    assert large.keeper.pending() == ({}, None)
    large.write("000.md", "[[007]]")
    large.look()
    large.keeper.finish()
    assert len(workers) == 1


# INDEX-22
def test_before_its_time_is_over_a_question_about_everything_says_how_far_the_index_is(
    large: MemoryVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "STALLED", 30.0)
    worker = Apart()
    large.keeper.start([worker])
    worker.go_on.release(2)
    token = deadline.current.set(deadline.Deadline(1.0))
    try:
        with pytest.raises(OperationTimeout) as raised:
            large.graph.tags()
    finally:
        deadline.current.reset(token)
        worker.ending = True
        worker.go_on.release(10)
    assert raised.value.message == (
        "The index is being built: 128 of 301 notes. This question needs all of them; ask it again in a while."
    )


def test_stopping_ends_the_threads_between_two_batches(large: MemoryVault) -> None:
    first, go_on = threading.Event(), threading.Event()

    def parse(jobs: Sequence[Job]) -> Sequence[Facts]:
        first.set()
        assert go_on.wait(30)
        return extract.parse(jobs)

    large.keeper.start([Parsing(parse)])
    assert first.wait(30)
    stopping = threading.Thread(target=large.keeper.stop)
    stopping.start()
    with large.keeper._state:
        assert large.keeper._state.wait_for(lambda: large.keeper._stopping, 30)
    go_on.set()
    stopping.join(30)

    assert not stopping.is_alive()
    assert large.index.status().files == indexer.BATCH_FILES
    assert len(large.keeper.pending()[0]) == MANY + 1 - indexer.BATCH_FILES


def test_a_thread_survives_whatever_goes_wrong_in_a_batch(large: MemoryVault, caplog: pytest.LogCaptureFixture) -> None:
    failed = threading.Event()

    def parse(jobs: Sequence[Job]) -> Sequence[Facts]:
        failed.set()
        raise RuntimeError("a fault in the parser")

    large.keeper.start([Parsing(parse)])
    assert failed.wait(30)
    large.keeper.stop()

    assert "a fault in the parser" in caplog.text
    assert sources(large, "007.md") == ["006.md"]


# INDEX-24
def test_progress_counts_up_to_the_files_that_had_to_be_read(large: MemoryVault) -> None:
    assert str(large.keeper.progress) == "0 of 301 notes"
    large.keeper.step()
    assert str(large.keeper.progress) == "64 of 301 notes"
    large.keeper.finish()
    assert large.keeper.progress == indexer.Progress(0, 0)


# INDEX-25
def test_a_file_that_changes_while_it_is_taken_in_stays_pending() -> None:
    with MemoryVault({"a.md": "[[b]]", "b.md": "", "c.md": ""}) as vault:
        vault.keeper.begin()
        read = vault.read

        def read_and_change(entry: FileEntry) -> bytes:
            data = read(entry)
            if entry.path == "a.md" and data == b"[[b]]":
                vault.write("a.md", "[[c]]")
            return data

        vault.keeper._intake = replace(vault.keeper._intake, read=read_and_change)
        vault.keeper.finish()
        assert list(vault.keeper.pending()[0]) == ["a.md"]
        assert sources(vault, "c.md") == ["a.md"]
        vault.look()
        vault.keeper.settle()
        assert vault.keeper.pending() == ({}, None)
        assert sources(vault, "c.md") == ["a.md"]
        assert sources(vault, "b.md") == []


def test_a_file_that_vanished_loses_no_neighbour() -> None:
    with MemoryVault({"a.md": "[[b]]", "b.md": "[[a]]", "c.md": "[[a]]"}) as vault:
        vault.keeper.begin()
        vault.delete("b.md")
        vault.keeper.finish()
        assert sources(vault, "a.md") == ["c.md"]
        vault.look()
        vault.keeper.finish()
        assert vault.keeper.pending() == ({}, None)


# INDEX-26
def test_an_unreadable_file_has_a_warning_and_is_tried_at_the_next_start() -> None:
    with MemoryVault({"a.md": "[[b]]", "b.md": "[[a]]"}) as vault:
        vault.broken["a.md"] = PermissionDenied("The system does not allow\nreading 'a.md'.")
        vault.keeper.begin()
        assert vault.graph.warnings().value == {"a.md": ("The system does not allow reading 'a.md'.",)}
        assert sources(vault, "a.md") == ["b.md"]
        assert vault.keeper.pending() == ({}, None)

        del vault.broken["a.md"]
        vault.keeper.begin()
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
                vault.look()
            listed.append(found)
            return found

        vault.keeper._entries = entries
        vault.keeper.begin()
        assert sorted(vault.keeper.pending()[0]) == ["a.md", "c.md"]
        assert sources(vault, "c.md") == ["a.md"]


# INDEX-27
def test_when_the_index_is_lost_everything_is_taken_in_again(large: MemoryVault) -> None:
    large.keeper.finish()
    large.index._database.begin_anew()

    answer = large.graph.backlinks(VaultPath("007.md"))
    assert [each.source for each in answer.value] == ["006.md"]
    assert answer.building is not None
    assert len(large.graph.tags().value) == 3
    assert large.index.status().files == MANY + 1


# INDEX-28
def test_what_another_program_has_indexed_is_not_read_again(large: MemoryVault, tmp_path: Path) -> None:
    first = large.opened_again(tmp_path / "v.db")
    second = large.opened_again(tmp_path / "v.db")
    with first, second:
        first.keeper.begin()
        second.keeper.begin()
        first.keeper.finish()
        second.keeper.finish()

        assert second.reads == []
        assert second.keeper.pending() == ({}, None)


def test_while_another_program_writes_answers_come_from_the_files(
    large: MemoryVault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "IMPATIENCE", 0.01)
    first = large.opened_again(tmp_path / "v.db")
    second = large.opened_again(tmp_path / "v.db")
    with first, second:
        second.keeper.begin()
        with first.index._database.writing():
            assert sources(second, "007.md") == ["006.md"]
            assert [use.files for use in second.graph.tags().value] == [100, 100, 100]
            with pytest.raises(Busy):
                second.keeper.step(patience=0.01)
        assert len(second.keeper.pending()[0]) == MANY + 1


def test_files_that_are_gone_are_in_no_answer_while_their_rows_cannot_be_removed(
    large: MemoryVault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "IMPATIENCE", 0.01)
    first = large.opened_again(tmp_path / "v.db")
    with first:
        first.keeper.begin()
        first.keeper.finish()
        second = large.opened_again(tmp_path / "v.db")
        with second, second.index._database.writing():
            large.delete("006.md")
            first.look()
            assert sources(first, "007.md") == []
            assert [(use.tag, use.files) for use in first.graph.tags().value] == [("t0", 99), ("t1", 100), ("t2", 100)]


def test_a_touched_file_is_read_and_keeps_its_rows(large: MemoryVault) -> None:
    large.keeper.finish()
    before = large.index.dump()
    large.write("000.md", large.data["000.md"])
    large.look()
    parsed: list[str] = []

    def parse(jobs: Sequence[Job]) -> Sequence[Facts]:
        parsed.extend(path for path, _, _ in jobs)
        return extract.parse(jobs)

    large.keeper._intake = replace(large.keeper._intake, parse=parse)
    large.keeper.step()
    after = large.index.dump()
    assert parsed == []
    assert after["links"] == before["links"]
    assert after["files"] != before["files"]
    assert large.index.outdated(large.catalog).changed == ()


def test_questions_and_changes_in_many_threads_agree_in_the_end(large: MemoryVault) -> None:
    large.keeper.start()
    lock = threading.Lock()

    def work(number: int) -> None:
        for n in range(number * 10, number * 10 + 10):
            with lock:
                large.write(f"{n:03}.md", "[[Zürich 東京]]")
                large.look()
            assert f"{n:03}.md" in sources(large, "Zürich 東京.md")
            large.graph.tags()

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(6)))
    large.keeper.stop()
    large.keeper.finish()

    with MemoryVault() as fresh:
        fresh.index.apply(large.contents())
        assert large.index.dump() == fresh.index.dump()
        assert Keeper(fresh.index, lambda: list(large.catalog), large.read).pending() == ({}, None)
