"""Random calls while another program writes in bursts: the index is what a fresh one would be (specs/watching.md)."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import Phase, example, given
from hypothesis import strategies as st

from obsidian_mcp import compose
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError
from tests.conftest import app_on
from tests.examples import examples
from tests.index_dump import dump

SECONDS = 0.5
SETTLED_SECONDS = 60.0
TEXTS = ("", "#tag\n", "[[{0}]] and ![[{1}]]\n", "---\nkey: {0}\n---\n# Heading {1}\n- [ ] task {0}\n")


class Writer(threading.Thread):
    """Another program: it makes, moves and deletes folders and notes, many at once and then none."""

    def __init__(self, root: Path, seed: int) -> None:
        super().__init__(daemon=True)
        self._root = root
        self._dice = random.Random(seed)
        self._end = time.monotonic() + SECONDS

    def run(self) -> None:
        while time.monotonic() < self._end:
            for _ in range(self._dice.randrange(1, 60)):
                with suppress(OSError):  # the calls move and delete, too
                    self._change()
            time.sleep(self._dice.choice((0.0, 0.01, 0.3)))

    def _change(self) -> None:
        dice = self._dice
        folder = self._root / f"f{dice.randrange(8)}"
        note = folder / f"{dice.randrange(20)}.md"
        match dice.randrange(8):
            case 0:  # a folder with a note, moved at once into one that is made at the same moment
                made, target = self._root / f"new {dice.randrange(10**6)}", self._root / f"t{dice.randrange(10**6)}"
                (made / "inner").mkdir(parents=True)
                (made / "inner" / "deep.md").write_text("[[0]]", encoding="utf-8")
                target.mkdir()
                made.rename(target / made.name)
                (target / made.name / "late.md").write_text("#late", encoding="utf-8")
            case 1:
                folder.rename(self._root / f"f{dice.randrange(8)}")
            case 2:
                shutil.rmtree(folder)
            case 3:
                note.unlink()
            case 4:
                note.rename(self._root / note.name)
            case _:
                folder.mkdir(exist_ok=True)
                text = dice.choice(TEXTS).format(dice.randrange(20), dice.randrange(20))
                note.write_text(text, encoding="utf-8")


def call_at_random(vault: Vault, seed: int, end: float) -> None:
    dice = random.Random(seed)
    questions: tuple[Callable[[str], object], ...] = (
        lambda _: vault.graph.orphans(),
        lambda _: vault.graph.tags(),
        lambda name: vault.graph.backlinks(vault.find(name).path),
        lambda name: vault.read_text(vault.find(name)),
        lambda name: vault.edit("edit_note", vault.find(name), lambda body: body + "more\n"),
    )
    while time.monotonic() < end:
        vault.refresh()
        with suppress(AppError):  # what is asked for may be gone
            dice.choice(questions)(f"{dice.randrange(20)}")


@examples(3, phases=[Phase.explicit, Phase.generate])  # threads run in another order each time: no shrinking
@given(seed=st.integers(0, 2**32))
@example(seed=3)  # these two delete much
@example(seed=8)
def test_after_bursts_of_another_program_the_index_is_what_a_fresh_one_is(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """WATCH-11, INDEX-01"""
    folder = tmp_path_factory.mktemp("burst")
    root = folder / "vault"
    (root / ".obsidian").mkdir(parents=True)
    config = app_on(root).config.replace(watch=True)
    app = compose.build(config, serving=True)
    try:
        vault = app.vaults.get()
        writer = Writer(root, seed)
        writer.start()
        call_at_random(vault, seed, time.monotonic() + SECONDS)
        writer.join()
        fresh = compose.build(config.replace(named_cache=str(folder / "fresh"), watch=False)).vaults.get()
        fresh.indexer.complete()
        expected = dump(fresh.indexer.index)
        found = _settled(vault, expected)
        fresh.close()
    finally:
        app.vaults.close()
    assert found == expected


def _settled(vault: Vault, expected: object) -> object:
    """What the index holds when it agrees, or after SETTLED_SECONDS of waiting for the scan that follows a burst."""
    end = time.monotonic() + SETTLED_SECONDS
    while True:
        vault.refresh()
        vault.indexer.complete()
        found = dump(vault.indexer.index)
        if found == expected or time.monotonic() > end:
            return found
        time.sleep(0.1)
