"""The app's bookmarks: listed, added and removed, every other byte as it was (specs/bookmarks.md)."""

from __future__ import annotations

import json

import pytest

from obsidian_mcp.core.files.bookmarks import Bookmark, add, read_bookmarks, remove
from obsidian_mcp.core.files.policy import DEFAULT, Globs
from obsidian_mcp.errors import AmbiguousName, InvalidArguments, NoteNotFound

ITEMS = [
    {"type": "file", "ctime": 1, "path": "A.md", "title": "First"},
    {
        "type": "group",
        "ctime": 2,
        "items": [
            {"type": "file", "ctime": 3, "path": "B.md", "subpath": "#Head"},
            {"type": "search", "ctime": 4, "query": "x"},
        ],
        "title": "Work",
    },
    {"type": "graph", "ctime": 5, "options": {"k": [1, 2]}},
]
BODY = json.dumps({"items": ITEMS, "odd": 1.50}, indent=2)


def test_bookmarks_are_listed_in_order_with_their_groups() -> None:
    """BOOK-1"""
    assert read_bookmarks(BODY) == [
        Bookmark("file", "A.md", "First"),
        Bookmark("file", "B.md#Head", "", "Work"),
        Bookmark("search", "x", "", "Work"),
        Bookmark("graph", ""),
    ]
    assert read_bookmarks(None) == read_bookmarks("") == read_bookmarks("{}") == []


def test_a_bookmark_is_added_last_and_nothing_else_changes() -> None:
    """BOOK-2"""
    after = add(BODY, Bookmark("file", "C.md#^b", "See"), 7)
    made = {"type": "file", "ctime": 7, "path": "C.md", "subpath": "#^b", "title": "See"}
    assert after == json.dumps({"items": [*ITEMS, made], "odd": 1.50}, indent=2)
    assert remove(after, "see", DEFAULT) == (BODY, Bookmark("file", "C.md#^b", "See"))


def test_a_bookmark_goes_into_its_group_which_is_made_where_it_is_missing() -> None:
    """BOOK-2"""
    after = add(BODY, Bookmark("url", "https://a.b", "", "work"), 7)
    assert json.loads(after)["items"][1]["items"][2] == {"type": "url", "ctime": 7, "url": "https://a.b"}
    assert after == json.dumps(json.loads(after), indent=2)
    new = json.loads(add(BODY, Bookmark("folder", "F", "", "New"), 7))["items"][3]
    made = {"type": "folder", "ctime": 7, "path": "F"}
    assert new == {"type": "group", "ctime": 7, "items": [made], "title": "New"}


def test_the_first_bookmark_makes_the_file() -> None:
    """BOOK-2"""
    made = {"items": [{"type": "search", "ctime": 7, "query": "tag:#x"}]}
    for body in (None, "", "{}"):
        assert add(body, Bookmark("search", "tag:#x"), 7) == json.dumps(made, indent=2)


def test_the_same_target_again_gets_the_title_and_is_not_added() -> None:
    """BOOK-3"""
    after = add(BODY, Bookmark("file", "A.md", "Other"), 7)
    assert after == BODY.replace('"First"', '"Other"')
    assert add(BODY, Bookmark("file", "A.md"), 7) == BODY
    titled = add(BODY, Bookmark("search", "x", "Mine"), 7)
    assert titled == BODY.replace('"query": "x"', '"query": "x",\n          "title": "Mine"')


def test_a_bookmark_in_a_group_is_removed_by_its_target() -> None:
    """BOOK-4"""
    after, removed = remove(BODY, "B.md#Head", DEFAULT)
    assert removed.group == "Work"
    expected = json.loads(BODY)
    del expected["items"][1]["items"][0]
    assert after == json.dumps(expected, indent=2)


def test_what_is_not_there_or_not_one_is_an_error() -> None:
    """BOOK-4"""
    with pytest.raises(NoteNotFound):
        remove(BODY, "Z.md", DEFAULT)
    twice = add(BODY, Bookmark("file", "C.md", "First"), 7)
    with pytest.raises(AmbiguousName, match=r"A\.md.*C\.md"):
        remove(twice, "First", DEFAULT)


def test_a_bookmark_that_the_policy_hides_is_not_there_to_remove() -> None:
    """POL-18"""
    policy = DEFAULT._replace(hidden=(Globs(["A.md"]),))
    with pytest.raises(NoteNotFound):
        remove(BODY, "First", policy)
    twice = add(BODY, Bookmark("file", "C.md", "First"), 7)
    assert remove(twice, "First", policy)[0] == BODY


@pytest.mark.parametrize("body", ["{", "[]", "1"])
def test_a_broken_file_is_neither_read_nor_changed(body: str) -> None:
    """BOOK-1"""
    with pytest.raises(InvalidArguments, match="cannot be read"):
        read_bookmarks(body)
    with pytest.raises(InvalidArguments, match="cannot be read"):
        add(body, Bookmark("file", "A.md"), 1)
