"""The index follows the files: whatever happened, it holds what a fresh one would hold (specs/index.md)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.graph.graph import Graph
from obsidian_mcp.core.index import extract, search_document
from obsidian_mcp.core.index.facts import UNSTORABLE, AliasFact, Facts, HeadingFact
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.pending_files import PendingFiles
from obsidian_mcp.core.index.rows import FileNumbers
from obsidian_mcp.core.search.hits import Request
from obsidian_mcp.core.search.search import Search
from obsidian_mcp.core.text.vault_path import VaultPath, is_indexable, is_note
from tests.core.memory import MemoryVault, apply
from tests.examples import examples
from tests.generate import flat_notes
from tests.index_dump import dump

NAMES = [
    "a.md",
    "A.md",
    "b.md",
    "f/a.md",
    "f/b.md",
    "f/\u00e9.md",
    "f/e\u0301.md",
    "g/a.md",
    "g/f/b.md",
    "a.md.md",
    "p.png",
    "c.canvas",
    "x\udcff.md",
    "x\udcfe.md",
]
TEXTS = [
    "",
    "[[a]] [[A|other]] [[f/a]] ![[p.png]] #one",
    "---\ntags: [one/two, One]\naliases: [Bee, b]\nup: '[[b]]'\n---\n[[\u00e9]] [[f/e\u0301#x]] [[gone]]",
    "# h\n[[#h]] [[./a]] [[../b]] [m](a.md) #one/two\n- [ ] task ^id",
    b"[[x\xff]] not UTF-8 [[a]] #t\xff",
    "---\nbroken: [\n---\n[[a.md]] #two",
    '{"nodes": [{"id": "1", "type": "file", "file": "f/a.md"}, {"id": "2", "type": "text", "text": "[[a]] #one"}]}',
]

Step = tuple[str, str, str | bytes]
steps = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "rename", "delete", "folder"]),
        st.sampled_from(NAMES),
        st.one_of(st.sampled_from(NAMES), st.sampled_from(TEXTS)),
    ),
    min_size=1,
    max_size=12,
)


def do(vault: MemoryVault, kind: str, name: str, what: str | bytes) -> None:
    """One thing that happens on disk; what makes no sense there does not happen."""
    if kind == "write" or name not in vault.data:
        vault.write(name, what)
    elif kind == "rename" and isinstance(what, str) and what in NAMES:
        vault.rename(name, what)
    elif kind == "delete":
        vault.delete(name)
    elif kind == "folder":
        for disk in [name for name in vault.data if name.startswith("f/")]:
            vault.rename(disk, "g/" + disk)


def answers(graph: Graph, paths: list[VaultPath]) -> dict[str, Any]:
    return {
        "maps": graph.link_maps().value,
        "unresolved": graph.unresolved_links().value,
        "orphans": graph.orphans(attachments=True).value,
        "dead ends": graph.dead_ends().value,
        "tags": graph.tags().value,
        "tagged": graph.files_with_tag("one").value,
        "properties": graph.properties().value,
        "alias": graph.notes_with_alias("BEE").value,
        "warnings": graph.warnings().value,
        "backlinks": {path: graph.backlinks(path).value for path in paths},
        "outgoing": {path: graph.outgoing_links(path).value for path in paths if is_note(path)},
        "near": {path: graph.neighbours(path, 2).value for path in paths},
    }


@examples(30)
@given(steps)
def test_after_any_changes_the_index_is_what_a_rebuild_gives(sequence: list[Step]) -> None:
    """INDEX-01, INDEX-08: (the words of old texts are gone from the full-text index too)"""
    with MemoryVault() as vault, MemoryVault() as fresh:
        fresh.data, fresh.catalog = vault.data, vault.catalog
        vault.indexer.pending.begin()
        for kind, name, what in sequence:
            do(vault, kind, name, what)
            changes = vault.look()
            entries = [vault.catalog.get(change.path) for change in changes if is_indexable(change.path)]
            upserts = [(entry, vault.data[entry.disk]) for entry in entries if entry is not None]
            apply(vault.index, upserts, [change.path for change in changes if change.gone])

            fresh.index.database.begin_anew()
            apply(fresh.index, vault.contents())
            assert dump(vault.index) == dump(fresh.index)
            assert vault.index.find_outdated(vault.catalog) == fresh.index.find_outdated(vault.catalog)
            paths = sorted(entry.path for entry in vault.catalog)
            pending = PendingFiles(fresh.index, lambda: list(vault.catalog), fresh.read)
            graph = Graph(Indexer(pending), FileNumbers(vault.catalog))
            assert answers(vault.graph, paths) == answers(graph, paths)


def test_the_second_start_reads_no_file(tmp_path: Path) -> None:
    files = {"a.md": "[[b]]", "b.md": "", "c.png": "", "d.canvas": "{}"}
    with MemoryVault(files, tmp_path / "index.db") as first:
        first.indexer.pending.begin()
        first.indexer.complete()

    with first.opened_again(tmp_path / "index.db") as second:
        second.indexer.pending.begin()

        assert second.indexer.pending.by_path == {}
        assert [link.source for link in second.graph.backlinks(VaultPath("b.md")).value] == ["a.md"]
        assert second.reads == []


def test_other_files_have_no_rows_and_are_never_read() -> None:
    """INDEX-07"""
    with MemoryVault({"a.md": "![[c.png]]", "c.png": "", "d.base": "views: []", "e.txt": "[[a]]"}) as vault:
        vault.indexer.complete()
        assert [row[0] for row in dump(vault.index)["files"]] == ["a.md"]
        assert vault.reads == ["a.md"]
        assert [found.source for found in vault.graph.backlinks(VaultPath("c.png")).value] == ["a.md"]


def test_another_spelling_of_the_same_path_is_another_file() -> None:
    """INDEX-03: Twins in two normal forms may trade their path, with sizes and times that tell
    nothing."""
    with MemoryVault({"e\u0301.md": "[[a]]"}) as vault:
        apply(vault.index, vault.contents())
        (entry,) = vault.catalog
        other = entry._replace(disk="\u00e9.md")

        assert vault.index.find_outdated([entry]).changed == ()
        assert vault.index.find_outdated([other]).changed == (other,)
        assert vault.index.find_stale([other]) == [other]


def test_a_record_of_a_file_that_is_no_longer_so_is_left_out() -> None:
    """INDEX-04"""
    with MemoryVault({"a.md": "[[old]]", "b.md": "[[old]]"}) as vault:
        contents = vault.contents()
        vault.write("a.md", "[[new]]")
        vault.delete("b.md")
        refused = apply(vault.index, contents, stat=vault.stat)

        assert [entry.path for entry in refused] == ["a.md", "b.md"]
        assert dump(vault.index)["files"] == []


def test_a_record_of_known_bytes_whose_rows_another_program_deleted_meanwhile_is_left_out() -> None:
    """INDEX-04"""
    with MemoryVault({"a.md": "[[b]]"}) as vault:
        contents = vault.contents()
        apply(vault.index, contents)
        records = vault.index.parse(contents, 0)
        vault.index.store([], [record.entry.path for record in records])

        assert [entry.path for entry in vault.index.store(records)] == ["a.md"]
        assert vault.index.status().files == 0


@pytest.mark.parametrize(
    "odd",
    [
        {"aliases": (AliasFact("odd", 2**63),)},  # type: ignore[arg-type]
        {"aliases": (AliasFact("odd", "\ud800"),)},
        {"aliases": (AliasFact("odd", ["a list"]),)},  # type: ignore[arg-type]
        {"headings": (HeadingFact(1, "odd", 2**28),)},
        {"headings": (HeadingFact(-1, "odd", 0),)},
    ],
    ids=["a large number", "half a character", "no value", "a far heading", "a heading without a level"],
)
def test_a_file_with_a_fact_that_no_row_can_hold_costs_no_other_file_anything(
    monkeypatch: pytest.MonkeyPatch, odd: dict[str, Any]
) -> None:
    """INDEX-26"""
    read_facts = extract.read_facts

    def read(path: str, data: bytes, size: int) -> Facts:
        return replace(read_facts(path, data, size), **(odd if path == "b.md" else {}))

    monkeypatch.setattr(extract, "read_facts", read)
    with MemoryVault({"a.md": "[[b]]", "b.md": "# odd\n[[a]]", "c.md": "[[b]]"}) as vault:
        vault.indexer.complete()
        assert [link.source for link in vault.graph.backlinks(VaultPath("b.md")).value] == ["a.md", "c.md"]
        assert vault.graph.warnings().value == {"b.md": (UNSTORABLE,)}
        assert vault.indexer.pending.by_path == {}
        search = Search(vault.indexer, vault.catalog, vault.read, lambda: IgnoreFilters(()))
        found = search.find(Request("odd", "exact"))
        assert ([hit.path for hit in found.hits], found.incomplete) == (["b.md"], None)
        assert "b.md" in str(search.find(Request("odd")).incomplete)


def test_an_index_that_is_begun_anew_has_the_words_that_the_one_before_had() -> None:
    """INDEX-12: words that were stored already are not stored again, but in another index they are"""
    with MemoryVault({"a.md": "a quetzalcoatl"}) as vault:
        search = Search(vault.indexer, vault.catalog, vault.read, lambda: IgnoreFilters(()))
        for _ in range(2):
            vault.indexer.complete()
            assert [hit.path for hit in search.find(Request("etzalco", "exact")).hits] == ["a.md"]
            vault.index.database.begin_anew()


def test_the_numbers_of_files_are_kept_until_files_come_or_go() -> None:
    """SEARCH-48"""
    with MemoryVault({"a.md": "one", "b.md": "two"}) as vault:
        numbers = FileNumbers(vault.catalog)
        vault.indexer.complete()
        first = vault.indexer.query(numbers.numbered_files)
        vault.write("a.md", "another text")
        vault.look()
        vault.indexer.complete()
        assert vault.indexer.query(numbers.numbered_files) is first, "a change of a text leaves them"

        vault.delete("b.md")
        vault.write("c.md", "three")
        vault.look()
        vault.indexer.complete()
        assert sorted(vault.indexer.query(numbers.numbered_files).paths.values()) == ["a.md", "c.md"]


def test_a_path_that_is_both_gone_and_there_is_there() -> None:
    with MemoryVault({"a.md": "[[b]]"}) as vault:
        contents = vault.contents()
        apply(vault.index, contents)
        apply(vault.index, contents, [contents[0][0].path])
        assert len(dump(vault.index)["links"]) == 1


def test_the_status_says_where_the_index_is_and_what_it_holds(tmp_path: Path) -> None:
    with MemoryVault({"a.md": "[[b]] #t", "b.md": "---\nx: [\n---\n"}, tmp_path / "v.db") as vault:
        apply(vault.index, vault.contents())
        status = vault.index.status()

        assert status.file is not None
        assert status.file.parent == tmp_path
        assert status.bytes > 0
        assert (status.files, status.warnings, status.problem) == (2, 1, None)
        assert status.rows["links"] == status.rows["tags"] == 1


def test_a_changed_paragraph_writes_little_and_no_change_writes_much(tmp_path: Path) -> None:
    """INDEX-45, INDEX-53: what the changes leave in the full-text index is merged apart from them."""
    texts = flat_notes(150)
    place = tmp_path / "v.db"
    with MemoryVault(texts, place) as vault:
        vault.indexer.complete()
        sizes = []
        for name in list(texts)[:60]:
            vault.index.database.truncate_journal()
            before, after = texts[name][:2_000], texts[name][2_000:]
            vault.write(name, f"{before} changed {after}")
            vault.look()
            vault.indexer.complete()
            sizes.append(place.with_name("v.db-wal").stat().st_size)
        assert median(sizes) <= 100_000
        assert max(sizes) <= 200_000

        written, steps = [0], 0
        while vault.index.merge():
            written.append(place.with_name("v.db-wal").stat().st_size)
            vault.index.database.truncate_journal()
            steps += 1
        with vault.index.database.read_transaction() as connection:
            assert search_document.count_segments(connection) <= search_document.FEW_SEGMENTS
        assert steps > 0
        assert max(written) <= 2_000_000
        assert vault.indexer.query(lambda rows: rows.full_text.count('"changed"')) == 60


def test_processes_that_store_a_change_each_leave_few_segments(tmp_path: Path) -> None:
    """INDEX-45: a command has no background that merges."""
    place = tmp_path / "v.db"
    texts = flat_notes(30)
    with MemoryVault(texts, place) as vault:
        vault.indexer.complete()
    most = 0
    for n in range(40):
        texts["0.md"] = "changed " * (n + 1)
        with MemoryVault(texts, place) as vault:
            vault.indexer.complete()
            with vault.index.database.read_transaction() as connection:
                most = max(most, search_document.count_segments(connection))
            vault.indexer.close()
    assert search_document.FEW_SEGMENTS < most <= 2 * search_document.FEW_SEGMENTS
