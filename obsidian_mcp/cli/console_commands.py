"""The console: pages on which a person sees what assistants did, and takes it back
(specs/console.md UI-10)."""

from __future__ import annotations

import sys
import threading
import webbrowser
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Final

from obsidian_mcp import compose
from obsidian_mcp.app import App
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.http.console.page import opening_address
from obsidian_mcp.serve.http.console.sessions import ConsoleSessions
from obsidian_mcp.serve.http.server import run_beside
from obsidian_mcp.setup.console_parts import console_parts

from .options import Options
from .page_folder import PageFolder
from .stdout import write

_WAY: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>The console</title>'
    '<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={url}">'
    '<p><a href="{url}">Open the console</a></p></html>'
)

_OPENED: Final = (
    "I have just opened the console of my vault in the browser of this computer: there I see what "
    "assistants changed, and take it back. Answer with one short sentence that it is open; call no "
    "tool."
)
_CLOSED: Final = (
    "I wanted to open the console of my vault, but no browser can be opened on the computer where "
    "the server runs. Tell me in one sentence to run `obsidian-mcp ui` in a terminal there; call "
    "no tool."
)


def open_console(
    options: Options, *, port: int = 0, no_open: bool = False, vault: Sequence[str] = ()
) -> int:
    """Serve the console on this computer, and open it in the browser. Raises: InvalidArguments."""
    app = options.app(tuple(vault), serving=True)
    if app.config.key:
        raise InvalidArguments("The console is for the owner of the vault; leave --key out.")
    pages = PageFolder(app.config.cache)

    def show(address: str) -> None:
        write(
            f"{address}\n"
            "This address opens the console in one browser, once, within ten minutes.\n"
            "The console runs until you press Ctrl-C here.\n"
        )
        if sys.stdout is not None:
            sys.stdout.flush()
        if not no_open:  # a browser in the terminal would not give the thread back
            threading.Thread(target=_open_browser, args=(pages, address), daemon=True).start()

    return compose.serve_console(app, console_parts(), port=port, show=show)


def open_beside(app: App) -> str:
    """Open the console of a server on stdio in the browser of this computer; return a message to
    its model, which says what happened and holds no address (UI-11)."""
    url, sessions = _serve_beside(app)
    pages = PageFolder(app.config.cache)
    return _OPENED if _open_browser(pages, opening_address(url, sessions.make_token())) else _CLOSED


@cache
def _serve_beside(app: App) -> tuple[str, ConsoleSessions]:
    """Serve the console of a server on stdio beside it, from the first time on."""
    starlette, sessions = compose.console_alone(app, console_parts())
    return run_beside(starlette, app.config.timeout), sessions


def _open_browser(pages: PageFolder, address: str) -> bool:
    """Open a page that leads to an address; return whether there is a browser.

    Other users of the computer see the arguments of a browser that starts, and the address opens
    the console; the page can be read by the user alone.
    """
    page = pages.write("console", _WAY.format(url=escape(address)))
    return webbrowser.open(page.as_uri())
