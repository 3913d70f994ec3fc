"""Notes as rows: their fields and implicit fields (specs/dataview.md, DV-10 to DV-18).

Nothing is computed before a query asks for it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, time
from functools import cached_property
from operator import itemgetter
from typing import Any

from obsidian_mcp.core.calendar import iso
from obsidian_mcp.core.dataview import literals
from obsidian_mcp.core.dataview.characters import canonical_name
from obsidian_mcp.core.dataview.property_texts import split_texts, yaml_text
from obsidian_mcp.core.dataview.records import (
    ABSENT,
    MISSING,
    ComputedRecord,
    ObjectRecord,
    item_records,
)
from obsidian_mcp.core.dataview.settings import DataviewSettings
from obsidian_mcp.core.dataview.values import file_title
from obsidian_mcp.core.dataview.vault_view import TAG_KEYS, DataviewVault, RawField, is_page
from obsidian_mcp.core.expressions.dates import Date, day_of, from_nanoseconds
from obsidian_mcp.core.expressions.evaluate import Context
from obsidian_mcp.core.expressions.values import File, LinkValue, Value, from_json
from obsidian_mcp.core.note.links import show_target

_ALIAS_KEYS = ("alias", "aliases")
_DAY_KEYS = ("date", "day")
"""Names of properties that give `file.tags`, `file.aliases` and `file.day`, in this order."""
_NO_FIELD = "position"
"""A property that is no field: the app keeps the place of the frontmatter there."""
_SEPARATORS = re.compile(r"[,\s]+")


@dataclasses.dataclass
class QueryRun(Context):
    """One run of a query, with the notes of the vault, each made once.

    `this` is the fields of the note in which the query stands, an empty object without one.
    """

    vault: DataviewVault
    settings: DataviewSettings = dataclasses.field(default_factory=DataviewSettings)
    columns: dict[str, dict[str, Value]] = dataclasses.field(default_factory=dict)
    """The values of a field by path, as far as they were looked up; see `column`."""
    _pages: dict[str, NotePage] = dataclasses.field(default_factory=dict)
    _values: dict[tuple[str, bool], Value] = dataclasses.field(default_factory=dict)
    """Values of the texts of fields: most stand in many notes."""

    @cached_property
    def page_paths(self) -> Sequence[str]:
        return self.vault.page_paths()

    def page(self, path: str) -> NotePage | None:
        """Return the note at this path; None for no file and for files of other types."""
        if path in self._pages or (is_page(path) and self.vault.file(path) is not None):
            return self.note(path)
        return None

    def note(self, path: str) -> NotePage:
        """Return the note at this path, which is in the vault."""
        page = self._pages.get(path)
        if page is None:
            page = self._pages[path] = NotePage(path, self)
        return page

    def column(self, name: str) -> dict[str, Value]:
        """Return the values of a field by path, as far as they were looked up.

        They are those of notes with one such field, which the vault gives at once; `NotePage` adds
        others, and `ABSENT` for a note without the field.
        """
        column = self.columns.get(name)
        if column is not None:
            return column
        column = self.columns[name] = {}
        for field, paths in () if name == _NO_FIELD else self.vault.field_column(name):
            value = self.value(field, paths[0]) if paths else None
            if isinstance(value, LinkValue | list | dict):  # where links lead depends on the note
                column.update((path, self.value(field, path)) for path in paths)
            else:
                column.update(dict.fromkeys(paths, value))
        return column

    @cached_property
    def canonical_keys(self) -> Mapping[str, Sequence[str]]:
        """Return the keys in the vault, in lower case, by their canonical names."""
        by_name: dict[str, list[str]] = {}
        for key in self.vault.field_keys():
            by_name.setdefault(canonical_name(key), []).append(key)
        return by_name

    def fields(self, path: str, keys: Sequence[str]) -> list[RawField]:
        """Return the fields of a note with one of these keys in lower case, in order."""
        numbered = [
            numbered_field for key in keys for numbered_field in self.vault.fields_of_key(path, key)
        ]
        return [field for _, field in sorted(numbered, key=itemgetter(0)) if _counts(field)]

    def value(self, field: RawField, page_path: str) -> Value:
        """Return the value of a field with the full paths of its links."""
        raw = field.value
        if type(raw) is str:
            value = self._values.get((raw, field.inline), MISSING)
            if value is MISSING:
                read = literals.inline_value if field.inline else literals.frontmatter_value
                value = self._values[raw, field.inline] = read(raw)
        else:
            value = literals.frontmatter_value(raw)
        if isinstance(value, LinkValue | list | dict):
            return self.resolve_values(value, page_path)
        return value

    def resolve_link(self, link: LinkValue, page_path: str) -> LinkValue:
        """Return a link of a page with the full path of the file that it leads to."""
        path = self.vault.resolve(link.path, page_path) or link.path
        if path == link.path:
            return link
        return LinkValue(path, link.subpath, link.display, link.embed)

    def resolve_values(self, value: Value, page_path: str) -> Value:
        """Return a value with full paths in the links at any depth."""
        match value:
            case LinkValue():
                return self.resolve_link(value, page_path)
            case list():
                return [self.resolve_values(item, page_path) for item in value]
            case dict():
                return {key: self.resolve_values(item, page_path) for key, item in value.items()}
            case _:
                return value

    def path_of(self, link: LinkValue) -> str:
        """Return the path of the file that a link leads to; as written where it leads nowhere."""
        return self.full_path(link.path)

    def full_path(self, written: str) -> str:
        """Return the path of the file that a link path leads to, itself where it leads nowhere.

        One with a `#` is taken as written: resolving it would cut the name there.
        """
        path = None if "#" in written else self.resolve(written, self.source)
        return path or written

    def page_of(self, link: LinkValue) -> NotePage | None:
        """Return the note that a link leads to; None for no file and for other files."""
        return self.page(self.path_of(link))


class NotePage(ObjectRecord):
    """The fields of a note by raw and canonical key, and `file` (DV-12, DV-14)."""

    __slots__ = ("_fields", "_file", "path", "store")

    path: str

    def __init__(self, path: str, store: QueryRun) -> None:
        self.path = path
        self.store = store
        self._file: PageFile | None = None
        self._fields: dict[str, Value] | None = None
        """All fields, once they were asked for as a whole."""

    @property
    def file(self) -> PageFile:
        if self._file is None:
            self._file = PageFile(self)
        return self._file

    @property
    def entry(self) -> File:
        return self.store.vault.file(self.path) or File(self.path)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, `default` where the note has none of this name."""
        if name == "file":
            return self.file
        if self._fields is not None:
            return self._fields.get(name, default)
        store, path = self.store, self.path
        column = store.columns.get(name)
        if column is None:
            column = store.column(name)
        value = column.get(path, MISSING)
        if value is MISSING:
            numbered = store.vault.fields_of_key(path, name.lower())
            fields = [field for _, field in numbered if field.key == name and _counts(field)]
            if not fields and name:
                fields = store.fields(path, store.canonical_keys.get(name, ()))
            value = column[path] = self._join_values(fields)
        return default if value is ABSENT else value

    def _join_values(self, fields: Sequence[RawField]) -> Value:
        """Return the value of fields that share a name, several as a list, `ABSENT` without one.

        The values of one key stand together, in the order in which the keys are first written.
        """
        store, path = self.store, self.path
        by_key: dict[str, list[Value]] = {}
        for field in fields:
            by_key.setdefault(field.key, []).append(store.value(field, path))
        values = [value for of_key in by_key.values() for value in of_key]
        if not values:
            return ABSENT
        return values[0] if len(values) == 1 else values

    def __iter__(self) -> Iterator[str]:
        return iter(self._complete())

    def _complete(self) -> dict[str, Value]:
        """Return all fields: the raw keys, then the canonical ones that are no raw keys."""
        if self._fields is not None:
            return self._fields
        raw: dict[str, list[Value]] = {}
        for field in self.store.vault.fields(self.path):
            if _counts(field):
                raw.setdefault(field.key, []).append(self.store.value(field, self.path))
        canonical: dict[str, list[Value]] = {}
        for key, values in raw.items():
            name = canonical_name(key)
            if name and name not in raw:
                canonical.setdefault(name, []).extend(values)
        fields: dict[str, Value] = {"file": self.file}
        for key, values in (*raw.items(), *canonical.items()):
            fields.setdefault(key, values[0] if len(values) == 1 else values)
        self._fields = fields
        return fields


class PageFile(ComputedRecord):
    """The implicit fields of a note: `file` (DV-14)."""

    __slots__ = ("page", "path")

    def __init__(self, page: NotePage) -> None:
        self._computed = {}
        self.page = page
        self.path = page.path

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, `default` where there is none of this name."""
        return FILE_FIELDS[name](self.page) if name in CHEAP else super().get(name, default)

    def _compute(self, name: str) -> Value:
        """Return the value of a field; only `day` can be null, and is absent then."""
        compute = FILE_FIELDS.get(name)
        value = None if compute is None else compute(self.page)
        return ABSENT if value is None else value

    def __iter__(self) -> Iterator[str]:
        return (name for name in FILE_FIELDS if name != "day" or self.get("day") is not None)


# Fields of `file`


def exact_tags(store: QueryRun, path: str) -> list[str]:
    """Return the tags of a note with their `#`, each once (DV-18).

    Those of its text come first, then those of its properties.
    """
    tags = [f"#{tag}" for tag in store.vault.text_tags(path)]
    for field in store.fields(path, TAG_KEYS):
        if not field.inline:
            tags += property_tags(field.value)
    return list(dict.fromkeys(tags))


def property_tags(value: Value) -> Iterator[str]:
    """Yield the tags of a property that holds some, with their `#`."""
    for name in split_texts(value, _SEPARATORS.split):
        yield name if name.startswith("#") else f"#{name}"


def _all_tags(page: NotePage) -> list[Value]:
    tags: dict[str, None] = {}
    for tag in page.file["etags"]:
        while tag:
            tags[tag] = None
            tag = tag.rpartition("/")[0]
    return list(tags)


def _aliases(page: NotePage) -> list[Value]:
    aliases: list[str] = []
    for field in page.store.fields(page.path, _ALIAS_KEYS):
        if field.inline or not field.value:
            continue
        if isinstance(field.value, list):
            aliases += (yaml_text(item).strip() for item in field.value)
        else:
            aliases += split_texts(field.value, lambda text: text.split(","))
    return list(dict.fromkeys(aliases))


def _out_links(page: NotePage) -> list[Value]:
    """Return the links of a note: those of its properties, then the plain ones, then embeds."""
    links = page.store.vault.links(page.path)
    values: list[Value] = []
    for place in ("property", "link", "embed"):
        for link in links:
            if link.place == place:
                target = link.path + link.subpath
                display = link.display if link.display is not None else show_target(target)
                value = literals.link_to(target, display, embed=place == "embed")
                values.append(page.store.resolve_link(value, page.path))
    return values


def _frontmatter(page: NotePage) -> Value:
    raw = page.store.vault.fields(page.path)
    return from_json(
        {field.key: field.value for field in raw if not field.inline and _counts(field)}
    )


def _counts(field: RawField) -> bool:
    """Return whether a field is one for the plugin.

    It takes no property named `position`: the app keeps the place of the frontmatter there.
    """
    return field.inline or field.key != _NO_FIELD


def _day(page: NotePage) -> Date | None:
    """Return the day of a note: of its first field `date` or `day`, else of its name.

    Only the first value of each key counts. A name with digits that are no day has none.
    """
    keys: set[str] = set()
    for field in page.store.fields(page.path, _DAY_KEYS):
        value = page.store.value(field, page.path)
        if field.key not in keys and isinstance(value, Date):
            return value
        keys.add(field.key)
    day = iso.calendar_day(next(iso.find_days(page.file["name"]), ""))
    return None if day is None else Date(datetime.combine(day, time()), has_time=False)


FILE_FIELDS: dict[str, Callable[[NotePage], Value]] = {
    "path": lambda page: page.path,
    "folder": lambda page: page.path.rpartition("/")[0],
    "name": lambda page: file_title(page.path),
    "link": lambda page: LinkValue(page.path),
    "outlinks": _out_links,
    "inlinks": lambda page: [
        LinkValue(path) for path in page.store.vault.backlinks(page.path) if is_page(path)
    ],
    "etags": lambda page: exact_tags(page.store, page.path),
    "tags": _all_tags,
    "aliases": _aliases,
    "lists": lambda page: item_records(
        page.store.vault.list_items(page.path), page.path, page.store.value
    ),
    "tasks": lambda page: [
        record for record in page.file["lists"] if record.item.status is not None
    ],
    "ctime": lambda page: from_nanoseconds(page.store.vault.created_ns(page.path)),
    "cday": lambda page: day_of(page.file["ctime"]),
    "mtime": lambda page: from_nanoseconds(page.entry.modified_ns),
    "mday": lambda page: day_of(page.file["mtime"]),
    "size": lambda page: float(page.entry.size),
    "starred": lambda page: page.path in page.store.vault.bookmarked_paths(),
    "frontmatter": _frontmatter,
    "ext": lambda page: page.path.rpartition(".")[2],
    "day": _day,
}
CHEAP = frozenset({"path", "folder", "name", "link", "size", "ext"})
"""Not kept: to compute them is as quick as to look them up."""


def run_of(context: Context) -> QueryRun:
    """Return the context as what it is in every Dataview query."""
    assert isinstance(context, QueryRun)  # noqa: S101 - made by this package alone
    return context
