"""Links that lead to no file, or to a part that a note lacks, and what was likely meant (LINK-50,
LINK-51)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from obsidian_mcp.core.files.near_names import NEAR_NAMES_SHOWN, near_files
from obsidian_mcp.core.files.settings import LinkFormat
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.graph.results import Reference
from obsidian_mcp.core.index.freshness import Answer
from obsidian_mcp.core.links.resolve import clean, is_relative
from obsidian_mcp.core.links.write_link import destination, write_path
from obsidian_mcp.core.note.headings import heading_for_link, heading_key
from obsidian_mcp.core.note.links import Style
from obsidian_mcp.core.note.subpath import segments
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.nearness import nearest_texts
from obsidian_mcp.core.text.typed_text import describe_difference
from obsidian_mcp.core.text.vault_path import VaultPath, basename, name_key
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import NoteNotFound

from . import app_answers

LIKENESS = 0.5
"""Of two names, between 0 and 1, from which one was likely meant by the other."""
_numbers = re.compile(r"\d+").findall


def broken_links(vault: Vault) -> Answer[Sequence[Reference]]:
    """Return the vault's broken links by source and order in it; with the backend `cli`, those of
    the app."""
    answer = vault.graph.broken_links()
    references = app_answers.broken_links(vault, answer.value)
    return Answer(references, answer.freshness, answer.cut, answer.remainder)


def missing_part(reference: Reference) -> str:
    """Return what a broken link does not find: file, heading or block."""
    if reference.target is None:
        return "file"
    return (
        "block"
        if segments(reference.link.subpath)[-1].strip().startswith(("^", "[^"))
        else "heading"
    )


def line_of(vault: Vault, reference: Reference) -> int | None:
    """Return the 1-based line of a link, of one in a property too; None for cards, and where a note
    has changed or is too large to be read, or gone."""
    if reference.link.kind != "property":
        return reference.line
    entry = vault.catalog.get(reference.source)
    if entry is None or entry.is_too_large:
        return None
    try:
        body = vault.read_text(entry).text.body
    except NoteNotFound:
        return None
    at = body.find(reference.link.original, 0, text_start(body))
    return body.count("\n", 0, at) + 1 if at >= 0 else None


def likely_link(vault: Vault, reference: Reference) -> str | None:
    """Return the link as it would lead to the file or part that is nearest in name; None where none
    is near (LINK-51). Notes are also found by an alias, which the link then shows."""
    checkpoint()
    link, target, subpath, path = (
        reference.link,
        reference.target,
        reference.link.subpath,
        str(reference.link.path),
    )
    display = link.display
    if target is not None:
        if (near := _near_part(vault, target, segments(subpath)[-1].strip())) is None:
            return None
        subpath = f"#{near}"
    else:
        aliased = vault.graph.notes_with_alias(clean(path)).value
        target = aliased[0] if aliased else _near_file(vault, clean(path))
        if target is None:
            return None
        if aliased and display is None and link.kind != "embed":
            display = path
        if link.kind == "card":
            return f"{target}{subpath}"
        style: Style = "wiki" if "[[" in link.original else "markdown"
        link_format: LinkFormat = (
            "relative" if is_relative(path) else "absolute" if "/" in path else "shortest"
        )
        path = (
            write_path(vault.catalog, target, reference.source, style, link_format, subpath=subpath)
            or ""
        )
        if not path:
            return None
    bang = "!" if link.kind == "embed" else ""
    if "[[" not in link.original:
        return f"{bang}[{display or ''}]({destination(path + subpath)})"
    # in a table the backslash is no part of the path; elsewhere it is, and is the mistake
    pipe = r"\|" if r"\|" in link.original and not str(link.path).endswith("\\") else "|"
    return f"{bang}[[{path}{subpath}{'' if display is None else pipe + display}]]"


def describe_likeness(written: str, meant: str) -> str | None:
    """Return how the link that was likely meant differs from one that looks the same; None where it
    looks otherwise.

    An answer that offers what was asked for in the same letters helps nobody (LINK-51).
    """
    if meant != written and meant.replace(r"\|", "|") == written.replace(r"\|", "|"):
        return "no backslash, which stands before | in a table only"
    return describe_difference(written, meant) or None


def _near_file(vault: Vault, path: str) -> VaultPath | None:
    """Return the file with the most similar name that has all numbers of it: another day is another
    note."""
    name = name_key(basename(VaultPath(path)))
    numbers = set(_numbers(name))

    def likeness(candidate: VaultPath) -> float:
        key = name_key(basename(candidate))
        return SequenceMatcher(None, name, key).ratio() if numbers.issubset(_numbers(key)) else 0

    with vault.lock:
        best = max(near_files(vault.catalog, path), key=likeness, default=None)
    return best if best is not None and likeness(best) >= LIKENESS else None


def _near_part(vault: Vault, path: VaultPath, part: str) -> str | None:
    """Return the most similar heading of a note, or the id of a block with its `^`."""
    from obsidian_mcp.core.note.parser import parse

    try:
        content = vault.read_content(vault.catalog.entry(path))
    except NoteNotFound:
        return None
    if not content.is_text:
        return None
    note = parse(content.text.body)
    if part.startswith("^"):
        parts = {block.id.lower(): f"^{block.id}" for block in note.block_ids}
        part = part[1:].lower()
    else:
        parts = {
            heading_key(heading.text): heading_for_link(heading.text) for heading in note.outline
        }
        part = heading_key(part)
    near = nearest_texts(part, parts, NEAR_NAMES_SHOWN)
    return parts[near[0]] if near else None
