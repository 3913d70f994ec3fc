"""The text of a link that leads to a given file, in each style (LINK-20 to LINK-28).

The app's own choices are followed: the shortest path that leads there, relative or absolute paths
where the settings say so, and a Markdown link where no wikilink can contain the name.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.files.file_list import Names
from obsidian_mcp.core.files.settings import AppSettings, LinkFormat
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    VaultPath,
    basename,
    is_note,
    parent,
)
from obsidian_mcp.errors import InvalidName

from .resolve import is_relative, resolve

if TYPE_CHECKING:
    from obsidian_mcp.core.note.links import Style


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
    if link_format == "shortest" and len(names.find_by_name(name)) == 1:
        spellings.insert(0, name)
    elif link_format == "relative":
        # A `Note.md` in the root would win over a `Note` beside the source: then the dot is needed.
        spellings[:0] = [relative] if relative.startswith("../") else [relative, "./" + relative]
    path = _first_that_leads(names, target, source, spellings, extension=keeps_md)
    if path is None:
        return None
    if style == "wiki":
        return path if is_wikilink_target(path + subpath, displayed=displayed) else None
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
        if path is not None and not text and is_wikilink_target(path):
            return f"{bang}[[{path}]]"
        if path is not None and is_wikilink_display(text):
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


def is_wikilink_target(target: str, *, displayed: bool = False) -> bool:
    """Return whether `[[target]]` or `[[target|…]]` is read back as exactly this target.

    Such a link must change nothing around it either.
    """
    return _WIKI_BREAKS.search(target) is None and (displayed or not target.endswith("]"))


def is_wikilink_display(display: str) -> bool:
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
