"""What a search looks at in one file, in the form in which the index takes it (specs/search.md, SEARCH-20 to 29)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from obsidian_mcp.core.text import tokenizer as words
from obsidian_mcp.core.text.casefold import fold

ODD_KEYS = 1
"""A tag or property compares otherwise in a search (QUERY-21) than by the key of its row."""
ODD_WORDS = 2
"""A word is longer than the vocabulary takes."""
TRUNCATED = 4
"""Only the beginning of the file is here."""
UNDERSCORES = 16
"""The text has underscores, which are letters for regular expressions and none for words."""
ODD_FIELDS = 8
"""An alias, heading or tag has a word that the text has not: it is written with escapes there."""
ITEMS = f" {words.GAP} {words.GAP} "
"""Between the aliases, headings or tags of a note: no words follow each other over it."""


class Content(NamedTuple):
    """Only `text` is as in the file; the others are `words.spread`."""

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
    """Every different word of all these, with spaces between; without those that are too long."""
    odd: int = 0
    structure: bytes = b""
    """`scopes.pack` of the structure; empty if it is not known."""


FIELDS = ("body", "name", "alias", "heading", "tag", "folder")
"""The columns of the index, as `Content` names them."""


def of(
    path: str,
    text: str,
    *,
    aliases: Iterable[str] = (),
    headings: Iterable[str] = (),
    tags: Iterable[str] = (),
    properties: Iterable[str] = (),
    truncated: bool = False,
    structure: bytes = b"",
) -> Content:
    """`text` holds no lone surrogates. `tags` without `#`; of `properties` the names."""
    folder, _, name = path.rpartition("/")
    tags = tuple(tags)
    body = words.spread(text)
    fields = (
        words.spread(name.rpartition(".")[0]),
        ITEMS.join(map(words.spread, aliases)),
        ITEMS.join(map(words.spread, headings)),
        ITEMS.join(map(words.spread, tags)),
        words.spread(folder),
    )
    found = set(words.words(body))
    found.discard(words.GAP.encode())
    odd = TRUNCATED if truncated else 0
    if not found.issuperset(words.words(" ".join(fields[1:4]).replace(words.GAP, " "))):
        odd |= ODD_FIELDS
    found.update(words.words(" ".join(fields).replace(words.GAP, " ")))
    if "_" in text:
        odd |= UNDERSCORES
    if any(fold(each) != each.lower() for each in (*tags, *properties) if not each.isascii()):
        odd |= ODD_KEYS
    if max(map(len, found), default=0) > words.LONGEST:
        odd |= ODD_WORDS
        found = {word for word in found if len(word) <= words.LONGEST}
    return Content(text, body, *fields, b" ".join(found).decode(), odd, structure)
