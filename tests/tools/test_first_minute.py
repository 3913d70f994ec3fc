"""What is asked while the index of a new vault is built: true, though not always whole (specs/index.md)."""

from __future__ import annotations

import itertools
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.index import indexer, pending_scan
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.errors import OperationTimeout
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.tools.conftest import Opened
from tests.vaults import write_files

NOTES = 400
FILES: dict[str, str | bytes] = {
    **{f"{number}.md": f"[[{(number + 1) % NOTES}]] common ![[used.png]]\n" for number in range(NOTES)},
    "Zed.md": "---\nkind: odd\n---\nA zebroid met. One quaggling. [[0]] #rare\n",
    "0.md": "[[1]] [[Zed]]\n",
    "alone.md": "---\nkind: even\n---\nNothing.\n",
    "used.png": b"\x89PNG",
    "unused.png": b"\x89PNG",
}


def run(app: App, tool_: str, /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool_}", arguments).data


class Nobody:
    """A background that stores nothing."""

    def wake(self) -> None:
        pass

    def stop(self) -> None:
        pass


@pytest.fixture
def app(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> App:
    """On a vault whose index is empty, and whose questions store hardly anything."""
    monkeypatch.setattr(indexer, "BUILD_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(pending_scan, "SCAN_SECONDS", 20.0)  # enough for any disk
    app = opened(FILES)
    known = app.vaults.get().indexer
    assert known.pending.background is not None
    known.pending.background.stop()
    known.pending.background, known.is_patient = Nobody(), False
    return app


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "known"])
def test_a_server_that_starts_stores_a_few_changed_notes_before_it_is_asked(tmp_path: Path, *, is_new: bool) -> None:
    """INDEX-49"""
    root = write_files(tmp_path / "vault", {f"{number}.md": f"[[{number + 1}]]\n" for number in range(20)})
    if not is_new:
        run(app_on(root), "search", query="anything")
        write_files(root, {"5.md": "A zebroid met.\n", "new.md": "A zebroid met.\n"})
    app = app_on(root)
    app.vaults.warm()
    for thread in threading.enumerate():
        if thread.name == "warm":
            thread.join(30)
    known = app.vaults.get().indexer
    assert known.pending.progress.total == 0
    assert known.index.status().files == 20 + (not is_new)


@pytest.mark.parametrize(
    ("match", "query"),
    [
        *(
            ("smart", query)
            for query in ("zebroid quaggling", "zebroids", '"zebroid met"', "tag:#rare", "zebroid -common")
        ),
        *(
            ("exact", query)
            for query in ("zebroid quaggling", "zebroi", '"zebroid met"', "tag:#rare", "zebroid -common")
        ),
    ],
)
def test_a_first_search_finds_the_note_that_has_the_words(app: App, query: str, match: str) -> None:
    """INDEX-46"""
    found = run(app, "search", query=query, match=match)
    assert [hit["path"] for hit in found["hits"]] == ["Zed.md"]
    assert "widened" not in found
    assert "incomplete" not in found


def test_a_first_search_that_is_cut_says_so_and_gives_no_advice(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """INDEX-46"""
    monkeypatch.setattr(pending_scan, "SCAN_SECONDS", 0.0)
    found = run(app, "search", query="zebroid quaggling")
    assert found["incomplete"].startswith("The index is being built: ")
    assert "widened" not in found


@pytest.mark.parametrize("match", ["exact", "smart"])
@pytest.mark.parametrize("times", [1, 1_000], ids=["once", "again and again"])
def test_a_first_search_says_what_it_lacks_while_another_program_writes_all_files_anew(
    app: App, monkeypatch: pytest.MonkeyPatch, match: str, times: int
) -> None:
    """INDEX-46: it found 38 to 79 of 80 notes, and said nothing"""
    vault = app.vaults.get()
    files, head, reads, rounds = vault.files, vault.files.head, itertools.count(), iter(range(times))

    def read(disk: str, most: int) -> bytes:
        if next(reads) % 10 == 9 and (number := next(rounds, None)) is not None:
            write_files(files.root, {f"{note}.md": f"common {'again ' * number}" for note in range(NOTES)})
            vault.look_everywhere()
        return head(disk, most)

    monkeypatch.setattr(files, "head", read)
    monkeypatch.setattr(pending_scan, "SCAN_STORED", NOTES)
    monkeypatch.setattr(pending_scan, "SCAN_SECONDS", 20.0 if times == 1 else 0.3)
    found = run(app, "search", query="common", match=match)
    if times == 1:
        assert (found["total"], found.get("incomplete")) == (NOTES, None)
    else:
        assert found["incomplete"].startswith("The index is being built: ")


def test_a_first_search_does_not_call_a_file_looked_at_that_is_half_written(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INDEX-46"""
    files = app.vaults.get().files
    head = files.head
    monkeypatch.setattr(files, "head", lambda disk, most: b"" if disk == "7.md" else head(disk, most))
    monkeypatch.setattr(pending_scan, "SCAN_STORED", NOTES + 1)
    found = run(app, "search", query="common", match="exact")
    assert found["total"] == NOTES - 2  # 0.md has another text
    assert "incomplete" in found


@pytest.mark.parametrize(
    ("tool", "arguments", "field", "expected"),
    [
        ("graph", {"question": "orphans"}, "names", ["/"]),
        ("graph", {"question": "dead_ends"}, "names", ["/"]),
        ("graph", {"question": "unresolved"}, "unresolved", []),
        ("graph", {"question": "path", "name": "Zed", "to": "2"}, "paths", ["Zed.md", "0.md", "1.md", "2.md"]),
        ("attachments", {"unused": True}, "names", ["/"]),
        ("get_links", {"name": "Zed"}, "backlinks", ["0.md"]),
        ("tags", {"tag": "nobody/has"}, "notes", []),
        ("similar", {"name": "5", "limit": 1}, "similar", None),
    ],
)
def test_a_question_about_absence_waits_for_the_whole_index(
    app: App, tool: str, arguments: dict[str, Any], field: str, expected: list[str] | None
) -> None:
    """INDEX-47"""
    found = run(app, tool, **arguments)
    paths = [row if isinstance(row, str) else row.get("path") or row.get("note") for row in found[field]]
    assert paths == expected or (expected is None and paths)
    assert "incomplete" not in found
    assert app.vaults.get().indexer.pending.by_path == {}


def test_a_query_lists_no_note_that_is_not_indexed(app: App) -> None:
    """INDEX-47"""
    found = run(app, "query", query="LIST WHERE !kind", limit=500)
    indexed = NOTES + 2 - len(app.vaults.get().indexer.pending.by_path)
    assert 0 < found["total"] <= indexed < NOTES
    assert found["incomplete"].startswith("The index is being built: ")
    links = run(app, "query", query="LIST WHERE length(file.inlinks) = 0")
    assert links["total"] == 1
    assert "incomplete" not in links


def test_a_call_whose_time_ends_stores_no_file_without_its_facts(tmp_path: Path) -> None:
    """INDEX-48"""
    root = write_files(tmp_path / "vault", {"Tasks.md": "".join(f"- [ ] task {number}\n" for number in range(3_000))})
    app = app_on(root)
    try:
        with call_with(limit=Deadline(0)), suppress(OperationTimeout):
            call(app, "obsidian_list_tasks", {})
        assert call(app, "obsidian_list_tasks", {}).data["total"] == 3_000
    finally:
        app.vaults.close()
