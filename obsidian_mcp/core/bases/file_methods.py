"""Fields and methods of files, links and tags (BASE-60 to BASE-66)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from obsidian_mcp.core.expressions.dates import from_nanoseconds
from obsidian_mcp.core.expressions.evaluate import Scope
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.values import File, LinkValue, Value
from obsidian_mcp.core.expressions.vault_view import WrittenLink
from obsidian_mcp.core.note.links import shown, split_subpath
from obsidian_mcp.core.text.tags import covers
from obsidian_mcp.core.text.vault_path import basename, is_note

from .functions import LINK_UNITS, PATTERN, STRING, Method, Parameter, file_of
from .operators import path_of
from .values import TagValue, is_external, read_wikilink, text_of, wrap_property


def _name(file: File, _: Scope) -> Value:
    return basename(file.path) if is_note(file.path) else file.name


def properties(file: File, scope: Scope) -> dict[str, Value]:
    """All properties of a file as values."""
    raw = scope.context.vault.properties(file.path)
    scope.context.budget.charge_items(len(raw))
    return {name: wrap_property(value, file.path, tags=name.lower() == "tags") for name, value in raw.items()}


def tags(file: File, scope: Scope) -> list[Value]:
    """Names without `#`, each once."""
    names = dict.fromkeys(scope.context.vault.tags(file.path))
    scope.context.budget.charge_items(len(names))
    return [TagValue(name) for name in names]


def _links(file: File, scope: Scope, kinds: tuple[str, ...] = ("property", "link", "embed")) -> Value:
    written = scope.context.vault.links(file.path)
    found = [link for kind in kinds for link in written if link.place == kind]
    scope.context.budget.charge(LINK_UNITS * len(found))
    return [_as_link(link, file.path) for link in found]


def _as_link(written: WrittenLink, source: str) -> LinkValue:
    """With the display that the app's cache has: the target's, where none is written."""
    path, subpath = written.path.strip(), written.subpath.rstrip()
    display = written.display.strip() if written.display is not None else shown(path + subpath)
    return LinkValue(path, subpath, display, written.place == "embed", source)


def _backlinks(file: File, scope: Scope) -> Value:
    paths = scope.context.vault.backlinks(file.path)
    scope.context.budget.charge(LINK_UNITS * len(paths))
    return [LinkValue(path, display=basename(path), source=file.path) for path in paths]


FILE_FIELDS: Mapping[str, Callable[[File, Scope], Value]] = {
    "name": _name,
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
    """Whether a link of the file, embeds and properties included, leads to the target (BASE-62)."""
    context = scope.context
    if isinstance(target, str):
        target = read_wikilink(target.strip(), file.path) or LinkValue(*split_subpath(target.strip()), source=file.path)
    wanted = path_of(target, context)
    if wanted is not None:
        return wanted in context.vault.targets(file.path)
    if is_external(target):
        return False
    return any((link.path + link.subpath).strip() == target.target for link in context.vault.links(file.path))


def _has_tag(scope: Scope, file: File, *names: str) -> Value:
    own = scope.context.vault.tags(file.path)
    return any(covers(name, tag) for name in names for tag in own)


def _in_folder(_: Scope, file: File, folder: str) -> Value:
    path = folder.strip("/")
    return not path or file.folder == path or file.folder.startswith(path + "/")


def _as_link_of(scope: Scope, file: File, display: Value = None) -> Value:
    scope.context.budget.charge(LINK_UNITS)
    return LinkValue(file.path, display=None if display is None else text_of(display, scope.context), source=file.path)


FILES: Mapping[str, Method] = {
    "hasLink": Method(has_link, (Parameter("otherFile", (str, LinkValue, File)),)),
    "hasTag": Method(_has_tag, (Parameter("values", STRING, rest=True),)),
    "hasProperty": Method(
        lambda scope, file, name: file.path in scope.context.vault.column(name.lower()), (Parameter("name", STRING),)
    ),
    "inFolder": Method(_in_folder, (Parameter("folder", STRING),)),
    "asLink": Method(_as_link_of, (Parameter("display", optional=True),)),
}


def _links_to(scope: Scope, link: LinkValue, target: Value) -> Value:
    file = file_of(link, scope)
    return None if file is None else has_link(scope, file, target)


LINKS: Mapping[str, Method] = {
    "asFile": Method(lambda scope, link: file_of(link, scope)),
    "linksTo": Method(_links_to, (Parameter("file", (str, LinkValue, File)),)),
}


TAGS: Mapping[str, Method] = {
    "matches": Method(
        lambda _, tag, pattern: pattern.matches(tag) if isinstance(pattern, RegExpValue) else covers(pattern, tag),
        (Parameter("tag", PATTERN),),
    )
}
