"""Regular expressions of JavaScript (specs/query.md, QUERY-30 to QUERY-34)."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.query import regexp
from obsidian_mcp.core.query.regexp import InvalidRegExp, RegExp, translate
from obsidian_mcp.core.query.regexp_reader import MAX_DEPTH
from obsidian_mcp.core.text.analysis import fold
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.errors import OperationTimeout
from tests.examples import examples

ROWS = json.loads((Path(__file__).parents[3] / "specs" / "vectors" / "query.json").read_text(encoding="utf-8"))[
    "expressions"
]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['rule']} {row['regex']} in {row['text']!r}" for row in ROWS])
def test_an_expression_finds_what_it_finds_in_javascript(row: dict[str, Any]) -> None:
    expression = translate(row["regex"], match_case=row["match_case"])
    assert [row["text"][start:end] for start, end in expression.spans(row["text"])] == row["found"]
    assert expression.is_found_in(row["text"]) is bool(row["found"])


PARTS = [
    "a", "b", "I", "ß", "ς", "東", "ab", "xyz", ".", "\\d", "\\w", "\\W", "[ab]", "[^a]", "[\\W]", "[]", "^", "$",
    "*", "+", "?", "{2}", "{0,1}", "{,2}", "*?", "(", "(?:", "(?=", "(?<!", "(?<n>", "(?i:", ")", "|", "\\1", "\\k<n>",
    "\\u{61}", "\\uD83D\\uDE00", "\\p{L}", "\\b", "\\q", "]", "}", "{", "\\", "-", "/", " ",
]  # fmt: skip
ENDLESS = st.builds(
    "{}{}".format,
    st.sampled_from(["a", ".", "\\w", "\\W", "[ab]", "[^a]", "\\u{61}", "東", "(b)", "\\b", "^", "\\1", "\\k<n>"]),
    st.sampled_from(["*", "+", "*?", "+?", "{2,}", "{0,}", "{3,}?"]),
)
ANY = st.lists(st.sampled_from(PARTS), min_size=1, max_size=8).map("".join)
SOURCES = st.one_of(ANY, st.builds("{}{}{}".format, ENDLESS, ANY, ENDLESS), st.builds("{}{}".format, ENDLESS, ENDLESS))
TEXTS = st.lists(
    st.sampled_from(["a", "b", "A", "i", "İ", "ẞ", "Σ", "東", "xyz", "1", " ", "\n", "-", "😀"]), max_size=8
).map("".join)


def translated(source: str, match_case: bool) -> RegExp | InvalidRegExp:
    try:
        return translate(source, match_case=match_case)
    except InvalidRegExp as refused:
        return refused


@given(SOURCES, TEXTS, st.booleans())
@examples(300)
def test_any_source_is_run_or_refused_and_its_required_texts_are_in_what_it_finds(
    source: str, text: str, match_case: bool
) -> None:
    expression = translated(source, match_case)
    if isinstance(expression, InvalidRegExp):
        assert 0 <= expression.at <= len(source)
        assert expression.problem
        return
    if expression.pattern.search(text) is None:
        assert not expression.is_found_in(text)
        return
    assert expression.is_found_in(text)
    for clause in expression.clauses:
        assert any(part in fold(text) for part in clause), (clause, text)


@pytest.mark.parametrize(
    ("source", "clauses"),
    [
        ("meeting", [("meeting",)]),
        (r"Meet\w+P me", [("meet",), ("p me",)]),
        ("ab?cd", [("cd",)]),
        ("ab+cd", [("ab",), ("bcd",)]),
        ("xy(?:foo|ba[rz])z", [("xy",), ("ba", "foo")]),
        ("foo|b", []),
        ("(foo)*bar", [("bar",)]),
        ("(?!foo)bar(?=baz)", [("bar",), ("baz",)]),
        ("[f]oo", [("oo",)]),
        ("a.b", []),
        (r"\bTODO\b", [("todo",)]),
    ],
)
def test_the_texts_that_every_match_holds_are_known(source: str, clauses: list[tuple[str, ...]]) -> None:
    """QUERY-62"""
    assert list(translate(source).clauses) == clauses


@pytest.mark.parametrize(("source", "text"), [(r"(a|aa)+$", "a" * 60 + "b"), (r"^(\w|\w\w)+$", "a" * 60 + "!")])
def test_an_expression_that_runs_away_is_stopped_after_its_time(
    source: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QUERY-33"""
    monkeypatch.setattr(regexp, "SECONDS", 0.1)
    expression = translate(source)
    for search in (expression.is_found_in, lambda text: list(expression.spans(text))):
        start = time.process_time()
        with pytest.raises(OperationTimeout) as stopped:
            search(text)
        assert source in stopped.value.message
        assert time.process_time() - start < 5  # without the limit it would take years


@pytest.mark.parametrize(
    "source",
    ["(" * 5_000 + ")" * 5_000, "(?:a{1000}){1000}", "(?:(?:a{99}){99}){99}", "a{1000000}", "(" * (MAX_DEPTH + 1)],
)
def test_expressions_that_would_grow_without_bound_are_refused_at_once(source: str) -> None:
    """QUERY-33"""
    start = time.process_time()
    with pytest.raises(InvalidRegExp):
        translate(source)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("digit", "0123456789")
def test_an_escape_that_javascript_reads_as_an_octal_number_is_refused(digit: str) -> None:
    """QUERY-30, QUERY-32: it was read as the text of its digits."""
    sources = [rf"\0{digit}", rf"[\0{digit}]", rf"a|(b\0{digit})"]
    for source in sources + ([] if digit == "0" else [rf"[\{digit}]", rf"[a\{digit}-z]"]):
        with pytest.raises(InvalidRegExp, match=r"write the character .*as \\xHH") as refused:
            translate(source)
        assert refused.value.at == source.index("\\")


@pytest.mark.parametrize("source", [r"\c", r"\c1", r"[\c]", r"[\c_]", r"(\c)"])
def test_a_control_character_needs_its_letter(source: str) -> None:
    """QUERY-30, QUERY-32"""
    with pytest.raises(InvalidRegExp, match="needs a letter"):
        translate(source)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\0", "\0"),
        (r"[\0]", "\0"),
        (r"\0a", "\0a"),
        ("\\0\u0663", "\0\u0663"),
        (r"\cA[\cj]", "\x01\n"),
        (r"(a)\1", "aa"),
        (r"\x01", "\x01"),
    ],
)
def test_escapes_beside_those_that_are_refused_keep_their_meaning(source: str, text: str) -> None:
    """QUERY-30: only digits of ASCII make a number."""
    assert list(translate(source).spans(text)) == [(0, len(text))]


@pytest.mark.parametrize("letter", "İıſ")
@pytest.mark.parametrize("source", [r"a*\W+", r"a*\W", r"a*[^\w]"])
def test_letters_whose_other_case_is_ascii_are_no_word_characters_behind_a_repeat_either(
    source: str, letter: str
) -> None:
    """QUERY-62"""
    assert list(translate(source).spans(letter)) == [(0, 1)]


RUNAWAY, TEXT = "(a|aa)+$", "a" * 60 + "!"


def test_a_search_that_the_call_s_limit_stops_ends_the_call() -> None:
    """QUERY-33"""
    for _ in range(20):
        with call_with(limit=Deadline(0.02)), pytest.raises(OperationTimeout, match=r"longer than 0\.02 s"):
            translate(RUNAWAY).is_found_in(TEXT)


def test_one_clock_says_how_long_a_search_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """QUERY-33: The clock of `regex` counts the work of all threads, so that two searches at
    once took half as long."""
    monkeypatch.setattr(regexp, "SECONDS", 0.3)
    seconds = []

    def search() -> None:
        started = time.monotonic()
        with pytest.raises(OperationTimeout):
            translate(RUNAWAY).is_found_in(TEXT)
        seconds.append(time.monotonic() - started)

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert min(seconds) >= regexp.SECONDS
