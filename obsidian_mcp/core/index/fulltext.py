"""The tables that a search asks: texts, words, and SQLite's full-text indexes over the words (specs/search.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from obsidian_mcp.core.text import tokenizer

from .database import Connection
from .search_document import FIELDS, Content

_FIELDS = ", ".join(FIELDS)

SCHEMA = (
    # The text stands last: what stands before it is read without it.
    f"""CREATE TABLE texts (file INTEGER PRIMARY KEY, odd INTEGER NOT NULL, {", ".join(FIELDS[1:])},
    structure BLOB NOT NULL, text TEXT NOT NULL)""",
    "CREATE INDEX files_by_time ON files (mtime_ns DESC, path)",
    "CREATE INDEX texts_odd ON texts (odd) WHERE odd != 0",
    # Numbered as they are met, in a batch the most frequent first: what has a low number is common.
    "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE, plain TEXT)",
    # The texts are prepared by `words.spread`, so that the tokenizer has nothing to decide beyond ASCII.
    f"CREATE VIRTUAL TABLE search USING fts5({_FIELDS}, content='', tokenize='ascii')",
    "INSERT INTO search (search, rank) VALUES ('automerge', 16)",  # fewer merges: half the time of a build
    # the indexes as rows, for tests
    "CREATE VIRTUAL TABLE places USING fts5vocab(search, 'instance')",
)
"""Every row depends on the bytes and the path of its file alone; `words` may hold more than the files do."""

_PUT_TEXT = f"INSERT INTO texts VALUES ({', '.join('?' * (len(FIELDS) + 3))})"  # noqa: S608 - our own names
_PUT = f"INSERT INTO search (rowid, {_FIELDS}) VALUES ({', '.join('?' * (len(FIELDS) + 1))})"  # noqa: S608
_DROP = f"INSERT INTO search (search, rowid, {_FIELDS}) VALUES ('delete', {', '.join('?' * (len(FIELDS) + 1))})"  # noqa: S608
_OLD = f"SELECT file, text, {', '.join(FIELDS[1:])} FROM texts WHERE file = ?"  # noqa: S608

MANY = 16
"""From so many files in one transaction on, words that were stored before are remembered."""
REMEMBERED = 200_000


class Writer:
    """Contents on their way into the tables, inside one transaction.

    `stored` are words that are in the tables for certain; those that are new are added to it.
    """

    def __init__(self, connection: Connection, stored: set[str]) -> None:
        self._connection = connection
        self._stored = stored
        self._dropped: list[int] = []
        self._new: dict[int, Content] = {}

    def put(self, file: int, content: Content) -> None:
        self._new[file] = content

    def drop(self, file: int) -> None:
        """Forget what is stored of a file, before what is put for it."""
        self._dropped.append(file)

    def finish(self) -> None:
        connection = self._connection
        for file in self._dropped:
            old = connection.execute(_OLD, (file,)).fetchone()
            if old is not None:  # the index has no copy of its words: they are told again to be taken out
                connection.execute(_DROP, (file, tokenizer.spread(old[1]), *old[2:]))
                connection.execute("DELETE FROM texts WHERE file = ?", (file,))
        connection.executemany(
            _PUT_TEXT, ((file, new.odd, *new[2:7], new.structure, new.text) for file, new in self._new.items())
        )
        connection.executemany(_PUT, ((file, *new[1:7]) for file, new in self._new.items()))
        self._add_words()

    def _add_words(self) -> None:
        if len(self._new) < MANY or len(self._stored) > REMEMBERED:
            self._stored.clear()
        found: Counter[str] = Counter()
        for content in self._new.values():
            found.update(set(content.words.split()) - self._stored)
        self._connection.executemany(
            "INSERT OR IGNORE INTO words (word, plain) VALUES (?, ?)",
            ((word, None if word.isascii() else tokenizer.plain(word)) for word, _ in found.most_common()),
        )
        if len(self._new) >= MANY:
            self._stored.update(found)


def dump(connection: Connection) -> dict[str, list[tuple[object, ...]]]:
    """The contents by path, in order: equal for equal vaults. The full-text index is checked against them."""
    columns = ", ".join(f"t.{name}" for name in ("odd", *FIELDS[1:], "structure", "text"))
    texts = list(
        connection.execute(
            f"SELECT files.path, {columns} FROM texts t JOIN files ON files.id = t.file"  # noqa: S608 - our own names
            " ORDER BY files.path"
        )
    )
    places = list(
        connection.execute(
            "SELECT files.path, p.col, p.offset, p.term FROM places p LEFT JOIN files ON files.id = p.doc"
            " ORDER BY 1, 2, 3"
        )
    )
    return {"texts": texts, "search": places}


def odd(connection: Connection) -> dict[int, int]:
    """The bits of files of which they say something (`content.ODD_KEYS` and others)."""
    return dict(connection.execute("SELECT file, odd FROM texts WHERE odd != 0").fetchall())


def quoted(phrase: Sequence[str], *, prefix: bool = False) -> str:
    """Words that follow each other, as the full-text index is asked; `prefix`: the last may go on."""
    return f'"{" ".join(phrase)}"{"*" if prefix else ""}'
