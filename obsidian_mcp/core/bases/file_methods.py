"""Fields and methods of files, links and tags (BASE-60 to BASE-66)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from obsidian_mcp.core.expressions.budget import ITEM_UNITS
from obsidian_mcp.core.expressions.dates import from_nanoseconds
from obsidian_mcp.core.expressions.evaluate import Scope
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.values import File, LinkValue, Value
from obsidian_mcp.core.expressions.vault_view import WrittenLink
from obsidian_mcp.core.note.links import show_target
from obsidian_mcp.core.text.tags import covers
from obsidian_mcp.core.text.vault_path import basename
from obsidian_mcp.core.text.wikilink import split_subpath

from .method import PATTERN, STRING, Method, Parameter
from .values import (
    TagValue,
    is_external,
    path_of,
    read_link_value,
    text_of,
    wrap_property,
)

LINK_UNITS = 8 * ITEM_UNITS
"""Units of a link, which takes more memory than other items."""


def properties(file: File, scope: Scope) -> dict[str, Value]:
    """Return all properties of a file as values."""
    raw = scope.context.vault.properties(file.path)
    scope.context.budget.charge_items(len(raw))
    return {
        name: wrap_property(value, file.path, tags=name.lower() == "tags")
        for name, value in raw.items()
    }


def tags(file: File, scope: Scope) -> list[Value]:
    """Return the tags of a file without `#`, each once."""
    names = dict.fromkeys(scope.context.vault.tags(file.path))
    scope.context.budget.charge_items(len(names))
    return [TagValue(name) for name in names]


def _links(
    file: File, scope: Scope, places: tuple[str, ...] = ("property", "link", "embed")
) -> Value:
    """Return the links at some places of a file, those of one place behind those of another."""
    written = scope.context.vault.links(file.path)
    links = [link for place in places for link in written if link.place == place]
    scope.context.budget.charge(LINK_UNITS * len(links))
    return [_to_value(link, file.path) for link in links]


def _to_value(written: WrittenLink, source: str) -> LinkValue:
    """Return a link as a value, with the display that the app's cache has.

    Where none is written, it is the target as the app shows it.
    """
    path, subpath = written.path.strip(), written.subpath.rstrip()
    display = (
        written.display.strip() if written.display is not None else show_target(path + subpath)
    )
    return LinkValue(path, subpath, display, written.place == "embed", source)


def _backlinks(file: File, scope: Scope) -> Value:
    paths = scope.context.vault.backlinks(file.path)
    scope.context.budget.charge(LINK_UNITS * len(paths))
    return [LinkValue(path, display=basename(path), source=file.path) for path in paths]


FILE_FIELDS: Mapping[str, Callable[[File, Scope], Value]] = {
    "name": lambda file, _: file.basename if file.extension.lower() == "md" else file.name,
    "basename": lambda file, _: file.basename,
    "path": lambda file, _: file.path,
    "folder": lambda file, _: file.folder or "/",
    "ext": lambda file, _: file.extension,
    "size": lambda file, _: float(file.size),
    "ctime": lambda file, scope: from_nanoseconds(scope.context.vault.created_ns(file.path)),
    "mtime": lambda file, _: from_nanoseconds(file.modified_ns),
    "file": lambda file, _: file,
    "properties": properties,
    "tags": tags,
    "links": _links,
    "embeds": lambda file, scope: _links(file, scope, ("embed",)),
    "backlinks": _backlinks,
}


def has_link(scope: Scope, file: File, target: Value) -> Value:
    """Return whether a link of the file, embeds and properties included, leads to the target.

    A link that leads nowhere, or out of the vault, is compared by its target as it is written
    (BASE-62).
    """
    context = scope.context
    if isinstance(target, str):
        text = target.strip()
        path, subpath = split_subpath(text)
        target = read_link_value(text, file.path) or LinkValue(path, subpath, source=file.path)
    target_path = path_of(target, context)
    if target_path is not None:
        return target_path in context.vault.targets(file.path)
    if is_external(target):
        return False
    return any(
        (link.path + link.subpath).strip() == target.target
        for link in context.vault.links(file.path)
    )


def _has_tag(scope: Scope, file: File, *names: str) -> Value:
    own = scope.context.vault.tags(file.path)
    return any(covers(name, tag) for name in names for tag in own)


def _is_in_folder(_: Scope, file: File, folder: str) -> Value:
    path = folder.strip("/")
    return not path or file.folder == path or file.folder.startswith(path + "/")


def _as_link(scope: Scope, file: File, display: Value = None) -> Value:
    scope.context.budget.charge(LINK_UNITS)
    display_text = None if display is None else text_of(display, scope.context)
    return LinkValue(file.path, display=display_text, source=file.path)


FILES: Mapping[str, Method] = {
    "hasLink": Method(has_link, (Parameter("otherFile", (str, LinkValue, File)),)),
    "hasTag": Method(_has_tag, (Parameter("values", STRING, repeats=True),)),
    "hasProperty": Method(
        lambda scope, file, name: file.path in scope.context.vault.column(name.lower()),
        (Parameter("name", STRING),),
    ),
    "inFolder": Method(_is_in_folder, (Parameter("folder", STRING),)),
    "asLink": Method(_as_link, (Parameter("display", optional=True),)),
}


def _links_to(scope: Scope, link: LinkValue, target: Value) -> Value:
    file = follow_link(link, scope)
    return None if file is None else has_link(scope, file, target)


LINKS: Mapping[str, Method] = {
    "asFile": Method(lambda scope, link: follow_link(link, scope)),
    "linksTo": Method(_links_to, (Parameter("file", (str, LinkValue, File)),)),
}


def _tag_matches(_: Scope, tag: TagValue, pattern: str | RegExpValue) -> Value:
    return pattern.matches(tag) if isinstance(pattern, RegExpValue) else covers(pattern, tag)


TAGS: Mapping[str, Method] = {"matches": Method(_tag_matches, (Parameter("tag", PATTERN),))}


def follow_link(link: LinkValue, scope: Scope) -> File | None:
    """Return the file that a link leads to."""
    path = None if is_external(link) else scope.context.follow(link)
    return None if path is None else scope.context.vault.file(path)
