"""What the index stores of a file in one deflated piece (specs/index.md, INDEX-08, INDEX-52)."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.dataview.note_data import read_note_items
from obsidian_mcp.core.graph.indexed_notes import read_stored_items
from obsidian_mcp.core.index.deflation import GROWTH, SAMPLES
from obsidian_mcp.core.index.extract import read_facts
from obsidian_mcp.core.index.facts import Facts, HeadingFact
from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.index.stored_note import NoteHead, write_piece
from obsidian_mcp.core.note.item_place import ItemPlace
from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.text.vault_path import VaultPath
from tests.core.memory import MemoryVault
from tests.examples import examples

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
    assert (head.structure, tuple(head.short_fields)) == (facts.content.structure, facts.content.short_fields)


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


def test_a_vault_that_has_grown_gets_a_dictionary_of_its_notes_and_reads_what_was_deflated_before() -> None:
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
        texts = vault.indexer.query(lambda rows: [text for _, text, _ in rows.texts.read_all()])
        assert len(texts) == count + 1
        assert "alone, with little to say" in texts


@pytest.mark.parametrize(
    "damage",
    ["UPDATE notes SET content = x'ffffffff'", "UPDATE notes SET content = x''", "DELETE FROM dictionaries"],
    ids=["other bytes", "cut", "no dictionary"],
)
def test_a_piece_that_cannot_be_inflated_is_made_anew(damage: str) -> None:
    """INDEX-12: the index is damaged."""
    with MemoryVault({"a.md": "some words"}) as vault:
        vault.indexer.complete()
        with vault.index.database.write_transaction() as connection:
            connection.execute(damage)
            connection.execute("UPDATE state SET identity = hex(randomblob(8))")  # by it dictionaries are kept
        assert vault.indexer.query(lambda rows: rows.text(VaultPath("a.md"))) == "some words"
