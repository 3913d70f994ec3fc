"""Unlinked mentions become links, these and nothing else (specs/links.md, LINK-30 to LINK-33)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.files.file_entry import FileContent, FileEntry
from obsidian_mcp.core.operations import mentions
from obsidian_mcp.core.text.call import limit_call
from obsidian_mcp.errors import InvalidName, NoteNotFound, PermissionDenied, StorageFailed
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.tools.conftest import Opened
from tests.vaults import contents, write_files

pytestmark = pytest.mark.usefixtures("disk_of_macos")

ANNA = "---\naliases: [Anna Berg]\n---\nA person.\n"


def run(app: App, tool: str, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def linked(app: App, root: Path, path: str = "Walk.md") -> tuple[str, list[str]]:
    """A note with its mentions of Anna linked, and the warnings.

    A second call changes nothing more, and undo gives every byte back.
    """
    before = contents(root)
    answer = run(app, "link_mentions", name="Anna")
    after = contents(root)
    assert run(app, "link_mentions", name="Anna")["linked"] == 0
    assert contents(root) == after
    if answer["linked"]:
        run(app, "undo")
    assert contents(root) == before
    return after[path].decode(), answer.get("warnings", [])


def test_one_call_links_what_is_listed_and_nothing_else(opened: Opened, root: Path) -> None:
    """LINK-31"""
    walk = (
        b"\xef\xbb\xbf---\r\nwith: Anna\r\n---\r\nMet anna, Anna and ANNA BERG.\r\n"
        b"`Anna` [[Anna]] [Anna](Anna.md) #Anna https://anna.example/Anna anna@example.org [^anna] ^anna\n"
        b"%% Anna %%\r\n```\nAnna\n```\n\n[^anna]: bytes \xff and Anna"
    )
    app = opened({"People/Anna.md": ANNA, "Walk.md": walk, "Alone.md": "Anna!\n", "Board.canvas": "{}"})
    before = contents(root)
    listed = run(app, "get_links", name="Anna", unlinked=True)["mentions"]
    shown = run(app, "link_mentions", name="Anna", dry_run=True)
    assert contents(root) == before
    answer = run(app, "link_mentions", name="Anna")
    after = contents(root)

    assert after["Walk.md"] == walk.replace(
        b"Met anna, Anna and ANNA BERG", b"Met [[Anna|anna]], [[Anna]] and [[Anna|ANNA BERG]]"
    ).replace(b"\xff and Anna", b"\xff and [[Anna]]")
    assert after["Alone.md"] == b"[[Anna]]!\n"
    assert {path for path in before if before[path] != after[path]} == {"Alone.md", "Walk.md"}
    change, diff = answer.pop("change"), answer.pop("diff")
    assert answer.pop("line_ends") == "CRLF"
    assert answer == {"total": 2, "changed": ["Alone.md", "Walk.md"], "linked": len(listed)}
    how_to_apply = {"plan": shown["plan"], "apply_with": "obsidian_batch"}
    assert shown == {**answer, "diff": shown["diff"], **how_to_apply}
    assert change == 1
    assert "+[[Anna]]!\n" in diff
    assert "+[[Anna]]!\n" in shown["diff"]
    assert run(app, "get_links", name="Anna", unlinked=True)["mentions"] == []
    again = run(app, "link_mentions", name="Anna")
    assert (again["total"], again["linked"]) == (0, 0)
    assert again["warnings"] == ["No other note mentions it without a link, by the names Anna; Anna Berg."]
    assert run(app, "history")["total"] == 1
    run(app, "undo")
    assert contents(root) == before


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "[[Anna]] and [[Anna|anna]]"),
        ({"newLinkFormat": "absolute"}, "[[People/Anna|Anna]] and [[People/Anna|anna]]"),
        ({"newLinkFormat": "relative"}, "[[../People/Anna|Anna]] and [[../People/Anna|anna]]"),
        ({"useMarkdownLinks": True}, "[Anna](Anna.md) and [anna](Anna.md)"),
        (
            {"useMarkdownLinks": True, "newLinkFormat": "relative"},
            "[Anna](../People/Anna.md) and [anna](../People/Anna.md)",
        ),
    ],
)
def test_the_link_is_written_as_the_vault_wants_it(
    opened: Opened, root: Path, settings: dict[str, Any], expected: str
) -> None:
    """LINK-20, LINK-21, LINK-22, LINK-31"""
    app = opened({"People/Anna.md": ANNA, "Walks/Walk.md": "Anna and anna\n"}, app=settings)

    assert linked(app, root, "Walks/Walk.md") == (f"{expected}\n", [])


def test_a_name_that_several_notes_have_is_linked_with_its_path(opened: Opened, root: Path) -> None:
    """LINK-20"""
    app = opened({"People/Anna.md": ANNA, "Old/Anna.md": "", "Walk.md": "Anna, anna\n"})
    run(app, "link_mentions", name="People/Anna.md")

    assert (root / "Walk.md").read_bytes() == b"[[People/Anna|Anna]], [[People/Anna|anna]]\n"
    assert (root / "Old/Anna.md").read_bytes() == b""


def test_a_name_that_no_link_can_hold_is_refused(opened: Opened, root: Path) -> None:
    """LINK-28"""
    app = opened({"C#.md": "", "Walk.md": "C# and more\n"})
    with pytest.raises(InvalidName, match="Rename the file first"):
        run(app, "link_mentions", name="C#")
    assert (root / "Walk.md").read_bytes() == b"C# and more\n"


@pytest.mark.parametrize("quote", ["", "> ", "> > "])
def test_the_pipe_of_a_link_in_a_cell_is_escaped(opened: Opened, root: Path, quote: str) -> None:
    """LINK-31, NOTE-42"""
    rows = "| anna | b |", "| --- | --- |", "| Anna | Anna Berg, anna |", "", "anna"
    table = "".join(f"{quote}{row}\n" for row in rows)
    expected = table.replace("| anna |", r"| [[Anna\|anna]] |").replace("| Anna |", "| [[Anna]] |")
    expected = expected.replace("Anna Berg, anna", r"[[Anna\|Anna Berg]], [[Anna\|anna]]")
    expected = expected.replace(f"{quote}anna\n", f"{quote}[[Anna|anna]]\n")
    app = opened({"Anna.md": ANNA, "Walk.md": table})

    assert linked(app, root) == (expected, [])


LEFT = "A link there would be read as something else, or change a heading that links may name; left as they are: "


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("Hello!Anna and Anna", "Hello!Anna and [[Anna]]", [1]),  # an embed
        (r"C:\Anna and Anna", r"C:\Anna and [[Anna]]", [1]),  # an escaped bracket
        ("# Anna\n## anna\nanna", "# [[Anna]]\n## anna\n[[Anna|anna]]", [2]),  # the heading "Anna anna"
        ("Anna\n\n| a | b |\n|---|---|\n| 1 | 2 |\nanna", None, [1, 6]),  # a row of the table
        ("Anna and Anna#tag", None, [1]),  # a tag begins behind a link
    ],
)
def test_a_mention_that_no_link_can_take_the_place_of_stays_and_is_named(
    opened: Opened, root: Path, before: str, after: str | None, lines: list[int]
) -> None:
    """LINK-32"""
    app = opened({"Anna.md": ANNA, "Walk.md": before})
    places = "; ".join(f"Walk.md line {line}" for line in lines)

    assert linked(app, root) == (before if after is None else after, [f"{LEFT}{places}."])


def test_a_heading_stays_where_links_would_not_find_it_any_more(opened: Opened, root: Path) -> None:
    """LINK-32"""
    texts = {"People/Anna.md": ANNA, "Walk.md": "## With Anna\ntext\n", "See.md": "[[Walk#With Anna]]\n"}
    app = opened(texts, app={"newLinkFormat": "absolute"})

    assert linked(app, root) == (texts["Walk.md"], [f"{LEFT}Walk.md line 1."])


@pytest.mark.parametrize(
    "unlinkable",
    [
        "[Anna][ref] [ref][anna] [anna][]\n\n[ref]: https://a.example",
        "Ask [anna] or [ANNA].\n\n[Anna]: https://a.example",
        "Anna:: 5\n- anna:: 6\n\nA [anna:: 7] and (Anna:: 8)",
        "- [ ] Walk 📅 2026-11-22\n- [x] Walk 🆔 anna ⛔ anna ✅ 2026-11-22",
    ],
)
def test_references_keys_of_fields_and_fields_of_tasks_are_no_mentions(
    opened: Opened, root: Path, unlinkable: str
) -> None:
    """LINK-30"""
    anna = "---\naliases: [2026-11-22]\n---\n"
    app = opened({"Anna.md": anna, "Walk.md": f"{unlinkable}\n\n- [ ] Walk with Anna 📅 2026-11-25\n"})

    assert linked(app, root) == (f"{unlinkable}\n\n- [ ] Walk with [[Anna]] 📅 2026-11-25\n", [])


def test_the_data_of_a_drawing_is_left_to_its_plugin_and_the_text_of_a_board_is_linked(
    opened: Opened, root: Path
) -> None:
    """LINK-30, LINK-32, DRAW-4, BOARD-2"""
    drawing = "---\nexcalidraw-plugin: parsed\n---\nAnna\n\n# Excalidraw Data\n\n## Text Elements\nAnna ^M6JWXfuQ\n"
    board = "---\nkanban-plugin: board\n---\nAnna\n\n## Lane\n- [ ] Anna\n"
    app = opened({"Anna.md": ANNA, "Drawn.md": drawing, "Board.md": board})
    answer = run(app, "link_mentions", name="Anna")

    assert text_of(root, "Drawn.md") == drawing.replace("---\nAnna\n", "---\n[[Anna]]\n")
    assert text_of(root, "Board.md") == board.replace("Anna", "[[Anna]]")
    assert "warnings" not in answer


def text_of(root: Path, path: str) -> str:
    return (root / path).read_bytes().decode()


def test_only_the_notes_that_are_named_are_changed(opened: Opened, root: Path) -> None:
    """LINK-31, TOOL-14"""
    app = opened({"Anna.md": ANNA, "a.md": "Anna\n", "b.md": "Anna\n", "c.md": "Bert\n"})
    with pytest.raises(NoteNotFound):
        run(app, "link_mentions", name="Anna", names=["a", "missing"])
    assert text_of(root, "a.md") == "Anna\n"

    answer = run(app, "link_mentions", name="Anna", names=["Anna", "a", "c"])
    assert (answer["changed"], answer["linked"]) == (["a.md"], 1)
    assert text_of(root, "b.md") == "Anna\n"
    nothing = run(app, "link_mentions", name="Anna", names="c")
    assert nothing["warnings"] == ["None of these notes mentions it without a link, by the names Anna; Anna Berg."]


def test_excluded_files_are_changed_only_where_they_are_named(opened: Opened, root: Path) -> None:
    """LINK-33, SEARCH-19"""
    app = opened({"Anna.md": ANNA, "Old/a.md": "Anna\n"}, app={"userIgnoreFilters": ["Old/"]})
    answer = run(app, "link_mentions", name="Anna")
    assert answer["total"] == 0
    assert answer["warnings"][1] == (
        "Files that the user excludes in the app are not looked through; names can give them."
    )
    assert text_of(root, "Old/a.md") == "Anna\n"

    assert run(app, "link_mentions", name="Anna", names=["Old/a"])["linked"] == 1
    assert text_of(root, "Old/a.md") == "[[Anna]]\n"


def test_a_name_of_one_letter_is_said_to_be_too_short(opened: Opened) -> None:
    """LINK-30"""
    answer = run(opened({"A.md": "", "b.md": "A b A\n"}), "link_mentions", name="A")

    assert (answer["total"], answer["linked"]) == (0, 0)
    assert answer["warnings"] == ["It has no name of at least two characters that could be found."]


def test_what_one_call_does_not_look_through_is_counted_and_the_next_goes_on(
    opened: Opened, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LINK-30, LINK-31"""
    monkeypatch.setattr(mentions, "MOST_FILES", 2)
    app = opened({"Anna.md": "", **{f"n{number}.md": "anna\n" for number in range(5)}})
    listed = run(app, "get_links", name="Anna", unlinked=True)
    assert [mention["path"] for mention in listed["mentions"]] == ["n0.md", "n1.md"]
    assert listed["incomplete"] == "Not looked through: 3 more files with the name; obsidian_search finds them."

    first = run(app, "link_mentions", name="Anna")
    assert (first["changed"], first["next_offset"]) == (["n0.md", "n1.md"], 2)
    assert first["warnings"] == ["The same call with offset 2 goes on with 3 more files of the name."]
    again = run(app, "link_mentions", name="Anna")
    assert again["warnings"][0] == "None of these notes mentions it without a link, by the names Anna."
    second = run(app, "link_mentions", name="Anna", offset=first["next_offset"])
    last = run(app, "link_mentions", name="Anna", offset=second["next_offset"])
    assert (second["changed"], last["changed"]) == (["n2.md", "n3.md"], ["n4.md"])
    assert "next_offset" not in last
    assert "warnings" not in last
    assert {text_of(root, f"n{number}.md") for number in range(5)} == {"[[Anna|anna]]\n"}


def test_an_answer_about_many_notes_names_the_first_and_counts_the_rest(opened: Opened) -> None:
    """TOOL-07, TOOL-14"""
    app = opened({"Anna.md": ANNA, **{f"n{number:02}.md": "anna, Anna\n" * 10 for number in range(60)}})
    shown = run(app, "link_mentions", name="Anna", dry_run=True)
    answer = run(app, "link_mentions", name="Anna")

    assert shown["diff"].startswith("500 lines in 50 files, as in n00.md:\n-anna, Anna\n+[[Anna|anna]], [[Anna]]\n")
    assert (answer["total"], len(answer["changed"]), answer["more_changed"]) == (60, 50, 10)
    assert answer["linked"] == 60 * 20


@pytest.fixture
def limited(root: Path) -> Iterator[App]:
    """A vault in which notes below Private do not exist, and only those in Inbox, up to 100 bytes, may be changed."""
    texts = {"Anna.md": ANNA, "Private/a.md": "Anna\n", "Inbox/b.md": "Anna\n", "c.md": "Anna\n"}
    write_files(root, {**texts, "Inbox/long.md": "Anna\n" + "x" * 100})
    policy = 'hidden = ["Private/"]\nwrite = ["Inbox/"]\nlargest_write = 100\n'
    (root.parent / "policy.toml").write_text(policy, encoding="utf-8")
    app = app_on(root)
    yield app
    app.vaults.close()


def test_notes_that_the_policy_hides_or_keeps_stay_as_they_are(limited: App, root: Path) -> None:
    """LINK-33, POL-01, POL-02"""
    before = contents(root)
    answer = run(limited, "link_mentions", name="Anna")
    after = contents(root)

    assert {path for path in before if before[path] != after[path]} == {"Inbox/b.md"}
    assert after["Inbox/b.md"] == b"[[Anna]]\n"
    kept = "The user's policy does not allow these notes to be changed; left as they are: c.md; Inbox/long.md."
    assert answer["warnings"] == [kept]
    assert "Private" not in str(answer)


@pytest.mark.parametrize("names", [["c"], ["Inbox/b", "c"]])
def test_a_named_note_that_may_not_be_changed_is_refused_with_all_others(
    limited: App, root: Path, names: list[str]
) -> None:
    """LINK-33, TOOL-14"""
    before = contents(root)
    with pytest.raises(PermissionDenied, match=r"c\.md"):
        run(limited, "link_mentions", name="Anna", names=names)
    assert contents(root) == before


def test_a_note_that_cannot_be_read_is_named(opened: Opened, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LINK-33"""
    app = opened({"Anna.md": ANNA, "a.md": "Anna\n", "b.md": "Anna\n", "c.md": "Anna\n"})
    place = app.vaults.get()
    place.indexer.complete()
    reading = place.read_note

    def read_note(entry: FileEntry) -> FileContent:
        if entry.path == "b.md":
            raise StorageFailed("The disk refused.", path=entry.path)
        if entry.path == "c.md":
            raise NoteNotFound("It is gone.", path=entry.path)
        return reading(entry)

    monkeypatch.setattr(place, "read_note", read_note)
    answer = run(app, "link_mentions", name="Anna")

    assert answer["changed"] == ["a.md"]
    assert answer["warnings"] == ["These notes could not be read; left as they are: b.md."]
    with pytest.raises(StorageFailed):
        run(app, "link_mentions", name="Anna", names=["b"])
    assert text_of(root, "b.md") == "Anna\n"


def test_a_note_that_changes_while_the_links_are_planned_gets_them_in_its_new_text(
    opened: Opened, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LINK-31, SAFE-23"""
    app = opened({"Anna.md": ANNA, "a.md": "Anna\n"})
    place = app.vaults.get()
    place.indexer.complete()
    reading, others = place.read_note, [b"New. Anna\n"]

    def read_note(entry: FileEntry) -> FileContent:
        content = reading(entry)
        if others:
            (root / "a.md").write_bytes(others.pop())
        return content

    monkeypatch.setattr(place, "read_note", read_note)
    assert run(app, "link_mentions", name="Anna")["linked"] == 1
    assert text_of(root, "a.md") == "New. [[Anna]]\n"


@pytest.mark.parametrize(
    ("piece", "count"),
    [("anna [x] ", 15_000), ("[[Anna]] and anna berg\n", 3_000), ("# anna\n# Anna\n", 1_000)],
)
def test_very_many_mentions_in_one_note_are_linked_in_time(opened: Opened, piece: str, count: int) -> None:
    """LINK-31, TOOL-09"""
    app = opened({"Anna.md": ANNA, "Long.md": piece * count})
    with limit_call(30):
        assert run(app, "link_mentions", name="Anna")["linked"] == count


def test_very_many_cells_are_linked_in_time(opened: Opened) -> None:
    """LINK-31, TOOL-09"""
    app = opened({"Anna.md": ANNA, "Long.md": "|a|b|\n|-|-|\n" + "|anna|Anna|\n" * 3_000})
    with limit_call(30):
        assert run(app, "link_mentions", name="Anna")["linked"] == 6_000
