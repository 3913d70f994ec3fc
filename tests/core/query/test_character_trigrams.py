"""Which kinds of characters follow each other, and what that tells of regular expressions (specs/search.md)."""

from __future__ import annotations

import string
from collections.abc import Set as AbstractSet
from typing import NoReturn

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from obsidian_mcp.core.index import extract
from obsidian_mcp.core.query import character_trigrams
from obsidian_mcp.core.query.parser import Node
from obsidian_mcp.core.query.prefilter import HasKinds
from obsidian_mcp.core.query.regexp import InvalidRegExp, RegExp, translate
from obsidian_mcp.core.search import evaluate_rows
from obsidian_mcp.core.search.postings import Lookup
from tests.core.search.test_search import indexed, listed, scanned, search_of

from . import naive_character_trigrams

CHARS = st.sampled_from([*"aaaKzsI0129  \t\r\n\x00\x7f-_@#[]^~é日本ſ\u212aİı\u0301\ufffd😀\u2028"])
TEXTS = st.lists(CHARS, max_size=40).map("".join)


def test_every_character_has_one_kind_and_all_are_words_of_the_index() -> None:
    told = {char: character_trigrams.of(char) for char in [*map(chr, range(128)), "é", "日", "\u0085", "\u2028", "😀"]}
    assert told == {char: naive_character_trigrams.kind(char) for char in told}
    assert len(set(told.values())) == 36
    assert all(len(each) == 1 and each in string.ascii_lowercase + string.digits for each in told.values())
    assert len({character_trigrams.of(char) for char in string.punctuation.replace("~", "")} - set("adnsu")) == 31


@given(CHARS, CHARS)
def test_a_range_has_the_kinds_of_its_characters(one: str, other: str) -> None:
    first, last = sorted((one, other))
    between = "".join(chr(code) for code in range(ord(first), min(ord(last), 256) + 1)) or last
    assert character_trigrams.of_range(first, last) == character_trigrams.of(between)


@given(TEXTS)
@example("a" * 9 + " b aaa-aaaa日本日a日日")
@settings(max_examples=500)
def test_the_triples_of_a_text_are_all_of_its_collapsed_kinds_and_little_else(text: str) -> None:
    told = character_trigrams.triples(text).split()
    assert len(told) == len(set(told))
    assert all(len(each) == 3 for each in told)
    assert set(told) >= naive_character_trigrams.triples(text)
    around = naive_character_trigrams.collapsed(f"aa\n{text}\naa")  # as if words stood before and behind
    assert set(told) <= {around[at : at + 3] for at in range(len(around) - 2)} | {"aan", "naa"}
    assert character_trigrams.collapsed(
        "".join(map(character_trigrams.of, text))
    ) == naive_character_trigrams.collapsed(text)


@given(TEXTS, st.data())
@settings(max_examples=500)
def test_what_stands_in_a_text_stands_collapsed_in_the_collapsed_text(text: str, data: st.DataObject) -> None:
    """SEARCH-82: also one kind or two begin a triple."""
    start = data.draw(st.integers(0, len(text)))
    part = naive_character_trigrams.collapsed(text[start : data.draw(st.integers(start, len(text)))])
    assert part in naive_character_trigrams.collapsed(text)
    for length in (1, 2, 3):
        for at in range(len(part) - length + 1):
            assert any(each.startswith(part[at : at + length]) for each in character_trigrams.triples(text).split())


ATOMS = st.sampled_from([
    *"aAkKsSiI1-@#.^$ ", "é", "日", "ſ", "\u212a", "İ", "ı",
    *(f"\\{each}" for each in "dwsDWSbBnrt.-0"), "\\u0041", "\\u{212a}", "\\uD83D\\uDE00", "\\x4b", "\\cJ",
    "[]", "[^]", "[a-z]", "[K-S]", "[^a]", "[0-9]", "[\\d,-]", "[\\w.]", "[\\s@]", "[^\\s]", "[!-~]", "[À-ÿ]", "[ſ-ƀ]",
    "\\p{L}", "\\P{L}", "[日本]", "[\\D#]", "[\\b]", "[\\n-]", "[\\u0130-\\u0131]", "(a)\\1", "(?<n>-)\\k<n>",
])  # fmt: skip
REPEATS = st.sampled_from(
    ["", "", "", "", "*", "+", "?", "{0}", "{1}", "{2}", "{4}", "{1,2}", "{2,3}", "{2,}", "{0,2}", "+?"]
)
OPENINGS = st.sampled_from(["(", "(?:", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?i:", "(?-i:"])


def sources(atoms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pieces = st.builds("{}{}".format, atoms, REPEATS)
    branches = st.lists(st.lists(pieces, min_size=1, max_size=3).map("".join), min_size=1, max_size=3).map("|".join)
    groups = st.builds("{}{}){}".format, OPENINGS, branches, REPEATS)
    return st.one_of(branches, st.lists(st.one_of(pieces, pieces, groups), min_size=1, max_size=5).map("".join))


FEW_ATOMS = st.sampled_from(["-", "@", "1", "a", "\\d", "[@-]", "[^@]", ".", "\\D", "\\W", "\\S", "\\b", "^", "$"])
FEW_TEXTS = st.lists(st.sampled_from([*"--@@11a\n"]), max_size=9).map("".join)
SOURCES_AND_TEXTS = st.one_of(
    st.tuples(sources(ATOMS), st.lists(TEXTS, min_size=1, max_size=5)),
    st.tuples(sources(FEW_ATOMS), st.lists(FEW_TEXTS, min_size=5, max_size=12)),  # so that many match
)


def translated(source: str, match_case: bool) -> RegExp | None:
    try:
        return translate(source, match_case=match_case)
    except InvalidRegExp:
        return None


@given(SOURCES_AND_TEXTS, st.booleans())
@settings(max_examples=500, deadline=None)
def test_whatever_matches_has_what_the_expression_asks_for(asked: tuple[str, list[str]], match_case: bool) -> None:
    source, texts = asked
    expression = translated(source, match_case)
    if expression is None:
        return
    for text in texts:
        if expression.pattern.search(text):
            assert naive_character_trigrams.may_hold(expression, text), (source, text)
            begun = character_trigrams.triples(text).split()
            for condition in expression.neighbours:
                assert any(each.startswith(part) for part in condition for each in begun), (source, text)


LETTERS = "".join(map(chr, [*range(128), *range(0x80, 0x250), 0x1E9E, 0x212A, 0x212B, 0x2126, 0xFF21, 0xFF41]))


@pytest.mark.parametrize("match_case", [True, False])
@pytest.mark.parametrize("form", ["{}", "[{}]", "[\\w{}]", "(?i:{})", "(?-i:[{}])"])
def test_no_letter_is_met_by_one_of_another_kind(form: str, match_case: bool) -> None:
    followed = "".join(f"{char}!!" for char in LETTERS)
    for char in LETTERS:
        source = form.format(f"\\u{{{ord(char):x}}}") + "!!"
        expression = translate(source, match_case=match_case)
        met = [found.group() for found in expression.pattern.finditer(followed)]
        assert f"{char}!!" in met
        assert all(naive_character_trigrams.may_hold(expression, each) for each in met), source


NAMES = {character_trigrams.of(char): char for char in string.punctuation.replace("~", "")}


def shown(condition: character_trigrams.Condition) -> str:
    return " ".join("".join(NAMES.get(told, told) for told in each) for each in condition)


@pytest.mark.parametrize(
    ("source", "conditions"),
    [
        (r"[A-Z]{2,}-\d+", ["a-d u-d"]),
        (r"(?-i:[A-Z]{2,}-\d+)", ["a-d"]),
        (r"\w+@\w+", ["_@_ _@a _@d a@_ a@a a@d d@_ d@a d@d"]),
        (r"^#{3,} ", ["###", "##s"]),
        (r"\b\d{1,2}:\d\d\b", ["d:d", ":dd"]),
        (r"[0-9]+\.[0-9]+", ["d.d"]),
        (r"(?:\+\d|@)x", ["@ +d"]),
        (r"(?:\+\d|x)@?", []),
        (r"\[[^\]]+\]\(", ["](", "["]),
        (r"(?!@)!(?=\?)", ["!", "?"]),
        (r"x\?@*!", ["a? u?", "!"]),
        (r"!{5}\?", ["!!!", "!!?"]),
        (r"-\d{1,2}:", ["d:", "-d"]),
        (r"\?{2,}!", ["??!"]),
        (r"(?:!\?)?@|(?:#!)+", ["@ #!"]),
        (r"\D@\W", ["@"]),
        (r"\s!", ["n! s! u!"]),
        ("日本!", ["u!"]),
        (r"\w+ \w+", []),
        (".*", []),
    ],
)
def test_what_expressions_ask_for(source: str, conditions: list[str]) -> None:  # SEARCH-83
    assert [shown(each) for each in translate(source).neighbours] == conditions


READ = evaluate_rows.read
NOTES = {
    "Times.md": "We met at 9:30.\n",
    "Dates.md": "On 2024-05-31.\n",
    "Mail.md": "To heron@example.org.\n",
    "Words.md": "Nothing but words.\n",
    "1:23.md": "",
    "A@.md": "",
    "Cards.canvas": '{"nodes": [{"id": "1", "type": "text", "text": "at 7:15"}]}',
}


@pytest.mark.parametrize(
    ("query", "read", "found"),
    [
        (r"content:/\d:\d\d/", 2, ["Cards.canvas", "Times.md"]),
        (r"/\d:\d\d/", 3, ["1:23.md", "Cards.canvas", "Times.md"]),
        (r"-/\d:\d\d/", 3, ["A@.md", "Dates.md", "Mail.md", "Words.md"]),
        (r"line:/\d:\d\d/", 2, ["Cards.canvas", "Times.md"]),
        (r"/\w+@\w+/", 1, ["Mail.md"]),
        (r"match-case:/[^a]@/", 2, ["A@.md", "Mail.md"]),
        (r"block:(/\d:\d\d/ OR /-\d\d\b/)", 3, ["Cards.canvas", "Dates.md", "Times.md"]),
        (r"section:(/\d-\d/ -words)", 1, ["Dates.md"]),
    ],
)
def test_only_texts_are_read_that_can_match(
    monkeypatch: pytest.MonkeyPatch, query: str, read: int, found: list[str]
) -> None:
    """SEARCH-40 and SEARCH-84, in paths as well."""
    looked_at = set[int]()

    def reading(texts: evaluate_rows.Readable, asked: Node, files: AbstractSet[int]) -> AbstractSet[int]:
        looked_at.update(files)
        return READ(texts, asked, files)

    monkeypatch.setattr(evaluate_rows, "read", reading)
    with indexed(NOTES) as vault:
        assert listed(search_of(vault), query) == scanned(vault, query) == found
        assert len(looked_at) == read


@pytest.mark.parametrize("query", [r"met /\d:\d\d/", r"/\d:\d\d/ content:met", r"/met at \d:\d\d/"])
def test_of_few_texts_that_have_the_words_kinds_are_not_asked(monkeypatch: pytest.MonkeyPatch, query: str) -> None:
    def asked(self: Lookup, condition: HasKinds) -> NoReturn:
        raise AssertionError(condition)

    monkeypatch.setattr(Lookup, "_has_kinds", asked)
    with indexed(NOTES) as vault:
        assert listed(search_of(vault), query) == scanned(vault, query) == ["Times.md"]


def test_a_text_that_is_not_whole_in_the_index_is_never_excluded(monkeypatch: pytest.MonkeyPatch) -> None:  # SEARCH-84
    monkeypatch.setattr(extract, "BODY_LIMIT", 100)
    with indexed({"Long.md": "word\n" * 50 + "at 9:30\n", "Short.md": "word\n"}) as vault:
        assert listed(search_of(vault), r"/\d:\d\d/") == scanned(vault, r"/\d:\d\d/") == ["Long.md"]
