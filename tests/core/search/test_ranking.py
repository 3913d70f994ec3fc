"""Every file that was found by words has a score, and those that come first have the greater ones (specs/search.md)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.search.hits import MatchMode, Request
from obsidian_mcp.core.search.search import Search
from tests.core.memory import MemoryVault

SYMBOLS = {
    "heading.md": "x\n## ✅\nmore ✅ stuff",
    "title.md": "# 😀\nhello",
    "alias.md": "---\naliases: ['★', '★ ✅']\n---\nhello",
    "🎉.md": "hello 🎉 ★",
    "🎉/tag.md": "---\ntags: [🎉]\n---\nhello",
}


def vault_of(files: dict[str, str]) -> tuple[MemoryVault, Search]:
    vault = MemoryVault(files)
    vault.indexer.pending.begin()
    vault.indexer.complete()
    return vault, Search(vault.indexer, vault.catalog, vault.read, lambda: IgnoreFilters(()))


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
    query: str, found: set[str], match: MatchMode
) -> None:
    """SEARCH-20"""
    vault, search = vault_of(SYMBOLS)
    with vault:
        hits = search.find(Request(query, match)).hits

    assert {hit.path for hit in hits} == found
    assert all((hit.score or 0) > 0 for hit in hits)


@pytest.mark.parametrize("query", ["common", "common word"])
@pytest.mark.parametrize(("match", "count"), [("smart", 60), ("smart", 1_100), ("exact", 60), ("exact", 1_100)])
def test_every_page_has_scores_and_none_is_greater_than_those_before(query: str, match: MatchMode, count: int) -> None:
    """SEARCH-14"""
    files = {f"{n}.md": f"word {'common ' * (n % 7)}" + "common filler " * (n % 50 + 1) for n in range(count - 3)}
    files |= {"common word.md": "word", "a.md": "# common word", "b.md": "---\ntags: [common]\n---\nword"}
    vault, search = vault_of(files)
    with vault:
        hits = search.find(Request(query, match, limit=count, snippets=0)).hits
        page = search.find(Request(query, match, limit=20, offset=20, snippets=0)).hits

    scores = [hit.score for hit in hits]
    assert len(hits) > 50
    assert None not in scores
    assert scores == sorted(scores, key=lambda score: -(score or 0))
    assert [(hit.path, hit.score) for hit in page] == [(hit.path, hit.score) for hit in hits[20:40]]


@pytest.mark.parametrize("query", ["tag:#common", "/comm.n/"])
def test_where_no_words_can_be_weighed_nothing_has_a_score(query: str) -> None:
    """SEARCH-14"""
    vault, search = vault_of({f"{n}.md": "#common" for n in range(3)})
    with vault:
        assert [hit.score for hit in search.find(Request(query)).hits] == [None] * 3


def test_notes_with_parts_of_words_come_in_one_order_whatever_the_index_held_before() -> None:
    """SEARCH-60"""
    words = ("towards", "towering", "towing", "tower", "towel")
    orders = set[tuple[str, ...]]()
    for earlier in (words, words[::-1]):
        vault, search = vault_of({"Earlier.md": " ".join(earlier)})
        with vault:
            for number in range(30):
                vault.write(f"{number}.md", f"he {words[number % 5]} there")
            vault.delete("Earlier.md")
            vault.look()
            orders.add(tuple(hit.path for hit in search.find(Request("tow", "exact", limit=30)).hits))

    (order,) = orders
    assert len(order) == 30
    assert {int(path.removesuffix(".md")) % 5 for path in order[-6:]} == {words.index("towering")}


FAR = "filler words stand here " * 400


def test_of_files_with_all_the_words_one_comes_first_however_far_apart_they_stand() -> None:
    """SEARCH-86"""
    files = {f"Web clipper {n}.md": "# Web clipper\nThe web clipper clips the web." for n in range(3)}
    files |= {"Notes.md": f"web {FAR} clipper {FAR} ollama", "Other.md": "nothing of it"}
    vault, search = vault_of(files)
    with vault:
        hits = search.find(Request("web clipper ollama")).hits
    assert hits[0].path == "Notes.md"
    assert [hit.score for hit in hits] == sorted([hit.score or 0 for hit in hits], reverse=True)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("kündigen", "Der Vertrag wurde gekündigt."),
        ("gekündigt", "Wir kündigen den Vertrag."),
        ("gekündigt", "Er kündigte den Vertrag."),
        ("absagen", "Das Treffen ist abgesagt, und so weiter."),
        ("abgesagt", "Ich muss leider absagen, und so weiter."),
        ("Kündigung", "Die Kündigungsfrist endet im März."),
        ("kündigungsfrist", "Für die Frist der Kündigung gilt das."),
    ],
)
def test_german_participles_and_compounds_find_their_verbs_and_parts(query: str, text: str) -> None:
    """SEARCH-52"""
    german = "der die das und nicht ist mit für eine auch"
    vault, search = vault_of({"found.md": text, "german.md": german, "german 2.md": german, "other.md": "Garten"})
    with vault:
        hits = search.find(Request(query)).hits
    assert [hit.path for hit in hits] == ["found.md"]


def test_a_hint_names_no_word_that_has_nothing_to_do_with_the_question() -> None:
    """SEARCH-51"""
    vault, search = vault_of({"Post.md": "# Post\nThe post office is open.", "Office.md": "# Office\nChairs."})
    with vault:
        widened = search.find(Request("cost")).widened or ""
        recipe = search.find(Request("offise")).widened or ""
    assert "post" not in widened.lower()
    assert "office" in recipe.lower() or recipe == ""
