"""Change a part of a note in place, and nothing else of it.

An assistant that wrote the whole note anew would change bytes that nobody asked it to change. So an
edit names what it changes (an exact text, a section, a block, an end of the note), is refused where
that is not there once, and warns of what its author may not have meant, such as a heading that an
open code block swallows (specs/edits.md).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Literal

from obsidian_mcp.app import App
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.note import edits, parser, sections
from obsidian_mcp.core.note.headings import heading_key
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import check_growth
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.rewritten import stale_etag_error
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments

from .arguments import Argument, DryRun, Etag, Name, VaultName
from .paging import FILES_SHOWN, first_of, shown_diff
from .registry import tool

EditOperation = Literal[
    "append", "prepend", "replace_text", "replace_section", "append_section", "prepend_section",
    "add_after_section", "remove_section", "rename_heading",
]  # fmt: skip

_OPENING = re.compile(r"^[ \t]*(?:```|~~~|%%|\$\$|<)", re.MULTILINE)
"""What begins a block that goes on until it is ended."""


@dataclass(frozen=True, slots=True)
class EditedNote:
    path: str
    changed: bool
    etag: str
    diff: str | None = None
    """What would change; only with dry_run."""
    updated: list[str] | None = None
    """The first notes and canvases whose links to a renamed heading were rewritten."""
    more_updated: int | None = None
    warnings: list[str] | None = None
    merged: bool | None = None
    """True where the note had changed since the etag and both changes were kept."""


@tool(title="Edit note", writes=True, destructive=True)
def edit_note(
    app: App,
    name: Name,
    operation: Annotated[EditOperation, Argument(description="append adds no blank line")],
    content: Annotated[str | None, Argument(description="New text or heading")] = None,
    find: Annotated[str, Argument(description="replace_text: exact text, there once")] = "",
    section: Annotated[str, Argument(description="Heading, Parent#Child or ^block")] = "",
    # contract 000 names the argument so
    all: Annotated[bool, Argument(description="replace_text: everywhere")] = False,  # noqa: A002
    dry_run: DryRun = False,
    etag: Etag = "",
    vault: VaultName = "",
) -> EditedNote:
    """Change part of a note (add a line, fix a paragraph). prepend: after the frontmatter.
    *_section: below a heading, which only remove_section removes."""
    opened = app.vaults.get(vault)
    content = _check_content(operation, content, find, section)
    entry = opened.find(name)
    if operation == "rename_heading":
        return _rename_heading(opened, entry, section, content, dry_run=dry_run, etag=etag)

    def change(body: str) -> str:
        if operation == "replace_text":
            return edits.replace_text(body, find, content, every=all)
        if operation == "replace_section":
            located = sections.locate(body, section)
            return edits.replace_span(
                body, located.content, sections.without_heading(body, located, content)
            )
        if operation == "remove_section":
            return edits.remove_part(body, sections.locate(body, section).whole)
        if operation == "add_after_section":
            check_growth(body, content)
            return edits.insert_part(body, sections.locate(body, section).whole.end, content)
        return edits.insert_text(
            body, content, "prepend" if operation.startswith("prepend") else "append", section
        )

    edited = opened.edit("edit_note", entry, change, etag, dry_run=dry_run)
    before, after = edited.before.text.body, edited.after.text.body
    warnings = _warnings(operation, before, after, section, content) if section else []
    if operation.startswith(("append", "prepend", "add")) and _OPENING.search(content):
        warnings += _warn_of_swallowed_headings(before, after)
    changed = edited.before.etag != edited.after.etag
    etag = edited.before.etag if dry_run else edited.after.etag
    diff = shown_diff([edited.diff]) if dry_run else None
    return EditedNote(
        entry.path, changed, etag, diff, warnings=warnings or None, merged=edited.merged or None
    )


def _warnings(
    operation: EditOperation, before: str, after: str, heading: str, content: str
) -> list[str]:
    """Return what the author of an edit may not have meant: that the first of several headings of
    one name was taken, that a block has lost its id, or a section its headings."""
    block = heading.rpartition("#")[2].strip()
    if block.startswith(("^", "[^")):
        lost = f"The new text has no {block}: links to it lead nowhere now. Add it to keep them."
        return [] if operation == "remove_section" or sections.has(after, block) else [lost]
    lines = sections.lines_of_equal(before, heading)
    several = (
        f"{len(lines)} headings are called {heading!r} (lines {edits.list_line_numbers(lines)}); "
        "the first was meant. Name another one with a heading above it: Parent#Child."
    )
    warnings = [several] if len(lines) > 1 else []
    below = (
        sections.headings_below(before, heading)
        if operation in ("append_section", "replace_section")
        else []
    )
    if below and operation == "append_section":
        warnings.append(
            f"The section ends with the heading {below[-1]!r}: the text stands below that. "
            f"prepend_section puts it right below {heading!r}."
        )
    if operation == "replace_section":
        headings_after = {
            heading_key(heading_after.text) for heading_after in parser.parse(after).outline
        }
        if gone := [text for text in below if heading_key(text) not in headings_after]:
            named = name_first(gone, sections.SHOWN, write=repr)
            warnings.append(f"Headings that were in the section are gone: {named}.")
        if sections.without_heading(before, sections.locate(before, heading), content) != content:
            warnings.append(
                "The text began with the heading, which stays: it is there once. Leave it out of "
                "content."
            )
    return warnings


def _warn_of_swallowed_headings(before: str, after: str) -> list[str]:
    """Return a warning where headings are no headings any more, because added text leaves a code
    block or comment open."""
    headings_after = Counter(heading.text for heading in parser.parse(after).headings)
    gone = list(Counter(heading.text for heading in parser.parse(before).headings) - headings_after)
    named = name_first(gone, sections.SHOWN, write=repr)
    return (
        [f"These are no headings now: {named}. Does content end its code blocks and comments?"]
        if gone
        else []
    )


def _rename_heading(
    vault: Vault, entry: FileEntry, heading: str, text: str, *, dry_run: bool, etag: str
) -> EditedNote:
    from obsidian_mcp.core.operations import bulk  # the other edits do without eight modules
    from obsidian_mcp.core.operations.rename_part import rename_heading

    def plan() -> PlannedChange:
        before = vault.read_note(entry)
        if etag and etag != before.etag:
            raise stale_etag_error(before, etag, "Read it again and repeat the edit.")
        return rename_heading(vault, entry, heading, text)

    planned = bulk.make(vault, "edit_note", plan, dry_run=dry_run)
    further_paths = [str(file.path) for file in planned.rewritten if file.path != entry.path]
    updated, more_updated = first_of(further_paths, FILES_SHOWN)
    etag = vault.read_text(entry).etag
    diff = shown_diff(planned.diffs()) if dry_run else None
    warnings = list(planned.warnings) or None
    return EditedNote(
        entry.path, bool(planned.rewritten), etag, diff, updated or None, more_updated, warnings
    )


def _check_content(operation: EditOperation, content: str | None, find: str, section: str) -> str:
    """Return the content. Raises: InvalidArguments for an argument that the operation needs or
    cannot use."""
    if content and operation == "remove_section":
        raise InvalidArguments(
            "remove_section takes no `content`; replace_section does.", argument="content"
        )
    if not content and operation.startswith(("append", "prepend", "add")):
        raise InvalidArguments(f"{operation} needs `content`: the text to add.", argument="content")
    if content is None and operation.startswith("replace"):
        raise InvalidArguments(
            f"{operation} needs `content`: the new text, empty to delete.", argument="content"
        )
    if operation == "replace_text" and not find:
        raise InvalidArguments(
            "replace_text needs `find`: the exact text to replace.", argument="find"
        )
    if operation.endswith(("_section", "_heading")) and not section:
        raise InvalidArguments(
            f"{operation} needs `section`: the heading or ^block to work on.", argument="section"
        )
    if find and operation != "replace_text":
        raise InvalidArguments(
            f"`find` is for replace_text only, not for {operation}.", argument="find"
        )
    if section and not operation.endswith(("_section", "_heading")):
        meant = f" Did you mean {operation}_section?" if operation in ("append", "prepend") else ""
        problem = f"`section` is for the section operations, not for {operation}.{meant}"
        raise InvalidArguments(problem, argument="section")
    return content or ""
