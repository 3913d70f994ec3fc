"""A search lists the files that are there, whatever came, went or was renamed since the last one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.query.document import Document
from obsidian_mcp.core.query.evaluate import Matcher
from obsidian_mcp.core.query.parser import parse
from obsidian_mcp.core.search.hits import Request
from obsidian_mcp.core.search.search import Search
from tests.core.memory import MemoryVault
from tests.examples import examples

NAMES = ["a.md", "b.md", "c.canvas", "hidden/d.md", "e\u0301.md", "pic.png", "hidden/p.png", "b\udcff.md"]
CHANGES = ["write", "write", "delete", "delete", "look", "step", "take out", "search"]
QUERIES = ["word", "-absent", "file:.", "path:hidden", "path:é", "-path:a", "file:png OR word"]


@examples(80)
@given(st.lists(st.tuples(st.sampled_from(CHANGES), st.sampled_from(NAMES)), max_size=40))
def test_a_search_lists_the_files_of_this_moment(changes: list[tuple[str, str]]) -> None:
    """SEARCH-48"""
    hidden = IgnoreFilters(("hidden/",))
    with MemoryVault({"first.md": "word", "a.md": "word"}) as vault:
        vault.indexer.pending.begin()
        search = Search(vault.indexer, vault.catalog, vault.read, lambda: hidden)
        for change, name in [*changes, ("look", ""), ("search", "")]:
            if change == "write":
                vault.write(name, "word")
            elif change == "delete" and name in vault.data:
                vault.delete(name)
            elif change == "look":
                vault.look()
            elif change == "step":
                vault.indexer.pending.step()
            elif change == "take out" and name not in vault.data and (entry := vault.catalog.on_disk(name)) is not None:
                vault.index.store([], [entry.path])  # by another program, which has seen it gone
            elif change == "search":
                vault.look()
                for query in QUERIES:
                    found = search.find(Request(query, "exact", limit=100, snippets=0))
                    expected = [e.path for e in vault.catalog if not hidden(e.path) and _is_listed(query, e.path)]
                    assert sorted(hit.path for hit in found.hits) == sorted(expected), query
                    assert found.total == len(expected)


def _is_listed(query: str, path: str) -> bool:
    kind = path.rpartition(".")[2]
    document = Document(path, "word" if kind == "md" else "", "other" if kind == "png" else "note")
    return Matcher(parse(query)).matches(document)


@pytest.mark.parametrize(
    ("query", "passes"), [("word", 0), ("word AND (-tag:x)", 0), ("path:pic", 1), ("a OR file:pic", 1)]
)
def test_only_a_search_by_names_looks_through_all_files(
    query: str, passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SEARCH-48: also right after a file came, when nothing is kept of the files."""
    iterate, counted = Catalog.__iter__, list[None]()

    def count_and_iterate(catalog: Catalog) -> Iterator[FileEntry]:
        counted.append(None)
        return iterate(catalog)

    with MemoryVault({"a.md": "word", "pic.png": b""}) as vault:
        vault.indexer.complete()
        search = Search(vault.indexer, vault.catalog, vault.read, lambda: IgnoreFilters(()))
        search.find(Request(query))
        vault.write("new.md", "word")
        vault.look()
        vault.indexer.complete()
        monkeypatch.setattr(Catalog, "__iter__", count_and_iterate)
        search.find(Request(query, "exact"))
    assert len(counted) == passes
