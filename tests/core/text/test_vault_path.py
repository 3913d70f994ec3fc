"""Paths inside a vault: what is normal, what is refused (specs/names.md)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.text import vault_path
from obsidian_mcp.errors import InvalidName, PermissionDenied


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("Alpha", "Alpha"),
        (" Alpha.md ", "Alpha.md"),
        ("a//b\\c", "a/b/c"),
        ("./a/./b", "a/b"),
        ("a/b/", "a/b"),
        ("e\u0301", "\u00e9"),
        ("a\u00a0b", "a b"),
        ("日本/メモ", "日本/メモ"),
        ("a..b/c...d", "a..b/c...d"),
    ],
)
def test_a_path_is_brought_into_normal_form(raw: str, path: str) -> None:
    """NAME-01"""
    assert vault_path.parse(raw) == path


@pytest.mark.parametrize(
    "raw",
    [
        "../x",
        "a/../x",
        "a/../../x",
        "..\\..\\x",
        "/etc/passwd",
        "\\\\server\\share\\x",
        "\\x",
        "C:\\x",
        "c:x",
        "C:/x",
        ".obsidian/app.json",
        "a/.hidden/x",
        ".x",
        "a\0b",
        "..",
    ],
)
def test_what_leaves_the_vault_or_is_hidden_is_denied(raw: str) -> None:
    with pytest.raises(PermissionDenied):
        vault_path.parse(raw)


@pytest.mark.parametrize("raw", ["", "  ", ".", "./", "/".strip("/")])
def test_an_empty_name_is_invalid(raw: str) -> None:
    with pytest.raises(InvalidName):
        vault_path.parse(raw)


@pytest.mark.parametrize(
    "name",
    [
        *("ab:c.md", "a?.md", "CON.md", "con.md", "a/nul/b.md", "x .md", "x..md", "é" * 130 + ".md", "a*b.md"),
        *("tab\tx.md", "a\ufffeb.md", "\ufdef/x.md", "a\U000fffff.md", "a\udfffb.md", "日/" * 1024 + "x.md"),
    ],
)
def test_names_that_some_system_cannot_hold_are_not_created(name: str) -> None:
    """NAME-07"""
    with pytest.raises(InvalidName):
        vault_path.check_creatable(vault_path.parse(name))


@pytest.mark.parametrize("name", ["Note.md", "日本語のメモ.md", "a#b.md", "v1.2.md", "Conference.md", "f/ü (x) & y.md"])
def test_ordinary_names_are_created(name: str) -> None:
    path = vault_path.parse(name)
    vault_path.check_creatable(path)  # raises for any other

    assert path == name


@pytest.mark.parametrize("letter", ["a", "é", "日", "🙂"])
def test_a_name_may_have_as_many_bytes_as_a_disk_takes_and_no_more(letter: str) -> None:
    """NAME-07: counted in UTF-8, with the extension"""
    width = len(letter.encode())
    longest = "a" * ((255 - len(".md")) % width) + letter * ((255 - len(".md")) // width) + ".md"
    vault_path.check_creatable(vault_path.parse(f"folder/{longest}"))

    with pytest.raises(InvalidName, match="256 bytes long; 255 is the most"):
        vault_path.check_creatable(vault_path.parse(f"folder/b{longest}"))


def test_a_name_that_links_cannot_reach_is_said_so() -> None:
    """NAME-07"""
    assert vault_path.link_warning(vault_path.parse("a#b.md")) is not None
    assert vault_path.link_warning(vault_path.parse("a b.md")) is None


@pytest.mark.parametrize("raw", ["", "/", ".", " "])
def test_the_root_folder_has_many_spellings(raw: str) -> None:
    assert vault_path.parse_folder(raw) is None


def test_a_folder_may_be_written_with_slashes_around_it() -> None:
    assert vault_path.parse_folder("/Projects/") == "Projects"
    with pytest.raises(PermissionDenied):
        vault_path.parse_folder("//server/share")


def test_names_compare_as_the_app_compares_them() -> None:
    assert vault_path.name_key("STRASSE") != vault_path.name_key("Straße")
    assert vault_path.name_key("ΟΔΟΣ") == vault_path.name_key("οδος") == vault_path.name_key("οδοσ")
    assert vault_path.name_key("E\u0301") == vault_path.name_key("\u00e9")
