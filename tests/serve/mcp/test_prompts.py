"""Prompts and completion as clients see them (specs/prompts.md)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
import psutil
import pytest

from tests.serve.raw import RawServer
from tests.system import needs

from .test_resources import started

TEMPLATE = {"type": "ref/resource", "uri": "obsidian://vault/{vault}/{+path}"}


@pytest.fixture(scope="module")
def server(shared_basic: Path) -> Iterator[RawServer]:
    """One for the tests that add a note of their own each; a note of a name that another one has is there before."""
    (shared_basic / "Projects/Home.md").write_text("A second one.", encoding="utf-8")
    with started(shared_basic) as running:
        running.initialize()
        yield running
        running.close_stdin()
        assert running.wait() == 0  # news of the last note may come until then


def text_of(server: RawServer, name: str, **arguments: str) -> str:
    (message,) = server.call("prompts/get", {"name": name, "arguments": arguments})["result"]["messages"]
    assert message["role"] == "user"
    return str(message["content"]["text"])


def completed(server: RawServer, ref: dict[str, str], argument: str, value: str, **context: str) -> list[str]:
    params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
    if context:
        params["context"] = {"arguments": context}
    completion = server.call("completion/complete", params)["result"]["completion"]
    assert completion["hasMore"] == (completion["total"] > len(completion["values"]))
    return list(completion["values"])


def prompt(name: str) -> dict[str, str]:
    return {"type": "ref/prompt", "name": name}


def test_every_prompt_is_listed_with_its_arguments(still: RawServer) -> None:
    """PROMPT-01"""
    found = {prompt["name"]: prompt for prompt in still.call("prompts/list")["result"]["prompts"]}

    reading = ["summarize_note", "weekly_review", "find_connections", "clean_up_note", "plan_from_tasks"]
    assert list(found) == [*reading, "open_console"]
    for prompt in found.values():
        assert prompt["title"]
        assert prompt["description"].endswith(".")
        assert all(argument["description"] for argument in prompt["arguments"])
    required = [prompt["name"] for prompt in found["summarize_note"]["arguments"] if prompt["required"]]
    assert required == ["note"]


def test_a_note_is_brought_with_the_request(server: RawServer, shared_basic: Path) -> None:
    text = text_of(server, "summarize_note", note="alpha", length="one sentence")

    assert "one sentence" in text
    assert (shared_basic / "Projects/Alpha.md").read_text(encoding="utf-8") in text


def test_a_long_note_is_cut_and_says_how_to_go_on(server: RawServer, shared_basic: Path) -> None:
    """PROMPT-03"""
    (shared_basic / "Long.md").write_text("word " * 20_000, encoding="utf-8")

    text = text_of(server, "summarize_note", note="Long")
    assert len(text) < 45_000
    assert "obsidian_read_note with offset 40000" in text


def test_a_review_holds_the_notes_that_changed_and_no_others(basic: Path) -> None:
    for note in basic.rglob("*.md"):
        os.utime(note, (time.time() - 30 * 86400,) * 2)
    os.utime(basic / "Home.md", (time.time() - 86400,) * 2)

    with started(basic) as server:
        server.initialize()
        assert "Home.md" in text_of(server, "weekly_review")
        assert "Tower clock.md" not in text_of(server, "weekly_review")
        assert "Projects/Tower clock.md" in text_of(server, "weekly_review", days="40", folder="projects")
        assert "Jonas Weiß.md" not in text_of(server, "weekly_review", days="40", tag="#work")


def test_connections_are_looked_for_in_names_tags_and_links(server: RawServer, shared_basic: Path) -> None:
    (shared_basic / "Idea.md").write_text(
        "The tower clock and the reading list. #work/clocks\n", encoding="utf-8", newline="\n"
    )
    candidates = text_of(server, "find_connections", note="Idea").partition("Candidates:")[2]

    assert "Projects/Tower clock.md (its name is in the text, #work/clocks" in candidates
    assert "Reading/Reading list.md (its name is in the text" in candidates
    assert "Projects/Alpha.md (#work/clocks" in candidates


def test_a_note_to_clean_up_comes_with_what_is_wrong_with_it(server: RawServer, shared_basic: Path) -> None:
    (shared_basic / "Messy.md").write_text("# A\n\n### B\n\n[[Nowhere at all]]\n", encoding="utf-8", newline="\n")
    text = text_of(server, "clean_up_note", note="Messy")

    assert "- [[Nowhere at all]]" in text
    assert "tags (" in text
    assert "#person (2)" in text


def test_a_plan_holds_the_open_tasks_and_where_they_are(still: RawServer) -> None:
    text = text_of(still, "plan_from_tasks", folder="Projects")

    assert "- [ ] Cut the wheel in brass" in text
    assert "(Projects/Alpha.md:" in text
    assert "Draw the wheel" not in text


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("no_such_prompt", {}, -32602),
        ("summarize_note", {}, -32602),
        ("summarize_note", {"note": " "}, -32602),
        ("summarize_note", {"note": "Alpha", "colour": "red"}, -32602),
        ("weekly_review", {"days": "many"}, -32602),
        ("weekly_review", {"days": "0"}, -32602),
        ("summarize_note", {"note": "No such note"}, -32003),
        ("summarize_note", {"note": "../x"}, -32005),
        ("weekly_review", {"vault": "elsewhere"}, -32002),
        ("weekly_review", {"folder": "No such folder"}, -32003),
        ("plan_from_tasks", {"folder": "No such folder"}, -32003),
    ],
)
def test_what_cannot_be_asked_is_refused(still: RawServer, name: str, arguments: dict[str, str], code: int) -> None:
    """PROMPT-02"""
    error = still.call("prompts/get", {"name": name, "arguments": arguments})["error"]

    assert error["code"] == code
    assert error["data"]["errorCode"]


def test_names_are_completed_with_the_likeliest_first(server: RawServer) -> None:
    """PROMPT-04"""
    assert completed(server, prompt("summarize_note"), "note", "al") == ["Alpha"]
    assert completed(server, prompt("find_connections"), "note", "clock") == ["Tower clock"]
    assert completed(server, prompt("find_connections"), "note", "home") == ["Home", "Projects/Home"]
    assert completed(server, prompt("weekly_review"), "tag", "#wo") == ["work", "work/clocks"]
    assert completed(server, prompt("weekly_review"), "folder", "proj") == ["Projects"]
    assert completed(server, prompt("weekly_review"), "days", "7") == []
    assert completed(server, prompt("weekly_review"), "vault", "") == ["basic"]
    assert completed(server, TEMPLATE, "path", "wheel") == ["Attachments/wheel.svg"]
    assert completed(server, TEMPLATE, "vault", "b") == ["basic"]
    assert completed(server, TEMPLATE, "path", "wheel", vault="elsewhere") == []


def test_what_is_not_offered_cannot_be_completed(still: RawServer) -> None:
    for ref, argument in [
        (prompt("no_such_prompt"), "note"),
        (prompt("summarize_note"), "colour"),
        ({"type": "ref/resource", "uri": "test://{x}"}, "x"),
    ]:
        params = {"ref": ref, "argument": {"name": argument, "value": ""}}
        assert still.call("completion/complete", params)["error"]["code"] == -32602


def test_names_are_completed_quickly_among_very_many(basic: Path) -> None:
    """PROMPT-05"""
    for number in range(12_000):
        folder = basic / f"f{number % 100}"
        folder.mkdir(exist_ok=True)
        (folder / f"note {number}.md").touch()
    with started(basic) as server:
        server.initialize()
        assert len(completed(server, TEMPLATE, "path", "note")) == 100
        process = psutil.Process(server.process.pid)
        before = process.cpu_times()
        for typed in ("n", "no", "note 1", "note 11"):
            assert completed(server, prompt("summarize_note"), "note", typed)
        after = process.cpu_times()
        assert (after.user + after.system - before.user - before.system) / 4 < 0.5


@needs("permissions of POSIX")
def test_a_person_opens_the_console_and_no_model_gets_its_address(tmp_path: Path, shared_basic: Path) -> None:
    """UI-11: from an app that has nothing but the server"""
    (program := tmp_path / "browser").write_text('#!/bin/sh\necho "$1" > "$0.opened"\n', encoding="utf-8")
    program.chmod(0o700)
    with started(shared_basic, BROWSER=str(program)) as server:
        server.initialize()
        info = server.call("tools/call", {"name": "obsidian_vault_info", "arguments": {}})["result"]
        said = text_of(server, "open_console")
        opened = (tmp_path / "browser.opened").read_text(encoding="utf-8").strip()
        page = Path(unquote(urlsplit(opened).path)).read_text(encoding="utf-8")
        address = page.partition('href="')[2].partition('"')[0]

        assert "token=" in address
        assert "open" in said
        assert "127.0.0.1" not in said
        assert "Open the console" in info["structuredContent"]["data"]["console"]
        assert "127.0.0.1" not in str(info)
        assert httpx.get(address).status_code == 200
