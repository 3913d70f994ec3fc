# ruff: noqa: E501  the texts and calls of the jobs stand on one line each
"""Thirty jobs that people ask assistants for, as calls and tokens of each profile.

    python -m benchmarks.jobs [standard|all ...]

The assistant is careful and knows only what the list of tools and the answers say: it applies the plan of a dry run
where there is one and repeats the call where there is none, reads again what an answer says it left out, and goes the long
way round where its profile has no tool for a job. Other versions of the program are measured with the same file. A token
is taken to be four bytes of arguments and answers; the list of tools is counted apart.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from obsidian_mcp import compose, config
from obsidian_mcp.errors import AppError
from obsidian_mcp.tools.offer import Offer
from obsidian_mcp.tools.registry import call

BYTES_OF_A_TOKEN = 4
PEOPLE = ["Anna Berg", "Bo Lind", "Carla Ruiz", "Deniz Kaya", "Emil Sand", "Fatima Noor", "Goran Vuk", "Hana Sato"]
PROJECTS = ["Heron", "Kite", "Loom", "Otter", "Quartz", "Raven", "Sextant", "Tern", "Umbra", "Vesper"]
BOOKS = ["Dune", "Emma", "Ulysses", "Beloved", "Middlemarch", "Walden", "Solaris", "Nostromo", "Persuasion", "Kim"]


def make_vault(root: Path) -> Path:
    """Write a vault of about 650 files: meetings, people, projects, daily notes, books, clippings, a base and a board."""
    notes: dict[str, str] = {}
    for number in range(200):
        day = f"20{24 + number // 100}-{number % 12 + 1:02}-{number % 28 + 1:02}"
        who, project = PEOPLE[number % len(PEOPLE)], PROJECTS[number % len(PROJECTS)]
        notes[f"Meetings/{day} {project} {number:03}.md"] = (
            f"---\ntype: meeting\ndate: {day}\nstatus: {'open' if number % 7 == 0 else 'done'}\nattendees: [{who}]\n---\n"
            f"# {project} with {who}\n\n## Notes\n\nWe spoke of the budget of [[{project}]] with [[{who}]].\n\n"
            f"## Actions\n\n- [ ] Send the figures of {project} to {who} 📅 2026-{number % 12 + 1:02}-{number % 28 + 1:02}\n"
            f"- [x] Book the room ✅ {day}\n"
        )
    for number, who in enumerate(PEOPLE):
        notes[f"People/{who}.md"] = f"---\nrole: partner {number}\n---\n# {who}\n\nMet at the [[Harbour office]].\n"
    for project in PROJECTS:
        notes[f"Projects/{project}.md"] = (
            f"---\nstatus: active\nowner: {PEOPLE[len(project) % len(PEOPLE)]}\n---\n# {project}\n\n#project/{project.lower()}\n\n"
            "## Goal\n\nShip the first part.\n\n## Log\n\nStarted.\n\n## Links\n\n[[Roadmap 2026]] and "
            "[the lead](../People/Anna%20Berg.md)\n"
        )
    for number in range(240):
        day = f"2026-{number // 28 + 1:02}-{number % 28 + 1:02}"
        notes[f"Daily/{day}.md"] = (
            f"# {day}\n\n## Tasks\n\n- [ ] Water plants\n\n## Log\n\nWorked on [[{PROJECTS[number % 10]}]].\n"
        )
    for number, book in enumerate(BOOKS * 6):
        notes[f"Books/{book} {number}.md"] = (
            f"---\nauthor: Author {number}\nrating: {number % 5 + 1}\nread: {number % 2 == 0}\n---\n"
        )
    for number in range(130):
        notes[f"Clippings/Article {number:03}.md"] = (
            f"# Article {number}\n\nSource: old-host.example/{number}\n\n" + "Prose. " * 60
        )
    notes["Inbox.md"] = "# Inbox\n\n## Call the bank\n\nAsk for the rate.\n\n## Ideas\n\nA kite with two tails.\n"
    notes["Books.base"] = (
        'views:\n  - type: table\n    name: Read\n    filters: file.inFolder("Books")\n    order: [file.name, author, rating]\n'
    )
    notes["Board.md"] = "---\nkanban-plugin: board\n---\n\n## Doing\n\n- [ ] tar\n- [ ] rope\n\n## Done\n\n- [x] oars\n"
    notes["Templates/Meeting.md"] = "---\ntype: meeting\n---\n# {{title}}\n\n## Notes\n\n## Actions\n"
    for path, text in notes.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="\n")
    settings = root / ".obsidian"
    settings.mkdir()
    (settings / "templates.json").write_text('{"folder": "Templates"}', encoding="utf-8")
    (settings / "daily-notes.json").write_text('{"folder": "Daily"}', encoding="utf-8")
    return root


class Assistant:
    """Makes calls of one profile, and counts them and their bytes."""

    def __init__(self, root: Path, profile: str) -> None:
        settings = config.Config((str(root),), environ={"HOME": str(root.parent)}).replace(tools=profile)
        self.app = compose.build(settings)
        self.names = {name.removeprefix("obsidian_") for name in Offer(settings).list_entries()}
        self.calls = 0
        self.bytes = 0

    def ask(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Make a call, and read what a change did not show."""
        self.calls += 1
        self.bytes += len(json.dumps(arguments, ensure_ascii=False).encode())
        try:
            outcome = call(self.app, f"obsidian_{tool}", arguments)
        except AppError as error:
            self.bytes += len(error.message.encode())
            print(f"  {tool}: {error.message}", file=sys.stderr)  # noqa: T201
            return {"error": error.message}
        self.bytes += sum(len(text.encode()) for text in outcome.contents())
        data = outcome.data
        if "diff_left_out" in data:
            for path in (data.get("changed") or [data.get("path")])[:8]:
                self.ask("read_note", name=path)
        return data

    def change(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Look at what a change would do, then make it."""
        planned = self.ask(tool, **arguments, dry_run=True)
        if "plan" in planned and "batch" in self.names:
            return self.ask("batch", plan=planned["plan"])
        return self.ask(tool, **arguments)

    def has(self, tool: str) -> bool:
        return tool in self.names


Job = Callable[[Assistant], object]


def list_broken_links(a: Assistant) -> object:
    """Find the vault's broken links, and write the note that most of them want."""
    if a.has("graph"):
        a.ask("graph", question="unresolved")
    elif "error" in a.ask("get_links"):
        a.ask("list_files", recursive=True, limit=500)
        a.ask("list_files", recursive=True, limit=500, offset=500)
        a.ask("search", query="/\\[\\[/", limit=100, show="paths")
        for project in PROJECTS:
            a.ask("get_links", name=project)
    return a.ask("create_note", name="Harbour office", content="# Harbour office\n")


def list_rows_of_a_base(a: Assistant) -> object:
    if a.has("query"):
        return a.ask("query", query="Books.base")
    a.ask("read_note", name="Books.base")
    paths = [f"Books/{book} {number}" for number, book in enumerate(BOOKS * 6)]
    return a.ask("read_note", names=paths, view="properties")


def replace_in_many_notes(a: Assistant) -> object:
    if a.has("replace"):
        return a.change("replace", find="old-host.example", content="new.example", query="path:Clippings")
    a.ask("search", query="old-host.example", limit=200, show="paths")
    for start in (0, 100):
        names = [f"Clippings/Article {number:03}" for number in range(start, min(start + 100, 130))]
        a.change("batch", calls=[
            {"tool": "edit_note", "name": name, "operation": "replace_text", "find": "old-host.example", "content": "new.example"}
            for name in names
        ])  # fmt: skip
    return None


def merge_notes(a: Assistant) -> object:
    a.ask("create_note", name="Heron old", content="# Heron old\n\n## Log\n\nStarted.\n\n## Risks\n\nWind.\n")
    if a.has("compose_notes"):
        return a.change("compose_notes", action="merge", name="Heron old", into="Heron")
    a.ask("read_note", name="Heron old")
    a.ask("read_note", name="Heron")
    a.ask("edit_note", name="Heron", operation="append", content="\n## Risks\n\nWind.\n")
    return a.ask("delete_note", name="Heron old")


def close_meetings(a: Assistant) -> object:
    names = [
        hit["path"] for hit in a.ask("search", query="[status:open]", folder="Meetings", limit=50, show="paths")["hits"]
    ]
    return a.change("set_properties", names=names, properties={"status": "done"})


def write_minutes(a: Assistant) -> object:
    a.ask("create_note", name="Meetings/2026-11-23 Heron", template="Meeting", content="Budget agreed.")
    return a.ask("batch", calls=[
        {"tool": "edit_note", "name": "2026-11-23 Heron", "operation": "append_section", "section": "Actions", "content": f"- [ ] Mail {who}"}
        for who in PEOPLE[:4]
    ] + [{"tool": "edit_note", "name": project, "operation": "append_section", "section": "Log", "content": "Spoke on 2026-11-23."}
         for project in PROJECTS[:5]])  # fmt: skip


def undo_a_change(a: Assistant) -> object:
    listed = a.ask("history", limit=5)
    a.ask("history", change=listed["changes"][0]["change"])
    return a.ask("undo")


def count_by_status(a: Assistant) -> object:
    if a.has("get_properties"):
        return a.ask("get_properties", property="status")
    return a.ask("search", query="[status]", group="status", limit=0)


def tick_by_text(a: Assistant) -> object:
    return a.ask("update_task", name="Daily/2026-01-05", task="Water plants", status="done")


JOBS: dict[str, Job] = {
    "what is in the vault": lambda a: a.ask("list_files", recursive=True, limit=500),
    "list the meetings": lambda a: a.ask("list_files", folder="Meetings", limit=200),
    "prepare a meeting with Anna": lambda a: a.ask("search", query='"Anna Berg" budget', folder="Meetings", sort="modified", limit=10),
    "write the minutes": write_minutes,
    "close all open meetings": close_meetings,
    "broken links": list_broken_links,
    "a base's rows": list_rows_of_a_base,
    "replace a host in many notes": replace_in_many_notes,
    "today's note": lambda a: a.ask("daily_note", content="- Called the bank"),
    "this week's review": lambda a: (a.ask("list_tasks", status="done", done="last 7 days"), a.ask("search", query="", modified_after="last 7 days", limit=20)),
    "tasks of next week": lambda a: a.ask("list_tasks", due="next week"),
    "overdue tasks": lambda a: a.ask("list_tasks", due="before today", limit=20),
    "tick a task": tick_by_text,
    "add a task": lambda a: a.ask("update_task", action="add", name="Heron", text="Order brass", due="friday"),
    "put a note into another folder": lambda a: a.change("move_note", name="Projects/Heron", to="Archive/"),
    "rename a person": lambda a: a.change("move_note", name="Anna Berg", to="Anna Lind"),
    "rename a tag": lambda a: a.change("rename_tag", tag="project/kite", to="project/dragon"),
    "which tags": lambda a: a.ask("tags"),
    "notes of a tag": lambda a: a.ask("tags", tag="project"),
    "how many of each status": count_by_status,
    "who links to a project": lambda a: a.ask("get_links", name="Loom", limit=20),
    "read a person and what is around": lambda a: a.ask("read_note", name="Bo Lind", view="context"),
    "a section of a note": lambda a: a.ask("read_note", name="Loom", section="Goal"),
    "log a decision in five projects": lambda a: a.ask("batch", calls=[{"tool": "edit_note", "name": name, "operation": "append_section", "section": "Log", "content": "We launch in May."} for name in PROJECTS[5:]]),
    "merge two notes": merge_notes,
    "a lane of a board": lambda a: a.change("update_task", name="Board", task="rope", lane="Done"),
    "a dead reference in articles": lambda a: a.ask("search", query="/Source: \\S+/", folder="Clippings", limit=10),
    "find by meaning of words": lambda a: a.ask("search", query="quarterly budget figures", limit=10),
    "attachments": lambda a: a.ask("attachments"),
    "what was changed, and take it back": undo_a_change,
}  # fmt: skip


def measure(profile: str) -> tuple[int, int, int]:
    """Return calls, tokens of the jobs and tokens of the list of tools of a profile; print each job."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "Notes"
        root.mkdir()
        assistant = Assistant(make_vault(root), profile)
        try:
            assistant.app.vaults.get().indexer.complete()
            for name, job in JOBS.items():
                calls, size = assistant.calls, assistant.bytes
                job(assistant)
                tokens = (assistant.bytes - size) // BYTES_OF_A_TOKEN
                print(f"{profile:>9}  {assistant.calls - calls:3} calls  {tokens:6,} tokens  {name}")  # noqa: T201
        finally:
            assistant.app.vaults.close()
    offer = Offer(assistant.app.config)
    entries = offer.publish(has_app=True, asks=False, shows_views=False, has_one_vault=True)
    seen = [{key: entry[key] for key in ("name", "description", "inputSchema")} for entry in entries]
    listed = len(json.dumps(seen, ensure_ascii=False, separators=(",", ":")).encode()) // BYTES_OF_A_TOKEN
    return assistant.calls, assistant.bytes // BYTES_OF_A_TOKEN, listed


def main() -> None:
    for profile in sys.argv[1:] or ["standard", "all"]:
        calls, tokens, listed = measure(profile)
        print(f"{profile}: {len(JOBS)} jobs, {calls} calls, {tokens:,} tokens; the list of tools {listed:,}\n")  # noqa: T201


if __name__ == "__main__":
    main()
