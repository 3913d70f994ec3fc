"""A replaced file keeps what it is beside its bytes (FILE-02)."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path

import pytest

from obsidian_mcp.adapters.disk import Disk
from tests.system import needs


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "n.md"
    path.write_bytes(b"old")
    return path


@needs("extended attributes")
def test_a_write_keeps_the_extended_attributes(note: Path) -> None:
    """FILE-02: Issue 15, example 3: Finder tags and the like were lost with every edit."""
    try:
        os.setxattr(note, "user.xdg.tags", b"red")
    except OSError:
        pytest.skip("this disk has no extended attributes")
    os.setxattr(note, "user.com.apple.metadata:_kMDItemUserTags", b"\0\xff" * 40)
    before = {name: os.getxattr(note, name) for name in os.listxattr(note)}

    for data, expected in ((b"new", b"old"), (b"newer", None)):
        Disk(note.parent).write("n.md", data, expected)
        assert note.read_bytes() == data
        assert {name: os.getxattr(note, name) for name in os.listxattr(note)} == before


ACCESS_LIST = bytes.fromhex("0200000001000600ffffffff020007000100000004000400ffffffff10000700ffffffff20000400ffffffff")
"""POSIX access control list as Linux stores it: rw- for the owner, rwx for user 1, r-- for group and others."""


@needs("extended attributes")
def test_a_write_keeps_the_access_control_list_and_takes_none_from_the_folder(note: Path) -> None:
    """FILE-02"""
    try:
        os.setxattr(note, "system.posix_acl_access", ACCESS_LIST)
        before = os.getxattr(note, "system.posix_acl_access")
        os.setxattr(note.parent, "system.posix_acl_default", ACCESS_LIST)
    except OSError:
        pytest.skip("this disk has no access control lists")
    plain = note.parent / "plain.md"
    plain.touch()
    os.removexattr(plain, "system.posix_acl_access")
    plain.chmod(0o604)
    disk = Disk(note.parent)
    disk.write("n.md", b"new", b"old")
    disk.write("plain.md", b"new", b"")

    assert os.getxattr(note, "system.posix_acl_access") == before
    assert "system.posix_acl_access" not in os.listxattr(plain)
    assert stat.S_IMODE(plain.stat().st_mode) == 0o604


@needs("permissions of POSIX")
def test_a_write_keeps_owner_group_and_mode(note: Path) -> None:
    """FILE-02"""
    if os.geteuid() == 0:
        os.chown(note, 12345, 23456)
    note.chmod(0o2664)
    os.utime(note, (0, 0))  # the clock of some disks ticks more slowly than we write
    before = note.stat()

    Disk(note.parent).write("n.md", b"new", b"old")
    after = note.stat()
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode)
    assert after.st_mtime_ns > before.st_mtime_ns


@needs("times of creation")
def test_a_write_keeps_the_time_of_creation(note: Path) -> None:
    """FILE-02: The order by date of creation was lost with every edit."""
    before, changed = born(note), note.stat().st_mtime_ns
    while time.time() < before + 0.05:  # a new file would be younger
        threading.Event().wait(0.01)
    for data, expected in ((b"new", b"old"), (b"newer", None)):
        Disk(note.parent).write("n.md", data, expected)
        assert abs(born(note) - before) < 0.001
        assert note.stat().st_mtime_ns > changed


def born(path: Path) -> float:
    seconds: float = getattr(path.stat(), "st_birthtime")  # noqa: B009  not on Linux
    return seconds


def test_nothing_is_left_of_the_file_that_was_replaced(note: Path) -> None:
    """FILE-01"""
    disk = Disk(note.parent)
    disk.write("n.md", b"new", b"old")
    disk.write("n.md", b"newer")
    assert [path.name for path in note.parent.iterdir()] == ["n.md"]
