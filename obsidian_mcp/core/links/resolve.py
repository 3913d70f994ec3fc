"""Which file a link means, and the shortest text that means a file (semantics 1.4, 1.7;
specs/links.md)."""

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
    """What links share that can mean the same file, for an index: the last segment as names
    compare, without `.md`."""
    return name_key(clean(linkpath).rpartition("/")[2]).removesuffix(NOTE_EXTENSION)


def keys_of(path: str) -> tuple[str, ...]:
    """The `link_key` of every link that may mean a file of this name."""
    key = name_key(path.rpartition("/")[2]).removesuffix(NOTE_EXTENSION)
    return (key, key.removesuffix(NOTE_EXTENSION)) if key.endswith(NOTE_EXTENSION) else (key,)


def clean(linkpath: str) -> str:
    """A link's path as it is compared: no subpath, no-break space as space, NFC."""
    path = linkpath.partition("#")[0]
    if path.isascii():
        return path
    return unicodedata.normalize("NFC", path.replace("\u00a0", " "))


def resolve(names: Names, source: str, linkpath: str) -> VaultPath | None:
    """The file that `linkpath`, in the file `source`, leads to, in any order of files, or None
    (semantics 1.4)."""
    path = clean(linkpath)
    if not path:
        return VaultPath(source)
    name = path.rpartition("/")[2]
    if name in (".", ".."):
        return None
    with_extension = path + NOTE_EXTENSION
    for wanted in (path, with_extension) if "." in name else (with_extension,):
        # An exact hit first: it wins over every candidate, and a vault may hold thousands of
        # `index.md`.
        hit = _exact(names, source, wanted)
        if hit is not None:
            return hit
        candidates = names.named(wanted.rpartition("/")[2])
        if candidates:
            return _choose(candidates, source, wanted)
    return None


def is_relative(path: str) -> bool:
    """Whether a link path is seen from the folder of its source."""
    return path.startswith(("./", "../"))


def _exact(names: Names, source: str, path: str) -> VaultPath | None:
    if is_relative(path):
        joined = within_folder(parent(source), path)
        return names.at(joined) if joined is not None else None
    return names.at(path.removeprefix("/"))


def within_folder(folder: str, path: str) -> str | None:
    """The path from the root of `path` seen from `folder`, without `.` and `..`; None where it
    leaves the vault."""
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
    return nearest.get(name_key(parent(source)), nearest.get(""))


@lru_cache(maxsize=32)
def _nearest(candidates: tuple[VaultPath, ...], ending: str) -> dict[str, VaultPath]:
    """The best candidate of this ending for links from a folder, "" for any other: `index.md` is
    often there."""
    nearest: dict[str, VaultPath] = {}
    for path, key in _shortest_first(candidates):
        if key.endswith(ending):
            while key:
                key = key.rpartition("/")[0]
                nearest.setdefault(key[1:], path)
    return nearest


@lru_cache(maxsize=32)
def _shortest_first(candidates: tuple[VaultPath, ...]) -> list[tuple[VaultPath, str]]:
    """The candidates, which are sorted, so on a tie the smallest first; each with its key below a
    slash."""
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
    """The path in a link of a style from `source` to `target`, one of `names`, before `subpath`;
    None when none leads there, or no wikilink holds it (semantics 1.7). `extension` keeps the `.md`
    of a note: of None, a Markdown link's. `displayed`: a display follows. A Markdown path with a
    colon begins with `./` or `../`, or it would be a URL."""
    keeps_md = style == "markdown" if extension is None else extension
    name, relative = target.rpartition("/")[2], _relative(parent(source), target)
    spellings = [str(target)]
    if link_format == "shortest" and len(names.named(name)) == 1:
        spellings.insert(0, name)
    elif link_format == "relative":
        # `Note` beside the source would be caught by a `Note.md` in the root: then the dot is
        # needed.
        spellings[:0] = [relative] if relative.startswith("../") else [relative, "./" + relative]
    path = _first_that_leads(names, target, source, spellings, extension=keeps_md)
    if path is None or style == "wiki":
        return (
            path if path is not None and wiki_holds(path + subpath, displayed=displayed) else None
        )
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


def generate(
    names: Names,
    target: VaultPath,
    source: str,
    *,
    settings: AppSettings,
    embed: bool = False,
    display: str = "",
    in_table: bool = False,
) -> str:
    """A new link from `source` to `target`, one of `names`, as the app writes it, in Markdown if no
    wikilink holds it (semantics 1.7; LINK-20 to LINK-28). It shows `display`; `in_table` escapes
    its pipes. Raises: InvalidName."""
    bang, name, pipe = "!" if embed else "", basename(target), r"\|" if in_table else "|"
    if not settings.use_markdown_links:
        path = write_path(names, target, source, "wiki", settings.new_link_format, displayed=True)
        shown = display or (name if path is not None and "/" in path and not embed else "")
        shown = "" if shown == path else shown
        if path is not None and not shown and wiki_holds(path):
            return f"{bang}[[{path}]]"
        if path is not None and wiki_displays(shown):
            return f"{bang}[[{path}{pipe}{shown}]]"
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
    """Whether `[[target]]` or `[[target|…]]` is read back as exactly this target, and changes
    nothing around it."""
    return _WIKI_BREAKS.search(target) is None and (displayed or not target.endswith("]"))


def wiki_displays(display: str) -> bool:
    """Whether a wikilink can show this text."""
    return bool(display) and _DISPLAY_BREAKS.search(display) is None


def destination(target: str) -> str:
    """`target` (path and subpath) as the destination of a Markdown link, with only what breaks the
    syntax encoded."""
    angle = not is_balanced(target)
    text = encoded(target, angle=angle)
    return f"<{text}>" if angle else text


def encoded(text: str, *, angle: bool = False, ascii_only: bool = False) -> str:
    """A part of a destination, without the `<…>` around the whole; `ascii_only` encodes other
    scripts too."""
    text = (_ANGLE_BREAKS if angle else _BARE_BREAKS).sub(_percent, text)
    text = _ENTITY.sub("&amp;", text)
    return _NOT_ASCII.sub(_percent, text) if ascii_only else text


def markdown_label(text: str, *, in_table: bool = False) -> str:
    """`text` in the brackets of a Markdown link, without line breaks, with brackets escaped if they
    would change it."""
    label = _WHITE_SPACE.sub(lambda found: " " if _LINE_BREAK.search(found[0]) else found[0], text)
    if not is_balanced(label, "[]") or "[[" in "[" + label or label.endswith("\\"):
        label = _LABEL_BREAKS.sub(r"\\\g<0>", label)
    return label.replace("|", r"\|") if in_table else label


def _relative(folder: str, target: str) -> str:
    """`target` as seen from `folder`: `../` where needed, nothing in front of what lies below."""
    return posixpath.relpath(f"/{target}", f"/{folder}")


def is_balanced(text: str, pair: str = "()") -> bool:
    """Whether each bracket has a partner; a destination where one has none must stand in `<…>`."""
    depth = 0
    for char in text:
        if char == pair[0]:
            depth += 1
        elif char == pair[1]:
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogateescape"))


_WIKI_BREAKS = re.compile(r"^\[|\||\[\[|\]\]|%%|[\x00-\x1f\x7f]")
_DISPLAY_BREAKS = re.compile(r"\[\[|\]\]|\]\Z|[\r\n]")
_BARE_BREAKS = re.compile(r"[\x00-\x1f\x7f\s\\<>%`|]")
_ANGLE_BREAKS = re.compile(r"[\x00-\x1f\x7f\\<>%`|]")
_ENTITY = re.compile(r"&(?=#?[0-9A-Za-z]{1,32};)")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_LABEL_BREAKS = re.compile(r"[\\\[\]]")
_WHITE_SPACE = re.compile(r"\s+")
_LINE_BREAK = re.compile("[\r\n]")
