"""Files outside the vaults that the user allows to be brought in (specs/attachments.md ATT-08)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.errors import NoteNotFound, PermissionDenied, StorageFailed


class OutsideFiles:
    """Reads files below the folders of OBSIDIAN_MCP_IMPORT.

    Such a folder may be a vault, lie in one or hold one. What the policy hides there would then be
    opened by a path that no policy sees, so a file in a vault is read only where that vault shows
    it. The program's own files, which hold old and new texts of all notes, are not read either.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        shown_in: Callable[[], Mapping[Path, Callable[[str], bool]]] = dict,
        own: Iterable[Path] = (),
    ) -> None:
        """`shown_in` returns for the folder of every vault which of its paths exist for the tools.
        `own`: the files and folders of this program."""
        self._folders = folders
        self._shown_in = shown_in
        self._own = tuple(own)

    def read_outside_file(self, path: str, most: int) -> bytes:
        """Return a file of at most `most` bytes. Raises: PermissionDenied for one that is not below
        the folders, with links followed, or that is hidden, whether it is there or not;
        NoteNotFound, StorageFailed."""
        if not self._folders:
            raise PermissionDenied(
                "No folder is allowed as a source. Send the file as base64 in `data`, or name "
                "folders in the environment variable OBSIDIAN_MCP_IMPORT.",
                path=path,
            )
        try:
            real = Path(path).expanduser().resolve()
            allowed = [folder.expanduser().resolve() for folder in self._folders]
            if not any(real.is_relative_to(folder) for folder in allowed):
                raise PermissionDenied(
                    f"'{path}' is not below an allowed folder: {', '.join(map(str, allowed))}.",
                    path=path,
                )
            if self._is_hidden(real):
                raise PermissionDenied(
                    f"'{path}' lies in a vault or among this program's own files, and is none that "
                    "may be read there. Give another file, or send it as base64 in `data`.",
                    path=path,
                )
            if not real.is_file():
                raise NoteNotFound(f"There is no file '{path}'.", path=path)
            if real.stat().st_size > most:
                raise StorageFailed(f"'{path}' is larger than {most:,} bytes.", path=path)
            return real.read_bytes()
        except (OSError, ValueError, RuntimeError) as error:
            raise StorageFailed(f"'{path}' cannot be read: {error}.", path=path) from error

    def _is_hidden(self, real: Path) -> bool:
        if any(_parts_below(real, place) is not None for place in self._own):
            return True
        for root, is_shown in self._shown_in().items():
            inside = _parts_below(real, root)
            if inside is not None and not (
                _is_listed(root, inside) and is_shown(normal_form("/".join(inside)))
            ):
                return True
        return False


def _parts_below(real: Path, place: Path) -> tuple[str, ...] | None:
    """Return the parts of a path that follow those of a file or folder, by whatever name it is
    reached; None for a path that is not below it."""
    for above in (real, *real.parents):
        try:
            if above.samefile(place):
                return real.parts[len(above.parts) :]
        except OSError:  # one of the two is not there
            continue
    return None


def _is_listed(root: Path, parts: Sequence[str]) -> bool:
    """Return whether each folder lists the next part by just this name: a disk may find a file by
    others, too (NAME-15). Names that begin with a dot are no part of a vault (NAME-02)."""
    folder = root
    for part in parts:
        if (
            part.startswith(".")
            or not folder.is_dir()
            or part not in {entry.name for entry in folder.iterdir()}
        ):
            return False
        folder /= part
    return bool(parts)
