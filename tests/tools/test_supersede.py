"""A note or block is superseded on both sides as one change, and what still says the old thing is listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.cli import main
from obsidian_mcp.errors import AppError, InvalidArguments
from obsidian_mcp.tools.registry import call
from tests.tools.conftest import Opened

NOTES = {
    "Old.md": "---\ntags: [decision] # kept\n---\n# Database\nOrders are stored in MySQL on the small server.\n",
    "New.md": "# Database now\r\nOrders are stored in Postgres on the large server, instead of MySQL.\r\n",
    "Runbook.md": "# Backup\nThe orders are stored in MySQL, on the small server.\nCall Anna.\n",
    "Links.md": "See [[Old|the decision]] for more.\n",
    "Earlier.md": "---\nstatus: archived\n---\nOrders are stored in MySQL on the small server. [[Old]]\n",
    "Log.md": "- parcels go by ship ^m1\n- parcels go by plane now ^m2\n- letters\n\n^m3\n",
}


def supersede(app: App, old: str, new: str, **arguments: Any) -> dict[str, Any]:
    return call(app, "obsidian_compose_notes", {"action": "supersede", "name": old, "into": new, **arguments}).data


def text(app: App, path: str) -> str:
    return (Path(app.vaults.get().files.root) / path).read_bytes().decode()


def test_both_sides_are_written_as_one_change_that_can_be_undone(opened: Opened) -> None:
    """MEM-20"""
    app = opened(NOTES)

    supersede(app, "Old", "New", reason="MySQL was\n too slow")

    assert text(app, "Old.md") == NOTES["Old.md"].replace(
        "# kept\n", "# kept\nsuperseded_by: '[[New]]'\nsuperseded_because: MySQL was too slow\n"
    ).replace("'", '"')
    assert text(app, "New.md").startswith('---\r\nsupersedes:\r\n  - "[[Old]]"\r\n---\r\n# Database now\r\n')
    (hit,) = [
        hit for hit in call(app, "obsidian_search", {"query": "orders mysql"}).data["hits"] if hit["path"] == "Old.md"
    ]
    assert hit["outdated"] == "superseded by [[New]]"
    call(app, "obsidian_undo", {})
    assert {path: text(app, path) for path in NOTES} == NOTES


def test_what_still_says_the_old_thing_is_listed_and_stays(opened: Opened) -> None:
    """MEM-21: links of current notes, and lines that say what the old note says rather than the new one"""
    app = opened(NOTES)

    answer = supersede(app, "Old", "New")

    assert answer["still_said"] == [
        {"path": "Links.md", "text": "See [[Old|the decision]] for more.", "line": 1},
        {"path": "Runbook.md", "text": "The orders are stored in MySQL, on the small server.", "line": 2},
    ]
    assert [text(app, path) for path in ("Links.md", "Runbook.md")] == [NOTES["Links.md"], NOTES["Runbook.md"]]


def test_what_says_as_much_of_the_new_as_of_the_old_is_not_listed(opened: Opened) -> None:
    """MEM-21"""
    stored = "The orders are stored in {}, on the small server."
    notes = {"Old.md": stored.format("MySQL"), "New.md": stored.format("Postgres")}
    others = {"Both.md": "a database", "Late.md": "MySQL", "Known.md": "Postgres"}  # each name as rare as the other
    app = opened(notes | {path: stored.format(name) for path, name in others.items()})

    assert [line["path"] for line in supersede(app, "Old", "New")["still_said"]] == ["Late.md"]


def test_a_block_is_superseded_by_a_field_before_its_id(opened: Opened) -> None:
    """MEM-20, MEM-21: also within one note, and below an id of its own line"""
    app = opened(NOTES | {"Other.md": "We said: parcels go by ship. [[Log#^m1]] [[Log#^m2]]\n"})

    answer = supersede(app, "Log#^m1", "[[Log#^m2]]", reason="the ship [old] sank")
    supersede(app, "Log#^m3", "New")

    first, second, third, *_ = text(app, "Log.md").split("\n")
    assert first == (
        "- parcels go by ship [superseded_by:: [[Log#^m2]]] [superseded_because:: the ship (old) sank] ^m1"
    )
    assert second == "- parcels go by plane now [supersedes:: [[Log#^m1]]] ^m2"
    assert third == "- letters [superseded_by:: [[New]]]"
    assert [place["path"] for place in answer["still_said"]] == ["Other.md"]
    (snippet, *_) = call(app, "obsidian_search", {"query": "parcels ship", "name": "Log"}).data["hits"][0]["snippets"][
        -1:
    ]
    assert snippet["outdated"].startswith("superseded by [[Log#^m2]]")


def test_the_same_again_changes_nothing_and_another_is_added(opened: Opened) -> None:
    """MEM-20"""
    app = opened(NOTES)
    supersede(app, "Old", "New")
    once = text(app, "Old.md"), text(app, "New.md")

    supersede(app, "Old", "New")
    assert (text(app, "Old.md"), text(app, "New.md")) == once
    supersede(app, "Old", "Links")
    assert 'superseded_by:\n  - "[[New]]"\n  - "[[Links]]"\n' in text(app, "Old.md")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("Old", "Old", "superseded by itself"),
        ("Log#^m1", "Log", "superseded by itself"),
        ("Log#^m9", "New", "no list item or paragraph with the id"),
        ("Old#Database", "New", "is a heading"),
        ("Old", "Missing", "Missing"),
        ("New", "Old", "both would supersede each other"),
        ("Third", "Old", "both would supersede each other"),
    ],
)
def test_what_cannot_be_superseded_is_refused_and_nothing_is_written(
    opened: Opened, old: str, new: str, says: str
) -> None:
    """MEM-20"""
    notes = NOTES | {"Third.md": "third"}
    app = opened(notes)
    supersede(app, "Old", "New")
    supersede(app, "New", "Third")
    before = {path: text(app, path) for path in notes}

    with pytest.raises(AppError, match=says):
        supersede(app, old, new)
    assert {path: text(app, path) for path in notes} == before


def test_into_is_required_and_part_is_refused(opened: Opened) -> None:
    app = opened(NOTES)
    with pytest.raises(InvalidArguments, match="supersede needs `into`"):
        supersede(app, "Old", "")
    with pytest.raises(InvalidArguments, match="`part` is for extract only"):
        supersede(app, "Old", "New", part="Database")


def test_a_dry_run_shows_both_sides(opened: Opened) -> None:
    """MEM-20"""
    app = opened(NOTES)
    answer = supersede(app, "Old", "New", dry_run=True)
    assert '+superseded_by: "[[New]]"' in answer["diff"]
    assert '+  - "[[Old]]"' in answer["diff"]
    assert text(app, "Old.md") == NOTES["Old.md"]


def test_the_check_finds_circles_missing_successors_and_what_relies_on_the_outdated(opened: Opened) -> None:
    """MEM-22"""
    app = opened(
        {
            "A.md": "---\nsuperseded_by: '[[B]]'\n---\na",
            "B.md": "---\nsuperseded_by: '[[A]]'\n---\nb",
            "C.md": "---\nsuperseded_by: '[[Nowhere]]'\n---\nc [[A]]",
            "D.md": "text\n- d [superseded_by:: [[Gone]]]",
            "E.md": "# Plan\nAs [[C]] says.\n",
            "F.md": "---\nsupersedes: '[[C]]'\n---\nIn place of [[C]].",
            "G.md": "- old [superseded_by:: [[E]]] see [[C]]",
        }
    )

    (result,) = call(app, "obsidian_check", {"only": "validity", "limit": 50}).data["results"]
    found = {(finding["path"], finding.get("line"), finding["text"]) for finding in result["findings"]}
    assert found == {
        ("A.md", None, "Superseded in a circle: [[A]], [[B]]."),
        ("C.md", None, "The successor is missing: [[Nowhere]]."),
        ("D.md", 2, "The successor is missing: [[Gone]]."),
        ("E.md", 2, "Relies on [[C]], superseded by [[Nowhere]], [[F]]: As [[C]] says."),
    }
    assert "broken" not in result


def test_the_command_names_old_and_new(
    opened: Opened, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """MEM-20"""
    opened(NOTES)
    for kind in ("CACHE", "STATE"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{kind}", str(tmp_path / kind.lower()))

    words = ["--vault", str(tmp_path / "vault"), "supersede", "Old", "New", "it was slow"]
    assert main.run_command_line(words) == 0
    assert "Runbook.md" in capsys.readouterr().out
    assert "superseded_because: it was slow" in (tmp_path / "vault" / "Old.md").read_text(encoding="utf-8")
