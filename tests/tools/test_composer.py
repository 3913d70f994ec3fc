"""Notes merged and parts extracted, each as one change with the links that follow (specs/composer.md)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError, InvalidArguments, NoteExists, NoteNotFound, NotText, SectionNotFound
from obsidian_mcp.tools.registry import call
from tests.tools.conftest import Opened

pytestmark = pytest.mark.usefixtures("each_disk")


def run(app: App, tool: str = "compose_notes", /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


def files(app: App) -> dict[str, str]:
    return {str(entry.path): app.vaults.get().read_content(entry).text.body for entry in app.vaults.get().entries()}


LOCAL = {"app": {"trashOption": "local"}}


def test_a_merged_note_goes_to_the_trash_and_links_to_it_follow(opened: Opened) -> None:
    """COMPOSE-1"""
    notes = {"A.md": "x", "B.md": "y", "C.md": "[[A#h]] [[a|shown]] [t](A.md)"}
    app = opened(notes, **LOCAL)
    answer = run(app, action="merge", name="A", into="B")
    assert (answer["path"], answer["into"], answer["updated"]) == ("A.md", "B.md", ["C.md"])
    assert files(app) == {"B.md": "y\n\nx", "C.md": "[[B#h]] [[B|shown]] [t](B.md)"}
    assert (app.vaults.get().files.root / ".trash/A.md").read_text(encoding="utf-8") == "x"
    run(app, "undo")
    assert files(app) == notes


def test_properties_are_merged_and_own_links_move_along(opened: Opened) -> None:
    """COMPOSE-1"""
    notes = {
        "F/A.md": "---\ntags: [a]\nown: 1\n---\n\n[[#h]] [r](./img.png) [[F/A]]\n",
        "B.md": "---\ntags: b\n---\n# B\n[[A]]\n",
        "F/img.png": "",
        "img.png": "another",
    }
    app = opened(notes, **LOCAL)
    run(app, action="merge", name="A", into="B", position="prepend")
    assert files(app)["B.md"] == ("---\ntags:\n  - b\n  - a\nown: 1\n---\n[[#h]] [r](F/img.png) [[B]]\n\n# B\n[[B]]\n")


@pytest.mark.parametrize(
    ("leave", "left"),
    [("link", "# T\n[[Sec]]\n## End\n"), ("embed", "# T\n![[Sec]]\n## End\n"), ("nothing", "# T\n## End\n")],
)
def test_a_section_becomes_a_note(opened: Opened, leave: str, left: str) -> None:
    """COMPOSE-2, COMPOSE-3"""
    old = "# T\n## Sec\ntext\n## End\n"
    app = opened({"Old.md": old})
    run(app, action="extract", name="Old", part="Sec", leave=leave)
    assert files(app) == {"Old.md": left, "Sec.md": "## Sec\ntext\n"}
    run(app, "undo")
    assert files(app) == {"Old.md": old}


@pytest.mark.parametrize(
    ("heading", "name"), [("Why [draft]: and/or now?", "Why draft and or now"), ('What is "x"...', "What is x")]
)
def test_a_heading_that_cannot_be_a_file_name_names_a_note_without_its_marks(
    opened: Opened, heading: str, name: str
) -> None:
    """COMPOSE-2"""
    app = opened({"Old.md": f"# T\n## {heading}\ntext\n"})
    run(app, action="extract", name="Old", part=heading)
    assert files(app) == {"Old.md": f"# T\n[[{name}]]\n", f"{name}.md": f"## {heading}\ntext\n"}


def test_links_go_on_leading_to_a_note_whose_name_the_new_one_has(opened: Opened) -> None:
    """RENAME-04"""
    app = opened({"d/Old.md": "# T\n## Sub\n[[Old]] [[Old#Sub]]\n", "L.md": "[[Old]] [[Old#Sub]] [[Old#T]]"})
    run(app, action="extract", name="d/Old", part="Sub", into="Q/Old")
    assert files(app) == {
        "d/Old.md": "# T\n[[Q/Old|Old]]\n",
        "Q/Old.md": "## Sub\n[[d/Old]] [[#Sub]]\n",
        "L.md": "[[d/Old]] [[Q/Old#Sub]] [[d/Old#T]]",
    }


@pytest.mark.parametrize("part", ["^tb", "3-5"])
def test_a_block_takes_the_id_below_it_along(opened: Opened, part: str) -> None:
    """COMPOSE-2"""
    table = "| a |\n|---|\n| b |"
    app = opened({"Old.md": f"x\n\n{table}\n\n^tb\n\nend\n", "L.md": "[[Old#^tb]]"})
    run(app, action="extract", name="Old", part=part, into="New")
    assert files(app) == {
        "Old.md": "x\n\n[[New]]\n\nend\n",
        "New.md": f"{table}\n\n^tb\n",
        "L.md": "[[New#^tb]]",
    }


@pytest.mark.parametrize(
    ("old", "link", "nothing"),
    [
        ("- a\n  - b ^id\n    - c\n", "- a\n  - [[New]]\n    - c\n", "- a\n    - c\n"),
        ("> 1. a\n> 2. [ ] b ^id\n> 3. c\n", "> 1. a\n> 2. [[New]]\n> 3. c\n", "> 1. a\n> 3. c\n"),
        ("x\n\n- a ^id\n", "x\n\n[[New]]\n", "x\n\n"),  # the whole list
    ],
)
def test_the_place_of_a_list_item_stays_one(opened: Opened, old: str, link: str, nothing: str) -> None:
    """COMPOSE-3"""
    app = opened({"Old.md": old})
    run(app, action="extract", name="Old", part="^id", into="New")
    assert files(app)["Old.md"] == link
    run(app, "undo")
    run(app, action="extract", name="Old", part="^id", into="New", leave="nothing")
    assert files(app)["Old.md"] == nothing


def test_an_item_of_a_quote_goes_without_the_marks_of_the_quote(opened: Opened) -> None:
    """COMPOSE-2"""
    app = opened({"Old.md": "> > - a\n> > - b [[#^id]]\n> >   more ^id\n> > - c\n", "L.md": "[[Old#^id]]"})
    run(app, action="extract", name="Old", part="^id", into="New")
    assert files(app) == {
        "Old.md": "> > - a\n> > - [[New]]\n> > - c\n",
        "New.md": "- b [[#^id]]\n  more ^id\n",
        "L.md": "[[New#^id]]",
    }


def test_blank_lines_around_the_part_stay(opened: Opened) -> None:
    """COMPOSE-3"""
    app = opened({"F/Old.md": "# T\r\n\r\n## Sec\r\ntext\r\n\r\n\r\n## End\r\n"}, app={"newFileLocation": "current"})
    run(app, action="extract", name="Old", part="Sec")
    assert files(app) == {
        "F/Old.md": "# T\r\n\r\n[[Sec]]\r\n\r\n\r\n## End\r\n",
        "F/Sec.md": "## Sec\r\ntext\r\n",
    }


def test_a_note_of_the_headings_name_is_added_to_only_where_it_is_named(opened: Opened) -> None:
    """COMPOSE-2"""
    notes = {"Old.md": "# T\n## Sec\ntext\n", "Sec.md": "there\n"}
    app = opened(notes)
    with pytest.raises(NoteExists, match="Nothing was written"):
        run(app, action="extract", name="Old", part="Sec")
    assert files(app) == notes
    run(app, action="extract", name="Old", part="Sec", into="Sec")
    assert files(app) == {"Old.md": "# T\n[[Sec]]\n", "Sec.md": "there\n\n## Sec\ntext\n"}


def test_blocks_and_lines_are_extracted_too(opened: Opened) -> None:
    """COMPOSE-2"""
    app = opened({"Old.md": "a\n\nb ^id\n\nc\nd\n"})
    run(app, action="extract", name="Old", part="^id", into="Block")
    run(app, action="extract", name="Old", part="lines 5-6", into="Lines")
    assert files(app) == {"Old.md": "a\n\n[[Block]]\n\n[[Lines]]\n", "Block.md": "b ^id\n", "Lines.md": "c\nd\n"}
    with pytest.raises(InvalidArguments, match="needs `into`"):
        run(app, action="extract", name="Old", part="1-1")


def test_links_in_the_part_lead_where_they_led_and_links_to_it_follow(opened: Opened) -> None:
    """COMPOSE-4"""
    old = "# Top\n[[#Part#Deep]] [[#Stay]]\n## Part\n[[#Stay]] [[#Deep]] [r](./x.png) [[Other]]\n"
    old += "### Deep\nt ^b\n## Stay\n"
    notes = {
        "F/Old.md": old,
        "F/x.png": "",
        "New/x.png": "another",
        "Other.md": "[[Old#Top#Part#Deep|d]] [[Old#Stay]] [[Old#^b]] [[Old]]",
        "C.canvas": '{"nodes":[{"id":"a","type":"file","file":"F/Old.md","subpath":"#Deep","x":0,"y":0}]}',
    }
    app = opened(notes)
    answer = run(app, action="extract", name="Old", part="Part", into="New/Part")
    made = files(app)
    assert made["New/Part.md"] == "## Part\n[[Old#Stay]] [[#Deep]] [r](F/x.png) [[Other]]\n### Deep\nt ^b\n"
    assert made["F/Old.md"] == "# Top\n[[Part#Part#Deep]] [[#Stay]]\n[[Part]]\n## Stay\n"
    assert made["Other.md"] == "[[Part#Part#Deep|d]] [[Old#Stay]] [[Part#^b]] [[Old]]"
    assert '"file":"New/Part.md","subpath":"#Deep"' in made["C.canvas"]
    assert answer["updated"] == ["C.canvas", "Other.md"]
    run(app, "undo")
    assert files(app) == notes

    run(app, action="extract", name="Old", part="Part", into="New/Part", update_links=False)
    assert files(app)["Other.md"] == notes["Other.md"]


@pytest.mark.parametrize(
    ("link", "moved"),
    [
        ("[[Old#Deep]]", "[[#Deep]]"),
        ("[[#Top#Part#Deep|d]]", "[[#Part#Deep|d]]"),
        ("[[Old#^b]]", "[[#^b]]"),
        ("[d](Old.md#Deep)", "[d](#Deep)"),
        ("[[Old#None]] [[#None]]", "[[Old#None]] [[#None]]"),
        ("[[Old]] [[Old#Top]]", "[[Old]] [[Old#Top]]"),
    ],
)
def test_links_inside_the_part_name_its_headings_in_the_new_note(opened: Opened, link: str, moved: str) -> None:
    """COMPOSE-4"""
    app = opened({"Old.md": f"# Top\n## Part\n{link}\n### Deep\nt ^b\n"})
    run(app, action="extract", name="Old", part="Part")
    assert files(app)["Part.md"] == f"## Part\n{moved}\n### Deep\nt ^b\n"


@pytest.mark.parametrize(
    ("position", "listed"),
    [
        ("append", "B.md: [[#^x]]; C.md: [[A#Notes]]; K.canvas: a card"),
        ("prepend", "A.md: [[#^x]]; C.md: [[B#Notes]]"),
    ],
)
def test_links_that_lead_to_the_other_note_after_a_merge_are_listed(opened: Opened, position: str, listed: str) -> None:
    """COMPOSE-1"""
    notes = {
        "A.md": "## Notes\na ^x\n\n[[#^x]] [[#None]]\n## Only\n",
        "B.md": "# Top\n## Notes\nb ^x\n\n[[#^x]]\n",
        "C.md": "[[A#Notes]] [[B#Notes]] [[A#Only]] [[A]] [[B#Top#Notes]]",
        "K.canvas": '{"nodes":[{"id":"a","type":"file","file":"A.md","subpath":"#Notes","x":0,"y":0}]}',
    }
    app = opened(notes, **LOCAL)
    [warning] = run(app, action="merge", name="A", into="B", position=position)["warnings"]
    assert warning.endswith(f"of the other note now: {listed}.")
    assert "warnings" not in run(app, action="merge", name="C", into="B")


@pytest.mark.parametrize(
    ("position", "listed"), [("append", "C.md: [[A#Notes]]; C.md: [[A#Top#Notes]]"), ("prepend", "C.md: [[B#Notes]]")]
)
def test_links_that_lead_to_the_other_note_after_an_extraction_are_listed(
    opened: Opened, position: str, listed: str
) -> None:
    """COMPOSE-1, COMPOSE-4"""
    links = "[[A#Notes]] [[A#Stays]] [[B#Notes]] [[B#Stays]] [[A#Top#Notes]] [[A#Top#Notes#Deep]]"
    old = "# Top\n## Notes\na\n### Deep\n## Stays\n"
    app = opened({"A.md": old, "B.md": "## Notes\nb\n## Stays\n", "C.md": links})
    [warning] = run(app, action="extract", name="A", part="Notes", into="B", position=position)["warnings"]
    assert warning.endswith(f"of the other note now: {listed}.")
    assert files(app)["C.md"] == "[[B#Notes]] [[A#Stays]] [[B#Notes]] [[B#Stays]] [[B#Notes]] [[B#Notes#Deep]]"


def test_a_note_without_text_adds_no_line(opened: Opened) -> None:
    """COMPOSE-1"""
    app = opened({"A.md": "---\nx: 1\n---\n", "B.md": "text\n\n"}, **LOCAL)
    run(app, action="merge", name="A", into="B")
    assert files(app) == {"B.md": "---\nx: 1\n---\ntext\n\n"}


def test_the_template_of_the_note_composer_is_used(opened: Opened) -> None:
    """COMPOSE-5"""
    app = opened(
        {"Old.md": "# T\n## Sec\n{{fromTitle}}\n", "T/c.md": "from {{fromTitle}} {{date:YYYY}}: {{content}}"},
        note_composer={"template": "T/c"},
    )
    run(app, action="extract", name="Old", part="Sec")
    assert files(app)["Sec.md"] == "from Old 2026: ## Sec\n{{fromTitle}}\n"


def test_a_template_without_a_place_for_the_text_comes_before_it(opened: Opened) -> None:
    """COMPOSE-5"""
    app = opened({"Old.md": "## Sec\ntext\n", "c.md": "from {{fromTitle}}\n"}, note_composer={"template": "c"})
    run(app, action="extract", name="Old", part="Sec")
    assert files(app)["Sec.md"] == "from Old\n## Sec\ntext\n"


def test_a_template_that_is_gone_is_said_and_nothing_changes(opened: Opened) -> None:
    """COMPOSE-5"""
    notes = {"Old.md": "## Sec\ntext\n"}
    app = opened(notes, note_composer={"template": "gone"})
    with pytest.raises(NoteNotFound, match='"gone"'):
        run(app, action="extract", name="Old", part="Sec")
    assert files(app) == notes


TARGETS = ["", "b", "b\n", "b\r\n", "b\r\nc\nd\n", "---\nx: 1\n---\n", "---\r\nx: 1\r\n---"]


@pytest.mark.parametrize("position", ["append", "prepend"])
@pytest.mark.parametrize("text", ["", "\n\n", "a", "a\r\nb\nc\r\n", "a\nb\r\nc\nd", "---\ny: 1\n---\r\na\r\n"])
def test_notes_of_all_line_ends_are_merged(opened: Opened, position: str, text: str) -> None:
    """COMPOSE-1"""
    pairs = [{f"A{n}.md": text, f"B{n}.md": target} for n, target in enumerate(TARGETS)]
    app = opened({name: body for pair in pairs for name, body in pair.items()}, **LOCAL)
    for n, _ in enumerate(TARGETS):
        run(app, action="merge", name=f"A{n}", into=f"B{n}", position=position)
    merged = files(app)
    assert set(merged) == {f"B{n}.md" for n, _ in enumerate(TARGETS)}
    for n, target in enumerate(TARGETS):
        lines = [line for line in (target + "\n" + text).split() if line not in ("---", "x:", "y:", "1")]
        found = [line for line in merged[f"B{n}.md"].split() if line not in ("---", "x:", "y:", "1")]
        assert sorted(found) == sorted(lines), target


@pytest.mark.parametrize("position", ["append", "prepend"])
@pytest.mark.parametrize(
    ("body", "merged"), [("b\r\n", "b\r\n\r\nfrom A: a\r\n"), ("", "from A: a"), ("b", "b\n\nfrom A: a")]
)
def test_a_merged_note_goes_through_the_template_too(opened: Opened, position: str, body: str, merged: str) -> None:
    """COMPOSE-5"""
    template = "\nfrom {{fromTitle}}: {{content}}\n"
    app = opened({"A.md": "a\n", "B.md": body, "c.md": template}, note_composer={"template": "c"}, **LOCAL)
    run(app, action="merge", name="A", into="B", position=position)
    written = files(app)["B.md"]
    assert written == merged if position == "append" else written.startswith("from A: a")


def test_a_dry_run_shows_everything_and_changes_nothing(opened: Opened) -> None:
    notes = {"A.md": "x", "B.md": "y", "C.md": "[[A]]"}
    app = opened(notes)
    shown = run(app, action="merge", name="A", into="B", dry_run=True)["diff"]
    assert "+x" in shown
    assert "+[[B]]" in shown
    shown = run(app, action="extract", name="A", part="1-1", into="B", dry_run=True)["diff"]
    assert "-x\n" in shown
    assert "+x\n" in shown
    assert files(app) == notes


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"action": "merge", "name": "A", "into": "A"}, InvalidArguments),
        ({"action": "merge", "name": "A"}, InvalidArguments),
        ({"action": "extract", "name": "A"}, InvalidArguments),
        ({"action": "extract", "name": "A", "part": "none"}, SectionNotFound),
        ({"action": "extract", "name": "A", "part": "1-9"}, InvalidArguments),
        ({"action": "extract", "name": "A", "part": "1-2", "into": "x"}, InvalidArguments),
        ({"action": "extract", "name": "A", "part": "4-4", "into": "A"}, InvalidArguments),
        ({"action": "extract", "name": "A", "part": "5-6", "into": "x"}, InvalidArguments),
        ({"action": "extract", "name": "A", "part": "4-4", "into": "C.canvas"}, NotText),
        ({"action": "merge", "name": "C.canvas", "into": "A"}, NotText),
    ],
)
def test_what_cannot_be_composed_is_an_error(opened: Opened, arguments: dict[str, Any], error: type[AppError]) -> None:
    """COMPOSE-1, COMPOSE-2"""
    notes = {"A.md": "---\na: 1\n---\ntext\n\n\nmore\n", "C.canvas": "{}"}
    app = opened(notes)
    with pytest.raises(error):
        run(app, **arguments)
    assert files(app) == notes


@pytest.mark.parametrize(
    ("old", "part", "left", "new"),
    [
        # a definition goes along, with what it refers to, and is copied where both need it
        (
            "a[^1]\n## Sec\nb[^2] c[^1]\n## End\nd\n\n[^1]: one\n\n[^2]: two [^3]\n    more\n[^3]: three\n",
            "Sec",
            "a[^1]\n[[Sec]]\n## End\nd\n\n[^1]: one\n",
            "## Sec\nb[^2] c[^1]\n\n[^1]: one\n[^2]: two [^3]\n    more\n[^3]: three\n",
        ),
        # a definition in the part that only the rest needs stays, and one that both need stays too
        (
            "a[^1] b[^2]\n\n# Sec\nc[^2] d[^3]\n\n[^1]: one\n[^2]: two\n[^3]: three\n",
            "Sec",
            "a[^1] b[^2]\n\n[[Sec]]\n\n[^1]: one\n[^2]: two\n",
            "# Sec\nc[^2] d[^3]\n\n[^2]: two\n[^3]: three\n",
        ),
        # nothing refers to a definition: it stays where it is
        ("# Sec\nb\n# End\n\n[^1]: one\n", "Sec", "[[Sec]]\n# End\n\n[^1]: one\n", "# Sec\nb\n"),
        # links in a definition that goes along lead where they led
        (
            "# Sec\nb[^1]\n# End\n[^1]: [[#Sec]] [[#End]]\n",
            "Sec",
            "[[Sec]]\n# End\n",
            "# Sec\nb[^1]\n\n[^1]: [[#Sec]] [[Old#End]]\n",
        ),
        # Windows line ends
        (
            "# Sec\r\nb[^1]\r\n# End\r\n\r\n[^1]: one\r\n\r\nx\r\n",
            "Sec",
            "[[Sec]]\r\n# End\r\n\r\nx\r\n",
            "# Sec\r\nb[^1]\r\n\r\n[^1]: one\r\n",
        ),
        # blank lines keep what stays from becoming a part of its neighbours
        ("a[^1]\n# Sec\nb\n\n[^1]: one \n# End\n", "Sec", "a[^1]\n[[Sec]]\n\n[^1]: one\n \n# End\n", "# Sec\nb\n"),
        (
            "# Sec\nb[^1]\n# End\n[^1]: one\n\n## Next\n",
            "Sec",
            "[[Sec]]\n# End\n\n## Next\n",
            "# Sec\nb[^1]\n\n[^1]: one\n",
        ),
        # a definition that nothing refers to keeps what it refers to
        ("[^1]: one [^2]\n# Sec\nb\n\n[^2]: two\n", "Sec", "[^1]: one [^2]\n[[Sec]]\n\n[^2]: two\n", "# Sec\nb\n"),
        # a part of definitions alone is what was named
        ("a[^1]\n\n[^1]: one\n", "3-3", "a[^1]\n\n[[Sec]]\n", "[^1]: one\n"),
    ],
)
def test_definitions_of_footnotes_go_where_they_are_referred_to(
    opened: Opened, old: str, part: str, left: str, new: str
) -> None:
    """COMPOSE-6"""
    app = opened({"Old.md": old})
    run(app, action="extract", name="Old", part=part, into="Sec")
    assert files(app) == {"Old.md": left, "Sec.md": new}
    run(app, "undo")
    assert files(app) == {"Old.md": old}


@pytest.mark.parametrize(("link", "left"), [("[x](./x.md)", "[x](./x.md)"), ("[[#Part]]", "[[New#Part]]")])
def test_links_of_a_footnote_that_stays_lead_where_they_led(opened: Opened, link: str, left: str) -> None:
    """COMPOSE-4"""
    body = "See[^1].\n\n# Part\n\ntext\n\n[^1]: {}\n\n# End\n"
    app = opened({"F/A.md": body.format(link), "F/x.md": ""})
    run(app, action="extract", name="A", part="Part", into="G/New")
    assert files(app)["F/A.md"] == body.format(left).replace("# Part\n\ntext", "[[New]]")
    assert files(app)["G/New.md"] == "# Part\n\ntext\n"


def test_footnotes_that_stay_take_the_place_of_a_part_that_leaves_nothing(opened: Opened) -> None:
    """COMPOSE-6"""
    app = opened({"Old.md": "a[^1]\n# Sec\nb\n\n[^1]: one\n"})
    run(app, action="extract", name="Old", part="Sec", leave="nothing")
    assert files(app) == {"Old.md": "a[^1]\n\n[^1]: one\n", "Sec.md": "# Sec\nb\n"}


@pytest.mark.parametrize("action", ["merge", "extract"])
def test_footnotes_get_new_ids_in_a_note_that_has_them_already(opened: Opened, action: str) -> None:
    """COMPOSE-6"""
    text = "# Sec\nb[^1] c[^x] d[^3]\n\n[^1]: one\n[^x]: ex\n"
    app = opened({"Old.md": text, "New.md": "a[^1] z[^x]\n\n[^1]: eins\n[^x]: iks\n"}, **LOCAL)
    run(app, action=action, name="Old", into="New", **({"part": "Sec"} if action == "extract" else {}))
    assert files(app)["New.md"] == (
        "a[^1] z[^x]\n\n[^1]: eins\n[^x]: iks\n\n# Sec\nb[^2] c[^x-2] d[^3]\n\n[^2]: one\n[^x-2]: ex\n"
    )


def test_links_that_cannot_follow_a_part_are_listed_wherever_they_are(opened: Opened) -> None:
    """COMPOSE-4"""
    notes = {"A.md": "[[#Part]]\n\n# Part\n\nx\n", "B.md": "[[A#Part]]\n"}
    app = opened(notes)
    answer = run(app, action="extract", name="A", part="Part", into="C#", leave="nothing")
    reason = "was left as it is. No link can lead to 'C#.md'."
    assert sorted(answer["warnings"]) == [f"A.md: [[#Part]] {reason}", f"B.md: [[A#Part]] {reason}"]


def test_a_part_whose_new_name_no_link_can_hold_is_taken_with_a_warning(opened: Opened) -> None:
    """COMPOSE-2"""
    app = opened({"A.md": "## Part\n\ntext\n"})
    answer = run(app, action="extract", name="A", part="Part", into="C#4", leave="nothing")
    assert answer["into"] == "C#4.md"
    assert answer["warnings"] == ["Links cannot reach this name: it holds one of # ^ [ ] | or %%."]


@pytest.mark.parametrize(
    ("link", "body", "left_out"),
    [
        ("[[A]]", "# B\n\nSame words.\n\n- [ ] one\n- two\n\t- below\n\n## New\n\n- two\n\t- other\n", 4),
        ("[[A#A]]", "# B\n\nSame words.\n\n- [ ] one\n- two\n\t- below\n\n# A\n\n## New\n\n- two\n\t- other\n", 3),
    ],
)
def test_a_merge_leaves_out_what_the_other_note_has_to_the_word(
    opened: Opened, link: str, body: str, left_out: int
) -> None:
    """COMPOSE-8"""
    there = "# B\n\nSame words.\n\n- [ ] one\n- two\n\t- below\n"
    own = "# A\n\nSame words.\n\n- two\n\t- below\n- [ ] one\n\n## New\n\n- two\n\t- other\n"
    app = opened({"A.md": own, "B.md": there, "C.md": link}, **LOCAL)
    answer = run(app, action="merge", name="A", into="B")
    assert files(app)["B.md"] == body
    assert f"'B.md' has it: {left_out} of its headings, paragraphs and items." in str(answer["warnings"])
    run(app, "undo")
    assert files(app)["A.md"] == own


@pytest.mark.parametrize(
    ("old", "part", "left"),
    [
        ("# T\n\n## A\n\n### B\n\ntext\n\n## C\n\nend\n", "B", "# T\n\n## C\n\nend\n"),
        ("# T\n\n## A\n\n- item ^b1\n\n## C\n\nend\n", "^b1", "# T\n\n## C\n\nend\n"),
        ("# T\n\n## C\n\nend\n\n## A\n\none\ntwo\n", "lines 9-10", "# T\n\n## C\n\nend\n"),
        ("# T\r\n\r\n## C\r\n\r\nend\r\n\r\n## A\r\n\r\none\r\n", "9-9", "# T\r\n\r\n## C\r\n\r\nend\r\n"),
        ("# T\n\n## A\n\nkept\n\n### B\n\ntext\n", "B", "# T\n\n## A\n\nkept\n\n"),
        # it was without text before
        ("# T\n\n## Empty\n\n## A\n\ntext\n\n## C\n\nend\n", "A", "# T\n\n## Empty\n\n\n## C\n\nend\n"),
        # the title of a note that has nothing else
        ("# T\n\ntext\n", "3-3", "# T\n\n"),
    ],
)
def test_an_extract_leaves_no_heading_without_text(opened: Opened, old: str, part: str, left: str) -> None:
    """COMPOSE-9"""
    app = opened({"Old.md": old})
    run(app, action="extract", name="Old", part=part, into="New", leave="nothing")
    assert files(app)["Old.md"] == left
    run(app, "undo")
    run(app, action="extract", name="Old", part=part, into="New")
    for heading in re.findall("^##+ .*$", old, re.MULTILINE):  # the link is text
        assert heading in files(app)["Old.md"] + files(app)["New.md"]


def test_a_lane_of_a_board_may_be_empty(opened: Opened) -> None:
    """COMPOSE-9"""
    board = "---\nkanban-plugin: board\n---\n\n## Doing\n\n- [ ] oars ^b1\n\n## Done\n\n- [x] tar\n"
    app = opened({"Old.md": board})
    run(app, action="extract", name="Old", part="^b1", into="New", leave="nothing")
    assert "## Doing\n" in files(app)["Old.md"]


def test_a_heading_to_which_a_link_leads_stays_without_text_and_is_named(opened: Opened) -> None:
    """COMPOSE-9"""
    app = opened({"Old.md": "## A\n\ntext\n\n## C\n\nend [[#C]]\n", "Other.md": "[[Old#A]]"})
    answer = run(app, action="extract", name="Old", part="lines 3-3", into="New", leave="nothing")
    assert files(app)["Old.md"] == "## A\n\n\n## C\n\nend [[#C]]\n"
    assert answer["warnings"] == ["Without text now, and kept because links lead there: A."]


def test_a_merge_brings_no_heading_whose_text_the_other_note_has(opened: Opened) -> None:
    """COMPOSE-9"""
    notes = {
        "A.md": "# A\n\n## Log\n\nsame\n\n## More\n\n### Deep\n\nsame\n\n"
        "## Linked\n\nsame\n\n## Empty\n\n## New\n\nnew\n",
        "B.md": "# B\n\n## Log\n\nsame\n",
        "C.md": "[[A#Log]] [[A#Linked]]\n",
    }
    app = opened(notes, **LOCAL)
    answer = run(app, action="merge", name="A", into="B")
    assert files(app)["B.md"] == "# B\n\n## Log\n\nsame\n\n# A\n\n## Linked\n\n## Empty\n\n## New\n\nnew\n"
    assert files(app)["C.md"] == "[[B#Log]] [[B#Linked]]\n"
    assert any("6 of its headings, paragraphs and items" in warning for warning in answer["warnings"])
