"""Several calls as one change (specs/batch.md)."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.adapters.folder import VaultFolder
from obsidian_mcp.app import App
from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.errors import AppError, ConfirmationRequired, InvalidArguments, NoteNotFound, StaleEtag
from obsidian_mcp.tools.offer import Offer
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.examples import examples
from tests.vaults import contents, write_files

pytestmark = pytest.mark.usefixtures("disk_of_macos")

Call = tuple[str, dict[str, Any]]


def run(app: App, tool: str, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).data


def visible(vault: Path) -> dict[str, bytes]:
    """The files without those in the trash."""
    return {path: data for path, data in contents(vault).items() if not path.startswith(".trash/")}


def batch(app: App, *calls: Call, **more: Any) -> dict[str, Any]:
    return run(app, "batch", calls=[{"tool": tool, "arguments": arguments} for tool, arguments in calls], **more)


def test_a_call_sees_what_earlier_ones_made_and_one_undo_brings_all_back(app: App, basic: Path) -> None:
    """BATCH-01, BATCH-02"""
    before = contents(basic)

    answer = batch(
        app,
        ("create_note", {"name": "Plans/New", "content": "# New\n\nSee [[Alpha]].\n"}),
        ("edit_note", {"name": "New", "operation": "append", "content": "- [ ] Order brass"}),
        ("move_note", {"name": "Alpha", "to": "Beta"}),
        ("edit_note", {"name": "Beta", "operation": "append", "content": "Renamed."}),
    )

    after = contents(basic)
    assert answer["calls"] == 4
    assert [(said["call"], said["tool"]) for said in answer["results"]] == [(3, "move_note")]  # the others say no more
    assert after["Plans/New.md"] == b"# New\n\nSee [[Beta]].\n- [ ] Order brass\n"
    assert after["Projects/Beta.md"].endswith(b"Renamed.\n")
    assert "Projects/Alpha.md" not in after
    assert b"[[Alpha" not in after["Home.md"]
    assert run(app, "history")["total"] == 1
    undone = run(app, "undo")
    assert undone["undone"] == answer["change"]
    assert contents(basic) == before


@pytest.mark.parametrize("tool", ["edit_table", "obsidian_compose_notes", "search", "nonsense"])
def test_a_batch_names_and_makes_only_calls_of_tools_that_are_listed(app: App, tool: str) -> None:
    """BATCH-04, TOOL-27"""
    standard = app.replace(config=app.config.replace(tools="standard"))

    with pytest.raises(InvalidArguments, match=f"'{tool}' is no tool of a batch") as error:
        batch(standard, (tool, {}))

    named = error.value.message.partition("these are: ")[2].removesuffix(". Nothing was changed.").split(", ")
    assert "edit_note" in named
    assert {f"obsidian_{name}" for name in named} <= set(Offer(standard.config).list_entries())


def test_a_call_that_fails_is_named_and_nothing_has_changed(app: App, basic: Path) -> None:
    """BATCH-03"""
    before = contents(basic)

    with pytest.raises(
        NoteNotFound, match=r"^Call 2 \(obsidian_edit_note\): .*Nothing of the batch was changed\.$"
    ) as error:
        batch(
            app,
            ("create_note", {"name": "New", "content": "x"}),
            ("edit_note", {"name": "Nobody", "operation": "append", "content": "x"}),
        )

    assert error.value.data["call"] == 2
    assert contents(basic) == before
    assert run(app, "history")["total"] == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "Give 1 to 100 calls, not 0"),
        ([{"tool": "edit_note"}] * 101, "Give 1 to 100 calls, not 101"),
        (
            [{"tool": "search", "arguments": {"query": "x"}}],
            "Call 1: 'search' is no tool of a batch; these are: create_note",
        ),
        ([{"tool": "batch", "arguments": {}}], "'batch' is no tool of a batch"),
        ([{"tool": "undo", "arguments": {}}], "'undo' is no tool of a batch"),
        ([{"tool": "delete_note", "arguments": {}, "name": "Alpha"}], "name stands beside 'arguments'"),
        ([{"tool": "edit_note", "name": "Alpha"}], "Missing required argument: operation"),
        (
            [{"name": "Alpha"}],
            'Call 1: its member "tool" is missing, .*; these are: create_note',
        ),
        ([{"tool": "edit_note", "arguments": "x"}], "its arguments must be an object"),
        ([{"tool": "edit_note", "arguments": {"name": "Alpha", "dry_run": True}}], "arguments of the batch"),
    ],
)
def test_what_is_no_batch_is_refused_with_the_call(app: App, given: Any, said: str) -> None:
    """BATCH-04"""
    with pytest.raises(InvalidArguments, match=said):
        run(app, "batch", calls=given)


ARGUMENTS = {"name": "Alpha", "operation": "append", "content": "Lamp."}
WRITTEN = json.dumps(ARGUMENTS)


@pytest.mark.parametrize(
    "given",
    [
        {"tool": "edit_note", "arguments": ARGUMENTS},
        {"tool": "obsidian_edit_note", "args": ARGUMENTS},
        {"tool": "edit_note", "params": ARGUMENTS},
        {"tool": "edit_note", "parameters": ARGUMENTS},
        {"tool": "edit_note", "input": ARGUMENTS},
        {"tool": "edit_note", "arguments": WRITTEN},
        {"tool": "edit_note", **ARGUMENTS},
        {"tool": "mcp__obsidian__obsidian_edit_note", "arguments": ARGUMENTS},
        {"tool": "edit-note", "arguments": ARGUMENTS},
        {"name": "edit_note", "arguments": ARGUMENTS},
        {"name": "obsidian_edit_note", "input": ARGUMENTS},
        {"name": "edit_note", "args": WRITTEN},
        {"tool_name": "edit_note", "args": ARGUMENTS},
        {"type": "tool_use", "id": "toolu_1", "name": "edit_note", "input": ARGUMENTS},
        {"id": "call_1", "type": "function", "function": {"name": "obsidian_edit_note", "arguments": WRITTEN}},
        {"function": "edit_note", "arguments": ARGUMENTS},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "edit_note", "arguments": ARGUMENTS}},
    ],
    ids=",".join,
)
def test_a_call_is_read_in_every_form_in_which_models_write_calls(app: App, basic: Path, given: dict[str, Any]) -> None:
    """BATCH-11"""
    before = contents(basic)
    assert "+Lamp." in run(app, "batch", calls=[given, given], dry_run=True)["diff"]
    assert contents(basic) == before
    assert run(app, "batch", calls=[given])["changed"] == ["Projects/Alpha.md"]
    assert contents(basic)["Projects/Alpha.md"].endswith(b"Lamp.\n")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tool": "edit_note", "args": ARGUMENTS, "name": "Alpha"}, "name stands beside 'args' and belongs into it"),
        ({"tool": "edit_note", "input": [1]}, "its input must be an object"),
        ({"tool": "edit_note", "args": "{"}, "its args must be an object"),
        ({"name": "Alpha", "arguments": ARGUMENTS}, 'its member "tool" is missing'),
        ({"name": "edit_note", "content": "x"}, 'use "tool" instead of "name" for \'edit_note\''),
        ({"name": "obsidian_edit_note"}, 'use "tool" instead of "name" for \'obsidian_edit_note\''),
        ({"name": "obsidian_read_note"}, "'obsidian_read_note' is no tool of a batch; these are: create_note"),
        ({"content": "x"}, 'its member "tool" is missing'),
        ({"tool": None, "arguments": ARGUMENTS}, "None is no tool of a batch"),
        ({"function": {"name": "search", "arguments": "{}"}}, "'search' is no tool of a batch"),
        (
            {"tool": "edit_note", "args": {"name": "Alpha", "vault": "x"}},
            "vault and dry_run are arguments of the batch",
        ),
    ],
)
def test_a_call_in_no_such_form_is_refused_with_the_member_that_is_meant(
    app: App, basic: Path, given: dict[str, Any], said: str
) -> None:
    """BATCH-11"""
    before = contents(basic)
    with pytest.raises(InvalidArguments, match=f"^Call 2: {said}"):
        run(app, "batch", calls=[{"tool": "edit_note", **ARGUMENTS}, given])
    assert contents(basic) == before


def test_the_warnings_of_a_call_are_shown_however_long_its_answer_is(tmp_path: Path) -> None:
    """BATCH-12"""
    long_names = {f"{'a long name ' * 3}{number}.md": "lamp\n" for number in range(20)}
    app = app_on(write_files(tmp_path / "vault", {**long_names, "other.md": "clamp\n"}))
    change = {"query": "lamp", "properties": {"x": 1}}
    (warning,) = run(app, "set_properties", **change, dry_run=True)["warnings"]
    (result,) = run(app, "batch", calls=[{"tool": "set_properties", **change}])["results"]
    assert result["warnings"] == [warning]
    assert "inside other words" in warning
    assert "changed" not in result


def test_a_dry_run_shows_the_change_and_writes_nothing(app: App, basic: Path) -> None:
    """BATCH-05"""
    before = contents(basic)

    answer = batch(
        app,
        ("move_note", {"name": "Alpha", "to": "Beta"}),
        ("edit_note", {"name": "Beta", "operation": "append", "content": "Renamed."}),
        dry_run=True,
    )

    assert contents(basic) == before
    assert "change" not in answer
    assert "+Renamed." in answer["diff"]
    assert answer["total"] == len(answer["changed"])


def test_files_can_change_places_and_a_deleted_note_can_be_made_again(app: App, basic: Path) -> None:
    """BATCH-02"""
    (basic / "One.md").write_bytes(b"one\n")
    (basic / "Two.md").write_bytes(b"two\n")
    before = contents(basic)

    batch(
        app,
        ("move_note", {"name": "One", "to": "Three"}),
        ("move_note", {"name": "Two", "to": "One"}),
        ("move_note", {"name": "Three", "to": "Two"}),
        ("delete_note", {"name": "Alpha"}),
        ("create_note", {"name": "Projects/Alpha", "content": "anew\n"}),
    )

    after = contents(basic)
    assert (after["One.md"], after["Two.md"], after["Projects/Alpha.md"]) == (b"two\n", b"one\n", b"anew\n")
    run(app, "undo")
    assert visible(basic) == before


@pytest.mark.parametrize(
    "calls",
    [
        [("move_note", {"name": "Home", "to": "Old/"}), ("create_note", {"name": "Home", "content": "new"})],
        [("delete_note", {"name": "Alpha"}), ("move_note", {"name": "Home", "to": "Projects/Alpha"})],
        [("move_note", {"name": "Home", "to": "Third"}), ("move_note", {"name": "Alpha", "to": "/Home"})],
    ],
)
def test_an_undo_gives_back_places_that_other_files_of_the_batch_have_taken(
    app: App, basic: Path, calls: list[Call]
) -> None:
    """BATCH-01, SAFE-04: the undo can be undone too"""
    before = visible(basic)

    batch(app, *calls)
    after = visible(basic)
    undone = run(app, "undo")
    assert visible(basic) == before
    run(app, "undo", change=undone["change"])
    assert visible(basic) == after


def test_a_query_that_finds_no_note_is_named_as_it_was_written(app: App) -> None:
    """QUERY-56"""
    with pytest.raises(InvalidArguments, match=r"'\[due:<2 years ago\]' finds no note"):
        run(app, "set_properties", query="[due:<2 years ago]", properties={"x": 1})


def test_a_call_sees_the_bookmarks_that_an_earlier_one_made(app: App, basic: Path) -> None:
    """BATCH-01"""
    add: Call = ("edit_bookmarks", {"action": "add", "target": "Alpha"})
    batch(
        app,
        add,
        add,
        ("edit_bookmarks", {"action": "add", "target": "Home"}),
        ("edit_bookmarks", {"action": "remove", "target": "Alpha"}),
    )

    assert [one["target"] for one in run(app, "list_bookmarks")["bookmarks"]] == ["Home.md"]


def test_a_note_that_another_program_changed_meanwhile_is_not_overwritten(app: App, basic: Path) -> None:
    """BATCH-03: the etag of an old read counts in a batch too"""
    (basic / "Line.md").write_bytes(b"a line\n")
    etag = run(app, "read_note", name="Line")["etag"]
    (basic / "Line.md").write_bytes(b"another line\n")
    before = contents(basic)

    with pytest.raises(StaleEtag, match=r"^Call 2"):
        batch(
            app,
            ("create_note", {"name": "New", "content": "x"}),
            (
                "edit_note",
                {"name": "Line", "operation": "replace_text", "find": "a line", "content": "x", "etag": etag},
            ),
        )
    assert contents(basic) == before


def test_the_policy_holds_for_every_call_and_asks_once_for_the_whole(basic: Path) -> None:
    """BATCH-06"""
    (basic.parent / "policy.toml").write_text('hidden = ["People/"]\nconfirm = ["delete"]\n', encoding="utf-8")
    app = app_on(basic)
    calls = [
        {"tool": "create_note", "arguments": {"name": "New", "content": "x"}},
        {"tool": "delete_note", "arguments": {"name": "New"}},
        {"tool": "delete_note", "arguments": {"name": "Alpha"}},
    ]
    try:
        before = visible(basic)
        with pytest.raises(ConfirmationRequired):
            run(app, "batch", calls=calls)
        assert visible(basic) == before
        assert run(app, "batch", calls=calls, confirm=True)["changed"] == ["Projects/Alpha.md"]
        with pytest.raises(AppError, match="Call 1"):
            batch(app, ("edit_note", {"name": "Mori Ayumi", "operation": "append", "content": "x"}))
    finally:
        app.vaults.close()


NAMES = st.sampled_from(["Alpha", "Home", "Beta", "Gamma", "Projects/Tower clock", "New/Delta"])
TEXTS = st.sampled_from(["x", "[[Beta]]", "the quick clock", "| a |\n| - |\n| 1 |\n", "- [ ] buy #idea", ""])
OF_EACH_TOOL: dict[str, dict[str, Any]] = {
    "create_note": {"name": NAMES, "content": TEXTS, "overwrite": st.booleans()},
    "edit_note": {"name": NAMES, "operation": st.sampled_from(["append", "prepend"]), "content": TEXTS},
    "move_note": {"name": st.one_of(NAMES, st.just("Projects")), "to": st.one_of(NAMES, st.just("Old/"))},
    "delete_note": {"name": NAMES, "permanent": st.booleans()},
    "set_properties": {"names": NAMES, "properties": st.sampled_from([{"status": "done"}, {"due": None}])},
    "replace": {"query": st.just("clock"), "find": st.just("clock"), "content": TEXTS},
    "edit_table": {
        "name": NAMES,
        "operations": st.sampled_from(
            [[{"op": "add_row", "values": ["[[Alpha]]", "2"]}], [{"op": "remove_row", "row": 1}]]
        ),
    },
    "daily_note": {"date": st.just("2026-11-20"), "content": TEXTS},
    "insert_template": {"template": st.sampled_from(["Meeting", "Gamma"]), "name": NAMES},
    "update_task": {"task": st.sampled_from(["brass", "spring", "buy"]), "status": st.sampled_from(["done", "toggle"])},
    "edit_canvas": {
        "name": st.sampled_from(["Board", "Other"]),
        "operations": st.sampled_from(
            [
                [{"op": "add", "type": "text", "text": "[[Alpha]]", "id": "n"}],
                [{"op": "remove", "id": "b1b2c3d4e5f60718"}],
            ]
        ),
    },
    "compose_notes": {"action": st.just("merge"), "name": NAMES, "into": NAMES},
    "add_attachment": {"name": st.sampled_from(["wheel.svg", "a/b.png"]), "data": st.sampled_from(["QUJD", "REVG"])},
    "link_mentions": {"name": NAMES},
    "edit_bookmarks": {"action": st.sampled_from(["add", "remove"]), "target": NAMES},
    "rename_tag": {"tag": st.sampled_from(["idea", "work/clocks", "new"]), "to": st.sampled_from(["new", "idea/old"])},
}  # fmt: skip
CALLS = st.sampled_from(sorted(OF_EACH_TOOL)).flatmap(
    lambda tool: st.tuples(st.just(tool), st.fixed_dictionaries(OF_EACH_TOOL[tool]))
)


def test_the_random_calls_are_of_every_tool_that_a_batch_takes(app: App) -> None:
    with pytest.raises(InvalidArguments) as refused:
        run(app, "batch", calls=[{"tool": "search"}])

    assert set(OF_EACH_TOOL) == set(refused.value.message.split("these are: ")[1].split(". Nothing")[0].split(", "))


def compared(vault: Path) -> dict[str, bytes]:
    """The visible files without the moment at which a bookmark was made."""
    return {path: re.sub(rb'"ctime": *\d+', b"", data) for path, data in visible(vault).items()}


@examples(60, deadline=None)
@given(calls=st.lists(CALLS, min_size=1, max_size=8))
def test_a_batch_leaves_what_its_calls_leave_one_by_one_or_nothing(
    calls: list[Call], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """BATCH-02, BATCH-03: with a call that fails, nothing; without those, what the others leave"""
    fixture = Path(__file__).parents[2] / "vault_fixtures/basic"
    folder = tmp_path_factory.mktemp("batch")
    template = {"Meeting.md": "---\ntags: [new]\n---\n## {{title}}\n- [ ] spring clock\n"}
    one, other = (
        write_files(Path(shutil.copytree(fixture, folder / name / "basic")), template) for name in ("whole", "single")
    )
    whole, single = app_on(one), app_on(other)
    try:
        before = visible(one)
        made: list[Call] = []
        for tool, arguments in calls:
            try:
                run(single, tool, **arguments)
            except AppError:
                continue
            made.append((tool, arguments))
        if len(made) < len(calls):
            with pytest.raises(AppError):
                batch(whole, *calls)
            assert visible(one) == before
        if made:
            answer = batch(whole, *made)
            assert compared(one) == compared(other)
            undone = run(whole, "undo") if "change" in answer else {}
            assert visible(one) == before
            if undone:
                run(whole, "undo", change=undone["change"])
                assert compared(one) == compared(other)
    finally:
        whole.vaults.close()
        single.vaults.close()


def test_a_batch_of_moves_looks_at_the_whole_folder_as_often_as_one_move_does(
    app: App, basic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BATCH-02, WATCH-10"""
    whole: list[str] = []
    scan = VaultFolder.scan

    def counted(files: VaultFolder, folder: str = "", *more: Any) -> Iterator[DiskFile]:
        whole.extend([] if folder else ["scan"])
        return scan(files, folder, *more)

    monkeypatch.setattr(VaultFolder, "scan", counted)
    run(app, "search", query="x")  # which lists the folder for the first time
    whole.clear()
    batch(app, ("move_note", {"name": "Alpha", "to": "One"}))
    once = len(whole)
    pairs = ("One", "Two"), ("Two", "Six"), ("Six", "Ten")
    batch(app, *(("move_note", {"name": old, "to": new}) for old, new in pairs))

    assert len(whole) == 2 * once
