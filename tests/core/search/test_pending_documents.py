"""Searches while much of the vault is not in the index yet (specs/index.md, INDEX-40 to 42)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.index.indexer import AT_ONCE
from obsidian_mcp.core.search.hits import Hits, Request
from obsidian_mcp.core.search.search import FRESH, SOME_ARE_OLD, Search
from obsidian_mcp.core.text import deadline
from obsidian_mcp.core.text.deadline import Deadline
from tests.core.memory import MemoryVault

MANY = 300


@pytest.fixture
def vault() -> Iterator[MemoryVault]:
    with MemoryVault({f"{n:03}.md": f"common walking word{n:03}" for n in range(MANY)}) as made:
        made.keeper.begin()
        yield made


@pytest.fixture
def search(vault: MemoryVault) -> Search:
    return Search(vault.keeper, vault.catalog, vault.read, lambda: IgnoreFilters(()))


def asked(search: Search, query: str, match: str) -> Hits:
    return search.find(Request(query, "exact" if match == "exact" else "smart", limit=MANY, snippets=0))


def change(vault: MemoryVault, count: int) -> None:
    for n in range(count):
        vault.write(f"{n:03}.md", f"common changed{n:03}")
    vault.look()


# INDEX-40
def test_a_smart_search_of_a_vault_without_index_builds_it_first(vault: MemoryVault, search: Search) -> None:
    found = asked(search, "walks word007", "smart")
    assert [hit.path for hit in found.hits] == ["007.md"]
    assert found.building is None
    assert vault.keeper.pending() == ({}, None)


# INDEX-40
def test_a_smart_search_does_not_wait_for_the_index_until_its_time_is_over(vault: MemoryVault, search: Search) -> None:
    vault.keeper.step()
    limit = deadline.current.set(Deadline(0.6))
    try:
        vault.keeper.step = lambda **_: 0  # type: ignore[method-assign]  # nothing gets on
        vault.keeper._taken.add(next(iter(vault.keeper.pending()[0])))  # and somebody seems to work on it
        found = asked(search, "common", "smart")
    finally:
        deadline.current.reset(limit)
    assert 0 < found.total < MANY
    assert found.building == "The index is being built: 64 of 300 notes."


# INDEX-41
def test_after_many_changes_a_smart_search_knows_the_rows_of_before_and_says_so(
    vault: MemoryVault, search: Search
) -> None:
    vault.keeper.finish()
    change(vault, FRESH + 1)
    vault.delete("299.md")
    vault.look()

    assert asked(search, "changed007", "smart").total == 0
    found = asked(search, "word007", "smart")
    assert [hit.path for hit in found.hits] == ["007.md"]
    assert found.building == SOME_ARE_OLD
    assert asked(search, "common", "smart").total == MANY - 1  # what is gone is in no answer

    vault.keeper.finish()
    assert [hit.path for hit in asked(search, "changed007", "smart").hits] == ["007.md"]
    assert asked(search, "word007", "smart").building is None


# INDEX-41
def test_an_exact_search_reads_changed_files_for_a_moment_then_knows_the_rows_of_before_and_says_so(
    vault: MemoryVault, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.keeper.finish()
    change(vault, FRESH + 1)
    vault.write("new.md", "common changed")
    vault.look()
    monkeypatch.setattr("obsidian_mcp.core.search.search.READING", -1)

    found = asked(search, "changed", "exact")
    assert [hit.path for hit in found.hits] == ["new.md"]  # what has no rows is read
    assert found.building == SOME_ARE_OLD
    assert [hit.path for hit in asked(search, "word007", "exact").hits] == ["007.md"]
    assert asked(search, "common", "exact").total == MANY + 1

    search.read_ahead()
    found = asked(search, "changed", "exact")
    assert found.total == FRESH + 2
    assert found.building is None
    assert asked(search, "word007", "exact").total == 0


# INDEX-02
@pytest.mark.parametrize("match", ["exact", "smart"])
def test_after_some_changes_a_search_knows_all_of_them(vault: MemoryVault, search: Search, match: str) -> None:
    vault.keeper.finish()
    change(vault, FRESH)
    assert [hit.path for hit in asked(search, "changed007", match).hits] == ["007.md"]
    assert asked(search, "word007", match).total == 0


# INDEX-42
def test_changed_files_are_read_once_for_many_searches(vault: MemoryVault, search: Search) -> None:
    vault.keeper.finish()
    change(vault, MANY)
    vault.reads.clear()

    assert asked(search, "changed007", "exact").total == 1
    assert asked(search, "common", "exact").total == MANY
    assert len(vault.reads) == MANY

    vault.write("007.md", "common again")
    vault.look()
    assert asked(search, "changed007", "exact").total == 0
    assert asked(search, "again", "exact").total == 1
    assert len(vault.reads) == MANY + 1
    assert len(vault.keeper.shelf) > 0

    vault.keeper.finish()
    assert len(vault.keeper.shelf) == 0


# WATCH-07
def test_changed_files_are_read_before_a_search_asks_for_them(vault: MemoryVault, search: Search) -> None:
    vault.keeper.finish()
    change(vault, MANY)
    vault.reads.clear()

    assert search.read_ahead()
    assert len(vault.reads) == MANY
    assert asked(search, "common", "exact").total == MANY
    assert asked(search, "changed007", "exact").total == 1
    assert len(vault.reads) == MANY


# WATCH-07
def test_nothing_is_read_ahead_while_a_question_runs_nor_in_a_first_build(vault: MemoryVault, search: Search) -> None:
    assert search.read_ahead()
    assert vault.reads == []

    vault.keeper.finish()
    change(vault, MANY)
    vault.reads.clear()
    with vault.keeper.asking():
        assert not search.read_ahead()
    assert vault.reads == []


# WATCH-07
def test_few_changed_files_are_not_read_ahead_since_they_are_taken_in_at_once(
    vault: MemoryVault, search: Search
) -> None:
    vault.keeper.finish()
    change(vault, AT_ONCE)
    vault.reads.clear()
    assert search.read_ahead()
    assert vault.reads == []
