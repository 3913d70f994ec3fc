"""Lines that an assistant or a person wants a vault to remember (MEM-43 to 45)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from obsidian_mcp.core.note.edits import insert, insert_text
from obsidian_mcp.core.note.sections import has as has_section
from obsidian_mcp.core.note.validity import find_block, find_line_of_id
from obsidian_mcp.core.search.hits import Request
from obsidian_mcp.core.text.analysis import fold
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, VaultPath
from obsidian_mcp.core.vault.operation import Create
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments, NoteNotFound

from .periodic_notes import PeriodicNotes

DAILY = "daily"
DEFAULT_PLACE = f"{DAILY}#Memories"
"""The daily note, below a heading."""
MARK = "memory-"
LONGEST = 2_000
"""Characters of one memory."""
_ID = re.compile(rf"\^({MARK}[0-9a-f]{{10}})[ \t]*$", re.MULTILINE)
MOST_LISTED = 10_000


@dataclass(frozen=True, slots=True)
class Memory:
    """A remembered line."""

    id: str
    path: VaultPath
    line: int
    """1-based."""
    text: str
    """With date and provenance, without list marker and id."""


def remember(vault: Vault, text: str, provenance: str = "", place: str = "") -> tuple[Memory, bool]:
    """Write a line where memories go, and return it, and whether it is new: the same line is never
    written twice.

    `provenance` says who remembers it: client, project, session. Raises: InvalidArguments for an
    empty or a very long text; NoteNotFound, PermissionDenied and what else an edit raises.
    """
    words = " ".join(text.split())
    if not words or len(words) > LONGEST:
        raise InvalidArguments(f"Give a text of 1 to {LONGEST:,} characters.", argument="text")
    vault.indexer.complete()
    memory_id = _free_id(vault, words)
    if isinstance(memory_id, Memory):
        return memory_id, False
    written = vault.calendar.now().strftime("%Y-%m-%d %H:%M")
    source = ", ".join(filter(None, (written, provenance)))
    line = f"- {words} ({source}) ^{memory_id}"
    path = _write_line(vault, line, place or DEFAULT_PLACE)
    body = vault.read_note(vault.find(path)).text.body
    at = body.index(f"^{memory_id}")
    return _memory_at(path, body, at, memory_id), True


def list_memories(vault: Vault) -> list[Memory]:
    """Return what was remembered, by note and line; what a policy hides is not there."""
    vault.indexer.complete()
    hits = vault.search.find(
        Request(f"/\\^{MARK}[0-9a-f]/", "exact", limit=MOST_LISTED, snippets=0, characters=1 << 40)
    )
    memories: list[Memory] = []
    for hit in hits.hits:
        entry = vault.catalog.get(hit.path)
        if entry is not None:
            body = vault.read_text(entry).text.body
            memories += [
                _memory_at(hit.path, body, mark.start(), mark[1]) for mark in _ID.finditer(body)
            ]
    return sorted(memories, key=lambda memory: (memory.path, memory.line))


def forget(vault: Vault, memory_id: str) -> Memory:
    """Remove a remembered line, as a change that can be undone. Raises: NoteNotFound for an id that
    there is not."""
    own_id = memory_id.strip().lstrip("^")
    memory = next((memory for memory in list_memories(vault) if memory.id == own_id), None)
    if memory is None:
        raise NoteNotFound(f"Nothing was remembered with the id {own_id!r}. List with --list.")

    def without(body: str) -> str:
        place = find_line_of_id(body, own_id)
        if place is None:
            return body
        start, end = find_block(body, place[0])
        following = body.find("\n", end)
        return body[:start] + ("" if following < 0 else body[following + 1 :])

    vault.edit("remember", vault.find(memory.path), without)
    return memory


def _free_id(vault: Vault, words: str) -> str | Memory:
    """Return the id of a new memory, or the memory that already says this and still holds."""
    outdated = vault.search.read_outdated()
    by_id = {memory.id: memory for memory in list_memories(vault)}
    for number in range(len(by_id) + 1):
        digest = hashlib.blake2b(f"{fold(words)}{number or ''}".encode(), digest_size=5).hexdigest()
        memory = by_id.get(f"{MARK}{digest}")
        if memory is None:
            return f"{MARK}{digest}"
        file = outdated.numbers.get(memory.path)
        body = vault.read_note(vault.find(memory.path)).text.body
        at = body.index(f"^{memory.id}")
        blocks = [] if file is None else outdated.find_blocks(file, body)
        if file not in outdated.marks and not any(
            block.start <= at < block.end for block in blocks
        ):
            return memory
    raise AssertionError("one of the ids is free")  # pragma: no cover


def _write_line(vault: Vault, line: str, place: str) -> VaultPath:
    """Append a line below the heading of a place, and return the note that has it now."""
    name, _, heading = place.partition("#")
    change = _make_adder(line, heading.strip())
    if name.strip().lower() == DAILY:
        opened = PeriodicNotes(vault).open("remember", "day", "today", change)
        return opened.content.entry.path
    try:
        entry = vault.find(name.strip())
    except NoteNotFound:
        path = vault.catalog.parse(name.strip())
        path = path if path.endswith(NOTE_EXTENSION) else VaultPath(path + NOTE_EXTENSION)
        vault.catalog.check_creatable(path)
        disk = vault.catalog.spell_path(path)[1]
        vault.commit("remember", [Create(disk, change("").encode())])
        return path
    vault.edit("remember", entry, change)
    return entry.path


def _make_adder(line: str, heading: str) -> Callable[[str], str]:
    def add(body: str) -> str:
        if not heading:
            return insert_text(body, line)
        if has_section(body, heading):
            return insert_text(body, line, "append", heading)
        blank = "\n" if body.strip() else ""
        return insert(body, len(body), f"{blank}## {heading}\n\n{line}\n")

    return add


def _memory_at(path: VaultPath, body: str, at: int, memory_id: str) -> Memory:
    start = body.rfind("\n", 0, at) + 1
    text = body[start:at].strip().removeprefix("-").strip()
    return Memory(memory_id, path, body.count("\n", 0, at) + 1, text)
