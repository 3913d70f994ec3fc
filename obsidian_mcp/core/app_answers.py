"""Answers of the running app in the shape of our own (backend `cli`): the app says which files, the files say where.

Files that the app names and the policy hides do not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from obsidian_mcp.errors import AppCommandFailed, NoteNotFound, QueryInvalid

from . import deadline
from . import search as own_search
from .catalog import FileEntry
from .facts import LinkFact
from .graph import Reference
from .obsidian import UnresolvedLink
from .paths import VaultPath, is_note
from .search import ANSWER_CHARACTERS, Hit, Hits
from .vault import Vault


def search(
    vault: Vault,
    entries: Iterable[FileEntry],
    read: Callable[[FileEntry], str],
    query: str,
    folder: str | None,
    *,
    limit: int,
    offset: int,
    snippets: int,
) -> Hits | None:
    """The files among `entries` that the app finds, in its order.

    None where the app is not to be asked, and for a query that it cannot be sent.
    """
    if vault.app is None:
        return None
    try:
        named = vault.app.search(query, folder)
    except AppCommandFailed as error:
        if error.data.get("reason") == "cannot_carry":
            return None
        raise
    allowed = {entry.path: entry for entry in entries}
    found = [allowed[path] for path in _known(vault, named) if path in allowed]
    hits: list[Hit] = []
    room = ANSWER_CHARACTERS
    for entry in found[offset : offset + limit]:
        deadline.checkpoint()
        hit = _hit(entry, read, query, snippets)
        room -= len(hit.path) + 40 + sum(len(each.text) + len(each.heading or "") + 40 for each in hit.snippets or ())
        if room < 0 and hits:
            break
        hits.append(hit)
    following = offset + len(hits)
    return Hits(len(found), hits, following if following < len(found) else None)


def _hit(entry: FileEntry, read: Callable[[FileEntry], str], query: str, snippets: int) -> Hit:
    """Where the query stands in a file that the app has found; no place where we would not have found it."""
    try:
        own = own_search.search([entry], read, query, limit=1, snippets=snippets).hits
    except QueryInvalid:
        own = []
    return own[0] if own else Hit(entry.path, 0)


def links(
    vault: Vault, path: VaultPath, outgoing: Sequence[Reference], backlinks: Sequence[Reference]
) -> tuple[Sequence[Reference], Sequence[Reference]] | None:
    """Of our references those that the app confirms, and those that only the app knows, which have no place.

    None where the app is not to be asked.
    """
    if vault.app is None:
        return None
    try:
        resolved = [link.target for link in vault.app.links(path) if link.resolved]
        sources = [backlink.path for backlink in vault.app.backlinks(path)]
    except NoteNotFound:  # too new for the app
        return None
    targets = _known(vault, resolved)
    out = [each for each in outgoing if each.target is None or each.target in targets]
    out += [
        Reference(path, target, _placeless(target))
        for target in targets
        if target not in {each.target for each in outgoing}
    ]
    linking = _known(vault, sources)
    back = [each for each in backlinks if each.source in linking]
    back += [
        Reference(source, path, _placeless(path))
        for source in linking
        if source not in {each.source for each in backlinks}
    ]
    return out, back


def orphans(vault: Vault) -> list[VaultPath]:
    return [] if vault.app is None else [path for path in _known(vault, vault.app.orphans()) if is_note(path)]


def dead_ends(vault: Vault) -> list[VaultPath]:
    return [] if vault.app is None else [path for path in _known(vault, vault.app.deadends()) if is_note(path)]


def unresolved(vault: Vault) -> list[UnresolvedLink]:
    found = []
    for link in vault.app.unresolved() if vault.app is not None else ():
        sources = tuple(_known(vault, link.sources))
        if sources or not (link.sources or vault.policy.restricts_reading):
            found.append(UnresolvedLink(link.link, link.count, sources))
    return found


def _known(vault: Vault, named: Iterable[str]) -> list[VaultPath]:
    """The files that the app names, as we know them, each once."""
    entries = (vault.at(VaultPath(path)) for path in named)
    return list(dict.fromkeys(entry.path for entry in entries if entry is not None))


def _placeless(target: str) -> LinkFact:
    return LinkFact("", "link", "wiki", target, "", None, target, "", None, None, None)
