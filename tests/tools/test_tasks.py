"""Tasks listed, completed, changed and added by tools (TASK-40 to TASK-72, TASK-131 to TASK-134)."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from obsidian_mcp.core.files.settings import ENABLED_PLUGINS_FILE
from obsidian_mcp.core.tasks.settings import SETTINGS_FILE
from obsidian_mcp.errors import AppError, InvalidArguments, NoteNotFound, QueryInvalid, TextNotFound, TextNotUnique
from obsidian_mcp.tools.registry import call
from tests.core.tasks.vectors import Case, measured, needs_vectors
from tests.examples import examples
from tests.tools.task_vault import TaskVault

FILES = {
    "A.md": "# A\r\n\r\n- [ ] buy milk 🆔 m1\r\n- [ ] buy bread ^br\r\n\t- [ ] rye\r\n\r\nend",
    "B.md": "- [ ] sell milk ⛔ m1\n- [ ] same\n- [ ] same\n- [x] old ✅ 2026-01-01\n",
    "Sub/C.md": "## Plan\n- [ ] plan #work/now 🔼 📅 2026-11-26\n- [/] water 🔁 every week 📅 2026-11-20\n\n"
    "## Later\n\ntext\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[TaskVault]:
    made = TaskVault(tmp_path, FILES, {})
    yield made
    made.close()


def test_overdue_is_before_today(vault: TaskVault) -> None:
    """TASK-132"""
    found = vault.list(due="overdue")
    assert [task["text"][-12:] for task in found["tasks"]] == ["📅 2026-11-20"]
    assert found == vault.list(due="before today")


def test_tasks_done_or_cancelled_on_a_day_are_listed_without_their_status(tmp_path: Path) -> None:
    """TASK-131"""
    lines = "- [x] old ✅ 2026-01-01\n- [-] gone ❌ 2026-01-02\n- [ ] open\n- [x] undated\n"
    vault = TaskVault(tmp_path, {"A.md": lines}, {})

    def listed(**dates: str) -> list[int]:
        return [task["line"] for task in vault.list(**dates)["tasks"]]

    assert (listed(done="2026"), listed(cancelled="before 2026-02-01"), listed(done="any")) == ([1], [2], [1])
    assert (listed(done="none"), listed()) == ([3], [3])
    assert listed(done="2026", status="todo") == []
    vault.close()


# Measured cases


@needs_vectors
def test_tasks_are_listed_as_measured(tmp_path: Path) -> None:
    """TASK-131, TASK-132"""
    data = measured("list")
    wrong = []
    for name, content in data["vaults"].items():
        cases = [case for case in data["cases"] if case["vault"] == name]
        for today in {case["today"] for case in cases}:
            vault = TaskVault(tmp_path / f"{name}-{today}", content["files"], content["settings"], today)
            numbers = {(path, line): number for number, (path, line) in enumerate(content["tasks"])}
            for case in (case for case in cases if case["today"] == today):
                answer = vault.list(**case["args"], limit=500)
                found = [numbers[task["path"], task["line"]] for task in answer["tasks"]]
                while "next_offset" in answer:
                    answer = vault.list(**case["args"], limit=500, offset=answer["next_offset"])
                    found += [numbers[task["path"], task["line"]] for task in answer["tasks"]]
                if found != case["want"]:
                    wrong.append((case, found))
            vault.close()
    assert not wrong


def _answered(vault: TaskVault, **arguments: Any) -> Any:
    """The answer of a change, or the code of its error."""
    try:
        return vault.update(**arguments)
    except AppError as error:
        return error.error_code


@needs_vectors
def test_fields_are_set_and_tasks_added_as_measured(tmp_path: Path) -> None:
    """TASK-60 to TASK-66"""
    by_vault: dict[str, list[Case]] = {}
    for case in measured("edit")["cases"]:
        if case["kind"] in ("set", "add"):
            by_vault.setdefault(json.dumps([case.get("settings") or {}, case["today"]]), []).append(case)
    wrong = []
    for number, (settings_and_day, cases) in enumerate(by_vault.items()):
        files = {f"{case['id']}.md": case.get("note", f"{case.get('line')}\n") for case in cases}
        vault = TaskVault(tmp_path / str(number), files, *json.loads(settings_and_day))
        for case in cases:
            name = case["id"]
            if case["kind"] == "set":
                found = _answered(vault, name=name, line=1, **case["set"])["new"]
            else:
                arguments = {("section" if key == "heading" else key): value for key, value in case["args"].items()}
                _answered(vault, name=name, action="add", **arguments)
                found = vault.text(f"{name}.md")
            if found != case["want"]:
                wrong.append((case, found))
        vault.close()
    assert not wrong


@needs_vectors
def test_tasks_are_named_as_measured(tmp_path: Path) -> None:
    """TASK-67, TASK-70 to TASK-72"""
    wrong = []
    for case in measured("edit")["cases"]:
        if case["kind"] == "call":
            vault = TaskVault(tmp_path / case["id"], case["files"], case.get("settings") or {}, case["today"])
            answer = _answered(vault, **case["args"])
            found = answer if "error" in case else {path: vault.text(path) for path in case["want"]}
            vault.close()
            if found != case.get("error", case.get("want")):
                wrong.append((case, found))
    assert not wrong


# Naming


def test_a_task_is_named_by_place_id_block_text_or_part(vault: TaskVault) -> None:
    """TASK-70"""
    assert vault.update(name="A", line=3, status="done")["path"] == "A.md"
    assert vault.update(task="m1", status="todo")["line"] == 3
    assert vault.update(task="^br", status="done")["new"] == ["- [x] buy bread ✅ 2026-11-25 ^br"]
    assert vault.update(task="\t- [ ] rye", priority="low")["new"] == ["\t- [ ] rye 🔽"]
    assert vault.update(task="SELL", due="tomorrow")["new"][0].endswith("📅 2026-11-26")
    assert vault.update(task="plan #work/now", priority="none")["new"] == ["- [ ] plan #work/now 📅 2026-11-26"]


def test_a_name_that_no_task_has_is_refused(vault: TaskVault) -> None:
    """TASK-70"""
    with pytest.raises(TextNotFound, match=r"No task is called 'no such task'\. Name it by its text"):
        vault.update(task="no such task", status="done")


def test_a_line_that_moved_is_found_again_or_refused(vault: TaskVault) -> None:
    """TASK-71: A neighbour is never changed."""
    vault.write("A.md", "new first line\n" + FILES["A.md"])
    assert vault.update(name="A", line=3, task="buy milk", status="done")["line"] == 4
    before = vault.text("B.md")
    with pytest.raises(TextNotFound, match="Line 2"):
        vault.update(name="B", line=2, task="sell", status="done")
    with pytest.raises(TextNotUnique, match=r"B\.md:2, B\.md:3"):
        vault.update(name="B", line=1, task="same", status="done")
    with pytest.raises(TextNotFound, match="lines 1, 2, 3, 4"):
        vault.update(name="B", line=9, status="done")
    assert vault.text("B.md") == before


def test_several_tasks_of_a_name_are_refused_with_their_places(vault: TaskVault) -> None:
    """TASK-72"""
    with pytest.raises(TextNotUnique) as caught:
        vault.update(task="same", status="done")
    assert caught.value.data["places"] == ["B.md:2", "B.md:3"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"status": "done"}, "Name the task"),
        ({"line": 3, "status": "done"}, "needs `name`"),
        ({"name": "A", "line": 3}, "nothing to do"),
        ({"name": "A", "line": 3, "status": "started"}, "in_progress"),
        ({"name": "A", "line": 3, "due": "someday"}, "next friday"),
        ({"name": "A", "line": 3, "priority": "urgent"}, "highest"),
        ({"name": "A", "line": 3, "on_completion": "archive"}, "keep or delete"),
        ({"name": "A", "line": 3, "new_id": "a b"}, "letters"),
        ({"name": "A", "line": 3, "depends_on": ["a", "b c"]}, "letters"),
        ({"name": "A", "line": 3, "recurrence": "every day or so"}, "'every day'"),
        ({"name": "A", "line": 3, "text": "two\nlines"}, "one line"),
        ({"name": "A", "line": 3, "text": "- [x] new"}, "`status` sets"),
        ({"name": "A", "line": 3, "text": "- [ ] "}, "needs a text"),
        ({"name": "A", "line": 3, "section": "A", "status": "x"}, "action add"),
        ({"action": "add", "text": "x"}, "daily"),
        ({"action": "add", "name": "A", "daily": True, "text": "x"}, "daily"),
        ({"action": "add", "name": "A", "line": 3, "text": "x"}, "new one"),
        ({"action": "add", "name": "A"}, "needs a text"),
        ({"action": "add", "name": "A", "text": "x", "status": "toggle"}, "new task"),
    ],
)
def test_wrong_arguments_are_refused_with_what_is_expected(
    vault: TaskVault, arguments: dict[str, Any], says: str
) -> None:
    """TASK-65, TASK-83"""
    before = vault.text("A.md")
    with pytest.raises(InvalidArguments, match=says):
        vault.update(**arguments)
    assert vault.text("A.md") == before


# Bytes


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"due": "2026-12-24"}, "- [ ] call 📅 2026-12-24"),
        ({"due": "2026-12-01"}, "- [ ] call 📅 2026-12-01"),
        ({"priority": "high"}, "- [ ] call ⏫ 📅 2026-12-01"),
        ({"scheduled": "2026-11-30", "due": "2026-12-02"}, "- [ ] call ⏳ 2026-11-30 📅 2026-12-02"),
    ],
)
def test_a_field_in_the_text_beside_its_argument_is_one_field(
    vault: TaskVault, arguments: dict[str, str], line: str
) -> None:
    """TASK-64, TASK-66"""
    added = vault.update(action="add", name="B", text="call 📅 2026-12-01", **arguments)
    assert added["new"] == [line]
    assert "warnings" not in added


def test_the_fields_of_a_new_text_replace_those_of_the_line(vault: TaskVault) -> None:
    """TASK-64"""
    changed = vault.update(name="Sub/C", line=2, text="plan 📅 2026-12-01", due="2026-12-24")
    assert changed["new"] == ["- [ ] plan 📅 2026-12-24 🔼"]
    changed = vault.update(name="Sub/C", line=2, text="plan more 📅 2026-12-25")
    assert changed["new"] == ["- [ ] plan more 📅 2026-12-25 🔼"]
    doubled = vault.update(action="add", name="B", text="call 📅 2026-12-01 📅 2026-12-02")
    assert doubled["warnings"] == ["The line has due twice, and the first counts: leave it out of the text."]


def test_a_task_that_recurs_is_ticked_by_its_text_although_it_was_done_before(vault: TaskVault) -> None:
    """TASK-72: the open one is meant, in the whole vault, in a note, and by a part of the text."""
    done = vault.update(task="water", status="done")
    assert done["new"][0].startswith("- [ ] water")
    for named in ({"task": "water"}, {"task": "wat"}, {"task": "water", "name": "Sub/C"}):
        again = vault.update(status="done", **named)
        assert again["new"][0].startswith("- [ ] water")
        assert again["new"][1].startswith("- [x] water")


@pytest.mark.parametrize(
    ("due", "found"),
    [
        ("last 7 days", 1),
        ("in the last 7 days", 1),
        ("before last 7 days", 1),
        ("next 2 weeks", 1),
        ("since 15 november", 1),
        ("past month", 2),
        ("this month so far", 2),
        ("until 20 november", 2),
        ("by yesterday", 2),
        ("2026-11-01..2026-11-25", 2),
        ("20.11.2026", 1),
    ],
)
def test_a_list_takes_the_days_that_a_person_says(tmp_path: Path, due: str, found: int) -> None:
    """TASK-132"""
    days = ("2026-11-10", "2026-11-20", "2026-12-01")
    made = TaskVault(tmp_path, {"A.md": "".join(f"- [ ] a 📅 {day}\n" for day in days)}, {})
    assert made.list(due=due)["total"] == found
    made.close()


@pytest.mark.parametrize(
    ("line", "fields", "new"),
    [
        ("a 📅 2026-12-01", {"due": "+1 week"}, "a 📅 2026-12-08"),
        ("a 📅 2026-11-20 ⏳ 2026-11-18", {"due": "+2w", "scheduled": "-2 days"}, "a 📅 2026-12-04 ⏳ 2026-11-16"),
        ("a 🛫 2026-01-31", {"start": "+1 month"}, "a 🛫 2026-02-28"),
        ("a 🛫 2026-11-20", {"start": "in 1 week"}, "a 🛫 2026-12-02"),
        ("a 📅 2026-12-01", {"due": "tomorrow"}, "a 📅 2026-11-26"),
        ("a", {"due": "+2w"}, "a 📅 2026-12-09"),
        ("a 📅 2026-13-01", {"due": "+1y"}, "a 📅 2027-11-25"),
    ],
)
def test_a_signed_time_moves_a_date_from_where_it_is(
    tmp_path: Path, line: str, fields: dict[str, str], new: str
) -> None:
    """TASK-83"""
    made = TaskVault(tmp_path, {"A.md": f"- [ ] {line}\n"}, {})
    assert made.update(name="A", line=1, **fields)["new"] == [f"- [ ] {new}"]
    made.close()


def test_one_call_is_one_change_that_undo_takes_back(vault: TaskVault) -> None:
    """TASK-67: Fields, status and the next occurrence are one change."""
    before = vault.text("Sub/C.md")
    answer = vault.update(task="water", priority="high", status="done")
    assert answer["new"] == [
        "- [ ] water ⏫ 🔁 every week 📅 2026-11-27",
        "- [x] water ⏫ 🔁 every week 📅 2026-11-20 ✅ 2026-11-25",
    ]
    assert (answer["line"], answer["next"]["line"]) == (4, 3)
    assert answer["next"]["due"] == "2026-11-27"
    call(vault.app, "obsidian_undo", {})
    assert vault.text("Sub/C.md") == before


def test_a_dry_run_writes_nothing(vault: TaskVault) -> None:
    before = vault.text("A.md")
    answer = vault.update(task="m1", status="done", dry_run=True)
    assert answer["new"] == ["- [x] buy milk 🆔 m1 ✅ 2026-11-25"]
    assert vault.text("A.md") == before


def test_an_older_etag_is_merged_or_refused(vault: TaskVault) -> None:
    read = call(vault.app, "obsidian_read_note", {"name": "Sub/C"}).data
    vault.write("Sub/C.md", "above\n" + FILES["Sub/C.md"])
    with pytest.raises(AppError) as caught:
        vault.update(name="Sub/C", line=2, status="done", etag="0123456789abcdef")
    assert caught.value.error_code == "STALE_ETAG"
    assert read["etag"]


def test_after_a_merge_a_task_and_its_next_are_numbered_as_they_stand(vault: TaskVault) -> None:
    text = "# A\n\ntext\n\n- [ ] water 🔁 every day 📅 2026-11-25\n- [ ] rake\n"
    for task, lines in (("water", (8, 7)), ("rake", (8, None))):
        created = call(vault.app, "obsidian_create_note", {"name": "M", "content": text, "overwrite": True})
        vault.write("M.md", f"above\n\n{text}")
        answer = vault.update(task=task, name="M", status="done", etag=created.data["etag"])

        numbers = answer["line"], answer.get("next", {}).get("line")
        assert numbers == lines
        written = vault.text("M.md").split("\n")
        assert written[:2] == ["above", ""]
        assert f"[x] {task}" in written[numbers[0] - 1]


def test_line_ends_stay_and_a_deleted_task_takes_its_own_with_it(vault: TaskVault) -> None:
    """TASK-47, TASK-63"""
    vault.update(task="rye", on_completion="delete")
    answer = vault.update(task="rye", status="done")
    assert answer["deleted"]
    assert "task" not in answer
    assert vault.text("A.md") == FILES["A.md"].replace("\t- [ ] rye\r\n", "")
    kept = vault.update(task="^br", recurrence="every day", due="today", status="done")
    assert vault.text("A.md").count("\r\n") == FILES["A.md"].count("\r\n")
    assert kept["next"]["text"] == "- [ ] buy bread 🔁 every day 📅 2026-11-26"
    vault.write("L.md", "a\r\n- [ ] x 🔁 every day 📅 2026-11-26")
    vault.update(task="x", name="L", status="done")
    assert vault.text("L.md").count("\r\n") == vault.text("L.md").count("\n") == 2


def test_a_task_with_items_below_it_is_not_deleted_when_it_is_done(vault: TaskVault) -> None:
    """TASK-41"""
    vault.update(task="^br", on_completion="delete")
    answer = vault.update(task="^br", status="done")
    assert "items are indented below" in answer["warnings"][0]
    assert "bread" in vault.text("A.md")
    assert "\t- [ ] rye\r\n" in vault.text("A.md")


CHANGES = st.fixed_dictionaries(
    {"line": st.integers(1, 4)},
    optional={
        "status": st.sampled_from(["toggle", "done", "todo", "cancelled", "in_progress", "?"]),
        "due": st.sampled_from(["", "today", "2026-12-24"]),
        "priority": st.sampled_from(["none", "high", "lowest"]),
        "recurrence": st.sampled_from(["", "every 2 weeks when done", "every month"]),
        "text": st.sampled_from(["new #tag", "日本語 🎉"]),
    },
)


@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(CHANGES.filter(lambda change: len(change) > 1), max_size=5))
def test_any_changes_leave_the_other_lines_and_undo_brings_all_back(
    tmp_path: Path, changes: list[dict[str, Any]]
) -> None:
    """TASK-63, TASK-67"""
    body = "\ufeff---\nk: v\n---\r\n- [ ] one 📅 2026-02-30\ntext \t\n- [/]  two  [x:: y]\r\n"
    body += "\t- [x] three ✅ 2026-01-01\n\n> - [ ] four"
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        vault = TaskVault(Path(folder), {"n.md": body}, {})
        try:
            made = 0
            for change in changes:
                before = vault.text("n.md")
                boxes = [
                    number for number, text in enumerate(before.split("\n"), 1) if re.match(r"[\s>]*- \[.\]", text)
                ]
                answer = vault.update(**{**change, "name": "n", "line": boxes[(change["line"] - 1) % len(boxes)]})
                made += answer["changed"]
                gone, new = answer["old"][0], answer["new"]
                first, _, last = before.partition(gone)
                after = vault.text("n.md")
                assert after.startswith(first) or before.count(gone) > 1
                assert after.endswith(last) or before.count(gone) > 1
                assert after.count("\n") == before.count("\n") + len(new) - 1
            for _ in range(made):
                call(vault.app, "obsidian_undo", {})
            assert vault.text("n.md") == body
        finally:
            vault.close()


def test_bytes_that_are_no_utf8_stay(vault: TaskVault) -> None:
    """TASK-63"""
    (vault.root / "Raw.md").write_bytes(b"# H\xff\n- [ ] a \xfe b\n\xfd\n")
    answer = vault.update(name="Raw", line=2, status="done", due="today")
    assert answer["new"] == ["- [x] a \ufffd b 📅 2026-11-25 ✅ 2026-11-25"]
    [listed] = vault.list(note="Raw", status="all")["tasks"]
    assert (listed["heading"], listed["text"]) == ("H\ufffd", answer["new"][0])
    changed = "- [x] a \udcfe b 📅 2026-11-25 ✅ 2026-11-25".encode("utf-8", "surrogateescape")
    assert (vault.root / "Raw.md").read_bytes() == b"# H\xff\n" + changed + b"\n\xfd\n"


# Adding


def test_a_task_is_added_to_a_section_a_note_and_todays_note(vault: TaskVault) -> None:
    """TASK-66"""
    assert vault.update(action="add", name="Sub/C", section="Plan", text="more", due="tomorrow")["line"] == 4
    assert vault.text("Sub/C.md").splitlines()[3] == "- [ ] more 📅 2026-11-26"
    assert vault.update(action="add", name="A", text="last")["new"] == ["- [ ] last"]
    assert vault.text("A.md").endswith("end\r\n- [ ] last")
    dry = vault.update(action="add", daily=True, text="today's", dry_run=True)
    assert dry["path"] == "2026-11-25.md"
    assert not (vault.root / "2026-11-25.md").exists()
    assert vault.update(action="add", daily=True, text="today's")["new"] == ["- [ ] today's"]
    assert vault.update(action="add", daily=True, text="second", status="/")["line"] == 2
    assert vault.text("2026-11-25.md") == "- [ ] today's\n- [/] second\n"
    assert vault.update(action="add", name="daily:tomorrow", text="later")["path"] == "2026-11-26.md"
    assert vault.update(action="add", name="daily:tomorrow", text="and more")["line"] == 2


def test_a_task_is_added_only_where_it_is_one(vault: TaskVault) -> None:
    """TASK-66, TASK-64"""
    assert vault.update(action="add", name="Sub/C", text="- [ ] once")["new"] == ["- [ ] once"]
    vault.write("H.md", "<div>\n</div>\n")
    assert vault.update(action="add", name="H", text="x")["line"] == 4
    vault.write("Open.md", "```\ncode\n")
    with pytest.raises(InvalidArguments, match="open code block"):
        vault.update(action="add", name="Open", text="x")


# Lists


def test_a_list_says_once_what_is_known_of_a_task(vault: TaskVault) -> None:
    """TASK-131, TASK-133"""
    answer = vault.list(note="Sub/C", due="any", status="all", tag="#work")
    assert answer == {
        "tasks": [
            {
                "path": "Sub/C.md",
                "line": 2,
                "text": "- [ ] plan #work/now 🔼 📅 2026-11-26",
                "priority": "medium",
                "heading": "Plan",
            }
        ],
        "total": 1,
    }
    [waiting] = vault.list(blocked=True)["tasks"]
    assert (waiting["text"], waiting["blocked"], waiting.keys() & {"depends_on", "description"}) == (
        "- [ ] sell milk ⛔ m1",
        True,
        set(),
    )
    vault.write("2026-12-01 Trip.md", "- [/] pack\n")
    [inferred] = vault.list(note="2026-12-01 Trip")["tasks"]
    assert {**inferred, "path": ""} == {"path": "", "line": 1, "text": "- [/] pack", "status_type": "IN_PROGRESS"}
    [awaited] = vault.list(query="is blocking")["tasks"]
    assert awaited["blocking"]


def test_pages_follow_each_other(vault: TaskVault) -> None:
    """TASK-134"""
    vault.write("Many.md", "".join(f"- [ ] task {number} {'x' * 100} #a #b\n" for number in range(120)))
    found: list[int] = []
    offset = 0
    while offset is not None:
        page = vault.list(note="Many", limit=100, offset=offset)
        assert len(json.dumps(page, ensure_ascii=False)) < 11_000
        assert page["total"] == 120
        found += [task["line"] for task in page["tasks"]]
        offset = page.get("next_offset")
    assert found == list(range(1, 121))
    grouped = vault.list(note="Many", query="group by tags\nlimit 3", limit=4)
    assert grouped["matched"] == 120
    assert [(group["names"], len(group["tasks"])) for group in grouped["groups"]] == [(["#a"], 3), (["#b"], 1)]
    rest = vault.list(note="Many", query="group by tags\nlimit 3", limit=4, offset=grouped["next_offset"])
    assert [(group["names"], len(group["tasks"])) for group in rest["groups"]] == [(["#b"], 2)]


def test_a_task_of_half_a_megabyte_does_not_fill_the_answer(vault: TaskVault) -> None:
    """TASK-134"""
    vault.write("Long.md", f"- [ ] first {'word ' * 100_000}\n- [ ] {'#tag/of/mine ' * 5_000} second 📅 2026-11-30\n")
    page = vault.list(note="Long")
    assert len(json.dumps(page, ensure_ascii=False)) < 11_000
    by_line = {task["line"]: task for task in page["tasks"]}
    assert by_line[1]["text"].startswith("- [ ] first word word")
    assert by_line[1]["text"].endswith("… (cut)")
    assert by_line[2]["due"] == "2026-11-30"  # behind what is cut
    assert "tags" not in by_line[2]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"due": "soonish"}, QueryInvalid),
        ({"happens": "invalid"}, QueryInvalid),
        ({"query": "nonsense"}, QueryInvalid),
        ({"status": "finished"}, InvalidArguments),
        ({"priority": "urgent"}, InvalidArguments),
        ({"folder": "Nowhere"}, NoteNotFound),
        ({"note": "Nobody"}, NoteNotFound),
    ],
)
def test_wrong_lists_are_refused(vault: TaskVault, arguments: dict[str, Any], error: type[AppError]) -> None:
    """TASK-132"""
    with pytest.raises(error):
        vault.list(**arguments)


def test_settings_count_as_soon_as_they_change(vault: TaskVault) -> None:
    """TASK-01, TASK-03, TASK-40"""
    assert vault.list()["total"] == 8
    vault.write(f".obsidian/{SETTINGS_FILE}", json.dumps({"globalFilter": "#work"}))
    assert vault.list()["total"] == 1
    plain = vault.update(name="B", line=2, status="done")
    assert plain["new"] == ["- [x] same"]
    with pytest.raises(InvalidArguments, match="global filter"):
        vault.update(name="B", line=3, due="today")
    vault.write(f".obsidian/{ENABLED_PLUGINS_FILE}", "[]")
    assert vault.list(status="all")["total"] == 9
    assert vault.update(name="B", line=3, status="toggle")["new"] == ["- [x] same"]


def test_the_search_operators_find_the_same_checkboxes(vault: TaskVault) -> None:
    """TASK-02: `task:` and the list read the items of one parser."""
    vault.write("Code.md", "```\n- [ ] milk in code\n```\n%% - [ ] milk in a comment %%\n")
    for operator, status in (("task", "all"), ("task-todo", "todo"), ("task-done", "done")):
        hits = call(vault.app, "obsidian_search", {"query": f"{operator}:(milk)", "match": "exact"}).data
        listed = vault.list(text="milk", status=status)["tasks"]
        assert sorted(hit["path"] for hit in hits["hits"]) == sorted(task["path"] for task in listed)
