"""The views outside a chat: a page with its data inside, opened in the browser (specs/views.md
VIEW-13 to 15)."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.config import expand_home
from obsidian_mcp.errors import AppError, InvalidArguments, StorageFailed

from .options import Options
from .page_folder import PageFolder
from .stdout import write, write_json
from .tool_commands import open_whole

if TYPE_CHECKING:
    from obsidian_mcp.app import App

MOST_IMAGES: Final = 20
"""Images of a note that its page has inside; a page loads nothing."""
MOST_BACKLINKS: Final = 10_000
DEEPEST: Final = 3
"""Links away from the note of a graph."""
PREVIEW_CHARACTERS: Final = 600
"""Of each note of a graph."""
ENDINGS: Final = (".html", ".htm")
"""Of a file that browsers open as a page."""


Ask = Callable[..., dict[str, Any]]
"""Calls a tool of views, or any other, and returns its whole answer."""


def show_graph(options: Options, *, note: str, depth: int = 2, **page: Any) -> None:
    """Show the links around a note.

    A page has the notes of the deepest choice inside, and shows those of `depth` first (VIEW-23).
    """

    def build(ask: Ask) -> dict[str, Any]:
        data = ask("show_graph", note=note, depth=depth if page.get("json") else DEEPEST)
        data["depth"] = depth
        notes = [path for path, kind, *_ in data["nodes"] if kind == "note"]
        data["previews"] = {
            path: ask("note_page", path=path)["markdown"][:PREVIEW_CHARACTERS] for path in notes
        }
        return data

    _show("graph", build, options, **page)


def show_query(options: Options, **typed: Any) -> None:
    """Show the result of a Bases, Dataview or Tasks query."""
    page = {
        name: typed.pop(name) for name in ("output", "no_open", "vault", "json") if name in typed
    }

    def build(ask: Ask) -> dict[str, Any]:
        data = ask("show_query", **typed)
        if "views" in data and not page.get("json"):
            data["tabs"] = _read_tabs(ask, data, typed)
            data["views"] = [
                name for name in data["views"] if name == data["shown_view"] or name in data["tabs"]
            ]
        return data

    _show("query", build, options, **page)


def _read_tabs(ask: Ask, data: dict[str, Any], typed: dict[str, Any]) -> dict[str, Any]:
    """Return the data of the base's views beside the one that is shown, but for broken ones. Order
    and groups that were typed are of columns of that one."""
    request = {name: value for name, value in typed.items() if name not in ("sort", "group")}
    tabs = {}
    for name in data["views"]:
        if name != data["shown_view"]:
            with suppress(AppError):
                tabs[name] = ask("show_query", **{**request, "view": name})
    return tabs


def show_note(options: Options, *, note: str, **page: Any) -> None:
    """Show a note, formatted."""

    def build(ask: Ask) -> dict[str, Any]:
        data = ask("show_note", path=note)
        data["page"] = ask("note_page", path=data["path"])
        data["backlinks"] = _backlinks(ask, data["path"])
        data["images"] = {}
        for path in dict.fromkeys(image["path"] for image in data["page"]["images"][:MOST_IMAGES]):
            try:
                attachment_data = ask("attachments", name=path)
            except AppError:  # the page says that it cannot be shown
                continue
            data["images"][path] = {
                "mime": attachment_data["shown_as"],
                "data": attachment_data["base64"],
            }
        return data

    _show("note", build, options, **page)


def _backlinks(ask: Ask, path: str) -> list[str]:
    """Return the paths of the notes that link to a note, each once."""
    links = ask("get_links", name=path, limit=MOST_BACKLINKS)
    return list(dict.fromkeys(link["path"] for link in links["backlinks"]))


def show_history(options: Options, *, note: str = "", limit: int = 20, **page: Any) -> None:
    """Show the last changes with their lines."""

    def build(ask: Ask) -> dict[str, Any]:
        changes = []
        for listed in ask("history", name=note, limit=limit)["changes"]:
            change = ask("show_changes", change=listed["change"])
            for file in change["files"]:
                file |= ask("plan_diff", change=listed["change"], path=file["path"])
            changes.append(change)
        return {"view": "changes", "changes": changes}

    _show("changes", build, options, **page)


def _show(
    name: str,
    build: Callable[[Ask], dict[str, Any]],
    options: Options,
    output: str = "",
    *,
    no_open: bool = False,
    vault: Sequence[str] = (),
    json: bool = False,
) -> None:
    """Write the page of a view with its data, and open it. Raises: InvalidArguments,
    StorageFailed."""
    with open_whole(options, tuple(vault)) as app:
        data = build(partial(_ask, app))
        pages = PageFolder(app.config.cache)
    if json:
        write_json(data)
        return
    from obsidian_mcp.serve.views import document

    page = document(name, data)
    if output == "-":
        write(page)
        return
    file = _write_page(page, name, output, pages)
    opened = not no_open and webbrowser.open(file.as_uri())
    write(
        f"{file}\n"
        if opened or no_open
        else f"{file}\nNo browser could be opened; open this file in one.\n"
    )


def _ask(app: App, tool: str, /, **arguments: Any) -> dict[str, Any]:
    from obsidian_mcp.tools.registry import TOOLS, VIEW_TOOLS

    name = f"obsidian_{tool}"
    return (VIEW_TOOLS if name in VIEW_TOOLS else TOOLS)[name].call(app, arguments).to_full_data()


def _write_page(page: str, name: str, output: str, pages: PageFolder) -> Path:
    """Return the file that holds the page: the one that was named, else a new one.

    Raises: InvalidArguments, StorageFailed.
    """
    if output and not output.lower().endswith(ENDINGS):
        raise InvalidArguments(
            f"--output names '{output}'; give a file that ends in .html.", argument="output"
        )
    try:
        if not output:
            return pages.write(name, page)
        file = expand_home(output).absolute()
        file.write_text(page, encoding="utf-8", newline="\n")
        return file
    except OSError as error:
        raise StorageFailed(
            f"The page cannot be written: {error}. Name another file with --output."
        ) from error
