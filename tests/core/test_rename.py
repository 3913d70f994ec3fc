"""Links follow what they lead to (specs/rename.md)."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_mcp.core.catalog import Catalog
from obsidian_mcp.core.paths import VaultPath
from obsidian_mcp.core.places import Referrer, apply, read
from obsidian_mcp.core.ports import DiskFile
from obsidian_mcp.core.rename import FileEdits, link_keys, plan
from obsidian_mcp.core.resolve import link_key, resolve
from obsidian_mcp.core.settings import AppSettings, LinkFormat

VECTORS = Path(__file__).parents[2] / "specs" / "vectors"
CASES = json.loads((VECTORS / "rename.json").read_text(encoding="utf-8"))["cases"]


def catalog(files: Iterable[str]) -> Catalog:
    return Catalog(DiskFile(file, 1, 1) for file in files)


def referrers(files: Mapping[str, str]) -> list[Referrer]:
    return [read(VaultPath(path), body) for path, body in files.items()]


def candidates(
    files: Mapping[str, str], moves: Mapping[VaultPath, VaultPath], created: Iterable[VaultPath] = ()
) -> list[Referrer]:
    """The files that an index would give: those with a link of the right key, and those that move."""
    keys = link_keys(moves, created)
    return [
        referrer
        for referrer in referrers(files)
        if referrer.path in moves
        or any(link_key(place.link.path) in keys for place in referrer.places)
        or any(link_key(card.path.value) in keys for card in referrer.card_paths)
    ]


def rewritten(files: Mapping[str, str], planned: Iterable[FileEdits]) -> dict[str, str]:
    return {each.path: apply(files[each.path], each.edits) for each in planned if each.edits}


@pytest.mark.parametrize("case", CASES, ids=[f"{case['rule']} {case['title']}" for case in CASES])
def test_a_vault_is_rewritten_as_the_table_says(case: dict[str, Any]) -> None:
    files: dict[str, str] = case["files"]
    names = catalog(files)
    moves = {VaultPath(old): VaultPath(new) for old, new in case["moves"].items()}
    created = [VaultPath(path) for path in case.get("created", ())]
    app = AppSettings(**case.get("settings", {}))
    planned = list(plan(names, moves, candidates(files, moves, created), settings=app, created=created))
    assert rewritten(files, planned) == {path: body for path, body in case["expected"].items() if body != files[path]}
    assert [skip.original for each in planned for skip in each.skipped] == case.get("skipped", [])
    assert planned == list(plan(names, moves, referrers(files), settings=app, created=created))  # RENAME-02


NAMES = ["N", "n", "Note", "é", "が", "日本", "v1.2", "a b", "p (q", "S [1]", "50%", "x.md", "It's"]
FOLDERS = ["", "", "a/", "a/b/", "A/", "zz/", "日本/", "c d/e/"]
PATHS = st.builds(
    "{}{}{}".format, st.sampled_from(FOLDERS), st.sampled_from(NAMES), st.sampled_from([".md", ".md", ".md", ".png"])
)
LINKS = st.sampled_from(
    [
        "[[{short}]]",
        "[[{short}|{name}]]",
        "![[{file}|100]]",
        "[[{path}#h|see]]",
        "[[{bare}]]",
        "[t]({url})",
        "[{name}](<{path}>)",
        '![]({url}#h "t")',
        "[[../{bare}]]",
        "[[./{bare}]]",
        "\n| [[{bare}\\|x]] | b |\n|---|---|\n| [[{short}\\|{name}]] | [[{bare}]] |\n\n",
        "`[[{bare}]]`",
        "%% [[{bare}]] %%",
        "\r\n> [[{bare}]] and [[#h]]\r\n\r\n",
        "[[missing {bare}]]",
        " text\n",
    ]
)


def linked(template: str, target: str) -> str:
    name = target.rpartition("/")[2]
    stem = name.removesuffix(".md")
    return template.format(
        short=target.removesuffix(".md"),
        bare=stem,
        name=stem.removesuffix(".png"),
        file=name,
        path=target,
        url=target.replace("%", "%25").replace(" ", "%20").replace("(", "%28"),
    )


@st.composite
def vaults(draw: st.DrawFn) -> dict[str, str]:
    paths = draw(st.lists(PATHS, min_size=2, max_size=7, unique=True))
    files = {}
    for path in paths:
        body = ""
        if path.endswith(".md"):
            if draw(st.booleans()):
                target = draw(st.sampled_from(paths)).removesuffix(".md")
                body += draw(
                    st.sampled_from(['---\nup: "[[{}]]"\n---\n', "---\r\nl: ['[[{}|x]]', 2]\r\n---\r\n"])
                ).format(target.replace("'", ""))
            for template in draw(st.lists(LINKS, max_size=6)):
                target = unicodedata.normalize(draw(st.sampled_from(["NFC", "NFD"])), draw(st.sampled_from(paths)))
                body += linked(template, target) + " "
        files[path] = body
    canvas = [{"type": "file", "file": path, "id": path} for path in paths[:2]]
    cards = [{"type": "text", "text": files[path], "id": f"t{path}"} for path in paths[:2] if files[path]]
    return files | {"k/c.canvas": json.dumps({"nodes": canvas + cards}, ensure_ascii=draw(st.booleans()), indent=1)}


def leads(names: Catalog, referrer: Referrer, at: str) -> list[tuple[str | None, str]]:
    """Where each link and card leads, and how it is written."""
    found: list[tuple[str | None, str]] = [
        (resolve(names, at, place.link.path), place.link.original) for place in referrer.places
    ]
    return found + [(names.at(card.path.value), card.path.value) for card in referrer.card_paths]


def without_links(referrer: Referrer) -> list[str]:
    """What stands between the links and card paths, and the subpath and title inside of each."""
    spans = [place.edit(place.link.span, "").span for place in referrer.places if place.found]
    spans += [card.path.span for card in referrer.card_paths]
    parts, done = [], 0
    for span in sorted(spans, key=lambda span: span.start):
        parts.append(referrer.body[done : span.start])
        done = max(done, span.end)
    return [*parts, referrer.body[done:]]


@settings(max_examples=200, deadline=None)
@given(files=vaults(), link_format=st.sampled_from(["shortest", "relative", "absolute"]), data=st.data())
def test_every_link_leads_where_it_led_and_all_else_stays(
    files: dict[str, str], link_format: LinkFormat, data: st.DataObject
) -> None:  # RENAME-01, RENAME-13
    names = catalog(files)
    movable = sorted(entry.path for entry in names)
    moved = data.draw(st.lists(st.sampled_from(movable), min_size=1, max_size=3, unique=True))
    free = PATHS.filter(lambda path: path not in files)
    targets = data.draw(st.lists(free, min_size=len(moved), max_size=len(moved), unique=True))
    moves = {
        old: VaultPath(new if not old.endswith(".canvas") else new + ".canvas")
        for old, new in zip(moved, targets, strict=True)
    }
    before = {path: read(VaultPath(path), body) for path, body in files.items()}
    planned = list(plan(names, moves, before.values(), settings=AppSettings(new_link_format=link_format)))
    unwritten = {each.path: {skip.original for skip in each.skipped} for each in planned}
    bodies = {**files, **rewritten(files, planned)}
    after_names = catalog(moves.get(VaultPath(path), VaultPath(path)) for path in files)
    for path, referrer in before.items():
        home = moves.get(VaultPath(path), VaultPath(path))
        after = read(home if path.endswith(".md") == home.endswith(".md") else VaultPath(path), bodies[path])
        led, lead = leads(names, referrer, path), leads(after_names, after, home)
        assert len(led) == len(lead)
        for (target, written), (now, rewritten_) in zip(led, lead, strict=True):
            if target is None:
                assert rewritten_ == written
            elif written not in unwritten.get(VaultPath(path), ()):
                assert now == moves.get(VaultPath(target), target), (written, rewritten_)
        assert without_links(after) == without_links(referrer)
