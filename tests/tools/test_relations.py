"""Unlinked mentions, notes that are alike, many notes moved at once, etags of lists (specs/links.md, search.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import limit_call
from obsidian_mcp.errors import InvalidArguments, NoteExists, NoteNotFound
from obsidian_mcp.serve.mcp.prompts import PROMPTS
from obsidian_mcp.tools.registry import call
from tests.vaults import contents

pytestmark = pytest.mark.usefixtures("disk_of_macos")


def run(app: App, tool: str, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


def test_mentions_are_found_by_name_and_alias_outside_links_code_and_properties(app: App, basic: Path) -> None:
    """LINK-30"""
    (basic / "Heron.md").write_text("---\naliases: [アオサギ, x]\n---\nThe heron.\n", "utf-8", newline="\n")
    (basic / "Pond.md").write_text(
        "---\nbird: Heron\n---\nA HERON and [[Heron]] and `heron`.\n\n%% heron %%\n\n```\nheron\n```\n"
        "池のアオサギを見た。 Herons are other words, x too.\n",
        "utf-8",
    )
    answer = run(app, "get_links", name="Heron", unlinked=True)

    assert answer["names"] == ["Heron", "アオサギ"]
    assert [(found["line"], found["text"]) for found in answer["mentions"]] == [(4, "HERON"), (11, "アオサギ")]
    assert answer["mentions"][1]["context"].startswith("池のアオサギを見た。")


def test_no_mention_is_where_a_link_would_break_an_address_a_tag_or_another_mark(app: App, basic: Path) -> None:
    """LINK-30"""
    unlinkable = (
        "https://example.com/Heron and http://localhost/heron, www.heron.example, heron@pond.example",
        "<https://example.com/heron> <mailto:heron@pond.example> obsidian://open?vault=v&file=Heron",
        "[Grey heron](https://example.com/heron) ![heron](https://example.com/a_(b)/heron.png)",
        "https://example.com/a_(b)/heron",
        "#heron #birds/heron #heron/grey",
        "A bird.[^heron] ^heron",
        "",
        "[^heron]: [a](zotero://select/heron)",
        "",
        "> [!heron] ",
        "> Text",
        "",
        "[heron]: https://example.com/heron 'heron'",
    )
    linkable = ("[a](https://example.com)アオサギ, heron: a heron", "[Grey heron] (heron) \\#heron", "> [!note] Heron")
    (basic / "Heron.md").write_text("---\naliases: [アオサギ]\n---\n", encoding="utf-8", newline="\n")
    (basic / "Pond.md").write_text("\n".join((*unlinkable, "", *linkable)), encoding="utf-8", newline="\n")
    found = run(app, "get_links", name="Heron", unlinked=True)["mentions"]

    first = len(unlinkable) + 2
    lines = [(mention["line"], mention["text"]) for mention in found]
    assert lines[:3] == [(first, "アオサギ"), (first, "heron"), (first, "heron")]
    assert lines[3:] == [*((first + 1, "heron"),) * 3, (first + 2, "Heron")]


@pytest.mark.parametrize("piece", ["a.", "a@", "[!", "[^", "x://(", "www.(", "^a"])
def test_mentions_in_a_very_long_line_are_found_in_time(app: App, basic: Path, piece: str) -> None:
    """LINK-30"""
    text = piece * (100_000 // len(piece)) + " Tower clock\n"
    (basic / "Long.md").write_text(text, encoding="utf-8", newline="\n")
    with limit_call(20):
        found = run(app, "get_links", name="Tower clock", unlinked=True)
    assert [mention["text"] for mention in found["mentions"] if mention["path"] == "Long.md"] == ["Tower clock"]


def test_mentions_in_notes_that_are_not_utf_8_are_shown_as_text(app: App, basic: Path) -> None:
    """LINK-30, FILE-05"""
    (basic / "Heron.md").write_bytes(b"---\naliases: [gr\xfcn]\n---\n")
    (basic / "Pond.md").write_bytes(b"A heron, gr\xfcn.\n")
    answer = call(app, "obsidian_get_links", {"name": "Heron", "unlinked": True}).contents()[0]

    assert '"context":"A heron, gr\ufffdn."' in answer
    assert '"names":["Heron","gr\ufffdn"]' in answer


def test_pages_of_mentions_hold_each_once(app: App, basic: Path) -> None:
    for number in range(5):
        (basic / f"P{number}.md").write_text("Tower clock\nTower clock\n", "utf-8", newline="\n")
    first = run(app, "get_links", name="Tower clock", unlinked=True, limit=6)
    rest = run(app, "get_links", name="Tower clock", unlinked=True, offset=first["next_offset"])
    places = [(found["path"], found["line"]) for found in first["mentions"] + rest["mentions"]]

    assert len(places) == len(set(places)) >= 10
    assert "next_offset" not in rest


def test_very_many_mentions_beside_very_many_links_are_found_in_time(app: App, basic: Path) -> None:
    """LINK-30"""
    for name in ("Long one.md", "Long two.md"):
        (basic / name).write_text("[[Anna]] and Tower clock\n" * 12_000, encoding="utf-8", newline="\n")
    with limit_call(60):
        found = run(app, "get_links", name="Tower clock", unlinked=True, offset=12_000)
    assert found["mentions"][0]["text"] == "Tower clock"


def test_a_name_inside_a_longer_name_is_one_mention(app: App, basic: Path) -> None:
    """LINK-30"""
    (basic / "Anna.md").write_text("---\naliases: [Anna Berg]\n---\n", "utf-8", newline="\n")
    (basic / "Walk.md").write_text("Anna said that Anna Berg walks.\n", "utf-8", newline="\n")
    found = run(app, "get_links", name="Anna", unlinked=True)["mentions"]

    assert [mention["text"] for mention in found] == ["Anna", "Anna Berg"]


class Waiting:
    """A background that stores nothing."""

    def wake(self) -> None:
        pass

    def stop(self) -> None:
        pass


def test_while_files_are_not_indexed_yet_nothing_is_said_to_be_missing(app: App, basic: Path) -> None:
    """INDEX-40, NAME-11, SEARCH-64, INDEX-47"""
    place = app.vaults.get()
    indexer = place.indexer
    indexer.complete()
    if indexer.pending.background is not None:
        indexer.pending.background.stop()
    indexer.pending.background, indexer.is_patient = Waiting(), False
    for number in range(40):
        (basic / f"Bird {number}.md").write_text(
            f"---\naliases: Heron {number}\nlegs: 2\n---\nAlpha", "utf-8", newline="\n"
        )
        place.look_for(f"Bird {number}.md")

    pending = "40 changed files are not in the index yet"
    assert pending in run(app, "search", query="Alpha", sort="legs")["incomplete"]
    assert pending in run(app, "search", query="Alpha", group="legs")["incomplete"]
    assert pending in PROMPTS["find_connections"].text(app, {"note": "Alpha"})

    # these wait
    assert run(app, "read_note", name="Heron 7")["path"] == "Bird 7.md"
    assert "incomplete" not in run(app, "get_links", name="Alpha", unlinked=True)
    with pytest.raises(NoteNotFound, match="There is no"):
        run(app, "read_note", name="Heron 77")
    assert "in the index" not in PROMPTS["find_connections"].text(app, {"note": "Alpha"})
    with pytest.raises(InvalidArguments, match="No note has a property"):
        run(app, "search", query="Alpha", sort="wings")


def test_near_duplicates_come_first_and_are_marked(app: App, basic: Path) -> None:
    """SEARCH-90, SEARCH-91"""
    text = "The grey heron stands in the pond at dawn and waits for frogs, fish and newts near the reeds."
    (basic / "Heron.md").write_text(text, "utf-8", newline="\n")
    (basic / "Heron copy.md").write_text(text + " It is patient.", "utf-8", newline="\n")
    (basic / "Egret.md").write_text("The egret stands in the pond too; a heron may be near the reeds at noon.", "utf-8")
    similar = run(app, "similar", name="Heron")["similar"]

    assert [found["path"] for found in similar][:2] == ["Heron copy.md", "Egret.md"]
    assert similar[0]["near_duplicate"] is True
    assert similar[0]["overlap"] > 0.7 > similar[1]["overlap"]
    assert "near_duplicate" not in similar[1]


def test_equal_notes_come_in_the_order_of_their_paths_whenever_they_were_written(app: App) -> None:
    """SEARCH-90, SEARCH-66"""
    text = "The grey heron stands in the pond at dawn and waits for frogs near the reeds. "
    for name, tag in (("Heron", ""), ("Zoo", "#birds/grey"), ("Aviary", "#Birds/Grey")):
        run(app, "create_note", name=name, content=text + tag)
        similar = run(app, "similar", name="Heron")["similar"]  # each has been indexed before the next one comes

    assert [found["path"] for found in similar][:2] == ["Aviary.md", "Zoo.md"]
    assert run(app, "search", query="heron", group="tag")["groups"][0]["group"] == "#Birds/Grey"


def test_an_empty_note_is_like_nothing(app: App, basic: Path) -> None:
    (basic / "Empty.md").touch()
    assert run(app, "similar", name="Empty")["similar"] == []


def test_notes_that_a_search_finds_move_together_with_their_links_as_one_change(app: App, basic: Path) -> None:
    """TOOL-14"""
    before, unresolved = contents(basic), run(app, "graph", question="unresolved")
    shown = run(app, "move_note", query="tag:#work", to="Archive/", dry_run=True)
    assert contents(basic) == before
    answer = run(app, "move_note", query="tag:#work", to="Archive/")

    assert answer["moves"] == shown["moves"]
    assert {moved["to"] for moved in answer["moves"]} == {"Archive/Alpha.md", "Archive/Tower clock.md"}
    assert run(app, "get_links", name="Archive/Alpha")["backlinks_total"] == 4
    assert run(app, "graph", question="unresolved")["total"] == unresolved["total"]
    run(app, "undo")
    assert contents(basic) == before


def test_one_name_that_is_taken_moves_nothing(app: App, basic: Path) -> None:
    (basic / "Archive").mkdir()
    (basic / "Archive/Home.md").touch()
    before = contents(basic)
    with pytest.raises(NoteExists):
        run(app, "move_note", names=["Projects/Alpha.md", "Home.md"], to="Archive/")
    assert contents(basic) == before


def test_what_to_move_is_said_in_one_way(app: App) -> None:
    with pytest.raises(InvalidArguments):
        run(app, "move_note", name="Home", names=["Alpha"], to="Archive/")
    with pytest.raises(InvalidArguments):
        run(app, "move_note", to="Archive/")


def test_a_move_that_changes_the_name_says_so(app: App) -> None:
    assert run(app, "move_note", name="Alpha", to="Archive/Beta")["renamed"] is True
    assert "renamed" not in run(app, "move_note", name="Home", to="Archive/")


def test_a_list_carries_the_etags_that_an_edit_takes(app: App) -> None:
    listed = {file["path"]: file for file in run(app, "list_files", recursive=True, details=True)["files"]}

    assert listed["Home.md"]["etag"] == run(app, "read_note", name="Home")["etag"]
    assert "etag" in listed["Board.canvas"]
    assert all("etag" not in file for path, file in listed.items() if path.endswith(".svg"))
