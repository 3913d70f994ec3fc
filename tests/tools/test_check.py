"""The state of a vault in one call, and on the command line (specs/check.md)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.cli import main
from obsidian_mcp.core.index import extract
from obsidian_mcp.core.index.facts import UNSTORABLE, Facts, HeadingFact
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.tools.registry import call
from tests.tools.conftest import Opened

LONG = "The heron stands in the pond at dawn and waits for frogs, fish and newts near the reeds until noon. "
PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(40)
HUB = "# Hub\nAll that is worth a link from here: "


def run(app: App, tool: str, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


def project(number: int, properties: str) -> str:
    return f"---\n{properties}---\n[[Hub]] {' '.join(f'word{number}{n}' for n in range(9))}\n"


HUB_LINE = "…t is worth a link from here: " + " ".join(
    f"[[{name}]]" for name in (1, 2, 3, 4, "Bad", "Heron", "Heron copy")
)
HUB_LINE += " [[Tasks]] [[Stub]] [[Bin]]"
FILES: dict[str, str | bytes] = {
    "Hub.md": HUB + " ".join(f"[[{n}]]" for n in (1, 2, 3, 4, "Bad", "Heron", "Heron copy", "Tasks", "Stub", "Bin")),
    **{f"{n}.md": project(n, f"type: project\nstatus: {n}\n") for n in (1, 2, 3)},
    "4.md": project(4, "Type: project\n"),
    "Bad.md": "---\nstatus: [a\n---\n[[Hub]] and some words that are more than a stub.\n",
    "Heron.md": LONG + "#Bird #idea",
    "Heron copy.md": LONG + "It is patient. #bird #ideas",
    "Tasks.md": "Tasks of today:\n\n- [ ] Late 📅 2026-11-20\n- [ ] Later 📅 2026-11-30\n- [x] Done 📅 2026-11-20\n",
    "Stub.md": "---\nstatus: archived\na: long list of words of properties\n---\n# A heading with many words\nTo do\n",
    "Alone.md": "Nobody links to this note, which links to [[Nobody]] and has [[Hub#Nothing]], [[Bin#Nothing]].\n",
    "used.png": PICTURE,
    "Bin.md": "# Too few\n".encode("utf-16"),
    "unused.png": PICTURE,
    "Picture.md": "![[used.png]]\n",
}
EXPECTED = {
    "broken_links": [
        ("Alone.md", 1, "[[Nobody]]: no such file"),
        ("Alone.md", 1, "[[Hub#Nothing]]: no such heading"),
        ("Alone.md", 1, "[[Bin#Nothing]]: no such heading"),
    ],
    "unreadable": [
        (
            "Bad.md",
            2,
            "The frontmatter is not readable: line 2: a [ is not closed, or a comma is missing.",
        ),
        ("Bin.md", None, "'Bin.md' is not a text file (22 bytes of binary data)."),
    ],
    "overdue_tasks": [("Tasks.md", 3, "Late (due 2026-11-20)")],
    "missing_properties": [("4.md", None, "no status, which 3 of 4 notes of type project have")],
    "validity": [("Hub.md", 2, f"Relies on [[Stub]], status: archived: {HUB_LINE}")],
    "alike_tags": [(None, None, "#Bird #bird (2)"), (None, None, "#idea (1), #ideas (1)")],
    "near_duplicates": [("Heron copy.md", None, "72% the same as Heron.md")],
    "stubs": [("Stub.md", None, "2 words")],
    "orphans": [("Alone.md", None, None), ("Picture.md", None, None)],
    "unused_attachments": [("unused.png", None, None)],
}
REPAIRS = {
    "broken_links": "obsidian_edit_note",
    "unreadable": "obsidian_edit_note",
    "overdue_tasks": "obsidian_update_task",
    "missing_properties": "obsidian_set_properties",
    "validity": "obsidian_set_properties",
    "alike_tags": "obsidian_rename_tag",
    "near_duplicates": "obsidian_compose_notes",
    "stubs": "obsidian_edit_note",
    "orphans": "obsidian_link_mentions",
    "unused_attachments": "obsidian_delete_note",
}


def findings(result: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(found.get("path"), found.get("line"), found.get("text")) for found in result["findings"]]


@pytest.mark.parametrize("name", EXPECTED)
def test_each_check_finds_what_is_wrong_and_says_what_repairs_it(opened: Opened, name: str) -> None:
    """CHECK-01, CHECK-02, SEARCH-92"""
    app = opened(FILES)
    whole = {result["check"]: result for result in run(app, "check")["results"]}
    alone = run(app, "check", only=name.replace("_", " "))

    assert list(whole) == list(EXPECTED)
    assert findings(whole[name]) == EXPECTED[name]
    assert [findings(result) for result in alone["results"]] == [EXPECTED[name]]
    assert REPAIRS[name] in whole[name]["repair"]
    assert alone["broken"] is (name in ("broken_links", "unreadable"))


def test_a_vault_in_order_has_no_findings(opened: Opened) -> None:
    """CHECK-01"""
    app = opened({"A.md": "[[B]] has five words or more.\n", "B.md": "[[A]] has five words or more, too.\n"})
    assert run(app, "check") == {"broken": False, "results": [], "nothing_found": list(EXPECTED)}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({f"P/{n}.md": f"---\na: {n}\n---\n" for n in range(3)} | {"P/x.md": ""}, [("P/x.md", "3 of 4 notes in P")]),
        (
            {f"{n}/n.md": f"---\nA: {n}\n---\n#book\n" for n in range(4)} | {"x/x.md": "#book"},
            [("x/x.md", "4 of 5 notes with #book")],
        ),
        ({f"P/{n}.md": f"---\na: {n}\n---\n" for n in range(2)} | {"P/x.md": "", "P/y.md": ""}, []),
        ({f"P/{n}.md": f"---\ntags: [n{n}]\n---\n" for n in range(5)} | {"P/x.md": ""}, []),
    ],
)
def test_a_property_that_most_notes_of_a_kind_have_is_missing_in_the_others(
    opened: Opened, files: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    """CHECK-02"""
    results = run(opened(files), "check", only="missing_properties")["results"]
    found = [(found["path"], found["text"]) for result in results for found in result["findings"]]
    assert found == [(path, f"no a, which {most} have") for path, most in expected]


def test_the_answer_is_bounded_and_says_how_to_see_more(opened: Opened) -> None:
    """CHECK-03"""
    links = " ".join(f"[[{'missing ' * 30}{n}]]" for n in range(300))
    app = opened({f"Note {n}.md": links for n in range(20)})
    answer = call(app, "obsidian_check", {}).contents()[0]
    first = run(app, "check", only="broken_links", limit=100, offset=5_950)["results"][0]

    assert len(answer.encode()) < 15_000
    assert "only" in json.loads(answer)["data"]["more"]
    assert first["total"] == 6_000
    assert len(first["findings"]) == 50
    assert run(app, "check", only="orphans", limit=4)["results"][0]["next_offset"] == 4


def test_a_file_with_a_fact_that_the_index_cannot_hold_is_listed_as_unreadable(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INDEX-26"""
    read_facts = extract.read_facts

    def read(path: str, data: bytes, size: int) -> Facts:
        odd = (HeadingFact(2**63, "odd", 0),) if path == "Odd.md" else ()
        return replace(read_facts(path, data, size), headings=odd)

    monkeypatch.setattr(extract, "read_facts", read)
    app = opened({"Odd.md": "# odd\n", "Good.md": "good\n"})
    (result,) = call(app, "obsidian_check", {"only": "unreadable"}).data["results"]
    assert [(found["path"], found["text"]) for found in result["findings"]] == [("Odd.md", UNSTORABLE)]


def test_a_wrong_name_of_a_check_is_refused_with_the_names_there_are(opened: Opened) -> None:
    app = opened(FILES)
    with pytest.raises(InvalidArguments, match=r"no check 'rot'.*broken_links, unreadable"):
        run(app, "check", only="rot")
    with pytest.raises(InvalidArguments, match="only"):
        run(app, "check", offset=5)


def test_a_repair_names_only_tools_that_the_client_has(opened: Opened) -> None:
    """CHECK-02, TOOL-27"""
    app = opened(FILES)
    read_only = app.replace(config=app.config.replace(read_only=True))
    repairs = {result["check"]: result["repair"] for result in run(read_only, "check")["results"]}

    assert repairs["alike_tags"] == "Keep one of them."
    assert repairs["orphans"] == "Link to them. obsidian_similar names alike notes."


def command(root: Path, capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main.run_command_line(["--vault", str(root), "check", *words])
    return status, capfd.readouterr().out


def test_the_command_ends_with_1_where_something_is_broken(
    opened: Opened, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """CHECK-04, CHECK-05"""
    opened(FILES)
    status, text = command(tmp_path / "vault", capfd)

    assert status == 1
    assert text.startswith("broken links: 3 (broken)\n  Alone.md:1: [[Nobody]]: no such file\n")
    assert "\norphans: 2\n  Alone.md\n  Picture.md\nLink to them. `obsidian-mcp link-mentions`" in text
    assert "obsidian_" not in text
    assert command(tmp_path / "vault", capfd, "stubs")[0] == 0


def test_the_command_prints_json_and_annotations_of_github(
    opened: Opened, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """CHECK-05"""
    opened({"A, 100%.md": "[[Gone]] and more than five words.\n", "B.md": "![[A, 100%]]"})
    status, lines = command(tmp_path / "vault", capfd, "--format", "github")
    assert status == 1
    assert lines.splitlines() == [
        "::error title=broken links,file=A%2C 100%25.md,line=1::[[Gone]]: no such file",
        "::warning title=orphans,file=B.md::Link to them",
    ]

    status, text = command(tmp_path / "vault", capfd, "broken_links", "--format", "json")
    assert status == 1
    assert json.loads(text)["results"][0]["total"] == 1
