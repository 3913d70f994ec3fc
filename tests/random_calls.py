"""A small vault, and random calls of every writing tool on it."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.app import App
from obsidian_mcp.core.files.ports import Files
from obsidian_mcp.core.index.index import Index
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError
from obsidian_mcp.tools.registry import call

from .core.memory import Always, empty_index
from .other_program import OtherProgram
from .test_safety_sequences import Notes
from .vaults import contents, write_files

Call = Mapping[str, Any]
"""The tool without its prefix, and its arguments, as `obsidian_batch` takes them."""

NOTE = """---
status: open
tags: [t, other]
---
# {0}

[[A]] and [B](B.md) #t in {0}, old {0}

## Tasks

- [ ] call {0} 📅 2026-11-20
- [ ] write {0}

## Part

| item | count |
| ---- | ----- |
| {0} | 1 |
| b{0} | 2 |

A plain mention of C.

The last line of {0}.
"""
BOARD = """---
kanban-plugin: board
---

## Todo

- [ ] card


## Done

- [x] last


"""
CANVAS = """{
\t"nodes":[
\t\t{"id":"a","type":"file","file":"A.md","x":0,"y":0,"width":9,"height":9},
\t\t{"id":"b","type":"text","text":"[[B]] old #t","x":0,"y":50,"width":9,"height":9}
\t],
\t"edges":[]
}
"""
BOOKMARKS = '{\n  "items": [\n    {\n      "type": "file",\n      "ctime": 1,\n      "path": "A.md"\n    }\n  ]\n}'
SETTINGS = {
    ".obsidian/app.json": '{"trashOption": "local"}',
    ".obsidian/daily-notes.json": '{"folder": "Daily"}',
}
FILES = {
    **{f"{name}.md": NOTE.format(name) for name in ("A", "B", "C")},
    "F/D.md": NOTE.format("D"),
    "F/G/E.md": "[[D]] old\n",
    "T.md": "---\nmade: true\n---\n## {{title}}\n- [ ] of the template\n",
    "Daily/2026-11-20.md": "# Day\n\nold\n",
    "K.md": BOARD,
    "Board.canvas": CANVAS,
    ".obsidian/bookmarks.json": BOOKMARKS,
    **SETTINGS,
}
BEFORE = {path: text.encode() for path, text in FILES.items()}
CHANGED = 1_790_000_000
"""When every file was changed last."""

NOTES = st.sampled_from(["A", "B", "C", "D", "E"])
NEW = st.sampled_from(["N", "F/N", "New/N", "New/O"])
TEXT = st.integers(0, 10**6).map("text {}".format)
SECTION = st.sampled_from(["Tasks", "Part"])
IN_SECTION = ["replace_section", "append_section", "prepend_section", "add_after_section", "remove_section"]
TABLE = [[{"op": "add_row", "values": ["x", "2"]}], [{"op": "remove_row", "row": 1}]]
CARDS = [[{"op": "add", "type": "text", "text": "[[C]]"}], [{"op": "remove", "card": "b"}]]
PROPERTIES = [{"status": "done"}, {"n": 1}, {"status": None}]


def calls_of(tool: str, /, **arguments: Any) -> st.SearchStrategy[Call]:
    """Random calls of a tool; an argument is a value, or a strategy for it."""
    given = {"tool": tool, **arguments}
    strategies = {
        key: value if isinstance(value, st.SearchStrategy) else st.just(value) for key, value in given.items()
    }
    return st.fixed_dictionaries(strategies)


def edits(operation: str, **arguments: Any) -> st.SearchStrategy[Call]:
    return calls_of("edit_note", name=NOTES, operation=operation, **arguments)


CALLS: dict[str, st.SearchStrategy[Call]] = {
    "create": calls_of("create_note", name=NEW, content=TEXT),
    "overwrite": calls_of("create_note", name=NOTES, content=TEXT, overwrite=True),
    "append": edits("append", content=TEXT),
    "prepend": edits("prepend", content=TEXT),
    "replace the last line": edits("replace_text", find="The last line of", content=TEXT),
    "remove the last line": calls_of(
        "edit_note", name="A", operation="replace_text", find="The last line of A.\n", content=""
    ),
    "edit a section": st.sampled_from(IN_SECTION).flatmap(lambda name: edits(name, section=SECTION, content=TEXT)),
    "rename a heading": edits("rename_heading", section=SECTION, content=TEXT),
    "move": calls_of("move_note", name=NOTES, to=st.one_of(NEW, st.sampled_from(["F/", "/"]))),
    "move several": calls_of("move_note", names=st.lists(NOTES, min_size=1, max_size=3, unique=True), to="F/"),
    "move a folder": calls_of("move_note", name=st.sampled_from(["F", "F/G"]), to=st.sampled_from(["H", "New/H"])),
    "delete": calls_of("delete_note", name=NOTES),
    "delete for good": calls_of("delete_note", name=NOTES, permanent=True),
    "merge": calls_of("compose_notes", action="merge", name=NOTES, into=NOTES),
    "extract": calls_of("compose_notes", action="extract", name=NOTES, part=SECTION, into=st.one_of(NEW, NOTES)),
    "replace everywhere": calls_of("replace", query="old", find="old", content=TEXT),
    "remove lines everywhere": calls_of("replace", query="line", regex=True, find="^The last.*\n", content=""),
    "set a property": calls_of(
        "set_properties",
        names=st.lists(NOTES, min_size=1, max_size=2, unique=True),
        properties=st.sampled_from(PROPERTIES),
    ),
    "rename a tag": calls_of("rename_tag", tag="t", to=st.sampled_from(["u", "v/w"])),
    "complete a task": calls_of("update_task", name=NOTES, task="call", status="done"),
    "add a task": calls_of("update_task", name=NOTES, action="add", text=TEXT),
    "move a card": calls_of("update_task", name="K", task="card", lane="Done"),
    "edit a table": calls_of("edit_table", name=NOTES, operations=st.sampled_from(TABLE)),
    "edit a canvas": calls_of("edit_canvas", name="Board", operations=st.sampled_from(CARDS)),
    "daily note": calls_of("daily_note", date=st.sampled_from(["2026-11-20", "2026-11-21"]), content=TEXT),
    "insert a template": calls_of("insert_template", template="T", name=NOTES),
    "add an attachment": calls_of("add_attachment", name=st.sampled_from(["a.png", "F/b.png"]), data="QUJD"),
    "link mentions": calls_of("link_mentions", name="C"),
    "edit bookmarks": calls_of("edit_bookmarks", action=st.sampled_from(["add", "remove"]), target=NOTES),
}
"""By what they do."""
MORE_CALLS = st.lists(st.one_of(*CALLS.values()), max_size=3)


class SharedVault(NamedTuple):
    """That vault, on which calls are made while another program writes."""

    root: Path
    app: App
    other: OtherProgram

    def files(self) -> dict[str, bytes]:
        """The files without those in the trash."""
        return {path: data for path, data in contents(self.root).items() if not path.startswith(".trash/")}

    def call(self, one: Call) -> dict[str, Any]:
        arguments = dict(one)
        return call(self.app, f"obsidian_{arguments.pop('tool')}", arguments).data

    def batch(self, calls: Sequence[Call]) -> dict[str, Any]:
        return call(self.app, "obsidian_batch", {"calls": [dict(one) for one in calls]}).data

    def undo(self, change: int) -> int:
        """Take back a change; return the number of the change that does it."""
        return int(call(self.app, "obsidian_undo", {"change": change}).data["change"])

    def accepts(self, one: Call) -> bool:
        """Make a call; False where it is refused."""
        try:
            self.call(one)
        except AppError:
            return False
        return True


def _write_vault(root: Path) -> Path:
    """Write the files of the vault, as if they had been changed long ago."""
    write_files(root, FILES)
    for path in FILES:
        os.utime(root / path, (CHANGED, CHANGED))
    return root


@cache
def _prepared_index() -> Index:
    """The index of the vault. A vault that begins with a copy of it does not parse its files again."""
    with tempfile.TemporaryDirectory() as folder, open_again(_write_vault(Path(folder) / "vault")) as vault:
        indexer = vault.app.vaults.get().indexer
        indexer.complete()
        prepared = indexer.index.copy_to_memory()
    atexit.register(prepared.close)
    return prepared


@contextmanager
def shared_vault(disk: Callable[[Path], Files] = Disk) -> Iterator[SharedVault]:
    """The vault in a new folder, on this kind of disk; its index is built."""
    base = Path(tempfile.mkdtemp())
    try:
        with open_again(_write_vault(base / "vault"), disk, _prepared_index().copy_to_memory) as vault:
            yield vault
    finally:
        shutil.rmtree(base)


@contextmanager
def open_again(
    root: Path, disk: Callable[[Path], Files] = Disk, open_its_index: Callable[[], Index] = empty_index
) -> Iterator[SharedVault]:
    """A vault that is there, opened by another process."""
    other = OtherProgram(root)
    journal = SqliteJournal(root.parent / "state")
    vault = Vault("v", other.watch(disk(root)), Always(), journal, open_its_index)
    try:
        yield SharedVault(root, Notes(root, vault).app, other)
    finally:
        vault.close()
