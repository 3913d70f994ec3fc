"""Plan to put a note into another one and remove it; links follow (COMPOSE-1)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from obsidian_mcp.core.files.file_entry import FileContent, FileEntry
from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.frontmatter.edits import merge_properties
from obsidian_mcp.core.links.rewrite import order_edits
from obsidian_mcp.core.note import footnotes, parser
from obsidian_mcp.core.note.edits import Edit, End, apply
from obsidian_mcp.core.note.emptied_sections import remove_emptied_sections
from obsidian_mcp.core.note.headings import heading_key
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.core.text.vault_path import (
    VaultPath,
    basename,
)
from obsidian_mcp.core.vault.operation import removal
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.rewritten import Rewritten, rewritten
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import (
    InvalidArguments,
    PropertiesUnreadable,
)

from .composer import check_are_notes, fill_composer_template
from .joined_text import find_inserted, join
from .mistaken_links import warn_of_mistaken_links
from .referrers import linked_headings, rewrite_links
from .stale_names import lost_bookmarks

_KINDS = frozenset(("paragraph", "code", "callout", "blockquote", "table", "math"))
_ITEM = re.compile(r"^\S.*\n?(?:[ \t]+\S.*\n?|[ \t\r]*\n(?=[ \t]))*", re.MULTILINE)
"""An item of a list with what is indented below it."""
_BLANKS = re.compile(r"(?:[ \t]*\r?\n)*")


def merge(
    vault: Vault, source: FileEntry, target: FileEntry, position: End = "append"
) -> PlannedChange:
    """Plan to put a note into another one, and to remove it (COMPOSE-1).

    Links to it lead to the other note. Raises: InvalidArguments for a note into itself, NotText,
    PropertiesUnreadable.
    """
    if source.path == target.path:
        raise InvalidArguments("A note cannot be merged into itself.", argument="into")
    check_are_notes(source, target)
    rewriting = rewrite_links(vault, {source.path: target.path})
    # A file is read once: the change expects the bytes that it was made from, not those of a later
    # look.
    files = {file.path: file for file in rewriting.rewritten}
    leaving, own = _read_rewritten(vault, source, files.get(source.path))
    before, there = _read_rewritten(vault, target, files.get(target.path))
    read = frontmatter.read_frontmatter(own)
    fault = frontmatter.find_fault(own)
    if fault is not None:
        raise PropertiesUnreadable(
            f"{str(source.path)!r} cannot be merged. {fault.message} Nothing was written."
        )
    text, left_out = _new_text(vault, source.path, target.path, own, there)
    text = fill_composer_template(vault, text, source.path, target.path)
    body = join(there, text, position)
    if read is not None and read.values:
        body = merge_properties(body, read.values)
    merged = rewritten(before, body)
    warnings = warn_of_mistaken_links(
        vault,
        source.path,
        target.path,
        merged=body,
        moved=find_inserted(body, before.text.body, text, position),
    )
    further_files = tuple(
        file for file in rewriting.rewritten if file.path not in (source.path, target.path)
    )
    removed = replace(removal(source.disk, vault.settings.trash_option), before=leaving.data)
    remarks = tuple(dict.fromkeys((*rewriting.warnings, *vault.settings.warnings, *warnings)))
    remarks += tuple(lost_bookmarks(vault, {source.path}))
    if left_out:
        parts = f"{left_out} of its headings, paragraphs and items"
        remarks += (f"Left out, because {str(target.path)!r} has it: {parts}.",)
    return PlannedChange(
        (merged, *further_files),
        (removed,),
        remarks,
        rewriting.reformed,
        source.path,
        target.path,
    )


def _read_rewritten(
    vault: Vault, entry: FileEntry, file: Rewritten | None
) -> tuple[FileContent, str]:
    """Return a note as it is, and its text with rewritten links, where it has some."""
    if file is not None:
        return file.before, file.after.text.body
    content = vault.read_text(entry)
    return content, content.text.body


def _new_text(
    vault: Vault, source: VaultPath, target: VaultPath, own: str, there: str
) -> tuple[str, int]:
    """Return the text of the note `source` that the text `there` of the other one lacks, and how
    many parts are left out."""
    text = footnotes.rename_clashing_ids(own[text_start(own) :].strip("\r\n"), there)
    has_linked_parts = any(link.link.subpath for link in vault.graph.backlinks(source).value)
    names_of_both = () if has_linked_parts else (basename(source), basename(target))
    linked = linked_headings(vault, source, parser.parse(own))
    return _without_repeats(text, there, names_of_both, linked)


def _without_repeats(
    text: str, there: str, names: Collection[str], linked: frozenset[str]
) -> tuple[str, int]:
    """Return a text without the blocks and items that a note has to the word, and without headings
    that say one of some names or have no text any more, unless links need them; and how many were
    left out. `linked`: the keys of headings to which links lead."""
    other = parser.parse(there)
    present = {_words(there, span) for span in _pieces(other)}
    only_here = linked.difference(heading_key(heading.text) for heading in other.outline)
    note = parser.parse(text)
    repeated = [span for span in _pieces(note) if _words(text, span) in present]
    repeated += [heading.span for heading in note.outline if heading.text.strip() in names]
    cut = [Edit(_with_blanks(text, span), "") for span in repeated]
    emptied = remove_emptied_sections(
        text, cut, lambda heading: heading_key(heading.text) in only_here
    )
    return apply(text, order_edits(emptied.edits)), len(cut) + len(emptied.removed)


def _with_blanks(text: str, span: Span) -> Span:
    blanks = _BLANKS.match(text, span.end)
    return Span(span.start, blanks.end() if blanks else span.end)


def _pieces(note: parser.Note) -> Iterator[Span]:
    for section in note.sections:
        if section.kind == "list":
            for item in _ITEM.finditer(note.body, section.span.start, section.span.end):
                yield Span(item.start(), item.end())
        elif section.kind in _KINDS:
            yield section.span


def _words(body: str, span: Span) -> str:
    return "\n".join(line.rstrip() for line in span.slice(body).strip().split("\n"))
