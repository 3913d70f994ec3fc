"""After a TIMEOUT nothing holds up another writer, whatever the call was about (SAFE-17, SAFE-19, SAFE-24)."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.core.text.digest import etag_of
from obsidian_mcp.errors import AppError, OperationTimeout
from obsidian_mcp.tools.registry import OUR_TOOLS, call
from tests.adapters.app_desk import composed, environment
from tests.conftest import app_on
from tests.vaults import write_files

LIMIT = 0.2
"""Seconds that a call may take."""
OVERTIME = 5.0
"""Seconds of processor time that it may take beyond that, in which it notices.

Steps such as parsing one JSON file are not interrupted, and two busy processes on one core double their time.
A case that ignores its limit works for tens of seconds.
"""
MAKES_A_PLAN = "obsidian_apply_plan"
"""It works nothing out: its plan says which bytes are written, and it is refused where a file has changed since."""
WRITE = 2.0
"""Seconds after the limit in which another server has to be able to write."""

Call = tuple[str, dict[str, Any]]


class Case(NamedTuple):
    """A call that wants longer than its limit, on a vault of its own."""

    tool: str
    arguments: Callable[[], dict[str, Any]]
    files: Callable[[], dict[str, str]]
    before: tuple[Call, ...] = ()
    """Calls that are made before, without a limit."""
    is_indexed: bool = False
    """The index knows the files before: the call waits for it."""
    is_too_large: bool = False
    """Refused for its size, before its limit."""
    needs_app: bool = False
    """The running app, which hangs, is asked."""


def table(rows: int, columns: int = 2) -> str:
    row = "|".join(f" {number} " for number in range(columns))
    return f"|{row}|\n|{'---|' * columns}\n" + f"|{row}|\n" * rows


def board(cards: int, lost: int) -> str:
    properties = "---\nkanban-plugin: board\n---\n\n## A\n\n"
    return properties + "- [ ] card\n" * cards + "\n" + "".join(f"lost {number}\n" for number in range(lost))


def canvas(cards: int) -> str:
    places = ((f"n{number}", 100 * number) for number in range(cards))
    return json.dumps({"nodes": [{"id": id_, "type": "text", "text": "x", "x": 0, "y": y} for id_, y in places]})


def bookmarks(count: int) -> str:
    return json.dumps({"items": [{"type": "file", "ctime": n, "path": f"{n}.md"} for n in range(count)]})


def note(text: str) -> Callable[[], dict[str, str]]:
    return lambda: {"N.md": text}


def given(**arguments: Any) -> Callable[[], dict[str, Any]]:
    return lambda: arguments


def edit(operation: str, text: Callable[[], str], **arguments: Any) -> Case:
    """An edit of a note; `text` makes it when the case is tried."""
    return Case("edit_note", given(name="N", operation=operation, **arguments), lambda: {"N.md": text()})


def table_case(operations: Callable[[], list[dict[str, Any]]], rows: int, columns: int = 2) -> Case:
    return Case(
        "edit_table",
        lambda: {"name": "N", "operations": operations()},
        lambda: {"N.md": table(rows, columns)},
    )


def lines(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(count))


def headings() -> str:
    return "".join(f"# h {number}\n" for number in range(60_000))


def paragraphs(word: str, count: int = 10_000) -> str:
    return "".join(f"{word} {number} [[Good]]\n\n" for number in range(count))


CASES = {
    "set by number": table_case(
        lambda: [{"op": "set", "row": n + 1, "column": 1, "value": "x"} for n in range(20_000)], 60_000
    ),
    "set by cells": table_case(
        lambda: [{"op": "set", "row": {"0": "0", "1": str(n)}, "column": 1, "value": "x"} for n in range(5_000)], 60_000
    ),
    "move columns": table_case(
        lambda: [{"op": "move_column", "column": n + 1, "at": 3_000 - n} for n in range(300)], 100, 3_000
    ),
    "sort again and again": table_case(lambda: [{"op": "sort", "column": 1}] * 500, 20_000),
    "add columns": table_case(lambda: [{"op": "add_column", "column": f"n{n}"} for n in range(500)], 5_000),
    "lines that are no cards": edit("append_section", lambda: board(1, 400_000), section="A", content="- [ ] x"),
    "very many cards": edit("append_section", lambda: board(100_000, 0), section="A", content="- [ ] x"),
    "section of many headings": edit("replace_section", headings, section="h 59999", content="x"),
    "no such section": edit("prepend_section", headings, section="nowhere", content="x"),
    "remove one of many": edit("remove_section", headings, section="h 59999"),
    "add behind one of many": edit("add_after_section", headings, section="h 59999", content="x"),
    "prepend to a long list": edit("prepend", lambda: "- a\n  b\n" * 150_000, content="- x"),
    "append behind lines that may be code": edit("append", lambda: "~~~\n" + "```\n" * 400_000, content="x"),
    "append to what is nearly full": edit("append", lambda: "a\n" * 33_000_000, content="x" * 2_000_000)._replace(
        is_too_large=True
    ),
    "append to a section of it": edit(
        "append_section", lambda: "# A\n" + "é" * 33_000_000, section="A", content="x" * 2_000_000
    )._replace(is_too_large=True),
    "text that is nowhere": edit("replace_text", lambda: lines(900_000), find="no such text\n", content=""),
    "rename a heading": Case(
        "edit_note",
        given(name="N", operation="rename_heading", section="A", content="B"),
        lambda: {"N.md": "# A\n" + "[[#A]] " * 30_000 + "\n# h\n" * 2_000},
        is_indexed=True,
    ),
    "an older version": Case(
        "edit_note",
        lambda: {
            "name": "N",
            "operation": "prepend",
            "content": "x",
            "etag": etag_of(lines(100_000).encode()),
        },
        lambda: {"N.md": lines(100_000)},
        before=(
            (
                "edit_note",
                {
                    "name": "N",
                    "operation": "replace_text",
                    "find": "7\n",
                    "all": True,
                    "content": "x\n",
                },
            ),
        ),
    ),
    "replace": Case("replace", given(find="(a|b)+", content="$1", regex=True, names=["N"]), note("ab c" * 400_000)),
    "a task": Case(
        "update_task",
        given(name="N", line=3, status="done"),
        lambda: {"N.md": "".join(f"- [ ] task {number} [[Good]]\n" for number in range(60_000))},
    ),
    "a new task": Case(
        "update_task", given(name="N", action="add", text="new", section="h 59999"), lambda: {"N.md": headings()}
    ),
    "a daily note": Case(
        "daily_note",
        given(content="x", section="nowhere", date="2026-01-01"),
        lambda: {"2026-01-01.md": headings()},
    ),
    "a template": Case(
        "insert_template",
        given(template="T", name="N", section="h 59999", position="section"),
        lambda: {"T.md": "x", "N.md": headings()},
    ),
    "a new note": Case(
        "create_note", given(name="New", template="T"), lambda: {"T.md": "{{date:dddd}} {{title}}\n" * 300_000}
    ),
    "a canvas": Case(
        "edit_canvas",
        lambda: {"name": "N.canvas", "operations": [{"op": "edit", "card": f"n{n}", "text": "y"} for n in range(500)]},
        lambda: {"N.canvas": canvas(20_000)},
    ),
    "cards beside others": Case(
        "edit_canvas",
        lambda: {"name": "N.canvas", "operations": [{"op": "add", "type": "text", "text": "y", "beside": "n0"}] * 500},
        lambda: {"N.canvas": canvas(3_000)},
    ),
    "bookmarks": Case(
        "edit_bookmarks",
        given(action="add", target="Good"),
        lambda: {".obsidian/bookmarks.json": bookmarks(40_000)},
    ),
    "properties": Case(
        "set_properties",
        lambda: {"names": ["N"], "properties": {f"key{number}": number for number in range(2_000)}},
        note("x\n"),
    ),
    "a merge": Case(
        "compose_notes",
        given(action="merge", name="N", into="M"),
        lambda: {"N.md": paragraphs("one"), "M.md": paragraphs("two")},
        is_indexed=True,
    ),
    "an extract": Case(
        "compose_notes",
        given(action="extract", name="N", part="100-15000", into="New"),
        lambda: {"N.md": paragraphs("one", 15_000), "M.md": "[[N]] " * 15_000},
        is_indexed=True,
    ),
    "a move": Case(
        "move_note",
        given(name="Good", to="Sub/Better"),
        lambda: {f"{number}.md": paragraphs("one") for number in range(2)},
        is_indexed=True,
    ),
    "mentions": Case(
        "link_mentions", given(name="Good"), note("a good thing, and a Good one\n" * 100_000), is_indexed=True
    ),
    "a tag": Case("rename_tag", given(tag="tag", to="gat"), note("#tag and " * 45_000), is_indexed=True),
    "a deletion": Case(
        "delete_note",
        given(name="N", attachments=True),
        lambda: {"N.md": "".join(f"![[{n}.png]]\n" for n in range(40_000)), **{f"{n}.png": "" for n in range(1_500)}},
        is_indexed=True,
    ),
    "an undo": Case(
        "undo",
        given(change=1, wins="both"),
        lambda: {"N.md": lines(60_000)},
        before=(
            ("edit_note", {"name": "N", "operation": "replace_text", "find": "line 5", "all": True, "content": "x"}),
            ("edit_note", {"name": "N", "operation": "replace_text", "find": "line 7", "all": True, "content": "y"}),
        ),
    ),
    "a note in the app": Case("open_note", given(name="N"), note("x"), needs_app=True),
    "a command of the app": Case("app_command", given(command="app:reload"), note("x"), needs_app=True),
    "a batch": Case(
        "batch",
        lambda: {
            "calls": [
                {
                    "tool": "edit_table",
                    "arguments": {"name": "N", "operations": [{"op": "sort", "column": 1}] * 500},
                }
            ]
        },
        note(table(20_000)),
    ),
    "an attachment": Case(
        "add_attachment",
        lambda: {"name": "a.bin", "data": base64.b64encode(b"x" * (33 * 2**20)).decode()},
        note("x"),
        is_too_large=True,
    ),
}


def test_every_tool_that_writes_is_tried_with_more_than_its_limit() -> None:
    writing = {tool.name for tool in OUR_TOOLS.values() if not tool.read_only}

    assert {f"obsidian_{case.tool}" for case in CASES.values()} == writing - {MAKES_A_PLAN}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[Case], tuple[App, App]]]:
    """Opens two servers on the vault of a case."""
    apps: list[App] = []

    def open_both(case: Case) -> tuple[App, App]:
        root = write_files(tmp_path / "vault", {"Good.md": "a good note\n", **case.files()})
        if case.needs_app:
            apps.append(composed(root, environment(tmp_path, root, hang=True)))
        else:
            apps.append(app_on(root))
        apps.append(app_on(root))
        return apps[0], apps[1]

    yield open_both
    for app in apps:
        app.vaults.close()


class Overrun(threading.Thread):
    """Makes a call with a limit, and says how much processor time it took."""

    def __init__(self, app: App, tool: str, arguments: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self._call = app, f"obsidian_{tool}", arguments
        self.error: AppError | None = None
        self.seconds = 0.0

    def run(self) -> None:
        begin = time.thread_time()
        try:
            with call_with(limit=Deadline(LIMIT)):
                call(*self._call)
        except AppError as error:
            self.error = error
        self.seconds = time.thread_time() - begin


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_after_a_timeout_another_server_writes(opened: Callable[[Case], tuple[App, App]], case: Case) -> None:
    app, other = opened(case)
    arguments = case.arguments()
    for tool, earlier in case.before:
        call(app, f"obsidian_{tool}", earlier)
    if case.is_indexed:
        app.vaults.get().indexer.complete()
    other.vaults.get()
    overrun = Overrun(app, case.tool, arguments)

    overrun.start()
    overrun.join(LIMIT)
    with call_with(limit=Deadline(WRITE)):
        call(other, "obsidian_edit_note", {"name": "Good", "operation": "append", "content": "a line"})
    overrun.join(60)

    assert overrun.error is not None, "it did not take longer than its limit"
    assert isinstance(overrun.error, OperationTimeout) != case.is_too_large, overrun.error.message
    assert overrun.seconds < LIMIT + OVERTIME
