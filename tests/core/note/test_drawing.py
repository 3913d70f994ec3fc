"""Drawings: their text is read, the drawing itself is not, and nobody edits its data (DRAW-1 to DRAW-4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.index import extract
from obsidian_mcp.core.index.facts import Facts
from obsidian_mcp.core.note import drawing
from obsidian_mcp.errors import NotText

NEW = """---
excalidraw-plugin: parsed
tags: [own]
---
Above #note

# Excalidraw Data

## Text Elements
Kinetics of rates ^M6JWXfuQ

Two
lines [[Other]] ^abcd_-12

## Embedded Files
f00: [[Picture.png]]

%%
## Drawing
```compressed-json
N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATL #tag [[Nowhere]]
```
%%
"""
OLD = '# Mine\n%%\n# Text Elements\nFirst ^aaaaaaaa\n\n# Drawing\n```json\n{"type":"#no"}\n```\n%%\n'


def facts(path: str, body: str) -> Facts:
    return extract.read_facts(path, body.encode(), len(body.encode()))


def words_of(found: Facts) -> set[str]:
    return set(map(bytes.decode, found.content.words))


def test_the_texts_of_a_drawing_are_searched_and_the_drawing_is_not() -> None:
    """DRAW-1, DRAW-2"""
    found = facts("D.md", NEW)
    words = words_of(found)
    assert {"kinetics", "lines", "above"} <= words
    assert not {"m6jwxfuq", "compressed", "n4kakaralgngdguwglgaqqqdwmyemaa2algcybouatl"} & words
    assert [tag.tag for tag in found.tags] == ["own", "note"]
    assert [link.path for link in found.links] == ["Other", "Picture.png"]


def test_older_drawings_are_read_too() -> None:
    """DRAW-1"""
    found = facts("Old.excalidraw.md", OLD)
    assert {"first", "mine"} <= words_of(found)
    assert "json" not in words_of(found)
    assert found.tags == ()


def test_another_note_with_such_headings_is_an_ordinary_note() -> None:
    """DRAW-1"""
    assert "aaaaaaaa" in words_of(facts("Note.md", OLD))


def test_a_drawing_that_is_no_note_gives_its_texts() -> None:
    """DRAW-3"""
    body = '{"elements":[{"type":"text","text":"one"},{"type":"line"},{"type":"text","text":"x","isDeleted":true}]}'
    assert facts("a.excalidraw", body).content.text == "one"
    for broken in ("", "{", "[]", '{"elements":1}'):
        assert facts("a.excalidraw", broken).content.text == ""


@pytest.mark.parametrize("body", [NEW, OLD])
def test_every_offset_stays(body: str) -> None:
    """DRAW-2"""
    for made in (drawing.without_drawing(body), drawing.searched_text(body)):
        assert len(made) == len(body)
        assert made.count("\n") == body.count("\n")


def test_text_is_edited_above_the_data_only() -> None:
    """DRAW-4"""
    drawing.check_edit("D.md", NEW, NEW.replace("Above", "Over and above"))
    drawing.check_edit("Note.md", OLD, OLD + "more")
    for after in (NEW + "more", NEW.replace("Kinetics", "Other"), ""):
        with pytest.raises(NotText, match="is a drawing"):
            drawing.check_edit("D.md", NEW, after)


@given(st.text(alphabet="# TextElmnsDrawig%^`\n a1", max_size=60))
def test_any_text_keeps_its_length(body: str) -> None:
    """DRAW-2"""
    assert len(drawing.searched_text(body)) == len(body)
