"""Which part of a note an inline field marks (MEM-03)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.note.validity import find_block, link_targets

FIELD = "[superseded_by:: [[X]]]"


@pytest.mark.parametrize(
    ("text", "block"),
    [
        (f"a\n\nb\nc {FIELD}\nd", f"b\nc {FIELD}\nd"),  # a paragraph, at the end of a text without a last newline
        (f"a\n---\nb {FIELD}\n\nc", f"b {FIELD}"),
        (f"# A\nb {FIELD}\n- c", f"b {FIELD}"),
        (f"a\n- b {FIELD}\n  - c\n- d", f"- b {FIELD}\n  - c"),
        (f"- a\n- b {FIELD}", f"- b {FIELD}"),
        (f"# A\n## B {FIELD}\nb\n### C\nc\n## D\n", f"## B {FIELD}\nb\n### C\nc"),
        ("a\n\nsuperseded_by:: [[X]]", "a\n\nsuperseded_by:: [[X]]"),  # alone in its paragraph: the note
        (f"a\nb\n\n{FIELD}\n^id\nc", f"{FIELD}\n^id\nc"),
    ],
)
def test_a_field_marks_the_item_the_section_or_the_paragraph_in_which_it_stands(text: str, block: str) -> None:
    start, end = find_block(text, text.index("superseded_by"))
    assert text[start:end].rstrip("\n") == block


@pytest.mark.parametrize(
    ("value", "targets"),
    [
        ("[[A]] and [b](My%20note.md)", ("A", "My note.md")),
        (" A ", ("A",)),
        (["[[A]]", "B", "[[A]]"], ("A", "B")),
        ("  ", ()),
        (True, ()),
        (None, ()),
    ],
)
def test_successors_are_the_links_of_a_value_or_its_text(value: object, targets: tuple[str, ...]) -> None:
    assert link_targets(value) == targets
