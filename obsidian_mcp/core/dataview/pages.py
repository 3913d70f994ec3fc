"""Notes as rows: their fields and implicit fields, each computed when asked for (specs/dataview.md, DV-10 to DV-18);
values as cells of an answer (DV-22, DV-26)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, time
from functools import cached_property
from operator import itemgetter
from typing import Any

from obsidian_mcp.core.calendar import iso
from obsidian_mcp.core.calendar.formats import offset_minutes, write_offset
from obsidian_mcp.core.dataview import literals, records
from obsidian_mcp.core.dataview.literals import canonical_name
from obsidian_mcp.core.dataview.note_data import DataviewVault, RawField
from obsidian_mcp.core.dataview.records import (
    ABSENT,
    MISSING,
    ItemRecord,
    ObjectRecord,
    item_records,
)
from obsidian_mcp.core.dataview.settings import Settings
from obsidian_mcp.core.dataview.values import ExternalLink, duration_text, file_title, link_text
from obsidian_mcp.core.expressions.answer import Cell, CellWriters, cell_of
from obsidian_mcp.core.expressions.evaluate import Context, Function
from obsidian_mcp.core.expressions.javascript import number_text
from obsidian_mcp.core.expressions.values import (
    ITEM_UNITS,
    Date,
    Duration,
    File,
    LinkValue,
    Value,
    day_of,
    from_json,
    from_nanoseconds,
)
from obsidian_mcp.core.note.links import shown

_TAG_KEYS = ("tags", "tag")
_ALIAS_KEYS = ("alias", "aliases")
_DAY_KEYS = ("date", "day")
_SEPARATORS = re.compile(r"[,\s]+")


def is_page(path: str) -> bool:
    """Return whether a file is a page, also one that the app excludes from its search (DV-13)."""
    return path.endswith((".md", ".markdown"))


@dataclasses.dataclass
class Run(Context):
    """One run of a query, with the notes of the vault, each made once. `this` is the fields of the note in which the
    query stands, an empty object without one."""

    vault: DataviewVault
    settings: Settings = dataclasses.field(default_factory=Settings)
    columns: dict[str, dict[str, Value]] = dataclasses.field(default_factory=dict)
    """The values of a field by path, as far as they are known; see `known`."""
    _pages: dict[str, NotePage] = dataclasses.field(default_factory=dict)
    _values: dict[tuple[str, bool], Value] = dataclasses.field(default_factory=dict)
    """Values of the texts of fields: most stand in many notes."""

    @cached_property
    def page_paths(self) -> Sequence[str]:
        return self.vault.page_paths()

    def page(self, path: str) -> NotePage | None:
        """The note at this path; None for no file and for files of other kinds."""
        if path in self._pages or (is_page(path) and self.vault.file(path) is not None):
            return self.existing(path)
        return None

    def existing(self, path: str) -> NotePage:
        """The note at this path, which is in the vault."""
        page = self._pages.get(path)
        if page is None:
            page = self._pages[path] = NotePage(path, self)
        return page

    def known(self, name: str) -> dict[str, Value]:
        """The values of a field by path, as far as they are known; `ABSENT` for a note without it."""
        found = self.columns.get(name)
        if found is None:
            found = self.columns[name] = {}
            for field, paths in () if name == "position" else self.vault.field_column(name):
                value = self.value(field, paths[0]) if paths else None
                if isinstance(
                    value, LinkValue | list | dict
                ):  # where links lead depends on the note
                    found.update((path, self.value(field, path)) for path in paths)
                else:
                    found.update(dict.fromkeys(paths, value))
        return found

    @cached_property
    def canonical_keys(self) -> Mapping[str, Sequence[str]]:
        """The keys in the vault, in lower case, by their canonical names."""
        found: dict[str, list[str]] = {}
        for key in self.vault.field_keys():
            found.setdefault(canonical_name(key), []).append(key)
        return found

    def fields(self, path: str, keys: Sequence[str]) -> list[RawField]:
        """The fields of a note with one of these keys in lower case, in order."""
        placed = [
            placed_field for key in keys for placed_field in self.vault.fields_of_key(path, key)
        ]
        return [field for _, field in sorted(placed, key=itemgetter(0)) if _counts(field)]

    def value(self, field: RawField, page_path: str) -> Value:
        """The value of a field with the full paths of its links."""
        raw = field.value
        if type(raw) is str:
            value = self._values.get((raw, field.inline), MISSING)
            if value is MISSING:
                value = (
                    literals.inline_value(raw) if field.inline else literals.frontmatter_value(raw)
                )
                self._values[raw, field.inline] = value
        else:
            value = literals.frontmatter_value(raw)
        return (
            self.resolve_values(value, page_path)
            if isinstance(value, LinkValue | list | dict)
            else value
        )

    def resolve_link(self, link: LinkValue, page_path: str) -> LinkValue:
        """A link of a page with the full path of the file it leads to."""
        path = self.vault.resolve(link.path, page_path) or link.path
        return (
            link if path == link.path else LinkValue(path, link.subpath, link.display, link.embed)
        )

    def resolve_values(self, value: Value, page_path: str) -> Value:
        """The value with full paths in the links at any depth."""
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
        """The path of the file that a link leads to; the written path where it leads nowhere."""
        return self.full_path(link.path)

    def full_path(self, written: str) -> str:
        """The path of the file that a link path leads to, itself where it leads nowhere. A `#` is part of a name."""
        return (None if "#" in written else self.resolve(written, self.source)) or written

    def page_of(self, link: LinkValue) -> NotePage | None:
        """The note that a link leads to; None for no file and for other files."""
        return self.page(self.path_of(link))


class NotePage(ObjectRecord):
    """The fields of a note by raw and canonical key, and `file` (DV-12, DV-14)."""

    __slots__ = ("_fields", "_file", "path", "store")

    path: str

    def __init__(self, path: str, store: Run) -> None:
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
        """The field, `default` where the note has none of this name."""
        if name == "file":
            return self.file
        if self._fields is not None:
            return self._fields.get(name, default)
        store, path = self.store, self.path
        known = store.columns.get(name)
        if known is None:
            known = store.known(name)
        value = known.get(path, MISSING)
        if value is MISSING:
            placed = store.vault.fields_of_key(path, name.lower())
            fields = [field for _, field in placed if field.key == name and _counts(field)]
            if not fields and name:
                fields = store.fields(path, store.canonical_keys.get(name, ()))
            by_key: dict[str, list[Value]] = {}
            for field in fields:
                by_key.setdefault(field.key, []).append(store.value(field, path))
            values = [value for of_key in by_key.values() for value in of_key]
            value = known[path] = (values[0] if len(values) == 1 else values) if values else ABSENT
        return default if value is ABSENT else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._complete())

    def _complete(self) -> dict[str, Value]:
        """All fields: the raw keys, then the canonical ones that are no raw keys."""
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


class PageFile(records.Computed):
    """The implicit fields of a note: `file` (DV-14)."""

    __slots__ = ("page", "path")

    def __init__(self, page: NotePage) -> None:
        self._known = {}
        self.page = page
        self.path = page.path

    def get(self, name: str, default: Any = None) -> Any:
        """The field, `default` where there is none of this name."""
        return FILE_FIELDS[name](self.page) if name in CHEAP else super().get(name, default)

    def _compute(self, name: str) -> Value:
        """No field of a file is null but `day`, which is absent then."""
        compute = FILE_FIELDS.get(name)
        value = None if compute is None else compute(self.page)
        return ABSENT if value is None else value

    def __iter__(self) -> Iterator[str]:
        return (name for name in FILE_FIELDS if name != "day" or self.get("day") is not None)


# Fields of `file`


def exact_tags(store: Run, path: str) -> list[str]:
    """The tags of a note with their `#`: those of its text, then those of its properties, each once (DV-18)."""
    tags = [f"#{tag}" for tag in store.vault.text_tags(path)]
    for field in store.fields(path, _TAG_KEYS):
        if not field.inline:
            tags += (
                tag if tag.startswith("#") else f"#{tag}"
                for tag in _split(field.value, _SEPARATORS.split)
            )
    return list(dict.fromkeys(tags))


def _all_tags(page: NotePage) -> list[Value]:
    found: dict[str, None] = {}
    for tag in page.file["etags"]:
        while tag:
            found[tag] = None
            tag = tag.rpartition("/")[0]
    return list(found)


def _aliases(page: NotePage) -> list[Value]:
    found: list[str] = []
    for field in page.store.fields(page.path, _ALIAS_KEYS):
        if field.inline or not field.value:
            continue
        if isinstance(field.value, list):
            found += (_write(item).strip() for item in field.value)
        else:
            found += _split(field.value, lambda text: text.split(","))
    return list(dict.fromkeys(found))


def _split(value: Value, split: Callable[[str], list[str]]) -> list[str]:
    """The texts of a property that holds tags or aliases; lists at any depth."""
    if value is None:
        return []
    if isinstance(value, list):
        return [text for item in value if item for text in _split(item, split)]
    return [text for part in split(_write(value)) if (text := part.strip())]


def _write(value: Value) -> str:
    """A value of the YAML as JavaScript turns it into text."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return number_text(value)
        case dict():
            return "[object Object]"
        case list():
            return ",".join("" if item is None else _write(item) for item in value)
        case _:
            return str(value)


def _out_links(page: NotePage) -> list[Value]:
    links = page.store.vault.links(page.path)
    ordered = [
        link for place in ("property", "link", "embed") for link in links if link.place == place
    ]
    written = (
        literals.link_to(
            target := link.path + link.subpath,
            link.display if link.display is not None else shown(target),
            embed=link.place == "embed",
        )
        for link in ordered
    )
    return [page.store.resolve_link(link, page.path) for link in written]


def _frontmatter(page: NotePage) -> Value:
    raw = page.store.vault.fields(page.path)
    return from_json(
        {field.key: field.value for field in raw if not field.inline and _counts(field)}
    )


def _counts(field: RawField) -> bool:
    """Whether a field is one for the plugin, which takes no property named `position`: the app keeps a place there."""
    return field.inline or field.key != "position"


def _day(page: NotePage) -> Date | None:
    seen: set[str] = set()
    for field in page.store.fields(page.path, _DAY_KEYS):
        value = page.store.value(field, page.path)
        if field.key not in seen and isinstance(value, Date):
            return value
        seen.add(field.key)
    day = iso.calendar_day(
        next(iso.find_days(page.file["name"]), "")
    )  # no day of the calendar: null everywhere
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
    "starred": lambda page: page.path in page.store.vault.bookmarked(),
    "frontmatter": _frontmatter,
    "ext": lambda page: page.path.rpartition(".")[2],
    "day": _day,
}
CHEAP = frozenset({"path", "folder", "name", "link", "size", "ext"})
"""Not kept: to compute them is as quick as to look them up."""


def run_of(context: Context) -> Run:
    """The context as what it is in every Dataview query."""
    assert isinstance(context, Run)  # noqa: S101 - only this package makes the contexts of its queries
    return context


def make_cell(value: Value, context: Context) -> Cell:
    """A value as JSON. Raises: ExpressionError for one that is nested too deep or too large."""
    return cell_of(value, CELLS, context)


def date_text(date: Date) -> str:
    """`2024-02-15`, or with time, and with the zone where it has one of its own."""
    moment = date.moment
    written = moment.replace(tzinfo=None).isoformat(
        timespec="milliseconds" if moment.microsecond >= 1000 else "seconds"
    )
    if moment.tzinfo is None:
        return written.removesuffix("T00:00:00")
    return written + (write_offset(moment) if offset_minutes(moment) else "Z")


def _text(text: str, context: Context) -> str:
    context.budget.charge(len(text))
    return text


def _record(value: ObjectRecord, context: Context) -> Cell:
    """A row is its own fields and the link to its note."""
    fields = {}
    for name, field in value.items():
        fields[name] = (
            link_text(field.get("link"))
            if isinstance(field, PageFile)
            else make_cell(field, context)
        )
        context.budget.charge(ITEM_UNITS)
    if "file" in fields:
        fields["file"] = fields.pop("file")
    return fields


def _item(item: ItemRecord, context: Context) -> Cell:
    cell: dict[str, Cell] = {"task": item["task"]}
    if item.item.status is not None:
        cell["status"] = item.item.status
    cell |= {"text": _text(item.item.text, context), "path": item["path"], "line": item.item.line}
    cell |= {
        name: make_cell(value, context)
        for name, value in item.own_fields.items()
        if name not in cell
    }
    if item["children"]:
        cell["children"] = [_item(child, context) for child in item["children"]]
    return cell


CELLS: CellWriters = {
    Date: lambda date, context: _text(date_text(date), context),
    Duration: lambda duration, context: _text(duration_text(duration), context),
    LinkValue: lambda link, context: _text(link_text(link), context),
    ExternalLink: lambda link, context: _text(f"[{link.display}]({link.url})", context),
    Function: lambda _, context: _text("<function>", context),
    NotePage: _record,
    records.Extended: _record,
    records.Identified: _record,
    records.TaskRow: _record,
    PageFile: lambda file, context: _text(link_text(file.get("link")), context),
    ItemRecord: _item,
}
