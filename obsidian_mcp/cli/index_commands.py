"""Commands about the index of a vault."""

from __future__ import annotations

import json

import click

from .examples import epilog
from .options import Options, json_option, vault_option
from .output import readable, shown_progress, write, write_json


@click.group()
def index() -> None:
    """Look at the index of a vault, or build it anew."""


@index.command("status", epilog=epilog("index status"))
@vault_option
@json_option
@click.pass_obj
def index_status(options: Options, vault: tuple[str, ...], as_json: bool) -> None:
    """Where the index is, what it holds and what is missing."""
    with options.opened(vault) as place:
        place.indexer.begin()
        pending = place.indexer.pending()
        status = place.indexer.index.status()
        facts = {
            "vault": place.name,
            "file": str(status.file) if status.file else "in memory",
            "bytes": status.bytes,
            "files": status.files,
            "pending": len(pending),
            "unread_pdfs": len(place.indexer.pdfs.unread()),
            "warnings": status.warnings,
            "rows": dict(status.rows),
        } | ({"problem": status.problem} if status.problem else {})
    if as_json:
        write_json(facts)
    else:
        write(readable(facts))


@index.command("update", epilog=epilog("index update"))
@vault_option
@json_option
@click.pass_obj
def index_update(options: Options, vault: tuple[str, ...], as_json: bool) -> None:
    """Bring the index up to date with the files, and read new PDFs into it."""
    _build(options, vault, as_json=as_json, anew=False)


@index.command("rebuild", epilog=epilog("index rebuild"))
@vault_option
@json_option
@click.pass_obj
def index_rebuild(options: Options, vault: tuple[str, ...], as_json: bool) -> None:
    """Build the index anew from the files."""
    _build(options, vault, as_json=as_json, anew=True)


def _build(options: Options, vault: tuple[str, ...], *, as_json: bool, anew: bool) -> None:
    with options.opened(vault) as place:
        indexer = place.indexer
        if anew:
            indexer.index.database.begin_anew()
        indexer.begin()
        total, pdfs = len(indexer.pending()), len(indexer.pdfs.unread())
        with shown_progress():
            indexer.complete()
            indexer.pdfs.complete()
        left = len(indexer.pdfs.unread())
        facts = {"vault": place.name, "indexed": total, "pdfs": pdfs - left, "unread_pdfs": left}
        problem = indexer.pdfs.background.notice if left and indexer.pdfs.background else ""
    if as_json:
        write(json.dumps(facts) + "\n")
    else:
        write(f"indexed {total} files and {pdfs - left} PDFs of {place.name}\n")
        if left:
            write(f"{left} PDFs are not read. {problem}\n")
