"""From what a person writes to one file (specs/names.md)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.near_names import not_found
from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.errors import AmbiguousName


def catalog(*disks: str) -> Catalog:
    return Catalog(DiskFile(disk, 1, 1) for disk in disks)


VAULT = catalog(
    "Note.md",
    "a/Note.md",
    "a/b/Note.md",
    "a/b/Deep.md",
    "Projects/Alpha.md",
    "img/Figure 1.png",
    "map.png",
    "img/map.png",
    "v1.2.md",
    "Re\u0301sume\u0301.md",
    "日本/メモ.md",
    "case/X.md",
    "case/x.md",
)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("Alpha", "Projects/Alpha.md"),
        ("alpha.MD", "Projects/Alpha.md"),
        ("projects/ALPHA", "Projects/Alpha.md"),
        ("Note.md", "Note.md"),
        ("note.md", "Note.md"),
        ("a/Note", "a/Note.md"),
        ("b/Note", "a/b/Note.md"),
        ("Deep", "a/b/Deep.md"),
        ("v1.2", "v1.2.md"),
        ("Figure 1.png", "img/Figure 1.png"),
        ("img/figure 1.PNG", "img/Figure 1.png"),
        ("map.png", "map.png"),
        ("img/map.png", "img/map.png"),
        ("r\u00e9sum\u00e9", "R\u00e9sum\u00e9.md"),
        ("re\u0301sume\u0301.md", "R\u00e9sum\u00e9.md"),
        ("メモ", "日本/メモ.md"),
        ("case/x.md", "case/x.md"),
        ("case/X", "case/X.md"),
    ],
)
def test_a_name_finds_its_file(raw: str, path: str) -> None:
    """NAME-03, NAME-04, NAME-05, NAME-06"""
    found = VAULT.find(raw)

    assert found is not None
    assert found.path == path


@pytest.mark.parametrize(
    ("raw", "candidates"),
    [("Note", ["Note.md", "a/Note.md", "a/b/Note.md"]), ("x", ["case/X.md", "case/x.md"])],
)
def test_a_name_that_several_files_have_is_ambiguous(raw: str, candidates: list[str]) -> None:
    """NAME-04"""
    with pytest.raises(AmbiguousName) as error:
        VAULT.find(raw)

    assert error.value.data["candidates"] == candidates
    assert all(candidate in error.value.message for candidate in candidates)


@pytest.mark.parametrize("raw", ["Figure 1", "Alph", "c/Note", "Projects", "pha"])
def test_a_part_of_a_name_is_not_the_name(raw: str) -> None:
    """NAME-05"""
    assert VAULT.find(raw) is None


def test_a_missing_name_is_answered_with_the_nearest() -> None:
    """NAME-10"""
    error = not_found(VAULT, "Aplha")

    assert error.data["near"] == ["Projects/Alpha.md"]
    assert "Projects/Alpha.md" in error.message


def test_a_folder_taken_for_a_note_is_said_to_be_one() -> None:
    """NAME-10"""
    assert "folder" in not_found(VAULT, "projects").message


@pytest.mark.parametrize(
    ("raw", "path", "disk"),
    [
        ("New", "New.md", "New.md"),
        ("New.md", "New.md", "New.md"),
        ("[[New|shown]]", "New.md", "New.md"),  # NAME-12
        ("Board.canvas", "Board.canvas", "Board.canvas"),
        ("v2.0", "v2.0.md", "v2.0.md"),
        ("projects/New", "Projects/New.md", "Projects/New.md"),
        ("A/B/c/New", "a/b/c/New.md", "a/b/c/New.md"),
    ],
)
def test_a_new_note_goes_into_the_folder_as_it_is_spelled(raw: str, path: str, disk: str) -> None:
    """NAME-07, NAME-08"""
    assert VAULT.new_path(raw) == (path, disk)


def test_a_folder_stored_decomposed_is_used_as_the_disk_has_it() -> None:
    """NAME-08, NAME-09"""
    vault = catalog("Cafe\u0301/x.md")

    assert vault.new_path("Caf\u00e9/y") == ("Caf\u00e9/y.md", "Cafe\u0301/y.md")


@pytest.mark.parametrize("part", ["^id", "A heading", "A#B"])
def test_a_name_with_a_part_is_answered_with_the_note(part: str) -> None:
    """NAME-10"""
    error = not_found(VAULT, f"alpha#{part}")
    assert f"'Projects/Alpha.md' is one; give '{part}' in the argument for a section or heading" in error.message
