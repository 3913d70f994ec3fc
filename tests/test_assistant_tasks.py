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
from obsidian_mcp.cli.headless.command import run
from obsidian_mcp.cli.headless.table import COMMANDS
from obsidian_mcp.cli.options import Options
from obsidian_mcp.tools import call
from tests.generated import ROOT, check_section
from tests.serve.mcp.test_resources import PIXEL
from tests.tools.conftest import Opened, opened  # noqa: F401  a fixture

SOUP = "Peel two onions, fry them in butter, add a litre of stock and let it simmer for half an hour."
VAULT: dict[str, str] = {
    "Journal/2026-11-22.md": "# Sunday\n\n## Decisions\n\n## Later\n",
    "Journal/2026-11-19.md": "Met Anna about Heron. #log\n",
    "Templates/Meeting.md": "---\ntype: meeting\n---\n# {{title}}\n{{date}}\n\n## Agenda\n",
    "Projects/Heron.md": "---\nstatus: active\n---\n# Heron\n\n#project/heron [[Anna]]\n\n"
    "- [ ] Order brass 📅 2026-11-20\n",
    "Projects/Budget.md": "# Budget\n\n| item | cost |\n| ---- | ---: |\n| lamp | 40 |\n\nFor [[Heron]].\n",
    "Projects/Kite.md": "# Kite #done\n\nSee [[Heron#Heron|the bird]].\n",
    "Projects/Loom.md": "# Loom\n\n#done\n",
    "People/Anna.md": "---\naliases: [Anna Berg]\n---\nWorks on [[Projects/Heron]].\n",
    "Notes/Walk.md": "With Anna Berg along the river. Heron was there.\n",
    "Notes/Tasks.md": "- [ ] Call the dentist 📅 2026-11-27\n- [ ] Pay rent 📅 2026-12-01\n"
    "- [x] Post letter ✅ 2026-11-18\n",
    "Notes/Soup.md": f"{SOUP}\n",
    "Notes/Onion soup.md": f"{SOUP}\n\nSalt.\n",
    "Trip.md": "![[lake.png]]\n![[tickets.pdf]]\n",
    "Board.canvas": '{"nodes":[{"id":"a","type":"text","text":"Idea","x":0,"y":0,"width":200,"height":60}],"edges":[]}',
    "Projects.base": 'filters: file.inFolder("Projects")\n'
    "views:\n  - type: table\n    name: All\n    order: [file.name, status]\n",
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
        size += len(outcome.picture.image) * 4 // 3 if outcome.picture is not None else 0
        self.calls.append((f"obsidian_{tool} {encoded}", size))
        return outcome.whole()

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def notes(self) -> dict[str, bytes]:
        return {path: (self.root / path).read_bytes() for path in self.paths() if not path.startswith(".")}

    def paths(self) -> set[str]:
        return {path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file()}


def note_a_decision(session: Session) -> None:
    content = "We launch in May.\n- [ ] Tell Anna 📅 2026-11-27"
    session.run("daily_note", content=content, position="section", section="Decisions")

    note = session.text("Journal/2026-11-22.md")
    assert f"## Decisions\n{content}\n## Later\n" in note.replace("\n\n", "\n")
    assert session.run("list_tasks", text="Tell Anna")["tasks"][0]["due"] == "2026-11-27"
    session.calls.pop()


def rename_a_project(session: Session) -> None:
    calls = [
        {"tool": "move_note", "name": "Heron", "to": "Egret"},
        {"tool": "rename_tag", "tag": "project/heron", "to": "project/egret"},
        {"tool": "replace", "query": "Heron", "find": "Heron", "content": "Egret"},
    ]
    session.run("batch", calls=calls)

    everything = "".join(session.text(path) for path in session.paths() if path.endswith(".md"))
    assert "heron" not in everything.lower()
    assert "For [[Egret]]." in session.text("Projects/Budget.md")
    assert "See [[Egret#Egret|the bird]]." in session.text("Projects/Kite.md")
    assert "Works on [[Egret]]." in session.text("People/Anna.md")


def list_what_is_due(session: Session) -> None:
    found = session.run("list_tasks", due="before 2026-11-29")

    assert [task["description"] for task in found["tasks"]] == ["Order brass", "Call the dentist"]


def review_the_week(session: Session) -> None:
    changed = session.run("list_files", folder="Journal", sort="modified")
    done = session.run("list_tasks", status="done", done="after 2026-11-15")
    late = session.run("list_tasks", due="before today")
    content = f"## Review\n{len(changed['files'])} days, {done['total']} done, {late['total']} late\n"
    session.run("daily_note", period="weekly", content=content)

    assert "2 days, 1 done, 1 late" in session.text("Weeks/2026-W47.md")


def link_unlinked_mentions(session: Session) -> None:
    done = session.run("link_mentions", name="Anna")

    assert done["changed"] == ["Journal/2026-11-19.md", "Notes/Walk.md"]
    assert session.text("Notes/Walk.md").startswith("With [[Anna|Anna Berg]] along")
    assert session.text("Journal/2026-11-19.md").startswith("Met [[Anna]] about")


def merge_duplicates(session: Session) -> None:
    found = session.run("similar", name="Soup")
    twin = next(note["path"] for note in found["similar"] if note.get("near_duplicate"))
    session.run("compose_notes", action="merge", name="Soup", into=twin)

    assert twin == "Notes/Onion soup.md"
    assert "Notes/Soup.md" not in session.paths()
    assert session.text(twin).count("Peel two onions") == 1


def write_from_a_template(session: Session) -> None:
    session.run("create_note", name="Notes/Launch", template="Meeting", content="- venue")

    assert session.text("Notes/Launch.md") == "---\ntype: meeting\n---\n# Launch\n2026-11-22\n\n## Agenda\n- venue\n"


def add_to_a_canvas_from_a_base(session: Session) -> None:
    rows = session.run("query", query="Projects.base")
    card = {"op": "add", "type": "file", "file": "Projects/Heron.md", "beside": "Idea", "side": "right"}
    edge = {"op": "connect", "from": "Idea", "to": "Projects/Heron.md"}
    session.run("edit_canvas", name="Board", operations=[card, edge])

    assert rows["total"] == 4
    board = json.loads(session.text("Board.canvas"))
    assert [node.get("file") for node in board["nodes"]] == [None, "Projects/Heron.md"]
    assert [edge["fromNode"] for edge in board["edges"]] == ["a"]


def add_a_row(session: Session) -> None:
    session.run("edit_table", name="Budget", operations=[{"op": "add_row", "values": {"item": "chair", "cost": 90}}])

    cells = [line.replace(" ", "") for line in session.text("Projects/Budget.md").splitlines()]
    assert cells[4:6] == ["|lamp|40|", "|chair|90|"]


def tick_a_task(session: Session) -> None:
    session.run("update_task", task="Call the dentist", status="done")

    first, second, *_ = session.text("Notes/Tasks.md").splitlines()
    assert first == "- [x] Call the dentist 📅 2026-11-27 ✅ 2026-11-22"
    assert second == "- [ ] Pay rent 📅 2026-12-01"


def archive_by_tag(session: Session) -> None:
    session.run("move_note", query="tag:#done", to="Archive/")

    assert {"Archive/Kite.md", "Archive/Loom.md"} <= session.paths()
    assert not {"Projects/Kite.md", "Projects/Loom.md"} & session.paths()


def look_at_attachments(session: Session) -> None:
    listed = session.run("attachments", note="Trip")
    picture = session.run("attachments", name="lake.png")
    document = session.run("attachments", name="tickets.pdf")

    assert {file["path"] for file in listed["attachments"]} == {"lake.png", "tickets.pdf"}
    assert picture["base64"]
    assert "Train at nine" in document["content"]


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
        "Note our decision to launch in May, and to tell Anna by Friday",
        note_a_decision,
        ("daily:path", "daily:read", f"create path={JOURNAL} content=@{JOURNAL} overwrite"),
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
    Task("What is due by the end of the week?", list_what_is_due, ("tasks todo",)),
    Task(
        "Write my weekly review",
        review_the_week,
        (
            "files folder=Journal",
            "tasks done",
            "tasks todo",
            "create path=Weeks/2026-W47.md content=@Weeks/2026-W47.md",
        ),
    ),
    Task(
        "Link what mentions Anna without a link",
        link_unlinked_mentions,
        ("aliases file=Anna", "search:context query=Anna", *rewritten("Journal/2026-11-19.md", "Notes/Walk.md")),
    ),
    Task(
        "Is there a duplicate of the soup? Merge them",
        merge_duplicates,
        (
            "search query=onions",
            "read file=Soup",
            *rewritten("Notes/Onion soup.md"),
            "delete file=Soup",
        ),
    ),
    Task(
        "Make a note for the launch from my meeting template",
        write_from_a_template,
        ("create path=Notes/Launch.md template=Meeting", r"append file=Launch content=- venue\n"),
    ),
    Task(
        "Put the project of my base on the board, beside the idea",
        add_to_a_canvas_from_a_base,
        ("base:query file=Projects.base", *rewritten("Board.canvas")),
    ),
    Task("Add a chair for 90 to the budget", add_a_row, rewritten("Projects/Budget.md")),
    Task("Tick off the dentist", tick_a_task, ("tasks todo verbose", "task ref=Notes/Tasks.md:1 done"), same=False),
    Task(
        "Move everything tagged #done to the archive",
        archive_by_tag,
        ("tag name=done verbose", "move path=Projects/Kite.md to=Archive/", "move path=Projects/Loom.md to=Archive/"),
    ),
    Task(
        "What is in the picture and the PDF of my trip?",
        look_at_attachments,
        ("links file=Trip", "read path=lake.png", "read path=tickets.pdf"),
    ),
]
NOT_TEXT = "Error: File is not a text file."
"""What the app's command answers of the picture and the PDF: it cannot do the last task at all."""


@pytest.fixture
def session(opened: Opened, tmp_path: Path) -> Session:  # noqa: F811  the fixture of that name
    pytest.importorskip("pypdf", reason="the extra media is not installed")
    from tests.tools.test_attachments import pdf

    files: dict[str, str | bytes] = {**VAULT, "lake.png": PIXEL, "tickets.pdf": pdf("Train at nine")}
    app = opened(
        files,
        templates={"folder": "Templates"},
        calendar={"weeklyNoteFormat": "GGGG-[W]WW", "weeklyNoteFolder": "Weeks"},
        daily_notes={"folder": "Journal"},
    )
    return Session(app, tmp_path / "vault")


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.run.__name__)
def test_a_task_is_done_with_few_calls_and_can_be_undone(task: Task, session: Session, update: bool) -> None:
    # TOOL-22
    before = session.notes()

    task.run(session)

    transcript = [f"{line}\n  -> {size} bytes\n" for line, size in session.calls]
    total = sum(size for _, size in session.calls)
    head = f"\n{len(session.calls)} calls, {total} bytes (about {total // 4} tokens):\n\n```\n"
    head = head.replace("1 calls", "1 call")
    answers = f"{head}{''.join(transcript)}```\n\n"
    check_section(ROOT / "docs/assistant-tasks.md", task.run.__name__, answers, update=update)
    assert len(session.calls) <= len(task.official)
    changes = call(session.app, "obsidian_history", {}).data["changes"]
    for change in changes:
        call(session.app, "obsidian_undo", {"change": change["change"]})
    assert session.notes() == before


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
    # TOOL-22: played by the drop-in, which answers as the app's command does (specs/headless.md)
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
        run(given, Options())
        said = capfdbinary.readouterr().out.decode()
        assert not said.startswith("Error:") or said.strip() == NOT_TEXT, (given, said)

    if task.same:
        assert session.notes() == wanted


def test_the_tasks_are_those_of_the_document() -> None:
    # TOOL-22
    text = (ROOT / "docs/assistant-tasks.md").read_text(encoding="utf-8")

    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [task.phrase for task in TASKS]
