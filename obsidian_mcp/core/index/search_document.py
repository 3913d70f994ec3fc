"""The searchable contents of one file, and the tables of its words (specs/search.md, SEARCH-20
to 29)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from obsidian_mcp.core.query.document import Structure
from obsidian_mcp.core.text import analysis

from .database import Connection

ODD_KEYS = 1
"""A search compares a tag or property differently (QUERY-21) from the key of its row."""
ODD_WORDS = 2
"""A word is too long for the vocabulary."""
TRUNCATED = 4
"""Only the beginning of the file is indexed."""
UNDERSCORES = 16
"""The text has underscores: letters of regular expressions, but not of words."""
ODD_FIELDS = 8
"""An alias, heading or tag has a word that the text lacks, because it is written with escapes
there."""
ITEMS = f" {analysis.GAP} {analysis.GAP} "
"""Separates the aliases, headings or tags of a note, so that no phrase spans two of them."""
_GAP = analysis.GAP.encode()
_spread_repeated = lru_cache(maxsize=4096)(analysis.spread)
"""For what many notes share: folders and tags."""


class SearchContent(NamedTuple):
    """Only `text` is as in the file; the other texts are prepared by `analysis.spread`."""

    text: str = ""
    """The body with its frontmatter; of a canvas the texts of its cards, an empty line between
    two."""
    body: str = ""
    name: str = ""
    """File name without extension."""
    alias: str = ""
    heading: str = ""
    tag: str = ""
    folder: str = ""
    words: AbstractSet[bytes] = frozenset()
    """The distinct words of all these."""
    odd: int = 0
    """Bits; whether there are ODD_WORDS is found out when the words are stored."""
    structure: Structure | None = None
    """Of its parts; None if it is not known."""

    @property
    def short_fields(self) -> tuple[str, ...]:
        """The texts of SHORT_FIELDS."""
        return self.name, self.alias, self.heading, self.tag, self.folder

    def to_json(self) -> dict[str, Any]:
        """Return the contents without structure as JSON can hold them."""
        fields = self._asdict() | {"words": b" ".join(self.words).decode()}
        del fields["structure"]
        return fields

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> SearchContent:
        """Return the contents of `to_json`."""
        return cls(**{**fields, "words": frozenset(fields["words"].encode().split())})


SHORT_FIELDS = ("name", "alias", "heading", "tag", "folder")
"""The columns that are stored as they are indexed, as `SearchContent` names them."""
FIELDS = ("body", *SHORT_FIELDS)
"""The columns of the full-text index; the body is stored as it is in the file."""


def compose(
    path: str,
    text: str,
    *,
    aliases: Iterable[str] = (),
    headings: Iterable[str] = (),
    tags: Iterable[str] = (),
    properties: Iterable[str] = (),
    truncated: bool = False,
    structure: Structure | None = None,
) -> SearchContent:
    """Return the contents of a file. `text` holds no lone surrogates, `tags` no `#`; `properties`
    are names."""
    folder, _, name = path.rpartition("/")
    tags = tuple(tags)
    body = analysis.spread(text)
    file_name, folder = analysis.spread(name.rpartition(".")[0]), _spread_repeated(folder)
    written = [  # what stands in the note, unlike its name and folder
        ITEMS.join(map(analysis.spread, aliases)),
        ITEMS.join(map(analysis.spread, headings)),
        ITEMS.join(map(_spread_repeated, tags)),
    ]
    fields = (file_name, *written, folder)
    distinct = set(analysis.words(body))
    distinct.discard(_GAP)
    odd = TRUNCATED if truncated else 0
    if not distinct.issuperset(analysis.words(" ".join(written).replace(analysis.GAP, " "))):
        odd |= ODD_FIELDS
    distinct.update(analysis.words(" ".join(fields).replace(analysis.GAP, " ")))
    if "_" in text:
        odd |= UNDERSCORES
    if any(
        analysis.fold(name) != name.lower() for name in (*tags, *properties) if not name.isascii()
    ):
        odd |= ODD_KEYS
    aliases_text, headings_text, tags_text = written
    return SearchContent(
        text,
        body,
        name=file_name,
        alias=aliases_text,
        heading=headings_text,
        tag=tags_text,
        folder=folder,
        words=distinct,
        odd=odd,
        structure=structure,
    )


# The vocabulary, and SQLite's full-text index over its words

FEW_SEGMENTS = 8
"""A search looks up its words in each segment. A batch of a build adds one, and every change."""
MANY_SEGMENTS = 24
"""More of them are merged into one, as after a build that was ended."""
LIKE_SEGMENTS = 8
"""So many of about the same size are merged into one: a change is written once more for every time
that the index is eight times as large as what changes."""
MOST_SEGMENTS = 1_999
"""The most that SQLite can count."""
MERGED_PAGES = 64
"""Pages that one step of merging writes: 5 ms with 10 000 notes, up to 30 with 50 000."""

_FIELDS = ", ".join(FIELDS)

SCHEMA = (
    # Numbered in the order of their first appearance, in a batch the most frequent first: low
    # numbers are common words.
    "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE, plain TEXT)",
    # `analysis.spread` prepares the texts, so that SQLite's tokenizer has nothing to decide beyond
    # ASCII.
    f"CREATE VIRTUAL TABLE search USING fts5({_FIELDS}, content='', tokenize='ascii')",
    # Nothing is merged while files are stored: a change would write megabytes now and then, and a
    # build would take twice as long. `merge` does it when nothing else is to be done.
    "INSERT INTO search (search, rank) VALUES ('automerge', 0)",
    f"INSERT INTO search (search, rank) VALUES ('crisismerge', {MOST_SEGMENTS})",
    f"INSERT INTO search (search, rank) VALUES ('usermerge', {LIKE_SEGMENTS})",
)
"""Every row depends on the bytes and the path of its file alone; `words` may hold more than the
files do."""

_PUT = f"INSERT INTO search (rowid, {_FIELDS}) VALUES ({', '.join('?' * (len(FIELDS) + 1))})"
_DROP = (
    f"INSERT INTO search (search, rowid, {_FIELDS}) "
    f"VALUES ('delete', {', '.join('?' * (len(FIELDS) + 1))})"
)


@dataclass(frozen=True, slots=True)
class IndexedFields:
    """The texts of a file in the full-text index."""

    text: str
    """As it is in the file."""
    short_fields: Sequence[str]


def write(
    connection: Connection,
    dropped: Iterable[tuple[int, IndexedFields]],
    contents: Mapping[int, SearchContent],
) -> None:
    """Delete the old contents of files, and then write new ones.

    FTS5 keeps no copy of the words of a contentless table, and deletes a row only if it is given
    them again; since SQLite 3.43 it can do without (`contentless_delete`), but Python 3.11 comes
    with older ones. The words are made anew from the old text in the index, never from the file, so
    that a deletion needs no disk. What it costs is bounded by facts.BODY_LIMIT: 0.08 s for the
    longest text, as much as the same step for the new one.
    """
    for file, old in dropped:
        connection.execute(_DROP, (file, analysis.spread(old.text), *old.short_fields))
    connection.executemany(
        _PUT, ((file, new.body, *new.short_fields) for file, new in contents.items())
    )


class AddedWords(NamedTuple):
    """What `add_words` has added."""

    words: Collection[bytes]
    long_word_files: AbstractSet[int]
    """Files with a word that is too long for the vocabulary."""


def add_words(
    connection: Connection, contents: Mapping[int, SearchContent], stored: AbstractSet[bytes]
) -> AddedWords:
    """Add the words of some files to the vocabulary, but those that are too long.

    `stored` are words that it has already: most of a build's words, which then are neither counted
    nor looked up.
    """
    counts: Counter[bytes] = Counter()
    long_word_files = set()
    for file, content in contents.items():
        words = content.words - stored
        if max(map(len, words), default=0) > analysis.LONGEST_WORD:
            long_word_files.add(file)
            words = {word for word in words if len(word) <= analysis.LONGEST_WORD}
        counts.update(words)
    added = [word for word, _ in counts.most_common()]
    connection.executemany(
        "INSERT OR IGNORE INTO words (word, plain) VALUES (?, ?)",
        (
            (word, None if word.isascii() else analysis.to_basic_letters(word))
            for word in map(bytes.decode, added)
        ),
    )
    return AddedWords(added, long_word_files)


def count_segments(connection: Connection) -> int:
    """Return in how many segments a search looks up its words."""
    (segments,) = connection.execute("SELECT count(DISTINCT segid) FROM search_idx").fetchone()
    return int(segments)


def merge(connection: Connection, *, is_whole: bool) -> bool:
    """Take a step of merging segments of the full-text index; return False where none is due.

    With `is_whole` all are merged into one, also those that are much larger than the others.
    """
    segments = count_segments(connection)
    if segments <= FEW_SEGMENTS:
        return False
    before = connection.total_changes
    pages = -MERGED_PAGES if is_whole or segments > MANY_SEGMENTS else MERGED_PAGES
    connection.execute("INSERT INTO search (search, rank) VALUES ('merge', ?)", (pages,))
    return connection.total_changes - before > 1  # the statement itself counts as one


def merge_whole(connection: Connection) -> None:
    """Merge the segments of the full-text index into one."""
    connection.execute("INSERT INTO search (search) VALUES ('optimize')")
