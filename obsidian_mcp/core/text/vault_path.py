"""Paths inside a vault: normal form, comparison key, and what may be created.

Only `parse` makes a `VaultPath`, so a function that receives one cannot receive a path that leads
out of the vault. Symbolic links are the disk adapter's part. (semantics 0.4, 8.2, 12)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from collections.abc import Set as AbstractSet
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
_RESERVED = re.compile(r"^(?i:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?$")
_UNUSABLE = re.compile(rf"{_FORBIDDEN.pattern}|{_RESERVED.pattern}|^ |[ .](?:\.md)?$")
"""A name that has one of the faults of `_list_problems`, but for its length."""
_LINK_BREAKING = re.compile(r"[#^\[\]|]|%%")
_DRIVE = re.compile(r"^[A-Za-z]:(?! )")
"""A drive of Windows: `C:\\x`, `C:x`. A title such as `A: the plan` is none (NAME-17)."""
_EXTENSION = re.compile(r"[A-Za-z0-9]{1,12}")
UNTITLED = "Untitled"
"""What a name is called of which no character is left."""
PROBLEMS_SHOWN = 5
MOST_NUMBERS = 100
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


def check_creatable(
    path: VaultPath,
    existing: str = "",
    above: int = 0,
    is_taken: Callable[[VaultPath], bool] = lambda _: False,
) -> None:
    """Refuse names that not every system can hold, so that a synced vault stays readable.

    All that is wrong is named at once, with a path that would do and that no file has yet
    (NAME-17).
    `existing` is a path whose parts exist already, so they may stay as they are (semantics 12).
    `above` as in `check_length`. Raises: InvalidName.
    """
    check_length(path, above)
    existing_parts = existing.split("/")
    new_parts = [part for part in path.split("/") if part not in existing_parts]
    if len(new_parts) > MOST_NEW_FOLDERS:
        raise InvalidName(
            f"This path makes {len(new_parts) - 1:,} new folders, one in the other; "
            f"{MOST_NEW_FOLDERS} is the most. Use fewer.",
            path=path,
        )
    problems: list[str] = []
    for part in new_parts:  # nearly every name is right
        if _UNUSABLE.search(part) or _is_too_long(part):
            problems += _list_problems(part)
    if not problems:
        return
    usable_parts = (
        part if part in existing_parts else usable_name(part) for part in path.split("/")
    )
    usable = _free_path("/".join(usable_parts), is_taken)
    sentences = " ".join(problems[:PROBLEMS_SHOWN])
    raise InvalidName(
        f"{sentences} {usable.removesuffix(NOTE_EXTENSION)!r} would do.", path=path, name=usable
    )


def _list_problems(part: str) -> list[str]:
    """Return a sentence for each reason why a part of a path cannot be a new name."""
    problems = []
    stem = part.removesuffix(NOTE_EXTENSION)
    if forbidden := sorted(set(_FORBIDDEN.findall(part)), key=part.index):
        listed, verb = _list_characters(forbidden)
        unlinked = sorted(set(_LINK_BREAKING.findall(part)) - {*forbidden}, key=part.index)
        breaking = f", and links cannot reach {_list_characters(unlinked)[0]}" if unlinked else ""
        reason = f"{listed} {verb} not allowed on every system{breaking}"
        problems.append(f"{part!r} cannot be a file name: {reason}.")
    if _RESERVED.match(part):
        problems.append(f"{part!r} is a reserved device name on Windows.")
    if part.endswith((" ", ".")) or stem.endswith((" ", ".")) or part.startswith(" "):
        problems.append(f"{part!r} begins or ends with a space or a dot.")
    if _is_too_long(part):
        problems.append(
            f"The name is {_count_bytes(part)} bytes long; {COMPONENT_BYTES} is the most a disk "
            "takes."
        )
    return problems


def _is_too_long(part: str) -> bool:
    return _count_bytes(part) > COMPONENT_BYTES


def _count_bytes(part: str) -> int:
    """Return the bytes of a name on a disk that writes it in UTF-8."""
    return len(part.encode("utf-8", "surrogatepass"))


def _list_characters(characters: list[str]) -> tuple[str, str]:
    """Return characters as a list in words, and the verb behind it."""
    *first, last = map(repr, characters)
    return (f"{', '.join(first)} and {last}", "are") if first else (last, "is")


def usable_name(part: str) -> str:
    """Return the name nearest to a part of a path that every system can hold (NAME-17).

    The extension stays.
    """
    stem, dot, ending = part.rpartition(".")
    has_extension = dot and stem.strip() and _EXTENSION.fullmatch(ending)
    end = f".{ending}" if has_extension else ""
    name = file_name_of(part.removesuffix(end)).lstrip(".").strip() or UNTITLED
    if _RESERVED.match(name):
        name = f"{name}_"
    cut = name.encode()[: COMPONENT_BYTES - len(end)].decode(errors="ignore")
    return cut.rstrip(" .") + end


def _free_path(path: str, is_taken: Callable[[VaultPath], bool]) -> VaultPath:
    """Return the path, with a number where files have it."""
    end = len(path) - len(extension(path))
    numbered = (f"{path[:end]} {number}{path[end:]}" for number in range(2, MOST_NUMBERS))
    free = (VaultPath(entry) for entry in (path, *numbered) if not is_taken(VaultPath(entry)))
    return next(free, VaultPath(path))


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


def is_at_or_below(path: str, places: AbstractSet[str]) -> bool:
    """Return whether a path is one of some places, or below one."""
    return path in places or is_below(path, places)


def is_below(path: str, folders: AbstractSet[str]) -> bool:
    """Return whether a path is below one of some folders, at any depth."""
    at = path.rfind("/")
    while at > 0:
        if path[:at] in folders:
            return True
        at = path.rfind("/", 0, at)
    return False
