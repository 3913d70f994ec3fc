"""Commands about search by meaning."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import click

from obsidian_mcp.config import expanded

from .examples import epilog
from .options import Options, json_option, vault_option
from .output import readable, shown_progress, write, write_json


@click.group()
def semantic() -> None:
    """Find notes by what they mean, with a model on this machine or an endpoint; off until `setup`."""


@semantic.command("setup", epilog=epilog("semantic setup"))
@click.option("--model", default="", help="Name of a model to download, or the folder of one that is here.")
@click.option("--endpoint", default="", metavar="URL", help="An OpenAI-compatible endpoint, such as Ollama's, instead.")
@click.option("--yes", is_flag=True, help="Agree that the text of notes is sent to the endpoint.")
@vault_option
@json_option
@click.pass_obj
def setup_command(
    options: Options, model: str, endpoint: str, yes: bool, vault: tuple[str, ...], as_json: bool
) -> None:
    """Choose and download the model, and embed the notes; what is left is done by the next server."""
    from obsidian_mcp.core.semantic.choice import Choice
    from obsidian_mcp.setup import semantic as setup

    config = options.with_vaults(vault).config()
    if endpoint:
        if not endpoint.startswith(("http://", "https://")) or not model:
            raise click.UsageError("Give an address that begins with http:// or https://, and --model NAME.")
        host = urlsplit(endpoint).netloc
        if not yes:
            click.confirm(f"The text of every note that is not hidden is sent to {host}. Go on?", abort=True, err=True)
        choice = Choice(url=endpoint, model=model)
    else:
        folder = expanded(model)
        if not (model and folder.is_dir()):
            model = model or setup.DEFAULT_MODEL
            click.echo(f"downloading {model}", err=True)
            folder = setup.download(config, model)
        choice = Choice(folder=str(folder.absolute()), model=model)
    size = setup.choose(config, choice)
    with options.opened(vault) as place:
        place.indexer.begin()
        with shown_progress():
            place.indexer.complete()
            count = place.meaning.complete() if place.meaning is not None else 0
        refused = sorted(place.meaning.refused) if place.meaning is not None else []
        facts = {"model": choice.model, "dimensions": size, "vault": place.name, "embedded": count, "refused": refused}
    if as_json:
        write(json.dumps(facts, ensure_ascii=False) + "\n")
    else:
        write(f"{choice.model} answers with vectors of {size} numbers\n")
        write(f"embedded {count} notes of {facts['vault']}\n")
        for path in refused:
            click.echo(f"refused by the model, and found by its words alone: {path}", err=True)


@semantic.command("status", epilog=epilog("semantic status"))
@vault_option
@json_option
@click.pass_obj
def status_command(options: Options, vault: tuple[str, ...], as_json: bool) -> None:
    """Which model is used, and how many notes are not embedded yet."""
    from obsidian_mcp import compose

    config = options.with_vaults(vault).config()
    choice = compose.embedding_choice(config)
    facts: dict[str, object] = {"on": choice is not None}
    if choice is None:
        facts["setup"] = "obsidian-mcp semantic setup"
    else:
        with options.opened(vault) as place:
            place.indexer.begin()
            place.indexer.complete()
            facts |= {"model": choice.model, "endpoint": choice.url or None, "vault": place.name}
            facts["pending"] = len(place.meaning.pending()) if place.meaning is not None else None
    facts = {name: value for name, value in facts.items() if value is not None}
    if as_json:
        write_json(facts)
    else:
        write(readable(facts))


@semantic.command("off", epilog=epilog("semantic off"))
@json_option
@click.pass_obj
def off_command(options: Options, as_json: bool) -> None:
    """Turn search by meaning off; the model and the vectors stay."""
    from obsidian_mcp.setup import semantic as setup

    was_on = setup.turn_off(options.config())
    said = "search by meaning is off\n" if was_on else "search by meaning was off\n"
    write(json.dumps({"was_on": was_on}) + "\n" if as_json else said)
