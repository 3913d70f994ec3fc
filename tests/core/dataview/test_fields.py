"""Inline fields, list items and what a note has (specs/dataview.md)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.dataview.inline_fields import bracketed_fields, full_line_field, item_fields, line_fields
from obsidian_mcp.core.dataview.note_data import read_inline_fields, read_note_items
from obsidian_mcp.core.note.parser import parse

from .note_vault import NoteVault

LINES: list[tuple[str, str, list[tuple[str, str]]]] = [
    ("DV-04", "Key One:: v", [("Key One", "v")]),
    ("DV-04", "**Bold**:: v", [("Bold", "v")]),
    ("DV-04", "## Heading:: v", [("Heading", "v")]),
    ("DV-04", "std::vector is text", [("std", "vector is text")]),
    ("DV-04", "Key (x):: v", []),
    ("DV-04", "A & B:: v", []),
    ("DV-04", "クリスマス:: x", [("クリスマス", "x")]),
    ("DV-04", "a ✅ b:: x", [("a ✅ b", "x")]),
    ("DV-04", "a 👍 b:: x", []),
    ("DV-04", "x" * 32_769 + ":: v", []),
    ("DV-05", "[a:: 1] (b:: 2)", [("a", "1"), ("b", "2")]),
    ("DV-05", "[a:: 1][b:: 2]", [("a", "1")]),
    ("DV-05", "[a:: [x] (y]", [("a", "[x] (y")]),
    ("DV-05", "[a:: \\] b] c", [("a", "\\] b")]),
    ("DV-05", "[[x]] [a:: 1", []),
    ("DV-05", "(a [b:: 1]", [("b", "1")]),
]


@pytest.mark.parametrize(("rule", "line", "fields"), LINES)
def test_a_line_has_its_fields(rule: str, line: str, fields: list[tuple[str, str]]) -> None:
    assert line_fields(line) == fields, rule


@pytest.mark.parametrize("space", ["", " ", "\u3000", "\u00a0"])
def test_any_white_space_may_stand_before_the_date_of_an_emoji(space: str) -> None:
    """DV-06: a Japanese keyboard writes U+3000"""
    assert item_fields(f"買う ⏳{space}2024-05-05", is_task=True) == [("scheduled", "2024-05-05")]


@given(st.text("[]():\\ ax", max_size=30))
def test_bracketed_fields_are_those_of_a_plain_scan(line: str) -> None:
    """DV-05: the quick search finds what looking at every bracket finds."""
    assert bracketed_fields(line) == plain_scan(line)


def plain_scan(line: str) -> list[tuple[str, str]]:
    found = []
    for opening, closing in ("[]", "()"):
        at = line.find(opening)
        while at >= 0:
            field = plain_field(line, at, opening, closing)
            if field:
                found.append((at, *field))
            at = line.find(opening, field[0] if field else at + 1)
    kept: list[tuple[int, int, str, str]] = []
    for span in sorted(found):
        if not kept or kept[-1][1] < span[0]:
            kept.append(span)
    return [(key, value) for _, _, key, value in kept]


def plain_field(line: str, at: int, opening: str, closing: str) -> tuple[int, str, str] | None:
    separator = line.find("::", at + 1)
    key = line[at + 1 : max(separator, 0)]
    if separator < 0 or re.search(r"[\[\]()]", key):
        return None
    nesting, escaped = 0, False
    for end in range(separator + 2, len(line)):
        char = line[end]
        if char == "\\":
            escaped = not escaped
            continue
        if not escaped:
            nesting += (char == opening) - (char == closing)
        escaped = False
        if nesting < 0:
            return end + 1, key.strip(), line[separator + 2 : end].strip()
    return None


@given(st.text(max_size=60))
def test_any_text_has_fields_or_none(text: str) -> None:
    """DV-04, DV-06: no text of a note is too odd to read."""
    whole = full_line_field(text)
    assert ("::" in text) or whole is None
    found = line_fields(text)
    assert all(field.key in text and field.value in text for field in found)
    assert not whole or found
    source = f"- {text}\n\n{text}:: {text}"
    note = parse(source)
    # lines of an item are joined
    assert all(word in source for field in read_inline_fields(note) for word in field.key.split())
    lines = [item.line for item in read_note_items(note)]
    assert lines == sorted(set(lines))


def test_many_unclosed_fields_are_read_in_no_time() -> None:
    """DV-05, DV-29: no line takes more than a time that grows with its length."""
    assert bracketed_fields("[a:: " * 100_000) == []
    assert len(bracketed_fields("[a:: x] " * 50_000)) == 50_000
    assert bracketed_fields("[" * 200_000 + "a:: b") == []


VALUES: list[tuple[str, str, Any]] = [
    ("DV-07", "2021-02-30", "2021-03-02"),
    ("DV-07", "2021-04-18T10:30:15.250+02:00", "2021-04-18T10:30:15.250+02:00"),
    ("DV-07", "2021-08-15T12:40:50[Europe/Paris]", "2021-08-15T12:40:50+02:00"),
    ("DV-07", "2021-13-01", "2021-13-01"),
    ("DV-08", "1h30m, 5 s", "1 hour, 30 minutes, 5 seconds"),
    ("DV-08", "7 Hours", "7 Hours"),
    ("DV-09", "1,000", [1, 0]),
    ("DV-09", "1,", [1]),
    ("DV-09", "1, 2,", "1, 2,"),
    ("DV-09", "[[a]], \"b, c\", #d, true, null", ["[[a|a]]", "b, c", "#d", True, "null"]),
    ("DV-09", "[[a]] [[b]]", "[[a]] [[b]]"),
    ("DV-09", "", None),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "text", "value"), VALUES)
def test_the_text_of_an_inline_field_has_a_value(rule: str, text: str, value: Any) -> None:
    assert NoteVault({"note.md": f"a:: {text}\n"}).value("a") == value, rule


NOTE = """---
up: "[[Other]]"
due: 2024-03-01
length: 3 d
Tags: [x/y, "z w"]
alias: one, two
list: [1, "[[Other]]"]
---
Some Key:: 1

- Some Key:: 2
- [ ] task [Some Key:: 3] 📅 2024-01-05 ^id
    - [x] done
- item [k:: [[Missing]]]
    - [ ] open

# Head *one*
- [x] all ✅ 2024-01-06
    - [X] sub #tag [[Other#part|o]]

Some Key:: 4
#body
"""
VAULT = NoteVault({"f/2024-05-06 note.md": NOTE, "Other.md": "[[2024-05-06 note]]\n"}, frozenset({"Other.md"}))
FIELDS: list[tuple[str, str, Any]] = [
    ("DV-10", 'row["Some Key"]', [2, 1, 4]),
    ("DV-11", "up", "[[Other.md|Other]]"),
    ("DV-11", "length", "3 days"),
    ("DV-11", "list", [1, "[[Other.md|Other]]"]),
    ("DV-12", "some-key", [2, 1, 4]),
    ("DV-12", "Some-key", None),
    ("DV-14", "[file.name, file.folder, file.ext]", ["2024-05-06 note", "f", "md"]),
    (
        "DV-14",
        "file.outlinks",
        ["[[Other.md|Other]]", "[[Other.md|Other]]", "[[Missing|Missing]]", "[[Other.md#part|o]]"],
    ),
    ("DV-14", "file.inlinks", ["[[Other.md|Other]]"]),
    ("DV-14", "file.mtime", "2024-01-02T03:04:05"),
    ("DV-14", "[file.starred, [[Other]].file.starred]", [False, True]),
    ("DV-14", "file.frontmatter.length", "3 d"),
    ("DV-15", "file.lists.symbol", ["-"] * 7),
    ("DV-15", "file.lists.line", [10, 11, 12, 13, 14, 17, 18]),
    ("DV-15", "file.lists.parent", [None, None, 11, None, 13, None, 17]),
    ("DV-15", "file.lists[1].link", "[[f/2024-05-06 note.md#^id|2024-05-06 note > id]]"),
    ("DV-15", "file.lists[5].section", "[[f/2024-05-06 note.md#Head one|2024-05-06 note > Head one]]"),
    ("DV-15", "file.lists[6].tags", ["#tag"]),
    ("DV-15", "file.lists[6].outlinks", ["[[Other#part|o]]"]),
    ("DV-15", "file.lists[1].position.start", {"line": 11, "col": 0, "offset": NOTE.index("- [ ] task")}),
    ("DV-15", "length(file.lists[5].children)", 1),
    ("DV-16", "file.tasks.status", [" ", "x", " ", "x", "X"]),
    ("DV-16", "file.tasks.fullyCompleted", [False, True, False, True, True]),
    ("DV-16", "[file.tasks[0].due, file.tasks[3].completion]", ["2024-01-05", "2024-01-06"]),
    ("DV-17", "file.day", "2024-05-06"),
    ("DV-18", "file.etags", ["#tag", "#body", "#x/y", "#z", "#w"]),
    ("DV-18", "file.tags", ["#tag", "#body", "#x/y", "#x", "#z", "#w"]),
    ("DV-18", "file.aliases", ["one", "two"]),
]


@pytest.mark.parametrize(("rule", "expression", "value"), FIELDS)
def test_a_note_has_its_fields(rule: str, expression: str, value: Any) -> None:
    assert VAULT.value(expression, "f/2024-05-06 note.md") == value, rule


def test_numbers_among_aliases_and_tags_are_written_as_javascript_does() -> None:
    """DV-18"""
    vault = NoteVault({"note.md": "---\naliases: [0.00001, 7.0, 1e21]\ntags: [2024, 0.00005]\n---\n"})
    assert vault.value("file.aliases") == ["0.00001", "7", "1e+21"]
    assert vault.value("file.etags") == ["#2024", "#0.00005"]


def test_links_at_any_depth_of_the_properties_lead_to_their_notes() -> None:
    """DV-11"""
    properties = '---\nmeta: {up: "[[b]]", all: ["[[b]]", x]}\n---\n'
    vault = NoteVault({"note.md": properties, "b.md": "---\nheight: 3\n---\n"})
    assert vault.value("[meta.up.height, meta.all[0].height, meta.all[1]]") == [3, 3, "x"]


def test_yes_and_no_among_aliases_and_tags_are_written_as_javascript_does() -> None:
    vault = NoteVault({"note.md": "---\naliases: [true, false]\ntags: [true]\n---\n"})
    assert vault.value("[file.aliases, file.tags]") == [["true", "false"], ["#true"]]


def test_aliases_are_those_of_the_properties_that_are_not_empty() -> None:
    """DV-18"""
    vault = NoteVault({"note.md": "---\naliases:\nalias: one, two\n---\naliases:: three\n"})
    assert vault.value("file.aliases") == ["one", "two"]
    nested = NoteVault({"note.md": "---\ntags: [a, [b, null], [[c]], null]\n---\n"})
    assert nested.value("file.etags") == ["#a", "#b", "#c"]


def test_an_object_is_as_long_as_it_has_members() -> None:
    """DV-14: a file without a day has one member fewer"""
    vault = NoteVault({"note.md": "", "2024-01-02.md": ""})
    with_day, without = vault.value("[length([[2024-01-02]].file), length(file)]")
    assert with_day == without + 1


def test_a_raw_key_hides_a_canonical_one() -> None:
    """DV-12: `Key` has no canonical name beside a raw `key`."""
    vault = NoteVault({"note.md": "Key:: 1\n\nkey:: 2\n\nKEY:: 3\n"})
    assert vault.value("[key, row.Key, row.KEY]") == [2, 1, 3]
    assert NoteVault({"note.md": "Key:: 1\n\nKEY:: 3\n"}).value("key") == [1, 3]


def test_an_item_before_a_blank_line_within_its_list_has_that_line_too() -> None:
    """DV-15: as the app's cache has it."""
    vault = NoteVault({"note.md": "- one\n- two\n\n- three\n"})
    assert vault.value("[file.lists.text, file.lists.lineCount]") == [["one", "two\n", "three"], [1, 2, 1]]


def test_of_two_items_on_one_line_the_inner_counts() -> None:
    """DV-06: `- 1. text` is two items for the app and one for the plugin."""
    assert NoteVault({"note.md": "- [ ] 1. text\n"}).value("file.lists.task") == [False]


@pytest.mark.parametrize(
    ("fields", "day"),
    [
        ("date:: soon\nday:: 2024-05-07\n", "2024-05-07"),
        ("day:: 2024-05-07\ndate:: 2024-05-08\n", "2024-05-07"),
        ("date:: soon\ndate:: 2024-05-08\n", "2024-05-06"),
    ],
)
def test_the_day_of_a_note_is_that_of_the_first_value_of_a_field(fields: str, day: str) -> None:
    """DV-17: a second value of a key whose first is no date does not count; the name does."""
    assert NoteVault({"2024-05-06.md": fields}).value("file.day", "2024-05-06.md") == day


def test_tags_that_are_null_are_none() -> None:
    """DV-17"""
    assert NoteVault({"note.md": "---\ntags:\naliases:\n---\n"}).value("[file.tags, file.aliases]") == [[], []]


def test_an_impossible_day_in_a_name_is_null() -> None:
    """DV-17: `20231345` is no day."""
    assert NoteVault({"20231345.md": ""}).value("file.day", "20231345.md") is None


def test_only_notes_are_pages() -> None:
    """DV-13: `.md` and `.markdown`; other files have no fields."""
    vault = NoteVault({"a.md": "", "b.markdown": "", "c.canvas": "{}", "note.md": "[[c.canvas]]"})
    assert [row[0] for row in vault.rows("LIST")] == ["[[a.md|a]]", "[[b.markdown|b.markdown]]", "[[note.md|note]]"]
    assert vault.value("[[c.canvas]].file.name") is None
