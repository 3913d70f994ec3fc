"""The searchable contents of one file, in the form in which they are stored (specs/search.md, SEARCH-20 to 29)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from obsidian_mcp.core.text import analysis

ODD_KEYS = 1
"""A search compares a tag or property differently (QUERY-21) from the key of its row."""
ODD_WORDS = 2
"""A word is too long for the vocabulary."""
TRUNCATED = 4
"""Only the beginning of the file is indexed."""
UNDERSCORES = 16
"""The text has underscores: letters of regular expressions, but not of words."""
ODD_FIELDS = 8
"""An alias, heading or tag has a word that the text lacks, because it is written with escapes there."""
ITEMS = f" {analysis.GAP} {analysis.GAP} "
"""Separates the aliases, headings or tags of a note, so that no phrase spans two of them."""


class SearchContent(NamedTuple):
    """Only `text` is as in the file; the other texts are prepared by `analysis.spread`."""

    text: str = ""
    """The body with its frontmatter; of a canvas the texts of its cards, an empty line between two."""
    body: str = ""
    name: str = ""
    """File name without extension."""
    alias: str = ""
    heading: str = ""
    tag: str = ""
    folder: str = ""
    words: str = ""
    """The distinct words of all these, separated by spaces, without those that are too long."""
    odd: int = 0
    structure: bytes = b""
    """`Structure.pack` of its parts; empty if it is not known."""


FIELDS = ("body", "name", "alias", "heading", "tag", "folder")
"""The columns of the index, as `SearchContent` names them."""


def compose(
    path: str,
    text: str,
    *,
    aliases: Iterable[str] = (),
    headings: Iterable[str] = (),
    tags: Iterable[str] = (),
    properties: Iterable[str] = (),
    truncated: bool = False,
    structure: bytes = b"",
) -> SearchContent:
    """Return the contents of a file. `text` holds no lone surrogates, `tags` no `#`; `properties` are names."""
    folder, _, name = path.rpartition("/")
    tags = tuple(tags)
    body = analysis.spread(text)
    fields = (
        analysis.spread(name.rpartition(".")[0]),
        ITEMS.join(map(analysis.spread, aliases)),
        ITEMS.join(map(analysis.spread, headings)),
        ITEMS.join(map(analysis.spread, tags)),
        analysis.spread(folder),
    )
    found = set(analysis.words(body))
    found.discard(analysis.GAP.encode())
    odd = TRUNCATED if truncated else 0
    if not found.issuperset(analysis.words(" ".join(fields[1:4]).replace(analysis.GAP, " "))):
        odd |= ODD_FIELDS
    found.update(analysis.words(" ".join(fields).replace(analysis.GAP, " ")))
    if "_" in text:
        odd |= UNDERSCORES
    if any(analysis.fold(name) != name.lower() for name in (*tags, *properties) if not name.isascii()):
        odd |= ODD_KEYS
    if max(map(len, found), default=0) > analysis.LONGEST_WORD:
        odd |= ODD_WORDS
        found = {word for word in found if len(word) <= analysis.LONGEST_WORD}
    return SearchContent(text, body, *fields, b" ".join(found).decode(), odd, structure)
