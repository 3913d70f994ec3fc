"""What notes say of their own validity decides what comes first, and is said (specs/memory.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.cli import main
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.tools.conftest import Opened

LONG = "The orders and their database were spoken of, too. " * 30
TWO = {"Old.md": "---\n{mark}\n---\n# Orders database\nOrders database: MySQL.", "Other.md": LONG}


def hits(app: App, query: str, **arguments: Any) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = call(app, "obsidian_search", {"query": query, **arguments}).data["hits"]
    return listed


def paths(app: App, query: str, **arguments: Any) -> list[str]:
    return [hit["path"] for hit in hits(app, query, **arguments)]


@pytest.mark.parametrize(
    ("mark", "says"),
    [
        ('superseded_by: "[[Other]]"', "superseded by [[Other]]"),
        ("superseded-by: Other", "superseded by [[Other]]"),
        ("Superseded By: '[new one](Other.md)'", "superseded by [[Other.md]]"),
        ("supersededBy: ['[[Other|new]]', '[[Gone]]']", "superseded by [[Other]], [[Gone]]"),
        ("superseded_by: true", "superseded"),
        ("valid_until: 2026-11-21", "valid until 2026-11-21"),
        ("valid_until: 2026-10", "valid until 2026-10"),
        ("expires: 2025", "valid until 2025"),
        ("expires: '[[2026-01-31]]'", "valid until 2026-01-31"),
        ("stale_after: 2026-11-22", "stale since 2026-11-22"),
        ("status: Deprecated", "status: Deprecated"),
        ("status: [reviewed, archived]", "status: archived"),
    ],
)
def test_what_a_property_marks_comes_behind_what_is_current_and_says_why(opened: Opened, mark: str, says: str) -> None:
    """MEM-01, MEM-04, MEM-10, MEM-11"""
    app = opened({path: text.format(mark=mark) for path, text in TWO.items()})

    first, last = hits(app, "orders database")
    assert (first["path"], last["path"]) == ("Other.md", "Old.md")
    assert last["outdated"] == says
    assert "outdated" not in first
    assert last["score"] <= first["score"]
    assert paths(app, "orders database", current=True) == ["Other.md"]


@pytest.mark.parametrize(
    "mark",
    [
        "status: active",
        "valid_until: 2026-11-22",
        "expires: 2026-11",
        "stale_after: 2026-11-23",
        "expires: soon",
        "superseded_by:",
        "superseded_by: false",
        "date: 2011-01-01",
        "supersedes: '[[Other]]'",
        "note: archived",
    ],
)
def test_nothing_else_marks_a_note(opened: Opened, mark: str) -> None:
    """MEM-01, MEM-04: age and doubtful values do not"""
    app = opened({path: text.format(mark=mark) for path, text in TWO.items()})

    found = {hit["path"]: hit.get("outdated") for hit in hits(app, "orders database")}
    assert found["Old.md"] is None


def test_what_another_note_says_it_supersedes_is_outdated(opened: Opened) -> None:
    """MEM-01"""
    app = opened(
        {
            "Old.md": "orders database orders database",
            "New.md": "---\nsupersedes: ['[[Old]]', '[[Log#^m1]]']\n---\n" + LONG,
            "Log.md": "- parcels go by ship ^m1\n- letters go by train\n",
        }
    )

    found = hits(app, "orders database")
    assert [(hit["path"], hit.get("outdated")) for hit in found] == [
        ("New.md", None),
        ("Old.md", "superseded by [[New]]"),
    ]
    (parcels,) = [hit for hit in hits(app, "parcels ship") if hit["path"] == "Log.md"]
    assert parcels["snippets"][0]["outdated"] == "superseded by [[New]]"
    (letters,) = hits(app, "letters train")
    assert "outdated" not in letters["snippets"][0]


@pytest.mark.parametrize(
    ("text", "outdated", "current"),
    [
        ("- zebra one [superseded_by:: [[New]]]\n  - zebra child\n- zebra two\n", {1, 2}, {3}),
        ("- [ ] zebra one (superseded_by:: [[New]])\n- [x] zebra two\n", {1}, {2}),
        ("zebra one\ngoes on [status:: outdated] zebra\n\nzebra two\n", {1, 2}, {4}),
        ("# zebra [expires:: 2020]\nzebra one\n## zebra\nzebra\n# Two\nzebra two\n", {1, 2, 3, 4}, {6}),
        ("`[status:: outdated]` zebra one\n```\n[status:: outdated] zebra\n```\nzebra two\n", set(), {1, 3, 5}),
        ("zebra one\n\nstatus:: outdated\n\nzebra two\n", {1, 5}, set()),
        ("- [valid until:: 2020-01-01] zebra one\n- [valid until:: 2099-01-01] zebra two\n", {1}, {2}),
    ],
)
def test_an_inline_field_marks_its_item_paragraph_section_or_note(
    opened: Opened, text: str, outdated: set[int], current: set[int]
) -> None:
    """MEM-03, MEM-11"""
    app = opened({"Log.md": text, "New.md": "new"})

    found = hits(app, "zebra", name="Log")
    lines = {snippet["line"]: "outdated" in snippet for hit in found for snippet in hit["snippets"]}
    assert {line for line, is_outdated in lines.items() if is_outdated} == outdated
    assert {line for line, is_outdated in lines.items() if not is_outdated} == current
    left = {snippet["line"] for hit in hits(app, "zebra", name="Log", current=True) for snippet in hit["snippets"]}
    assert left == current


def test_a_note_whose_match_is_an_outdated_line_comes_behind(opened: Opened) -> None:
    """MEM-10, MEM-13"""
    app = opened(
        {
            "Log.md": "# Mail\n- mail server is Alpha mail [superseded_by:: [[New]]]\n- backups nightly\n",
            "New.md": "For letters there is Beta.",
            "Other.md": "Somebody spoke of a mail server. " + "filler text here " * 100,
        }
    )

    assert paths(app, "mail server") == ["Other.md", "New.md", "Log.md"]
    assert paths(app, "mail server", current=True) == ["Other.md"]
    assert paths(app, "backups nightly", current=True) == ["Log.md"]


def test_the_successor_is_offered_before_what_it_supersedes_whatever_its_words(opened: Opened) -> None:
    """MEM-11, MEM-12: also of a successor of a successor, and where marks go in a circle"""
    app = opened(
        {
            "A.md": "---\nsuperseded_by: '[[B]]'\n---\nWe pay by Stripe.",
            "B.md": "---\nsuperseded_by: '[[C]]'\n---\nPayments: Adyen.",
            "C.md": "Invoices only.",
            "X.md": "---\nsuperseded_by: '[[Y]]'\n---\nround trip",
            "Y.md": "---\nsuperseded_by: '[[X]]'\n---\nround trip",
        }
    )

    found = hits(app, "stripe")
    assert [(hit["path"], hit.get("matched")) for hit in found] == [("C.md", "successor"), ("A.md", None)]
    assert found[0]["snippets"][0]["text"] == "Invoices only."
    assert found[1]["outdated"] == "superseded by [[B]], now [[C]]"
    assert paths(app, "stripe", match="exact") == ["A.md"]
    assert paths(app, "stripe path:A") == ["A.md"]
    assert sorted(paths(app, "round trip")) == ["X.md", "Y.md"]


def test_a_line_that_is_superseded_in_steps_has_what_holds_in_the_end_before_it(opened: Opened) -> None:
    """MEM-11, MEM-12: the successors of lines are lines"""
    app = opened(
        {
            "A.md": "- stripe handles card payments [superseded_by:: [[B#^pay-2]]] ^pay-1\n- lunch",
            "B.md": "- Adyen from now on [superseded_by:: [[C#^pay-3]]] ^pay-2\n- a walk",
            "C.md": "- Mollie, they are cheaper ^pay-3\n- rain",
            "D.md": "- stripe shirts are in fashion again [superseded_by:: [[D#^s2]]] ^s1\n"
            "- plain ones [superseded_by:: [[E#^s3]]] ^s2",
            "E.md": "- dots ^s3",
            "F.md": "- kites fly [superseded_by:: [[G#^g1]], [[H#^h1]]] ^f",
            "G.md": "- planes [superseded_by:: [[G#^g2]]] ^g1\n- rockets ^g2",
            "H.md": "- balloons [superseded_by:: [[G#^g1]]] ^h1",
            "X.md": "- zebra crossing [superseded_by:: [[Y#^y]]] ^x",
            "Y.md": "- zebra crossing [superseded_by:: [[X#^x]]] ^y",
        }
    )

    found = hits(app, "stripe payments")
    assert [hit["path"] for hit in found][:2] == ["C.md", "A.md"]
    assert found[1]["snippets"][0]["outdated"] == "superseded by [[B#^pay-2]], now [[C]]"
    assert paths(app, "shirts fashion") == ["E.md", "D.md"]
    assert paths(app, "kites fly") == ["G.md", "F.md"]
    assert sorted(paths(app, "zebra crossing")) == ["X.md", "Y.md"]


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_list_every_file_once_in_one_order(opened: Opened, limit: int) -> None:
    """MEM-10, MEM-12: the order does not depend on the page"""
    files = {f"Current {n}.md": "zebra lion " * (n % 5 + 1) for n in range(13)}
    files |= {f"Old {n}.md": f"---\nsuperseded_by: '[[New {n}]]'\n---\n" + "zebra lion " * 9 for n in range(13)}
    files |= {f"New {n}.md": "giraffe" for n in range(0, 13, 2)}
    app = opened(files)

    whole = call(app, "obsidian_search", {"query": "zebra lion", "limit": 100, "snippets": 0}).data
    order = [hit["path"] for hit in whole["hits"]]
    assert len(order) == whole["total"] == len(set(order)) == 33
    paged = [
        path
        for offset in range(0, 33, limit)
        for path in paths(app, "zebra lion", limit=limit, offset=offset, snippets=0)
    ]
    assert paged == order


@pytest.mark.parametrize(
    "question",
    [
        "orders database before",
        "what database did orders use in 2024",
        "Orders DATABASE previously",
        "orders database war Access vor MySQL",
        "avant, orders database",
        "orders database antes",
        "orders database vroeger",
        "orders database раньше",
        "以前 orders database",
        "2024-02のorders database",
        "orders database 之前",
        "orders database 예전",
    ],
)
def test_a_question_about_the_past_gets_the_dated_chain(opened: Opened, question: str) -> None:
    """MEM-14"""
    app = opened(
        {
            "2023-05-01.md": "---\nsuperseded_by: '[[Second]]'\n---\nOrders use a database: Access.",
            "Second.md": "---\ndate: 2024-02-03\nsuperseded_by: '[[Third]]'\n---\nOrders use a database: MySQL.",
            "Third.md": "---\nvalid_from: 2026-04-05\ncreated: 2020-01-01\n---\nOrders use a database: Postgres.",
        }
    )
    chain = ["2023-05-01 to 2024-02-03: [[2023-05-01]]", "2024-02-03 to 2026-04-05: [[Second]]"]
    chain.append("since 2026-04-05: [[Third]]")

    found = hits(app, question)
    assert [hit["chain"] for hit in found] == [chain] * len(found)
    assert found[0]["path"] == "Third.md"
    for present in ("orders database", "orders database vor Ort", "orders database 2026", "orders database v2024"):
        assert all("chain" not in hit for hit in hits(app, present))


def test_names_are_settings(tmp_path: Path) -> None:
    """MEM-02"""
    names = "superseded_by=ersetzt durch, outdated=alt|überholt, valid_until=bis"
    (tmp_path / "v").mkdir()
    notes = {"A": "ersetzt_durch: '[[N]]'", "B": "status: Alt", "C": "bis: 2020", "D": "status: archived"}
    for name, text in notes.items():
        (tmp_path / "v" / f"{name}.md").write_text(f"---\n{text}\n---\nzebra", encoding="utf-8")
    found = {hit["path"]: hit.get("outdated") for hit in hits(app_on(tmp_path / "v", validity=names), "zebra")}
    assert found == {"A.md": "superseded by [[N]]", "B.md": "status: Alt", "C.md": "valid until 2020", "D.md": None}
    with pytest.raises(InvalidArguments, match="OBSIDIAN_MCP_VALIDITY has 'superseded'"):
        hits(app_on(tmp_path / "v", validity="superseded"), "zebra")


def test_similar_notes_and_context_say_what_is_outdated(opened: Opened) -> None:
    """MEM-10, MEM-11"""
    text = "The big wheel of the clock is made of brass and turns once an hour.\n"
    app = opened(
        {
            "Wheel.md": text,
            "Old wheel.md": f"---\nsuperseded_by: '[[Wheel]]'\n---\n{text}",
            "Third.md": "The big wheel of the clock turns.",
        }
    )

    similar = call(app, "obsidian_similar", {"name": "Wheel"}).data["similar"]
    assert [(note["path"], note.get("outdated")) for note in similar] == [
        ("Third.md", None),
        ("Old wheel.md", "superseded by [[Wheel]]"),
    ]
    context = call(app, "obsidian_read_note", {"name": "Old wheel", "view": "context"}).data
    assert context["outdated"] == "superseded by [[Wheel]]"


def test_passages_name_the_lines_that_are_outdated(opened: Opened) -> None:
    """MEM-11"""
    app = opened({"Log.md": "- zebra in the north [superseded_by:: [[New]]]\n- zebra in the south\n", "New.md": "x"})

    (hit,) = [hit for hit in hits(app, "zebra", show="passages") if hit["path"] == "Log.md"]
    assert hit["snippets"][0]["outdated"] == "line 1: superseded by [[New]]"


def test_a_successor_that_the_policy_hides_is_neither_listed_nor_named(opened: Opened, tmp_path: Path) -> None:
    """MEM-05"""
    app = opened({"Old.md": "zebra", "Secret/New.md": "---\nsupersedes: '[[Old]]'\n---\nlion"})
    assert paths(app, "zebra") == ["Secret/New.md", "Old.md"]
    app.vaults.close()
    (tmp_path / "policy.toml").write_text('hidden = ["Secret/"]\n', encoding="utf-8")
    (hit,) = hits(app_on(tmp_path / "vault"), "zebra")
    assert hit["path"] == "Old.md"
    assert "outdated" not in hit


def test_the_command_line_says_what_is_outdated(
    opened: Opened, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """MEM-11"""
    opened({"Old.md": "---\nsuperseded_by: '[[New]]'\n---\nzebra", "New.md": "- zebra [status:: outdated]"})
    for kind in ("CACHE", "STATE"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{kind}", str(tmp_path / kind.lower()))

    assert main.run_command_line(["--vault", str(tmp_path / "vault"), "search", "zebra"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "New.md",
        "     1: - zebra [status:: outdated]",
        "        (status: outdated)",
        "Old.md  (superseded by [[New]])",
        "     4: zebra",
    ]
