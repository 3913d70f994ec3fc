"""Renames a tag in every note, property and canvas card (specs/tags.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from obsidian_mcp.core.files.file_entry import FileContent
from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.frontmatter.edits import replace_tag
from obsidian_mcp.core.note import canvas, parser
from obsidian_mcp.core.note.edits import Edit, apply
from obsidian_mcp.core.note.query_blocks import LANGUAGES, query_blocks
from obsidian_mcp.core.query.parser import quote_phrase
from obsidian_mcp.core.search.hits import Request
from obsidian_mcp.core.text.call import checkpoint, report_progress
from obsidian_mcp.core.text.tags import covers, key, part
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.core.text.vault_path import VaultPath, extension, is_note
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.rewritten import Rewritten
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError, InvalidName

from . import bulk
from .queries import inline_prefix
from .referrers import list_places

_NOT_IN_A_TAG = re.compile(r"[\s\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]")
_WORD = re.compile(r"[^\s\"'`,:;!=<>&|()\[\]{}]+")
MOST_QUERY_NOTES = 2_000
"""Notes that may have a query with the tag, and are read."""


def rename(vault: Vault, tag: str, to: str, *, dry_run: bool) -> PlannedChange:
    """Rename a tag as one change, or with `dry_run` plan it; warnings say what keeps the old one.
    Raises: InvalidArguments."""
    old, new = _check_name(tag), _check_name(to)
    renamed = bulk.make(vault, "rename_tag", partial(_plan, vault, old, new), dry_run=dry_run)
    if queries := list(_queries_with(vault, old)):
        warning = f"Queries are not changed, and these seem to name #{old}: {list_places(queries)}."
        return replace(renamed, warnings=(*renamed.warnings, warning))
    return renamed


def _plan(vault: Vault, old: str, new: str) -> PlannedChange:
    renamed, binary = [], []
    files = vault.graph.files_tagged(old)
    for count, path in enumerate(files):
        report_progress(count, len(files), "Renaming the tag")
        content = _content(vault, path)
        if content is not None and not content.is_text:
            binary.append(path)
        elif content is not None:
            body = content.text.body
            rename = rename_in_note if is_note(path) else rename_in_canvas
            after = rename(body, old, new)
            if after != body:
                renamed.append(Rewritten(content, content.with_body(after)))
    broken = [
        path
        for path in vault.graph.warnings().value
        if is_note(path) and _may_name(vault, path, old)
    ]
    reason = (
        "The frontmatter is broken and seems to name the tag, which stays there; repair it and "
        "rename again"
    )
    warnings = [f"{reason}: {list_places(broken)}."] if broken else []
    if binary:
        warnings.append(f"Files that are not text keep the tag: {list_places(binary)}.")
    if large := vault.indexer.pending.too_large:
        warnings.append(
            "Files that are too large to be read keep the tag where they have it: "
            f"{list_places(large)}."
        )
    if not files and not broken:
        warnings = [f"Nothing has the tag #{old}. obsidian_tags lists the tags that there are."]
    return PlannedChange(tuple(renamed), warnings=tuple(warnings))


def _content(vault: Vault, path: VaultPath) -> FileContent | None:
    """Return the content of a file; None for one that is gone or too large to be read."""
    entry = vault.catalog.get(path)
    return None if entry is None or entry.is_too_large else vault.read_content(entry)


def _may_name(vault: Vault, path: VaultPath, tag: str) -> bool:
    """Return whether a note has broken frontmatter with the tag, or one nested below it, among its
    words."""
    content = _content(vault, path)
    body = content.text.body if content is not None and content.is_text else ""
    block = frontmatter.read_frontmatter(body)
    if block is None or not block.error:
        return False
    return any(covers(tag, word) for word in _WORD.findall(block.block.yaml_span.slice(body)))


def _queries_with(vault: Vault, tag: str) -> Iterator[str]:
    """Yield the lines of bases, and of queries in notes, that seem to name a tag or one nested
    below it (TAG-32)."""
    prefix = inline_prefix(vault)
    starts = [f"{fence}{word}" for fence in ("```", "~~~") for word in LANGUAGES]
    starts += [f"`{blank}{mark}" for blank in ("", " ") for mark in (prefix, "$=")]
    query = f'content:"{tag}" content:({" OR ".join(map(quote_phrase, starts))})'
    hits = vault.search.find(
        Request(query, "exact", limit=MOST_QUERY_NOTES, snippets=0, characters=1 << 40)
    )
    notes = sorted(hit.path for hit in hits.hits if is_note(hit.path))
    for path in (
        *(entry.path for entry in vault.entries() if extension(entry.path) == ".base"),
        *notes,
    ):
        checkpoint()
        entry = vault.catalog.get(path)
        try:
            body = vault.read_text(entry).text.body if entry is not None else ""
        except AppError:  # gone, or not downloaded
            continue
        if key(tag) not in body.lower():
            continue
        spans = [(0, body)]
        if is_note(path):
            blocks = query_blocks(parser.parse(body), prefix)
            spans = [(block.line - 1 + block.fenced, block.text) for block in blocks]
        for first, text in spans:
            for number, line in enumerate(text.split("\n"), first + 1):
                about_tags = "tag" in line.lower()
                words = (word.lstrip("-") for word in _WORD.findall(line))
                if any(
                    covers(tag, word) and (about_tags or word.startswith("#")) for word in words
                ):
                    yield f"{path} line {number}"


def _check_name(name: str) -> str:
    """Return a tag's name without `#`. Raises: InvalidName for a name that is no tag (semantics
    3.1)."""
    tag = name.strip().removeprefix("#").rstrip("/")
    bad = _NOT_IN_A_TAG.search(tag)
    if not tag or bad or tag.isdigit() or tag.startswith("/") or "//" in tag:
        reason = (
            f"{bad.group()!r} cannot stand in a tag"
            if bad
            else "a tag needs a character that is not a digit"
        )
        raise InvalidName(f"{name!r} is not a tag: {reason}.", tag=name)
    return tag


def rename_in_note(body: str, old: str, new: str) -> str:
    """Return the note with `old` and its descendants renamed, and nothing else (TAG-30). Raises:
    PropertiesUnreadable."""
    renamed = apply(body, (Edit(span, new) for span in _names(body, old)))
    return replace_tag(renamed, old, new)


def rename_in_canvas(body: str, old: str, new: str) -> str:
    """Return the canvas with the tag renamed in its text cards, inside their JSON strings
    (TAG-31)."""
    return apply(
        body, canvas.text_edits(body, lambda text: (Edit(span, new) for span in _names(text, old)))
    )


def _names(body: str, old: str) -> Iterator[Span]:
    for tag in parser.parse(body).tags:
        if covers(old, tag.name):
            start = tag.span.start + 1  # after the #
            yield Span(start, start + len(part(old, tag.name)))
