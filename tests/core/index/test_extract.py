"""What the index keeps of one file, however broken the file is (specs/index.md)."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.dataview.note_data import find_item_places
from obsidian_mcp.core.index import extract, facts
from obsidian_mcp.core.index.facts import (
    BODY_LIMIT,
    LINKS_LIMIT,
    AliasFact,
    Facts,
    HeadingFact,
    InlineFieldFact,
    LinkFact,
    PropertyFact,
    TagFact,
    TaskFact,
)
from obsidian_mcp.core.note import parser
from obsidian_mcp.core.text.text import Text
from tests.core.memory import MemoryVault
from tests.examples import examples

RELATED = 'related: ["[[a#b]]", plain]'
NOTE = f"""\
---
tags: [Work/One, "#two"]
aliases: Other Name
up: "[[Home|h]]"
{RELATED}
---
# A *heading*
See [[Über#x|y]] and ![[pic.png|100]]. ^Id-1

- [ ] do #task
- [x] done [m](sub/m%20n.md#h)
"""


def of(text: str | bytes, path: str = "n.md") -> Facts:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return extract.read_facts(path, data, len(data))


def place(part: str) -> int:
    return NOTE.index(part)


def span(part: str) -> tuple[int, int]:
    return place(part), place(part) + len(part)


def test_a_note_is_kept_as_rows() -> None:
    """INDEX-05"""
    markdown, picture = "[m](sub/m%20n.md#h)", "![[pic.png|100]]"
    assert of(NOTE) == Facts(
        links=(
            LinkFact("home", "property", "Home", "", "h", "[[Home|h]]", "up", None, None),
            LinkFact("a", "property", "a", "#b", None, "[[a#b]]", "related.0", None, None),
            LinkFact("über", "link", "Über", "#x", "y", "[[Über#x|y]]", "", 7, place("[[Über#x|y]]")),
            LinkFact("pic.png", "embed", "pic.png", "", "100", picture, "", 7, place(picture)),
            LinkFact("m n", "link", "sub/m n.md", "#h", "m", markdown, "", 10, place(markdown)),
        ),
        tags=(
            TagFact("work/one", "Work/One", "tags", None),
            TagFact("two", "two", "tags", None),
            TagFact("task", "task", "", 9, *span("#task")),
        ),
        properties=(
            PropertyFact("tags", "tags", "multitext", '["Work/One", "#two"]', *span('tags: [Work/One, "#two"]')),
            PropertyFact("aliases", "aliases", "text", '"Other Name"', *span("aliases: Other Name")),
            PropertyFact("up", "up", "text", '"[[Home|h]]"', *span('up: "[[Home|h]]"')),
            PropertyFact("related", "related", "multitext", '["[[a#b]]", "plain"]', *span(RELATED)),
        ),
        aliases=(AliasFact("other name", "Other Name"),),
        headings=(HeadingFact(1, "A *heading*", place("# A")),),
        tasks=(
            TaskFact(" ", 9, "- [ ] do #task", False, "A *heading*", "", "", linked=False),
            TaskFact("x", 10, "- [x] done [m](sub/m%20n.md#h)", False, "A *heading*", "", "", linked=False),
        ),
        list_items=find_item_places(parser.parse(NOTE)),
    )  # fmt: skip


def test_inline_fields_and_list_items_are_kept_as_dataview_reads_them() -> None:
    note = "Some Key:: 1\n\n- item [k:: [x] v] #tag [[N|o]]\n  more\n- [x] task [t:: 2] ^id\n"
    found = of(note)
    assert found.inline_fields == (
        InlineFieldFact("k", "k", "text", '"[x] v"', "[x] v"),
        InlineFieldFact("some key", "Some Key", "number", "1", "1"),
    )
    assert found.list_items == find_item_places(parser.parse(note))
    assert of("text\n").list_items == ()


def test_positions_of_facts_give_the_source_back() -> None:
    for data in (NOTE.encode(), b"\xef\xbb\xbf" + NOTE.encode(), NOTE.replace("\n", "\r\n").encode()):
        body = Text.decode(data).body
        found = extract.read_facts("n.md", data, len(data)).links
        assert all(body.startswith(link.original, link.start) for link in found[2:])


def test_cards_of_a_canvas_are_links_and_their_text_is_read() -> None:
    """INDEX-06"""
    canvas = {
        "nodes": [
            {"id": "a", "type": "file", "file": "Sub/N#1.md", "subpath": "#h"},
            {"id": "b", "type": "text", "text": "first\nsee [[N|x]] ![[p.png]] #t\n---\na: b\n---"},
            {"id": "c", "type": "link", "url": "https://example.com/[[no]]"},
            {"id": "d", "type": "group", "label": "[[no]]", "background": "img/back.png"},
        ]
    }
    assert of(json.dumps(canvas), "c.canvas") == Facts(
        links=(
            LinkFact("n#1", "card", "Sub/N#1.md", "#h", None, "Sub/N#1.md#h", "nodes.a", None, None),
            LinkFact("n", "link", "N", "", "x", "[[N|x]]", "nodes.b", 1, 10),
            LinkFact("p.png", "embed", "p.png", "", None, "![[p.png]]", "nodes.b", 1, 18),
            LinkFact("back.png", "card", "img/back.png", "", None, "img/back.png", "nodes.d", None, None),
        ),
        tags=(TagFact("t", "t", "nodes.b", 1, 29, 31),),
        headings=(HeadingFact(0, "b", 0),),
    )


def test_links_of_a_canvas_lead_somewhere() -> None:
    canvas = {
        "nodes": [
            {"id": "a", "type": "file", "file": "Sub/N#1.md"},
            {"id": "b", "type": "text", "text": "first\nsee [[N]] #t"},
        ]
    }
    with MemoryVault({"c.canvas": json.dumps(canvas), "Sub/N#1.md": "#t", "Sub/N.md": "", "N.md": ""}) as vault:
        vault.indexer.pending.begin()
        found = vault.graph.outgoing_links(vault.catalog.entry("c.canvas").path).value
        assert [(fact.link.at, fact.target) for fact in found] == [("nodes.a", "Sub/N#1.md"), ("nodes.b", "N.md")]
        assert list(vault.graph.contexts(found)) == ["Sub/N#1.md", "see [[N]] #t"]
        back = vault.graph.backlinks(vault.catalog.entry("Sub/N#1.md").path).value
        assert [(fact.source, fact.link.kind) for fact in back] == [("c.canvas", "card")]
        assert vault.graph.orphans().value == ("Sub/N.md",)
        assert vault.graph.link_maps().value.resolved[vault.catalog.entry("c.canvas").path] == {
            "Sub/N#1.md": 1,
            "N.md": 1,
        }
        assert [(use.tag, use.files) for use in vault.graph.tags().value] == [("t", 1)]
        assert [fact.path for fact in vault.graph.files_with_tag("t").value] == ["Sub/N#1.md", "c.canvas"]


@pytest.mark.parametrize(
    ("text", "warning", "path"),
    [
        ("---\na: [\n---\n[[x]] #t", "The frontmatter is not readable", "n.md"),
        (b"caf\xe9 [[x]] #t", "not UTF-8", "n.md"),
        ("{", "The canvas is not readable", "c.canvas"),
        ("[" * 100_000, "The canvas is not readable", "c.canvas"),
    ],
)
def test_what_is_broken_is_a_warning_and_the_rest_is_kept(text: str | bytes, warning: str, path: str) -> None:
    """INDEX-26"""
    found = of(text, path)
    assert len(found.warnings) == 1
    assert warning in found.warnings[0]
    if path == "n.md":
        assert [fact.path for fact in found.links] == ["x"]
        assert [fact.tag for fact in found.tags] == ["t"]


def test_of_a_very_large_file_the_beginning_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    body, links = BODY_LIMIT // 100, LINKS_LIMIT // 100
    monkeypatch.setattr(facts, "BODY_LIMIT", body)
    monkeypatch.setattr(facts, "LINKS_LIMIT", links)
    line = b"[[x]] some words to fill the line\n"
    data = line * (body // len(line) + 10)
    found = extract.read_facts("n.md", data, 50_000_000)

    assert f"{body:,} of 50,000,000 bytes" in found.warnings[0]
    assert f"first {links:,}" in found.warnings[1]
    assert len(found.links) == links
    assert {fact.original for fact in found.links} == {"[[x]]"}


def test_a_large_file_without_a_line_break_is_cut_between_two_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 4096
    monkeypatch.setattr(facts, "BODY_LIMIT", limit)
    for character in ("é", "日", "\U0001f600"):
        data = b"x" + character.encode() * (limit // 2 + 10)
        assert len(extract.read_facts("n.md", data[:limit], len(data)).warnings) == 1


@pytest.mark.parametrize("text", ["[[a]] " * 10_000, "#t " * 10_000, "[" * 50_000, "> " * 5_000 + "[[a]]"])
def test_ten_thousand_of_anything_in_a_line_are_read_in_seconds(text: str) -> None:
    """INDEX-26"""
    start = time.process_time()
    found = of(text)
    assert time.process_time() - start < 5
    assert found.warnings == ()
    assert len(found.links) == text.count("[[a]] ") or len(found.links) <= 1


def test_a_fault_of_the_parser_costs_one_note(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = parser.parse

    def faulty(text: str) -> parser.Note:
        if "strange" in text:
            raise RuntimeError("a fault")
        return parse(text)

    monkeypatch.setattr(parser, "parse", faulty)
    with MemoryVault({"a.md": "strange [[c]]", "b.md": "[[c]]", "c.md": ""}) as vault:
        vault.indexer.pending.begin()
        assert [fact.source for fact in vault.graph.backlinks(vault.catalog.entry("c.md").path).value] == ["b.md"]
        assert list(vault.graph.warnings().value) == ["a.md"]


PIECES = ["[[", "]]", "|", "#", "a", "\udcff", "\ud800", "\U0001f600", "\n", "---\n", "tags: ", '"', "\\ud83d", "\\x80"]
PIECES += [": ", "- [ ] ", "![", "](", ")", "%%", "`", "é", "\r\n", "aliases: [", "]", "\x00", "\ufeff"]
pieces = st.sampled_from(PIECES)


@examples(150)
@given(st.lists(pieces, max_size=30).map("".join), st.booleans())
def test_whatever_a_file_holds_its_facts_can_be_stored_and_read_back(text: str, head: bool) -> None:
    data = (("---\n" + text + "\n---\n") if head else text).encode("utf-8", "surrogatepass")
    expected = extract.read_facts("a.md", data, len(data))
    with MemoryVault({"a.md": data, "b.md": "[[a]]"}) as vault:
        vault.indexer.pending.begin()
        path = vault.catalog.entry("a.md").path
        assert vault.graph.facts(path).value == expected
        assert [fact.source for fact in vault.graph.backlinks(path).value][-1] == "b.md"


@examples(50)
@given(st.lists(pieces, max_size=12).map("".join), st.lists(pieces, max_size=12).map("".join))
def test_whatever_a_canvas_holds_its_facts_can_be_stored_and_read_back(text: str, file: str) -> None:
    canvas = {"nodes": [{"id": text, "type": "text", "text": text}, {"id": "f", "type": "file", "file": file}]}
    for data in (json.dumps(canvas), json.dumps(canvas, ensure_ascii=False)):
        with MemoryVault({"c.canvas": data}) as vault:
            vault.indexer.pending.begin()
            path = vault.catalog.entry("c.canvas").path
            expected = extract.read_facts("c.canvas", vault.data["c.canvas"], len(vault.data["c.canvas"]))
            assert vault.graph.facts(path).value == expected
            assert vault.graph.link_maps().value.resolved.keys() == {"c.canvas"}
