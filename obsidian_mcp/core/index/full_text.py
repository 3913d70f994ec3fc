"""Questions to the full-text index: which files have some words, and how much they say of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import compress
from typing import NamedTuple

from obsidian_mcp.core.text.vault_path import VaultPath

from .columns import IN_LIST
from .database import Connection

_NOT_PDF = "files.path NOT LIKE '%.pdf'"


class NewWords(NamedTuple):
    """The words that the vocabulary has got since its row `last` was the newest."""

    last: int
    words: str
    """One a line, in the order in which they came."""
    accented: str | None
    """Those with accents, one a line: the word without them, a tab, the word."""


class FullText(NamedTuple):
    """The full-text index in one consistent view.

    Expressions are FTS5's. Files are the numbers of their rows, which may be those of files that
    are hidden or gone.
    """

    connection: Connection

    def find_matching(self, expression: str) -> set[int]:
        """Return the files that satisfy an expression."""
        # As one text: most of the time would go into making a row of each number.
        sql = "SELECT group_concat(rowid) FROM search WHERE search MATCH ?"
        (numbers,) = self.connection.execute(sql, (expression,)).fetchone()
        return set(json.loads(f"[{numbers}]")) if numbers else set()

    def count(self, expression: str) -> int:
        """Return how many files satisfy an expression."""
        sql = "SELECT count(*) FROM search WHERE search MATCH ?"
        return int(self.connection.execute(sql, (expression,)).fetchone()[0])

    def weights(
        self, expression: str, field_weights: tuple[float, ...]
    ) -> Iterator[tuple[int, float]]:
        """Yield the files that satisfy an expression, with what BM25 gives them: more is better.

        `field_weights` are in the order of `search_document.FIELDS`.
        """
        return self.connection.execute(_weights_sql(field_weights), (expression,))

    def find_used(self, words: Collection[str], fields: str = "") -> list[str]:
        """Return the words that some file has, in any field or in `fields` (`{name tag} : `).

        The vocabulary may have more words: those of texts that were changed since (SEARCH-34).
        """
        # One statement for all: between two of them another busy thread takes the interpreter for
        # 5 ms.
        is_used = ", ".join(["EXISTS (SELECT 1 FROM search WHERE search MATCH ?)"] * len(words))
        expressions = [f'{fields}"{word}"' for word in words]
        row = self.connection.execute(f"SELECT {is_used}", expressions).fetchone()
        return list(compress(words, row))

    def count_common(self, least: int, words: Sequence[str]) -> int:
        """Return how many of some words are in at least `least` files."""
        # each look into the full text passes all of its segments; the vocabulary is one lookup
        listed = self.connection.execute(
            f"SELECT word FROM words WHERE word {IN_LIST}", (json.dumps(list(words)),)
        )
        words = [word for (word,) in listed]
        if not words:
            return 0
        # One statement, as in `find_used`
        is_common = "(SELECT count(*) = ? FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?))"
        sql = "SELECT " + " + ".join([is_common] * len(words))
        parameters = [value for word in words for value in (least, f'"{word}"', least)]
        return int(self.connection.execute(sql, parameters).fetchone()[0])

    def most_alike(self, expression: str, limit: int) -> list[VaultPath]:
        """Return the paths of the `limit` files that BM25 puts first, without PDFs."""
        sql = (
            "SELECT files.path FROM search JOIN files ON files.id = search.rowid "
            f"WHERE search MATCH ? AND {_NOT_PDF} ORDER BY search.rank, files.path LIMIT ?"
        )
        return [VaultPath(path) for (path,) in self.connection.execute(sql, (expression, limit))]

    def words_since(self, last: int) -> NewWords | None:
        """Return the words that came after a row of the vocabulary (SEARCH-34).

        None where there are none.
        """
        sql = (
            "SELECT max(id), group_concat(word, char(10)), group_concat(plain || char(9) || "
            "word, char(10)) "
            "FROM (SELECT id, word, plain FROM words WHERE id > ? ORDER BY id)"
        )
        row = self.connection.execute(sql, (last,)).fetchone()
        return None if row[0] is None else NewWords(*row)


@cache
def _weights_sql(field_weights: tuple[float, ...]) -> str:
    bm25 = f"bm25(search, {', '.join(map(str, field_weights))})"
    return f"SELECT rowid, -{bm25} FROM search WHERE search MATCH ?"
