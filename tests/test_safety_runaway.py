"""Calls that want to run for ever: each ends at its limit, leaves nothing behind, and others can write (SAFE-17)."""

from __future__ import annotations

import itertools
import json
import queue
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.text import text
from obsidian_mcp.errors import StorageFailed
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.serve.raw import PATIENCE, Message, RawServer, tool_call
from tests.system import can

LIMIT = 1 if can("forks") else 3
"""Seconds that a call may take; a program that is started and not forked loads modules in its first calls."""
ANSWERED, IDLE = LIMIT + 15.0, 10.0
"""Seconds after which the answer must be there, and those that the server may work on after it.

A call that has no limit runs for minutes, so both leave room for a machine that does other work.
"""
SETTLED = 60.0
"""Seconds of processor time after which the index knows what was written."""
MOST_MEMORY = 500 * 2**20


def canvas(cards: list[dict[str, Any]]) -> str:
    return json.dumps(
        {"nodes": [{"id": f"n{n}", "x": 0, "y": 0, "type": "text", **card} for n, card in enumerate(cards)]}
    )


def listed(numbers: int) -> str:
    return ", ".join(map(str, range(numbers)))


FILES = {
    ".obsidian/community-plugins.json": '["templater-obsidian"]',
    ".obsidian/plugins/templater-obsidian/data.json": '{"templates_folder": "T"}',
    ".obsidian/daily-notes.json": '{"template": "T/Level 0", "folder": ""}',
    **{f"T/Level {n}.md": f'<% tp.file.include("[[Level {n + 1}]]") %>' * 30 for n in range(9)},
    "T/Level 9.md": "x",
    "T/Nested.md": "<% " + "tp.file.exists(" * 5_000 + '"a"' + ")" * 5_000 + " %>",
    "T/Content.md": "<% tp.file.content %>" * 2_000,
    "T/Joined.md": "<% " + "+".join(["tp.file.content"] * 2_000) + " %>",
    "T/Dates.md": '<% tp.date.now("dddd") %>\n' * 70_000,
    "T/Open.md": "{{date:" * 50_000,
    "Text.md": "y" * 4_000_000,
    "Ab.md": "ab" * 2_000_000,
    "Dashes.md": "-" * 300_000,
    "Lines.md": "\n".join(f"{n}{'abcab' * 600}" for n in range(1_000)),
    "Headings.md": "".join(f"# {n}{'abcab' * 600}\n" for n in range(1_000)),
    "Tabs.md": "".join("\t" * n + "- x\n" for n in range(800)),
    "Items.md": ("- " * 99 + "x\n") * 1_500,
    "Lazy.md": "- " * 99 + "x\n" + "lazy\n" * 20_000,
    "Quotes.md": "> " * 99 + "x\n" + "lazy\n" * 20_000,
    "Big.md": f"---\nbig: [{listed(20_000)}]\n---\n",
    "Fields.md": "".join(f"key{n}:: value\n" for n in range(20_000)),
    "Tasks.md": "".join(f"- [ ] task {n} 🆔 i{n} ⛔ i{n + 1}\n" for n in range(5_000)),
    "Blanks.md": "---\na: |\n" + "  x" + " \t" * 100_000 + "\n---\n",
    "Cards.canvas": canvas([{"text": "x", "y": 100 * n, "width": 250, "height": 60} for n in range(10_000)]),
    "Groups.canvas": canvas([{"type": "group", "width": 10_000 - n, "height": 9_000 - n} for n in range(8_000)]),
    "Full.canvas": canvas(
        [
            {"type": "group", "width": 40_000, "height": 40_000},
            *({"text": "x", "x": 44 * n, "y": 44 * n, "width": 9, "height": 9} for n in range(900)),
            {"text": "x", "x": 20, "y": 20, "width": 39_960, "height": 39_960},
        ]
    ),
    "One place.canvas": canvas([{"type": "group", "width": 9, "height": 9}] * 4_000),
}

Calls = list[tuple[str, dict[str, Any]]]


def queries(language: str, *texts: str) -> Calls:
    return [("query", {"query": text, "language": language}) for text in texts]


CALLS: Calls = [
    ("create_note", {"name": "Made", "template": "Level 0"}),
    ("insert_template", {"name": "Good", "template": "Level 0"}),
    ("daily_note", {"create": True}),
    ("create_note", {"name": "Made", "template": "Nested"}),
    ("create_note", {"name": "Made", "template": "Dates"}),
    ("create_note", {"name": "Open", "template": "Open"}),
    ("insert_template", {"name": "Text", "template": "Content"}),
    ("insert_template", {"name": "Text", "template": "Joined"}),
    *(("read_note", {"name": name, "view": "metadata"}) for name in ("Tabs", "Items", "Lazy", "Quotes", "Blanks")),
    *queries(
        "dataview",
        'TABLE WITHOUT ID map([[Big]].big, (x) => [[Big]].big) FROM "Big"',
        'TABLE WITHOUT ID filter([[Big]].big, (x) => contains([[Big]].big, 0 - x)) FROM "Big"',
        'TABLE WITHOUT ID display("' + "[[" * 20_000 + '") FROM "Big"',
        'TABLE WITHOUT ID display("' + "*" * 40_000 + '") FROM "Big"',
        'TABLE WITHOUT ID map([[Big]].big, (x) => regextest("(a|aa)+$", "' + "a" * 40 + '!")) FROM "Big"',
        'TABLE WITHOUT ID unique(map([[Big]].big, (x) => [[Big]].big)) FROM "Big"',
        'TABLE WITHOUT ID rows FROM "" FLATTEN file.tasks AS t GROUP BY t',
        'LIST WHERE "' + '\\"' * 50_000,
    ),
    ("query", {"query": 'TABLE WITHOUT ID this FROM "Fields"', "language": "dataview", "this": "Fields"}),
    *queries(
        "tasks",
        "(" * 50_000,
        "description includes {{a" * 20_000,
        "description regex matches /(t|ta|tas|task)*!/",
        "is blocked",
    ),
    *queries(
        "base",
        *(
            f"formulas:\n  f: '{formula}'\nviews:\n  - type: table\n    name: T\n    order: [formula.f]\n"
            for formula in (
                'file("Big").properties.big.map(file("Big").properties.big)',
                'file("Big").properties.big.reduce(acc + acc, "a")',
                'number("' + "1" * 100_000 + 'x")',
                'duration("' + " " * 50_000 + '1")',
            )
        ),
        "a: " + "[" * 50_000,
        "x" + "\n" * 200_000 + "y",
    ),
    ("read_canvas", {"name": "Cards.canvas"}),
    ("read_canvas", {"name": "Groups.canvas"}),
    ("read_canvas", {"name": "One place.canvas"}),
    ("edit_canvas", {"name": "Cards.canvas", "operations": [{"op": "remove", "card": f"n{n}"} for n in range(5_000)]}),
    ("edit_canvas", {"name": "Full.canvas", "operations": [{"op": "add", "type": "text", "text": "x", "group": "n0"}]}),
    ("replace", {"find": "ab", "content": "b" * 600, "names": ["Ab"]}),
    ("replace", {"find": "a", "content": "$`" * 50, "regex": True, "names": ["Ab"]}),
    ("edit_note", {"name": "Ab", "operation": "replace_text", "find": "a", "all": True, "content": "b" * 2_000}),
    ("edit_note", {"name": "Dashes", "operation": "replace_text", "find": "\u2013" * 900 + "b", "content": ""}),
    ("edit_note", {"name": "Ab", "operation": "replace_text", "find": "ab" * 900 + "c", "content": ""}),
    ("edit_note", {"name": "Lines", "operation": "replace_text", "find": "abcba" * 600, "content": ""}),
    ("read_note", {"name": "Headings", "section": "abcba" * 600}),
    ("search", {"query": "/(a|aa)+$/", "match": "exact"}),
    ("search", {"query": "/a{" + "1" * 50_000 + "/"}),
    ("search", {"query": "/" + "(?<" * 20_000 + "/"}),
    ("list_tasks", {"blocked": True}),
]


class Probe:
    """A server on hostile notes, asked as a client asks it."""

    def __init__(self, server: RawServer) -> None:
        self._server = server
        self._process = psutil.Process(server.process.pid)
        self._ids = itertools.count(1)
        self.memory = 0

    def _processes(self) -> list[psutil.Process]:
        return [self._process, *self._process.children(recursive=True)]

    def ask(self, tool: str, arguments: dict[str, Any], seconds: float) -> Message:
        """The answer to a call; `memory` is the largest of the server's processes meanwhile."""
        number, end, self.memory = next(self._ids), time.monotonic() + seconds, 0
        self._server.send(tool_call(number, f"obsidian_{tool}", arguments))
        processes: list[psutil.Process] = []
        for look in itertools.count():
            if time.monotonic() >= end:
                break
            if look % 10 == 0:
                processes = self._processes()  # reads every process of the system
            for process in processes:
                with suppress(psutil.Error):
                    self.memory = max(self.memory, process.memory_info().rss)
            with suppress(queue.Empty):
                answer = json.loads(self._server.lines.get(timeout=0.02) or "{}")
                assert answer, f"the server has ended: {self._server.stderr()}"
                if answer.get("id") == number:
                    return dict(answer)
        raise AssertionError(f"no answer to {tool} {str(arguments)[:200]} after {seconds:g} s")

    def used(self) -> float:
        """Seconds of processor time that the server's processes have used."""
        times = []
        for process in self._processes():
            with suppress(psutil.Error):
                times.append(process.cpu_times())
        return sum(used.user + used.system for used in times)

    def is_idle_within(self, seconds: float) -> bool:
        """Whether a tenth of a second comes in which the processes hardly work, before they have worked for so long.

        Their own time is counted, because a busy machine gives them less of it.
        """
        begin = before = self.used()
        while before - begin < seconds:
            since = time.monotonic()
            with suppress(psutil.TimeoutExpired):
                self._process.wait(0.1)
            used = self.used()
            if used - before < 0.2 * (time.monotonic() - since):
                return True
            before = used
        return False


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Probe]:
    folder = tmp_path_factory.mktemp("runaway")
    root = folder / "vault"
    for path, content in {**FILES, "Good.md": "a good note\n"}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content.encode())
    builder = app_on(root)  # a server would build the index beside the first calls, and both would work for minutes
    builder.vaults.get().indexer.complete()
    builder.vaults.close()
    own = {
        "HOME": str(folder),
        "OBSIDIAN_MCP_CACHE": str(folder / "cache"),
        "OBSIDIAN_MCP_STATE": str(folder / "state"),
        "OBSIDIAN_MCP_TIMEOUT": str(LIMIT),
    }
    with RawServer([sys.executable, "-m", "obsidian_mcp", "--vault", str(root)], env=own) as server:
        server.initialize()
        probe = Probe(server)
        probe.ask("search", {"query": "good"}, PATIENCE)
        assert probe.is_idle_within(SETTLED)
        yield probe


@pytest.mark.parametrize(
    ("tool", "arguments"), CALLS, ids=[f"{number} {tool}" for number, (tool, _) in enumerate(CALLS)]
)
def test_a_call_that_wants_to_run_for_ever_ends_and_leaves_nothing_behind(
    probe: Probe, tool: str, arguments: dict[str, Any]
) -> None:
    assert probe.is_idle_within(SETTLED)  # what an earlier call wrote is in the index
    answer = probe.ask(tool, arguments, ANSWERED)
    memory = probe.memory
    written = probe.ask("edit_note", {"name": "Good", "operation": "append", "content": "line"}, ANSWERED)

    assert answer.get("error", {}).get("code") != -32603
    assert not written.get("result", {"isError": True})["isError"], written
    assert memory < MOST_MEMORY
    assert probe.is_idle_within(IDLE)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/Note.md").write_bytes(b"a" * 1_000)
    opened = app_on(tmp_path / "vault")
    yield opened
    opened.vaults.close()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("replace", {"find": "a", "content": "b" * 70, "names": ["Note"]}),
        ("replace", {"find": "a", "content": "é" * 35, "names": ["Note"]}),
        ("edit_note", {"name": "Note", "operation": "replace_text", "find": "a", "content": "b" * 70, "all": True}),
        ("edit_note", {"name": "Note", "operation": "append", "content": "b" * 65_000}),
        ("create_note", {"name": "New", "content": "b" * 70_000}),
        ("set_properties", {"names": ["Note"], "properties": {"key": "b" * 70_000}}),
    ],
)
def test_a_file_that_could_not_be_read_back_is_refused(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, arguments: dict[str, Any]
) -> None:
    """SAFE-24"""
    monkeypatch.setattr(text, "MAX_FILE_BYTES", 2**16)

    with pytest.raises(StorageFailed, match="would be larger than 65,536 bytes"):
        call(app, f"obsidian_{tool}", arguments)

    assert {file.name: file.read_bytes() for file in (tmp_path / "vault").glob("*.md")} == {"Note.md": b"a" * 1_000}


def test_a_change_is_undone_although_others_have_made_its_file_too_large_to_read(app: App, tmp_path: Path) -> None:
    """SAFE-24"""
    note = tmp_path / "vault/New.md"
    call(app, "obsidian_create_note", {"name": "New", "content": "mine\n"})
    call(app, "obsidian_edit_note", {"name": "New", "operation": "append", "content": "more"})
    with note.open("ab") as file:
        file.write(b"x" * (text.MAX_FILE_BYTES + 1))

    call(app, "obsidian_undo", {"wins": "undo"})
    assert note.read_bytes() == b"mine\n"
    call(app, "obsidian_undo", {})
    assert not note.exists()
