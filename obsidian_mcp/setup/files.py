"""A client's configuration file on disk: read, backed up, replaced in one step (specs/install.md,
FILE rules).

The file is the user's and holds the keys of other servers. So a copy of it stays beside it, with
the same rights, and a file that another program has changed meanwhile is left as it is.
"""

from __future__ import annotations

import itertools
import os
import re
import stat
from codecs import BOM_UTF8
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from obsidian_mcp import computer
from obsidian_mcp.errors import AppError, ClientConfigRefused

_BACKUP = re.compile(r"\.obsidian-mcp-\d{8}-\d{6}(-\d+)?\.bak")


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file as it was read; `data` is None where there is no file."""

    path: Path
    data: bytes | None

    @property
    def text(self) -> str:
        """The text without a byte order mark; empty without a file."""
        return (self.data or b"").removeprefix(BOM_UTF8).decode("utf-8")


def read_config_file(path: Path) -> ConfigFile:
    """Raises: ClientConfigRefused for what is there and is no readable UTF-8 file."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ClientConfigRefused(
                f"'{path}' is not a file. Move it out of the way and try again."
            )
        data = path.read_bytes()
        data.decode("utf-8")
    except FileNotFoundError:
        if path.is_symlink():
            raise ClientConfigRefused(
                f"'{path}' is a symbolic link that leads nowhere. Mend or remove the link and "
                "try again."
            ) from None
        return ConfigFile(path, None)
    except UnicodeDecodeError as error:
        raise ClientConfigRefused(
            f"The file '{path}' is not UTF-8 text (byte {error.start}), so it was left as it is. "
            "Save it as UTF-8 in an editor and try again."
        ) from error
    except OSError as error:
        raise ClientConfigRefused(
            f"The file '{path}' cannot be read: {error.strerror}. Check its permissions and try "
            "again."
        ) from error
    return ConfigFile(path, data)


def replace_config_file(before: ConfigFile, text: str) -> Path | None:
    """Put `text` in the file's place in one step, or in that of the file that a link leads to;
    return the backup of what was there. Raises: ClientConfigRefused, also when another program has
    changed it since."""
    path, old = before.path, before.data
    data = (BOM_UTF8 if old is not None and old.startswith(BOM_UTF8) else b"") + text.encode(
        "utf-8"
    )
    try:
        target = Path(os.path.realpath(path))
        backup = _back_up(path, old) if old is not None else None
        if read_config_file(path) != before:
            if backup is not None:
                computer.remove_file(backup)
            raise ClientConfigRefused(
                f"Another program changed '{path}' at the same moment, so it was left as it is. "
                "Try again."
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        disk = computer.files_of(target.parent)
        (disk.create if old is None else disk.write)(target.name, data)
    except OSError as error:
        raise _unwritable(path, error) from error
    except AppError as error:
        if isinstance(error, ClientConfigRefused) or not isinstance(error.__cause__, OSError):
            raise
        raise _unwritable(path, error.__cause__) from error
    return backup


def delete_config_file(before: ConfigFile) -> None:
    """Remove a file that holds nothing but what this program wrote. Raises: ClientConfigRefused."""
    try:
        if read_config_file(before.path) == before:
            computer.remove_file(before.path)
    except OSError as error:
        raise _unwritable(before.path, error) from error


def backups(path: Path) -> list[Path]:
    """Return the backups that this program made of a file, newest first."""
    try:
        beside = [entry for entry in path.parent.iterdir() if entry.name.startswith(path.name)]
    except OSError:
        return []
    return sorted(
        (entry for entry in beside if _BACKUP.fullmatch(entry.name[len(path.name) :])), reverse=True
    )


def _back_up(path: Path, data: bytes) -> Path:
    """Return a copy beside the file, readable by no one who could not read the file: it may hold
    keys of other servers."""
    # a name for people, in their own time
    stem = f"{path.name}.obsidian-mcp-{datetime.now():%Y%m%d-%H%M%S}"  # noqa: DTZ005
    for number in itertools.count(1):
        backup = path.with_name(f"{stem}.bak" if number == 1 else f"{stem}-{number}.bak")
        try:
            descriptor = os.open(
                backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IMODE(path.stat().st_mode)
            )
        except FileExistsError:
            continue
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        break
    return backup


def _unwritable(path: Path, error: OSError) -> ClientConfigRefused:
    return ClientConfigRefused(
        f"The file '{path}' cannot be written: {error.strerror}. It was left as it is. Check the "
        "permissions of the file and its folder, and close programs that hold it open."
    )
