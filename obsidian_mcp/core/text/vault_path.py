"""Paths inside a vault: normal form, comparison key, and what may be created.

Only `parse` makes a `VaultPath`, so a function that receives one cannot receive a path that leads
out of the vault. Symbolic links are the disk adapter's part. (semantics 0.4, 8.2, 12)
"""

from __future__ import annotations

import re
import unicodedata
from typing import NewType

from obsidian_mcp.errors import InvalidName, PermissionDenied

VaultPath = NewType("VaultPath", str)
"""`/`-separated, relative to the vault, NFC but for names that have twins (NAME-09), no empty, `.`,
`..` or dot-prefixed component."""

NOTE_EXTENSION = ".md"
CANVAS_EXTENSION = ".canvas"
DRAWING_EXTENSION = ".excalidraw"
PDF = ".pdf"
TEXT_EXTENSIONS = (".md", ".canvas", ".base")
"""Kinds of file whose text the tools create and edit."""

COMPONENT_BYTES = 255
"""Longest file name, in bytes of UTF-8, that all common file systems accept (ext4)."""

PATH_BYTES = 4095
"""Longest path that programs on Linux can open, with the path of the vault's folder, in bytes
(PATH_MAX without the NUL at its end)."""

MOST_NEW_FOLDERS = 200
"""Folders that one new path may make, one in the other: an undo looks through each of them, and all
below it, for files of other programs."""

_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    chr(plane | 0xFFFE) + chr(plane | 0xFFFF) for plane in range(0, 0x110000, 0x10000)
)
_FORBIDDEN = re.compile(
    r'[*"<>:|?\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff'
    f"{_NONCHARACTERS}]"
)
"""Characters of which at least one common system refuses a file name.

Line ends of Unicode and characters that reverse the direction of writing are among them: a name
with one of them looks like another name. So are what Unicode calls noncharacters, and halves of
characters: the disks of macOS take neither, and no text can be exchanged with them.
"""
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$")
_LINK_BREAKING = re.compile(r"[#^\[\]|]|%%")
_DRIVE = re.compile(r"^[A-Za-z]:")
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " "})


def name_key(name: str) -> str:
    """Return the form in which the app compares names (semantics 1.4).

    That is NFC, lower case, with a final sigma as sigma and plain spaces.
    """
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", name.translate(_SPACES)).lower().replace("ς", "σ")


def parse(raw: str, *, subject: str = "name") -> VaultPath:
    """Return the normal form of a path as a person writes it.

    `subject` says in messages what the path is of.
    Raises: as `clean`.
    """
    return VaultPath(unicodedata.normalize("NFC", clean(raw, subject=subject)))


def clean(raw: str, *, subject: str = "name") -> str:
    """Return a path as a person writes it with only the separators that it needs.

    Its normal form stays: two files may differ in nothing else (NAME-06). `subject` says in
    messages what the path is of.
    Raises: PermissionDenied for a path that leads outside the vault or into a hidden folder,
    InvalidName for an empty one.
    """
    if "\0" in raw:
        raise PermissionDenied(
            f"The {subject} holds a NUL character, which no file name may have.", path=raw
        )
    path = raw.translate(_SPACES).replace("\\", "/").strip()
    normal = unicodedata.normalize("NFC", path)
    if normal.startswith("/") or _DRIVE.match(normal):
        raise PermissionDenied(
            f"{normal!r} is an absolute path or begins with a drive letter. Give the path inside "
            "the vault, for example 'Projects/Alpha.md'.",
            path=raw,
        )
    parts = [part for part in path.split("/") if part not in ("", ".")]
    for part in normal.split("/"):
        if part == "..":
            raise PermissionDenied(
                f"{raw!r} leads out of the vault ('..'). Give the path inside the vault.", path=raw
            )
        if part.startswith(".") and part != ".":
            raise PermissionDenied(
                f"{raw!r} is hidden: names that begin with a dot are not part of the vault.",
                path=raw,
            )
    if not parts:
        raise InvalidName(
            f"The {subject} is empty. Give a note name or a path inside the vault.", path=raw
        )
    return "/".join(parts)


def parse_folder(raw: str) -> VaultPath | None:
    """Return the normal form of a folder as a person writes it.

    Return None for the vault's root (`""`, `/`, `.`).
    """
    if raw.strip() in ("", "/", ".", "./"):
        return None
    return parse(
        raw.strip().removeprefix("/") if not raw.strip().startswith("//") else raw, subject="folder"
    )


def check_length(path: VaultPath, above: int = 0) -> None:
    """Refuse a path that could be made folder by folder, and then be opened by no program.

    `above` is the length of the path of the vault's folder with its `/`, in bytes. Raises:
    InvalidName.
    """
    length = above + len(path.encode("utf-8", "surrogatepass"))
    if length > PATH_BYTES:
        raise InvalidName(
            f"The path would be {length:,} bytes long with that of the vault's folder; "
            f"{PATH_BYTES:,} is the most that programs can open. Use fewer or shorter folders.",
            path=path,
        )


def check_creatable(path: VaultPath, existing: str = "", above: int = 0) -> None:
    """Refuse names that not every system can hold, so that a synced vault stays readable.

    `existing` is a path whose parts exist already, so they may stay as they are (semantics 12).
    `above` as in `check_length`. Raises: InvalidName.
    """
    check_length(path, above)
    new_parts = [part for part in path.split("/") if part not in existing.split("/")]
    if len(new_parts) > MOST_NEW_FOLDERS:
        raise InvalidName(
            f"This path makes {len(new_parts) - 1:,} new folders, one in the other; "
            f"{MOST_NEW_FOLDERS} is the most. Use fewer.",
            path=path,
        )
    for part in new_parts:
        stem = part.removesuffix(NOTE_EXTENSION)
        if forbidden := _FORBIDDEN.search(part):
            raise InvalidName(
                f"{part!r} cannot be a file name: {forbidden.group()!r} is not allowed on every "
                "system. Leave it out.",
                path=path,
            )
        if _RESERVED.match(part):
            raise InvalidName(
                f"{part!r} is a reserved device name on Windows. Choose another name.", path=path
            )
        if part.endswith((" ", ".")) or stem.endswith((" ", ".")) or part.startswith(" "):
            raise InvalidName(
                f"{part!r} begins or ends with a space or a dot. Remove it.", path=path
            )
        if len(part.encode()) > COMPONENT_BYTES:
            raise InvalidName(
                f"The name is {len(part.encode())} bytes long; {COMPONENT_BYTES} is the most a "
                "disk takes. Shorten it.",
                path=path,
            )


def file_name_of(text: str) -> str:
    """Return a text as a file name that every system can hold and that links can reach.

    Characters that cannot stand in such a name become a space.
    """
    return (
        " ".join(_LINK_BREAKING.sub(" ", _FORBIDDEN.sub(" ", text.replace("/", " "))).split())
        .rstrip(".")
        .strip()
    )


def link_warning(path: VaultPath) -> str | None:
    """Return a sentence if no link can resolve to a file of this name (semantics 12), else None."""
    if _LINK_BREAKING.search(path):
        return "Links cannot reach this name: it holds one of # ^ [ ] | or %%."
    return None


def extension(path: str) -> str:
    """Return the lower-case extension with its dot; "" without one."""
    name = path.rpartition("/")[2]
    stem, dot, ext = name.rpartition(".")
    return f".{ext.lower()}" if dot and stem else ""


def basename(path: str) -> str:
    """Return the file name without folder and without `.md`."""
    name = path.rpartition("/")[2]
    return name[: -len(NOTE_EXTENSION)] if name.lower().endswith(NOTE_EXTENSION) else name


def is_note(path: str) -> bool:
    return path.lower().endswith(NOTE_EXTENSION)


def parent(path: str) -> str:
    """Return the folder of a path; "" for the root."""
    return path.rpartition("/")[0]


def is_indexable(path: str) -> bool:
    """Return whether the index stores a file's contents, as of notes, canvases and drawings.

    See INDEX-07.
    """
    return path.lower().endswith((NOTE_EXTENSION, CANVAS_EXTENSION, DRAWING_EXTENSION))


def is_pdf(path: str) -> bool:
    """Return whether a file is a PDF, whose text is read apart from the notes (PDF-1)."""
    return path.lower().endswith(PDF)
