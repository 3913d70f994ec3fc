"""The tools of contract 000's plugin under its own names, which only the HTTP server offers
(specs/http.md PLUGIN-…). Where the vault has such a tool, they call it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from obsidian_mcp.app import App
from obsidian_mcp.core.frontmatter import edits
from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.note import parser
from obsidian_mcp.core.note.edits import insert
from obsidian_mcp.core.note.elements import Heading
from obsidian_mcp.core.note.headings import heading_key
from obsidian_mcp.core.note.subpath import section_of
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import BOM, Lines, Span, hidden_text_warnings, to_printable
from obsidian_mcp.core.vault.rewritten import Rewritten
from obsidian_mcp.errors import (
    InvalidArguments,
    NoteNotFound,
    PropertiesUnreadable,
    SectionNotFound,
)
from obsidian_mcp.tools import registry
from obsidian_mcp.tools.arguments import Argument
from obsidian_mcp.tools.offer import CONFIRM, PREFIX
from obsidian_mcp.tools.outcome import DocumentAnswer, Outcome
from obsidian_mcp.tools.registry import tool

from . import patch as diff
from .table import PLUGIN_TOOLS

NotePath = Annotated[
    str,
    Argument(
        description="Path of the note, such as folder/note.md; .md may be left out", min_length=1
    ),
]
Keys = Annotated[list[str] | None, Argument(description="Names of properties")]

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*\r?$", re.MULTILINE)
HEADINGS_SHOWN = 12
"""Headings that the error for a missing one lists."""


@dataclass(frozen=True, slots=True)
class ReadSection:
    title: str
    level: int
    content: str
    start_line: int
    """1-based, in the text below the frontmatter."""
    end_line: int
    truncated: bool


@tool(among=PLUGIN_TOOLS, title="Read note")
def read_note(
    app: App,
    path: NotePath,
    section: Annotated[
        str | None, Argument(description="Only the section under this heading, not the whole note")
    ] = None,
    level: Annotated[
        int, Argument(description="Level of the heading; 0 for the first that matches", ge=0, le=6)
    ] = 0,
    mode: Annotated[
        Literal["header", "content", "both"], Argument(description="Which part of the section")
    ] = "both",
    include_subsections: Annotated[bool, Argument(description="Subsections too")] = True,
    max_chars: Annotated[
        int | None, Argument(description="Longest content of a section", ge=0)
    ] = None,
    with_line_numbers: Annotated[
        bool, Argument(description="Begin each line of a section with its number")
    ] = False,
) -> DocumentAnswer | ReadSection:
    """Read a note by path: the whole text exactly as it is in the file, or one section of it as
    JSON."""
    if section is not None and not section.strip():
        raise InvalidArguments(
            "section is required. For the whole note, leave it out.", argument="section"
        )
    vault = app.vaults.get()
    entry = vault.find(path)
    text = vault.read_text(entry).text
    hidden_text_warnings(text.body, entry.path, app.hidden_text_reads.add)
    if section is None:
        whole = (BOM if text.bom else "") + text.body
        return DocumentAnswer({}, to_printable(whole))
    body = text.body[text_start(text.body) :]
    parsed = parser.parse(body)
    heading = _heading(parsed, section.strip(), level)
    whole_span, lines = section_of(parsed, heading), parsed.lines
    below = min(body.find("\n", heading.span.end) + 1 or len(body), whole_span.end)
    end = whole_span.end
    if not include_subsections:
        inner = (
            other.span.start for other in parsed.outline if other.span.start > heading.span.start
        )
        end = min(end, next(inner, end))
    span = Span(
        below if mode == "content" else heading.span.start, below if mode == "header" else end
    )
    content = span.slice(body)
    if span.end < len(body):  # the last line end is not part of the section
        content = content.removesuffix("\n").removesuffix("\r")
    if with_line_numbers:
        first = lines.line(span.start) + 1
        content = "\n".join(f"{first + i}: {line}" for i, line in enumerate(content.split("\n")))
    truncated = max_chars is not None and max_chars < len(content)
    shown = content[:max_chars] if truncated else content
    first, last = heading.line + 1, _last_line(lines, whole_span, len(body))
    return ReadSection(
        heading.text, heading.level, shown, start_line=first, end_line=last, truncated=truncated
    )


def _heading(parsed: parser.Note, name: str, level: int) -> Heading:
    """Return the heading that a name means. Raises: SectionNotFound that lists the headings."""
    candidates = [heading for heading in parsed.outline if level in (0, heading.level)]
    exact = [heading for heading in candidates if heading.text == name]
    similar = [heading for heading in candidates if heading_key(heading.text) == heading_key(name)]
    if not (found := exact or similar):
        texts = [heading.text for heading in candidates]
        listed = name_first(texts, HEADINGS_SHOWN, write=repr)
        listing = f"The headings are: {listed}." if texts else "There is none."
        at_level = f" with level {level}" if level else ""
        raise SectionNotFound(
            f'Section "{name}"{at_level} not found. {listing}',
            section=name,
            headings=texts[:HEADINGS_SHOWN],
        )
    return found[0]


@tool(among=PLUGIN_TOOLS, title="Edit note", writes=True, destructive=True)
def edit_note(
    app: App,
    path: NotePath,
    patch: Annotated[
        str,
        Argument(
            description="Unified diff of the text below the frontmatter, whose first line is line "
            "1, such as '@@ -2,1 +2,2 @@\\n Today\\n+Tomorrow\\n'. Each line begins with a space "
            "(kept), - (removed) or + (added). File headers are optional; a plain @@ needs lines "
            "that stand only once. Nothing is applied that does not stand in the note exactly"
        ),
    ] = "",
    create: Annotated[bool, Argument(description="Create the note if there is none")] = False,
    delete: Annotated[bool, Argument(description="Delete the note; needs no patch")] = False,
) -> DocumentAnswer:
    """Apply a unified diff to the text of a note below its frontmatter, or delete the note."""
    if create and delete:
        raise InvalidArguments("create and delete cannot both be true.", argument="delete")
    if not patch.strip():
        if delete:
            deleted = _call(app, "delete_note", name=path).data
            return DocumentAnswer(deleted, f'Successfully deleted "{deleted["path"]}"')
        raise InvalidArguments("patch is required unless delete is true.", argument="patch")

    def change(body: str) -> str:
        below = text_start(body)
        patched = diff.apply(body[below:], diff.parse(patch))
        if patched == body[below:]:
            raise InvalidArguments(
                "The patch changes nothing. Make it from the note as it is now.", argument="patch"
            )
        # behind the closing fence of the properties
        if below == len(body) and not body.endswith("\n"):
            return insert(body, below, patched)
        return body[:below] + patched

    edited = _edit(app, "edit_note", path, change, create=create)
    if isinstance(edited, Rewritten):
        path = edited.after.entry.path
        return DocumentAnswer(
            {"path": path, "etag": edited.after.etag}, f'Successfully applied patch to "{path}"'
        )
    return DocumentAnswer(edited, f'Successfully created "{edited["path"]}"')


@dataclass(frozen=True, slots=True)
class ReadFrontmatter:
    path: str
    frontmatter: dict[str, Any]


@tool(among=PLUGIN_TOOLS, title="Read frontmatter")
def read_frontmatter(
    app: App,
    path: NotePath,
    keys: Keys = None,
    include_missing: Annotated[
        bool, Argument(description="Name missing keys too, with null")
    ] = False,
) -> ReadFrontmatter:
    """Read the properties (YAML frontmatter) of a note without its text."""
    vault = app.vaults.get()
    entry = vault.find(path)
    values = _properties(vault.read_text(entry).text.body)
    if keys is not None:
        values = {key: values.get(key) for key in keys if include_missing or key in values}
    return ReadFrontmatter(entry.path, values)


@dataclass(frozen=True, slots=True)
class EditedFrontmatter:
    ok: bool
    path: str
    mode: str
    changed: bool
    frontmatter: dict[str, Any]


@tool(among=PLUGIN_TOOLS, title="Edit frontmatter", writes=True, destructive=True)
def edit_frontmatter(
    app: App,
    path: NotePath,
    mode: Annotated[
        Literal["set", "merge", "delete"],
        Argument(description="merge also merges objects within objects"),
    ] = "set",
    data: Annotated[
        dict[str, Any] | None, Argument(description="Properties to set or merge")
    ] = None,
    keys: Keys = None,
    allow_create: Annotated[bool, Argument(description="Create the note if there is none")] = False,
) -> EditedFrontmatter:
    """Set, merge or delete properties (YAML frontmatter) of a note; its text stays untouched."""
    if mode == "delete" and not keys:
        raise InvalidArguments(
            "keys is required for delete: the properties to delete.", argument="keys"
        )
    if mode != "delete" and data is None:
        raise InvalidArguments(
            "data is required and must be an object for set/merge: the properties to write.",
            argument="data",
        )

    def change(body: str) -> str:
        if mode == "delete":
            for key in keys or ():
                body = edits.remove_property(body, key)
            return body
        before = _properties(body)
        for key, value in (data or {}).items():
            merged = _merge(before.get(key), value) if mode == "merge" else value
            body = edits.set_property(body, key, merged)
        return body

    edited = _edit(app, "edit_frontmatter", path, change, create=allow_create)
    if isinstance(edited, Rewritten):
        after, changed = edited.after, edited.before.etag != edited.after.etag
        return EditedFrontmatter(
            True, after.entry.path, mode, changed, _properties(after.text.body)
        )
    return EditedFrontmatter(True, edited["path"], mode, True, _properties(change("")))


def _merge(before: Any, value: Any) -> Any:
    """Return `value` merged into `before`: objects at every depth; everything else is replaced."""
    if isinstance(before, Mapping) and isinstance(value, Mapping):
        return {**before, **{key: _merge(before.get(key), inner) for key, inner in value.items()}}
    return value


@dataclass(frozen=True, slots=True)
class OutlineItem:
    heading: str
    level: int
    start_line: int
    """1-based, in the whole file."""
    end_line: int
    id: str


@dataclass(frozen=True, slots=True)
class NoteOutline:
    outline: list[OutlineItem]


@tool(among=PLUGIN_TOOLS, title="Note outline")
def get_note_outline(
    app: App,
    path: NotePath,
    max_depth: Annotated[int, Argument(description="Deepest level of headings", ge=1, le=6)] = 6,
    include_frontmatter: Annotated[
        bool, Argument(description="Lines like headings in the frontmatter too")
    ] = False,
    include_codeblocks: Annotated[
        bool, Argument(description="Lines like headings in code blocks too")
    ] = True,
) -> NoteOutline:
    """List the headings of a note with their levels and lines."""
    vault = app.vaults.get()
    body = vault.read_text(vault.find(path)).text.body
    parsed = parser.parse(body)
    alike = (
        [parsed.frontmatter.block.yaml_span]
        if include_frontmatter and parsed.frontmatter is not None
        else []
    )
    if include_codeblocks:
        alike += [area.span for area in parsed.areas if area.kind == "code" and area.block]
    found: list[tuple[int, str, int, Span | None]] = [
        (heading.span.start, heading.text, heading.level, section_of(parsed, heading))
        for heading in parsed.outline
    ]
    for span in alike:
        found += [
            (at.start(), at[2], len(at[1]), None)
            for at in _HEADING.finditer(body, span.start, span.end)
        ]
    items = []
    for start, text, level, section in sorted(found, key=lambda heading: heading[0]):
        line = parsed.lines.line(start) + 1
        last = line if section is None else _last_line(parsed.lines, section, len(body))
        if level <= max_depth:
            items.append(OutlineItem(text, level, line, last, _outline_id(f"{line}:{text}")))
    return NoteOutline(items)


def _outline_id(text: str) -> str:
    """Return the original's hash of a line number and heading: eight hexadecimal digits."""
    units = text.encode("utf-16-le", "surrogatepass")
    value = 5381
    for low, high in zip(units[::2], units[1::2], strict=True):
        value = (value * 33 ^ (high << 8 | low)) & 0xFFFFFFFF
    return f"{value:08x}"


@tool(among=PLUGIN_TOOLS, title="Create note", writes=True, destructive=True, idempotent=True)
def create_note(
    app: App,
    path: NotePath,
    content: Annotated[str, Argument(description="Markdown")] = "",
    overwrite: Annotated[bool, Argument(description="Replace an existing note")] = False,
) -> dict[str, Any]:
    """Create a note; missing folders are made."""
    return _call(app, "create_note", name=path, content=content, overwrite=overwrite).data


@tool(among=PLUGIN_TOOLS, title="Search notes")
def search_notes(
    app: App,
    query: Annotated[str, Argument(description="Obsidian's search syntax", min_length=1)],
    limit: Annotated[int, Argument(ge=1, le=500)] = 20,
) -> dict[str, Any]:
    """Find notes, best first. All words must occur somewhere in the note or its path."""
    return _call(app, "search", query=query, limit=limit).data


def _call(app: App, tool_name: str, /, **arguments: Any) -> Outcome:
    """Return another tool's answer; a person's confirmation of this call counts for that one."""
    confirmed = {CONFIRM: True} if current_call.get().has_consent else {}
    return registry.call(app, PREFIX + tool_name, {**arguments, **confirmed})


def _edit(
    app: App, tool: str, path: str, change: Callable[[str], str], *, create: bool
) -> Rewritten | dict[str, Any]:
    """Return the edited note, or what `create_note` answers for one that was not there when it was
    opened (PLUGIN-07). Raises: NoteNotFound for such a note without `create`."""
    vault = app.vaults.get()
    try:
        return vault.edit(tool, vault.find(path), change)
    except NoteNotFound:
        if not create:
            raise
    return _call(app, "create_note", name=path, content=change("")).data


def _properties(body: str) -> dict[str, Any]:
    """Return a note's properties. Raises: PropertiesUnreadable."""
    read = frontmatter.read_frontmatter(body)
    if read is not None and read.error:
        raise PropertiesUnreadable(
            f"The note's properties cannot be read: {read.error}", line=read.line
        )
    return dict(read.values or {}) if read is not None else {}


def _last_line(lines: Lines, span: Span, length: int) -> int:
    """Return the number of a section's last line; at the end of the note that is the line after the
    last line end."""
    return lines.line(span.end) + (1 if span.end == length else 0)
