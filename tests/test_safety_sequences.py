"""Generated sequences of tool calls, mixed with what another program does to the same files (issue 15).

After every sequence the index equals a fresh one (INDEX-01), no link that led somewhere has lost its file in a move
(RENAME-01), and taking everything back in reverse gives the first bytes (SAFE-04).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from obsidian_mcp import config
from obsidian_mcp.adapters import media
from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.adapters.outside import OutsideFiles
from obsidian_mcp.app import App
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError
from obsidian_mcp.tools.registry import call
from tests.core.memory import Always
from tests.examples import examples

FOLDERS = ["", "A/", "B c/", "A/deep/"]
NAMES = ["x", "X", "Yes", "日本", "é"]
TEXTS = [
    "[[x]] and ![[Yes#One|shown]] #tag/a\n",
    "---\nup: '[[A/x]]'\ntags: [tag/a, other]\n---\n# One\n[it](x.md) [[日本]]\n",
    "# One\n\ntext #tag ^id\n[[é]] [[Yes#One]] [[#One]]\n",
    "\ufeff[[B c/x|x]]\r\n[up](A/Yes.md)\r\nlast",
]
CANVAS = """{
\t"nodes":[
\t\t{"id":"a","type":"file","file":"x.md"},
\t\t{"id":"b","type":"text","text":"[[Yes]] #tag"}
\t]
}
"""

Step = Callable[["Notes"], None]


class Only:
    """`Vaults` with one vault, which looks at its folder before every call."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault

    def get(self, name: str = "", *, listed: bool = True) -> Vault:  # noqa: ARG002  the port's signature
        assert not name
        self.vault.refresh()
        return self.vault

    def names(self) -> list[str]:
        return [self.vault.name]


def opened(root: Path, beside: Path) -> Vault:
    return Vault(
        "v", Disk(root), Always(), SqliteJournal(beside / "state"), lambda: open_index(beside / "index.sqlite3")
    )


class Notes:
    """A vault that the tools and another program change in turn, with what it held before every change."""

    def __init__(self, root: Path, vault: Vault) -> None:
        self.root, self.vault = root, vault
        settings = config.Config((str(root),), environ={"HOME": str(root.parent)})
        self.app = App(Only(vault), settings, lambda: media, OutsideFiles(()).read_outside_file)  # type: ignore[arg-type]
        self.past: list[tuple[dict[str, bytes | None], int | None]] = []
        """What the vault held before a change, and the number of the change, None for one of the other program."""

    def contents(self) -> dict[str, bytes | None]:
        """The files and, without bytes, the folders."""
        paths = {path.relative_to(self.root).as_posix(): path for path in self.root.rglob("*")}
        return {
            name: path.read_bytes() if path.is_file() else None
            for name, path in sorted(paths.items())
            if not name.startswith(".")
        }

    def call(self, tool: str, **arguments: Any) -> None:
        before, latest = self.contents(), self.vault.journal.latest()
        try:
            call(self.app, f"obsidian_{tool}", arguments)
        except AppError:
            assert self.contents() == before, "a refused change has changed something"
            return
        if (number := self.vault.journal.latest()) > latest:
            self.past.append((before, number))
        else:
            assert self.contents() == before

    def outside(self, change: Callable[[Path], object]) -> None:
        before = self.contents()
        change(self.root)
        if self.contents() != before:
            self.past.append((before, None))

    def restore(self, wanted: Mapping[str, bytes | None]) -> None:
        """What the other program did, taken back by it."""
        now = self.contents()
        for path in sorted(now.keys() - wanted.keys(), reverse=True):
            if now[path] is None:
                (self.root / path).rmdir()
            else:
                (self.root / path).unlink()
        for path, data in wanted.items():
            if data is None:
                (self.root / path).mkdir(exist_ok=True)
            elif now.get(path) != data:
                (self.root / path).write_bytes(data)


@contextmanager
def notes() -> Iterator[Notes]:
    base = Path(tempfile.mkdtemp())
    root = base / "vault"
    (root / ".obsidian").mkdir(parents=True)
    (root / ".obsidian/app.json").write_text('{"trashOption": "local"}', encoding="utf-8")
    for number, (folder, name) in enumerate([("", "x"), ("A/", "Yes"), ("B c/", "é"), ("A/deep/", "日本")]):
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / f"{folder}{name}.md").write_bytes(TEXTS[number].encode())
    (root / "Board.canvas").write_text(CANVAS, encoding="utf-8")
    vault = opened(root, base)
    try:
        yield Notes(root, vault)
    finally:
        vault.close()
        shutil.rmtree(base)


PATHS = st.builds("{}{}".format, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
CONTENT = st.sampled_from(TEXTS)


def said(title: str, step: Step) -> Step:
    step.__name__ = step.__qualname__ = title
    return step


def tool_call(tool: str, /, **arguments: Any) -> Step:
    def step(held: Notes) -> None:
        held.call(tool, **arguments)

    return said(f"{tool} {arguments}", step)


def move(name: str, to: str) -> Step:
    """A move after which every link leads to the file that it led to before."""

    def step(held: Notes) -> None:
        held.vault.refresh()
        resolved, seen = links(held.vault), set(held.contents())
        before = len(held.past)
        held.call("move_note", name=name, to=to)
        if len(held.past) == before:
            return
        number = held.past[-1][1]
        recorded = held.vault.journal.change(number) if number is not None else None
        assert recorded is not None
        moved = {path: path for path in seen}
        for change in recorded.steps:
            if change.target is not None:
                at = len(change.disk)
                below = [path for path in seen if path == change.disk or path.startswith(f"{change.disk}/")]
                moved |= {path: change.target + path[at:] for path in below}
        now = links(held.vault)  # a link that led nowhere may lead to the new name by chance
        for source, targets in resolved.items():
            for target, count in targets.items():
                assert now[moved[source]].get(moved[target], 0) >= count, (name, to, source, target)

    return said(f"move {name} to {to}", step)


def outside(title: str, change: Callable[[Path], object]) -> Step:
    return said(f"outside {title}", lambda held: held.outside(change))


def write(path: str, text: str, mode: str) -> Step:
    def change(root: Path) -> None:
        file = root / f"{path}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open(mode) as opened:
            opened.write(text.encode())

    return outside(f"{mode} {path} {text!r}", change)


def rename(old: str, new: str) -> Step:
    def change(root: Path) -> None:
        if (root / old).exists() and not (root / new).exists() and not f"{new}/".startswith(f"{old}/"):
            (root / new).parent.mkdir(parents=True, exist_ok=True)
            (root / old).rename(root / new)

    return outside(f"rename {old} to {new}", change)


def remove(path: str) -> Step:
    return outside(f"remove {path}", lambda root: (root / path).unlink(missing_ok=True))


FILES = PATHS.map("{}.md".format)
FOLDER = st.sampled_from(["A", "B c", "A/deep", "a", "New/Er"])
STEPS = st.one_of(
    st.builds(tool_call, st.just("create_note"), name=PATHS, content=CONTENT, overwrite=st.booleans()),
    st.builds(tool_call, st.just("edit_note"), name=PATHS, operation=st.just("append"), content=st.just("more [[x]]")),
    st.builds(
        tool_call,
        st.just("edit_note"),
        name=PATHS,
        operation=st.just("rename_heading"),
        section=st.just("One"),
        content=st.sampled_from(["Two", "One"]),
    ),
    st.builds(
        tool_call,
        st.just("set_properties"),
        names=st.lists(PATHS, min_size=1, max_size=1),
        properties=st.sampled_from([{"up": "[[Yes]]"}, {"up": 3}]),
    ),
    st.builds(tool_call, st.just("rename_tag"), tag=st.just("tag"), to=st.sampled_from(["label", "tag2"])),
    st.builds(tool_call, st.just("delete_note"), name=PATHS, permanent=st.booleans()),
    st.builds(move, PATHS, PATHS),
    st.builds(move, st.sampled_from(["A", "B c", "A/deep"]), FOLDER),
    st.builds(write, PATHS, CONTENT, st.sampled_from(["wb", "ab"])),
    st.builds(rename, FILES, FILES),
    st.builds(rename, FOLDER, FOLDER),
    st.builds(remove, FILES),
)


def links(vault: Vault) -> dict[str, dict[str, int]]:
    found = vault.graph.link_maps().value.resolved
    return {str(source): {str(target): n for target, n in targets.items()} for source, targets in found.items()}


def knowledge(vault: Vault) -> dict[str, Any]:
    """All that the index says."""
    vault.refresh()
    return {
        "files": [(entry.path, entry.disk, entry.size) for entry in vault.entries()],
        "links": vault.graph.link_maps().value,
        "tags": vault.graph.tags().value,
        "properties": vault.graph.properties().value,
        "facts": {entry.path: vault.graph.facts(entry.path).value for entry in vault.entries()},
    }


@examples(
    25,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(STEPS, min_size=4, max_size=14))
def test_whatever_happens_the_index_is_right_and_everything_can_be_taken_back(steps: list[Step]) -> None:
    """SAFE-04, RENAME-01, INDEX-01"""
    with notes() as held:
        first = held.contents()
        for step in steps:
            step(held)
        known = knowledge(held.vault)
        with fresh(held.root) as vault:
            assert known == knowledge(vault)
        for before, number in reversed(held.past):
            if number is None:
                held.restore(before)
            else:
                call(held.app, "obsidian_undo", {"change": number})
            assert held.contents() == before
        assert held.contents() == first


@contextmanager
def fresh(root: Path) -> Iterator[Vault]:
    """Another program's view of the same files, with an index of its own."""
    beside = Path(tempfile.mkdtemp())
    vault = opened(root, beside)
    try:
        yield vault
    finally:
        vault.close()
        shutil.rmtree(beside)
