"""The catalog of a vault: one answer per set of files, whatever order they came in."""

from collections.abc import Collection, Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.files.ports import Change, DiskFile

SPELLINGS = [
    "\u00e9.md",
    "e\u0301.md",
    "a.md",
    "A.md",
    "f/\u1ec7.md",
    "f/e\u0323\u0302.md",
    "f/e\u0302\u0323.md",
    "f/\u00ea\u0323.md",
    "b\udcff.md",
]


class Followed:
    """A catalog, and what somebody who follows its changes knows of it."""

    def __init__(self) -> None:
        self.catalog = Catalog()
        self.known: dict[str, FileEntry] = {}
        self.seen: list[tuple[int, int, set[FileEntry]]] = []

    def take(self, changes: Iterable[Change]) -> None:
        for change in changes:
            if change.gone:
                del self.known[change.path]
            else:
                self.known[change.path] = self.catalog[change.path]

    def check(self, present: Collection[DiskFile]) -> None:
        catalog, fresh = self.catalog, Catalog(present)
        for generation, revision, before in self.seen:
            assert catalog.generation > generation or {e.path for e in before} == {e.path for e in catalog}
            assert catalog.revision > revision or before == set(catalog)
        self.seen.append((catalog.generation, catalog.revision, set(catalog)))
        assert self.known == catalog.by_path() == fresh.by_path()
        assert list(catalog.replace(present)) == []
        assert catalog.folders() == fresh.folders()
        assert [catalog.named(name.rpartition("/")[2]) for name in SPELLINGS] == [
            fresh.named(name.rpartition("/")[2]) for name in SPELLINGS
        ]


@settings(max_examples=300)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(SPELLINGS), st.integers(0, 2), st.booleans())))
def test_any_order_of_changes_and_scans_gives_the_catalog_of_a_fresh_scan(
    steps: list[tuple[bool, str, int, bool]],
) -> None:
    reported, scanned = Followed(), Followed()
    present: dict[str, DiskFile] = {}
    for put, disk, size, scans in steps:
        if put:
            present[disk] = DiskFile(disk, size // 2, size)
            reported.take(reported.catalog.put(present[disk]))
        else:
            present.pop(disk, None)
            reported.take(reported.catalog.drop(disk))
        reported.check(present.values())
        if scans:
            scanned.take(scanned.catalog.replace(present.values()))
            scanned.check(present.values())


def test_a_name_in_either_normal_form_or_case_finds_the_file() -> None:
    catalog = Catalog([DiskFile("Caf\u00e9s/Re\u0301sume\u0301.md", 1, 1)])

    assert catalog.at("cafe\u0301s/r\u00e9sum\u00e9.MD") == "Caf\u00e9s/R\u00e9sum\u00e9.md"
    assert catalog.at("Caf\u00e9s/R\u00e9sum\u00e9.md") == "Caf\u00e9s/R\u00e9sum\u00e9.md"
    assert catalog.named("R\u00c9SUM\u00c9.md") == ("Caf\u00e9s/R\u00e9sum\u00e9.md",)


def test_twins_in_two_normal_forms_are_two_files() -> None:
    catalog = Catalog([DiskFile("e\u0301.md", 1, 1), DiskFile("\u00e9.md", 2, 1)])

    assert [entry.size for path in ("\u00e9.md", "e\u0301.md") if (entry := catalog.get(path))] == [2, 1]
