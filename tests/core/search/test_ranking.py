"""Every file that was found by words has a score, and those that come first have the greater ones (specs/search.md)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.search.hits import Match, Request
from obsidian_mcp.core.search.search import Search
from tests.core.memory import MemoryVault

SYMBOLS = {
    "heading.md": "x\n## ✅\nmore ✅ stuff",
    "title.md": "# 😀\nhello",
    "alias.md": "---\naliases: ['★', '★ ✅']\n---\nhello",
    "🎉.md": "hello 🎉 ★",
    "🎉/tag.md": "---\ntags: [🎉]\n---\nhello",
}


def vault_of(files: dict[str, str], *, indexed: bool) -> tuple[MemoryVault, Search]:
    vault = MemoryVault(files)
    vault.keeper.begin()
    if indexed:
        vault.keeper.finish()
    else:
        vault.keeper.settle = lambda: None  # type: ignore[method-assign]  # what is pending stays so
    return vault, Search(vault.keeper, vault.catalog, vault.read, lambda: IgnoreFilters(()))


# SEARCH-20
@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("match", ["smart", "exact"])
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("✅", {"heading.md", "alias.md"}),
        ("😀", {"title.md"}),
        ("★", {"alias.md", "🎉.md"}),
        ("🎉", {"🎉.md", "🎉/tag.md"}),
        ("hello ★", {"alias.md", "🎉.md"}),
        ("😀 OR 🎉", {"title.md", "🎉.md", "🎉/tag.md"}),
        ("content:✅", {"heading.md", "alias.md"}),
        ('"😀"', {"title.md"}),
    ],
)
def test_notes_with_names_headings_and_tags_of_nothing_but_symbols_are_found(
    query: str, found: set[str], match: Match, indexed: bool
) -> None:
    vault, search = vault_of(SYMBOLS, indexed=indexed)
    with vault:
        hits = search.find(Request(query, match)).hits

    assert {hit.path for hit in hits} == found
    assert all((hit.score or 0) > 0 for hit in hits) or not indexed


# SEARCH-14
@pytest.mark.parametrize("query", ["common", "common word"])
@pytest.mark.parametrize(
    ("match", "count", "indexed"),
    [("smart", 60, True), ("smart", 60, False), ("smart", 1_100, True), ("exact", 60, True), ("exact", 1_100, True)],
)
def test_every_page_has_scores_and_none_is_greater_than_those_before(
    query: str, match: Match, count: int, indexed: bool
) -> None:
    files = {f"{n}.md": f"word {'common ' * (n % 7)}" + "common filler " * (n % 50 + 1) for n in range(count - 3)}
    files |= {"common word.md": "word", "a.md": "# common word", "b.md": "---\ntags: [common]\n---\nword"}
    vault, search = vault_of(files, indexed=indexed)
    with vault:
        hits = search.find(Request(query, match, limit=count, snippets=0)).hits
        page = search.find(Request(query, match, limit=20, offset=20, snippets=0)).hits

    scores = [hit.score for hit in hits]
    assert len(hits) > 50
    assert None not in scores
    assert scores == sorted(scores, key=lambda score: -(score or 0))
    assert [(hit.path, hit.score) for hit in page] == [(hit.path, hit.score) for hit in hits[20:40]]


# SEARCH-14
@pytest.mark.parametrize("query", ["tag:#common", "/comm.n/"])
def test_where_no_words_can_be_weighed_nothing_has_a_score(query: str) -> None:
    vault, search = vault_of({f"{n}.md": "#common" for n in range(3)}, indexed=True)
    with vault:
        assert [hit.score for hit in search.find(Request(query)).hits] == [None] * 3
