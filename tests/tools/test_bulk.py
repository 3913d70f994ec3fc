"""Changes to many notes at once, and tools that only read or never destroy (specs/tools.md)."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.frontmatter import edits
from obsidian_mcp.core.frontmatter.edits import set_property
from obsidian_mcp.core.operations import bulk
from obsidian_mcp.core.query import regexp
from obsidian_mcp.core.text.call import call_with, current_call, limit_call
from obsidian_mcp.core.text.diff import diff
from obsidian_mcp.errors import AppError, InvalidArguments, NoteNotFound, OperationTimeout, PropertiesUnreadable
from obsidian_mcp.tools import history
from obsidian_mcp.tools.registry import TOOLS, Tool, call
from tests.vaults import contents

pytestmark = pytest.mark.usefixtures("disk_of_macos")


def run(app: App, tool: str, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


@pytest.fixture
def notes(basic: Path) -> Path:
    for number in range(60):
        (basic / f"Herons {number}.md").write_bytes(
            f"---\nstatus: seen\r\n---\r\n$1 heron {number}, Heron\r\n".encode()
        )
    return basic


def test_a_replacement_that_takes_too_long_is_refused_with_a_word(
    app: App, basic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TOOL-14, EXPR-26"""
    (basic / "Long.md").write_text(f"{'a' * 40}!\n", encoding="utf-8")
    with monkeypatch.context() as hasty:
        hasty.setattr(regexp, "SECONDS", 0.2)
        with pytest.raises(InvalidArguments, match="ran for more than"):
            run(app, "replace", find="(a|aa)+$", content="b", regex=True, names=["Long"])

        # every one is found soon, all of them take more than the limit
        hasty.setattr(regexp, "SECONDS", 0.3)
        (basic / "Long.md").write_text("word " * 90_000, encoding="utf-8")
        assert run(app, "replace", find="word", content="term", names=["Long"])["total"] == 1
        assert (basic / "Long.md").read_text(encoding="utf-8") == "term " * 90_000


def test_an_answer_names_the_first_of_many_files_whose_links_follow(app: App, basic: Path) -> None:
    """TOOL-07"""
    (basic / "Source.md").write_text("# Old\ntext\n", encoding="utf-8")
    for number in range(60):
        (basic / f"Linking {number:02}.md").write_text(f"{'word ' * 100}[[Source#Old]]\n", encoding="utf-8")
    renamed = {"name": "Source", "operation": "rename_heading", "section": "Old", "content": "New"}
    shown = run(app, "edit_note", **renamed, dry_run=True)
    answer = run(app, "edit_note", **renamed)

    assert shown["diff"].startswith("50 lines in 50 files, as in Linking ")
    assert shown["diff"].endswith("… (of the first 50 files)\n")
    assert (len(answer["updated"]), answer["more_updated"]) == (50, 10)
    extracted = run(app, "compose_notes", action="extract", name="Source", part="New", into="Part")
    assert (len(extracted["updated"]), extracted["more_updated"]) == (50, 10)
    moved = run(app, "move_note", name="Part", to="Piece", dry_run=True)
    assert len(moved["diff"]) < 600
    with call_with(wants_all=True):  # for a person (CLI-10)
        whole = run(app, "move_note", name="Part", to="Piece", dry_run=True)
    assert (len(whole["updated"]), whole.get("more_updated")) == (61, None)
    assert len(whole["diff"]) > len(moved["diff"])


def test_properties_of_every_note_that_a_search_finds_are_set_and_undone_as_one_change(app: App, notes: Path) -> None:
    """TOOL-14"""
    before = contents(notes)
    values = {"status": "done", "count": 3, "absent": None}
    shown = run(app, "set_properties", query="[status:seen]", properties=values, dry_run=True)
    assert contents(notes) == before
    answer = run(app, "set_properties", query="[status:seen]", properties=values)

    assert (answer["total"], len(answer["changed"]), answer["more_changed"]) == (60, 50, 10)
    assert shown["changed"] == answer["changed"]
    assert len(shown["diff"]) < 11_000
    assert run(app, "get_properties", name="Herons 7")["properties"] == {"status": "done", "count": 3}
    assert (notes / "Herons 7.md").read_bytes().endswith(b"---\r\n$1 heron 7, Heron\r\n")
    run(app, "undo")
    assert contents(notes) == before


def test_a_query_changes_notes_alone_that_it_finds_exactly_and_not_too_many(
    app: App, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TOOL-14"""
    (notes / "Seen.canvas").write_text('{"nodes":[{"id":"1","type":"text","text":"a wading bird"}]}', "utf-8")
    (notes / "Wading.md").write_text("a wading bird\n", "utf-8", newline="\n")
    (notes / "Waded.md").write_text("birds waded\n", "utf-8", newline="\n")
    answer = run(app, "set_properties", query="wading bird", properties={"a": 1})
    assert answer["changed"] == ["Wading.md"]

    monkeypatch.setattr(bulk, "MOST_NOTES", 59)
    before = contents(notes)
    with pytest.raises(InvalidArguments, match="finds 60 files, more than 59"):
        run(app, "set_properties", query="[status:seen]", properties={"a": 1})
    assert contents(notes) == before


def test_null_removes_a_property_and_a_single_name_needs_no_list(app: App, basic: Path) -> None:
    before = (basic / "Projects/Alpha.md").read_bytes()
    answer = run(app, "set_properties", names="Alpha", properties={"status": None})

    assert answer["total"] == 1
    assert answer["etag"]
    assert (basic / "Projects/Alpha.md").read_bytes() == before.replace(b"status: active\n", b"")


def test_one_note_that_is_missing_leaves_all_as_they_were(app: App, notes: Path) -> None:
    before = contents(notes)
    with pytest.raises(NoteNotFound):
        run(app, "set_properties", names=["Herons 1", "No such note"], properties={"status": "x"})
    assert contents(notes) == before


def test_the_note_whose_properties_are_broken_is_named(app: App, notes: Path) -> None:
    """TOOL-14"""
    (notes / "Broken.md").write_bytes(b"---\na: [b\n---\nheron\n")
    before = contents(notes)
    with pytest.raises(PropertiesUnreadable, match=r"Broken\.md': .* Nothing was written\.") as refused:
        run(app, "set_properties", query="heron", properties={"status": "x"})
    assert refused.value.data["path"].endswith("Broken.md")
    assert contents(notes) == before


@pytest.mark.parametrize("which", [{}, {"names": ["Home"], "query": "x"}, {"query": "nothing-has-this-word"}])
def test_which_notes_are_meant_has_to_be_said_once_and_find_something(app: App, which: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments):
        run(app, "replace", find="a", content="b", **which)


def test_text_is_replaced_as_it_stands_and_line_ends_stay(app: App, notes: Path) -> None:
    answer = run(app, "replace", find="$1 heron", content="$& one\nmore", query="heron")

    assert answer["total"] == 60
    assert (notes / "Herons 0.md").read_bytes() == b"---\nstatus: seen\r\n---\r\n$& one\r\nmore 0, Heron\r\n"


def test_a_text_that_is_nowhere_is_said(app: App, notes: Path) -> None:
    """TOOL-14"""
    answer = run(app, "replace", find="no such words", content="x", query="heron")

    assert answer["total"] == 0
    assert answer["warnings"][0].startswith("Nothing was changed: find is not in the 60 files.")
    assert "warnings" not in run(app, "replace", find="heron", content="x", query="heron")


def test_an_expression_is_replaced_with_its_groups(app: App, notes: Path) -> None:
    run(app, "replace", find=r"(heron) (\d+)", content="$2 $1s", regex=True, ignore_case=True, names=["Herons 5"])

    assert (notes / "Herons 5.md").read_bytes() == b"---\nstatus: seen\r\n---\r\n$1 5 herons, Heron\r\n"


@pytest.mark.parametrize(
    ("old", "arguments", "new"),
    [
        ("a\r\nb\r\n", {"find": "a\nb", "content": "c\nd"}, "c\r\nd\r\n"),
        ("a\nb\n", {"find": "a\r\nb", "content": "c\r\nd"}, "c\nd\n"),
        ("a\r\nb", {"find": r"(\w)\n(\w)", "content": "$2\n$1", "regex": True}, "b\r\na"),
        ("a\r\nb\r\n", {"find": "[ab]$", "content": "$&!", "regex": True}, "a!\r\nb!\r\n"),
        ("a\r\nb\nc\r\n", {"find": "$", "content": "!", "regex": True}, "a!\r\nb!\nc!\r\n!"),
        ("a\r\nb", {"find": r"a\r\nb", "content": "c", "regex": True}, "c"),
        ("a\rb\r\n", {"find": "b", "content": "c"}, "a\rc\r\n"),
    ],
)
def test_a_line_end_is_one_whatever_bytes_it_has(
    app: App, basic: Path, old: str, arguments: dict[str, Any], new: str
) -> None:
    """EDIT-04, FILE-04"""
    (basic / "Lines.md").write_bytes(old.encode())
    run(app, "replace", names=["Lines"], **arguments)

    assert (basic / "Lines.md").read_bytes().decode() == new


def test_a_broken_expression_is_refused_before_anything_is_written(app: App, notes: Path) -> None:
    before = contents(notes)
    with pytest.raises(InvalidArguments, match="regular expression"):
        run(app, "replace", find="(", content="", regex=True, query="heron")
    assert contents(notes) == before


def test_a_forgotten_content_deletes_nothing(app: App, notes: Path) -> None:
    """EDIT-06"""
    before = contents(notes)
    with pytest.raises(InvalidArguments, match="content"):
        run(app, "replace", find="heron", query="heron")
    assert contents(notes) == before


NEEDED: dict[str, dict[str, Any]] = {
    "obsidian_add_attachment": {"name": "x.png", "data": "eA=="},
    "obsidian_query": {"query": '{"views": [{"type": "table", "name": "T"}]}'},
    "obsidian_search": {"query": "brass"},
}
"""Arguments that a call needs beyond a name."""


def values(tool: Tool, parameter: str) -> list[Any]:
    """Every value of an enumeration or flag; for other arguments what a call needs, or a value that names a note."""
    known = tool.parameters[parameter]
    if parameter in NEEDED.get(tool.name, {}):
        return [NEEDED[tool.name][parameter]]
    if known.choices:
        return list(known.choices)
    if known.type == "boolean":
        return [False, True]
    if parameter in ("name", "to"):
        return ["Alpha"] if known.is_required else ["", "Alpha"]
    return ["Alpha"] if known.is_required else []


@pytest.mark.parametrize("name", [tool.name for tool in TOOLS.values() if tool.read_only])
def test_a_tool_that_says_it_only_reads_leaves_every_byte_of_the_vault(app: App, basic: Path, name: str) -> None:
    """TOOL-12"""
    tool, before = TOOLS[name], contents(basic)
    choices = {parameter: found for parameter in tool.parameters if (found := values(tool, parameter))}
    answered = 0
    for chosen in product(*choices.values()):
        try:
            call(app, name, dict(zip(choices, chosen, strict=True)))
            answered += 1
        except AppError:
            pass  # not every combination is a question
    assert answered or tool.needs_app or "canvas" in name
    assert contents(basic) == before


def pieces(before: bytes, after: bytes) -> bool:
    """Whether all lines of a file are still there, in their order."""
    left = iter(after.splitlines())
    return all(line in left for line in before.splitlines())


@pytest.mark.parametrize(
    "name", [tool.name for tool in TOOLS.values() if not (tool.read_only or tool.destructive or tool.needs_app)]
)
def test_a_tool_that_says_it_destroys_nothing_keeps_every_old_byte(app: App, basic: Path, name: str) -> None:
    """TOOL-12"""
    tool, today = TOOLS[name], "2026-11-22"
    (basic / f"{today}.md").write_text("# Day\n\n## Plan\nold\n## Log\nold too\n", encoding="utf-8", newline="\n")
    (basic / "x.png").write_bytes(b"old")
    given = {"content": ["new"], "heading": ["Plan", "Log"], "date": [today], "data": ["eA=="], "name": ["x.png"]}
    choices = {
        parameter: given.get(parameter) or found
        for parameter in tool.parameters
        if (found := given.get(parameter) or values(tool, parameter))
    }
    answered = 0
    for chosen in product(*choices.values()):
        before = contents(basic)
        with suppress(AppError):  # not every combination is a change
            call(app, name, dict(zip(choices, chosen, strict=True)))
            answered += 1
        after = contents(basic)
        assert [path for path in before if not pieces(before[path], after.get(path, b""))] == [], chosen
    assert answered


def test_what_a_tool_says_of_itself_agrees() -> None:
    """TOOL-12, TOOL-02"""
    for tool in TOOLS.values():
        assert not (tool.read_only and (tool.destructive or tool.open_world))
        assert len(tool.name) < 30
    assert [tool.name for tool in TOOLS.values() if tool.open_world] == ["obsidian_app_command"]


def test_of_a_change_of_many_notes_only_the_differences_that_are_shown_are_worked_out(
    app: App, basic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TOOL-07"""
    names = [f"Herons {number}" for number in range(10)]
    for name in names:
        (basic / f"{name}.md").write_bytes(b"heron\n" * 1_000)
    run(app, "replace", names=names, find="heron", content="stork")
    worked_out: list[str] = []

    def counted(path: str, before: str, after: str, *, is_numbered: bool) -> str:
        worked_out.append(path)
        return diff(path, before, after, is_numbered=is_numbered)

    monkeypatch.setattr(history, "diff", counted)
    shown = run(app, "history", change=1)

    assert len(shown["diff"].encode()) <= 4_096
    assert len(worked_out) == 1


def test_setting_very_many_properties_ends_with_its_time_and_lets_others_write(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TOOL-09"""
    begun: list[str] = []

    def stopped(body: str, key: str, value: Any) -> str:
        begun.append(key)
        limit = current_call.get().limit
        assert limit is not None
        limit.cancel()
        return set_property(body, key, value)

    monkeypatch.setattr(edits, "set_property", stopped)
    with limit_call(60.0), pytest.raises(OperationTimeout):
        run(app, "set_properties", names=["Home"], properties={"a": 1, "b": 2, "c": 3})

    assert begun == ["a"]


CARD = r'{"id":"a","type":"text","text":"br\u00e4ss \"br\u00e4ss\"\nbr\u00e4ss","x":0,"y":0,"width":9,"height":9}'
FILE_CARD = '{"id":"b","type":"file","file":"bräss.md","x":0,"y":0,"width":9,"height":9}'
CARDS = f'{{"nodes":[{CARD},\n {FILE_CARD}],"edges":[]}}'


def test_text_is_replaced_in_canvas_cards_too_and_nothing_else_of_a_canvas_changes(app: App, basic: Path) -> None:
    """TOOL-14"""
    (basic / "Cards.canvas").write_text(CARDS, encoding="utf-8", newline="\n")
    (basic / "Note.md").write_text("bräss", encoding="utf-8", newline="\n")
    answer = call(app, "obsidian_replace", {"find": "bräss", "content": 'ir"on', "query": "bräss"}).data
    assert answer["changed"] == ["Cards.canvas", "Note.md"]
    assert (basic / "Note.md").read_text(encoding="utf-8") == 'ir"on'
    assert (basic / "Cards.canvas").read_text(encoding="utf-8") == CARDS.replace("br\\u00e4ss", 'ir\\"on')
    call(app, "obsidian_undo", {})
    assert (basic / "Cards.canvas").read_text(encoding="utf-8") == CARDS
    named = {"find": "^bräss$", "content": "x", "regex": True, "names": ["Cards.canvas"]}
    assert call(app, "obsidian_replace", named).data["changed"] == ["Cards.canvas"]
    assert '\\"\\nx"' in (basic / "Cards.canvas").read_text(encoding="utf-8")


def test_classes_of_characters_are_known_to_a_regular_expression(app: App, basic: Path) -> None:
    (basic / "Note.md").write_text("aÄb Über p{Lu}", encoding="utf-8", newline="\n")
    given = {"find": r"\p{Lu}", "content": "_", "regex": True, "names": ["Note"]}
    call(app, "obsidian_replace", given)
    assert (basic / "Note.md").read_text(encoding="utf-8") == "a_b _ber p{_u}"
    with pytest.raises(InvalidArguments, match="Invalid regular expression"):
        call(app, "obsidian_replace", {**given, "find": r"\p{Nonsense}"})


@pytest.mark.parametrize("find", ["/BRASS/i", "/brass/", "/br.*ss/gim"])
def test_a_regular_expression_in_slashes_is_refused_unless_the_text_has_it(app: App, basic: Path, find: str) -> None:
    given = {"find": find, "content": "_", "regex": True, "names": ["Alpha"]}
    with pytest.raises(InvalidArguments, match="without the slashes around it and the flags"):
        call(app, "obsidian_replace", given)
    (basic / "Projects/Alpha.md").write_text(f"see {find.replace('.*', 'a')}", encoding="utf-8", newline="\n")
    assert call(app, "obsidian_replace", given).data["total"] == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"find": "brass", "content": "brass"}, "Nothing was changed: all that find matches in the file is what it"),
        ({"find": "br(a)ss", "content": "br$1ss", "regex": True}, "Nothing was changed: all that find matches in"),
        ({"find": "zz+", "content": "", "regex": True}, "Nothing was changed: the regular expression matches nothing"),
        ({"find": "zz", "content": ""}, "Nothing was changed: find is not in the file. It must match exactly"),
    ],
)
def test_a_replacement_that_changes_nothing_says_why(app: App, arguments: dict[str, Any], expected: str) -> None:
    """EDIT-06"""
    answer = call(app, "obsidian_replace", {"names": ["Alpha"], **arguments}).data
    assert answer["changed"] == []
    assert answer["warnings"][0].startswith(expected)
