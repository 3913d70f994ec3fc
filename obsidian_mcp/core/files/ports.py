"""The ports through which the core uses files, the journal and the app."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.text.vault_path import VaultPath

if TYPE_CHECKING:
    from .obsidian import Plugin, Version


class DiskFile(NamedTuple):
    """A file as the disk lists it: the raw relative path, `/`-separated (NFD and surrogate escapes
    possible)."""

    disk: str
    size: int
    """Bytes."""
    mtime_ns: int
    """Nanoseconds since the epoch; between FIRST_NS and LAST_NS."""


FIRST_NS, LAST_NS = -(2**63), 2**63 - 1
"""The times that a signed 64-bit count of nanoseconds holds: from 1677 to 2262. The index can store
and compare no others; many disks know more, and `touch -d 2300-01-01` sets one."""


def nearest_time(nanoseconds: int) -> int:
    """Return the time between FIRST_NS and LAST_NS that is nearest to one (INDEX-50)."""
    if FIRST_NS <= nanoseconds <= LAST_NS:
        return nanoseconds
    return FIRST_NS if nanoseconds < 0 else LAST_NS


COARSEST_TICK_NS = 2_000_000_000
"""The tick of FAT, the coarsest clock of a file system."""
_COARSE_NS = 10_000_000


def may_repeat(mtime_ns: int) -> bool:
    """Return whether a time is of a clock so coarse that two saves may share it: a whole hundredth
    of a second (INDEX-03)."""
    return mtime_ns % _COARSE_NS == 0


class Changer(Protocol):
    """Makes changes in the vault's folder. Every method makes its change or raises."""

    def write(self, disk: str, data: bytes) -> None:
        """Replace or create, atomically: the old or the new content is there at every instant.
        Keeps the mode."""

    def create(self, disk: str, data: bytes) -> None:
        """Create, folders too. Raises: NoteExists when something is there, without touching it."""

    def move(self, source: str, target: str) -> None:
        """Rename a file or folder inside the vault, folders made. Raises: NoteExists when something
        else is there."""

    def delete(self, disk: str) -> None:
        """Remove a file for good."""

    def trash(self, disk: str, *, system: bool) -> str:
        """Put a file into the system's bin, or into `.trash`; says where it went."""


class Files(Changer, Protocol):
    """The vault's folder. Every method translates the system's errors to AppError. Hidden files,
    symbolic links and irregular files do not exist for it; a path through a link or out of the
    folder raises PermissionDenied."""

    @property
    def root(self) -> Path: ...

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> None:
        """As `Changer.write`. Raises: StaleEtag when the file does not hold `expected` in the last
        moment."""

    def delete(self, disk: str, expected: bytes | None = None) -> None:
        """As `Changer.delete`. Raises: StaleEtag when the file does not hold `expected` in the last
        moment."""

    def trash(self, disk: str, *, system: bool, expected: bytes | None = None) -> str:
        """As `Changer.trash`. Raises: StaleEtag when the file does not hold `expected` in the last
        moment."""

    def make_folder(self, disk: str) -> None:
        """Make a folder, with those above it; one that is there is left."""

    def scan(
        self, folder: str = "", is_wanted: Callable[[str], bool] | None = None
    ) -> Iterator[DiskFile]:
        """Return every file below a folder that `is_wanted` takes by its raw path, in no order. A
        folder that the system forbids is passed over. Raises: StorageFailed for one that cannot be
        listed, because its files are still there."""

    def list_evicted(self) -> Iterator[str]:
        """Yield the files that iCloud has replaced by placeholders, which are not visible
        (SAFE-14)."""

    def stat(self, disk: str) -> DiskFile | None:
        """Return None for a missing file or a folder. Raises: PermissionDenied for a symbolic link
        or below one."""

    def created_ns(self, disk: str) -> int:
        """Return a file's birth in nanoseconds, or its older change where the system knows none; 0
        for an unreadable one."""

    def exists(self, disk: str) -> bool:
        """Return whether a file or folder is there. Raises: StorageFailed for one that is in the
        cloud only."""

    def read_file(self, disk: str, limit: int | None = None) -> bytes:
        """Return the whole content. Raises: NoteNotFound, PermissionDenied, StorageFailed (over
        `limit` bytes)."""

    def head(self, disk: str, most: int) -> bytes:
        """Return the first `most` bytes of a file, or all of a shorter one."""

    def sweep(self, disk: str) -> None:
        """Remove the temporary files that a writer which died has left beside this file; take back
        a half rename."""

    def remove_folder(self, disk: str) -> None:
        """Remove an empty folder; one that holds something or is gone is left."""

    def subfolders(self, disk: str) -> list[str] | None:
        """Visible folders directly below one, as the disk spells them; None when there is no such
        folder."""

    def filter_exact_spellings(self, disks: Iterable[str]) -> set[str]:
        """Return those of some paths that the disk lists in this spelling; a disk may find a file
        by others too."""

    def config(self, name: str) -> bytes | None:
        """Return a file of the app's settings folder (`app.json`), None when absent."""


class Obsidian(Protocol):
    """One vault of the running app; paths are as it spells them. Every method raises
    ObsidianNotRunning, VaultNotFound, OperationTimeout, PermissionDenied, or AppCommandFailed
    (`reason` "cannot_carry": a value would not arrive whole)."""

    def shows(self, path: str, data: bytes) -> bool:
        """Return whether the app shows exactly these bytes as a note's text. Raises:
        NoteNotFound."""

    def search(self, query: str, folder: str | None = None) -> Sequence[str]: ...
    def links(self, path: str) -> Sequence[str]: ...
    def backlinks(self, path: str) -> Sequence[str]: ...
    def list_unresolved_links(self) -> Mapping[str, Sequence[str]]: ...
    def orphans(self) -> Sequence[str]: ...
    def deadends(self) -> Sequence[str]: ...
    def commands(self) -> Sequence[str]: ...
    def run_command(self, command_id: str) -> str: ...
    def open(self, path: str) -> VaultPath: ...
    def history(self, path: str) -> Sequence[Version]: ...
    def history_read(self, path: str, version: int = 1) -> str: ...
    def plugins(self) -> Sequence[Plugin]: ...
    def sync_status(self) -> str: ...
    def evaluate(self, code: str) -> str: ...


StepKind = Literal["write", "create", "move", "remove", "folder"]
"""`folder`: a folder that the change makes on the way, to be removed again where it is empty."""


class Step(NamedTuple):
    """One file in a change: its bytes before and after, None for no file. A move has a `target` and
    no bytes."""

    kind: StepKind
    disk: str
    target: str | None = None
    before: bytes | None = None
    after: bytes | None = None


ONE_SHOT = "command line"
"""The process of changes that one-shot commands make: a later command takes back what an earlier
one did, under whichever name the program was started (SAFE-20)."""


class Author(NamedTuple):
    """Who made a change. Equal authors are one client on one connection."""

    process: str
    """The server process, with the session where it serves several."""
    client: str
    """The client's name; empty where it gave none."""

    def is_same(self, other: Author) -> bool:
        """Return whether both are one client, or one-shot commands of this computer's user."""
        return self == other or self.process == other.process == ONE_SHOT


class Undoing(NamedTuple):
    """Which change an undo takes back: the whole of it, or a part (SAFE-31)."""

    change: int
    is_part: bool = False


class Recorded(NamedTuple):
    """A change in the journal; `undone_by` is the number of the undo that took back the whole of
    it, but of none that was undone itself."""

    number: int
    time: float
    """Seconds since the epoch."""
    tool: str
    steps: tuple[Step, ...]
    undoes: Undoing | None = None
    undone_by: int | None = None
    author: Author = Author("", "")


class ChangeHead(NamedTuple):
    """What a list of thousands of changes shows of each: all but its steps."""

    number: int
    time: float
    tool: str
    author: Author
    undoes: Undoing | None
    undone_by: int | None
    is_seen: bool
    """Whether the user has looked at it and said so."""


class Journal(Protocol):
    """What was changed, kept outside the vault so that it can be taken back. Every method is
    durable on return."""

    def lock_for_writing(self) -> AbstractContextManager[None]:
        """One writer at a time on this vault, among all processes; it may enter again. Raises:
        OperationTimeout."""

    def author(self) -> Author:
        """Return who a change made in the current call is recorded for."""

    def begin(self, tool: str, steps: Sequence[Step], undoes: Undoing | None = None) -> int:
        """Keep the bytes of a change before it is made, with its author; its number. Raises:
        StorageFailed."""

    def begin_step(self, number: int, count: int) -> None:
        """Note that the first `count` steps of a change may have been made from now on.

        The note outlives the process and is not synced: it costs a thousandth of a synced one.
        After a loss of power it does not count, and any step may have been made.
        """

    def finish(self, number: int) -> None:
        """The change is made."""

    def discard(self, number: int) -> None:
        """The change was not made, or has been taken back."""

    def list_unfinished(self) -> list[Recorded]:
        """Changes that were begun and neither finished nor discarded, because their process died.
        Each has the steps that may have been made; of those before the last one it is certain,
        unless the machine lost its power."""

    def latest(self) -> int:
        """Number of the last change, 0 without any."""

    def list_since(self, number: int) -> list[Recorded]:
        """Finished changes after this one, without bytes."""

    def changes(
        self, disk: str | None, limit: int, offset: int, *, anywhere: bool = False
    ) -> tuple[list[Recorded], int]:
        """Finished changes, latest first, without bytes, with their number: all, of a file, or of a
        name `anywhere`."""

    def change(self, number: int) -> Recorded | None:
        """Return a finished change with its bytes."""

    def list_heads(self) -> list[ChangeHead]:
        """Return all finished changes, latest first, without their steps."""

    def list_numbered(self, numbers: Sequence[int]) -> list[Recorded]:
        """Return the finished changes with these numbers, latest first, without bytes."""

    def mark_seen(self, numbers: Sequence[int]) -> None:
        """Note that the user has looked at these changes; a number without a change is passed
        over."""

    def close(self) -> None:
        """Close the files; a running call closes them when it ends."""

    def version(self, disk: str, etag: str) -> bytes | None:
        """Content that a file once had, by its etag; never that of another file, which may be
        hidden (POL-17)."""


class Change(NamedTuple):
    """The file at this path of the vault appeared or is different, or is gone."""

    path: VaultPath
    gone: bool = False
