"""What the tools answer with the backend `cli`: the app says which notes, the files say where, and hidden is hidden."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.core.files.policy import Globs, Policy
from obsidian_mcp.errors import AppCommandFailed, AppError, ObsidianNotRunning, OperationTimeout, PermissionDenied
from tests.adapters.app_desk import Desk, desk

MakeDesk = Callable[..., Desk]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[MakeDesk]:
    made: list[Desk] = []

    def new(backend: str = "cli", **options: Any) -> Desk:
        made.append(desk(tmp_path / str(len(made)), backend, **options))
        return made[-1]

    yield new
    for session in made:
        session.close()


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("read_note", {"name": "Alpha"}),
    ("get_properties", {"name": "Home"}),
    ("search", {"query": "clocks"}),
    ("get_links", {"name": "Alpha"}),
    ("graph", {"question": "orphans"}),
    ("graph", {"question": "dead_ends"}),
    ("graph", {"question": "unresolved"}),
]
MOODS: list[dict[str, Any]] = [
    {},
    {"cold": 1},
    {"noise": ["stdout", "stderr"], "crlf": True, "blank": True},
    {"status": 1},
]


@pytest.mark.parametrize("mood", MOODS, ids=json.dumps)
@pytest.mark.parametrize(("tool", "arguments"), QUESTIONS[:3], ids=json.dumps)
def test_an_answer_through_the_app_is_that_of_the_files(
    make: MakeDesk, tool: str, arguments: dict[str, Any], mood: dict[str, Any]
) -> None:
    """APP-FILE-08, SEARCH-18"""
    through_app, by_files = make(**mood), make("files")

    exact = {"match": "exact"} if tool == "search" else {}
    answers = [through_app.call(tool, **arguments), by_files.call(tool, **arguments, **exact)]
    if tool == "search":
        assert "exactly" in answers[0].pop("note")  # it was asked for a smart one
    for answer in answers:
        answer.pop("modified", None)
        for hit in answer.get("hits", []):
            hit.pop("score", None)
        answer.get("hits", []).sort(key=lambda hit: hit["path"])  # the order is the app's
    assert answers[0] == answers[1]
    assert set(through_app.commands) & {"read", "search"}


DOWN: list[tuple[dict[str, Any], type[AppError]]] = [
    ({"down": "exit"}, ObsidianNotRunning),
    ({"down": "stdout"}, ObsidianNotRunning),
    ({"down": "gui"}, AppCommandFailed),
    ({"disabled": True}, AppCommandFailed),
    ({"denied": True}, PermissionDenied),
    ({"mute": True}, AppCommandFailed),
    ({"crash": 134}, AppCommandFailed),
    ({"hang": True}, OperationTimeout),
    ({"hang": True, "only": ["read", "search", "links", "orphans", "deadends", "unresolved"]}, OperationTimeout),
]


@pytest.mark.parametrize(("mood", "error"), DOWN, ids=[json.dumps(mood) for mood, _ in DOWN])
@pytest.mark.parametrize(("tool", "arguments"), QUESTIONS, ids=json.dumps)
def test_an_app_that_does_not_answer_has_its_code_for_questions_too(
    make: MakeDesk, tool: str, arguments: dict[str, Any], mood: dict[str, Any], error: type[AppError]
) -> None:
    through_app = make(**mood)

    with pytest.raises(AppError) as raised:
        through_app.call(tool, **arguments)

    assert type(raised.value) is error


def test_the_sentence_of_the_contract_is_said_while_the_app_is_not_running(make: MakeDesk) -> None:
    with pytest.raises(ObsidianNotRunning) as raised:
        make(down="exit").call("read_note", name="Alpha")

    assert raised.value.code == -32001
    assert raised.value.message == "Obsidian application is not running. Please start Obsidian and try again."


@pytest.mark.parametrize("mood", [{"cut": 40}, {"damage": True}], ids=json.dumps)
def test_a_note_that_the_app_does_not_give_whole_is_read_from_its_file(make: MakeDesk, mood: dict[str, Any]) -> None:
    """APP-FILE-08, CMD-06"""
    through_app = make(only=["read"], **mood)
    text = "ä" * 9000
    (through_app.root / "Long.md").write_text(text, encoding="utf-8", newline="\n")

    assert through_app.call("read_note", name="Long")["content"] == text
    assert "read" in through_app.commands


def test_a_note_is_given_as_its_file_has_it_where_the_app_shows_an_older_text(make: MakeDesk) -> None:
    """APP-FILE-08"""
    through_app = make(answers={"read": "old text", "file": "path\tHome.md\nsize\t8"})

    answer = through_app.call("read_note", name="Home")

    assert answer["content"].encode() == (through_app.root / "Home.md").read_bytes()


def test_a_search_shows_what_the_app_finds_in_its_order_with_the_places_in_the_files(make: MakeDesk) -> None:
    through_app = make(answers={"search": '["Reading/Reading list.md", "Home.md", "Gone.md"]'})

    answer = through_app.call("search", match="exact", query="clocks")

    assert answer["total"] == 2
    assert [hit["path"] for hit in answer["hits"]] == ["Reading/Reading list.md", "Home.md"]
    assert "snippets" not in answer["hits"][0]
    assert "clocks" in answer["hits"][1]["snippets"][0]["text"]


def test_what_the_app_finds_is_filtered_sorted_and_grouped_here(make: MakeDesk) -> None:
    """SEARCH-18"""
    through_app, by_files = make(), make("files")
    for session in (through_app, by_files):
        for age, name in enumerate(
            ("Home.md", "Projects/Alpha.md", "Projects/Tower clock.md", "Reading/Reading list.md")
        ):
            os.utime(session.root / name, (1_700_000_000 + 86_400 * age,) * 2)
    exact = {"query": "clock", "match": "exact"}
    wanted: list[dict[str, Any]] = [
        {"sort": "name"},
        {"sort": "modified", "limit": 3},
        {"sort": "rating desc", "snippets": 0},
        {"folder": "Projects", "sort": "path"},
        {"modified_before": "2024", "sort": "modified asc"},
        {"modified_after": "2024", "sort": "path"},
        {"group": "folder", "sort": "path"},
        {"group": "tag", "sort": "name", "limit": 3, "offset": 2},
    ]
    for more in wanted:
        answers = [session.call("search", **exact, **more) for session in (through_app, by_files)]
        assert answers[0] == answers[1], more
        assert answers[0]["total"]
    assert "search" in through_app.commands


def test_the_app_knows_no_smart_search_and_the_answer_says_so(make: MakeDesk) -> None:
    """SEARCH-18"""
    through_app = make(answers={"search": '["Home.md"]'})

    assert "exactly" in through_app.call("search", query="clocks")["note"]
    assert "exactly" in through_app.call("search", query="clocks", group="folder")["note"]
    assert "note" not in through_app.call("search", query="clocks", match="exact")
    assert "note" not in make("files").call("search", query="clocks")


def test_every_note_is_listed_without_the_app(make: MakeDesk) -> None:
    """SEARCH-18"""
    through_app, by_files = make(), make("files")

    answers = [session.call("search", query="", sort="path") for session in (through_app, by_files)]

    assert answers[0] == answers[1]
    assert "search" not in through_app.commands


def test_pages_of_a_search_follow_each_other(make: MakeDesk) -> None:
    through_app = make()
    whole = [hit["path"] for hit in through_app.call("search", match="exact", query="e")["hits"]]

    paged, offset = [], 0
    while offset is not None:
        page = through_app.call("search", match="exact", query="e", limit=2, offset=offset, snippets=0)
        paged += [hit["path"] for hit in page["hits"]]
        offset = page.get("next_offset")

    assert paged == whole
    assert len(whole) > 4


def test_a_query_that_only_the_app_understands_finds_notes_without_places(make: MakeDesk) -> None:
    through_app = make(answers={"search": '["Home.md"]'})

    answer = through_app.call("search", match="exact", query="section:(unclosed")

    assert answer["hits"] == [{"path": "Home.md"}]


def test_a_query_that_the_command_would_change_is_answered_from_the_files(make: MakeDesk) -> None:
    """CMD-05"""
    through_app, by_files = make(), make("files")

    answers = [session.call("search", match="exact", query=r"/clocks\n/") for session in (through_app, by_files)]

    assert answers[0] == answers[1]
    assert "search" not in through_app.commands


def test_links_are_those_that_the_app_knows_with_their_places(make: MakeDesk) -> None:
    answers = {
        "links": "Projects/Tower clock.md\nBoard.canvas\nSomewhere (unresolved)",
        "backlinks": '[{"file": "Home.md", "count": "1"}, {"file": "No last newline.md", "count": "1"}]',
    }
    through_app, by_files = make(answers=answers), make("files")

    from_app, known = (session.call("get_links", name="Alpha") for session in (through_app, by_files))

    confirmed = ("Projects/Tower clock.md", "Board.canvas", None)
    expected = [link for link in known["outgoing"] if link.get("path") in confirmed]
    assert "Board.canvas" not in {link.get("path") for link in expected}
    assert from_app["outgoing"] == [*expected, {"link": "Board.canvas", "path": "Board.canvas"}]
    assert len(expected) < len(known["outgoing"])
    expected = [link for link in known["backlinks"] if link["path"] == "Home.md"]
    assert from_app["backlinks"] == [*expected, {"path": "No last newline.md", "context": "Projects/Alpha.md"}]
    assert expected


def test_questions_about_the_whole_vault_are_the_apps_to_answer(make: MakeDesk) -> None:
    answers = {
        "orphans": "Home.md\nAttachments/wheel.svg\nGone.md",
        "deadends": "No dead-ends found.",
        "unresolved": '[{"link": "Nowhere", "count": "3", "sources": "Home.md, Projects/Alpha.md"}]',
    }
    through_app = make(answers=answers)

    assert through_app.call("graph", question="orphans") == {"total": 1, "names": {"/": ["Home.md"]}}
    assert through_app.call("graph", question="dead_ends") == {"total": 0, "names": {}}
    assert through_app.call("graph", question="unresolved")["unresolved"] == [
        {"path": path, "link": "Nowhere", "context": "Nowhere", "missing": "file"}
        for path in ("Home.md", "Projects/Alpha.md")
    ]


def test_broken_links_that_the_app_lists_too_have_their_lines_in_the_files(make: MakeDesk) -> None:
    """APP-FILE-08"""
    by_files = make("files").call("graph", question="unresolved")
    lost = '[{"link": "Ayumi", "count": "1", "sources": "Journal/2026-11-20.md"}]'

    assert by_files["total"] == 1
    assert make(answers={"unresolved": lost}).call("graph", question="unresolved") == by_files
    assert make(answers={"unresolved": "[]"}).call("graph", question="unresolved")["total"] == 0


def test_hidden_notes_are_hidden_whatever_the_app_names(make: MakeDesk) -> None:
    """POL-01"""
    answers = {
        "search": '["Home.md", "Projects/Alpha.md"]',
        "backlinks": '[{"file": "Home.md", "count": "1"}]',
        "links": "No links found.",
        "orphans": "Home.md",
        "deadends": "No dead-ends found.",
        "unresolved": '[{"link": "Nowhere", "count": "1", "sources": "Home.md"}]',
    }
    policy = Policy(hidden=(Globs(["Home.md"]),))
    through_app, by_files = make(answers=answers, policy=policy), make("files", policy=policy)

    assert [hit["path"] for hit in through_app.call("search", match="exact", query="a")["hits"]] == [
        "Projects/Alpha.md"
    ]
    # The app counts links from and to hidden notes, which would tell of them.
    for tool, arguments in QUESTIONS[3:]:
        assert through_app.call(tool, **arguments) == by_files.call(tool, **arguments)
