"""Tables whose rows repeat the same names: each name is stored once (specs/index.md, INDEX-55).

What a link leads to, a tag, and a property with its value are rows of a table of names; the rows of
files have their numbers. A view has the columns of the facts, so that a question reads as if
nothing were interned. A name that no file uses any more stays until the index is shrunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

from .database import Connection
from .facts import LinkFact, PropertyFact, TagFact

_KINDS: Final = ("link", "embed", "property", "card")
CARD: Final = _KINDS.index("card")
"""How `link_rows.kind` says that a link is the file of a card."""
_OPENINGS: Final = ("[[", "![[", "[[", "")
_ENDS: Final = ("]]", "]]", "]]", "")


@dataclass(frozen=True, slots=True)
class InternedTable:
    """How the rows of one kind of fact are stored."""

    view: str
    """A table of `rows.TABLES`."""
    rows: str
    names: str
    fields: tuple[str, ...]
    """The fields of the fact."""
    name_fields: tuple[str, ...]
    """Those of its fields that are stored once; the first is the key."""
    values: Mapping[str, str] | None = None
    """Expressions for fields that are not stored as they are."""
    to_stored: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None
    """Changes file, n and the fields of a fact to what is stored; None where that is the same."""

    @property
    def own_fields(self) -> tuple[str, ...]:
        """The fields that each row has for itself."""
        return tuple(field for field in self.fields if field not in self.name_fields)

    @property
    def schema(self) -> tuple[str, ...]:
        """The statements that create tables, index and view."""
        own, names = ", ".join(self.own_fields), ", ".join(self.name_fields)
        values = {name: f"names.{name}" for name in self.name_fields} | dict(self.values or {})
        columns = ", ".join(f"{values.get(name, f'own.{name}')} AS {name}" for name in self.fields)
        rows_table = (
            f"CREATE TABLE {self.rows} (file INTEGER NOT NULL, n INTEGER NOT NULL, "
            f"name INTEGER NOT NULL, {own}, PRIMARY KEY (file, n)) WITHOUT ROWID"
        )
        view = (
            f"CREATE VIEW {self.view} AS SELECT own.file AS file, own.n AS n, {columns} "
            f"FROM {self.rows} AS own JOIN {self.names} AS names ON names.id = own.name"
        )
        return (
            f"CREATE TABLE {self.names} (id INTEGER PRIMARY KEY, {names})",
            f"CREATE INDEX {self.names}_by_key ON {self.names} ({_sort_by_selectivity(self)})",
            rows_table,
            f"CREATE INDEX {self.rows}_by_name ON {self.rows} (name)",
            view,
        )

    def store_names(
        self, connection: Connection, rows: Iterable[tuple[Any, ...]]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield file, n and facts as rows of `rows`, with names that are stored if they are new."""
        is_same = " AND ".join(f"{field} = ?" for field in self.name_fields)
        find = f"SELECT id FROM {self.names} WHERE {is_same}"
        marks = ", ".join("?" * len(self.name_fields))
        add = f"INSERT INTO {self.names} ({', '.join(self.name_fields)}) VALUES ({marks})"
        columns = ("file", "n", *self.fields)
        name_of = itemgetter(*map(columns.index, self.name_fields))
        cells_of = itemgetter(*map(columns.index, self.own_fields))
        cursor = connection.cursor()
        numbers: dict[tuple[Any, ...], Any] = {}
        for row in rows if self.to_stored is None else map(self.to_stored, rows):
            name = name_of(row)
            number = numbers.get(name)
            if number is None:
                stored = cursor.execute(find, name).fetchone()
                number = stored[0] if stored else cursor.execute(add, name).lastrowid
                numbers[name] = number
            yield (row[0], row[1], number, *cells_of(row))


def _sort_by_selectivity(table: InternedTable) -> str:
    """Return the columns of the index by which a name is found: key and value first."""
    return ", ".join(sorted(table.name_fields, key=lambda field: field not in ("key", "value")))


def _to_stored_link(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a link with a number for its kind, and None for what is written as it mostly is."""
    file, n, key, kind_name, path, subpath, display, original, *place = row
    kind = _KINDS.index(kind_name)
    display_part = "" if display is None else f"|{display}"
    if original == f"{_OPENINGS[kind]}{path}{subpath}{display_part}{_ENDS[kind]}":
        original = None
    return (file, n, key, kind, path, subpath, display, original, *place)


def _choose_by_kind(texts: tuple[str, ...]) -> str:
    whens = " ".join(f"WHEN {kind} THEN '{text}'" for kind, text in enumerate(texts))
    return f"CASE own.kind {whens} END"


LINKS: Final = InternedTable(
    "links",
    "link_rows",
    "targets",
    LinkFact._fields,
    ("key", "path"),
    {
        "kind": _choose_by_kind(_KINDS),
        "original": f"ifnull(own.original, {_choose_by_kind(_OPENINGS)} || names.path || "
        f"own.subpath || ifnull('|' || own.display, '') || {_choose_by_kind(_ENDS)})",
    },
    _to_stored_link,
)
TAGS: Final = InternedTable("tags", "tag_rows", "tag_names", TagFact._fields, ("key", "tag"))
PROPERTIES: Final = InternedTable(
    "properties",
    "property_rows",
    "property_values",
    PropertyFact._fields,
    ("key", "name", "type", "value"),
)
INTERNED: Final = {table.view: table for table in (LINKS, TAGS, PROPERTIES)}


def drop_unused_names(connection: Connection) -> None:
    """Delete the names that no row has any more."""
    for table in INTERNED.values():
        connection.execute(
            f"DELETE FROM {table.names} WHERE id NOT IN (SELECT name FROM {table.rows})"
        )
