"""The files that a search may list are the same whether they are found out anew or followed from change to change."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.search import file_table
from obsidian_mcp.core.search.hits import Request
from obsidian_mcp.core.search.search import Search
from obsidian_mcp.core.text.casefold import fold
from tests.core.memory import MemoryVault

NAMES = ["a.md", "b.md", "c.canvas", "hidden/d.md", "e\u0301.md", "pic.png", "hidden/p.png", "b\udcff.md"]
CHANGES = ["write", "write", "delete", "delete", "look", "step", "take out", "search"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(CHANGES), st.sampled_from(NAMES)), max_size=40))
def test_the_roster_follows_every_change(changes: list[tuple[str, str]]) -> None:
    hidden = IgnoreFilters(("hidden/",))
    with MemoryVault({"first.md": "word", "a.md": "word"}) as vault:
        vault.indexer.begin()
        search = Search(vault.indexer, vault.catalog, vault.read, lambda: hidden)
        for what, name in [*changes, ("look", ""), ("search", "")]:
            if what == "write":
                vault.write(name, "word")
            elif what == "delete" and name in vault.data:
                vault.delete(name)
            elif what == "look":
                vault.look()
            elif what == "step":
                vault.indexer.step()
            elif what == "take out" and name not in vault.data and (entry := vault.catalog.on_disk(name)) is not None:
                vault.index.store([], [entry.path])  # by another program, which has seen it gone
            elif what == "search":
                vault.look()
                found = search.find(Request("word", "exact", limit=100, snippets=0))
                listed = sorted(hit.path for hit in found.hits)
                assert listed == sorted(e.path for e in vault.catalog if not hidden.match(e.path) and _is_text(e.path))
                _compare(search, vault, hidden)


def _is_text(path: str) -> bool:
    return path.endswith(".md")


def _compare(search: Search, vault: MemoryVault, hidden: IgnoreFilters) -> None:
    """Rows that are gone for a pending file are in no answer, whatever the roster says of them."""
    pending = vault.indexer.pending()
    with vault.index.rows() as rows:
        fresh = file_table.of(rows.numbers(), vault.catalog.by_path(), hidden.match)
    known = search._known.roster
    assert {n: p for n, p in known.paths.items() if p not in pending} == {
        n: p for n, p in fresh.paths.items() if p not in pending
    }
    assert {path: number for number, path in known.paths.items()} == known.numbers
    for text in ("a", ".", "hidden/"):
        assert set(known.path_holds(text)) == {number for number, path in known.paths.items() if text in fold(path)}
    assert [entry.path for entry in known.others] == [entry.path for entry in fresh.others]
    assert known.canvases - {known.numbers[p] for p in pending if p in known.numbers} == frozenset(
        n for n in fresh.canvases if fresh.paths[n] not in pending
    )
