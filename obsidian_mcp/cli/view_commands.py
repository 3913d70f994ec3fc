"""The views outside a chat: a page with its data inside, opened in the browser (specs/views.md VIEW-13 to 15)."""

from __future__ import annotations

import os
import tempfile
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from obsidian_mcp.config import expanded
from obsidian_mcp.errors import AppError, InvalidArguments, StorageFailed

from .examples import epilog
from .options import Options, json_option, vault_option
from .output import write, write_json

if TYPE_CHECKING:
    from obsidian_mcp.app import App

MOST_IMAGES: Final = 20
PREVIEW_CHARACTERS: Final = 600
ENDINGS: Final = (".html", ".htm")


@click.group()
def view() -> None:
    """Show links, queries, notes or changes in the browser, as one file that needs no network."""


Ask = Callable[..., dict[str, Any]]
"""Calls a tool of views, or any other, and returns its whole answer."""


def _page(name: str) -> Callable[[Callable[..., dict[str, Any]]], Callable[..., None]]:
    """Make a command of a function that gets an `Ask` and its own arguments, and returns the data of a page."""
    output = click.option("--output", "-o", default="", metavar="FILE", help="Where to (.html); - is standard output.")
    no_open = click.option("--no-open", is_flag=True, help="Write the page and do not open it.")

    def decorate(build: Callable[..., dict[str, Any]]) -> Callable[..., None]:
        def command(
            options: Options, /, vault: tuple[str, ...], output: str, no_open: bool, as_json: bool, **given: Any
        ) -> None:
            from .tool_commands import whole

            with whole(options, vault) as app:
                data = build(partial(_ask, app), **given)
            if as_json:
                write_json(data)
            else:
                _show(name, data, output, no_open=no_open)

        command.__doc__ = build.__doc__
        return vault_option(output(no_open(json_option(click.pass_obj(command)))))

    return decorate


def _ask(app: App, tool: str, /, **arguments: Any) -> dict[str, Any]:
    from obsidian_mcp.tools.registry import TOOLS, VIEW_TOOLS

    name = f"obsidian_{tool}"
    return (VIEW_TOOLS if name in VIEW_TOOLS else TOOLS)[name].call(app, arguments).whole()


@view.command("graph", epilog=epilog("view graph"))
@click.argument("note")
@click.option("--depth", type=click.IntRange(1, 3), default=2, show_default=True, help="Links away.")
@_page("graph")
def graph(ask: Ask, note: str, depth: int) -> dict[str, Any]:
    """The links around a note."""
    data = ask("show_graph", note=note, depth=depth)
    notes = [path for path, kind, *_ in data["nodes"] if kind == "note"]
    data["previews"] = {path: ask("note_page", path=path)["markdown"][:PREVIEW_CHARACTERS] for path in notes}
    return data


@view.command("query", epilog=epilog("view query"))
@click.argument("query", default="")
@click.option("--language", type=click.Choice(["base", "dataview", "tasks"]), help="Of the query.")
@click.option("--view", "view", help="View of a base; else the first.")
@click.option("--layout", type=click.Choice(["table", "cards", "list", "board"]), help="How it is shown.")
@click.option("--sort", metavar="COLUMN", help="Column id; -id: descending.")
@click.option("--group", metavar="COLUMN", help="Column id.")
@_page("query")
def query(ask: Ask, **options: str | None) -> dict[str, Any]:
    """The result of a Bases, Dataview or Tasks query."""
    return ask("show_query", **{name: value or "" for name, value in options.items()})


@view.command("note", epilog=epilog("view note"))
@click.argument("note")
@_page("note")
def note(ask: Ask, note: str) -> dict[str, Any]:
    """A note, formatted."""
    data = ask("show_note", path=note)
    data["page"] = ask("note_page", path=data["path"])
    data["images"] = {}
    for path in dict.fromkeys(image["path"] for image in data["page"]["images"][:MOST_IMAGES]):
        try:
            shown = ask("attachments", name=path)
        except AppError:  # the page says that it cannot be shown
            continue
        data["images"][path] = {"mime": shown["shown_as"], "data": shown["base64"]}
    return data


@view.command("history", epilog=epilog("view history"))
@click.argument("note", default="")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="Changes shown.")
@_page("changes")
def history(ask: Ask, note: str, limit: int) -> dict[str, Any]:
    """The last changes with their lines."""
    changes = []
    for listed in ask("history", name=note, limit=limit)["changes"]:
        change = ask("show_changes", change=listed["change"])
        for file in change["files"]:
            file |= ask("plan_diff", change=listed["change"], path=file["path"])
        changes.append(change)
    return {"view": "changes", "changes": changes}


def _show(name: str, data: dict[str, Any], output: str, *, no_open: bool) -> None:
    """Write a page and open it. Raises: InvalidArguments, StorageFailed."""
    from obsidian_mcp.serve.views import document

    page = document(name, data)
    if output == "-":
        write(page)
        return
    file = _written(page, name, output)
    opened = not no_open and webbrowser.open(file.as_uri())
    write(f"{file}\n" if opened or no_open else f"{file}\nNo browser could be opened; open this file in one.\n")


def _written(page: str, name: str, output: str) -> Path:
    """The file that holds the page: the one that was named, else a new one that only the user can read."""
    if output and not output.lower().endswith(ENDINGS):
        raise InvalidArguments(f"--output names {output!r}; give a file that ends in .html.", argument="output")
    try:
        if output:
            file = expanded(output).absolute()
            file.write_text(page, encoding="utf-8", newline="\n")
            return file
        handle, path = tempfile.mkstemp(prefix=f"obsidian-{name}-", suffix=".html")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(page)
        return Path(path)
    except OSError as error:
        raise StorageFailed(f"The page cannot be written: {error}. Name another file with --output.") from error
