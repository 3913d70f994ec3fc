"""`obsidian_search` with match=exact lists what the tables and a plain scan of the files list, through the index."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.app import App
from obsidian_mcp.core.index import extract
from obsidian_mcp.core.note import canvas
from obsidian_mcp.core.note.parser import Note, parse
from obsidian_mcp.core.query.nodes import Regex, Word
from obsidian_mcp.core.query.parser import parse as parse_query
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.errors import InvalidArguments, QueryInvalid
from obsidian_mcp.tools.registry import call
from tests import findability
from tests.conftest import FIXTURES, app_on
from tests.core.query.test_evaluate import kind_of
from tests.core.search import naive_search
from tests.core.search.naive_search import PlainFile, PlainStructure, plain_matches
from tests.examples import examples
from tests.vaults import write_files

from .conftest import Opened

pytestmark = pytest.mark.usefixtures("disk_of_macos")

ROOT = Path(__file__).parents[2]
OTHERS = ROOT.parent / "shared" / "data" / "vaults"
VECTORS = ROOT / "specs" / "vectors"
TABLES = json.loads((VECTORS / "match.json").read_text(encoding="utf-8"))["groups"]
MISTAKES = json.loads((VECTORS / "query.json").read_text(encoding="utf-8"))["errors"]


def indexed(root: Path) -> App:
    app = app_on(root)
    kept = app.vaults.get().indexer
    kept.pending.begin()
    kept.complete()
    assert not kept.pending.by_path
    return app


def listed(app: App, query: str) -> list[str]:
    """Every file that a query finds, by all pages."""
    found: list[str] = []
    offset: int | None = 0
    while offset is not None:
        arguments = {"query": query, "match": "exact", "limit": 500, "show": "paths", "offset": offset}
        data = call(app, "obsidian_search", arguments).data
        found += [hit["path"] for hit in data["hits"]]
        offset = data.get("next_offset")
        assert len(found) == data["total"] or offset is not None
    return sorted(found)


@pytest.mark.parametrize("table", TABLES, ids=[table["title"] for table in TABLES])
def test_the_tables_hold_through_the_tool(table: dict[str, Any], tmp_path: Path) -> None:
    """QUERY-01 to QUERY-55"""
    for path, text in table["files"].items():
        place = tmp_path / "v" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".canvas"):
            text = json.dumps({"nodes": [{"id": "1", "type": "text", "text": text}]})
        place.write_bytes((text or "").encode())
    app = indexed(tmp_path / "v")
    try:
        wrong = {
            case["query"]: found for case in table["cases"] if (found := listed(app, case["query"])) != case["files"]
        }
        assert not wrong
    finally:
        app.vaults.close()


def test_the_tables_are_as_large_as_was_asked_for() -> None:
    known_queries = [{case["query"] for case in table["cases"]} for table in TABLES]

    assert TABLES[0]["title"] == "semantics 5.6"
    assert len(known_queries[0]) >= 27
    assert len(known_queries[1]) >= 150


@pytest.mark.parametrize("row", MISTAKES, ids=[row["query"] or "empty" for row in MISTAKES])
@pytest.mark.parametrize("match", ["smart", "exact"])
def test_a_mistake_is_told_with_its_column_and_what_was_expected(
    shared_app: App, row: dict[str, Any], match: str
) -> None:
    """QUERY-08, QUERY-32"""
    with pytest.raises((QueryInvalid, InvalidArguments)) as refused:
        call(shared_app, "obsidian_search", {"query": row["query"], "match": match})

    if row["query"]:
        assert refused.value.data["column"] == row["column"]
        assert row["says"] in refused.value.message
        assert f"column {row['column']}" in refused.value.message


# Generated queries on whole vaults


@dataclass(frozen=True)
class File(PlainFile):
    """With the structure of a real note; what a query makes of it stays the plain scan's."""

    @cached_property
    def note(self) -> Note:
        return parse(self.text)

    @cached_property
    def structure(self) -> PlainStructure:
        note = self.note
        return PlainStructure(list(note.sections), list(note.outline), list(note.list_items), list(note.tags))


class Shelf:
    """A vault, its app and its files."""

    def __init__(self, app: App, files: list[File]) -> None:
        self.app = app
        self.files = files

    @cached_property
    def words(self) -> list[str]:
        """Texts without white space, each once: words, links, tags, markup."""
        return sorted({word for file in self.files for word in f"{file.text} {file.path}".split() if len(word) <= 60})

    @cached_property
    def lines(self) -> list[str]:
        found = {line.strip() for file in self.files for line in file.text.split("\n")}
        return sorted(line for line in found if 3 < len(line) <= 200)

    @cached_property
    def properties(self) -> list[tuple[str, Any]]:
        return [item for file in self.files for item in file.properties.items()]

    @cached_property
    def tags(self) -> list[str]:
        return sorted({tag for file in self.files for tag in file.tags}) or ["#none"]


def read(app: App) -> Iterator[File]:
    place = app.vaults.get()
    for entry in place.catalog:
        kind = kind_of(entry.path)
        text = "" if kind == "other" else Text.decode((place.files.root / entry.disk).read_bytes()).body
        yield File(entry.path, extract.cards_text(canvas.read_canvas(text)) if kind == "canvas" else text, kind)


SHELVES = [(FIXTURES / "basic", 60), (FIXTURES / "same_name", 20), (findability.BUNDLES, 60)] + [
    (OTHERS / name, count) for name, count in (("dataview-test", 50), ("kepano", 60), ("tasks-demo", 60))
]


@pytest.fixture(scope="module")
def shelves(macos_folder: Path) -> Iterator[dict[str, Shelf]]:
    """Filled as they are asked for."""
    made: dict[str, Shelf] = {}
    yield made
    for shelf in made.values():
        shelf.app.vaults.close()


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def as_term(text: str) -> str:
    """A word as it stands where the language takes it so, whatever follows it, else quoted."""
    try:
        plain = parse_query(text) == Word(text) and "[[" not in text and "/" not in text
    except QueryInvalid:
        plain = False
    return text if plain else quoted(text)


EXPRESSIONS = [  # JavaScript, and what the standard library makes of it
    ("{a}", "(?im){a}"),
    ("^{a}", "(?im)^{a}"),
    ("{a}$", r"(?im){a}(?=\r?$)"),
    (r"\b{a}\b", "(?im)(?<![0-9A-Za-z_]){a}(?![0-9A-Za-z_])"),
    ("{a}|{b}", "(?im){a}|{b}"),
    ("{a}.{{0,9}}{b}", r"(?im){a}[^\n\r\u2028\u2029]{{0,9}}{b}"),
    (r"{a}\d+", "(?im){a}[0-9]+"),
    ("[^a-z]{a}[^a-z]", "(?im)[^a-z]{a}[^a-z]"),
    ("(?:{a})(?!{b})", "(?im)(?:{a})(?!{b})"),
    (r"^- \[ \] .*{a}", r"(?im)^- \[ \] [^\n\r\u2028\u2029]*{a}"),
]
UNITS = ["line", "block", "section", "task", "task-todo", "task-done"]


@st.composite
def leaves(draw: st.DrawFn, shelf: Shelf) -> str:
    kind = draw(st.sampled_from(["word", "part", "phrase", "regex", "tag", "property", "place", "absent"]))
    word = draw(st.sampled_from(shelf.words))
    if kind in ("part", "place"):
        start = draw(st.integers(0, len(word) - 1))
        word = word[start : draw(st.integers(start + 1, len(word)))]
    match kind:
        case "phrase":
            parts = draw(st.sampled_from(shelf.lines)).split(" ")
            start = draw(st.integers(0, len(parts) - 1))
            return quoted(" ".join(parts[start : start + draw(st.integers(1, 4))]))
        case "regex":
            names = re.findall("[A-Za-z0-9]{2,}", f"{word} {draw(st.sampled_from(shelf.words))} md")
            script, python = draw(st.sampled_from(EXPRESSIONS))
            found = {"a": draw(st.sampled_from(names)), "b": draw(st.sampled_from(names))}
            source = script.format(**found)
            naive_search.REGEXES[source] = python.format(**found)
            return f"/{source}/"
        case "tag":
            tag = draw(st.sampled_from(shelf.tags)).split("/")
            return f"tag:{as_term('/'.join(tag[: draw(st.integers(1, len(tag)))]))}"
        case "property" if shelf.properties:
            return draw(properties(shelf))
        case "place":
            return f"{draw(st.sampled_from(['file', 'path', 'content']))}:{as_term(word)}"
        case "absent":
            return as_term(word + draw(st.sampled_from(["q", "é", "語", "1"])))
    return as_term(word)


@st.composite
def properties(draw: st.DrawFn, shelf: Shelf) -> str:
    name, value = draw(st.sampled_from(shelf.properties))
    value = value[0] if isinstance(value, list) and value else value
    kind = draw(st.sampled_from(["there", "whole", "part", "null", "more", "less"]))
    if kind == "null":
        return f"[{quoted(name)}:null]"
    if kind in ("more", "less"):
        limit = value if isinstance(value, int | float) else draw(st.sampled_from(["2023-06-01", "5"]))
        limit = int(limit) if isinstance(limit, bool) else limit
        return f"[{quoted(name)}:{'>' if kind == 'more' else '<'}{limit}]"
    if kind == "there" or not isinstance(value, str) or not value.strip():
        return f"[{quoted(name)}]"
    if kind == "whole":
        return f"[{quoted(name)}:{quoted(value)}]"
    word = re.match(r"\w+", value)
    return f"[{quoted(name)}:{word[0]}]" if word else f"[{quoted(name)}]"


def queries(shelf: Shelf) -> st.SearchStrategy[str]:
    return st.recursive(
        leaves(shelf),
        lambda inner: st.one_of(
            st.builds("{} {}".format, inner, inner),
            st.builds("({} OR {})".format, inner, inner),
            st.builds("-({})".format, inner),
            st.builds("{} -({})".format, inner, inner),
            st.builds("{}:({})".format, st.sampled_from(UNITS), inner),
            st.builds("{}:({} {})".format, st.sampled_from(UNITS), inner, inner),
            st.builds("-{}:({})".format, st.sampled_from(UNITS), inner),
            st.builds("{}:({})".format, st.sampled_from(["match-case", "ignore-case", "content"]), inner),
        ),
        max_leaves=4,
    )


@pytest.mark.parametrize(("vault", "count"), SHELVES, ids=[vault.name for vault, _ in SHELVES])
def test_exact_results_are_those_of_a_plain_scan(
    vault: Path, count: int, shelves: dict[str, Shelf], macos_folder: Path
) -> None:
    """SEARCH-40"""
    if not vault.is_dir():
        pytest.skip("the vaults of other people are not here (../shared/data/vaults)")
    if vault.name not in shelves:
        place = macos_folder / vault.name
        copy = findability.unpack(place) if vault == findability.BUNDLES else Path(shutil.copytree(vault, place))
        app = indexed(copy)
        shelves[vault.name] = Shelf(app, list(read(app)))
    shelf = shelves[vault.name]
    drawn_queries = queries(shelf)
    met = 0

    tried = examples(count)

    @tried
    @given(st.data())
    def check(data: st.DataObject) -> None:
        nonlocal met
        query = data.draw(drawn_queries, "query")
        tree = parse_query(query)
        found = listed(shelf.app, query)
        met += bool(found)
        assert found == sorted(file.path for file in shelf.files if plain_matches(tree, file)), query

    check()
    assert met > tried.max_examples // 10


def test_the_expressions_of_these_tests_are_read_as_they_are_meant() -> None:
    for script, _ in EXPRESSIONS:
        source = script.format(a="ab", b="cd")
        assert parse_query(f"/{source}/") == Regex(source)


LINKED = {
    "Meeting.md": '---\nattendees: "[[Some Person]]"\nstatus: done\n---\nBrass #work\n',
    "List.md": '---\nattendees: ["[[People/Some Person#Part|SP]]", other]\n---\nÜber\n',
    "Tagged.md": "#TEST and #-TEST\n",
    "People/Some Person.md": "x\n",
}


@pytest.fixture(scope="module")
def linked(macos_folder: Path) -> Iterator[App]:
    app = app_on(write_files(macos_folder / "linked", LINKED))
    yield app
    app.vaults.close()


@pytest.mark.parametrize("match", ["exact", "smart"])
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('[attendees:"Some Person"]', {"Meeting.md", "List.md"}),
        ('[attendees:"some person"]', {"Meeting.md", "List.md"}),
        ('[attendees:"[[Some Person]]"]', {"Meeting.md"}),
        ('[attendees:"People/Some Person"]', {"List.md"}),
        ('[attendees:"SP"]', {"List.md"}),
        ('[attendees:"Some"]', set()),
        ("tag:-TEST", {"Tagged.md"}),
        ("tag:-#TEST", set()),
        ("-tag:TEST", {"Meeting.md", "List.md", "People/Some Person.md"}),
        ("tag:(-TEST)", {"Meeting.md", "List.md", "People/Some Person.md"}),
        ("/BRASS/i", {"Meeting.md"}),
        ("/brass/giu", {"Meeting.md"}),
        ("content:(/BR.SS/i)", {"Meeting.md"}),
        (r"content:/^\p{Lu}ber/u", {"List.md"}),
        (r"match-case:/^\p{Lu}ber/", {"List.md"}),
        (r"match-case:/^\p{Ll}ber/", set()),
    ],
)
def test_values_that_are_links_tags_with_hyphens_and_flags_of_regular_expressions(
    linked: App, query: str, found: set[str], match: str
) -> None:
    """QUERY-51, QUERY-13, QUERY-04"""
    answer = call(linked, "obsidian_search", {"query": query, "match": match}).data
    assert {hit["path"] for hit in answer["hits"]} == found


@pytest.mark.parametrize("query", ["/brass/s", "/a/m x", "(/a/y)"])
def test_flags_that_a_search_does_not_have_are_refused(linked: App, query: str) -> None:
    """QUERY-04"""
    with pytest.raises(QueryInvalid, match="expected no flag behind a regular expression but g, i and u"):
        call(linked, "obsidian_search", {"query": query})


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("folder:Projects", "There is no operator folder:; path: is meant."),
        ('folder:"Projects" -title:x', "There is no operator folder:; path: is meant. There is no operator title:;"),
        (
            "(Heading:x OR tags:work)",
            "There is no operator Heading:; section: is meant. There is no operator tags:; tag:",
        ),
        ("is:unresolved", "There is no operator is:; obsidian_get_links without a name lists broken links."),
        ("in:Projects nowhere", "There is no operator in:; path: is meant."),
        ("has:attachment", "There is no operator has:; obsidian_attachments lists what a note embeds."),
        ("has:rating", "There is no operator has:; [rating] finds notes with the property."),
        ("created:2026-11", "There is no operator created:; the arguments modified_after and modified_before do that."),
        ("type:canvas", "There is no operator type:; file:.canvas is meant."),
        ("type:meeting", "There is no operator type:; [type:meeting] finds a property."),
        ("is:done", 'There is no operator is:; task-done:"" is meant.'),
        ("is:orphan", "There is no operator is:; obsidian_graph or obsidian_check lists them."),
        ("linksto:Alpha", "There is no operator linksto:; obsidian_get_links does that."),
        ("sectoin:brass", "There is no operator sectoin:; section: is meant."),
        ("status:nowhere", "There is no operator status:; [status:nowhere] is meant."),
        ("colour:nowhere", "There is no operator colour:; it is searched for as text."),
        ("https://nowhere.example", None),
        ('"folder:nowhere"', None),
    ],
)
def test_a_name_that_is_no_operator_is_named_where_nothing_is_found(linked: App, query: str, note: str | None) -> None:
    """SEARCH-99"""
    answer = call(linked, "obsidian_search", {"query": query, "match": "exact"}).data
    assert answer["total"] == 0
    assert (answer.get("note") or "").startswith(note) if note else "note" not in answer
    for tool, arguments in (
        ("replace", {"find": "a", "content": "b"}),
        ("set_properties", {"properties": {"a": 1}}),
        ("move_note", {"to": "Elsewhere/"}),
    ):
        with pytest.raises(InvalidArguments, match=re.escape(note or "Try it with")):
            call(linked, f"obsidian_{tool}", {"query": query, **arguments})


def test_an_operator_of_other_programs_is_named_where_its_words_are_found_as_text(opened: Opened) -> None:
    """SEARCH-99"""
    app = opened({"A.md": "what is unresolved, and is:unresolved\n", "B.md": "has image\n"})
    answer = call(app, "obsidian_search", {"query": "is:unresolved"}).data
    assert answer["total"] >= 1
    assert answer["note"] == "There is no operator is:; obsidian_get_links without a name lists broken links."
    core = app.replace(config=app.config.replace(tools="search,read_note"))
    assert call(core, "obsidian_search", {"query": "is:unresolved"}).data["note"] == "There is no operator is:."


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        (r"/INV-\d+/", [7]),
        (r"/\n\n- \[ \] zebra/", [9]),
        (r"/\s+zebra-\d/", [9]),
        (r"/Intro[\s\S]*?INV/", [3, 7]),
        (r"/^- \[ \].*$/", [9]),
        (r"intro /zebra/", [3, 9]),
    ],
)
@pytest.mark.parametrize("match", ["smart", "exact"])
def test_a_hit_of_a_regular_expression_shows_the_line_that_matched(
    opened: Opened, query: str, lines: list[int], match: str
) -> None:
    """SEARCH-110"""
    app = opened({"A.md": "# Title\n\nIntro text\n\nmore\n\npaid INV-77 today\n\n- [ ] zebra-9\n\nend\n"})
    (hit,) = call(app, "obsidian_search", {"query": query, "match": match}).data["hits"]
    assert [snippet["line"] for snippet in hit["snippets"]] == lines


def test_search_needs_no_query_beside_a_time(opened: Opened) -> None:
    """SEARCH-111"""
    app = opened({"Old.md": "a", "Mid.md": "b", "New.md": "c"})
    root = app.vaults.get().files.root
    for days, name in ((400, "Old"), (2, "Mid"), (1, "New")):
        at = time.time() - days * 86_400
        os.utime(root / f"{name}.md", (at, at))
    app.vaults.get().refresh()
    found = call(app, "obsidian_search", {"modified_after": "last 7 days"}).data
    assert [hit["path"] for hit in found["hits"]] == ["New.md", "Mid.md"]
    with pytest.raises(QueryInvalid, match="two quotes"):
        call(app, "obsidian_search", {})


def test_text_with_a_colon_is_found_as_it_stands(opened: Opened) -> None:
    """QUERY-05"""
    app = opened({"A.md": "note:this and folder:that, http:x\n"})
    for query in ("note:this", "folder:that", "http:x"):
        answer = call(app, "obsidian_search", {"query": query}).data
        assert (answer["total"], answer.get("note")) == (1, None)


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("[atendees:x]", "No note has the property 'atendees'. Did you mean 'attendees'?"),
        ("brass ([stat:x] OR [Attendee])", "No note has the property 'stat' or 'Attendee'. Did you mean 'status' or"),
        ("[nothing at all]", "No note has the property 'nothing at all'. obsidian_get_properties lists all names."),
        ("[status:open]", None),
        ("nowhere", None),
    ],
)
def test_a_property_that_no_note_has_is_named_where_nothing_is_found(linked: App, query: str, note: str | None) -> None:
    """SEARCH-99"""
    linked.vaults.get().indexer.complete()
    answer = call(linked, "obsidian_search", {"query": query}).data
    assert answer["total"] == 0
    assert (answer.get("note") or "").startswith(note) if note else "note" not in answer


@pytest.mark.parametrize(("escape", "column"), [(r"\01", 6), (r"[\7]", 7), (r"\c1", 6)])
def test_an_escape_that_would_be_read_as_other_text_is_refused_at_its_place(app: App, escape: str, column: int) -> None:
    """QUERY-30, QUERY-32"""
    with pytest.raises(QueryInvalid, match=f"cannot be read at column {column} ") as refused:
        call(app, "obsidian_search", {"query": f"fox /{escape}/", "match": "exact"})
    assert refused.value.data["column"] == column
