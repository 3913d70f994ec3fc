"""Which file a link means, and the shortest text that means a given file (semantics 1.4, 1.7; specs/links.md).

Nothing here looks at more files than those that share the link's last segment, so a link costs microseconds.
"""

from __future__ import annotations

import unicodedata

from . import compat
from .catalog import Names
from .paths import NOTE_EXTENSION, VaultPath, name_key, parent


def link_key(linkpath: str) -> str:
    """What two links must share to be able to mean the same file: their last segment as names compare, without `.md`.

    An index that stores it for every link can be asked for all links that a change of files may touch.
    """
    return name_key(clean(linkpath).rpartition("/")[2]).removesuffix(NOTE_EXTENSION)


def clean(linkpath: str) -> str:
    """A link's path as it is compared: no subpath, no-break space as space, NFC."""
    path = linkpath.partition("#")[0]
    if path.isascii():
        return path
    return unicodedata.normalize("NFC", path.replace("\u00a0", " "))


def resolve(names: Names, source: str, linkpath: str) -> VaultPath | None:
    """The file that `linkpath`, written in the file `source`, leads to; None when it leads nowhere (semantics 1.4).

    An empty path is the source itself. The answer depends on the set of files alone, never on their order.
    """
    path = clean(linkpath)
    if not path:
        return VaultPath(source)
    name = path.rpartition("/")[2]
    if name in (".", ".."):
        return None
    with_extension = path + NOTE_EXTENSION
    for wanted in (path, with_extension) if "." in name else (with_extension,):
        # An exact hit first: it wins over every candidate, and a vault may hold thousands of `index.md`.
        hit = _exact(names, source, wanted)
        if hit is not None:
            return hit
        candidates = names.named(wanted.rpartition("/")[2])
        if candidates:
            return _choose(candidates, source, wanted)
    return None


def _is_relative(path: str) -> bool:
    return path.startswith(("./", "../"))


def _exact(names: Names, source: str, path: str) -> VaultPath | None:
    if _is_relative(path):
        joined = _join(parent(source), path)
        return names.at(joined) if joined is not None else None
    return names.at(path.removeprefix("/"))


def _join(folder: str, path: str) -> str | None:
    """`path` seen from `folder`, without `.` and `..`; None where it leaves the vault."""
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
    """The best of the files that have the right name, none of which is at exactly `path`."""
    if "/" not in path:
        if len(candidates) == 1:
            return candidates[0]
    else:
        if _is_relative(path):
            if not compat.MISSED_RELATIVE_LINK_SEARCHES_ON:
                return None
            while _is_relative(path):
                path = path.partition("/")[2]
        if path.startswith("/"):
            if not compat.MISSED_ROOTED_LINK_SEARCHES_ON:
                return None
            path = path[1:]
        # Whole segments: the app's own test on raw strings lets `ary/index` find `glossary/index.md`.
        ending = "/" + name_key(path)
        candidates = tuple(each for each in candidates if ("/" + name_key(each)).endswith(ending))
    folder = parent(source)
    if folder:
        below = name_key(folder) + "/"
        near = tuple(each for each in candidates if name_key(each).startswith(below))
        candidates = near or candidates
    return min(candidates, key=_length, default=None)  # candidates are sorted: on a tie the smallest stays


def _length(path: str) -> int:
    """Length as the app counts it, in UTF-16 code units."""
    return len(path) if path.isascii() else len(path.encode("utf-16-le", "surrogatepass")) // 2
