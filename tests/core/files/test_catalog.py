"""The catalog of a vault: one answer per set of files, whatever order they came in."""

from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.files.ports import DiskFile

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


@settings(max_examples=300)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(SPELLINGS), st.integers(0, 2))))
def test_any_order_of_changes_gives_the_catalog_of_a_fresh_scan(
    steps: list[tuple[bool, str, int]],
) -> None:
    catalog = Catalog()
    present: dict[str, DiskFile] = {}
    followed: dict[str, tuple[str, int]] = {}
    seen: list[tuple[int, int, set[FileEntry]]] = []
    for put, disk, size in steps:
        if put:
            present[disk] = DiskFile(disk, size, 0)
            changes = catalog.put(present[disk])
        else:
            present.pop(disk, None)
            changes = catalog.drop(disk)
        for change in changes:
            if change.gone:
                del followed[change.path]
            else:
                entry = catalog.get(change.path)
                assert entry is not None
                followed[change.path] = (entry.disk, entry.size)
        for generation, revision, before in seen:
            assert catalog.generation > generation or {e.path for e in before} == {e.path for e in catalog}
            assert catalog.revision > revision or before == set(catalog)
        seen.append((catalog.generation, catalog.revision, set(catalog)))
        fresh = Catalog(present.values())
        assert {(e.path, e.disk, e.size) for e in catalog} == {(e.path, e.disk, e.size) for e in fresh}
        assert followed == {e.path: (e.disk, e.size) for e in catalog}
        assert [catalog.named(name.rpartition("/")[2]) for name in SPELLINGS] == [
            fresh.named(name.rpartition("/")[2]) for name in SPELLINGS
        ]


def test_a_name_in_either_normal_form_or_case_finds_the_file() -> None:
    catalog = Catalog([DiskFile("Caf\u00e9s/Re\u0301sume\u0301.md", 1, 1)])

    assert catalog.at("cafe\u0301s/r\u00e9sum\u00e9.MD") == "Caf\u00e9s/R\u00e9sum\u00e9.md"
    assert catalog.named("R\u00c9SUM\u00c9.md") == ("Caf\u00e9s/R\u00e9sum\u00e9.md",)


def test_twins_in_two_normal_forms_are_two_files() -> None:
    catalog = Catalog([DiskFile("e\u0301.md", 1, 1), DiskFile("\u00e9.md", 2, 1)])

    assert [entry.size for path in ("\u00e9.md", "e\u0301.md") if (entry := catalog.get(path))] == [2, 1]
