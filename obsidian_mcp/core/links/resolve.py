"""Which file a link means, and the shortest text that means a given file (specs/links.md).

Nothing here looks at more files than those that share the link's last segment, so a link costs
microseconds. (semantics 1.4, 1.7)
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from obsidian_mcp.core.files.catalog import Names
from obsidian_mcp.core.files.settings import AppSettings, LinkFormat
from obsidian_mcp.core.text.text import utf16_length
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    VaultPath,
    basename,
    is_note,
    name_key,
    parent,
)
from obsidian_mcp.errors import InvalidName

if TYPE_CHECKING:
    from obsidian_mcp.core.note.links import Style


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
        hit = _exact(names, source, candidate_path)
        if hit is not None:
            return hit
        candidates = names.named(candidate_path.rpartition("/")[2])
        if candidates:
            return _choose(candidates, source, candidate_path)
    return None


def is_relative(path: str) -> bool:
    """Return whether a link path is seen from the folder of its source."""
    return path.startswith(("./", "../"))


def _exact(names: Names, source: str, path: str) -> VaultPath | None:
    if is_relative(path):
        joined = within_folder(parent(source), path)
        return names.at(joined) if joined is not None else None
    return names.at(path.removeprefix("/"))


def within_folder(folder: str, path: str) -> str | None:
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


# Writing a link


def write_path(
    names: Names,
    target: VaultPath,
    source: str,
    style: Style,
    link_format: LinkFormat,
    *,
    subpath: str = "",
    extension: bool | None = None,
    displayed: bool = False,
) -> str | None:
    """Return the path in a link of a style from `source` to `target`, one of `names`, before
    `subpath`.

    Return None when no path leads there, or no wikilink can contain it (semantics 1.7).

    `extension` keeps the `.md` of a note; None keeps it in Markdown links alone. `displayed`: a
    display follows. A Markdown path with a colon begins with `./` or `../`, or it would be a URL.
    """
    keeps_md = style == "markdown" if extension is None else extension
    name, relative = target.rpartition("/")[2], _relative(parent(source), target)
    spellings = [str(target)]
    if link_format == "shortest" and len(names.named(name)) == 1:
        spellings.insert(0, name)
    elif link_format == "relative":
        # A `Note.md` in the root would win over a `Note` beside the source: then the dot is needed.
        spellings[:0] = [relative] if relative.startswith("../") else [relative, "./" + relative]
    path = _first_that_leads(names, target, source, spellings, extension=keeps_md)
    if path is None:
        return None
    if style == "wiki":
        return path if wiki_holds(path + subpath, displayed=displayed) else None
    if ":" not in path + subpath or is_relative(path):
        return path
    dotted = relative if is_relative(relative) else "./" + relative
    return _first_that_leads(names, target, source, [dotted], extension=keeps_md)


def _first_that_leads(
    names: Names, target: VaultPath, source: str, spellings: Iterable[str], *, extension: bool
) -> str | None:
    for spelling in spellings:
        short = spelling[: -len(NOTE_EXTENSION)] if is_note(spelling) else spelling
        for text in (spelling,) if extension or short == spelling else (short, spelling):
            if "#" not in text and text == text.strip() and resolve(names, source, text) == target:
                return text
    return None


def generate_link(
    names: Names,
    target: VaultPath,
    source: str,
    *,
    settings: AppSettings,
    embed: bool = False,
    display: str = "",
    in_table: bool = False,
) -> str:
    """Return a new link from `source` to `target` as the app writes it (LINK-20 to LINK-28).

    `target` is one of `names`; where no wikilink can contain it, it gets a Markdown link. The link
    shows `display`, if there is one; `in_table` escapes its pipes (semantics 1.7). Raises:
    InvalidName when no link can reach the file.
    """
    bang, name, pipe = "!" if embed else "", basename(target), r"\|" if in_table else "|"
    if not settings.use_markdown_links:
        path = write_path(names, target, source, "wiki", settings.new_link_format, displayed=True)
        text = display or (name if path is not None and "/" in path and not embed else "")
        text = "" if text == path else text
        if path is not None and not text and wiki_holds(path):
            return f"{bang}[[{path}]]"
        if path is not None and wiki_displays(text):
            return f"{bang}[[{path}{pipe}{text}]]"
    path = write_path(names, target, source, "markdown", settings.new_link_format)
    if path is None:
        raise InvalidName(
            f"No link can lead to {str(target)!r}: a name with '#' or without an extension is "
            "never found. Rename the file first.",
            path=target,
        )
    label = markdown_label(display or ("" if embed else name), in_table=in_table)
    return f"{bang}[{label}]({destination(path)})"


def wiki_holds(target: str, *, displayed: bool = False) -> bool:
    """Return whether `[[target]]` or `[[target|…]]` is read back as exactly this target.

    Such a link must change nothing around it either.
    """
    return _WIKI_BREAKS.search(target) is None and (displayed or not target.endswith("]"))


def wiki_displays(display: str) -> bool:
    """Return whether a wikilink can show this text."""
    return bool(display) and _DISPLAY_BREAKS.search(display) is None


def destination(target: str) -> str:
    """Return `target` (path and subpath) as the destination of a Markdown link.

    Only characters that break the syntax are encoded.
    """
    angle = not is_balanced(target)
    text = encode_destination(target, angle=angle)
    return f"<{text}>" if angle else text


def encode_destination(text: str, *, angle: bool = False, ascii_only: bool = False) -> str:
    """Return a part of a destination, without the `<…>` around the whole.

    `ascii_only` encodes other scripts, too, as some programs write them.
    """
    text = (_ANGLE_BREAKS if angle else _BARE_BREAKS).sub(_percent, text)
    text = _ENTITY.sub("&amp;", text)
    return _NOT_ASCII.sub(_percent, text) if ascii_only else text


def markdown_label(text: str, *, in_table: bool = False) -> str:
    """Return `text` for the brackets of a Markdown link.

    Line breaks become spaces, and brackets are escaped if they would change the link.
    """
    label = _WHITE_SPACE.sub(lambda run: " " if _LINE_BREAK.search(run[0]) else run[0], text)
    if not is_balanced(label, "[]") or "[[" in "[" + label or label.endswith("\\"):
        label = _LABEL_BREAKS.sub(r"\\\g<0>", label)
    return label.replace("|", r"\|") if in_table else label


def _relative(folder: str, target: str) -> str:
    """Return `target` as seen from `folder`: `../` where needed, nothing before what lies below
    it."""
    return posixpath.relpath(f"/{target}", f"/{folder}")


def is_balanced(text: str, pair: str = "()") -> bool:
    """Return whether each bracket has a partner.

    A destination with a bracket that has no partner must stand in `<…>`.
    """
    depth = 0
    for char in text:
        if char == pair[0]:
            depth += 1
        elif char == pair[1]:
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogateescape"))


_WIKI_BREAKS = re.compile(r"^\[|\||\[\[|\]\]|%%|[\x00-\x1f\x7f]")
_DISPLAY_BREAKS = re.compile(r"\[\[|\]\]|\]\Z|[\r\n]")
_BARE_BREAKS = re.compile(r"[\x00-\x1f\x7f\s\\<>%`|]")
_ANGLE_BREAKS = re.compile(r"[\x00-\x1f\x7f\\<>%`|]")
_ENTITY = re.compile(r"&(?=#?[0-9A-Za-z]{1,32};)")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_LABEL_BREAKS = re.compile(r"[\\\[\]]")
_WHITE_SPACE = re.compile(r"\s+")
_LINE_BREAK = re.compile("[\r\n]")
