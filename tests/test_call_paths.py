"""How many of our functions one call runs through, and how deep, counted on a tiny vault.

Modules are not counted: files were once joined to please such a count, against "one file, one noun".
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pytest

from obsidian_mcp.adapters.place import RELATIVE_CALLS
from obsidian_mcp.app import App
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on

PACKAGE = str(Path(sys.modules["obsidian_mcp"].__file__ or "").parent)
COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>"}
"""Frames of their own only before Python 3.12."""


@dataclass(frozen=True)
class CallPath:
    """What one call of a tool runs through."""

    modules: Counter[str]
    """Calls of our own functions, by module."""
    depth: int
    deepest: list[str]

    def __str__(self) -> str:
        return f"{self.modules.total()} calls, {self.depth} deep"


def counted(app: App, tool: str, arguments: Mapping[str, object]) -> CallPath:
    """The path of a call. Code that dataclasses generate has no module."""
    modules: Counter[str] = Counter()
    stack: list[str] = []
    deepest: list[str] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE) or code.co_name in COMPREHENSIONS:
            return
        if event == "call":
            modules[code.co_filename[len(PACKAGE) + 1 :]] += 1
            stack.append(f"{code.co_filename[len(PACKAGE) + 1 :]}: {code.co_name}")
            if len(stack) > len(deepest):
                deepest[:] = stack
        elif event == "return":
            stack.pop()

    sys.setprofile(profile)
    try:
        call(app, tool, arguments)
    finally:
        sys.setprofile(None)
    return CallPath(modules, len(deepest), deepest)


def shortest(app: App, tool: str, *calls: Mapping[str, object]) -> CallPath:
    """The path of a call when what is kept between calls is there and no look at the whole folder is due (WATCH-02).

    Several `calls` take turns: each can be made again after the other. The index takes in what the call before changed
    beforehand, so that it is not counted with this one.
    """
    paths = []
    for turn in range(4 * len(calls)):
        call(app, "obsidian_search", {"query": "feed"})
        paths.append(counted(app, tool, calls[turn % len(calls)]))
    return min(paths, key=lambda path: path.modules.total())


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("vault")
    for number in range(5):
        properties = f"---\ntags: [animal]\nrating: {number}\n---\n"
        text = f"{properties}# Heading {number}\nA quick fox and [[Note 1]].\n- [ ] feed the fox\n"
        (folder / f"Note {number}.md").write_text(text, encoding="utf-8", newline="\n")
    made = app_on(folder)
    for query in ("heading", "feed"):  # the index is built, and what is kept between calls is there
        call(made, "obsidian_search", {"query": query})
        call(made, "obsidian_read_note", {"name": "Note 1"})
    yield made
    made.vaults.close()


@pytest.mark.parametrize(
    ("kind", "query", "match", "calls"),
    [
        ("words", "quick fox", "smart", 771),
        ("a misspelled word", "fxo", "smart", 280),
        ("exact text", "fox", "exact", 587),
        ("a phrase", '"quick fox"', "exact", 534),
        ("a tag", "tag:animal", "exact", 283),
        ("a tag and a word", "tag:animal fox", "smart", 666),
        ("a property", "[rating:3]", "exact", 264),
        ("a regular expression", "/f.x/", "exact", 505),
    ],
)
def test_a_search_takes_few_calls(app: App, kind: str, query: str, match: str, calls: int) -> None:
    """SEARCH-85, INDEX-52, INDEX-60, TOOL-41: five calls for each text that is read; three to find what is shown
    of it as lines or in passages, and five for the order of pages."""
    path = shortest(app, "obsidian_search", {"query": query, "match": match})
    print(f"obsidian_search {kind}: {path}")
    assert path.modules.total() <= calls, "\n".join(map(str, path.modules.most_common()))
    assert path.depth <= 13, "\n".join(path.deepest)


@pytest.mark.parametrize("name", ["Note 2", "Note 2.md"])
def test_reading_a_note_takes_few_calls(app: App, name: str) -> None:
    """Without calls relative to an open folder, as on Windows, more look at the path before the file is opened."""
    path = shortest(app, "obsidian_read_note", {"name": name})
    print(f"obsidian_read_note {name!r}: {path}")
    assert path.modules.total() <= 41 + (0 if RELATIVE_CALLS else 6), "\n".join(map(str, path.modules.most_common()))
    assert path.depth <= 9 + (0 if RELATIVE_CALLS else 1), "\n".join(path.deepest)


BASE = """filters: file.hasTag("animal")
views:
  - type: table
    name: Animals
    order: [file.name, rating]
"""
PATHS: list[tuple[str, list[dict[str, object]], int, int]] = [
    ("edit_note", [{"name": "Note 2", "operation": "append", "content": text} for text in ("one", "two")], 340, 13),
    ("update_task", [{"name": "Note 4", "line": 7, "status": status} for status in ("done", "todo")], 400, 16),
    ("move_note", [{"name": "Note 3", "to": "Other"}, {"name": "Other", "to": "Note 3"}], 645, 16),
    ("query", [{"query": "TABLE rating FROM #animal SORT rating"}], 750, 18),
    ("query", [{"query": BASE}], 530, 18),
]
"""Tools, calls that take turns, and the calls of functions and the depth that none exceeds. They only get smaller."""


@pytest.mark.parametrize(("tool", "turns", "calls", "depth"), PATHS, ids=lambda value: str(value)[:60])
def test_changes_and_queries_take_few_calls(
    app: App, tool: str, turns: list[dict[str, object]], calls: int, depth: int
) -> None:
    path = shortest(app, f"obsidian_{tool}", *turns)
    print(f"obsidian_{tool}: {path}")
    assert path.modules.total() <= calls, "\n".join(map(str, path.modules.most_common()))
    assert path.depth <= depth + (0 if RELATIVE_CALLS else 2), "\n".join(path.deepest)
