"""Commands about the index of a vault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from obsidian_mcp.core.text.text import write_count

from .answers import readable
from .options import Options
from .progress_bar import show_progress
from .stdout import write_answer


def show_status(options: Options, *, vault: Sequence[str] = (), json: bool = False) -> None:
    """Print where the index is, what it holds and what is missing."""
    with options.open_vault(tuple(vault)) as opened:
        opened.indexer.begin()
        pending = opened.indexer.pending()
        status = opened.indexer.index.status()
        facts = {
            "vault": opened.name,
            "file": str(status.file) if status.file else "in memory",
            "bytes": status.bytes,
            "files": status.files,
            "pending": len(pending),
            "unread_pdfs": len(opened.indexer.pdfs.unread()),
            "warnings": status.warnings,
            "rows": dict(status.rows),
        } | ({"problem": status.problem} if status.problem else {})
    write_answer(facts, readable(facts), as_json=json)


def rebuild(options: Options, **given: Any) -> None:
    """Build the index anew from the files."""
    update(options, **given, is_new=True)


def update(options: Options, *, vault: Sequence[str] = (), json: bool = False, is_new: bool = False) -> None:
    """Bring the index up to date with the files, and read new PDFs into it; `is_new`: from an empty one."""
    with options.open_vault(tuple(vault)) as opened:
        indexer = opened.indexer
        if is_new:
            indexer.index.database.begin_anew()
        indexer.begin()
        total, pdfs = len(indexer.pending()), len(indexer.pdfs.unread())
        with show_progress():
            indexer.complete()
            indexer.pdfs.complete()
        left = len(indexer.pdfs.unread())
        facts = {"vault": opened.name, "indexed": total, "pdfs": pdfs - left, "unread_pdfs": left}
        problem = indexer.pdfs.background.notice if left and indexer.pdfs.background else ""
    said = f"indexed {write_count(total, 'file')} and {write_count(pdfs - left, 'PDF')} of {facts['vault']}\n"
    write_answer(facts, said + (f"{write_count(left, 'PDF')} not read. {problem}\n" if left else ""), as_json=json)
