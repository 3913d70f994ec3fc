"""Questions while a vault's folder is looked at for the first time (INDEX-64, INDEX-65)."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.core.index import checked_files, early_answers
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.errors import VaultNotFound
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on

from .test_first_look import STILL, WITHIN, Look, write

OSLO = """---
tags: [trip]
rating: 9
aliases: [Capital]
---
# Plan
- [ ] pack the sledge 📅 2026-03-12
[[Rome]] and ![[map.png]]
"""
BASE = """filters:
  and: [rating == 9]
views: [{type: table, name: Table, order: [file.name, rating]}]
"""
Question = tuple[str, Mapping[str, Any]]
EARLY: Mapping[str, Question] = {
    "links": ("obsidian_get_links", {"name": "Trips/Oslo.md"}),
    "links of a bare name": ("obsidian_get_links", {"name": "Oslo"}),
    "neighbours": ("obsidian_graph", {"question": "neighbours", "name": "Trips/Oslo.md"}),
    "tags": ("obsidian_tags", {}),
    "a tag": ("obsidian_tags", {"tag": "trip"}),
    "properties": ("obsidian_get_properties", {}),
    "a property": ("obsidian_get_properties", {"property": "rating"}),
    "values": ("obsidian_get_properties", {"property": "rating", "details": True}),
    "tasks": ("obsidian_list_tasks", {}),
    "tasks of a day": ("obsidian_list_tasks", {"due": "2026-03-12"}),
    "tasks query": ("obsidian_query", {"query": "not done", "language": "tasks"}),
    "dataview: a folder": ("obsidian_query", {"query": 'TABLE rating FROM "Trips"'}),
    "dataview: a tag": ("obsidian_query", {"query": "LIST file.outlinks FROM #trip"}),
    "dataview: tasks": ("obsidian_query", {"query": "TASK FROM #trip"}),
    "base": ("obsidian_query", {"query": BASE}),
}
"""Questions that the rows of some notes answer."""
OF_ALL: Mapping[str, Question] = {
    "orphans": ("obsidian_graph", {"question": "orphans"}),
    "dead ends": ("obsidian_graph", {"question": "dead_ends"}),
    "unresolved": ("obsidian_graph", {"question": "unresolved"}),
    "path": ("obsidian_graph", {"question": "path", "name": "Trips/Oslo.md", "to": "Trips/Rome.md"}),
    "a link that leads nowhere": ("obsidian_get_links", {"name": "Trips/Lost.md"}),
    "a tag that no note has": ("obsidian_tags", {"tag": "nowhere"}),
    "a property that no note has": ("obsidian_get_properties", {"property": "nowhere"}),
    "a day without tasks": ("obsidian_list_tasks", {"due": "1999-01-01"}),
    "an empty folder": ("obsidian_query", {"query": 'LIST FROM "Nowhere"'}),
    "all pages": ("obsidian_query", {"query": "LIST"}),
    "a base of all files": ("obsidian_query", {"query": "views: [{type: table, name: Table}]"}),
}
"""Questions whose answer would be untrue if one file were missing."""


@pytest.fixture(autouse=True)
def _evaluates_no_base_as_one_of_few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obsidian_mcp.core.bases.view.FEW_FILES", 0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault whose files a server has known all."""
    root = tmp_path / "vault"
    (root / "Trips").mkdir(parents=True)
    write(root / "Trips" / "Oslo.md", OSLO)
    write(root / "Trips" / "Rome.md", "#trip A clock tower. [[Oslo]]")
    write(root / "Trips" / "Lost.md", "[[Nowhere]]")
    (root / "map.png").write_bytes(b"no picture")
    opened = app_on(root)
    opened.vaults.get().indexer.complete()
    opened.vaults.close()
    return root


def ask(root: Path, question: Question, *, knowing_all: bool = False) -> dict[str, Any]:
    """Return the answer of a new process; `knowing_all`: after its look at the folder."""
    tool, arguments = question
    opened = app_on(root)
    if knowing_all:
        opened.vaults.get()
    with call_with(limit=Deadline(WITHIN)):
        data: dict[str, Any] = call(opened, tool, dict(arguments)).data
    return data


def remark_of(answer: Mapping[str, Any]) -> str:
    return str(answer.get("incomplete", ""))


def without_remark(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != "incomplete"}


@pytest.mark.parametrize("name", EARLY)
def test_a_question_about_some_notes_does_not_wait_for_all_files(root: Path, look: Look, name: str) -> None:
    """INDEX-64: it says the same as when all files are known, and that they are not."""
    early = ask(root, EARLY[name])
    assert not look.has_ended
    assert STILL in remark_of(early)
    look.end()
    known = ask(root, EARLY[name], knowing_all=True)
    assert not remark_of(known)
    assert without_remark(early) == without_remark(known)


@pytest.mark.parametrize("name", OF_ALL)
def test_what_is_true_of_all_files_alone_waits_for_them(root: Path, look: Look, name: str) -> None:
    """INDEX-64: an answer that would be empty does, too."""
    write(root / "New.md", "[[Lost]] #trip")
    threading.Timer(0.1, look.end).start()
    answer = ask(root, OF_ALL[name])
    assert look.has_ended
    assert STILL not in remark_of(answer)


@pytest.mark.parametrize("name", EARLY)
def test_no_answer_shows_a_note_as_it_was(root: Path, look: Look, name: str) -> None:
    write(root / "Trips" / "Oslo.md", OSLO.replace("rating: 9", "rating: 9.0").replace("sledge", "heavy sledge"))
    early = ask(root, EARLY[name])
    look.end()
    assert without_remark(early) == without_remark(ask(root, EARLY[name], knowing_all=True))


@pytest.mark.parametrize("name", [name for name, (_, asked) in EARLY.items() if "Oslo" not in str(asked)])
def test_no_answer_lists_a_note_that_is_gone(root: Path, look: Look, name: str) -> None:
    (root / "Trips" / "Oslo.md").unlink()
    threading.Timer(0.1, look.end).start()
    assert "Trips/Oslo" not in str(ask(root, EARLY[name]))


def test_a_link_to_a_file_without_text_is_resolved_by_its_name(root: Path, look: Look) -> None:
    """INDEX-65"""
    links = ask(root, EARLY["links"])["outgoing"]
    assert [link.get("path") for link in links] == ["Trips/Rome.md", "map.png"]
    assert not look.has_ended


def test_a_link_to_a_file_that_is_gone_leads_nowhere(root: Path, look: Look) -> None:
    (root / "map.png").unlink()
    threading.Timer(0.1, look.end).start()
    links = ask(root, EARLY["links"])["outgoing"]
    assert [link["link"] for link in links if "path" not in link] == ["![[map.png]]"]


def test_a_link_to_a_file_that_came_leads_to_it(root: Path, look: Look) -> None:
    write(root / "Nowhere.md", "Somewhere.")
    threading.Timer(0.1, look.end).start()
    links = ask(root, OF_ALL["a link that leads nowhere"])["outgoing"]
    assert "Nowhere.md" in [link.get("path") for link in links]


def test_an_index_that_never_knew_all_files_answers_nothing_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INDEX-65: a first build that was ended in its middle would be taken for the whole vault."""
    root = tmp_path / "half"
    root.mkdir()
    for number in range(80):
        write(root / f"{number}.md", f"#trip {number}")
    opened = app_on(root)
    opened.vaults.get().indexer.pending.step(most=8)
    assert not opened.vaults.get().indexer.query(lambda rows: rows.listed_files.is_whole())
    opened.vaults.close()
    held = Look(monkeypatch)
    threading.Timer(0.1, held.end).start()
    assert ask(root, ("obsidian_tags", {"tag": "trip"}))["total"] == 80


def test_an_answer_about_very_many_notes_says_that_they_may_be_as_they_were(
    root: Path, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked_files, "MOST_CHECKED", 1)
    answer = ask(root, EARLY["a tag"])
    assert answer["total"] == 2
    assert "shown as it was then" in answer["incomplete"]
    assert not look.has_ended


def test_very_many_changed_notes_are_waited_for(root: Path, look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_answers, "FRESH_FILES", 1)
    for name in ("Oslo", "Rome"):
        write(root / "Trips" / f"{name}.md", f"#trip New {name}.")
    threading.Timer(0.1, look.end).start()
    ask(root, EARLY["a tag"])
    assert look.has_ended


def test_a_vault_that_is_gone_is_an_error_for_a_list_of_tags(root: Path, look: Look) -> None:
    opened = app_on(root)
    assert call(opened, "obsidian_tags", {}).data["tags"]
    root.rename(root.with_name("away"))
    with pytest.raises(VaultNotFound):
        call(opened, "obsidian_tags", {})


def test_a_disk_that_failed_is_looked_at_again_before_a_list_of_tags(root: Path) -> None:
    opened = app_on(root)
    vault = opened.vaults.get()
    root.rename(root.with_name("away"))
    with pytest.raises(VaultNotFound):
        vault.look_everywhere()
    with pytest.raises(VaultNotFound):
        call(opened, "obsidian_tags", {})


def test_an_early_answer_names_the_notes_that_are_indexed_in_part(
    root: Path, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INDEX-51"""
    look.end()
    write(root / "Trips" / "Long.md", "#trip\n" + "All of it. " * 400_000)
    app_on(root).vaults.get().indexer.complete()
    held = Look(monkeypatch)
    answer = ask(root, EARLY["a tag"])
    assert STILL in answer["incomplete"]
    assert "Trips/Long.md" in answer["incomplete"]
    held.end()
