"""Commands about the index of a vault, and about search by meaning."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.config import expand_home
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.errors import InvalidArguments

from .answers import format_answer
from .options import Options
from .progress_bar import show_progress
from .stdout import ask, write, write_answer

if TYPE_CHECKING:
    from obsidian_mcp.core.index.index import Index


WATCHED_SECONDS = 1.0
"""So long `index status` watches a build to estimate how long it will take."""


def show_status(options: Options, *, vault: Sequence[str] = (), json: bool = False) -> None:
    """Print where the index is, how far it is, what it holds and what it takes."""
    with options.app(tuple(vault)) as app:
        opened = app.vaults.get()
        index = opened.indexer.index
        if opened.indexer.pending.background is not None:
            opened.indexer.pending.background.stop()  # it would begin what this only looks at
        opened.indexer.pending.begin()
        pending = opened.indexer.pending.by_path
        progress = _describe_progress(index, len(pending)) if pending else ""
        status = index.status()
        facts = {
            "vault": opened.name,
            "file": str(status.file) if status.file else "in memory",
            "bytes": status.bytes,
            "files": status.files,
            "pending": len(pending),
            "unread_pdfs": len(opened.indexer.pending.pdfs.unread()),
            "warnings": status.warnings,
            "rows": dict(status.rows),
            "space": [
                {"kind": kind, "bytes": size} for kind, size in index.measure_space().items()
            ],
        }
        facts |= {"progress": progress} if progress else {}
        facts |= {"problem": status.problem} if status.problem else {}
    write_answer(facts, format_answer(facts), as_json=json)


def _describe_progress(index: Index, pending_count: int) -> str:
    """Return how far another program is with building the index, and how long it will take."""
    before = index.status().files
    time.sleep(WATCHED_SECONDS)
    now = index.status().files
    pending_count = max(0, pending_count - (now - before))
    position = f"{now:,} of {now + pending_count:,} files".replace(",", " ")
    if now <= before:
        return f"{position}; no program is building: `obsidian-mcp index update` does"
    seconds = math.ceil(pending_count / (now - before) * WATCHED_SECONDS)
    return f"{position}; about {seconds} s to go"


def shrink(options: Options, *, vault: Sequence[str] = (), json: bool = False) -> None:
    """Give the space back that the index does not use."""
    with options.app(tuple(vault)) as app:
        opened = app.vaults.get()
        index = opened.indexer.index
        before = index.status().bytes
        index.shrink()
        facts = {"vault": opened.name, "bytes_before": before, "bytes": index.status().bytes}
    write_answer(facts, format_answer(facts), as_json=json)


def rebuild(options: Options, **options_of_update: Any) -> None:
    """Build the index anew from the files."""
    update(options, **options_of_update, is_new=True)


def update(
    options: Options, *, vault: Sequence[str] = (), json: bool = False, is_new: bool = False
) -> None:
    """Bring the index up to date with the files, and read new PDFs into it; `is_new`: from an empty
    one."""
    with options.app(tuple(vault)) as app:
        opened = app.vaults.get()
        indexer = opened.indexer
        if is_new:
            indexer.index.database.begin_anew()
        pending, pdfs = indexer.pending, indexer.pending.pdfs
        pending.begin()
        total, pdf_total = len(pending.by_path), len(pdfs.unread())
        with show_progress():
            indexer.complete()
            pdfs.complete()
        is_built = total * 2 > indexer.index.status().files
        while indexer.index.merge(is_whole=is_built):
            pass
        indexer.index.database.truncate_journal()
        unread = len(pdfs.unread())
        facts = {
            "vault": opened.name,
            "indexed": total,
            "pdfs": pdf_total - unread,
            "unread_pdfs": unread,
        }
        problem = pdfs.background.notice if unread and pdfs.background else ""
    report = (
        f"indexed {write_count(total, 'file')} and {write_count(pdf_total - unread, 'PDF')} of "
        f"{facts['vault']}\n"
    )
    write_answer(
        facts,
        report + (f"{write_count(unread, 'PDF')} not read. {problem}\n" if unread else ""),
        as_json=json,
    )


# Search by meaning


def set_up(
    options: Options,
    *,
    model: str = "",
    endpoint: str = "",
    yes: bool = False,
    vault: Sequence[str] = (),
    json: bool = False,
) -> None:
    """Choose and download the model, and embed the notes. Raises: InvalidArguments."""
    from obsidian_mcp.core.semantic.choice import EmbeddingChoice
    from obsidian_mcp.setup import semantic as setup

    options = options.with_vaults(tuple(vault))
    config = options.config()
    if endpoint:
        _agree(endpoint, model, has_agreed=yes)
        choice = EmbeddingChoice(url=endpoint, model=model)
    else:
        folder = expand_home(model)
        if not (model and folder.is_dir()):
            model = model or setup.DEFAULT_MODEL
            write("", f"downloading {model}\n")
            folder = setup.download(config, model)
        choice = EmbeddingChoice(folder=str(folder.absolute()), model=model)
    size = setup.choose(config, choice)
    with options.app() as app:
        opened = app.vaults.get()
        opened.indexer.pending.begin()
        with show_progress():
            opened.indexer.complete()
            count = opened.meaning.complete() if opened.meaning is not None else 0
        refused = sorted(opened.meaning.refused) if opened.meaning is not None else []
        facts = {
            "model": choice.model,
            "dimensions": size,
            "vault": opened.name,
            "embedded": count,
            "refused": refused,
        }
    remarks = "".join(
        f"refused by the model, and found by its words alone: {path}\n" for path in refused
    )
    notes = write_count(count, "note")
    report = (
        f"{choice.model} answers with vectors of {size} numbers\nembedded {notes} of "
        f"{facts['vault']}\n"
    )
    write_answer(facts, report, remarks, as_json=json)


def _agree(endpoint: str, model: str, *, has_agreed: bool) -> None:
    """Raises: InvalidArguments for no address, KeyboardInterrupt where a person does not agree."""
    from urllib.parse import urlsplit

    if not endpoint.startswith(("http://", "https://")) or not model:
        raise InvalidArguments(
            "Give an address that begins with http:// or https://, and --model NAME."
        )
    question = (
        f"The text of every note that is not hidden is sent to {urlsplit(endpoint).netloc}. Go "
        "on? [y/N]"
    )
    if not has_agreed and ask(question).lower() not in ("y", "yes"):
        raise KeyboardInterrupt


def show_model(options: Options, *, vault: Sequence[str] = (), json: bool = False) -> None:
    """Print which model is used, and how many notes are not embedded yet."""
    from obsidian_mcp import vault_builder

    options = options.with_vaults(tuple(vault))
    choice = vault_builder.embedding_choice(options.config())
    facts: dict[str, object] = {"on": choice is not None}
    if choice is None:
        facts["setup"] = "obsidian-mcp semantic setup"
    else:
        with options.app() as app:
            opened = app.vaults.get()
            opened.indexer.pending.begin()
            opened.indexer.complete()
            facts |= {"model": choice.model, "endpoint": choice.url or None, "vault": opened.name}
            facts["pending"] = (
                len(opened.meaning.pending_notes()) if opened.meaning is not None else None
            )
    facts = {name: value for name, value in facts.items() if value is not None}
    write_answer(facts, format_answer(facts), as_json=json)


def turn_off(options: Options, *, json: bool = False) -> None:
    """Turn search by meaning off; the model and the vectors stay."""
    from obsidian_mcp.setup import semantic as setup

    was_on = setup.turn_off(options.config())
    write_answer(
        {"was_on": was_on}, f"search by meaning {'is' if was_on else 'was'} off\n", as_json=json
    )
