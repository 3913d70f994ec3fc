"""A change that is worked out and not made yet: the one record that operations plan, show, keep and commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from obsidian_mcp.core.files import media
from obsidian_mcp.core.files.catalog import Content, normal_form
from obsidian_mcp.core.files.settings import TrashOption
from obsidian_mcp.core.note import board, drawing
from obsidian_mcp.core.text.diff import CONTEXT_LINES, diff, merge, short_diff
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, VaultPath
from obsidian_mcp.errors import StaleEtag


@dataclass(frozen=True, slots=True)
class Write:
    """Replace a file's bytes; `before` are the bytes that the change was made from."""

    disk: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Create:
    """Write a file that is not there yet."""

    disk: str
    after: bytes
    before: ClassVar[bytes] = b""


@dataclass(frozen=True, slots=True)
class Move:
    """Move a file, or a folder with its files."""

    disk: str
    target: str
    unlinked: bool = False
    """No link leads to the file, so the app may make the move (APP-FILE-06)."""


@dataclass(frozen=True, slots=True)
class Remove:
    """Move a file to the trash (`system`: the system's, else the vault's own), or delete it for good."""

    disk: str
    permanent: bool
    system: bool = False


def removal(disk: str, option: TrashOption, *, permanent: bool = False) -> Remove:
    """How a file is removed under the vault's setting; `permanent` whatever that says."""
    return Remove(disk, permanent=permanent or option == "none", system=option == "system")


@dataclass(frozen=True, slots=True)
class RemoveFolder:
    """Remove an empty folder; a folder that holds files, or is gone, is left alone."""

    disk: str


Operation = Write | Create | Move | Remove | RemoveFolder


def moved(disk: str, moves: Mapping[str, str]) -> str:
    """Return the path of a file after moves of files and folders."""
    above = disk
    while above:
        if above in moves:
            return moves[above] + disk[len(above) :]
        above = above.rpartition("/")[0]
    return disk


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A file whose text changes, before and after."""

    before: Content
    after: Content
    lines: tuple[int, ...] = ()
    """Those that change (1-based), where links were rewritten."""
    merged: bool = False
    """Whether the file had changed since the `etag` of the change, and both changes are kept."""

    @property
    def path(self) -> VaultPath:
        return self.before.entry.path

    @property
    def operation(self) -> Write:
        return Write(self.before.entry.disk, self.before.data, self.after.data)

    @property
    def diff(self) -> str:
        return diff(self.path, self.before.text.body, self.after.text.body)


def rewritten(before: Content, body: str, *, merged: bool = False) -> Rewritten:
    """Return a note with another text. Raises: as `check_plugin_text`."""
    check_plugin_text(before.entry.path, before.text.body, body)
    return Rewritten(before, before.with_body(body), merged=merged)


_NOTHING = VaultPath("")


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What a change would do. `Vault.commit` makes its operations, all or none."""

    rewritten: tuple[Rewritten, ...] = ()
    """Files whose text changes: they are written first, where they still are."""
    steps: tuple[Operation, ...] = ()
    """What is made, moved and removed then."""
    warnings: tuple[str, ...] = ()
    source: VaultPath = _NOTHING
    """The note or folder that is moved, merged or divided; empty for changes of other kinds."""
    target: VaultPath = _NOTHING
    """Where it goes."""
    moved: Mapping[VaultPath, VaultPath] = field(default_factory=dict)
    """The files that get other paths, with these."""
    undoes: int | None = None
    """Number of the change that this one takes back."""

    @property
    def operations(self) -> tuple[Operation, ...]:
        return (*(file.operation for file in self.rewritten), *self.steps)

    def diffs(self) -> Iterator[str]:
        """Yield what is written anew or changes in every text, the new files first."""
        yield from (difference(step) for step in self.steps if isinstance(step, Create | Write))
        yield from (file.diff for file in self.rewritten)


def difference(operation: Write | Create, context: int = CONTEXT_LINES) -> str:
    """Return the lines of a text that change, as a unified diff; for other files a line that says so."""
    path = normal_form(operation.disk)
    if not is_of_text(operation):
        return f"{path}: {len(operation.after):,} bytes that are no text\n"
    return diff(path, Text.decode(operation.before).body, Text.decode(operation.after).body, context)


def is_of_text(operation: Write | Create) -> bool:
    """Whether a file has lines to show, before and after."""
    is_note = operation.disk.endswith(NOTE_EXTENSION)
    return b"\0" not in operation.before + operation.after and (
        is_note or media.is_text(operation.disk, operation.after)
    )


class Planned(Exception):
    """The change that a call would have made, allowed by the policy but for a person's consent."""

    def __init__(self, tool: str, change: PlannedChange) -> None:
        self.tool = tool
        self.change = change


def edited(
    before: Content, change: Callable[[str], str], etag: str, version: Callable[[str], bytes | None]
) -> Rewritten:
    """Return a file with its text changed, and nothing written; a change made to the `version` of an older `etag` is
    merged with the later ones. Raises: StaleEtag, and the errors of `change`."""
    is_merged = bool(etag) and etag != before.etag
    body = _merged(before, change, etag, version(etag)) if is_merged else change(before.text.body)
    return rewritten(before, body, merged=is_merged)


def check_plugin_text(path: VaultPath, before: str, after: str) -> None:
    """Raises: NotText for an edit that a plugin would drop, or that changes what only it writes (DRAW-4, BOARD-2)."""
    if "excalidraw" in path.lower() or "excalidraw-plugin" in before:
        drawing.check_edit(path, before, after)
    if "kanban-plugin" in before:
        board.check_edit(path, before, after)


def _merged(now: Content, change: Callable[[str], str], etag: str, known: bytes | None) -> str:
    if known is None:
        raise stale(now, etag, "Read it again and repeat the edit.")
    base = Text.decode(known).body
    ours = change(base)
    merged = merge(base, ours, now.text.body)
    if merged is None:
        theirs = short_diff(now.entry.path, base, now.text.body)
        raise stale(
            now,
            etag,
            f"The later changes touch this edit, so nothing was written. Changed since:\n{theirs}"
            f"This edit:\n{short_diff(now.entry.path, base, ours)}Read the note again and repeat the edit.",
        )
    return merged


def stale(now: Content, etag: str, advice: str) -> StaleEtag:
    return StaleEtag(
        f"{str(now.entry.path)!r} has changed since it was read: its etag is {now.etag} now, not {etag}. {advice}",
        path=now.entry.path,
        etag=now.etag,
    )
