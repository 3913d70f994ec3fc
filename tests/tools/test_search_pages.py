"""How long an answer of a search is, and how its pages follow each other (specs/search.md)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.app import App
from obsidian_mcp.core.search.hit_size import fit_hit, size_in_answer
from obsidian_mcp.core.search.hits import ANSWER_CHARACTERS, Hit, Snippet
from obsidian_mcp.core.search.snippets import HEADING_CHARACTERS, LINE_CHARACTERS
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.tools.outcome import Outcome, to_plain_json
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.examples import examples
from tests.system import can

pytestmark = pytest.mark.usefixtures("disk_of_macos")

LONG = 400_000
"""Characters of the longest line."""
LONGER = 5_000_000
"""More than what is kept of a note; one test looks at such a line."""

TEXTS: dict[str, bytes] = {
    "Line.md": b"# Line\n" + b"x" * (LONG // 2) + b" fox " + b"y" * (LONG // 2) + b" fox\n",
    "Spaceless.md": b"fox" * 100_000,
    "Often.md": b"".join(b"%d fox %d\n" % (n, n) for n in range(100)),
    "Heading.md": b"# " + b'h\\"' * 30_000 + b"\n\nfox\n\nfox fox\n",
    "Controls.md": b"\x01\x02\x03\x1f\x7f\x0b\x0c" * 40 + b"fox" + b"\x01" * 300 + b"\n" + b'"\\' * 100 + b"fox\n",
    "日記.md": ("東京は今日も雨だった。" * 400 + "fox " + "狐" * 500).encode(),
    "Emoji 😀.md": ("👩‍👩‍👧‍👦😀" * 200 + "fox" + "🦊" * 300 + "\n").encode(),
    "Bytes.md": b"caf\xe9 \xff\xfe fox \x80\x81\n" + b"\xff" * 400 + b"fox\n",
    "Returns.md": b"fox\r\n" * 50 + b"\rfox\r",
    "Tags.md": b"---\ntags: [" + b", ".join(b"t%d/%s" % (n, b"u" * 200) for n in range(60)) + b"]\n---\nfox\n",
    "Values.md": b"---\nvalue: '"
    + b"v" * 100_000
    + b"'\nlist: ["
    + b", ".join(b"%d" % n for n in range(300))
    + b"]\n---\nfox\n",
    "Fox.png": b"",
}
DEEP = [
    "狐" * 80,
    "\x01\x02" * 100 if can("names with control characters") else "q" * 200,
    '"\\'[: 2 if can("names with a backslash") else 0] * 100 or "q",
]


@pytest.fixture(scope="module")
def hostile(macos_folder: Path) -> Iterator[App]:
    """A vault whose names and texts are as long and as odd as they can be."""
    root = macos_folder / "v"
    root.mkdir()
    for name, text in TEXTS.items():
        (root / name).write_bytes(text)
    folder = root.joinpath(*DEEP)
    folder.mkdir(parents=True)
    for n in range(40):
        (folder / f"{n} fox {'n' * 150}.md").write_text(
            f"---\nrank: {n % 7}\ntags: a/{n}\n---\n# H {n}\nfox {n}\n", encoding="utf-8"
        )
    for n in range(60):
        (root / f"plain {n}.md").write_text(
            f"---\nrank: {n % 3}\ntags: [a, b]\n---\nfox\n" * (n % 4), encoding="utf-8", newline="\n"
        )
    app = app_on(root)
    kept = app.vaults.get().indexer
    kept.pending.begin()
    kept.complete()
    yield app
    app.vaults.close()


QUERIES = st.sampled_from(
    ["fox", "fox OR 東京", '"fox"', "/fo./", "file:fox", "line:(fox x)", "-nothing", "[rank]", "x", "tag:a",
     "section:fox", "fxo", "foxes OR 狐", '""', "/[^]+/", "path:/./", "fox -plain"]
)  # fmt: skip
ARGUMENTS = st.fixed_dictionaries(
    {"query": QUERIES},
    optional={
        "match": st.sampled_from(["smart", "exact"]),
        "limit": st.integers(1, 500),
        "offset": st.integers(0, 130),
        "snippets": st.integers(0, 10),
        "show": st.sampled_from(["lines", "passages", "paths"]),
        "group": st.sampled_from(["folder", "tag", "modified", "rank", "value", "list"]),
        "sort": st.sampled_from(
            ["relevance asc", "modified", "-name", "path", "tag desc", "rank", "value desc", "list"]
        ),
        "modified_after": st.just("1d"),
    },
)


def searched(app: App, **arguments: Any) -> Outcome:
    outcome = call(app, "obsidian_search", arguments)
    for text in outcome.contents():
        assert len(text) <= ANSWER_CHARACTERS
    return outcome


def entries(data: dict[str, Any]) -> list[tuple[str, str]]:
    """Every hit of an answer with its group."""
    if "groups" in data:
        return [(group["group"], hit["path"]) for group in data["groups"] for hit in group.get("hits", ())]
    return [("", hit["path"]) for hit in data["hits"]]


@given(ARGUMENTS)
@examples(80)
def test_no_answer_is_longer_than_ten_thousand_characters(hostile: App, arguments: dict[str, Any]) -> None:
    """SEARCH-74"""
    data = searched(hostile, **arguments).data

    listed = entries(data)
    assert len(listed) <= arguments.get("limit", 20)
    assert data["total"] == 0 or listed or arguments.get("offset", 0)
    if not data.get("next_offset"):
        return
    assert data["next_offset"] == arguments.get("offset", 0) + len(listed)


def walked(app: App, **arguments: Any) -> Iterator[list[tuple[str, str]]]:
    """The entries of each page, as far as there are any."""
    offset: int | None = 0
    while offset is not None:
        data = searched(app, **arguments, offset=offset).data
        page = entries(data)
        assert page or not data["total"]
        yield page
        assert data.get("next_offset", sys.maxsize) > offset
        offset = data.get("next_offset")


@given(ARGUMENTS, st.integers(7, 60))
@examples(10)
def test_the_pages_hold_every_file_exactly_once(hostile: App, arguments: dict[str, Any], limit: int) -> None:
    """SEARCH-15"""
    arguments = {**arguments, "limit": limit}
    arguments.pop("offset", None)
    pages = list(walked(hostile, **arguments))
    listed = [entry for page in pages for entry in page]
    total = searched(hostile, **arguments).data["total"]

    assert len(set(listed)) == len(listed)
    assert len({path for _, path in listed}) == total
    if "group" not in arguments:
        assert len(listed) == total
        whole = [entry for page in walked(hostile, **{**arguments, "limit": 500, "show": "paths"}) for entry in page]
        assert listed == whole


@pytest.mark.parametrize("group", ["folder", "tag", "rank"])
def test_a_group_goes_on_where_the_page_before_ended(hostile: App, group: str) -> None:
    """SEARCH-66"""
    listed = [name for page in walked(hostile, query="fox", group=group, limit=7) for name, _ in page]

    begun = [name for name, (before, name) in zip(listed[1:], pairwise(listed), strict=True) if before != name]
    assert len(set(begun)) == len(begun)


def test_an_offset_behind_the_end_gives_no_files_and_the_total(hostile: App) -> None:
    data = searched(hostile, query="fox", offset=10_000).data

    assert data["hits"] == []
    assert data["total"] > 50
    assert "next_offset" not in data


def test_many_snippets_of_long_lines_stay_short(hostile: App) -> None:
    """SEARCH-71"""
    for name in ("Often", "Line", "Spaceless", "Heading", "Controls", "日記", "Emoji 😀", "Bytes", "Returns"):
        (hit,) = searched(hostile, query=f'fox file:"{name}.md"', match="exact", snippets=10).data["hits"]
        shown = hit["snippets"]

        assert 1 <= len(shown) <= 10
        for snippet in shown:
            assert "fox" in snippet["text"]
            assert len(snippet["text"]) <= LINE_CHARACTERS + 2
            assert "\n" not in snippet["text"]
            assert len(snippet.get("heading", "")) <= HEADING_CHARACTERS + 1
        assert [snippet["line"] for snippet in shown] == sorted({snippet["line"] for snippet in shown})


def test_a_line_of_five_megabytes_is_shown_in_part(app: App, basic: Path) -> None:
    """SEARCH-71"""
    half = b"x" * (LONGER // 2)
    (basic / "Line.md").write_bytes(half + b" zebrafinch " + half + b" okapi\n")

    (hit,) = searched(app, query="zebrafinch").data["hits"]
    assert "zebrafinch" in hit["snippets"][0]["text"]
    (hit,) = searched(app, query="okapi", match="exact").data["hits"]
    assert "okapi" in hit["snippets"][0]["text"]


def test_the_lines_shown_of_a_note_with_many_are_ten_at_most(hostile: App) -> None:
    (hit,) = searched(hostile, query="fox file:Often", match="exact", snippets=10).data["hits"]

    assert len(hit["snippets"]) == 10


TEXT = st.text(st.characters(codec="utf-8") | st.sampled_from('"\\\x00\x1f\n😀狐'), max_size=300)


@given(
    st.builds(
        Hit,
        TEXT.map(VaultPath),
        st.none() | st.floats(0, 1e4).map(lambda score: round(score, 2)),
        st.none() | TEXT,
        st.none() | st.lists(st.builds(Snippet, st.integers(1, 10**7), TEXT, st.none() | TEXT), min_size=1, max_size=4),
    ),
    st.integers(100, 4_000),
)
@examples(200)
def test_a_hit_is_measured_as_it_is_written(hit: Hit, room: int) -> None:
    """SEARCH-74, SEARCH-75"""

    def written(hit: Hit) -> int:
        return len(Outcome(to_plain_json(hit), None, document=False, enveloped=False).contents()[0])

    assert size_in_answer(hit) == written(hit) + 1
    least = size_in_answer(replace(hit, path=VaultPath("…"), snippets=None))  # a value is short, and is never cut
    assert size_in_answer(fit_hit(hit, room)) <= max(room, least)
    assert fit_hit(hit, size_in_answer(hit)) == hit


def test_a_page_that_the_room_cut_short_says_where_it_goes_on(hostile: App) -> None:
    """SEARCH-15"""
    data = searched(hostile, query="fox", limit=100, snippets=3).data

    assert len(data["hits"]) < 100
    assert data["next_offset"] == len(data["hits"])
