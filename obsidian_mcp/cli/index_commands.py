"""Commands about the index of a vault."""

from __future__ import annotations

import json

import click

from .examples import epilog
from .options import Options, json_option, vault_option
from .output import readable, shown_progress, write


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
            "warnings": status.warnings,
            "rows": dict(status.rows),
        } | ({"problem": status.problem} if status.problem else {})
    write(json.dumps(facts, ensure_ascii=False, indent=2) + "\n" if as_json else readable(facts))


@index.command("rebuild", epilog=epilog("index rebuild"))
@vault_option
@json_option
@click.pass_obj
def index_rebuild(options: Options, vault: tuple[str, ...], as_json: bool) -> None:
    """Build the index anew from the files."""
    with options.opened(vault) as place:
        place.indexer.index.clear()
        place.indexer.begin()
        total = len(place.indexer.pending())
        with shown_progress():
            place.indexer.complete()
        facts = {"vault": place.name, "indexed": total}
    write(json.dumps(facts) + "\n" if as_json else f"indexed {total} files of {facts['vault']}\n")


@index.command("dump", epilog=epilog("index dump"))
@vault_option
@click.pass_obj
def index_dump(options: Options, vault: tuple[str, ...]) -> None:
    """Print what Obsidian's metadata cache would hold: files, resolvedLinks, unresolvedLinks, as JSON."""
    from obsidian_mcp.core.vault.dump import dump

    with options.opened(vault) as place:
        write(json.dumps(dump(place), ensure_ascii=False) + "\n")
