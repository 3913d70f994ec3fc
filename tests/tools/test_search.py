"""`obsidian_search`: filters, orders, groups and what an answer says (specs/search.md)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.query import regexp
from obsidian_mcp.errors import InvalidArguments, NoteNotFound, OperationTimeout, QueryInvalid
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on

pytestmark = pytest.mark.usefixtures("each_disk")

NOTES = {
    "Note 2.md": "---\nstatus: Draft\nrating: 7\ndue: 2024-05-02\ntags: [work]\n---\nzebra\n",
    "Note 10.md": "---\nstatus: done\nrating: 10\ndue: 2023-12-31\ntags: [work/clocks, home]\n---\nzebra zebra zebra\n",
    "note 1.md": "---\nstatus: [Draft, late]\nrating: 2.5\n---\nzebra #Work\n",
    "Élan.md": "---\nstatus:\nrating: ten\n---\nzebra\n",
    "Projects/Beta.md": "zebra and more text, so that it is not as good\n" + "filler words here\n" * 40,
    "Projects/archive/Old.md": "---\nStatus: done\nrating: true\n---\nzebra #home\n",
    "Elsewhere.md": "nothing of the kind\n",
    "zebra.png": "",
}
YEARS = {
    "Note 2.md": "2024-05-10T12:00",
    "Note 10.md": "2024-05-31T23:30",
    "note 1.md": "2024-06-01T00:30",
    "Élan.md": "2023-01-15T12:00",
    "Projects/Beta.md": "2024-01-15T12:00",
    "Projects/archive/Old.md": "2020-02-29T12:00",
    "zebra.png": "2022-07-01T12:00",
}


@pytest.fixture(scope="module", params=["indexed", "fresh"])
def vault(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Six notes with a zebra, in the index or not yet."""
    root = tmp_path_factory.mktemp("search") / "v"
    for path, text in NOTES.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="\n")
        if path in YEARS:
            seconds = datetime.fromisoformat(YEARS[path]).timestamp()
            os.utime(place, (seconds, seconds))
    app = app_on(root)
    kept = app.vaults.get().indexer
    if request.param == "indexed":
        kept.pending.begin()
        kept.complete()
    yield app
    app.vaults.close()


def searched(app: App, query: str = "zebra", **arguments: Any) -> dict[str, Any]:
    return call(app, "obsidian_search", {"query": query, **arguments}).data


def paths(app: App, query: str = "zebra", **arguments: Any) -> list[str]:
    return [hit["path"] for hit in searched(app, query, **arguments)["hits"]]


ALL = {path for path in YEARS if path.endswith(".md")}

PERIODS: list[tuple[dict[str, str], set[str]]] = [
    ({"modified_after": "2024"}, {"Note 2.md", "Note 10.md", "note 1.md", "Projects/Beta.md"}),
    ({"modified_after": "2024-05", "modified_before": "2024-06"}, {"Note 2.md", "Note 10.md"}),
    ({"modified_after": "2024-06-01"}, {"note 1.md"}),
    ({"modified_after": "2024-06-01T00:30"}, {"note 1.md"}),
    ({"modified_after": "2024-06-01 00:30:01"}, set()),
    ({"modified_before": "2020-03-01"}, {"Projects/archive/Old.md"}),
    ({"modified_before": "2020-02-29T12:00"}, set()),
    ({"modified_after": "7d"}, set()),
    ({"modified_before": "1 week ago"}, ALL),
    ({"modified_after": "last 7 days"}, set()),
    ({"modified_after": "in the last 7 days"}, set()),
    ({"modified_before": "last monday"}, ALL),
    ({"modified_after": "since monday"}, set()),
    ({"modified_after": "past week"}, set()),
    ({"modified_after": "1 may 2024", "modified_before": "1.6.2024"}, {"Note 2.md", "Note 10.md"}),
    ({"modified_before": "today"}, ALL),
    ({"modified_after": "200y"}, ALL),
    ({"modified_after": "99999y"}, ALL),
    ({"modified_after": "9999-12-31"}, set()),
]


@pytest.mark.parametrize(("period", "expected"), PERIODS, ids=[str(period) for period, _ in PERIODS])
@pytest.mark.parametrize("match", ["smart", "exact"])
def test_files_changed_in_a_period_are_found(
    vault: App, period: dict[str, str], expected: set[str], match: str
) -> None:
    """SEARCH-12"""
    data = searched(vault, **period, match=match)

    assert {hit["path"] for hit in data["hits"]} == expected
    assert data["total"] == len(expected)


def test_properties_are_compared_with_days_in_words(vault: App) -> None:
    """QUERY-56"""
    assert set(paths(vault, "[due:<last monday]")) == {"Note 2.md", "Note 10.md"}
    assert paths(vault, "[due:>last monday]", match="exact") == []
    assert paths(vault, '[due:"may 2024"]', match="exact") == ["Note 2.md"]
    with pytest.raises(QueryInvalid, match="a number or a date"):
        searched(vault, "[due:>soon]")


def test_a_period_may_name_its_zone(vault: App) -> None:
    """SEARCH-12"""
    local = datetime.fromisoformat(YEARS["note 1.md"]).astimezone()
    zulu = local.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    later = (local + timedelta(seconds=1)).isoformat()

    assert paths(vault, modified_after=zulu) == ["note 1.md"]
    assert paths(vault, modified_after=later) == []


@pytest.mark.parametrize("text", ["soon", "7", "7 parsecs", "2024-13", "2024-02-30", "31.13.2024", "last night"])
@pytest.mark.parametrize("argument", ["modified_after", "modified_before"])
def test_a_time_that_is_none_is_refused_with_examples(vault: App, argument: str, text: str) -> None:
    """SEARCH-12"""
    with pytest.raises(InvalidArguments) as refused:
        searched(vault, **{argument: text})

    assert refused.value.data["argument"] == argument
    assert "7d" in refused.value.message
    assert "2024-05-31" in refused.value.message


def test_attachments_are_filtered_as_notes_are(vault: App) -> None:
    assert "zebra.png" in paths(vault, "file:zebra")
    assert "zebra.png" in paths(vault, "file:zebra", modified_after="2022")
    assert "zebra.png" not in paths(vault, "file:zebra", modified_after="2023")
    assert "zebra.png" not in paths(vault, "file:zebra", folder="Projects")


def test_folder_tag_and_property_narrow_in_one_query(vault: App) -> None:
    """SEARCH-11"""
    assert set(paths(vault, folder="Projects")) == {"Projects/Beta.md", "Projects/archive/Old.md"}
    assert set(paths(vault, folder="projects/ARCHIVE")) == {"Projects/archive/Old.md"}
    assert set(paths(vault, "zebra tag:#work")) == {"Note 2.md", "Note 10.md", "note 1.md"}
    assert set(paths(vault, "zebra tag:work [rating:>5]")) == {"Note 2.md", "Note 10.md"}
    assert paths(vault, "zebra tag:work [rating:>5]", modified_before="2024-05-11") == ["Note 2.md"]


def test_a_folder_that_is_not_there_is_refused(vault: App) -> None:
    """SEARCH-11"""
    assert searched(vault, "quagga", folder="Projects")["total"] == 0
    for arguments in ({}, {"group": "tag"}, {"match": "exact"}):
        with pytest.raises(NoteNotFound) as refused:
            searched(vault, folder="Projcts", **arguments)
        assert refused.value.data["folder"] == "Projcts"


def test_wider_circles_are_drawn_where_the_filters_leave_nothing(vault: App) -> None:
    """SEARCH-51"""
    data = searched(vault, "zebras kind", folder="Projects")

    assert {hit["path"] for hit in data["hits"]} == {"Projects/Beta.md", "Projects/archive/Old.md"}
    assert data["widened"]


BETA, OLD = "Projects/Beta.md", "Projects/archive/Old.md"
ORDERS: list[tuple[str, list[str]]] = [
    ("modified", ["note 1.md", "Note 10.md", "Note 2.md", BETA, "Élan.md", OLD]),
    ("modified desc", ["note 1.md", "Note 10.md", "Note 2.md", BETA, "Élan.md", OLD]),
    ("-modified", ["note 1.md", "Note 10.md", "Note 2.md", BETA, "Élan.md", OLD]),
    ("Modified ASC", [OLD, "Élan.md", BETA, "Note 2.md", "Note 10.md", "note 1.md"]),
    ("name", [BETA, "Élan.md", "note 1.md", "Note 2.md", "Note 10.md", OLD]),
    ("name descending", [OLD, "Note 10.md", "Note 2.md", "note 1.md", "Élan.md", BETA]),
    ("path", ["Élan.md", "note 1.md", "Note 2.md", "Note 10.md", OLD, BETA]),
    ("rating", ["note 1.md", "Note 2.md", "Note 10.md", "Élan.md", OLD, BETA]),
    ("-rating", [OLD, "Élan.md", "Note 10.md", "Note 2.md", "note 1.md", BETA]),
    ("due", ["Note 10.md", "Note 2.md", BETA, OLD, "note 1.md", "Élan.md"]),
    ("DUE desc", ["Note 2.md", "Note 10.md", BETA, OLD, "note 1.md", "Élan.md"]),
    ("tag", ["Note 10.md", OLD, "Note 2.md", "note 1.md", BETA, "Élan.md"]),
    ("status", ["Note 10.md", OLD, "Note 2.md", "note 1.md", BETA, "Élan.md"]),
    ("[status]", ["Note 10.md", OLD, "Note 2.md", "note 1.md", BETA, "Élan.md"]),
    ("property:status desc", ["Note 2.md", "note 1.md", "Note 10.md", OLD, BETA, "Élan.md"]),
]


@pytest.mark.parametrize(("sort", "expected"), ORDERS, ids=[sort for sort, _ in ORDERS])
def test_results_come_in_the_order_that_was_asked_for(vault: App, sort: str, expected: list[str]) -> None:
    """SEARCH-67, SEARCH-68"""
    assert paths(vault, sort=sort) == expected
    assert paths(vault, sort=sort, match="exact") == expected
    paged = [path for offset in range(0, 6, 2) for path in paths(vault, sort=sort, limit=2, offset=offset)]
    assert paged == expected


def test_the_worst_comes_first_where_that_is_asked_for(vault: App) -> None:
    """SEARCH-68"""
    best = paths(vault)

    assert best == paths(vault, sort="relevance") == paths(vault, sort="relevance desc")
    assert paths(vault, sort="relevance asc") == best[::-1]
    assert paths(vault, sort="relevance asc", limit=2, offset=1) == best[::-1][1:3]


def test_attachments_stand_among_the_notes_in_every_order_but_relevance(vault: App) -> None:
    assert paths(vault, "file:zebra OR zebra", match="exact")[-1] == "zebra.png"
    assert paths(vault, "file:zebra OR zebra", match="exact", sort="modified")[4:6] == ["Élan.md", "zebra.png"]
    assert paths(vault, "file:zebra OR zebra", match="exact", sort="rating")[-1] == "zebra.png"


def test_what_a_result_was_sorted_by_is_said(vault: App) -> None:
    """SEARCH-69"""

    def sort_values(sort: str) -> list[str | None]:
        return [hit.get("value") for hit in searched(vault, sort=sort)["hits"]]

    assert sort_values("rating") == ["2.5", "7", "10", "ten", "true", None]
    assert sort_values("tag")[:2] == ["#home", "#home"]
    assert sort_values("name") == [None] * 6
    newest = datetime.fromisoformat(YEARS["note 1.md"]).astimezone(UTC)
    assert sort_values("modified")[0] == newest.strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize("argument", ["sort", "group"])
def test_a_property_that_no_note_has_is_refused(vault: App, argument: str) -> None:
    """SEARCH-64"""
    with pytest.raises(InvalidArguments) as refused:
        searched(vault, **{argument: "raiting"})

    assert refused.value.data["property"] == "raiting"
    assert "modified" in refused.value.message


GROUPS: list[tuple[dict[str, str], list[tuple[str, list[str]]]]] = [
    (
        {"group": "folder", "sort": "path"},
        [
            ("/", ["Élan.md", "note 1.md", "Note 2.md", "Note 10.md"]),
            ("Projects/archive", [OLD]),
            ("Projects", [BETA]),
        ],
    ),
    (
        {"group": "tag", "sort": "name"},
        [
            ("#work", ["note 1.md", "Note 2.md"]),
            ("#work/clocks", ["Note 10.md"]),
            ("#home", ["Note 10.md", OLD]),
            ("(none)", [BETA, "Élan.md"]),
        ],
    ),
    (
        {"group": "modified", "sort": "modified"},
        [
            ("2024-06", ["note 1.md"]),
            ("2024-05", ["Note 10.md", "Note 2.md"]),
            ("2024-01", [BETA]),
            ("2023-01", ["Élan.md"]),
            ("2020-02", [OLD]),
        ],
    ),
    (
        {"group": "status", "sort": "status"},
        [
            ("done", ["Note 10.md", OLD]),
            ("Draft", ["Note 2.md", "note 1.md"]),
            ("late", ["note 1.md"]),
            ("(none)", [BETA, "Élan.md"]),
        ],
    ),
    (
        {"group": "Rating", "sort": "rating", "modified_after": "2024"},
        [("2.5", ["note 1.md"]), ("7", ["Note 2.md"]), ("10", ["Note 10.md"]), ("(none)", [BETA])],
    ),
]


@pytest.mark.parametrize(("arguments", "expected"), GROUPS, ids=[arguments["group"] for arguments, _ in GROUPS])
def test_results_are_grouped(vault: App, arguments: dict[str, str], expected: list[tuple[str, list[str]]]) -> None:
    """SEARCH-66"""
    data = searched(vault, **arguments)

    shown = [(group["group"], [hit["path"] for hit in group["hits"]]) for group in data["groups"]]
    assert [(name.lower(), files) for name, files in shown] == [(name.lower(), files) for name, files in expected]
    assert [group["count"] for group in data["groups"]] == [len(files) for _, files in expected]
    assert data["group_count"] == len(expected)
    assert data["total"] == len({path for _, files in expected for path in files})
    assert "hits" not in data


def test_groups_of_later_pages_are_named_with_their_counts(vault: App) -> None:
    """SEARCH-66"""
    data = searched(vault, group="modified", sort="modified", limit=2)

    assert [(group["group"], group["count"], len(group.get("hits", ()))) for group in data["groups"]] == [
        ("2024-06", 1, 1),
        ("2024-05", 2, 1),
        ("2024-01", 1, 0),
        ("2023-01", 1, 0),
        ("2020-02", 1, 0),
    ]
    assert data["next_offset"] == 2
    following = searched(vault, group="modified", sort="modified", limit=2, offset=2)
    assert following["groups"][0]["group"] == "2024-05"
    assert [hit["path"] for hit in following["groups"][0]["hits"]] == ["Note 2.md"]


def test_groups_stand_in_the_order_of_their_best_files(vault: App) -> None:
    """SEARCH-66"""
    best = paths(vault)
    groups = [group["group"] for group in searched(vault, group="folder")["groups"]]

    folders = [path.rpartition("/")[0] or "/" for path in best]
    assert groups == list(dict.fromkeys(folders))


@pytest.mark.parametrize("group", ["relevance", "name"])
def test_what_makes_no_groups_is_refused(vault: App, group: str) -> None:
    """SEARCH-66"""
    with pytest.raises(InvalidArguments) as refused:
        searched(vault, group=group)

    assert refused.value.data["argument"] == "group"


def test_nothing_found_has_no_groups(vault: App) -> None:
    assert searched(vault, "quagga", match="exact", group="tag") == {"total": 0, "group_count": 0, "groups": []}


def test_nothing_or_a_star_asks_for_every_note(vault: App) -> None:
    """SEARCH-10"""
    everything = {*ALL, "Elsewhere.md"}
    assert set(paths(vault, "*")) == set(paths(vault, '""')) == everything
    assert paths(vault, " ", sort="modified")[:3] == ["Elsewhere.md", "note 1.md", "Note 10.md"]
    assert set(paths(vault, "", modified_after="2024-05", modified_before="2024-06")) == {"Note 2.md", "Note 10.md"}
    assert set(paths(vault, "", folder="Projects")) == {BETA, OLD}
    assert searched(vault, "", group="tag")["group_count"] == 4
    assert paths(vault, "*", match="exact") == []
    with pytest.raises(QueryInvalid) as refused:
        searched(vault, "")
    assert "two quotes" in refused.value.message


def test_a_hit_says_path_score_heading_line_and_text(app: App) -> None:
    """SEARCH-14"""
    data = searched(app, "brass wheel")

    (hit,) = data["hits"]
    assert hit["path"] == "Projects/Alpha.md"
    assert hit["score"] > 0
    assert hit["snippets"][-1] == {"line": 15, "text": "- [ ] Cut the wheel in brass ^brass", "heading": "Plan"}
    assert data["total"] == 1
    assert set(data) == {"total", "hits"}


@pytest.mark.parametrize(("text", "line"), [("\nheron\n", 2), ("heron\n", 1), ("\n\n\nheron\nx\n", 4)])
def test_lines_are_counted_from_the_first_one_even_where_it_is_empty(
    app: App, basic: Path, text: str, line: int
) -> None:
    (basic / "Bird.md").write_text(text, "utf-8")
    hits = call(app, "obsidian_search", {"query": "heron"}).data["hits"]
    assert [snippet["line"] for snippet in hits[0]["snippets"]] == [line]


@pytest.mark.parametrize(
    "query", [r"/(a|aa)+$/", r"clocks OR line:/^(a|aa)+$/", r"[note:/(a|aa)+$/]", r"-content:/(a|aa)+$/"]
)
def test_an_expression_that_runs_away_is_stopped_with_its_name(
    app: App, basic: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QUERY-33"""
    monkeypatch.setattr(regexp, "SECONDS", 0.1)
    (basic / "Hostile.md").write_text(f"---\nnote: {'a' * 60}b\n---\n{'a' * 60}b\n", encoding="utf-8", newline="\n")
    start = time.process_time()
    with pytest.raises(OperationTimeout) as stopped:
        searched(app, query)

    assert time.process_time() - start < 2  # 0.1 s each for the texts together and alone, and an allowance
    assert "(a|aa)+$/ ran for more than 0.1 s" in stopped.value.message
    assert "simpler" in stopped.value.message
    assert "Home.md" in paths(app, "clocks")


def test_an_expression_with_very_many_matches_in_one_note_does_not_run_away(
    app: App, basic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QUERY-33: a limit on each search, not on all of them"""
    (basic / "Long.md").write_text("quagga " * 100_000, encoding="utf-8")
    monkeypatch.setattr(regexp, "SECONDS", 0.01)

    assert [hit["path"] for hit in searched(app, "/[aguq]/ quagga")["hits"]] == ["Long.md"]


@pytest.mark.parametrize(
    ("query", "column"), [("zebra (", 8), ("[rating:>=5]", 10), ("/(/", 2), ("a OR", 5), ("tag:", 5)]
)
def test_a_mistake_is_told_before_anything_is_searched(app: App, query: str, column: int) -> None:
    """QUERY-08"""
    with pytest.raises(QueryInvalid) as refused:
        searched(app, query, sort="nothing has this", group="name of nothing")

    assert refused.value.data["column"] == column


@pytest.mark.parametrize("match", ["smart", "exact"])
def test_operators_of_other_programs_are_words_and_the_answer_says_so(app: App, match: str) -> None:
    """SEARCH-98"""
    for query in ("zebra NOT quagga", "NOT zebra", "zebra AND quagga"):
        assert "-term excludes" in searched(app, query, match=match)["note"]
    for query in ('zebra "AND NOT x"', "zebra not quagga", "zebra NOT", "zebra -quagga", 'NOTES "a'):
        assert "-term excludes" not in searched(app, query, match=match).get("note", "")
