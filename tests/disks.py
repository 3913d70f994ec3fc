"""Disks of other systems, made from this system's: a file that has more than one name.

`OtherDisk` stands between Python and the system for all paths below one folder, for the program and the test alike.
Disks of macOS and Windows find a file by its name in another case; those of macOS also by another normal form; those
of Windows by a short name and by the name of its stream of data.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import errno
import io
import os
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .system import can

BY_ONE_PATH = (
    "access", "chmod", "chown", "getxattr", "listdir", "listxattr", "lstat", "mkdir", "open", "readlink", "remove",
    "removexattr", "rmdir", "scandir", "setxattr", "stat", "truncate", "unlink", "utime",
)  # fmt: skip
"""Functions of `os` whose first argument is a path."""

OPENING = ("call", "open", "listdir", "scandir")
"""Functions that macOS refuses in a private folder; `call` is that of Python."""

Matches = Callable[[str, str], bool]
"""Whether a file that has the first name is found by the second one."""


def decomposed(name: str) -> str:
    return unicodedata.normalize("NFD", name)


@cache
def fold(name: str) -> str:
    return decomposed(decomposed(name).casefold())


def found_on_mac(name: str, wanted: str) -> bool:
    return fold(name) == fold(wanted)


def short_name(name: str) -> str:
    """The first name of eight and three characters that Windows gives to a file beside its own."""
    stem, dot, extension = name.rpartition(".")
    kept = [character for character in stem or extension if character not in " ."][:6]
    return f"{''.join(kept)}~1{dot and stem and '.' + extension[:3]}".upper()


def found_on_windows(name: str, wanted: str) -> bool:
    """By its name in another case, with dots or spaces at its end, with its stream of data; by its short name."""
    wanted = wanted.partition("::$")[0].rstrip(". ").casefold()
    return wanted in (name.casefold(), short_name(name).casefold())


def _naming_the_locale(opening: Callable[..., Any]) -> Callable[..., Any]:
    """As `open`; a library that names no encoding means the locale's, and its warning is none of ours."""

    def call(path: Any, mode: str = "r", *arguments: Any, **named: Any) -> Any:
        if "b" not in mode and len(arguments) < 2:
            named.setdefault("encoding", "locale")
        return opening(path, mode, *arguments, **named)

    return call


class OtherDisk:
    """The folder `root` as if it were on a disk of another system, until the monkeypatch is undone."""

    def __init__(
        self,
        root: Path,
        monkeypatch: pytest.MonkeyPatch,
        *,
        matches: Matches = found_on_mac,
        stored: Callable[[str], str] = decomposed,
        renames_case: bool = True,
    ) -> None:
        """`stored` returns the name that the disk gives to a new file. Without `renames_case` the disk answers a rename
        to another spelling of the same name with success and does nothing, as some network disks and Wine do.
        """
        if not can("names that differ in case"):  # this system's own disk is one of these
            return
        self.private: Path | None = None
        """A folder that the person has not allowed this program to use, as macOS asks for Documents."""
        self._root = os.path.realpath(root)
        self._matches, self._stored, self._renames_case = matches, stored, renames_case
        self._rename, self._lstat, self._listdir, self._readlink = os.rename, os.lstat, os.listdir, os.readlink
        for name in BY_ONE_PATH:
            if function := getattr(os, name, None):
                monkeypatch.setattr(os, name, self._with_its_name(function))
        opened = self._with_its_name(_naming_the_locale(io.open))
        monkeypatch.setattr(io, "open", opened)
        monkeypatch.setattr(builtins, "open", opened)
        monkeypatch.setattr(os, "rename", self.rename)
        monkeypatch.setattr(os, "replace", self.rename)
        monkeypatch.setattr(os, "link", self._linking(os.link))
        monkeypatch.setattr(ctypes, "CDLL", self._library(ctypes.CDLL))

    def path(self, path: Any, folder: int | None = None) -> str | None:
        """Return the path of a file as the disk spells it, None for one that is not on this disk."""
        if isinstance(path, int):
            return None
        text = os.fsdecode(path)
        if folder is not None:
            text = os.path.join(self._readlink(f"/proc/self/fd/{folder}"), text)
        text = os.path.abspath(text)
        if not text.startswith(f"{self._root}{os.sep}"):
            return None
        return self._spelled(text)

    def _spelled(self, path: str) -> str:
        """Return a path below the root as the disk spells it; most files are there by the name that is asked for."""
        try:
            self._lstat(path)
        except OSError:
            pass
        else:
            return path
        folder, name = os.path.split(path)
        if folder != self._root:
            folder = self._spelled(folder)
        there: list[str] = []
        with contextlib.suppress(OSError):
            there = self._listdir(folder)
        return os.path.join(folder, next((entry for entry in there if self._matches(entry, name)), self._stored(name)))

    def _with_its_name(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any = ".", *arguments: Any, dir_fd: int | None = None, **named: Any) -> Any:
            if (spelled := self.path(path, dir_fd)) is not None:
                if self.private and Path(spelled).is_relative_to(self.private) and function.__name__ in OPENING:
                    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), spelled)
                path, dir_fd = os.fsencode(spelled) if isinstance(path, bytes) else spelled, None
            return function(path, *arguments, **named, **({} if dir_fd is None else {"dir_fd": dir_fd}))

        return call

    def rename(self, source: Any, target: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        old, new = self.path(source, src_dir_fd), self.path(target, dst_dir_fd)
        if old is None or new is None:
            self._rename(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        elif old != new:
            self._rename(old, new)
        elif self._renames_case:
            name = os.path.basename(os.fsdecode(target))
            self._rename(old, os.path.join(os.path.dirname(new), self._stored(name)))

    def _linking(self, link: Callable[..., None]) -> Callable[..., None]:
        def call(source: Any, target: Any, *, src_dir_fd: Any = None, dst_dir_fd: Any = None, **named: Any) -> None:
            old, new = self.path(source, src_dir_fd), self.path(target, dst_dir_fd)
            if old is None or new is None:
                link(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, **named)
            else:
                link(old, new, **named)

        return call

    def _library(self, load: Callable[..., Any]) -> Callable[..., Any]:
        """The library of C, whose renames with flags (exclusive, exchange) see this disk too."""
        disk = self

        class Library:
            def __init__(self, *arguments: Any, **named: Any) -> None:
                self._real = load(*arguments, **named)

            def __getattr__(self, name: str) -> Any:
                function = getattr(self._real, name)
                if name not in ("renameat2", "renameatx_np"):
                    return function

                def rename(old_folder: int, old: bytes, new_folder: int, new: bytes, flags: int) -> int:
                    source, target = disk.path(old, old_folder), disk.path(new, new_folder)
                    if source is None or target is None:
                        return int(function(old_folder, old, new_folder, new, flags))
                    if source == target:
                        ctypes.set_errno(errno.EEXIST)
                        return -1
                    return int(function(-100, os.fsencode(source), -100, os.fsencode(target), flags))

                return rename

        return Library


class _Junction(NamedTuple):
    """What Windows says of a folder that leads to another one: the facts or the entry of a folder, with its tag."""

    real: Any

    @property
    def st_reparse_tag(self) -> int:
        return 0xA000_0003

    def stat(self, **named: Any) -> _Junction:
        return _Junction(self.real.stat(**named))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def make_junctions(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    """Have the system say of folders that they are junctions, as Windows does. They exist already."""
    paths = {str(folder) for folder in folders}

    def is_junction(path: Any) -> bool:
        return str(path).removeprefix("\\\\?\\") in paths

    def marked(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, **named: Any) -> Any:
            found = function(path, **named)
            return _Junction(found) if is_junction(path) else found

        return call

    @contextlib.contextmanager
    def scandir(path: Any) -> Iterator[Iterator[Any]]:
        with scan(path) as entries:
            yield (_Junction(entry) if is_junction(entry.path) else entry for entry in entries)

    scan = os.scandir
    monkeypatch.setattr(os, "scandir", scandir)
    for name in ("stat", "lstat"):
        monkeypatch.setattr(os, name, marked(getattr(os, name)))
    target_of = os.readlink
    monkeypatch.setattr(os, "readlink", lambda path: "elsewhere" if is_junction(path) else target_of(path))
