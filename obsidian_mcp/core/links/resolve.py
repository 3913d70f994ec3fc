"""Which file a link means (specs/links.md); `write_link` writes the text that means a file.

Nothing here looks at more files than those that share the link's last segment, so a link costs
microseconds. (semantics 1.4, 1.7)
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from obsidian_mcp.core.files.file_list import Names
from obsidian_mcp.core.text.text import utf16_length
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    VaultPath,
    name_key,
    parent,
)


def link_key(linkpath: str) -> str:
    """Return what two links must share to be able to mean the same file.

    It is their last segment as names compare, without `.md`. An index that stores it for every link
    can be asked for all links that a change of files may touch.
    """
    return name_key(clean(linkpath).rpartition("/")[2]).removesuffix(NOTE_EXTENSION)


def keys_of(path: str) -> tuple[str, ...]:
    """Return the `link_key` of every link that may mean a file of this name."""
    key = name_key(path.rpartition("/")[2]).removesuffix(NOTE_EXTENSION)
    return (key, key.removesuffix(NOTE_EXTENSION)) if key.endswith(NOTE_EXTENSION) else (key,)


def clean(linkpath: str) -> str:
    """Return a link's path as it is compared: no subpath, no-break space as space, NFC."""
    path = _as_written(linkpath)
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def _as_written(linkpath: str) -> str:
    """As `clean`, in the normal form that it has: the link may spell one of two twins (NAME-06)."""
    return linkpath.partition("#")[0].replace("\u00a0", " ")


def resolve(names: Names, source: str, linkpath: str) -> VaultPath | None:
    """Return the file that `linkpath`, written in the file `source`, leads to, or None.

    An empty path is the source itself. The answer depends on the set of files alone, never on their
    order (semantics 1.4).
    """
    path = _as_written(linkpath)
    if not path:
        return VaultPath(source)
    name = path.rpartition("/")[2]
    if name in (".", ".."):
        return None
    with_extension = path + NOTE_EXTENSION
    for candidate_path in (path, with_extension) if "." in name else (with_extension,):
        # The exact path first: it wins over every candidate, of which there may be thousands, as of
        # `index.md`.
        hit = _find_exact(names, source, candidate_path)
        if hit is not None:
            return hit
        candidates = names.find_by_name(candidate_path.rpartition("/")[2])
        if candidates:
            return _choose(candidates, source, candidate_path)
    return None


def is_relative(path: str) -> bool:
    """Return whether a link path is seen from the folder of its source."""
    return path.startswith(("./", "../"))


def _find_exact(names: Names, source: str, path: str) -> VaultPath | None:
    if is_relative(path):
        joined = join_relative(parent(source), path)
        return names.path_at(joined) if joined is not None else None
    return names.path_at(path.removeprefix("/"))


def join_relative(folder: str, path: str) -> str | None:
    """Return the path from the root of `path` seen from `folder`, without `.` and `..`.

    Return None where it leaves the vault.
    """
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _choose(candidates: tuple[VaultPath, ...], source: str, path: str) -> VaultPath | None:
    """Return the best of the files that have the right name, none of which is at exactly `path`."""
    ending = ""
    if "/" not in path:
        if len(candidates) == 1:
            return candidates[0]
    elif path.startswith(("/", "./", "../")):
        return None
    else:
        # Whole segments: the app's own test on raw strings lets `ary/index` find
        # `glossary/index.md`.
        ending = "/" + name_key(path)
    nearest = _nearest(candidates, ending)
    best = nearest.get(name_key(parent(source)), nearest.get(""))
    return best if best is None or path.isascii() else _twin(best, candidates, path)


def _twin(best: VaultPath, candidates: tuple[VaultPath, ...], path: str) -> VaultPath:
    """Return the twin of a file whose name the link spells byte for byte (NAME-06), else the file
    itself."""
    name = path.rpartition("/")[2]
    twins = (
        candidate
        for candidate in candidates
        if candidate.rpartition("/")[2] == name and clean(candidate) == clean(best)
    )
    return next(twins, best)


@lru_cache(maxsize=32)
def _nearest(candidates: tuple[VaultPath, ...], ending: str) -> dict[str, VaultPath]:
    """Return the best candidate of this ending for links from each folder, "" for any other folder.

    A vault may hold thousands of `index.md`, and links to them in thousands of folders: to compare
    each link with each candidate would take too long, so the answers for all folders are worked out
    once.
    """
    nearest: dict[str, VaultPath] = {}
    for path, key in _shortest_first(candidates):
        if key.endswith(ending):
            while key:
                key = key.rpartition("/")[0]
                nearest.setdefault(key[1:], path)
    return nearest


@lru_cache(maxsize=32)
def _shortest_first(candidates: tuple[VaultPath, ...]) -> list[tuple[VaultPath, str]]:
    """Return the candidates, the shortest path first, each with its key below a slash.

    The candidates are sorted, so on a tie the smallest is first.
    """
    return [(path, "/" + name_key(path)) for path in sorted(candidates, key=utf16_length)]
