"""A first search beside another program finds every match, or says that it may lack some (INDEX-46)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index import indexer, pending_scan
from obsidian_mcp.core.search.hits import Request
from obsidian_mcp.core.search.search import Search
from tests.core.memory import MemoryVault

from .test_search import NOTHING_HIDDEN, Held

NOTES = 6
TEXTS = ("wanted", "wanted twice wanted", "other", "quite another")


class Foreign(NamedTuple):
    """What another program does to one note while a search reads another."""

    read: int
    """How many reads came before it."""
    note: int
    text: str | None
    """None removes the note."""


class SharedVault(MemoryVault):
    """A vault that another program changes while its files are read."""

    def __init__(self, texts: Sequence[str], program: Sequence[Foreign]) -> None:
        super().__init__({f"{number}.md": text for number, text in enumerate(texts)})
        self._program = sorted(program, key=lambda step: step.read)
        self.matches = [self._matching()]
        """The notes that match, before and after each step of the other program."""

    def _matching(self) -> set[str]:
        return {path for path, data in self.data.items() if b"wanted" in data}

    def read(self, entry: FileEntry) -> bytes:
        while self._program and self._program[0].read <= len(self.reads):
            _, number, text = self._program.pop(0)
            path = f"{number}.md"
            if text is not None:
                self.write(path, text)
            elif path in self.data:
                self.delete(path)
            self.look()
            self.matches.append(self._matching())
        return super().read(entry)


@given(
    st.lists(st.sampled_from(TEXTS), min_size=NOTES, max_size=NOTES),
    st.lists(
        st.builds(Foreign, st.integers(0, NOTES * 3), st.integers(0, NOTES), st.sampled_from([None, *TEXTS])),
        max_size=8,
    ),
    st.sampled_from([1, 3, NOTES + 1]),
    st.sampled_from([0.0, 20.0]),
)
def test_a_first_search_finds_every_match_or_says_that_it_may_lack_some(
    texts: list[str], program: list[Foreign], stored: int, seconds: float
) -> None:
    with (
        patch.object(indexer, "FRESH_FILES", 2),
        patch.object(indexer, "BUILD_WAIT_SECONDS", 0.0),
        patch.object(pending_scan, "STORE_WAIT_SECONDS", 0.0),
        patch.object(pending_scan, "SCAN_STORED", stored),
        patch.object(pending_scan, "SCAN_SECONDS", seconds),
        SharedVault(texts, program) as vault,
    ):
        vault.indexer.pending.begin()
        vault.indexer.pending.background = Held()
        search = Search(vault.indexer, vault.catalog, vault.read, lambda: NOTHING_HIDDEN)
        found = search.find(Request("wanted", "exact", limit=NOTES + 1, snippets=0))
        paths = {hit.path for hit in found.hits}
        assert paths <= set.union(*vault.matches)
        assert found.incomplete is not None or paths >= set.intersection(*vault.matches)
