"""What is named is found as it is typed, and no refusal offers what was asked for (NAME-18, LINK-51, EDIT-04)."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.text.typed_text import describe_difference, typed_form
from obsidian_mcp.errors import AmbiguousName, AppError, SectionNotFound, TextNotFound, TextNotUnique
from obsidian_mcp.tools.registry import call
from tests.tools.conftest import Opened

TYPED = "Café's plan - week 9"
WRITTEN = {
    "no-break space": TYPED.replace(" ", "\u00a0"),
    "thin space": TYPED.replace(" ", "\u2009"),
    "ideographic space": TYPED.replace(" ", "\u3000"),
    "decomposed": unicodedata.normalize("NFD", TYPED),
    "soft hyphen": TYPED.replace("pl", "p\u00adl"),
    "zero-width space": TYPED.replace("pl", "p\u200bl"),
    "curly quote": TYPED.replace("'", "’"),
    "dash": TYPED.replace("-", "–"),
    "capitals": TYPED.upper(),
    "all": unicodedata.normalize("NFD", TYPED.replace(" ", "\u00a0").replace("'", "’").replace("pl", "p\u00adl")),
}


def run(app: App, tool: str, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


def vault(written: str) -> dict[str, str]:
    cards = {"nodes": [{"id": "1", "type": "text", "text": written, "x": 0, "y": 0, "width": 9, "height": 9}]}
    return {
        "Note.md": f"---\n{written}: 1\n---\n# {written}\nText\n\n## Below\n- [ ] {written}\n- [ ] Other\n",
        "Board.md": f"---\nkanban-plugin: board\n---\n\n## Start\n\n- [ ] card\n\n## {written}\n\n- [ ] {written}\n",
        "Cards.canvas": json.dumps({**cards, "edges": []}),
        "Rows.base": f'views:\n  - type: table\n    name: "{written}"\n',
        f"Templates/{written}.md": "Hello\n",
    }


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_headings_tasks_lanes_cards_properties_views_and_templates_are_found_as_typed(
    opened: Opened, written: str
) -> None:
    """NAME-18"""
    bookmarks = {"items": [{"type": "search", "query": "x", "title": written}]}
    app = opened(vault(written), templates={"folder": "Templates"}, bookmarks=bookmarks)

    assert run(app, "read_note", name="Note", section=TYPED)["lines"].startswith("4-")
    assert run(app, "read_note", name="Note", section=f"{TYPED}#Below")["lines"] == "7-9"
    assert run(app, "edit_note", name="Note", operation="append_section", section=TYPED, content="x", dry_run=True)
    assert run(app, "update_task", name="Note", task=TYPED, status="done")["new"] == [f"- [x] {written}"]
    assert run(app, "update_task", name="Note", task=f"- [x] {TYPED}", status="todo")["new"] == [f"- [ ] {written}"]
    moved = run(app, "update_task", name="Board", task="card", lane=TYPED)
    assert moved["lane"] == written
    assert run(app, "get_properties", name="Note", property=TYPED)["properties"] == {written: 1}
    assert run(app, "get_properties", property=TYPED)["total"] == 1
    change = run(app, "set_properties", names=["Note"], properties={TYPED: 2})
    assert change["total"] == 1
    assert run(app, "get_properties", name="Note")["properties"] == {written: 2}
    operations = [{"op": "edit", "card": TYPED, "text": "new"}]
    assert run(app, "edit_canvas", name="Cards.canvas", operations=operations)["ids"] == ["1"]
    assert run(app, "query", query="Rows.base", view=TYPED)["total"]
    assert run(app, "list_templates", template=TYPED)["content"] == "Hello\n"
    assert run(app, "list_bookmarks", text=TYPED)["bookmarks"]


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_columns_and_rows_of_a_table_are_found_as_typed(opened: Opened, written: str) -> None:
    """NAME-18"""
    app = opened({"Note.md": f"| {written} | B |\n|---|---|\n| {written} | 1 |\n| other | 2 |\n"})
    for row, column in ((TYPED, "B"), ({TYPED: TYPED}, "B"), (2, TYPED)):
        operations = [{"op": "set", "row": row, "column": column, "value": "new"}]
        assert run(app, "edit_table", name="Note", operations=operations, dry_run=True)["changed"]


def test_the_very_cell_goes_before_one_that_looks_alike(opened: Opened) -> None:
    """NAME-18"""
    app = opened({"Note.md": "| A | B |\n|---|---|\n| a\u00a0b | 1 |\n| a b | 2 |\n"})
    operations = [{"op": "set", "row": "a b", "column": "B", "value": "new"}]
    diff = run(app, "edit_table", name="Note", operations=operations, dry_run=True)["diff"]
    assert "-| a b | 2 |" in diff


@pytest.mark.parametrize("written", [text for name, text in WRITTEN.items() if name != "capitals"])
def test_notes_are_found_as_typed_where_one_name_looks_so(opened: Opened, written: str) -> None:
    """NAME-18"""
    app = opened({f"Folder/{written}.md": "Text\n"})
    assert run(app, "read_note", name=TYPED)["content"] == "Text\n"
    assert run(app, "read_note", name=f"Folder/{TYPED}.md")["content"] == "Text\n"


def test_the_very_letters_go_before_those_that_look_alike(opened: Opened) -> None:
    """NAME-18"""
    note = "# one\u00a0day\nfirst\n# other\n- [ ] call\u00a0Anna\n- [ ] call Anna\n"
    app = opened({"Note.md": note, "a\u2009b.md": "thin\n", "a b.md": "plain\n"})
    assert run(app, "update_task", name="Note", task="call Anna", status="done")["line"] == 5
    assert run(app, "read_note", name="a b")["content"] == "plain\n"


def test_of_several_that_look_alike_none_is_chosen(opened: Opened) -> None:
    """NAME-18"""
    app = opened({"Note.md": "- [ ] call\u00a0Anna\n- [ ] call\u2009Anna\n", "a\u2009b.md": "", "a\u2002b.md": ""})
    with pytest.raises(TextNotUnique):
        run(app, "update_task", name="Note", task="call Anna", status="done")
    with pytest.raises(AppError) as refused:
        run(app, "read_note", name="a b")
    assert not isinstance(refused.value, AmbiguousName) or "U+" in refused.value.message


@pytest.mark.parametrize(
    ("written", "codes"),
    [
        ("foo\u00a0bar", "U+00A0"),
        ("foo\u2009bar", "U+2009"),
        ("foo\u00ad bar", "U+00AD"),
        ("fo\u200bo bar", "U+200B"),
        ("foo  bar", "'  ' for ' '"),
    ],
)
def test_replacing_names_the_characters_that_differ(opened: Opened, written: str, codes: str) -> None:
    """EDIT-04"""
    app = opened({"Note.md": f"One\n{written} two\n"})
    with pytest.raises(TextNotFound) as refused:
        run(app, "edit_note", name="Note", operation="replace_text", find="foo bar", content="x")
    assert codes in refused.value.message
    assert written == "foo  bar" or json.dumps(written) in refused.value.message
    (warning,) = run(app, "replace", find="foo bar", content="x", names=["Note"])["warnings"]
    assert "In 'Note.md': Line 2 has it" in warning
    assert codes in warning
    assert run(app, "edit_note", name="Note", operation="replace_text", find=written, content="x")["changed"]


@pytest.mark.parametrize("mark", ["> [!note]\n> ", "> ", "- "])
@pytest.mark.parametrize("tool", ["read_note", "edit_note"])
def test_a_heading_inside_a_quote_callout_or_list_is_said_to_begin_no_section(
    opened: Opened, mark: str, tool: str
) -> None:
    """EDIT-05"""
    app = opened({"Note.md": f"# Top\n{mark}## Log\n"})
    arguments = {"operation": "append_section", "content": "x"} if tool == "edit_note" else {}
    with pytest.raises(SectionNotFound) as refused:
        run(app, tool, name="Note", section="Log", **arguments)
    line = 3 if "\n" in mark else 2
    assert f"in line {line} stands inside a quote, callout or list" in refused.value.message
    assert "Headings there are" not in refused.value.message


LINKS = {
    r"[[oak\|Oak]]": ("[[oak|Oak]]", "no backslash, which stands before | in a table only"),
    "[[oak#Café plan]]": (
        unicodedata.normalize("NFD", "[[oak#Café plan]]"),
        "U+0065 U+0301 where U+00E9 was given",
    ),
    "[[thin space]]": ("[[thin\u2009space]]", "U+2009 where U+0020 was given"),
}


@pytest.mark.parametrize("link", LINKS)
def test_a_broken_link_is_never_offered_in_its_own_letters(opened: Opened, link: str) -> None:
    """LINK-51, CHECK-02"""
    meant, difference = LINKS[link]
    headings = unicodedata.normalize("NFD", "# Café plan\n")
    app = opened({"oak.md": headings, "thin\u2009space.md": "x\n", "Note.md": f"{link}\n"})
    (broken,) = run(app, "graph", question="unresolved")["unresolved"]
    assert broken["did_you_mean"] == meant
    assert broken.get("difference") == difference
    (result,) = run(app, "check", only="broken_links")["results"]
    assert result["findings"][0]["text"].endswith(f"did you mean {meant} with {difference}?")


def test_an_escaped_pipe_in_a_table_stays_escaped(opened: Opened) -> None:
    """LINK-51"""
    app = opened({"oak.md": "", "Note.md": "| a |\n|---|\n| [[oka\\|Oak]] |\n"})
    (broken,) = run(app, "graph", question="unresolved")["unresolved"]
    assert broken["did_you_mean"] == r"[[oak\|Oak]]"
    assert "difference" not in broken


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_a_typed_form_differs_only_in_what_looks_alike(written: str) -> None:
    """NAME-18"""
    assert typed_form(written).lower() == TYPED.lower()
    assert typed_form(typed_form(written)) == typed_form(written)
    assert describe_difference(TYPED, TYPED) == ""
    assert describe_difference(TYPED, "Another") == ""
    if written != TYPED:
        assert describe_difference(TYPED, written)
