"""Exact search through the index lists what a scan of the files lists (specs/search.md, specs/query.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.index import extract, facts
from obsidian_mcp.core.index.file_sets import NAMED_FILES
from obsidian_mcp.core.index.pending_files import FRESH_FILES
from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.note import canvas
from obsidian_mcp.core.note.validity import DEFAULT_NAMES
from obsidian_mcp.core.query.document import Document
from obsidian_mcp.core.query.evaluate import Matcher
from obsidian_mcp.core.query.parser import parse
from obsidian_mcp.core.search.bounds import Bounds, bounds
from obsidian_mcp.core.search.file_table import FileCache, FileTable
from obsidian_mcp.core.search.hits import MatchMode, Request
from obsidian_mcp.core.search.outdated_files import OutdatedFiles
from obsidian_mcp.core.search.search import Search
from obsidian_mcp.core.search.signals import Signals
from obsidian_mcp.core.search.snapshot import Snapshot
from obsidian_mcp.core.search.vocabulary import Vocabulary, extend_vocabulary
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.errors import PermissionDenied, QueryInvalid
from tests.core.memory import MemoryVault
from tests.core.query.test_evaluate import QUERIES, VECTORS, files, kind_of
from tests.examples import examples

from .naive_search import PlainFile

EVERYTHING = 500
NOTHING_HIDDEN = IgnoreFilters(())


def is_readable(query: str) -> bool:
    try:
        parse(query)
    except QueryInvalid:  # a quote that escapes its end, and another one behind it
        return False
    return True


def readable(queries: list[str]) -> list[str]:
    """Not a filter of the strategy: `regex` empties its cache by chance when a query is parsed."""
    return [query for query in queries if is_readable(query)]


def search_of(vault: MemoryVault) -> Search:
    return Search(vault.indexer, vault.catalog, vault.read, lambda: NOTHING_HIDDEN)


@contextmanager
def indexed(contents: Mapping[str, str | bytes]) -> Iterator[MemoryVault]:
    with MemoryVault(contents) as vault:
        vault.indexer.pending.begin()
        vault.indexer.complete()
        yield vault


def listed(search: Search, query: str) -> list[str]:
    found = search.find(Request(query, "exact", limit=EVERYTHING, snippets=0))
    assert len(found.hits) == found.total
    return sorted(hit.path for hit in found.hits)


def scanned(vault: MemoryVault, query: str) -> list[str]:
    matcher = Matcher(parse(query))
    return sorted(path for path, data in vault.data.items() if matcher.matches(document(path, data)))


def document(path: str, data: bytes) -> Document:
    text = Text.decode(data).body
    return Document(
        path, extract.cards_text(canvas.read_canvas(text)) if path.endswith(".canvas") else text, kind_of(path)
    )


def as_files(plain: list[PlainFile]) -> dict[str, str | bytes]:
    """As they would lie on a disk: a name of its own for each, and a canvas with a card."""
    found: dict[str, str | bytes] = {}
    for number, file in enumerate(plain):
        folder, _, name = file.path.rpartition("/")
        path = "/".join(part for part in [*folder.split("/"), f"{number}{name}"] if part)
        card = {"nodes": [{"id": "1", "type": "text", "text": file.text}]}
        found[path] = json.dumps(card) if file.kind == "canvas" else file.text
    return found


@given(st.lists(QUERIES, min_size=1, max_size=4), st.lists(files(), min_size=1, max_size=6))
@examples(100)
def test_exact_results_are_those_of_a_scan(queries: list[str], plain: list[PlainFile]) -> None:
    """SEARCH-29, SEARCH-40, SEARCH-41, SEARCH-43, SEARCH-44, SEARCH-45, SEARCH-46"""
    with indexed(as_files(plain)) as vault:
        search = search_of(vault)
        for query in readable(queries):
            assert listed(search, query) == scanned(vault, query), query


def test_a_text_that_is_not_whole_in_the_index_is_searched_in_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """SEARCH-40, SEARCH-47"""
    monkeypatch.setattr(facts, "BODY_LIMIT", 100)
    with indexed({"Long.md": "word\n" * 50 + "at 9:30\n", "Short.md": "word\n"}) as vault:
        assert listed(search_of(vault), r"/\d:\d\d/") == scanned(vault, r"/\d:\d\d/") == ["Long.md"]


def test_an_exact_search_names_the_files_that_could_not_be_read() -> None:
    """SEARCH-93"""
    with MemoryVault({f"{name}.md": "wanted" for name in "abc"}) as vault:
        vault.broken["b.md"] = PermissionDenied("The system does not allow reading 'b.md'.")
        search = search_of(vault)
        found = search.find(Request("wanted", "exact"))
        assert sorted(hit.path for hit in found.hits) == ["a.md", "c.md"]
        assert found.incomplete == "Not searched whole: b.md: The system does not allow reading 'b.md'."
        for of_names in ("path:b", "-path:a", "file:b OR -file:c"):
            assert search.find(Request(of_names, "exact")).incomplete is None
        for of_texts in ("-unwritten", "path:b OR wanted", "path:(a OR b) -unwritten"):
            assert search.find(Request(of_texts, "exact")).incomplete == found.incomplete
        assert search.find(Request("wanted")).incomplete is None
        assert "b.md" in str(search.find(Request("unwritten")).incomplete)


class Held:
    """A background that stores nothing."""

    def wake(self) -> None:
        pass

    def stop(self) -> None:
        pass


def test_a_search_answers_from_the_index_and_says_how_many_files_are_newer() -> None:
    """SEARCH-17"""
    with indexed({f"{number}.md": f"common old{number}" for number in range(FRESH_FILES + 5)}) as vault:
        vault.indexer.pending.background = Held()
        for number in range(FRESH_FILES + 1):
            vault.write(f"{number}.md", f"common new{number}")
        vault.delete(f"{FRESH_FILES + 4}.md")
        vault.look()
        search = search_of(vault)
        matches: tuple[MatchMode, ...] = ("exact", "smart")
        for match in matches:
            found = search.find(Request("common", match, limit=EVERYTHING))
            assert found.total == FRESH_FILES + 4  # what is gone is in no answer
            assert found.incomplete is not None
            assert f"{FRESH_FILES + 1} changed files" in found.incomplete
            assert search.find(Request('"old3"', match)).total == 1
            assert search.find(Request('"new3"', match)).total == 0
        assert search.find(Request("new3")).widened is None  # nobody knows yet that no note has it (INDEX-46)


@pytest.mark.parametrize("filters", [NOTHING_HIDDEN, IgnoreFilters(("3",))])
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(["write", "delete", "store"]), st.integers(0, 9)), max_size=5), max_size=8
    )
)
@examples(30)
def test_what_a_search_keeps_of_the_files_follows_them(
    filters: IgnoreFilters, rounds: list[list[tuple[str, int]]]
) -> None:
    """SEARCH-48: a file may be gone for a moment, with its row left; while so many files are
    pending, nothing is stored"""
    pending = {f"p{number}.md": "old" for number in range(FRESH_FILES + 1)}
    with indexed({f"{number}.md": f"common {number}" for number in range(6)} | pending) as vault:
        kept = Search(vault.indexer, vault.catalog, vault.read, lambda: filters)
        for changes in rounds:
            vault.indexer.pending.background = Held()
            for path in pending:
                vault.write(path, f"new{len(vault.data)}")
            for change, number in changes:
                if change == "write":
                    vault.write(f"{number}.md", f"common {number}")
                elif change == "delete" and f"{number}.md" in vault.data:
                    vault.delete(f"{number}.md")
                elif change == "store":
                    vault.look()
                    vault.indexer.pending.background = None
                    vault.indexer.complete()
            vault.look()
            anew = Search(vault.indexer, vault.catalog, vault.read, lambda: filters)
            assert listed(kept, "common") == listed(anew, "common")
            assert listed(kept, "path:md") == listed(anew, "path:md")


@pytest.mark.parametrize(
    ("query", "sure", "possible"),
    [
        ("Größe", "ab", "ab"),
        ("größe maß", "a", "a"),
        ("größe (maß OR zebra)", "ab", "ab"),
        ("größe -content:maß", "b", "b"),
        ('"groß maß"', "", ""),
        ("-line:größe", "cd", "cd"),
        ('line:(zebra OR "maß")', "ab", "ab"),
        ("section:größe", "ab", "ab"),
        ("match-case:12", "d", "d"),
        ("path:c", "c", "c"),
        (r"/z[a-z]+a/", "b", "b"),
        # what the index cannot decide alone
        ("größe OR /b./", "ab", "abcd"),
        ("match-case:Größe", "", "ab"),
        ("line:(größe -maß)", "", "ab"),
        ("/größe (maß|zebra)/", "", "ab"),
        ("line:/maß|zebra/", "", "ab"),
        ("task-todo:zebra", "", "b"),
    ],
)
def test_the_index_says_which_files_match_for_certain_and_which_may(query: str, sure: str, possible: str) -> None:
    """QUERY-60 to QUERY-63: only the difference of the two is read."""
    notes = {"a.md": "Größe Maß", "b.md": "größe\n- [ ] Zebra", "c.md": "other", "d.md": "12"}
    assert bounds_among(notes, query) == [sure, possible]


@pytest.mark.parametrize(
    ("query", "possible"),
    [
        ("task-todo:zebra", "ade"),
        ("task-done:zebra", "bd"),
        ("task:zebra", "abde"),
        ("task-todo:(zebra lion)", "de"),
        ("task:/zebra [a-z]/", "ade"),
    ],
)
def test_a_task_of_one_line_decides_alone_whether_its_note_may_match(query: str, possible: str) -> None:
    """SEARCH-45: of d the index knows that the task goes on, but not with what"""
    notes = {
        "a.md": "- [ ] Zebra one\r\n- [x] other",
        "b.md": "- [x] a zebra\n- [ ] other",
        "c.md": "zebra\n\n- [ ] other\n\nzebra",
        "d.md": "- [ ] other\n  zebra below\n- [x] other\n  below\n\nlion",
        "e.md": "- [ ] zebra lion",
    }
    sure, found = bounds_among(notes, query)
    assert not sure
    assert found == possible


def bounds_among(notes: Mapping[str, str], query: str) -> list[str]:
    """Return the first letters of the notes that the index says match for certain, and of those that may."""
    with indexed(notes) as vault:

        def bounded(rows: Rows) -> Bounds:
            table = FileTable(rows.file_paths, FileCache(rows.file_paths.count_files()))
            words = extend_vocabulary(Vocabulary(), rows.full_text)
            signals = Signals(
                rows,
                vault.catalog,
                OutdatedFiles(DEFAULT_NAMES, "", vault.catalog, {}, {}, {}, {}, frozenset(), True, rows.text),
            )
            snapshot = Snapshot(rows, table, words, vault.catalog, signals, vault.read, {}, {}, {}, [])
            return bounds(snapshot, parse(query))

        names = {number: path[0] for number, path in vault.indexer.query(lambda rows: rows.paths()).items()}
        return ["".join(sorted(names[file] for file in files)) for files in vault.indexer.query(bounded)]


BEGINNINGS = [
    "", "", "# ", "  ## ", "- ", "- [ ] ", "- [x] ", "1. ", "> ", "> # ", "- - ", "- # ", "    ", "\t- [ ] ",
    "> - [ ] ", "```", "%%", "| ", "[^1]: ", "---", "===", "$$", "<div>", "* [-] ", "[a]: ",
]  # fmt: skip
PIECES = ["a", "b", "ab", "x1", "é", "東京", "B", "a_b", "z" * 120, "#t", "[[a|b]]", "c++", "İ", "ſ", "K", "ß"]
PIECES += ["b-1", "ſ@x"]
LAID_OUT = st.lists(
    st.builds("{}{}".format, st.sampled_from(BEGINNINGS), st.lists(st.sampled_from(PIECES), max_size=4).map(" ".join)),
    max_size=9,
)
IN_SLASHES = ["/a.?b/", "/[r-t]@/", r"/\w-\d|@é/"]
IN_PARTS = st.builds(
    "{}{}:({})".format,
    st.sampled_from(["", "", "-", "match-case:", "section:", "line:"]),
    st.sampled_from(["line", "section", "block", "task", "task-todo", "task-done"]),
    st.lists(
        st.sampled_from(["a", "b", "é", "東", "zz", '"a b"', "a_", '"["', "k", "(x OR B)", "-b", *IN_SLASHES]),
        min_size=1,
        max_size=3,
    ).map(" ".join),
)


@given(st.lists(IN_PARTS, min_size=1, max_size=6), st.lists(LAID_OUT, min_size=1, max_size=5))
@examples(80)
def test_words_in_parts_of_notes_are_found_whatever_the_notes_look_like(
    queries: list[str], notes: list[list[str]]
) -> None:
    """SEARCH-40, QUERY-63"""
    with indexed({f"{number}.md": "\n".join(lines) for number, lines in enumerate(notes)}) as vault:
        search = search_of(vault)
        for query in readable(queries):
            assert listed(search, query) == scanned(vault, query), query


def test_a_part_of_a_note_that_lies_in_another_hides_nothing_of_it() -> None:
    nested = "- x\n> - [ ] inner\n    outer\n"
    with indexed({"Few.md": nested, "Many.md": "- y\n" * 9 + nested}) as vault:
        search = search_of(vault)
        assert listed(search, "block:(x outer)") == ["Few.md", "Many.md"]
        assert listed(search, "block:(inner x)") == ["Few.md", "Many.md"]


CHANGES = st.tuples(
    st.sampled_from(["write", "touch", "touch", "delete", "rename"]),
    st.integers(0, 7),
    files().map(lambda file: file.text),
)


@given(
    st.lists(QUERIES, min_size=1, max_size=2),
    st.lists(files(), min_size=2, max_size=6),
    st.lists(CHANGES, min_size=1, max_size=5),
)
@examples(50)
def test_what_searches_remember_is_forgotten_with_every_change(
    queries: list[str], plain: list[PlainFile], changes: list[tuple[str, int, str]]
) -> None:
    """SEARCH-48"""
    with indexed(as_files(plain)) as vault:
        search = search_of(vault)
        for change, number, text in changes:
            path = sorted(vault.data)[number % len(vault.data)]
            match change:
                case "write":
                    vault.write(path, text)
                case "touch":  # the index has the same bytes, and another time
                    vault.write(path, vault.data[path])
                case "delete" if len(vault.data) > 1:
                    vault.delete(path)
                case "rename":
                    vault.rename(path, f"new {path.replace('/', ' ')}")
            vault.look()
            for query in [*queries, *queries]:
                assert listed(search, query) == scanned(vault, query), query


def test_the_newest_come_first_also_among_many_that_are_remembered() -> None:
    """SEARCH-48, SEARCH-63"""
    names = [f"{number}.md" for number in range(NAMED_FILES + 50)]
    with indexed(dict.fromkeys(names, "---\np: 1\n---\ncommon\n")) as vault:
        search = search_of(vault)
        for query in ["[p]", "-rare", "common"]:
            for name in names[3:6]:
                search.find(Request(query, "exact"))
                vault.write(name, vault.data[name])
                vault.look()
                assert search.find(Request(query, "exact")).hits[0].path == name
        vault.delete("5.md")
        vault.look()
        assert [hit.path for hit in search.find(Request("[p]", "exact", limit=2)).hits] == ["4.md", "3.md"]


@pytest.mark.parametrize("group", VECTORS["groups"], ids=range(len(VECTORS["groups"])))
def test_the_tables_of_exact_search_hold_through_the_index(group: dict[str, object]) -> None:
    contents = {path: text or "" for path, text in group["files"].items()}  # type: ignore[attr-defined]
    for path, text in contents.items():
        if path.endswith(".canvas"):
            contents[path] = json.dumps({"nodes": [{"id": "1", "type": "text", "text": text}]})
    with indexed(contents) as vault:
        search = search_of(vault)
        for case in group["cases"]:  # type: ignore[attr-defined]
            assert listed(search, case["query"]) == case["files"], case
