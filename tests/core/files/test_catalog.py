"""The catalog of a vault: one answer per set of files, whatever order they came in."""

from collections.abc import Collection, Iterable, Iterator

from hypothesis import example, given
from hypothesis import strategies as st

from obsidian_mcp.core.calendar.timestamp import timestamp
from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.ports import Change, DiskFile
from obsidian_mcp.core.text.text import MAX_FILE_BYTES
from tests.examples import examples

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
    "b\udcfe.md",
    "\u00fc/a.md",
    "u\u0308/a.md",
    "u\u0308/e\u0301.md",
    "u\u0308/o\u0308/\u00e9.md",
    "u\u0308/o\u0308/e\u0301.md",
    "u\u0308/\u00f6/a.md",
    "u\u0308/\u00f6",
    "\u212a/a.md",
    "K/a.md",
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
                self.known[change.path] = self.catalog.entry(change.path)

    def check(self, present: Collection[DiskFile]) -> None:
        catalog, fresh = self.catalog, Catalog(present)
        for generation, revision, before in self.seen:
            assert catalog.generation > generation or {e.path for e in before} == {e.path for e in catalog}
            assert catalog.revision > revision or before == set(catalog)
        self.seen.append((catalog.generation, catalog.revision, set(catalog)))
        assert self.known == catalog.entries_by_path() == fresh.entries_by_path()
        assert list(catalog.replace(present)) == []
        assert _folders(catalog) == _folders(fresh)
        for entry in catalog:
            assert catalog.find(entry.path) == catalog.find(entry.disk) == entry
            assert (
                catalog.path_at(entry.path) == catalog.path_at(entry.disk) == entry.path == catalog.path_of(entry.disk)
            )
        assert [catalog.find_by_name(name.rpartition("/")[2]) for name in SPELLINGS] == [
            fresh.find_by_name(name.rpartition("/")[2]) for name in SPELLINGS
        ]


def _folders(catalog: Catalog) -> dict[str, tuple[str, str] | None]:
    return {path: catalog.folders.find(path) for path in catalog.folders.paths}


@examples(300)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(SPELLINGS), st.integers(0, 2), st.booleans())))
@example(
    [
        (True, "f/\u1ec7.md", 0, False),
        (True, "f/\u00ea\u0323.md", 0, True),
        (False, "f/\u1ec7.md", 0, False),
        (False, "f/\u00ea\u0323.md", 0, True),
    ]
)
def test_any_order_of_changes_and_scans_gives_the_catalog_of_a_fresh_scan(
    steps: list[tuple[bool, str, int, bool]],
) -> None:
    """NAME-06, NAME-09"""
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

    assert catalog.path_at("cafe\u0301s/r\u00e9sum\u00e9.MD") == "Caf\u00e9s/R\u00e9sum\u00e9.md"
    assert catalog.path_at("Caf\u00e9s/R\u00e9sum\u00e9.md") == "Caf\u00e9s/R\u00e9sum\u00e9.md"
    assert catalog.find_by_name("R\u00c9SUM\u00c9.md") == ("Caf\u00e9s/R\u00e9sum\u00e9.md",)


def test_twins_in_two_normal_forms_are_two_files() -> None:
    catalog = Catalog([DiskFile("e\u0301.md", 1, 1), DiskFile("\u00e9.md", 2, 1)])

    assert [entry.size for path in ("\u00e9.md", "e\u0301.md") if (entry := catalog.get(path))] == [2, 1]


def test_going_through_the_files_gives_those_of_the_moment_it_began() -> None:
    """WATCH-01: a question met a change of the list in another thread, and failed"""
    catalog = Catalog([DiskFile("a.md", 1, 1), DiskFile("b.md", 1, 1)])
    entries = iter(catalog)
    catalog.put(DiskFile("c.md", 1, 1))
    catalog.drop("a.md")

    assert [entry.path for entry in entries] == ["a.md", "b.md"]


class Overtaken(Catalog):
    """A file appears in a new folder while its folders are collected."""

    def __iter__(self) -> Iterator[FileEntry]:
        entries = super().__iter__()
        self.put(DiskFile("new/c.md", 1, 1))
        return entries


def test_a_folder_that_appears_while_the_folders_are_collected_is_known_to_the_next_question() -> None:
    """WATCH-01"""
    catalog = Overtaken([DiskFile("f/a.md", 1, 1)])

    assert set(catalog.folders.paths) == {"f"}
    assert set(catalog.folders.paths) == {"f", "new"}


@given(st.integers(-(2**63), 2**63 - 1) | st.integers(-(10**30), 10**30))
def test_any_time_of_a_file_can_be_said(mtime_ns: int) -> None:
    assert len(timestamp(mtime_ns)) == 20


def test_the_time_of_a_file_is_said_in_utc_to_the_second() -> None:
    [entry] = Catalog([DiskFile("n.md", 1, 1_717_180_200_999_999_999)])
    assert entry.modified == "2024-05-31T18:30:00Z"
    assert timestamp(-1) == "1969-12-31T23:59:59Z"


def test_a_file_of_exactly_the_most_bytes_that_are_read_at_once_is_read() -> None:
    sizes = (MAX_FILE_BYTES - 1, MAX_FILE_BYTES, MAX_FILE_BYTES + 1)
    catalog = Catalog(DiskFile(f"{number}.md", size, 0) for number, size in enumerate(sizes))
    entries = [catalog.get(catalog.parse(f"{number}.md")) for number in range(len(sizes))]
    assert [entry.is_too_large for entry in entries if entry is not None] == [False, False, True]
