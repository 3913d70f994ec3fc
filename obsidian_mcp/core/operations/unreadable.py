"""Which files of a vault the tools that read them refuse, and what repairs each (CHECK-06).

There is one notion of "unreadable": `find_problem` looks at a file as the tool for its kind does.
All checks of a vault ask it, so that none of them advises to complete a note that nobody can open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from obsidian_mcp.core.files import media
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.frontmatter.block import locate_block
from obsidian_mcp.core.index.facts import UNINDEXED
from obsidian_mcp.core.note import canvas
from obsidian_mcp.core.note.query_blocks import BASE_EXTENSION
from obsidian_mcp.core.text.text import too_large, write_count
from obsidian_mcp.core.text.vault_path import (
    CANVAS_EXTENSION,
    VaultPath,
    extension,
    is_note,
    is_pdf,
)
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError, NoteNotFound, NotText, QueryInvalid

PDF_SECONDS = 5.0
"""How long a check waits for PDFs that the index lacks."""

_WRITE_ANEW = "Write it anew with obsidian_create_note and overwrite."
_CORRECT_PROPERTIES = "Correct that line with obsidian_edit_note."
_CORRECT_TEXT = "Correct that line, and write it anew with obsidian_create_note and overwrite."
_RESTORE = "It is damaged: put back an earlier version from a backup."
_CONVERT = f"It is UTF-16: save it as UTF-8 with another program. {_WRITE_ANEW}"
_DIVIDE = "Divide it with another program."
_UNLOCK = "Save it without its password with another program."
_REPLACE = "Put a sound copy in its place, or call obsidian_delete_note."
_PDF_REPAIRS: Mapping[str, str] = {"locked": _UNLOCK, "broken": _REPLACE, "takes": _DIVIDE}
"""How the index begins to say that a PDF cannot be read, and what repairs it. What it says of a PDF
that is read in part, or that has no text, begins with other words."""
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file cannot be read."""

    message: str
    repair: str
    """What to do about it: a sentence."""
    line: int | None = None
    """1-based."""


@dataclass(frozen=True, slots=True)
class UnreadableFiles:
    problems: list[tuple[VaultPath, Problem]]
    """By path."""
    note: str | None = None
    """What was not looked at."""


def find_problem(vault: Vault, entry: FileEntry) -> Problem | None:
    """Return why the tool that reads a note, canvas, base or picture refuses it; None where it does
    not.

    Of a note it is also that its properties cannot be read. A PDF is not opened here, because that
    takes seconds: `list_unreadable` knows it from the index.
    """
    if entry.is_too_large:
        return Problem(too_large(entry.path, entry.size).message, _DIVIDE)
    try:
        if media.kind_of(entry.path) == "image":
            head = vault.files.head(entry.disk, media.PICTURE_HEAD)
            picture_problem = media.picture_problem(entry.path, head)
            return Problem(picture_problem, _REPLACE) if picture_problem else None
        return _find_mistake(entry.path, vault.read_text(entry).text.body)
    except NotText as refused:
        is_utf16 = vault.files.head(entry.disk, 2) in _UTF_16_MARKS
        return Problem(refused.message, _CONVERT if is_utf16 else _RESTORE)
    except NoteNotFound:  # another program has just taken it
        return None
    except AppError as refused:
        return Problem(refused.message, "")


def _find_mistake(path: str, body: str) -> Problem | None:
    """Return what is wrong with the text of a note, canvas or base; None for other files."""
    if is_note(path):
        return describe_properties(body)
    if extension(path) == CANVAS_EXTENSION:
        read = canvas.read_canvas(body)
        return Problem(read.error, _CORRECT_TEXT, read.line) if read.error else None
    if extension(path) == BASE_EXTENSION:
        from obsidian_mcp.core.bases.base_reader import read_base  # loaded when it is needed

        try:
            read_base(body)
        except QueryInvalid as refused:
            return Problem(refused.message, _CORRECT_TEXT, refused.data.get("line"))
    return None


def describe_properties(body: str) -> Problem | None:
    """Return why the properties of a note cannot be read; None where they can, or without any."""
    fault = frontmatter.find_fault(body)
    return Problem(fault.message, _CORRECT_PROPERTIES, fault.line) if fault is not None else None


def list_unreadable(vault: Vault) -> UnreadableFiles:
    """Return the files that the tools which read them refuse; the index must be complete.

    Only files are opened that may be among them: those with a warning in the index, notes with a
    NUL character, bases and pictures. Those that the user excludes are left out.
    """
    is_hidden = vault.hides()
    unread_pdfs = _await_pdfs(vault)
    warnings = _suspect_notes(vault)
    suspects = {*warnings}
    suspects |= {
        entry.path
        for entry in vault.entries()
        if _is_opened(entry.path) or (entry.is_too_large and media.kind_of(entry.path) != "other")
    }
    problems = []
    for path in sorted(suspects):
        entry = vault.catalog.get(path)
        if entry is None or is_hidden(path) or media.kind_of(path) in ("audio", "video", "text"):
            continue
        lines = warnings.get(path, ())
        problem = find_problem(vault, entry) if not is_pdf(path) or entry.is_too_large else None
        problem = problem or _problem_in_index(lines, is_pdf(path))
        if problem is not None:
            problems.append((path, problem))
    return UnreadableFiles(problems, unread_pdfs)


def _is_opened(path: str) -> bool:
    return extension(path) == BASE_EXTENSION or media.kind_of(path) == "image"


def _without_warning(texts: Iterable[tuple[VaultPath, str]]) -> list[VaultPath]:
    """Return the notes that the index reads without a warning, and tools do not: with a NUL
    character, or with properties that no line ends."""
    return [
        path
        for path, text in texts
        if "\0" in text or (text.startswith("---") and locate_block(text) is None)
    ]


def _problem_in_index(warnings: Sequence[str], is_of_pdf: bool) -> Problem | None:
    """Return what the index says of a file that it could not read."""
    for warning in warnings:
        if warning in UNINDEXED:
            return Problem(warning, "")
        word = warning.partition(" ")[0]
        if is_of_pdf and word in _PDF_REPAIRS:
            return Problem(f"The PDF cannot be read: {warning}.", _PDF_REPAIRS[word])
    return None


def _await_pdfs(vault: Vault) -> str | None:
    """Wait a while for PDFs that the index lacks; return a sentence about those it lacks then."""
    pdfs = vault.indexer.pending.pdfs
    if not pdfs.unread():
        return None
    pdfs.complete(PDF_SECONDS)
    unread = len(pdfs.unread())
    if not unread:
        return None
    notice = pdfs.background.notice if pdfs.background is not None else ""
    return f"{write_count(unread, 'PDF')} not looked at. {notice}".rstrip()


def unreadable_notes(vault: Vault) -> frozenset[str]:
    """Return the notes that cannot be read, or whose properties cannot."""
    entries = map(vault.catalog.get, _suspect_notes(vault))
    notes = (entry for entry in entries if entry is not None and is_note(entry.path))
    return frozenset(entry.path for entry in notes if find_problem(vault, entry) is not None)


def _suspect_notes(vault: Vault) -> dict[VaultPath, tuple[str, ...]]:
    """Return the files of which the index has a warning, with the warnings, and notes that only a
    look at their text tells."""
    suspects = vault.graph.evaluate_texts(_without_warning).value
    return {**dict.fromkeys(suspects, ()), **vault.graph.warnings().value}
