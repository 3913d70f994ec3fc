"""Notes taken in by processes of their own, so that a first build uses every core and no question waits for it.

A helper is this program's Python with one function: it reads files, parses them and writes their rows into the index,
and ends when its standard input does, so it never outlives the server. Where none can be started, or one dies, the
notes are taken in by this process: slower, never wrong.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import pickle
import signal
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final, Literal

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.index.extract import BODY_LIMIT
from obsidian_mcp.core.index.index import Busy, Index, Replaced
from obsidian_mcp.core.index.ingest import Intake, Prepared
from obsidian_mcp.core.text.vault_path import VaultPath

from .disk import Disk

SERVE: Final = """\
from obsidian_mcp.adapters.priority import give_way
give_way({})
from obsidian_mcp.adapters.index_workers import serve
serve()"""
"""In this order: a third of a second of imports would come in the midst of the changes that a helper is started for."""
MODEST: Final = 10
"""How much nicer than a server its helpers are: calls come first. A build that somebody waits for is not nice."""
FEW_COLLECTIONS: Final = 100_000
"""Objects between two collections in a helper: what it makes of notes has no cycles, and is looked at in vain."""
_LENGTH = struct.Struct("<Q")
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)

Refused = Literal["cannot", "busy"]
"""Why a helper did not do what it was told: the index is not as it should be, or another program writes."""

log = logging.getLogger(__name__)


class Helper:
    """A `Worker` in another process. For one thread at a time."""

    def __init__(self, root: Path, niceness: int = 0) -> None:
        """`root`: the vault's folder."""
        self._root = root
        self._niceness = niceness
        self._process: subprocess.Popen[bytes] | None = None
        self._given_up = getattr(sys, "frozen", False)  # then the executable is no Python

    @property
    def apart(self) -> bool:
        return not self._given_up

    def take_in(self, here: Intake, entries: Sequence[FileEntry], gone: Sequence[VaultPath]) -> list[FileEntry]:
        """As `Intake.take_in`."""
        file = here.index.file
        if not self._given_up and file is not None:
            try:
                refused = self._ask(here.index, file, entries, gone)
            except (OSError, EOFError, pickle.UnpicklingError, struct.error) as error:
                log.info("The helper process for the index is gone (%r); this process goes on alone.", error)
                self._given_up = True
                self.rest()
            else:
                if refused is not None:
                    return refused
        return here.take_in(entries, gone)

    def _ask(
        self, index: Index, file: Path, entries: Sequence[FileEntry], gone: Sequence[VaultPath]
    ) -> list[FileEntry] | None:
        """The files that were left out; None where the helper cannot use the index. Raises: Busy, and what pipes do."""
        told = self._told("prepare", self._root, file, entries)
        if told == "cannot":
            return None
        with index.alone():  # helpers parse at the same time, and take turns at writing
            refused = self._told("store", gone)
        if refused == "busy":
            raise Busy
        return None if refused == "cannot" else refused

    def _told(self, *message: object) -> Any:
        """The helper's answer."""
        if self._process is None:
            # -P: nothing is imported from the folder of a vault
            command = [sys.executable, "-P", "-c", SERVE.format(self._niceness)]
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=_NO_WINDOW,
            )
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise EOFError
        _send(process.stdin, message)
        return _receive(process.stdout)

    def rest(self) -> None:
        """End the process; the next notes start another."""
        process, self._process = self._process, None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            process.kill()
            process.wait()


def serve() -> None:
    """What a helper does: take in what comes on standard input, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    gc.set_threshold(FEW_COLLECTIONS)
    visitor = _Visitor()
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            what, *rest = _receive(sys.stdin.buffer)
            _send(sys.stdout.buffer, visitor.prepare(*rest) if what == "prepare" else visitor.store(*rest))


class _Visitor:
    """The helper's side of the index."""

    def __init__(self) -> None:
        self._intake: Intake | None = None
        self._prepared = Prepared([], [])

    def prepare(self, root: Path, file: Path, entries: Sequence[FileEntry]) -> Refused | None:
        """Read and parse files."""
        try:
            if self._intake is None or self._intake.index.file != file:
                if self._intake is not None:
                    self._intake.index.close()
                    self._intake = None
                disk = Disk(root)
                self._intake = Intake(Index.visit(file), lambda entry: disk.head(entry.disk, BODY_LIMIT), disk.stat)
            self._prepared = self._intake.prepare(entries)
        except (Busy, Replaced):
            return "cannot"
        return None

    def store(self, gone: Sequence[VaultPath]) -> list[FileEntry] | Refused:
        """Write their rows, and remove those of files that are gone; the files that were left out."""
        if self._intake is None:
            return "cannot"
        try:
            return self._intake.store(self._prepared, gone)
        except Busy:
            return "busy"
        except Replaced:
            return "cannot"


def _send(pipe: IO[bytes], value: object) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    return pickle.loads(pipe.read(_LENGTH.unpack(head)[0]))  # noqa: S301 - from a process that we started
