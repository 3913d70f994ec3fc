"""What the index stores of a file in one compressed piece (specs/index.md, INDEX-08, INDEX-52)."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.dataview.note_data import read_note_items
from obsidian_mcp.core.graph.indexed_notes import read_stored_items
from obsidian_mcp.core.index.compression import GROWTH, SAMPLES
from obsidian_mcp.core.index.extract import read_facts
from obsidian_mcp.core.index.facts import Facts, HeadingFact
from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.index.stored_note import NoteHead, write_piece
from obsidian_mcp.core.note.item_place import ItemPlace
from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.text.vault_path import VaultPath
from tests.core.memory import MemoryVault
from tests.examples import examples
from tests.generate import flat_notes
from tests.index_dump import has_page_statistics

LINES = [
    "- item\n", "  - below [[Note|shown]] #tag\n", "1. first [key:: value]\n", "> - quoted\n", "    goes on\n", "\n",
    "# Heading\n", "## Deeper \U0001d54f\n", "- [x] done ^id\n", "- [ ] open \U0001f4c5 2026-01-05\n", "plain text\n",
    "- 1. two on a line\n", "> 1) deep\n", "* ![[picture.png]] [text](Other.md)\n", "key:: value\n", "- - nested\n",
]  # fmt: skip
notes = st.lists(st.sampled_from(LINES), max_size=20).map("".join)


@given(notes)
@examples(200)
def test_a_piece_has_everything_that_was_found_in_its_note(text: str) -> None:
    """INDEX-08"""
    facts = read_facts("Folder/Note.md", text.encode(), len(text.encode()))
    piece = write_piece(facts)
    head = NoteHead(piece.data[: piece.head])
    assert piece.data[piece.head :].decode() == text
    assert (head.headings, head.list_items) == (facts.headings, facts.list_items)
    assert facts.content.structure is not None
    assert head.structure == facts.content.structure.numbers
    assert tuple(head.short_fields) == facts.content.short_fields


@given(st.lists(notes, min_size=1, max_size=3))
@examples(50)
def test_list_items_from_the_index_are_those_of_the_note(texts: list[str]) -> None:
    """INDEX-52, DV-15: their places are stored, and the rest is read from the text."""
    with MemoryVault({f"{n}.md": text for n, text in enumerate(texts)}) as vault:
        vault.indexer.complete()
        for n, text in enumerate(texts):
            source = vault.indexer.query(partial(Rows.list_source, path=VaultPath(f"{n}.md")))
            assert (read_stored_items(source) if source else ()) == read_note_items(parse(text))


@pytest.mark.parametrize("place", [0x10EFFF, 0x110000, 4 * 1024 * 1024])
def test_places_far_into_a_note_are_kept(place: int) -> None:
    """INDEX-52: a step of more than a million code points takes two characters."""
    facts = Facts(
        headings=(HeadingFact(1, "First", 3), HeadingFact(2, "Far", place)),
        list_items=(
            ItemPlace(place, 2 * place, 7, -1, "x", "end"),
            ItemPlace(2 * place, 2 * place, None, 9, None, None),
        ),
    )
    head = NoteHead(write_piece(facts).data)
    assert (head.headings, head.list_items) == (facts.headings, facts.list_items)


def test_a_vault_that_has_grown_gets_a_dictionary_of_its_notes_and_reads_what_was_compressed_before() -> None:
    """INDEX-52"""
    count = SAMPLES * GROWTH + 1
    with MemoryVault({"first.md": "alone, with little to say"}) as vault:
        vault.indexer.complete()
        for n in range(count):
            vault.write(f"{n}.md", f"note {n} of a vault about herons and canals")
        vault.look()
        vault.indexer.complete()
        with vault.index.database.read_transaction() as connection:
            (dictionaries,) = connection.execute("SELECT count(DISTINCT dictionary) FROM notes").fetchone()
        assert dictionaries >= 2
        texts = vault.indexer.query(
            lambda rows: [text for _, text, _ in rows.texts.read_searched(frozenset(rows.paths()))]
        )
        assert len(texts) == count + 1
        assert "alone, with little to say" in texts


@pytest.mark.parametrize(
    "damage",
    ["UPDATE notes SET content = x'ffffffff'", "UPDATE notes SET content = x''", "DELETE FROM dictionaries"],
    ids=["other bytes", "cut", "no dictionary"],
)
def test_a_piece_that_cannot_be_decompressed_is_made_anew(damage: str) -> None:
    """INDEX-12: the index is damaged."""
    with MemoryVault({"a.md": "some words"}) as vault:
        vault.indexer.complete()
        with vault.index.database.write_transaction() as connection:
            connection.execute(damage)
            connection.execute("UPDATE state SET identity = hex(randomblob(8))")  # by it dictionaries are kept
        assert vault.indexer.query(lambda rows: rows.text(VaultPath("a.md"))) == "some words"


def test_a_search_reads_what_a_note_says_now_although_it_kept_what_it_said_before() -> None:
    """INDEX-60: an earlier view goes on with the earlier texts."""
    with MemoryVault({"a.md": "first", "b.md": "stays"}) as vault:
        vault.indexer.complete()
        for expected in ({"first", "stays"}, {"first", "stays"}):
            assert vault.indexer.query(read_searched_texts) == expected
        vault.write("a.md", "second")
        vault.look()
        vault.indexer.complete()
        assert vault.indexer.query(read_searched_texts) == {"second", "stays"}
        assert vault.indexer.query(lambda rows: rows.text(VaultPath("a.md"))) == "second"


def test_kept_texts_need_no_row_until_nobody_asks_for_a_while() -> None:
    """INDEX-58, INDEX-60"""
    with MemoryVault({f"{n}.md": f"text {n}" for n in range(3)}) as vault:
        vault.indexer.complete()
        assert len(vault.indexer.query(read_searched_texts)) == 3
        with vault.index.database.write_transaction() as connection:
            connection.execute("DELETE FROM notes")
        assert len(vault.indexer.query(read_searched_texts)) == 3
        vault.indexer.go_to_rest()
        assert not vault.indexer.query(read_searched_texts)


def test_texts_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """INDEX-60"""
    monkeypatch.setattr("obsidian_mcp.core.index.text_cache.CACHE_BYTES", 5_000)
    with MemoryVault({f"{n}.md": f"text {n}" for n in range(30)}) as vault:
        vault.indexer.complete()
        assert len(vault.indexer.query(read_searched_texts)) == 30
        with vault.index.database.write_transaction() as connection:
            connection.execute("DELETE FROM notes")
        assert 0 < len(vault.indexer.query(read_searched_texts)) < 10


def read_searched_texts(rows: Rows) -> set[str]:
    files = frozenset(rows.paths())
    return {text for _, text, _ in rows.texts.read_searched(files)}


@pytest.mark.skipif(not has_page_statistics(), reason="this SQLite counts no pages")
def test_the_pages_of_texts_are_full_after_a_build(tmp_path: Path) -> None:
    """INDEX-59"""
    with MemoryVault(flat_notes(150), tmp_path / "v.db") as vault:
        vault.indexer.complete()
        with vault.index.database.read_transaction() as connection:
            sql = "SELECT sum(unused), sum(pgsize) FROM dbstat WHERE name = 'notes'"
            unused, size = connection.execute(sql).fetchone()
    assert unused < 0.15 * size


def test_a_text_that_cannot_be_compressed_is_read_whole() -> None:
    """INDEX-59: its last row holds all that is over."""
    rng = random.Random(1)
    text = "".join(chr(rng.randrange(0x4E00, 0x9FFF)) for _ in range(60_000))
    with MemoryVault({"a.md": text, "b.md": "short"}) as vault:
        vault.indexer.complete()
        assert vault.indexer.query(lambda rows: rows.text(VaultPath("a.md"))) == text
        vault.write("a.md", "short, too")
        vault.look()
        vault.indexer.complete()
        assert vault.indexer.query(read_searched_texts) == {"short", "short, too"}
