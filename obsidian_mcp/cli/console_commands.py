"""The console: pages on which a person sees what assistants did, and takes it back
(specs/console.md UI-10)."""

from __future__ import annotations

import sys
import threading
import webbrowser
from collections.abc import Sequence
from html import escape
from typing import Final

from obsidian_mcp import compose
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.setup.console_parts import console_parts

from .options import Options
from .page_folder import PageFolder
from .stdout import write

_WAY: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>The console</title>'
    '<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={url}">'
    '<p><a href="{url}">Open the console</a></p></html>'
)


def open_console(
    options: Options, *, port: int = 0, no_open: bool = False, vault: Sequence[str] = ()
) -> int:
    """Serve the console on this computer, and open it in the browser. Raises: InvalidArguments."""
    app = options.app(tuple(vault), serving=True)
    if app.config.key:
        raise InvalidArguments("The console is for the owner of the vault; leave --key out.")
    pages = PageFolder(app.config.cache / "pages")

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


def _open_browser(pages: PageFolder, address: str) -> None:
    """Open a page that leads to an address.

    Other users of the computer see the arguments of a browser that starts, and the address opens
    the console; the page can be read by the user alone.
    """
    page = pages.write("console", _WAY.format(url=escape(address)))
    webbrowser.open(page.as_uri())
