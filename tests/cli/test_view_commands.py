"""Views in the browser, written by the command line (specs/views.md VIEW-13 to VIEW-15)."""

from __future__ import annotations

import json
import os
import re
import stat
import webbrowser
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.cli.main import run_command_line
from tests.serve.mcp.test_resources import PIXEL
from tests.system import can


@pytest.fixture(autouse=True)
def private(basic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("CACHE", "STATE"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{kind}", str(basic.parent / kind.lower()))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the browser was told to open."""
    addresses: list[str] = []

    def open_page(url: str) -> bool:
        addresses.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", open_page)
    return addresses


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def written(basic: Path, *words: str) -> dict[str, Any]:
    """The data in the page that a command writes."""
    file = basic.parent / "page.html"
    assert run_command_line(["--vault", str(basic), "view", *words, "--output", str(file), "--no-open"]) == 0
    return data_of(file.read_text(encoding="utf-8"))


def test_a_graph_has_its_first_lines_inside(basic: Path) -> None:
    data = written(basic, "graph", "Alpha", "--depth", "1")
    assert (data["view"], data["center"], data["depth"]) == ("graph", "Projects/Alpha.md", 1)
    assert "The town's clock of 1788" in data["previews"]["Projects/Tower clock.md"]


def test_a_query_comes_whole_sorted_and_grouped(basic: Path) -> None:
    for number in range(80):
        (basic / f"m{number:02}.md").write_text(f"---\nkey: {number % 7}\n---\n#many\n", encoding="utf-8", newline="\n")
    data = written(basic, "query", "TABLE key FROM #many", "--sort", "-key", "--group", "key", "--layout", "table")
    assert (len(data["rows"]), data["total"], data["layout"], len(data["groups"])) == (80, 80, "table", 7)
    assert "next_offset" not in data
    assert len(written(basic, "query", "LIST FROM #many")["rows"]) == 80
    assert written(basic, "query", "--language", "tasks")["tasks"] is True


def test_a_note_has_its_text_and_images_inside(basic: Path) -> None:
    (basic / "pixel.png").write_bytes(PIXEL)
    (basic / "Long.md").write_text(
        "![[pixel.png]] ![[broken.png]]\n" + "words " * 20_000, encoding="utf-8", newline="\n"
    )
    (basic / "broken.png").write_bytes(b"no picture")
    data = written(basic, "note", "Long")
    assert len(data["page"]["markdown"]) > 100_000
    assert set(data["images"]) == {"pixel.png"}
    assert data["images"]["pixel.png"]["mime"] == "image/png"


def test_the_data_of_a_page_comes_as_json_too(basic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["--vault", str(basic), "view", "graph", "Home", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["center"] == "Home.md"


def test_the_history_has_the_lines_of_every_change(basic: Path) -> None:
    assert run_command_line(["--vault", str(basic), "edit", "Home", "append", "One more line"]) == 0
    assert run_command_line(["--vault", str(basic), "move", "Alpha", "Beta"]) == 0
    data = written(basic, "history")
    assert [change["change"] for change in data["changes"]] == [2, 1]
    assert "+One more line" in data["changes"][1]["files"][0]["hunks"][0]["lines"]
    assert len(written(basic, "history", "Home", "--limit", "1")["changes"]) == 1


def test_without_a_name_the_page_lies_in_the_programs_own_folder_and_is_opened(
    basic: Path, opened: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """VIEW-14"""
    monkeypatch.setenv("OBSIDIAN_MCP_CACHE", str(tmp_path / "cache"))
    assert run_command_line(["--vault", str(basic), "view", "note", "Home"]) == 0
    file = Path(capsys.readouterr().out.strip())
    assert opened == [file.as_uri()]
    assert data_of(file.read_text(encoding="utf-8"))["title"] == "Home"
    assert file.is_relative_to(tmp_path / "cache")
    if can("permissions of POSIX"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_page_goes_after_a_day(
    basic: Path, opened: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """VIEW-14"""
    monkeypatch.setenv("OBSIDIAN_MCP_CACHE", str(tmp_path / "cache"))
    pages = []
    for hours in (25, 23, 0):
        assert run_command_line(["--vault", str(basic), "view", "note", "Home"]) == 0
        pages.append(Path(capsys.readouterr().out.strip()))
        written = pages[-1].stat().st_mtime - hours * 3600
        os.utime(pages[-1], (written, written))
    assert [page.exists() for page in pages] == [False, True, True]
    assert len(opened) == 3


def test_where_no_browser_opens_the_file_is_named(
    basic: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """VIEW-14"""
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert (
        run_command_line(["--vault", str(basic), "view", "note", "Home", "--output", str(basic.parent / "x.html")]) == 0
    )
    assert "No browser could be opened" in capsys.readouterr().out


def test_a_page_goes_to_standard_output_or_into_a_page_only(basic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """VIEW-14"""
    assert run_command_line(["--vault", str(basic), "view", "note", "Home", "--output", "-"]) == 0
    assert data_of(capsys.readouterr().out)["title"] == "Home"
    before = (basic / "Home.md").read_bytes()
    assert run_command_line(["--vault", str(basic), "view", "note", "Home", "--output", str(basic / "Home.md")]) != 0
    assert "ends in .html" in capsys.readouterr().err
    assert (basic / "Home.md").read_bytes() == before
    assert run_command_line(["--vault", str(basic), "view", "note", "Home", "-o", str(basic / "none" / "x.html")]) != 0
    assert "cannot be written" in capsys.readouterr().err
