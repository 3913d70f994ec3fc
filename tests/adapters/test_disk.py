"""The vault's folder on disk (specs/files.md)."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.errors import NoteExists, NoteNotFound, PermissionDenied, StorageFailed

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="permissions and symbolic links of POSIX")


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "n.md").write_bytes(b"old")
    return Disk(tmp_path)


def listing(disk: Disk) -> list[str]:
    return sorted(file.disk for file in disk.scan())


def everything(disk: Disk) -> list[str]:
    return sorted(path.relative_to(disk.root).as_posix() for path in disk.root.rglob("*"))


def test_hidden_files_and_folders_are_not_listed(disk: Disk) -> None:
    for name in (".obsidian/app.json", "a/.x.md", ".trash/n.md", "b.md"):
        path = disk.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")

    assert listing(disk) == ["a/n.md", "b.md"]
    assert disk.subfolders("") == ["a"]


def test_a_write_replaces_the_whole_content_and_leaves_nothing_else(disk: Disk) -> None:
    disk.write("a/n.md", b"new \xff\r\n")

    assert (disk.root / "a/n.md").read_bytes() == b"new \xff\r\n"
    assert everything(disk) == ["a", "a/n.md"]


@POSIX
def test_a_write_keeps_the_mode_of_the_file(disk: Disk) -> None:
    (disk.root / "a/n.md").chmod(0o640)

    disk.write("a/n.md", b"new")

    assert stat.S_IMODE((disk.root / "a/n.md").stat().st_mode) == 0o640


def test_a_new_file_gets_its_folders_and_never_replaces_another(disk: Disk) -> None:
    made = disk.create("x/y/z.md", b"1")

    assert made.size == 1
    with pytest.raises(NoteExists):
        disk.create("a/n.md", b"2")
    assert disk.read("a/n.md") == b"old"
    assert everything(disk) == ["a", "a/n.md", "x", "x/y", "x/y/z.md"]


def test_a_move_makes_folders_and_never_replaces_another_file(disk: Disk) -> None:
    disk.move("a/n.md", "b/c/m.md")
    disk.create("a/n.md", b"2")

    assert disk.read("b/c/m.md") == b"old"
    with pytest.raises(NoteExists):
        disk.move("a/n.md", "b/c/m.md")
    disk.move("a/n.md", "a/N.md")
    assert listing(disk) == ["a/N.md", "b/c/m.md"]


def test_trash_inside_the_vault_numbers_equal_names(disk: Disk) -> None:
    places = []
    for content in (b"1", b"2", b"3"):
        disk.write("a/n.md", content)
        places.append(disk.trash("a/n.md", system=False))

    assert places == [".trash/n.md", ".trash/n 2.md", ".trash/n 3.md"]
    assert (disk.root / ".trash/n 2.md").read_bytes() == b"2"
    assert listing(disk) == []


def test_a_missing_file_is_told(disk: Disk) -> None:
    assert disk.stat("x.md") is None
    assert disk.stat("a") is None
    for action in (disk.read, disk.delete):
        with pytest.raises(NoteNotFound):
            action("x.md")


def test_a_file_over_the_limit_is_not_loaded(disk: Disk) -> None:
    with pytest.raises(StorageFailed):
        disk.read("a/n.md", limit=2)


@POSIX
def test_symbolic_links_are_neither_listed_nor_followed(disk: Disk, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.md").write_bytes(b"secret")
    (disk.root / "link.md").symlink_to(outside / "secret.md")
    (disk.root / "folder").symlink_to(outside)
    (disk.root / "loop").symlink_to(disk.root)
    (disk.root / "own.md").symlink_to(disk.root / "a/n.md")

    assert listing(disk) == ["a/n.md"]
    for path in ("link.md", "folder/secret.md", "own.md", "loop/a/n.md"):
        for action in (disk.read, disk.stat, disk.delete, lambda p: disk.write(p, b"x"), lambda p: disk.create(p, b"")):
            with pytest.raises(PermissionDenied):
                action(path)
    with pytest.raises(PermissionDenied):
        disk.move("a/n.md", "folder/n.md")
    assert (outside / "secret.md").read_bytes() == b"secret"
    assert sorted(path.name for path in outside.iterdir()) == ["secret.md"]


@POSIX
@pytest.mark.skipif(os.geteuid() == 0, reason="root may do everything")
def test_what_the_system_forbids_is_permission_denied(disk: Disk) -> None:
    (disk.root / "a").chmod(0o500)
    with pytest.raises(PermissionDenied):
        disk.create("a/m.md", b"")
    (disk.root / "a").chmod(0o700)


@POSIX
def test_a_name_that_is_not_utf8_is_listed_and_read(disk: Disk) -> None:
    raw = os.fsencode(disk.root) + b"/b\xff.md"
    descriptor = os.open(raw, os.O_CREAT | os.O_WRONLY)
    os.write(descriptor, b"x")
    os.close(descriptor)

    assert listing(disk) == ["a/n.md", "b\udcff.md"]
    assert disk.read("b\udcff.md") == b"x"


@POSIX
def test_a_full_disk_changes_nothing_and_leaves_nothing(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageFailed, match="full"):
        disk.write("a/n.md", b"new")
    with pytest.raises(StorageFailed, match="full"):
        disk.create("b.md", b"new")
    assert disk.read("a/n.md") == b"old"
    assert everything(disk) == ["a", "a/n.md"]


@POSIX
def test_a_disk_without_hard_links_still_never_replaces(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    disk.create("b.md", b"1")
    with pytest.raises(NoteExists):
        disk.create("b.md", b"2")
    assert disk.read("b.md") == b"1"
    assert everything(disk) == ["a", "a/n.md", "b.md"]
