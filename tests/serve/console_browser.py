"""A browser at the console without script: it follows links and presses buttons (specs/console.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

from starlette.testclient import TestClient

from obsidian_mcp import compose
from obsidian_mcp.app import App
from obsidian_mcp.serve.http.console.page import opening_address
from obsidian_mcp.setup.console_parts import console_parts

BLOCKS = {"p", "div", "h1", "h2", "h3", "h4", "li", "dt", "dd", "section", "article", "form", "nav", "main"}
"""Elements that stand apart from what is before them."""
SERVER = "http://127.0.0.1:4100"


@dataclass
class Form:
    """A form of a page: what it sends, and its button."""

    action: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    button: str = ""
    label: str = ""


class _Reader(HTMLParser):
    """Reads the text, the links and the forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.links: list[tuple[str, str]] = []
        self.forms: list[Form] = []
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._inside.append(tag)
        self.text += " " if tag in BLOCKS else ""
        if tag == "a":
            self.links.append(("", given.get("href", "")))
        elif tag == "form":
            self.forms.append(Form(given["action"]))
        elif tag == "input":
            self._inside.pop()
            if self.forms and given.get("type") == "hidden":
                self.forms[-1].fields.append((given["name"], given["value"]))
        elif tag in ("meta", "link", "br"):
            self._inside.pop()
        elif tag == "button":
            self.forms[-1].label = given.get("aria-label", "")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.text += data
        if "a" in self._inside:
            text, address = self.links[-1]
            self.links[-1] = (text + data, address)
        if "button" in self._inside:
            self.forms[-1].button += data


class ConsoleBrowser:
    """One person's browser, in which the console is open."""

    def __init__(self, client: TestClient, first: str) -> None:
        self.client = client
        self.address = first
        self.status = 0
        self.html = ""
        self._reader = _Reader()
        self.reload()

    def go(self, address: str) -> ConsoleBrowser:
        """Go to an address, which may be relative to the present page."""
        self.address = urljoin(self.address, address)
        return self.reload()

    def reload(self) -> ConsoleBrowser:
        return self._take(self.client.get(self.address))

    def follow(self, text: str) -> ConsoleBrowser:
        """Follow the first link with this text."""
        return self.go(next(address for shown, address in self._reader.links if text in shown))

    def press(self, button: str) -> ConsoleBrowser:
        """Press the only button with this text or label."""
        (form,) = (form for form in self._reader.forms if button in (form.button, form.label))
        answer = self.client.post(urljoin(self.address, form.action), data=dict(form.fields))
        if answer.status_code == 303:
            return self.go(answer.headers["location"])
        return self._take(answer)

    @property
    def text(self) -> str:
        """The words of the page, with single blanks."""
        return " ".join(self._reader.text.split())

    @property
    def buttons(self) -> Sequence[str]:
        """What can be pressed."""
        return [form.label or form.button for form in self._reader.forms]

    @property
    def links(self) -> Sequence[str]:
        """What can be followed."""
        return [text for text, _ in self._reader.links]

    def _take(self, answer: Any) -> ConsoleBrowser:
        self.status, self.html = answer.status_code, answer.text
        self._reader = _Reader()
        self._reader.feed(self.html)
        return self


@contextmanager
def open_console(app: App) -> Iterator[ConsoleBrowser]:
    """A browser at the console of a process of its own."""
    served, sessions = compose.console_alone(app, console_parts())
    with TestClient(served, base_url=SERVER, follow_redirects=False) as client:
        answer = client.get(opening_address("", sessions.make_token()))
        yield ConsoleBrowser(client, str(answer.headers["refresh"]).partition("url=")[2])
