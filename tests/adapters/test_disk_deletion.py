"""What the disk does with a file that the system renames and refuses to delete."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.place import RELATIVE_CALLS
from obsidian_mcp.errors import PermissionDenied


@pytest.mark.parametrize("relative_calls", [True, False] if RELATIVE_CALLS else [False])
@pytest.mark.parametrize("expected", [None, b"old"])
def test_a_file_that_cannot_be_deleted_keeps_its_name(
    relative_calls: bool, expected: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAFE-08, FILE-08: Windows renames a file that is read-only, and does not delete it."""
    disk = Disk(tmp_path, relative_calls=relative_calls)
    note = tmp_path / "n.md"
    note.write_bytes(b"old")
    note.chmod(stat.S_IREAD)

    def refuse(name: str, **_: Any) -> None:
        raise PermissionError(errno.EACCES, "read-only", name)

    with monkeypatch.context() as system:
        system.setattr(os, "unlink", refuse)
        with pytest.raises(PermissionDenied):
            disk.delete("n.md", expected)

    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("n.md", b"old")]
    note.chmod(stat.S_IREAD | stat.S_IWRITE)
