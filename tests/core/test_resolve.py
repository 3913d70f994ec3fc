"""Which file a link means (specs/links.md)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path

import pytest

from obsidian_mcp.core.catalog import Catalog
from obsidian_mcp.core.ports import DiskFile
from obsidian_mcp.core.resolve import link_key, resolve

VECTORS = Path(__file__).parents[2] / "specs" / "vectors"


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


def test_the_order_in_which_files_were_found_changes_nothing() -> None:  # LINK-09
    files = ["c/Note.md", "a/Note.md", "b/Note.md", "b/note.md"]
    answers = {resolve(catalog(order), "x.md", "note") for order in permutations(files)}
    assert answers == {"a/Note.md"}


def test_links_that_can_mean_one_file_share_a_key() -> None:  # LINK-11
    keys = {link_key(link) for link in ("Note", "a/note.md", "../NOTE", "/x/y/Note#h", "Note.MD#a#b")}
    assert keys == {"note"}


def test_a_hundred_thousand_links_resolve_in_about_a_second() -> None:
    files = [f"f{i % 40}/s{i % 7}/Note {i // 3 if i % 10 == 0 else i}.md" for i in range(10_000)]
    names = catalog(dict.fromkeys(files))
    links = [file if i % 2 else file.rpartition("/")[2][:-3] for i, file in enumerate(files)] * 10
    start = time.process_time()
    found = sum(resolve(names, "f1/x.md", link) is not None for link in links)
    assert found == len(links)
    assert time.process_time() - start < 2  # measured: 0.15 s
