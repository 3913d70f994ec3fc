"""What people ask assistants for, each as the calls that do it (docs/assistant-tasks.md, TOOL-22)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.cli.headless.command import run_drop_in
from obsidian_mcp.cli.headless.words import COMMANDS
from obsidian_mcp.cli.options import Options
from obsidian_mcp.tools.registry import call
from tests.generated import ROOT, check_section
from tests.tools.conftest import Opened, opened  # noqa: F401  a fixture

SOUP = "Peel two onions, fry them in butter, add a litre of stock and let it simmer for half an hour."
ITEMS = ["lamp oil", "brass rods", "spring steel", "sandpaper"] * 40
LEDGER = "".join(
    f"| 2026-{month:02} | {item} | {number * month} |\n"
    for month in range(1, 13)
    for number, item in enumerate(ITEMS, 1)
)
BREAD = "Knead flour, yeast, salt and lukewarm milk to a smooth dough, and bake it for fifty minutes in a hot oven."
BOARD = json.dumps(
    {
        "nodes": [
            {"id": "g", "type": "group", "label": "People", "x": 0, "y": 0, "width": 700, "height": 300},
            {"id": "a", "type": "text", "text": "Idea", "x": 20, "y": 20, "width": 200, "height": 60},
        ],
        "edges": [],
    }
)
VAULT: dict[str, str] = {
    "Journal/2026-11-22.md": "# Sunday\n\n## Decisions\n\n## Later\n",
    "Journal/2026-11-19.md": "Met Anna about Heron. #log\n",
    "Templates/Meeting.md": "---\ntype: meeting\n---\n# {{title}}\n{{date}}\n\n## Agenda\n",
    "Projects/Heron.md": "---\nstatus: active\n---\n# Heron\n\n#project/heron [[Anna]]\n\n"
    "- [ ] Order brass 📅 2026-11-20\n",
    "Projects/Kite.md": "# Kite #Done\n\nSee [[Heron#Heron|the bird]].\n",
    "Projects/Loom.md": "# Loom\n\n#done/old #to-do\n",
    "Projects/Ledger.md": f"# Ledger\n\n| month | item | cost |\n| ----- | ---- | ---: |\n{LEDGER}",
    "People/Anna.md": "---\naliases: [Anna Berg]\n---\nWorks on [[Projects/Heron]] and [[Kites]].\n",
    "Notes/Walk.md": "With Anna Berg along the [[Hreon]] river. Heron was there, says [[Anna Bergh]]. #todo\n",
    "Notes/Tasks.md": "- [ ] Call the dentist 📅 2026-11-18\n- [ ] Pay rent 📅 2026-12-01\n"
    "- [x] Post letter ✅ 2026-11-18\n",
    "Notes/Soup.md": f"{SOUP}\n",
    "Notes/Onion soup.md": f"{SOUP}\n\nSalt.\n",
    "Notes/Bread.md": f"{BREAD}\n",
    "Notes/White bread.md": f"{BREAD}\n\nWater.\n",
    "Board.canvas": BOARD,
}


@dataclass
class Session:
    """An assistant's calls on the vault, with the bytes that went to and fro."""

    app: App
    root: Path
    calls: list[tuple[str, int]] = field(default_factory=list)

    def run(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        outcome = call(self.app, f"obsidian_{tool}", arguments)
        encoded = json.dumps(arguments, ensure_ascii=False)
        size = len(encoded.encode()) + sum(len(part.encode()) for part in outcome.contents())
        self.calls.append((f"obsidian_{tool} {encoded}", size))
        return outcome.to_full_data()

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def notes(self) -> dict[str, bytes]:
        return {path: (self.root / path).read_bytes() for path in self.paths() if not path.startswith(".")}

    def paths(self) -> set[str]:
        return {path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file()}


def note_a_decision(session: Session) -> None:
    calls = [
        {"tool": "daily_note", "content": "We launch in May.", "position": "section", "section": "Decisions"},
        {"tool": "update_task", "action": "add", "name": "Heron", "text": "Tell Anna", "due": "friday"},
    ]
    session.run("batch", calls=calls)

    note = session.text("Journal/2026-11-22.md")
    assert "## Decisions\nWe launch in May.\n## Later\n" in note.replace("\n\n", "\n")
    assert session.text("Projects/Heron.md").endswith("- [ ] Tell Anna 📅 2026-11-27\n")


def rename_a_project(session: Session) -> None:
    calls = [
        {"tool": "move_note", "name": "Heron", "to": "Egret"},
        {"tool": "rename_tag", "tag": "project/heron", "to": "project/egret"},
        {"tool": "replace", "query": "Heron", "find": "Heron", "content": "Egret"},
    ]
    session.run("batch", calls=calls)

    everything = "".join(session.text(path) for path in session.paths() if path.endswith(".md"))
    assert "heron" not in everything.lower()
    assert "See [[Egret#Egret|the bird]]." in session.text("Projects/Kite.md")
    assert "Works on [[Egret]]" in session.text("People/Anna.md")


def repair_links(session: Session) -> None:
    found = session.run("graph", question="unresolved")["unresolved"]
    calls = [
        {
            "tool": "edit_note",
            "name": link["path"],
            "operation": "replace_text",
            "find": link["link"],
            "content": link["did_you_mean"],
        }
        for link in found
    ]
    session.run("batch", calls=calls)

    assert "and [[Kite]]." in session.text("People/Anna.md")
    assert "the [[Heron]] river" in session.text("Notes/Walk.md")
    assert "says [[Anna]]" in session.text("Notes/Walk.md")


def review_the_week(session: Session) -> None:
    found = session.run("list_tasks", query="(done after 2026-11-15) OR ((not done) AND (due before today))")
    late = [task for task in found["tasks"] if "- [ ]" in task["text"]]
    content = f"## Review\n{found['total'] - len(late)} done, {len(late)} late\n"
    calls: list[dict[str, Any]] = [{"tool": "daily_note", "period": "weekly", "content": content}]
    calls += [{"tool": "update_task", "name": task["path"], "line": task["line"], "due": "friday"} for task in late]
    session.run("batch", calls=calls)

    assert "1 done, 2 late" in session.text("Weeks/2026-W47.md")
    assert "Call the dentist 📅 2026-11-27" in session.text("Notes/Tasks.md")
    assert "Order brass 📅 2026-11-27" in session.text("Projects/Heron.md")


def link_unlinked_mentions(session: Session) -> None:
    session.run("batch", calls=[{"tool": "link_mentions", "name": name} for name in ("Anna", "Heron")])

    assert session.text("Journal/2026-11-19.md") == "Met [[Anna]] about [[Heron]]. #log\n"
    assert session.text("Notes/Walk.md").startswith("With [[Anna|Anna Berg]] along the [[Hreon]] river. [[Heron]] was")


def merge_duplicates(session: Session) -> None:
    (found,) = session.run("check", only="near_duplicates")["results"]
    pairs = [(finding["path"], finding["text"].split("the same as ")[1]) for finding in found["findings"]]
    merges = [{"tool": "compose_notes", "action": "merge", "name": name, "into": into} for name, into in pairs]
    session.run("batch", calls=merges)

    assert len(pairs) == 2
    for name, into in pairs:
        assert name not in session.paths()
        assert session.text(into).count(SOUP) + session.text(into).count(BREAD) == 1


def prepare_a_meeting(session: Session) -> None:
    session.run(
        "create_note",
        name="Notes/Launch",
        template="Meeting",
        content="- venue",
        date="tomorrow",
        properties={"attendees": ["[[Anna]]"]},
    )

    assert session.text("Notes/Launch.md") == (
        '---\ntype: meeting\nattendees:\n  - "[[Anna]]"\n---\n# Launch\n2026-11-23\n\n## Agenda\n- venue\n'
    )


def put_a_card_on_the_board(session: Session) -> None:
    card = {"op": "add", "type": "file", "file": "People/Anna.md", "beside": "Idea", "side": "right"}
    edge = {"op": "connect", "from": "Idea", "to": "People/Anna.md"}
    session.run("edit_canvas", name="Board", operations=[card, edge])

    board = json.loads(session.text("Board.canvas"))
    assert [node.get("file") for node in board["nodes"]] == [None, None, "People/Anna.md"]
    assert [edge["fromNode"] for edge in board["edges"]] == ["a"]


def correct_a_cell(session: Session) -> None:
    row = {"month": "2026-11", "item": "sandpaper", "cost": "1760"}
    session.run("edit_table", name="Ledger", operations=[{"op": "set", "row": row, "column": "cost", "value": "1716"}])

    assert "| 2026-11 | sandpaper | 1716 |" in session.text("Projects/Ledger.md")
    assert "| 1760 |" not in session.text("Projects/Ledger.md")


def set_different_properties(session: Session) -> None:
    values = {"Kite": {"status": "done"}, "Loom": {"status": "paused", "since": "2026-11-22"}}
    calls = [{"tool": "set_properties", "names": [name], "properties": given} for name, given in values.items()]
    session.run("batch", calls=calls)

    assert session.text("Projects/Kite.md").startswith("---\nstatus: done\n---\n")
    assert session.text("Projects/Loom.md").startswith("---\nstatus: paused\nsince: 2026-11-22\n---\n")


def clean_up_tags(session: Session) -> None:
    tags = [tag["tag"].removeprefix("#") for tag in session.run("tags")["tags"]]
    renamed = {"to-do": "todo", "done/old": "done", "Done": "done"}
    assert renamed.keys() <= set(tags)
    session.run("batch", calls=[{"tool": "rename_tag", "tag": tag, "to": to} for tag, to in renamed.items()])

    assert "# Kite #done\n" in session.text("Projects/Kite.md")
    assert "#done #todo\n" in session.text("Projects/Loom.md")


def see_around_a_note(session: Session) -> None:
    found = session.run("read_note", name="Heron", view="context")

    assert found["properties"] == {"status": "active"}
    assert {link["path"] for link in found["backlinks"]} >= {"People/Anna.md", "Projects/Kite.md"}
    assert "Order brass" in str(found["open_tasks"])
    assert found["unlinked_mentions"] == 2


@dataclass(frozen=True)
class Task:
    phrase: str
    run: Callable[[Session], None]
    official: tuple[str, ...]
    """Lines of the app's own command that do the same; `@path` stands for the text that a file has in the end."""
    same: bool = True
    """Whether they lead to the same files."""


def rewritten(*paths: str) -> tuple[str, ...]:
    """The lines that change something in the middle of notes: read each, write it again."""
    return tuple(
        line for path in paths for line in (f"read path={path}", f"create path={path} content=@{path} overwrite")
    )


JOURNAL = "Journal/2026-11-22.md"
TASKS = [
    Task(
        "Note our decision to launch in May, and put it on Heron to tell Anna by Friday",
        note_a_decision,
        (
            "daily:path",
            "daily:read",
            f"create path={JOURNAL} content=@{JOURNAL} overwrite",
            r"append file=Heron content=- [ ] Tell Anna 📅 2026-11-27\n",
        ),
    ),
    Task(
        "Rename the project Heron to Egret everywhere",
        rename_a_project,
        (
            "rename file=Heron name=Egret",
            "search query=Heron",
            *rewritten("Projects/Egret.md", "Projects/Kite.md", "Notes/Walk.md", "Journal/2026-11-19.md"),
        ),
    ),
    Task("Repair all broken links", repair_links, ("unresolved", *rewritten("People/Anna.md", "Notes/Walk.md"))),
    Task(
        "Write my weekly review, and move what is late to Friday",
        review_the_week,
        (
            "tasks done",
            "tasks todo",
            "create path=Weeks/2026-W47.md content=@Weeks/2026-W47.md",
            *rewritten("Notes/Tasks.md", "Projects/Heron.md"),
        ),
    ),
    Task(
        "Link what mentions Anna or Heron without a link",
        link_unlinked_mentions,
        ("aliases file=Anna", "search:context query=Anna", *rewritten("Journal/2026-11-19.md", "Notes/Walk.md")),
    ),
    Task(
        "Are there duplicates? Merge them",
        merge_duplicates,
        (
            "files folder=Notes",
            *rewritten("Notes/Soup.md", "Notes/White bread.md"),
            "delete file=Onion soup",
            "delete file=Bread",
        ),
    ),
    Task(
        "Prepare tomorrow's meeting with Anna about the launch from my template",
        prepare_a_meeting,
        ("template:read name=Meeting", "create path=Notes/Launch.md content=@Notes/Launch.md"),
    ),
    Task("Put Anna on the board, beside the idea", put_a_card_on_the_board, rewritten("Board.canvas")),
    Task("The sandpaper for 1760 in November cost 1716", correct_a_cell, rewritten("Projects/Ledger.md")),
    Task(
        "Kite is done, and Loom is paused from today on",
        set_different_properties,
        rewritten("Projects/Kite.md", "Projects/Loom.md"),
    ),
    Task(
        "Clean up my tags",
        clean_up_tags,
        ("tags counts", *rewritten("Projects/Kite.md", "Projects/Loom.md")),
    ),
    Task(
        "Tell me about Heron and what belongs to it",
        see_around_a_note,
        (
            "read file=Heron",
            "properties file=Heron",
            "backlinks file=Heron",
            "links file=Heron",
            "search:context query=Heron",
        ),
    ),
]


@pytest.fixture
def session(opened: Opened, tmp_path: Path) -> Session:  # noqa: F811  the fixture of that name
    app = opened(
        VAULT,
        templates={"folder": "Templates"},
        calendar={"weeklyNoteFormat": "GGGG-[W]WW", "weeklyNoteFolder": "Weeks"},
        daily_notes={"folder": "Journal"},
    )
    return Session(app, tmp_path / "vault")


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.run.__name__)
def test_a_task_is_done_with_few_calls_and_can_be_undone(task: Task, session: Session, update: bool) -> None:
    """TOOL-22"""
    before = session.notes()

    task.run(session)

    transcript = [f"{line}\n  -> {size} bytes\n" for line, size in session.calls]
    total = sum(size for _, size in session.calls)
    head = f"\n{len(session.calls)} calls, {total} bytes (about {total // 4} tokens):\n\n```\n"
    head = head.replace("1 calls", "1 call")
    answers = f"{head}{''.join(transcript)}```\n\n"
    check_section(ROOT / "docs/assistant-tasks.md", task.run.__name__, answers, update=update)
    assert len(session.calls) <= len(task.official)
    assert 2 * len(session.calls) <= calls_before(task)
    changes = call(session.app, "obsidian_history", {}).data["changes"]
    for change in changes:
        call(session.app, "obsidian_undo", {"change": change["change"]})
    assert session.notes() == before


def calls_before(task: Task) -> int:
    """Return how many calls the document says that a task took when each call made one change."""
    text = (ROOT / "docs/assistant-tasks.md").read_text(encoding="utf-8")
    return int(re.findall(r"Before: (\d+) calls", text.split(f"## {task.phrase}\n")[1])[0])


def words(line: str, files: dict[str, bytes]) -> list[str]:
    """The words of a line of the app's command; values go up to the next key or flag."""
    found = re.split(r" (?=(?:[a-z]+=|overwrite$|verbose$|done$|todo$|template=))", line)
    command, *rest = found[0].split(" ", 1)
    return [
        command,
        *rest,
        *(re.sub(r"(?<=^content=)@(.+)", lambda at: _content(files[at[1]]), word) for word in found[1:]),
    ]


def _content(data: bytes) -> str:
    return data.decode().replace("\n", r"\n")


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.run.__name__)
def test_the_apps_command_does_the_same_with_as_many_lines_as_we_count(
    task: Task, session: Session, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """TOOL-22: played by the drop-in, which answers as the app's command does
    (specs/headless.md)"""
    task.run(session)
    wanted = session.notes()
    for change in call(session.app, "obsidian_history", {}).data["changes"]:
        call(session.app, "obsidian_undo", {"change": change["change"]})
    for name, value in (
        ("OBSIDIAN_VAULT_PATH", session.root),
        ("OBSIDIAN_MCP_STATE", session.app.config.state),
        ("OBSIDIAN_MCP_CACHE", session.root.parent / "drop-in"),
        ("OBSIDIAN_MCP_POLICY", session.root.parent / "no policy"),
        ("OBSIDIAN_MCP_TODAY", "2026-11-22"),
        ("HOME", session.root.parent),
    ):
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(session.root)
    capfdbinary.readouterr()

    for line in task.official:
        given = words(line, wanted)
        assert COMMANDS[given[0]].verdict != "app"
        run_drop_in(given, Options())
        said = capfdbinary.readouterr().out.decode()
        assert not said.startswith("Error:"), (given, said)

    if task.same:
        assert session.notes() == wanted


def test_the_tasks_are_those_of_the_document() -> None:
    """TOOL-22"""
    text = (ROOT / "docs/assistant-tasks.md").read_text(encoding="utf-8")

    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [task.phrase for task in TASKS]
