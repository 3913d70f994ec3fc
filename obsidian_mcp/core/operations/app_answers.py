"""Answers of the running app, in the shape of our own (backend `cli`).

The app names files only, so what it answers is joined with what our index knows of them: lines, and
the texts of links. Hidden files do not exist for our tools; where a policy hides some, the app is
not asked about links, because it would count those of hidden files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from obsidian_mcp.core.files.ports import Obsidian
from obsidian_mcp.core.graph.results import Reference
from obsidian_mcp.core.index.facts import LinkFact
from obsidian_mcp.core.links.resolve import clean
from obsidian_mcp.core.search.hits import Request
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, VaultPath, is_note
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppCommandFailed, NoteNotFound


def find_in_app(vault: Vault, request: Request) -> list[VaultPath] | None:
    """Return the files that the app finds, in its order (APP-FILE-08, SEARCH-18).

    The app has a single way to match. Return None without the app, and for a query that its command
    cannot carry.
    """
    if vault.app is None:
        return None
    try:
        named = vault.app.search(request.query, request.folder)
    except AppCommandFailed as error:
        if error.data.get("reason") == "cannot_carry":
            return None
        raise
    return _filter_known(vault, named)


def links(
    vault: Vault, path: VaultPath, outgoing: Sequence[Reference], backlinks: Sequence[Reference]
) -> tuple[Sequence[Reference], Sequence[Reference]]:
    """Return the links of a note, outgoing and incoming, as far as the app confirms them.

    To ours that it confirms come those that it alone knows, without a line. Without the app, and
    for a note that is too new for it, ours are returned as they are.
    """
    if (app := _app_for_links(vault)) is None:
        return outgoing, backlinks
    try:
        targets = _filter_known(vault, app.links(path))
        linking = _filter_known(vault, app.backlinks(path))
    except NoteNotFound:  # too new for the app
        return outgoing, backlinks
    out = [
        reference
        for reference in outgoing
        if reference.target is None or reference.target in targets
    ]
    linked = {reference.target for reference in outgoing}
    out += [
        Reference(path, target, _placeless(target)) for target in targets if target not in linked
    ]
    back = [reference for reference in backlinks if reference.source in linking]
    sources = {reference.source for reference in backlinks}
    back += [
        Reference(source, path, _placeless(path)) for source in linking if source not in sources
    ]
    return out, back


def list_unconnected(
    vault: Vault, question: Literal["orphans", "dead_ends"]
) -> tuple[tuple[VaultPath, ...], str | None]:
    """Return the notes that no other file links to, or those without a link.

    With them comes the notice of our index; the app's answer needs none.
    """
    if (app := _app_for_links(vault)) is not None:
        named = app.orphans() if question == "orphans" else app.deadends()
        return tuple(path for path in _filter_known(vault, named) if is_note(path)), None
    answer = vault.graph.orphans() if question == "orphans" else vault.graph.dead_ends()
    return answer.value, answer.notice


def broken_links(vault: Vault, references: Sequence[Reference]) -> Sequence[Reference]:
    """Return our broken links as far as the app confirms them, and those that it alone knows.

    Links to files that the app finds are left out; those that only the app knows have no line.
    Without the app all of ours are returned.
    """
    if (app := _app_for_links(vault)) is None:
        return references
    listed = {
        name: _filter_known(vault, sources) for name, sources in app.list_unresolved_links().items()
    }
    names = [clean(reference.link.path).removesuffix(NOTE_EXTENSION) for reference in references]
    confirmed = [
        reference
        for reference, name in zip(references, names, strict=True)
        if reference.target or name in listed
    ]
    unlisted = listed.keys() - set(names)
    confirmed += [
        Reference(source, None, _placeless(name))
        for name in sorted(unlisted)
        for source in listed[name]
    ]
    return confirmed


def _app_for_links(vault: Vault) -> Obsidian | None:
    """Return the app if it may be asked about links: it would count those of hidden files."""
    return None if vault.policy.restricts_reading else vault.app


def _filter_known(vault: Vault, named: Iterable[str]) -> list[VaultPath]:
    """Return the catalog's files for the paths that the app names, without repeats."""
    entries = (vault.entry_at(VaultPath(path)) for path in named)
    return list(dict.fromkeys(entry.path for entry in entries if entry is not None))


def _placeless(target: str) -> LinkFact:
    """Return a link of which only the target is known."""
    return LinkFact("", "link", target, "", None, target, "", None, None)
