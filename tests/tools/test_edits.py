"""Editing notes through the tool (specs/edits.md)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError, InvalidArguments
from obsidian_mcp.tools.registry import call
from tests.examples import examples

from .conftest import Opened


def edit(app: App, name: str, operation: str, **arguments: Any) -> dict[str, Any]:
    return call(app, "obsidian_edit_note", {"name": name, "operation": operation, **arguments}).data


def test_prepended_text_goes_below_the_frontmatter(app: App, basic: Path) -> None:
    """EDIT-03"""
    before = (basic / "Home.md").read_bytes()
    edit(app, "Home", "prepend", content="New line")

    assert (basic / "Home.md").read_bytes() == before.replace(b"---\n# Home", b"---\nNew line\n# Home")


def test_a_section_is_found_by_heading_chain_and_block(app: App, basic: Path) -> None:
    """EDIT-05"""
    path = basic / "Projects/Alpha.md"
    before = path.read_bytes()
    edit(app, "Alpha", "append_section", section="Project Alpha#Plan", content="- [ ] Oil it")
    assert path.read_bytes() == before.replace(b"about the spring\n", b"about the spring\n- [ ] Oil it\n")
    edit(app, "Alpha", "replace_text", find="- [ ] Oil it\n", content="")
    assert path.read_bytes() == before
    edit(app, "Alpha", "replace_section", section="^brass", content="- [x] Cut it ^brass")
    assert path.read_bytes() == before.replace(b"- [ ] Cut the wheel in brass ^brass", b"- [x] Cut it ^brass")
    edit(app, "Alpha", "replace_section", section="measurements", content="None yet.")
    assert path.read_bytes().endswith(b"### Measurements\n\nNone yet.\n")
    edit(app, "Alpha", "prepend_section", section="Notes", content="First.")
    assert b"## Notes\n\nFirst.\n\nFriction" in path.read_bytes()


def test_of_equal_headings_the_first_is_edited_and_the_answer_says_so(app: App, basic: Path) -> None:
    """EDIT-05"""
    note = basic / "Days.md"
    note.write_text("## Monday\n### Tasks\na\n## Tuesday\n### Tasks\nb\n", encoding="utf-8", newline="\n")
    done = edit(app, "Days", "append_section", section="Tasks", content="c")
    assert note.read_text(encoding="utf-8").startswith("## Monday\n### Tasks\na\nc\n## Tuesday")
    assert [" (lines 2, 5); the first was meant" in warning for warning in done["warnings"]] == [True]
    assert "warnings" not in edit(app, "Days", "append_section", section="Tuesday#Tasks", content="d")


@pytest.mark.parametrize("begins", ["## Plan\n\n", "\n## Plan\n", "## Plan\r\n"])
def test_a_section_replaced_by_a_text_with_its_heading_has_the_heading_once(app: App, basic: Path, begins: str) -> None:
    """EDIT-05"""
    note = basic / "Log.md"
    note.write_bytes(b"# Log\n\n## Plan\n\nold\n\n## Next\n")
    done = edit(app, "Log", "replace_section", section="Plan", content=begins + "new\n\n### Plan B\n")
    assert note.read_bytes() == b"# Log\n\n## Plan\n\nnew\n\n### Plan B\n\n## Next\n"
    assert "began with the heading" in done["warnings"][0]
    done = edit(app, "Log", "replace_section", section="Plan", content="## Planning\n")
    assert "began with the heading" not in str(done)
    assert note.read_bytes() == b"# Log\n\n## Plan\n\n## Planning\n\n## Next\n"


def test_the_answer_names_headings_in_a_section_that_text_comes_below_or_that_are_gone(app: App, basic: Path) -> None:
    """EDIT-05"""
    note = basic / "Log.md"
    note.write_bytes(b"# Log\n\nintro\n\n## One\n\na\n\n## Two\n\nb\n")
    done = edit(app, "Log", "append_section", section="Log", content="last")
    assert "ends with the heading 'Two': the text stands below that. prepend_section" in done["warnings"][0]
    assert "warnings" not in edit(app, "Log", "append_section", section="One", content="more")
    assert "warnings" not in edit(app, "Log", "prepend_section", section="Log", content="first")
    done = edit(app, "Log", "replace_section", section="Log", content="new\n\n## Two\n")
    assert done["warnings"] == ["Headings that were in the section are gone: 'One'."]
    note.write_bytes(b"# Log\n\n## Ticket #42\n\na\n")
    done = edit(app, "Log", "replace_section", section="Log", content="## Ticket #42\n\nb\n")
    assert "warnings" not in done  # it is there still


@pytest.mark.parametrize("content", ["```js\nx", "%%\nx", "<!--\nx"])
def test_the_answer_names_headings_that_added_text_takes_away(app: App, basic: Path, content: str) -> None:
    """EDIT-05"""
    (basic / "Log.md").write_bytes(b"# Log\n\n## One\n\na\n\n## Two\n\nb\n")
    done = edit(app, "Log", "append_section", section="One", content=content)
    assert done["warnings"] == ["These are no headings now: 'Two'. Does content end its code blocks and comments?"]


def test_text_before_a_rule_becomes_no_heading(app: App, basic: Path) -> None:
    """EDIT-03, EDIT-05"""
    note = basic / "Log.md"
    note.write_bytes(b"# Log\r\n---\r\na\r\n## B\r\n---")
    edit(app, "Log", "prepend_section", section="Log", content="first")
    edit(app, "Log", "prepend_section", section="B", content="second\n")
    edit(app, "Log", "prepend_section", section="Log", content="zero")
    assert note.read_bytes() == b"# Log\r\nzero\r\nfirst\r\n\r\n---\r\na\r\n## B\r\nsecond\r\n\r\n---"


def test_a_heading_with_a_hash_in_its_text_is_found_by_it(app: App, basic: Path) -> None:
    """EDIT-05"""
    note = basic / "Log.md"
    note.write_text("## Ticket\n### 42\n## Ticket #42\n## C# notes\n", encoding="utf-8", newline="\n")
    edit(app, "Log", "append_section", section="Ticket#42", content="below")
    edit(app, "Log", "append_section", section="C# notes", content="sharp")
    assert note.read_text(encoding="utf-8") == "## Ticket\n### 42\nbelow\n## Ticket #42\n## C# notes\nsharp\n"
    note.write_text("## Ticket #42\n", encoding="utf-8", newline="\n")
    edit(app, "Log", "append_section", section="## Ticket #42", content="done")
    assert note.read_text(encoding="utf-8") == "## Ticket #42\ndone\n"


def test_a_block_that_loses_its_id_is_reported(app: App) -> None:
    """EDIT-05"""
    done = edit(app, "Alpha", "replace_section", section="^brass", content="- [x] Cut it")
    assert [warning.partition(":")[0] for warning in done["warnings"]] == ["The new text has no ^brass"]


def test_a_missing_heading_is_answered_with_those_there_are(app: App) -> None:
    with pytest.raises(AppError) as error:
        edit(app, "Alpha", "append_section", section="Plans", content="x")

    assert error.value.error_code == "SECTION_NOT_FOUND"
    assert error.value.data["headings"] == ["Plan"]
    with pytest.raises(AppError) as error:
        edit(app, "Alpha", "append_section", section="^steel", content="x")
    assert error.value.data["blocks"] == ["^brass"]


@pytest.mark.parametrize("operation", ["append", "prepend", "append_section", "prepend_section"])
def test_adding_no_text_is_refused_and_leaves_no_empty_line(app: App, basic: Path, operation: str) -> None:
    """EDIT-06"""
    before = (basic / "Projects/Alpha.md").read_bytes()
    with pytest.raises(InvalidArguments, match=f"{operation} needs `content`"):
        edit(app, "Alpha", operation, **({"section": "Plan"} if "section" in operation else {}))
    assert (basic / "Projects/Alpha.md").read_bytes() == before


@pytest.mark.parametrize(
    "where", [{"operation": "replace_text", "find": "Alpha"}, {"operation": "replace_section", "section": "Part"}]
)
def test_a_forgotten_content_deletes_nothing_and_an_empty_one_deletes(
    app: App, basic: Path, where: dict[str, str]
) -> None:
    """EDIT-06"""
    part = basic / "Part.md"
    part.write_bytes(b"# Part\nAlpha\n")
    with pytest.raises(InvalidArguments, match="needs `content`: the new text, empty to delete"):
        call(app, "obsidian_edit_note", {"name": "Part", **where})
    assert part.read_bytes() == b"# Part\nAlpha\n"
    call(app, "obsidian_edit_note", {"name": "Part", "content": "", **where})
    assert b"Alpha" not in part.read_bytes()


def test_a_dry_run_shows_the_diff_and_writes_nothing(app: App, basic: Path) -> None:
    """EDIT-07"""
    before = (basic / "Home.md").read_bytes()
    answer = edit(app, "Home", "replace_text", find="Welcome.", content="Hello.", dry_run=True)

    assert "-Welcome. This" in answer["diff"]
    assert "+Hello. This" in answer["diff"]
    assert (basic / "Home.md").read_bytes() == before


def test_a_stale_etag_writes_nothing_and_a_fresh_one_does(app: App, basic: Path) -> None:
    """EDIT-08"""
    with pytest.raises(AppError) as error:
        edit(app, "Home", "append", content="x", etag="0" * 16)
    assert error.value.error_code == "STALE_ETAG"
    first = edit(app, "Home", "append", content="x")
    again = edit(app, "Home", "append", content="y", etag=first["etag"])
    assert again["etag"] != first["etag"]
    assert (basic / "Home.md").read_bytes().endswith(b"\nx\ny\n")


def test_an_edit_that_changes_nothing_writes_nothing(app: App, basic: Path) -> None:
    """EDIT-06"""
    path = basic / "Home.md"
    before = path.stat()
    answer = edit(app, "Home", "replace_text", find="Welcome.", content="Welcome.")
    assert answer["changed"] is False
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert call(app, "obsidian_history", {}).data["total"] == 0


@pytest.mark.parametrize(
    ("operation", "arguments", "argument"),
    [
        ("replace_text", {}, "find"),
        ("append", {"find": "x"}, "find"),
        ("append", {"section": "Plan"}, "section"),
        ("replace_section", {}, "section"),
    ],
)
def test_arguments_that_do_not_go_with_the_operation_are_refused(
    app: App, operation: str, arguments: dict[str, str], argument: str
) -> None:
    with pytest.raises(AppError) as error:
        edit(app, "Home", operation, content="x", **arguments)
    assert error.value.error_code == "INVALID_ARGUMENTS"
    assert error.value.data["argument"] == argument


def test_a_renamed_heading_takes_its_links_along(app: App, basic: Path) -> None:
    answer = edit(app, "Reading list", "rename_heading", section="This year", content="Year 2026")

    assert answer["updated"] == ["Home.md", "People/Jonas Weiß.md"]
    assert b"## Year 2026\n" in (basic / "Reading/Reading list.md").read_bytes()
    assert b"![[Reading list#Year 2026]]" in (basic / "Home.md").read_bytes()
    assert "[[Reading list#Year 2026]]" in (basic / "People/Jonas Weiß.md").read_text(encoding="utf-8")
    call(app, "obsidian_undo", {})
    assert b"## This year\n" in (basic / "Reading/Reading list.md").read_bytes()
    assert b"![[Reading list#This year]]" in (basic / "Home.md").read_bytes()


def test_a_renamed_block_takes_its_links_along(app: App, basic: Path) -> None:
    (basic / "Refers.md").write_bytes(b"![[Alpha#^brass]]\n")
    edit(app, "Alpha", "rename_heading", section="^brass", content="^metal")

    assert b"- [ ] Cut the wheel in brass ^metal\n" in (basic / "Projects/Alpha.md").read_bytes()
    assert (basic / "Refers.md").read_bytes() == b"![[Alpha#^metal]]\n"


def test_the_marks_of_a_heading_are_no_part_of_its_new_text(app: App, basic: Path) -> None:
    """RENAME-20"""
    with pytest.raises(AppError, match="level, 2"):
        edit(app, "Reading list", "rename_heading", section="This year", content="# 2026")
    edit(app, "Reading list", "rename_heading", section="This year", content="## Year 2026")

    assert b"\n## Year 2026\n" in (basic / "Reading/Reading list.md").read_bytes()
    assert b"![[Reading list#Year 2026]]" in (basic / "Home.md").read_bytes()


LINE = st.text(st.sampled_from("ab #-[]^|:'\"\\é日😀\t "), max_size=10)


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(LINE, max_size=10),
    newline=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    bom=st.booleans(),
    junk=st.booleans(),
    content=LINE.filter(str.strip),
)
def test_appending_changes_the_end_and_no_other_byte(
    app: App, basic: Path, lines: list[str], newline: str, last: bool, bom: bool, junk: bool, content: str
) -> None:
    """EDIT-01, FILE-04, FILE-05"""
    path = basic / "Generated.md"
    body = newline.join(lines) + (newline if last and lines else "")
    before = (b"\xef\xbb\xbf" if bom else b"") + body.encode() + (b"\xff\xfe" if junk else b"")
    path.write_bytes(before)
    app.vaults.get().refresh()
    edit(app, "Generated", "append", content=content)
    after = path.read_bytes()

    assert after.startswith(before)
    added = after[len(before) :].decode()
    assert added.strip("\r\n") == content
    call(app, "obsidian_undo", {})
    assert path.read_bytes() == before


def read(app: App, **arguments: Any) -> tuple[dict[str, Any], str | None]:
    outcome = call(app, "obsidian_read_note", arguments)
    return outcome.data, outcome.text


def test_a_part_of_a_note_can_be_read(app: App) -> None:
    data, text = read(app, name="Alpha", section="Plan")
    assert text is not None
    assert text.startswith("## Plan\n")
    assert text.endswith("about the spring\n\n")
    assert data["lines"] == "12-17"
    data, text = read(app, name="Alpha", lines="8-10")
    assert (
        text == "# Project Alpha\n\nThe quick brown fox of our projects: a small escapement that needs no oil. #idea\n"
    )
    assert data["total_lines"] == 27
    assert read(app, name="Alpha", section="^brass")[1] == "- [ ] Cut the wheel in brass ^brass"
    assert read(app, name="Alpha", lines="-2")[1] == "---\nstatus: active\n"
    for beyond in ("28-", "28", "90-"):
        with pytest.raises(InvalidArguments, match="it has 27 lines"):
            read(app, name="Alpha", lines=beyond)


def test_a_page_behind_the_end_of_a_note_is_refused_with_its_length(app: App) -> None:
    """TOOL-07: it said that it was line 28 of 27"""
    length = len(str(read(app, name="Alpha")[1]))
    assert len(str(read(app, name="Alpha", offset=length - 1)[1])) == 1
    for offset in (length, length + 1000):
        with pytest.raises(InvalidArguments, match=f"the text has {length} characters"):
            read(app, name="Alpha", offset=offset)


def test_views_give_outline_and_properties_without_the_text(app: App) -> None:
    data, text = read(app, name="Alpha", view="outline")
    assert text is None
    assert [(heading["level"], heading["heading"], heading["line"]) for heading in data["outline"]] == [
        (1, "Project Alpha", 8),
        (2, "Plan", 12),
        (2, "Notes", 18),
        (3, "Measurements", 22),
    ]
    assert read(app, name="Alpha", view="properties")[0]["properties"]["tags"] == ["project", "work/clocks"]
    data, text = read(app, name="Alpha", view="metadata")
    assert text is None
    assert data["tags"] == ["#project", "#work/clocks", "#idea"]
    assert data["blocks"] == ["^brass"]
    assert data["tasks"] == {"open": 2, "done": 1}
    assert data["aliases"] == []
    assert data["properties"]["owner"] == "[[Mori Ayumi]]"


def test_a_long_note_comes_in_pages_that_add_up(app: App, basic: Path) -> None:
    whole = "".join(f"line {number} of a long note 日本\n" for number in range(6000))
    (basic / "Long.md").write_bytes(whole.encode())
    parts, offset = [], 0
    while True:
        data, text = read(app, name="Long", offset=offset)
        assert text is not None
        assert len(text) <= 40_000
        parts.append(text)
        if "next_offset" not in data:
            break
        offset = data["next_offset"]
    assert "".join(parts) == whole
    assert len(parts) > 3


def test_one_very_long_line_comes_in_pages_too(app: App, basic: Path) -> None:
    (basic / "Line.md").write_bytes(b"x" * 90_000)
    first = read(app, name="Line")[0]
    assert first["next_offset"] == 40_000
    assert read(app, name="Line", offset=80_000)[1] == "x" * 10_000


def test_bytes_that_are_not_utf8_are_shown_and_warned_about(app: App, basic: Path) -> None:
    """FILE-05"""
    (basic / "Odd.md").write_bytes(b"caf\xe9\n")
    data, text = read(app, name="Odd")

    assert text == "caf\ufffd\n"
    assert "UTF-8" in data["warnings"][0]
    (basic / "pic.png").write_bytes(b"\x89PNG\0\0")
    with pytest.raises(AppError) as error:
        read(app, name="pic.png")
    assert error.value.error_code == "NOT_TEXT"


def test_a_note_found_by_an_alias_says_so(app: App) -> None:
    """NAME-11"""
    data, _ = read(app, name="森あゆみ")

    assert data["path"] == "People/Mori Ayumi.md"
    assert data["alias"] == "森あゆみ"
    assert "alias" not in read(app, name="mori ayumi")[0]


PARTED = "# Day\n\n## Log\n\n## Plan\n\n- [ ] old\n\n## Empty\n"
TIGHT = "# Day\n## Log\n\n## Plan\n- [ ] old\n\n## Empty\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("body", "operation", "heading", "content", "after"),
    [
        (PARTED, "append_section", "Log", "- x", "# Day\n\n## Log\n\n- x\n\n## Plan"),
        (PARTED, "prepend_section", "Log", "- x", "# Day\n\n## Log\n\n- x\n\n## Plan"),
        (PARTED, "append_section", "Empty", "x", "## Empty\n\nx\n"),
        (PARTED, "prepend_section", "Plan", "- [ ] x", "## Plan\n\n- [ ] x\n- [ ] old\n"),
        (PARTED, "prepend_section", "Plan", "Words", "## Plan\n\nWords\n\n- [ ] old\n"),
        (PARTED, "append_section", "Plan", "- [ ] x", "## Plan\n\n- [ ] old\n- [ ] x\n"),
        ("## A\n\na\n\n## B\n\n\n\n## C\n\nc\n", "append_section", "B", "x", "## B\n\nx\n\n\n## C"),
        ("## A\n\na\n## B", "append_section", "B", "x", "## B\n\nx"),
        ("## A\n\na\n## B\n\n", "append_section", "B", "x", "## B\n\nx\n"),
        (TIGHT, "append_section", "Log", "- x", "# Day\n## Log\n- x\n\n## Plan"),
        (TIGHT, "append_section", "Empty", "x", "## Empty\nx\n"),
        (TIGHT, "prepend_section", "Plan", "- [ ] x", "## Plan\n- [ ] x\n- [ ] old\n"),
        ("```\n# no\n\n# no\n\n```\n## B\n", "append_section", "B", "x", "## B\nx\n"),
    ],
)
def test_text_below_a_heading_keeps_the_blank_line_that_other_headings_have(
    app: App, basic: Path, body: str, operation: str, heading: str, content: str, after: str, newline: str
) -> None:
    """EDIT-11"""
    path = basic / "Day.md"
    path.write_text(body, encoding="utf-8", newline=newline)
    edit = {"name": "Day", "operation": operation, "section": heading, "content": content}
    call(app, "obsidian_edit_note", edit)
    written = path.read_bytes().decode()
    assert after.replace("\n", newline) in written
    assert written.replace(newline, "").replace("- ", "").count("\n") == 0 if newline == "\r\n" else "\r" not in written


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("daily_note", {"content": "- x", "position": "section", "section": "Log"}),
        ("daily_note", {"content": "- x", "position": "prepend", "section": "Log"}),
        ("insert_template", {"template": "Item", "name": "2026-11-22", "position": "section", "section": "Log"}),
        ("update_task", {"action": "add", "name": "2026-11-22", "section": "Log", "text": "x"}),
        ("update_task", {"action": "add", "daily": True, "section": "Log", "text": "x"}),
    ],
)
def test_every_tool_that_adds_below_a_heading_keeps_the_blank_line(
    opened: Opened, tool: str, arguments: dict[str, Any]
) -> None:
    """EDIT-11"""
    app = opened({"2026-11-22.md": PARTED, "Templates/Item.md": "- x\n"}, templates={"folder": "Templates"})
    call(app, f"obsidian_{tool}", arguments)
    written = call(app, "obsidian_read_note", {"name": "2026-11-22"}).text
    assert written is not None
    assert re.search(r"\n\n## Log\n\n- (\[ \] )?x\n\n## Plan\n\n- \[ \] old\n", written)


def _bytes(app: App) -> bytes:
    vault = app.vaults.get()
    return vault.read_content(vault.find("N")).data


SECTIONS = "# A\n\none\n\n## B\n\ntwo ^two\n\n### C\n\nthree\n\n## D\nfour\n"


@pytest.mark.parametrize(
    ("section", "before", "after"),
    [
        ("B", SECTIONS, "# A\n\none\n\n## D\nfour\n"),
        ("C", SECTIONS, "# A\n\none\n\n## B\n\ntwo ^two\n\n## D\nfour\n"),
        ("D", SECTIONS, "# A\n\none\n\n## B\n\ntwo ^two\n\n### C\n\nthree\n"),
        ("^two", SECTIONS, "# A\n\none\n\n## B\n\n### C\n\nthree\n\n## D\nfour\n"),
        ("D", "x\n## D\nfour", "x"),
        ("D", "## D\nfour\n", ""),
        ("D", "x\r\n\r\n## D\r\nfour\r\n", "x\r\n"),
    ],
)
def test_a_section_is_removed_with_its_heading(opened: Opened, section: str, before: str, after: str) -> None:
    """EDIT-12"""
    app = opened({"N.md": before.encode()})
    made = call(app, "obsidian_edit_note", {"name": "N", "operation": "remove_section", "section": section}).data
    assert _bytes(app).decode() == after
    assert "warnings" not in made
    with pytest.raises(InvalidArguments, match="takes no `content`"):
        call(app, "obsidian_edit_note", {"name": "N", "operation": "remove_section", "section": "A", "content": "x"})


@pytest.mark.parametrize(
    ("section", "before", "after"),
    [
        ("A", "## A\n\none\n\n## B\ntwo\n", "## A\n\none\n\n## New\n\ntext\n\n## B\ntwo\n"),
        ("B", "## A\n\none\n\n## B\ntwo\n", "## A\n\none\n\n## B\ntwo\n\n## New\n\ntext\n"),
        ("A", "## A\none\n## B\n", "## A\none\n\n## New\n\ntext\n\n## B\n"),
        ("A", "## A\none", "## A\none\n\n## New\n\ntext"),
        ("A", "## A\r\none\r\n\r\n", "## A\r\none\r\n\r\n## New\r\n\r\ntext\r\n"),
    ],
)
def test_a_section_is_added_behind_another_one(opened: Opened, section: str, before: str, after: str) -> None:
    """EDIT-12"""
    app = opened({"N.md": before.encode()})
    given = {"name": "N", "operation": "add_after_section", "section": section, "content": "## New\n\ntext\n"}
    call(app, "obsidian_edit_note", given)
    assert _bytes(app).decode() == after
