"""What to try where a search finds nothing (SEARCH-99)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from obsidian_mcp.core.query import parser
from obsidian_mcp.core.query.nodes import OPERATORS, Word, property_names, walk
from obsidian_mcp.core.text.analysis import fold
from obsidian_mcp.core.text.nearness import nearest_texts
from obsidian_mcp.core.vault.vault import Vault

NEAR_SHOWN = 3
"""Names that are near one that no property has."""
LIKENESS = 0.75
"""From which an operator was meant by another name, between 0 and 1."""
_name_and_value = re.compile(r"([a-z][a-z_-]+):(?!//)(.*)", re.IGNORECASE).fullmatch
_OTHER_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("folder", "dir", "directory", "in", "parent", "location"), "path"),
    **dict.fromkeys(("name", "filename", "basename", "title", "note", "ext", "extension"), "file"),
    **dict.fromkeys(("body", "text", "intext"), "content"),
    **dict.fromkeys(("heading", "header"), "section"),
    **dict.fromkeys(("paragraph", "para"), "block"),
    **dict.fromkeys(("todo", "open"), "task-todo"),
    "done": "task-done",
    "hashtag": "tag",
}
"""Operators of other programs, and arguments of the tools."""
_TIMES = "the arguments modified_after and modified_before do that"
_BROKEN = "obsidian_get_links without a name lists broken links"
_LINKS = "obsidian_get_links does that"
_ORPHANS = "obsidian_graph or obsidian_check lists them"
_ATTACHMENTS = "obsidian_attachments lists what a note embeds"
_OTHER_WAYS: Mapping[str, str] = {
    **dict.fromkeys(("created", "modified", "updated", "changed", "mtime", "ctime"), _TIMES),
    **dict.fromkeys(("before", "after", "since", "until", "newer", "older", "date"), _TIMES),
    **dict.fromkeys(("link", "links", "linksto", "to", "from", "backlink", "backlinks"), _LINKS),
    **dict.fromkeys(("outgoing", "incoming", "mentions", "linkedfrom"), _LINKS),
    **dict.fromkeys(("sort", "order", "orderby", "group", "groupby", "limit"), "an argument does"),
    **dict.fromkeys(("alias", "aliases"), "[aliases:…] does that"),
    "due": "obsidian_list_tasks has due",
    "similar": "obsidian_similar does that",
    "is:unresolved": _BROKEN,
    "is:broken": _BROKEN,
    "has:broken": _BROKEN,
    "is:orphan": _ORPHANS,
    "is:orphaned": _ORPHANS,
    "is:unlinked": _ORPHANS,
    "is:empty": "obsidian_check lists stubs",
    "is:duplicate": "obsidian_check lists near duplicates",
    **dict.fromkeys(("is:bookmarked", "is:starred"), "obsidian_list_bookmarks lists them"),
    **dict.fromkeys(("is:task", "has:task", "has:tasks", "type:task"), 'task:"" finds them'),
    **dict.fromkeys(("is:todo", "is:open", "is:incomplete", "is:pending"), 'task-todo:"" is meant'),
    **dict.fromkeys(("is:done", "is:completed", "is:complete"), 'task-done:"" is meant'),
    **dict.fromkeys(("has:link", "has:links", "has:backlinks"), _LINKS),
    **dict.fromkeys(("has:attachment", "has:attachments", "has:image"), _ATTACHMENTS),
    **dict.fromkeys(("has:images", "has:embed", "has:pdf"), _ATTACHMENTS),
    **dict.fromkeys(("has:tag", "has:tags"), "obsidian_tags lists tags, and notes of one"),
    **dict.fromkeys(("is:note", "type:note", "type:md"), "obsidian_list_files has extension"),
    **dict.fromkeys(("is:recent", "is:new"), _TIMES),
}
"""What does what people expect of operators that Obsidian lacks: by name, or by name and value."""
_KINDS_OF_FILES = ("canvas", "base", "pdf", "png", "jpg", "jpeg", "svg", "mp3", "mp4", "image")


def advise(vault: Vault, query: str, *, finds_nothing: bool = True) -> str:
    """Return what is likely wrong with a query; "" for nothing.

    These are names that no operator or, where it finds nothing, no property has. Of a query that
    finds its words as text, only those operators are named that other programs have. Nothing is
    said of properties while the index is not complete: another note may have them.
    """
    node = parser.parse(query)
    words = [part.text for part in walk(node) if isinstance(part, Word)]
    operators = dict.fromkeys(match.groups() for word in words if (match := _name_and_value(word)))
    if not finds_nothing:
        operators = {
            (name, value): None for name, value in operators if value and _other_way(name, value)
        }
    properties = dict.fromkeys(property_names(node) if finds_nothing else ())
    if not operators and not properties:
        return ""
    used = vault.graph.properties()  # of all notes: 5 µs a note
    names_by_key = {fold(use.name): use.name for use in used.value}
    remarks = [*_name_unknown_operators(operators, names_by_key)]
    return " ".join(
        remarks
        if used.freshness.pending
        else [*remarks, *_name_unknown_properties(properties, names_by_key)]
    )


def _other_way(name: str, value: str) -> str:
    """Return what does what an operator of other programs does; empty for none."""
    key, value_key = name.lower(), value.strip('"').lower()
    if key == "type" and value_key in _KINDS_OF_FILES:
        return f"file:.{value_key} is meant"
    if way := _OTHER_WAYS.get(f"{key}:{value_key}") or _OTHER_WAYS.get(key, ""):
        return way
    if key == "has":
        return f"[{value}] finds notes with the property"
    if key == "is":
        return f"[{value}:true] finds a property, task-todo: and task-done: find tasks"
    return f"[{name}:{value}] finds a property" if key == "type" else ""


def _name_unknown_operators(
    operators: Iterable[Sequence[str]], names_by_key: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence for each operator that there is not, with what was meant."""
    for name, value in operators:
        if fold(name) not in names_by_key and (way := _other_way(name, value)):
            yield f"There is no operator {name}:; {way}."
            continue
        near = get_close_matches(name.lower(), OPERATORS, 1, LIKENESS)
        meant = _OTHER_NAMES.get(name.lower()) or next(iter(near), "")
        instead = (
            f"[{names_by_key[fold(name)]}:{value or '…'}]"
            if fold(name) in names_by_key
            else f"{meant}:"
            if meant
            else ""
        )
        yield f"There is no operator {name}:; " + (
            f"{instead} is meant." if instead else "it is searched for as text."
        )


def _name_unknown_properties(
    properties: Iterable[str], names_by_key: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence with the properties that no note has, and the nearest names."""
    unknown = [name for name in properties if fold(name) not in names_by_key]
    if unknown:
        near = [
            names_by_key[name]
            for unknown_name in unknown
            for name in nearest_texts(fold(unknown_name), names_by_key, NEAR_SHOWN)
        ]
        advice = (
            f"Did you mean {' or '.join(map(repr, near))}?"
            if near
            else "obsidian_get_properties lists all names."
        )
        yield f"No note has the property {' or '.join(map(repr, unknown))}. {advice}"
