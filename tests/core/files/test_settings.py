"""What the app's settings files say (semantics 4.3, 6.2, 6.4, 8.3)."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from obsidian_mcp.core.files.settings import (
    BROKEN_SETTINGS,
    AppSettings,
    IgnoreFilters,
    RegisteredVault,
    app_settings,
    parse_registry,
    property_types,
)

REAL_VAULTS = Path(__file__).parents[4] / "shared" / "data" / "vaults"


@pytest.mark.parametrize("text", [None, "", "  \n", "{}", "\ufeff{}"])
def test_without_settings_the_apps_defaults_hold(text: str | None) -> None:
    assert app_settings(text) == AppSettings()
    assert parse_registry(text) == ()
    assert dict(property_types(text).types) == {"tags": "tags", "aliases": "aliases", "cssclasses": "multitext"}


def test_every_setting_is_read_and_unknown_ones_are_passed_over() -> None:
    settings = app_settings(
        json.dumps(
            {
                "newLinkFormat": "relative",
                "useMarkdownLinks": True,
                "newFileLocation": "folder",
                "newFileFolderPath": "Inbox",
                "attachmentFolderPath": "./img",
                "trashOption": "local",
                "userIgnoreFilters": ["src/"],
                "vimMode": True,
            }
        )
    )
    assert settings == AppSettings(
        new_link_format="relative",
        use_markdown_links=True,
        new_file_location="folder",
        new_file_folder="Inbox",
        attachment_folder="./img",
        trash_option="local",
        ignore_filters=("src/",),
    )


@pytest.mark.parametrize(
    "text", ["{", "[]", "null x", '"text"', "12", '{"newLinkFormat": }', "[" * 100_000], ids=lambda text: text[:12]
)
def test_a_broken_file_means_the_defaults_and_the_vaults_own_trash(text: str) -> None:  # semantics 6.9 #14
    """FILE-16"""
    assert app_settings(text) == AppSettings(trash_option="local", warnings=(BROKEN_SETTINGS,))


def test_a_value_that_cannot_be_meant_is_passed_over_and_the_others_hold() -> None:
    settings = app_settings(
        '{"newLinkFormat": "longest", "useMarkdownLinks": "yes", "userIgnoreFilters": ["a/", 3],'
        ' "trashOption": ["local"], "attachmentFolderPath": 5, "newFileFolderPath": "x"}'
    )
    assert settings == AppSettings(new_file_folder="x", ignore_filters=("a/",))


def test_a_setting_that_is_null_has_its_default() -> None:
    assert app_settings('{"userIgnoreFilters": null, "newLinkFormat": null}') == AppSettings()


def test_types_are_found_in_any_case_and_three_of_them_are_fixed() -> None:
    types = property_types('{"types": {"Rating": "number", "tags": "text", "odd": "polygon", "CSSclasses": "date"}}')
    assert types.assigned_type("RATING") == "number"
    assert types.assigned_type("tags") == "tags"
    assert types.assigned_type("cssclasses") == "multitext"
    assert types.assigned_type("odd") is None
    assert types.assigned_type("unheard") is None


def test_the_vaults_of_the_app_keep_their_order_and_broken_ones_are_left_out() -> None:
    registry = parse_registry(
        json.dumps(
            {
                "vaults": {
                    "aa": {"path": "/v/One", "ts": 1700000000000, "open": True},
                    "bb": {"path": "C:\\Zwei", "ts": "soon"},
                    "cc": {"ts": 3},
                    "dd": [],
                },
                "cli": True,
            }
        )
    )
    assert registry == (
        RegisteredVault("aa", "/v/One", 1700000000000, open=True),
        RegisteredVault("bb", "C:\\Zwei"),
    )


@pytest.mark.parametrize(
    ("entry", "path", "hidden"),
    [
        ("src/", "src/a.md", True),  # semantics 8.4 #4
        ("src/", "asrc/a.md", False),
        ("src/", "a/src/b.md", False),
        ("src/", "Src/a.md", False),
        ("/src/x", "src/x.md", True),
        ("node", "node_modules/a.md", True),
        (r"/\.draft\.md$/", "x.draft.md", True),  # semantics 8.4 #5
        (r"/\.draft\.md$/", "x.draft.md.md", False),
        ("/^Archive/", "b/Archive.md", False),
        ("", "a.md", False),
        ("/", "a.md", False),
        ("//", "a.md", False),
        ("日本/", "日本/a.md", True),
    ],
)
def test_excluded_files_are_hidden_by_prefix_or_expression(entry: str, path: str, hidden: bool) -> None:
    filters = IgnoreFilters([entry])
    assert filters(path) is hidden


def test_an_expression_that_cannot_be_read_hides_nothing() -> None:
    filters = IgnoreFilters(["/(/", "b/"])
    assert not filters("a.md")
    assert filters("b/a.md")


def test_an_expression_that_never_ends_is_stopped() -> None:
    filters = IgnoreFilters([r"/^(a|aa|a?a)+$/"])
    start = time.process_time()
    assert not filters("a" * 60 + "!")
    assert time.process_time() - start < 5


def test_no_filters_are_false() -> None:
    assert not IgnoreFilters([])
    assert IgnoreFilters(["a/"])


@pytest.mark.skipif(not REAL_VAULTS.is_dir(), reason="the real vaults of ../shared/data are not here")
@pytest.mark.parametrize("vault", ["kepano", "tasks-demo"])
def test_the_settings_of_real_vaults_are_read(vault: str) -> None:
    folder = REAL_VAULTS / vault / ".obsidian"
    read = {name: (folder / name).read_text(encoding="utf-8") for name in ("app.json", "types.json")}
    app, types = app_settings(read["app.json"]), property_types(read["types.json"])
    assert app != AppSettings()
    assert len(types.types) > 3
