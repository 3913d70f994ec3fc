"""The app's bookmarks, listed and changed in their file (specs/bookmarks.md)."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.json_list import JsonItem, ListLayout, layout_of, rewrite_list
from obsidian_mcp.core.text.json_text import JsonNode, Unreadable, parse, put
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.typed_text import typed_key
from obsidian_mcp.errors import AmbiguousName, InvalidArguments, NoteNotFound

from .policy import Policy
from .ports import Files
from .settings import BOOKMARKS_FILE, SETTINGS_FOLDER
from .spellings import normal_form

_TARGETS = {"file": "path", "folder": "path", "search": "query", "url": "url"}
_ENDINGS = {"file": "", "folder": "/"}
"""What the policy's patterns expect behind the path of a bookmark."""
PATH = f"{SETTINGS_FOLDER}/{BOOKMARKS_FILE}"
SHOWN = 10


class Bookmark(NamedTuple):
    """One bookmark. `target` is a path with its subpath, a query or an address; empty for other
    kinds."""

    kind: str
    target: str
    title: str = ""
    group: str = ""
    """Titles of the groups that it is in, joined by `/`."""

    def is_of(self, files: Container[str], folder: str | None) -> bool:
        """Return whether it names one of these files, or the folder or one in it."""
        path = normal_form(self.target.partition("#")[0])
        if self.kind == "folder":
            return folder is not None and f"{path}/".startswith(f"{folder}/")
        return self.kind == "file" and path in files


def read_bookmarks(body: str | None) -> list[Bookmark]:
    """Return the bookmarks in order, those of a group in its place. Raises: InvalidArguments for a
    broken file."""
    return [bookmark for bookmark, _, _ in _walk(_items(_root(body)))]


def body_of(data: bytes | None) -> str | None:
    """Return the text of the file of the bookmarks, which many vaults do not have."""
    return None if data is None else Text.decode(data).body


def read_visible_bookmarks(data: bytes | None, policy: Policy) -> list[Bookmark]:
    """Return the bookmarks in the file without those of hidden files and folders (POL-01); where
    the policy hides that file, without groups and those that name no file (POL-10). Raises:
    InvalidArguments for a broken file."""
    visible_bookmarks = [
        bookmark for bookmark in read_bookmarks(body_of(data)) if _is_visible(bookmark, policy)
    ]
    return (
        visible_bookmarks
        if policy.is_visible(PATH)
        else [bookmark._replace(group="") for bookmark in visible_bookmarks]
    )


def bookmarked_files(files: Files) -> frozenset[str]:
    """Return the paths of the files among a vault's bookmarks; none where the file of the bookmarks
    is broken."""
    with suppress(InvalidArguments):
        walked = _walk(_items(_root(body_of(files.config(BOOKMARKS_FILE)))))
        return frozenset(
            _text(node, "path") for bookmark, node, _ in walked if bookmark.kind == "file"
        )
    return frozenset()


def _is_visible(bookmark: Bookmark, policy: Policy) -> bool:
    if bookmark.kind not in _ENDINGS:
        return policy.is_visible(PATH)
    return policy.is_visible(
        normal_form(bookmark.target.partition("#")[0].rstrip("/")) + _ENDINGS[bookmark.kind]
    )


def add(body: str | None, bookmark: Bookmark, created_ms: int) -> str:
    """Return the file with a bookmark more, last in the list or its group, made if missing; a
    bookmark of the same target gets the title instead. Raises: InvalidArguments."""
    root = _root(body)
    items = _items(root)
    for existing, node, _ in _walk(items):
        if (existing.kind, existing.target) == (bookmark.kind, bookmark.target):
            return _set_title(body or "", node, bookmark.title)
    kind = bookmark.kind
    path, mark, subpath = (
        bookmark.target.partition("#") if kind == "file" else (bookmark.target, "", "")
    )
    values: dict[str, Any] = {"type": kind, "ctime": created_ms, _TARGETS[kind]: path}
    if mark:
        values["subpath"] = f"#{subpath}"
    if bookmark.title:
        values["title"] = bookmark.title
    if bookmark.group:
        inside = _items(_group(items, bookmark.group))
        if inside is not None:
            return _with_item(body or "", inside, values)
        values = {"type": "group", "ctime": created_ms, "items": [values], "title": bookmark.group}
    if items is None:
        return put(body or "", ["items"], [values]).rstrip("\n")
    return _with_item(body or "", items, values)


def remove(body: str | None, name: str, policy: Policy) -> tuple[str, Bookmark]:
    """Return the file without the bookmark of a target or title that the policy shows, and it.

    Raises: NoteNotFound, AmbiguousName."""
    sought = typed_key(name)
    matches = [
        (bookmark, node, array)
        for bookmark, node, array in _walk(_items(_root(body)))
        if sought in (typed_key(bookmark.target), typed_key(bookmark.title))
        and _is_visible(bookmark, policy)
    ]
    if not matches:
        raise NoteNotFound(
            f"There is no bookmark {name!r}. obsidian_list_bookmarks lists them.", name=name
        )
    if len(matches) > 1:
        described = [
            f"{bookmark.kind} {bookmark.target} {bookmark.title}".strip()
            for bookmark, _, _ in matches
        ]
        raise AmbiguousName(
            f"{len(matches)} bookmarks are {name!r}: {name_first(described, SHOWN, write=repr)}. "
            "Give the target or title of one.",
            candidates=described[:SHOWN],
        )
    bookmark, node, array = matches[0]
    remaining = [JsonItem(item.value, item) for item in array.items if item is not node]
    return _with_items(body or "", array, remaining), bookmark


def _root(body: str | None) -> JsonNode | None:
    if body is None or not body.strip():
        return None
    try:
        root = parse(body).root
    except Unreadable as error:
        raise InvalidArguments(
            f"The bookmarks of the vault cannot be read: {BOOKMARKS_FILE}, line "
            f"{body.count(chr(10), 0, error.offset) + 1}: {error.problem}. Nothing was changed."
        ) from error
    if not isinstance(root.value, dict):
        raise InvalidArguments(
            f"The bookmarks of the vault cannot be read: {BOOKMARKS_FILE} is no JSON object."
        )
    return root


def _items(root: JsonNode | None) -> JsonNode | None:
    """Return the array of bookmarks in the file or in a group."""
    member = root.member("items") if root is not None else None
    return member.node if member is not None and isinstance(member.node.value, list) else None


def _walk(
    array: JsonNode | None, groups: tuple[str, ...] = ()
) -> Iterator[tuple[Bookmark, JsonNode, JsonNode]]:
    """Yield every bookmark that is no group, with its node and the array that holds it."""
    if array is None:
        return
    for node in check_each(array.items):
        if not isinstance(node.value, dict):
            continue
        kind, title = _text(node, "type"), _text(node, "title")
        if kind == "group":
            yield from _walk(_items(node), (*groups, title))
        else:
            keys = ("path", "subpath") if kind == "file" else ("path", "query", "url")
            yield (
                Bookmark(kind, "".join(_text(node, key) for key in keys), title, "/".join(groups)),
                node,
                array,
            )


def _group(array: JsonNode | None, name: str) -> JsonNode | None:
    """Return the group of a title, at any depth."""
    for node in array.items if array is not None else ():
        if isinstance(node.value, dict) and _text(node, "type") == "group":
            if typed_key(_text(node, "title")) == typed_key(name):
                return node
            if (inner := _group(_items(node), name)) is not None:
                return inner
    return None


def _text(node: JsonNode, key: str) -> str:
    value = node.value.get(key)
    return value if isinstance(value, str) else ""


def _with_item(text: str, array: JsonNode, values: Mapping[str, Any]) -> str:
    return _with_items(
        text, array, [*(JsonItem(item.value, item) for item in array.items), JsonItem(values)]
    )


def _with_items(text: str, array: JsonNode, items: Sequence[JsonItem]) -> str:
    return (
        text[: array.start]
        + rewrite_list(text, array, items, _layout(text, array))
        + text[array.end :]
    )


def _set_title(text: str, node: JsonNode, title: str) -> str:
    if not title or _text(node, "title") == title:
        return text
    array = JsonNode(node.start, node.end, [node.value], items=(node,))
    written = rewrite_list(
        text, array, [JsonItem({**node.value, "title": title}, node)], _layout(text, array)
    )
    return text[: node.start] + written[1:-1] + text[node.end :]


def _layout(text: str, array: JsonNode) -> ListLayout:
    line = text[text.rfind("\n", 0, array.start) + 1 : array.start]
    outer = line[: len(line) - len(line.lstrip(" \t"))]
    inner, members = f"\n{outer}  ", f"\n{outer}    "
    usual = ListLayout(inner, f",{inner}", f"\n{outer}", members, f",{members}", ": ", inner)
    return layout_of(text, array, usual)
