"""The query language (TASK-90 to TASK-121)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from obsidian_mcp.core.tasks.environment import Dependencies, Environment
from obsidian_mcp.core.tasks.query import TasksResult, parse_query
from obsidian_mcp.core.tasks.settings import TaskSettings, parse_settings
from obsidian_mcp.core.tasks.statements import QueryNote
from obsidian_mcp.core.tasks.task import Task
from obsidian_mcp.core.text.collation import collation_key
from obsidian_mcp.errors import QueryInvalid

from .vectors import TODAY, Case, measured, members, needs_vectors, query_note, settings_of, tasks_of, today_of

FILES = {
    "Work/Plan.md": """# Plan
- [ ] write report #work ⏫ 📅 2026-11-24
- [x] call Hans ✅ 2026-11-20
    - [ ] sub item 🆔 sub

> - [/] quoted ⛔ sub

## Later
- [-] dropped ❌ 2026-11-21
- [ ] no date at all
""",
    "Home.md": "- [ ] buy milk #home/kitchen 🔼 📅 2026-11-30\n- [ ] broken 📅 2026-02-30\n",
}


def run(query: str, settings: TaskSettings | None = None, note: QueryNote | None = None) -> TasksResult:
    settings = settings or TaskSettings()
    tasks = tasks_of(FILES, settings)
    return parse_query(query, environment_of(settings, TODAY, tasks), note).run_tasks_query(tasks)


def environment_of(settings: TaskSettings, today: date, tasks: Sequence[Task]) -> Environment:
    return Environment(settings, today, lambda: Dependencies.collect(tasks))


def found(query: str, settings: TaskSettings | None = None, note: QueryNote | None = None) -> list[str]:
    return [task.description.split(" #")[0] for task in run(query, settings, note).tasks]


def _vault_and_result(case: Case, vaults: Case) -> tuple[dict[tuple[str, int], int], TasksResult]:
    vault = vaults[case["vault"]]
    settings = parse_settings(members(vault["settings"]))
    tasks = tasks_of(vault["files"], settings, today_of(case))
    numbers = {(path, line): number for number, (path, line) in enumerate(vault["tasks"])}
    assert {(task.path, task.place.line) for task in tasks} == set(numbers)
    environment = environment_of(settings, today_of(case), tasks)
    return numbers, parse_query(
        case["query"], environment, query_note(vault["files"], case.get("this"))
    ).run_tasks_query(tasks)


@needs_vectors
def test_filters_find_what_the_plugin_finds_and_refuse_what_it_refuses() -> None:
    """TASK-100 to TASK-108"""
    data = measured("filters")
    wrong = []
    for case in data["cases"]:
        try:
            numbers, result = _vault_and_result(case, data["vaults"])
        except QueryInvalid as problem:
            if case["kind"] != "refuse":
                wrong.append((case, problem.message))
            continue
        answer = sorted(numbers[task.path, task.place.line] for task in result.tasks)
        if case["kind"] == "refuse" or answer != sorted(case["want"]):
            wrong.append((case, str(answer)))
    assert not wrong


@needs_vectors
def test_tasks_stand_in_the_order_and_groups_of_the_plugin() -> None:
    """TASK-110 to TASK-117"""
    data = measured("order")
    wrong = []
    for case in data["cases"]:
        numbers, result = _vault_and_result(case, data["vaults"])

        def number(task: Task, numbers: dict[tuple[str, int], int] = numbers) -> int:
            return numbers[task.path, task.place.line]

        if "want_groups" in case:
            groups = [[list(group.names), [number(task) for task in group.tasks]] for group in result.groups or ()]
            right = groups == case["want_groups"]
        else:
            right = [number(task) for task in result.tasks] == case["want"]
        matched = case.get("matched", case["total"])
        if not right or (len(result.tasks), result.matched) != (case["total"], matched):
            wrong.append((case, result))
    assert not wrong


@needs_vectors
def test_queries_are_explained_in_the_words_of_the_plugin() -> None:
    """TASK-120, TASK-121"""
    wrong = []
    for case in measured("explain")["cases"]:
        environment = environment_of(settings_of(case), today_of(case), [])
        explanation = parse_query(case["query"], environment, QueryNote(case["this"])).explanation
        if explanation != case["want"]:
            wrong.append((case, explanation))
    assert not wrong


def test_every_line_of_a_query_must_hold() -> None:
    """TASK-90, TASK-101, TASK-112"""
    assert found("not done\npath includes work") == ["quoted", "write report", "sub item", "no date at all"]
    assert found("(description includes milk) OR \\\n   (description includes hans)") == ["buy milk", "call Hans"]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("due before 2026-11-30", ["write report"]),
        ("due in 2026-11", ["write report", "buy milk"]),
        ("due date is invalid", ["broken"]),
        ("priority is above none", ["write report", "buy milk"]),
        ("tag includes home", ["buy milk"]),
        ("is blocked", ["quoted"]),
        ("is blocking", ["sub item"]),
        ("description regex matches /^(buy|call)/", ["buy milk", "call Hans"]),
        ("description regex matches /MILK/i", ["buy milk"]),
        ("heading includes later\nstatus.type is CANCELLED", ["dropped"]),
        ("NOT (not done) AND NOT (done)", []),
        ("{description includes x} XOR {description includes milk}", ["buy milk"]),
        ("group by path\nlimit groups 1\nlimit 5", ["buy milk", "quoted"]),
    ],
)
def test_filters(query: str, wanted: list[str]) -> None:
    """TASK-102, TASK-103, TASK-104, TASK-105, TASK-106, TASK-108, TASK-117"""
    assert found(query) == wanted


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("nonsense", "do not understand query"),
        ("due soonish", "do not understand due date"),
        ("happens YYYY-MM-DD", "unexpanded template"),
        ("filter by function true", "JavaScript"),
        ("sort by function task.due", "JavaScript"),
        ("view columns by function x", "JavaScript"),
        ("view wall", "view mode"),
        ("hide nothing", "hide/show option"),
        ("status.type is finished", "IN_PROGRESS"),
        ("path regex matches x", "/pattern/"),
        ("path regex matches /(/", "Parsing regular expression"),
        ("path regex matches /(a+)+b/", "repeats a repetition"),
        (f"path regex matches /{'a?' * 26}/", "26 repetitions"),
        (f"path regex matches /{'a' * 501}/", "501 characters"),
        ("path regex matches /a/q", "flags"),
        ("path includes {{query.file.path}}", "placeholder"),
        ("preset unheard_of", "this_file"),
        ("(done) AND", "Boolean combination"),
        ("(done) AND ((not done)", "no closing"),
        ("(done)) AND (not done)", "no opening"),
        ("(not done) AND NOT {done}", "delimiter"),
        ("NOT NOT (done)", "NOT stands twice"),
        ('"done" OR NOT "folder includes "Work""', "quotes"),
    ],
)
def test_mistakes_are_refused_with_their_reason(query: str, says: str) -> None:
    """TASK-95, TASK-100, TASK-105, TASK-108"""
    with pytest.raises(QueryInvalid, match=says):
        found(query)


def test_placeholders_are_filled_in_from_the_note() -> None:
    """TASK-92"""
    here = QueryNote("Work/Plan.md", {"Search": ["a", 1], "word": "milk", "none": None})
    assert len(found("path includes {{query.file.path}}", note=here)) == 6
    assert found("description includes {{query.file.property('WORD')}}", note=here) == ["buy milk"]
    assert found("description includes {{query.file.property('search')}}", note=here) == []
    assert found("description includes {{! nothing }}milk", note=here) == ["buy milk"]
    for wrong in ("query.file.property('none')", "query.file.nme", "1 + 1", "preset.unheard_of"):
        with pytest.raises(QueryInvalid, match="expanding"):
            found(f"path includes {{{{{wrong}}}}}", note=here)
    assert len(found("# {{query.file.nme}}\nnot done")) == 6


def test_presets_stand_for_their_lines() -> None:
    """TASK-93"""
    settings = TaskSettings(
        presets={"open": "# all that is open\nnot done", "top": "preset open\nlimit 1", "x": "preset x"}
    )
    assert found("preset top", settings) == ["quoted"]
    with pytest.raises(QueryInvalid, match="contains itself"):
        found("preset x", settings)


def test_the_global_query_and_the_notes_defaults_come_first() -> None:
    """TASK-96, TASK-97"""
    settings = TaskSettings(global_query="path includes Home\nlimit 1")
    assert found("not done", settings) == ["buy milk"]
    assert found("not done\nlimit 5", settings) == ["buy milk", "broken"]
    here = QueryNote("Work/Plan.md", {"TQ_extra_instructions": "ignore global query\ndone", "TQ_explain": True})
    assert found("", settings, here) == ["call Hans", "dropped"]
    tasks = tasks_of(FILES, settings)
    explanation = parse_query("", environment_of(settings, TODAY, tasks), here).explanation
    assert explanation is not None
    assert "status type is DONE" in explanation


def test_a_whole_block_is_a_query() -> None:
    """TASK-98"""
    assert found("> ```tasks\n> done\n> limit 1\n> ```\n") == ["call Hans"]
    assert found("```tasks\ndone\nlimit 1\n```") == ["call Hans"]


def test_groups_nest_and_are_sorted_by_name() -> None:
    """TASK-113, TASK-114, TASK-116"""
    result = run("group by folder\ngroup by tags reverse\nnot done")
    assert result.groups is not None
    assert [group.names for group in result.groups] == [
        ("/", "#home/kitchen"),
        ("/", "(No tags)"),
        ("Work/", "#work"),
        ("Work/", "(No tags)"),
    ]
    urgencies = run("group by urgency\npriority above none").groups
    assert urgencies is not None
    assert [group.names for group in urgencies] == [("15.26",), ("10.41",)]


def test_a_task_that_has_a_tag_twice_stands_twice_in_its_group() -> None:
    """TASK-113"""
    settings = TaskSettings()
    tasks = tasks_of({"a.md": "- [ ] a #x b #x #y\n"}, settings)
    groups = parse_query("group by tags", environment_of(settings, TODAY, tasks)).run_tasks_query(tasks).groups
    assert groups is not None
    assert [(group.names, len(group.tasks)) for group in groups] == [(("#x",), 2), (("#y",), 1)]


def test_a_priority_is_explained_as_it_was_written() -> None:
    """TASK-120"""
    explanation = parse_query("Priority is High\nexplain", environment_of(TaskSettings(), TODAY, [])).explanation
    assert explanation is not None
    assert "    priority is High\n" in explanation


@pytest.mark.parametrize(
    ("written", "explained"),
    [
        ("/a/b/", "'a\\/b' with no flags"),
        ("/a\\/b/i", "'a\\/b' with flag 'i'"),
        ("/[/]x|\\[/\\d]/mi", "'[/]x|\\[\\/\\d]' with flags 'im'"),
        ("/\\\\/$/", "'\\\\\\/$' with no flags"),
    ],
)
def test_an_expression_is_explained_as_javascript_writes_it(written: str, explained: str) -> None:
    """TASK-120"""
    query = f"path regex matches {written}\nexplain"
    explanation = parse_query(query, environment_of(TaskSettings(), TODAY, [])).explanation
    assert explanation is not None
    assert f"    using regex:     {explained}\n" in explanation


def test_a_period_in_capitals_is_the_period() -> None:
    """TASK-80, TASK-120"""
    explanation = parse_query("DUE THIS WEEK\nexplain", environment_of(TaskSettings(), TODAY, [])).explanation
    assert explanation is not None
    assert "  DUE THIS WEEK =>\n    due date is between:\n      2026-11-23 (Monday" in explanation


def test_missing_values_turn_round_with_reverse() -> None:
    """TASK-111"""
    by_due = found("sort by due\nnot done\npath includes Home")
    assert by_due == ["broken", "buy milk"]
    assert found("sort by due reverse\nnot done\npath includes Home") == by_due[::-1]


def test_texts_compare_as_in_the_app() -> None:
    """TASK-110"""
    texts = ["", " a", "_x", "-x", ".x", "(x", "+x", "9", "10", "a", "A", "á", "ab", "straße", "strassf", "z"]
    shuffled = sorted(texts, key=len, reverse=True)
    assert sorted(shuffled, key=collation_key) == texts


def test_an_odd_query_takes_no_odd_time() -> None:
    """TASK-108: Combinations are read without recursion, and nested only so deep."""
    assert found(" AND ".join(["(description includes milk)"] * 2000)) == ["buy milk"]
    assert found(f"{'(' * 3000}description includes milk{')' * 3000}") == ["buy milk"]
    with pytest.raises(QueryInvalid):
        found("([" * 500 + "done" + "])" * 500)


def test_descriptions_are_sorted_without_links_and_marks_at_their_beginning() -> None:
    """TASK-111"""
    descriptions = ["[[z|a]] 1", "**b** 2", "[[c]] 3", "*d* 4", "==e== 5", "__f__ 6", "_g_ 7", "[h](x) 8", "i 9"]
    note = "".join(f"- [ ] {description}\n" for description in reversed(descriptions))
    settings = TaskSettings()
    tasks = tasks_of({"a.md": note}, settings)

    query = parse_query("sort by description", environment_of(settings, TODAY, tasks))

    assert [task.description for task in query.run_tasks_query(tasks).tasks] == descriptions


def test_an_explanation_begins_with_the_global_filter() -> None:
    """TASK-120"""
    settings = TaskSettings(global_filter="#task")

    explanation = parse_query("explain\ndone", environment_of(settings, TODAY, [])).explanation

    assert explanation is not None
    assert explanation.startswith("Only tasks containing the global filter '#task'.\n\nExplanation of this")
