"""Both versions of a file side by side, a note as it is meant to be read (UI-38).

A note's text is hostile. The page of a note, which views use too (VIEW-08), shows it in a frame
that has no origin: whatever a note had in it could reach neither the console nor the network.
"""

from __future__ import annotations

from typing import Final

from obsidian_mcp.core.files.ports import ChangeHead
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.operations.history import recall
from obsidian_mcp.core.operations.plan import FileChange
from obsidian_mcp.core.text.fit import cut_and_count
from obsidian_mcp.core.text.text import Text, to_printable
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.http.console.markup import Markup, element, join
from obsidian_mcp.serve.http.console.part import ConsolePage, Visit
from obsidian_mcp.serve.views import document

from .file_card import NAME, find_file

MOST_CHARACTERS: Final = 300_000
"""Of one version on a page."""
SIDES: Final = {"before": "Before", "after": "After"}


def versions_page(visit: Visit, head: ChangeHead) -> ConsolePage:
    """Return the page with both versions. Raises: ChangeNotFound, InvalidArguments."""
    file = _read_file(visit, head)
    back = visit.link(NAME, change=head.number)
    sides = (
        element(
            "section",
            element("h2", title),
            _write_version(visit, head, file, side),
            class_="side",
        )
        for side, title in SIDES.items()
    )
    body = join(
        element("p", element("a", f"Change {head.number}", href=back), class_="no-print"),
        element("div", *sides, class_="sides"),
    )
    return ConsolePage(file.to or file.path, body)


def version_document(visit: Visit, head: ChangeHead) -> ConsolePage:
    """Return one version of a note as a document of its own, for a frame."""
    file = _read_file(visit, head)
    text = _text_of(file, visit.query.text("side"))
    if text is None:
        raise InvalidArguments("There is no file on this side of the change.", argument="side")
    shown = cut_and_count(to_printable(text[text_start(text) :]), MOST_CHARACTERS)
    path = file.to or file.path
    data = {
        "view": "note",
        "vault": visit.vault.name,
        "path": path,
        "title": path.rpartition("/")[2].removesuffix(".md"),
        "properties": [],
        "outline": [],
        "backlinks": [],
        "images": {},
        "excerpt": "",
        "length": len(shown),
        "page": {"markdown": shown, "links": {}, "images": []},
    }
    return ConsolePage("", Markup(document("note", data)), is_framed=False)


def _read_file(visit: Visit, head: ChangeHead) -> FileChange:
    return find_file(visit, recall(visit.vault, head.number), visit.query.text("path"))


def _text_of(file: FileChange, side: str) -> str | None:
    data = file.before if side == "before" else file.after
    return None if data is None or not file.is_text else Text.decode(data).body


def _write_version(visit: Visit, head: ChangeHead, file: FileChange, side: str) -> Markup:
    text = _text_of(file, side)
    if text is None:
        return element("p", "There is no text on this side.", class_="quiet")
    if not (file.to or file.path).lower().endswith(".md"):
        return element("pre", cut_and_count(text, MOST_CHARACTERS), tabindex="0")
    address = visit.link(NAME, change=head.number, path=file.path, view="version", side=side)
    return element(
        "iframe",
        src=address,
        title=f"{SIDES[side]} the change",
        sandbox="allow-scripts",
        class_="version",
    )
