"""A listing may miss a file that is renamed beside it (WATCH-12)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.core.files import policy
from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.ports import Change, DiskFile
from obsidian_mcp.core.vault.listing import Listing
from obsidian_mcp.core.vault.scanning import Scanning


class Hasty(Disk):
    """Lists no file whose name is in `missed`, and every other."""

    missed = ""

    def scan(self, folder: str = "", is_wanted: Callable[[str], bool] | None = None) -> Iterator[DiskFile]:
        return (file for file in super().scan(folder, is_wanted) if not self.missed or self.missed not in file.disk)


def test_a_file_that_a_scan_misses_is_not_gone(tmp_path: Path) -> None:
    """WATCH-12"""
    for name in ("missed.md", "A/missed.md", "other.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"text")
    disk, catalog, noted = Hasty(tmp_path), Catalog(), list[Change]()
    listing = Listing(disk, Scanning(), policy.DEFAULT, catalog, noted.extend)
    listing.rescan()

    disk.missed = "missed"
    (tmp_path / "A/missed.md").write_bytes(b"changed")
    noted.clear()
    listing.rescan()
    assert {entry.disk: entry.size for entry in catalog} == {"missed.md": 4, "A/missed.md": 7, "other.md": 4}
    assert not [change for change in noted if change.gone]

    (tmp_path / "missed.md").unlink()
    (tmp_path / "A/missed.md").rename(tmp_path / "A/other.md")
    noted.clear()
    listing.rescan()
    assert {entry.disk for entry in catalog} == {"A/other.md", "other.md"}
    assert {change.path for change in noted if change.gone} == {"missed.md", "A/missed.md"}
