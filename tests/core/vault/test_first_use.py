"""A vault before its files are listed and its index is opened (CLI-20)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from sqlite3 import Connection

import pytest

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.core.files.policy_file import PolicyFile
from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.core.index.index import Index
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.vault.scanning import Scanning
from obsidian_mcp.core.vault.vault import Vault
from tests.core.memory import Always

HIDDEN = ["Secret/Note.md", ".hidden/Note.md"]
NAMES = ["Note.md", "sub/note.md", "sub/Other.md", "Cafe\u0301.md", "sub/Caf\u00e9.md", *HIDDEN]


class Opened:
    """Counts how often the index is opened."""

    times = 0

    def __call__(self) -> Index:
        self.times += 1
        return open_index(None)


@pytest.fixture
def opened() -> Opened:
    return Opened()


@pytest.fixture
def vault(tmp_path: Path, opened: Opened) -> Vault:
    root = tmp_path / "vault"
    for name in NAMES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"[[{name}]]\n", encoding="utf-8", newline="\n")
    allowed = PolicyFile('hidden = ["Secret/"]').policy("vault", str(root))
    return Vault("vault", Disk(root), Scanning(), SqliteJournal(tmp_path / "state"), opened, policy=allowed)


@pytest.mark.parametrize("name", ["Note.md", "NOTE.md", "Other.md", "Caf\u00e9.md", "cafe\u0301.md", "none.md"])
def test_names_alone_find_the_files_that_the_whole_list_has(vault: Vault, name: str) -> None:
    """CLI-20"""
    found = vault.catalog_of(name)
    assert not vault.is_listed
    vault.refresh()
    paths = vault.catalog.find_by_name(name)
    assert found.find_by_name(name) == paths
    assert sorted(found) == sorted(vault.catalog.entry(path) for path in paths)
    assert vault.catalog_of(name) is vault.catalog
    vault.close()


def test_the_index_is_opened_by_the_first_question_about_many_notes(vault: Vault, opened: Opened) -> None:
    vault.refresh()
    assert vault.read_text(vault.find("Other")).text.body == "[[sub/Other.md]]\n"
    assert opened.times == 0
    assert [link.source for link in vault.graph.backlinks(vault.find("Other").path).value] == ["sub/Other.md"]
    vault.search.prepare()
    assert opened.times == 1
    vault.close()


def test_a_note_that_comes_while_the_background_begins_is_found(tmp_path: Path, opened: Opened) -> None:
    """WATCH-01"""
    root = tmp_path / "vault"
    root.mkdir()

    def begin(indexer: Indexer) -> None:
        indexer.pending.begin()
        (root / "new.md").write_text("[[target]]", encoding="utf-8", newline="\n")
        opening.refresh()

    journal = SqliteJournal(tmp_path / "state")
    opening = Vault("vault", Disk(root), Always(), journal, opened, begin_background=begin)
    assert [found.name for found in opening.graph.unresolved_links().value] == ["target"]
    opening.close()


def test_an_index_whose_background_cannot_begin_is_closed_and_opened_again_by_the_next_question(
    tmp_path: Path, opened: Opened, unclosed: Callable[[], list[Connection]]
) -> None:
    def begin(_: Indexer) -> None:
        if opened.times == 1:
            raise RuntimeError("can't start new thread")

    (tmp_path / "vault").mkdir()
    journal = SqliteJournal(tmp_path / "state")
    vault = Vault("vault", Disk(tmp_path / "vault"), Always(), journal, opened, begin_background=begin)
    with pytest.raises(RuntimeError):
        vault.graph.unresolved_links()
    journal.close()
    assert unclosed() == []
    assert vault.graph.unresolved_links().value == ()
    vault.close()
    assert unclosed() == []


class Early(Disk):
    """Lists a file between its creation and its writing."""

    def scan(self, folder: str = "", is_wanted: Callable[[str], bool] | None = None) -> Iterator[DiskFile]:
        return (file._replace(size=0) for file in super().scan(folder, is_wanted))


def test_a_note_that_is_listed_before_it_is_written_is_found(tmp_path: Path, opened: Opened) -> None:
    """INDEX-42: a command said "1 changed file is not in the index yet"."""
    root = tmp_path / "vault"
    root.mkdir()
    (root / "new.md").write_text("[[target]]", encoding="utf-8", newline="\n")
    opening = Vault("vault", Early(root), Scanning(), SqliteJournal(tmp_path / "state"), opened)
    answer = opening.graph.unresolved_links()
    assert ([found.name for found in answer.value], answer.notice) == (["target"], None)
    opening.close()


def test_a_question_before_the_first_look_at_the_folder_knows_every_file(vault: Vault) -> None:
    assert {use.name for use in vault.graph.unresolved_links().value} == set()
    assert vault.is_listed
    vault.close()
