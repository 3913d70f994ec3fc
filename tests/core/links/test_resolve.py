"""Which file a link means, and how a link to a file is written (specs/links.md)."""

from __future__ import annotations

import json
import re
import string
import time
import unicodedata
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.core.files.settings import AppSettings, LinkFormat
from obsidian_mcp.core.links.resolve import link_key, resolve
from obsidian_mcp.core.links.write_link import generate_link
from obsidian_mcp.core.note.links import decode, find_destination
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.core.text.wikilink import match_wikilink, split_subpath, split_wikilink
from obsidian_mcp.errors import InvalidName
from tests.examples import examples

VECTORS = Path(__file__).parents[3] / "specs" / "vectors"


def catalog(files: Iterable[str]) -> Catalog:
    return Catalog(DiskFile(file, 1, 1) for file in files)


CASES = [
    (group["files"], case)
    for group in json.loads((VECTORS / "resolve.json").read_text(encoding="utf-8"))["groups"]
    for case in group["cases"]
]


@pytest.mark.parametrize(
    ("files", "case"), CASES, ids=[f"{c['rule']} {c['link']!r} in {c['source']}" for _, c in CASES]
)
def test_a_link_leads_where_the_table_says(files: list[str], case: dict[str, str]) -> None:
    names = catalog(files)
    found = resolve(names, case["source"], case["link"])
    entry = names.get(found) if found is not None else None
    disk = entry.disk if entry is not None else found
    assert disk == case["target"]


def test_the_order_in_which_files_were_found_changes_nothing() -> None:
    """LINK-09"""
    files = ["c/Note.md", "a/Note.md", "b/Note.md", "b/note.md"]
    answers = {resolve(catalog(order), "x.md", "note") for order in permutations(files)}
    assert answers == {"a/Note.md"}


@pytest.mark.parametrize("link", ["../Only", "./b/Only", "/Only"])
def test_a_missed_link_with_a_dot_or_slash_in_front_leads_nowhere(link: str) -> None:
    """LINK-05, LINK-07"""
    assert resolve(catalog(["b/Only.md", "a/s.md"]), "a/s.md", link) is None


def test_links_that_can_mean_one_file_share_a_key() -> None:
    """LINK-11"""
    keys = {link_key(link) for link in ("Note", "a/note.md", "../NOTE", "/x/y/Note#h", "Note.MD#a#b")}
    assert keys == {"note"}


@pytest.mark.timing
def test_a_hundred_thousand_links_resolve_in_about_a_second() -> None:
    files = [f"f{i % 40}/s{i % 7}/Note {i // 3 if i % 10 == 0 else i}.md" for i in range(10_000)]
    names = catalog(dict.fromkeys(files))
    links = [file if i % 2 else file.rpartition("/")[2][:-3] for i, file in enumerate(files)] * 10
    start = time.process_time()
    found = sum(resolve(names, "f1/x.md", link) is not None for link in links)
    assert found == len(links)
    assert time.process_time() - start < 2  # measured: 0.15 to 0.5 s


GENERATED = [
    (group, case)
    for group in json.loads((VECTORS / "generate.json").read_text(encoding="utf-8"))["groups"]
    for case in group["cases"]
]


@pytest.mark.parametrize(
    ("group", "case"), GENERATED, ids=[f"{c['rule']} {c['target']!r} {c['link']}" for _, c in GENERATED]
)
def test_a_link_is_written_as_the_table_says(group: dict[str, Any], case: dict[str, Any]) -> None:
    names = catalog([*group["files"], case["source"]])

    def written() -> str:
        return generate_link(
            names,
            VaultPath(case["target"]),
            case["source"],
            settings=AppSettings(**group["settings"]),
            **case.get("options", {}),
        )

    if case["link"] is None:
        with pytest.raises(InvalidName):
            written()
    else:
        assert written() == case["link"]


def read_back(link: str) -> tuple[str, str]:
    """Path and subpath of a written link, by the rules of the note parser."""
    link = link.removeprefix("!")
    if (found := match_wikilink(link)) and found.end() == len(link):
        target, _ = split_wikilink(found[1])
        return split_subpath(target)
    label = re.match(r"\[(?:[^\\\[\]]|\\.|\[[^\[\]]*\])*\](?=\()", link)
    assert label is not None
    place = find_destination(link, label.end(), len(link))
    assert place is not None
    assert place.end == len(link)
    return split_subpath(decode(link[place.start : place.stop]))


COMPONENT = st.text(
    st.sampled_from("aAbé\u0301Éßς日. -_%2#&;|[]()<>`'!:" + string.digits), min_size=1, max_size=6
).filter(lambda name: not name.startswith((".", " ")) and not name.endswith(" "))
FILE = st.builds(
    lambda folders, name, ext: "/".join([*folders, name + ext]),
    st.lists(st.sampled_from(["a", "A", "b c", "é", "日本"]), max_size=3),
    COMPONENT | st.sampled_from(["Note", "note", "x.md", "v1.2"]),
    st.sampled_from([".md", ".md", ".MD", ".png", ""]),
)


@examples(300)
@given(
    files=st.lists(FILE, min_size=2, max_size=8, unique=True),
    link_format=st.sampled_from(["shortest", "relative", "absolute"]),
    markdown=st.booleans(),
    data=st.data(),
)
def test_what_is_written_leads_back_to_the_file(
    files: list[str], link_format: LinkFormat, markdown: bool, data: st.DataObject
) -> None:
    """LINK-29"""
    names = catalog(files)
    paths = sorted(entry.path for entry in names)
    source, target = data.draw(st.sampled_from(paths)), data.draw(st.sampled_from(paths))
    app = AppSettings(new_link_format=link_format, use_markdown_links=markdown)
    try:
        link = generate_link(names, target, source, settings=app)
    except InvalidName:
        # Only a name that no link can hold, an extension that is missing, or a twin under another normal form.
        name = target.rpartition("/")[2]
        assert "#" in target or "." not in name or target != unicodedata.normalize("NFC", target)
        return
    path, subpath = read_back(link)
    assert resolve(names, source, path) == target
    assert not subpath
