"""Broken links in one look: where they stand, and what was likely meant (LINK-50, LINK-51)."""

from __future__ import annotations

from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.tools.registry import call
from tests.tools.conftest import Opened

TARGETS = {
    "People/Anna Berg.md": "---\naliases: [Annie]\n---\n# Life\n## Early years\n# Work\nBuilds clocks. ^clocks\n",
    "2026-01-02.md": "A day.\n",
    "Attachments/wheel.png": "",
    "```.md": "```\n# In code\nText ^incode\n```\n",
}


def run(app: App, tool: str, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


@pytest.mark.parametrize(
    ("written", "missing", "meant"),
    [
        ("[[Ana Berg]]", "file", "[[Anna Berg]]"),
        ("[[Annna Berg#Work|her work]]", "file", "[[Anna Berg#Work|her work]]"),
        ("![[whel.png]]", "file", "![[wheel.png]]"),
        ("[[Old folder/Anna Berg]]", "file", "[[People/Anna Berg]]"),
        ("[[People/Ana Berg#Work]]", "file", "[[People/Anna Berg#Work]]"),
        ("[her](../People/Ana%20Berg.md)", "file", "[her](People/Anna%20Berg.md)"),
        ("![](Attachments/whel.png)", "file", "![](Attachments/wheel.png)"),
        ("[[Annie]]", "file", "[[Anna Berg|Annie]]"),
        ("[[annie|a friend]]", "file", "[[Anna Berg|a friend]]"),
        ("[a friend](Ana%20Berg.md)", "file", "[a friend](Anna%20Berg.md)"),
        ("[[2026-01-03]]", "file", None),
        ("[[Quantum]]", "file", None),
        ("[[Anna Berg#Wrok]]", "heading", "[[Anna Berg#Work]]"),
        ("[[Anna Berg#Life#Early year|then]]", "heading", "[[Anna Berg#Early years|then]]"),
        ("[[Anna Berg#Work#Life]]", "heading", "[[Anna Berg#Life]]"),
        ("[work](People/Anna%20Berg.md#Wrok)", "heading", "[work](People/Anna%20Berg.md#Work)"),
        ("[[#Nothing here]]", "heading", None),
        ("[[Anna Berg#^clock]]", "block", "[[Anna Berg#^clocks]]"),
        ("![[Anna Berg#^clok]]", "block", "![[Anna Berg#^clocks]]"),
        ("[[```#^incode]]", "block", None),
        ("[[```#In code]]", "heading", None),
    ],
)
def test_a_broken_link_says_its_line_and_what_was_likely_meant(
    opened: Opened, written: str, missing: str, meant: str | None
) -> None:
    """LINK-50, LINK-51"""
    app = opened({**TARGETS, "Note.md": f"# A note\n\nSee {written} there.\n"})
    answer = run(app, "graph", question="unresolved")

    expected = {"path": "Note.md", "line": 3, "link": written, "context": f"See {written} there.", "missing": missing}
    assert answer == {"total": 1, "unresolved": [{**expected, **({"did_you_mean": meant} if meant else {})}]}
    if meant:
        run(app, "edit_note", name="Note", operation="replace_text", find=written, content=meant)
        assert run(app, "graph", question="unresolved")["total"] == 0


@pytest.mark.parametrize(
    "written",
    [
        "[[Anna Berg#life#EARLY years]]",
        "[[Anna Berg#^CLOCKS]]",
        "[[#A note]]",
        "[[Anna Berg#]]",
        "![[wheel.png#right]]",
        "[[Plan.excalidraw#^group=x1]]",
        "[web](https://example.com/#x)",
    ],
)
def test_a_link_that_leads_somewhere_is_not_broken(opened: Opened, written: str) -> None:
    """LINK-50"""
    app = opened({**TARGETS, "Plan.excalidraw.md": "Data\n", "Note.md": f"# A note\n{written}\n"})
    assert run(app, "graph", question="unresolved")["total"] == 0


def test_broken_links_of_properties_cards_and_tables_are_found(opened: Opened) -> None:
    """LINK-50"""
    card = '{"nodes":[{"id":"a","type":"file","file":"Anna Berg.md"},{"id":"b","type":"text","text":"[[Anna Brg]]"}]}'
    table = "| a | b |\n|---|---|\n| [[Ana Berg\\|her]] | [[Ana Berg\\|her]] |\n"
    app = opened({**TARGETS, "Board.canvas": card, "Note.md": f'---\nby: "[[Ana Berg]]"\n---\n{table}'})
    found = run(app, "graph", question="unresolved")["unresolved"]

    assert [(link["path"], link.get("line"), link["context"], link["did_you_mean"]) for link in found] == [
        ("Board.canvas", None, "Anna Berg.md", "People/Anna Berg.md"),
        ("Board.canvas", None, "[[Anna Brg]]", "[[Anna Berg]]"),
        ("Note.md", 2, "by: [[Ana Berg]]", "[[Anna Berg]]"),
        ("Note.md", 6, "| [[Ana Berg\\|her]] | [[Ana Berg\\|her]] |", "[[Anna Berg\\|her]]"),
    ]


def test_nine_broken_links_are_repaired_in_two_calls(opened: Opened) -> None:
    links = [f"[[Ana Berg#{part}]]" for part in ("Life", "Work", "^clocks")]
    app = opened({**TARGETS, **{f"Note {n}.md": " and ".join(links) for n in range(3)}})
    found = run(app, "graph", question="unresolved")
    edits = [
        {
            "tool": "edit_note",
            "name": link["path"],
            "operation": "replace_text",
            "find": link["link"],
            "content": link["did_you_mean"],
        }
        for link in found["unresolved"]
    ]
    run(app, "batch", calls=edits)

    assert found["total"] == 9
    assert run(app, "graph", question="unresolved")["total"] == 0


def test_pages_of_broken_links_hold_each_once(opened: Opened) -> None:
    app = opened({f"Note {n}.md": "[[Gone]] [[Gone]] [[Lost]]" for n in range(5)})
    first = run(app, "graph", question="unresolved", limit=7)
    rest = run(app, "graph", question="unresolved", limit=7, offset=first["next_offset"])
    places = [(link["path"], link["link"]) for link in first["unresolved"] + rest["unresolved"]]

    assert first["total"] == len(places) == len(set(places)) == 10
    assert "next_offset" not in rest


def test_the_broken_links_of_one_note_are_listed_by_its_name(opened: Opened) -> None:
    """LINK-50"""
    app = opened({**TARGETS, "One.md": "[[Ana Berg]] [[Gone]]", "Two.md": "[[Lost]]"})
    one = run(app, "graph", question="unresolved", name="One")

    assert (one["total"], [link["link"] for link in one["unresolved"]]) == (2, ["[[Ana Berg]]", "[[Gone]]"])
    assert run(app, "graph", question="unresolved", name="Anna Berg")["total"] == 0
    with pytest.raises(InvalidArguments, match="takes no `name`"):
        run(app, "graph", question="orphans", name="One")
