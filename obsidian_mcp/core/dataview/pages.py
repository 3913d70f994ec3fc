"""Notes as rows: fields, implicit fields, list items and tasks (specs/dataview.md, DV-10 to DV-19).

Nothing is computed before a query asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Protocol

from obsidian_mcp.core.dataview import literals
from obsidian_mcp.core.dataview.characters import canonical_name
from obsidian_mcp.core.dataview.note_data import ListItem, NoteData
from obsidian_mcp.core.dataview.objects import Extended, Record
from obsidian_mcp.core.dataview.text import file_title
from obsidian_mcp.core.expressions.dates import Date, from_nanoseconds
from obsidian_mcp.core.expressions.values import File, Link, Value, from_json
from obsidian_mcp.core.expressions.vault_view import VaultView
from obsidian_mcp.core.note.links import shown

PAGE_EXTENSIONS = (".md", ".markdown")
_TAG_KEYS = ("tags", "tag")
_ALIAS_KEYS = ("alias", "aliases")
_DAY_KEYS = ("date", "day")
_SEPARATORS = re.compile(r"[,\s]+")
_DAYS_IN_NAMES = (re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII), re.compile(r"(\d{4})(\d{2})(\d{2})", re.ASCII))
_FILE_KEYS = (
    "path", "folder", "name", "link", "outlinks", "inlinks", "etags", "tags", "aliases", "lists", "tasks",
    "ctime", "cday", "mtime", "mday", "size", "starred", "frontmatter", "ext",
)  # fmt: skip


class DataviewVault(VaultView, Protocol):
    """What Dataview asks of a vault beyond the shared view. Its files include those that the app excludes."""

    def note_data(self, path: str) -> NoteData:
        """Inline fields and list items of a note."""
        ...

    def text_tags(self, path: str) -> Sequence[str]:
        """Tags of the text alone, in its order, without `#`, repeated as written."""
        ...

    def bookmarked(self) -> frozenset[str]:
        """Paths of the files among the bookmarks, in groups too."""
        ...

    def text(self, path: str) -> str | None:
        """The text of a file that is no note, such as a CSV; None where it cannot be read as text."""
        ...


def is_page(path: str) -> bool:
    return path.endswith(PAGE_EXTENSIONS)


class PageStore:
    """The notes of a vault, each made once in a query."""

    def __init__(self, vault: DataviewVault) -> None:
        self.vault = vault
        self._pages: dict[str, Page | None] = {}

    def page(self, path: str) -> Page | None:
        """The note at this path; None for no file and for files of other kinds."""
        if path not in self._pages:
            file = self.vault.file(path) if is_page(path) else None
            self._pages[path] = None if file is None else Page(file, self)
        return self._pages[path]

    def link(self, page_path: str, target: str, display: str | None, *, embed: bool) -> Link:
        """A link of a page with the full path of the file it leads to."""
        return self.resolved(literals.link_to(target, display, embed=embed), page_path)

    def resolved(self, link: Link, page_path: str) -> Link:
        path = self.vault.resolve(link.path, page_path) or link.path
        return link if path == link.path else Link(path, link.subpath, link.display, link.embed)

    def values_resolved(self, value: Value, page_path: str) -> Value:
        """The value with full paths in the links at any depth."""
        match value:
            case Link():
                return self.resolved(value, page_path)
            case list():
                return [self.values_resolved(item, page_path) for item in value]
            case dict():
                return {key: self.values_resolved(item, page_path) for key, item in value.items()}
            case _:
                return value


class Page(Record):
    """The fields of a note by raw and canonical key, and `file` (DV-12, DV-14)."""

    __slots__ = ("_all", "_fields", "file", "path", "store")

    def __init__(self, file: File, store: PageStore) -> None:
        self.path = file.path
        self.store = store
        self.file = PageFile(file, self)
        self._fields: dict[str, Value] = {"file": self.file}
        self._all = False

    def __getitem__(self, name: str) -> Value:
        if name in self._fields:
            return self._fields[name]
        if self._all:
            raise KeyError(name)
        values = self._collected(lambda key: key == name)
        if not values and name:
            values = self._collected(lambda key: canonical_key(key) == name)
        if not values:
            raise KeyError(name)
        value = self._fields[name] = values[0] if len(values) == 1 else values
        return value

    def get(self, name: str, default: Value = None) -> Value:
        """The field, `default` where the note has none of this name."""
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name, _MISSING) is not _MISSING

    def __iter__(self) -> Iterator[str]:
        self._complete()
        return iter(self._fields)

    def __len__(self) -> int:
        self._complete()
        return len(self._fields)

    def own_fields(self) -> dict[str, Value]:
        """All fields but `file`."""
        return {name: value for name, value in self.items() if name != "file"}

    def raw_values(self) -> Iterator[tuple[str, Value]]:
        """Raw keys and values in the order in which they count: frontmatter, list items, other lines (DV-10)."""
        for key, value in self.store.vault.properties(self.path).items():
            if key != "position":
                yield key, literals.frontmatter_value(value)
        for field in self.store.vault.note_data(self.path).fields:
            yield field.key, literals.inline_value(field.value)

    def _collected(self, wanted: Callable[[str], bool]) -> list[Value]:
        """The values of the keys that are wanted, with links resolved."""
        vault, path = self.store.vault, self.path
        found = [
            literals.frontmatter_value(value)
            for key, value in vault.properties(path).items()
            if wanted(key) and key != "position"
        ]
        found += [literals.inline_value(field.value) for field in vault.note_data(path).fields if wanted(field.key)]
        return [self.store.values_resolved(value, path) for value in found]

    def _complete(self) -> None:
        """Compute all fields: the raw keys, then the canonical ones that are no raw keys."""
        if self._all:
            return
        raw: dict[str, list[Value]] = {}
        for key, value in self.raw_values():
            raw.setdefault(key, []).append(self.store.values_resolved(value, self.path))
        canonical: dict[str, list[Value]] = {}
        for key, values in raw.items():
            name = canonical_key(key)
            if name and name not in raw:
                canonical.setdefault(name, []).extend(values)
        fields: dict[str, Value] = {"file": self.file}
        for key, values in (*raw.items(), *canonical.items()):
            fields.setdefault(key, values[0] if len(values) == 1 else values)
        self._fields = fields
        self._all = True


_MISSING = object()
canonical_key = lru_cache(maxsize=4096)(canonical_name)


class PageFile(Record):
    """The implicit fields of a note: `file` (DV-14)."""

    __slots__ = ("_known", "file", "page")

    def __init__(self, file: File, page: Page) -> None:
        self.file = file
        self.page = page
        self._known: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._known:
            compute = _FILE_FIELDS.get(name)
            value = None if compute is None else compute(self)
            if compute is None or (name == "day" and value is None):
                raise KeyError(name)
            self._known[name] = value
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        yield from _FILE_KEYS
        if self.get("day") is not None:
            yield "day"

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def link(self) -> Link:
        return Link(self.file.path)


# Fields of `file`


def _created(file: PageFile) -> Date:
    return from_nanoseconds(file.page.store.vault.created_ns(file.file.path))


def _modified(file: PageFile) -> Date:
    return from_nanoseconds(file.file.modified_ns)


def _day_part(date: Date) -> Date:
    return Date(date.moment.replace(hour=0, minute=0, second=0, microsecond=0), has_time=False)


def _properties(file: PageFile) -> Mapping[str, Value]:
    return file.page.store.vault.properties(file.file.path)


def _exact_tags(file: PageFile) -> list[Value]:
    tags = [f"#{tag}" for tag in file.page.store.vault.text_tags(file.file.path)]
    for key, value in _properties(file).items():
        if key.lower() in _TAG_KEYS:
            tags += (tag if tag.startswith("#") else f"#{tag}" for tag in _split(value, _SEPARATORS.split))
    return list(dict.fromkeys(tags))


def _all_tags(file: PageFile) -> list[Value]:
    found: dict[str, None] = {}
    for tag in file["etags"]:
        while tag:
            found[tag] = None
            tag = tag.rpartition("/")[0]
    return list(found)


def _aliases(file: PageFile) -> list[Value]:
    found: list[str] = []
    for key, value in _properties(file).items():
        if key.lower() not in _ALIAS_KEYS or not value:
            continue
        if isinstance(value, list):
            found += (_written(item).strip() for item in value)
        else:
            found += _split(value, lambda text: text.split(","))
    return list(dict.fromkeys(found))


def _split(value: Value, split: Callable[[str], list[str]]) -> list[str]:
    """The texts of a property that holds tags or aliases; lists at any depth."""
    if value is None:
        return []
    if isinstance(value, list):
        return [text for item in value if item for text in _split(item, split)]
    return [text for part in split(_written(value)) if (text := part.strip())]


def _written(value: Value) -> str:
    """A value of the YAML as JavaScript turns it into text."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case dict():
            return "[object Object]"
        case list():
            return ",".join("" if item is None else _written(item) for item in value)
        case _:
            return str(value)


def _out_links(file: PageFile) -> list[Value]:
    page, path = file.page, file.file.path
    links = page.store.vault.links(path)
    ordered = [link for place in ("property", "link", "embed") for link in links if link.place == place]
    return [
        page.store.link(
            path,
            link.path + link.subpath,
            link.display if link.display is not None else shown(link.path + link.subpath),
            embed=link.place == "embed",
        )
        for link in ordered
    ]


def _in_links(file: PageFile) -> list[Value]:
    return [Link(path) for path in file.page.store.vault.backlinks(file.file.path)]


def _lists(file: PageFile) -> list[Value]:
    items = file.page.store.vault.note_data(file.file.path).items
    return list(_item_records(items, file.page))


def _tasks(file: PageFile) -> list[Value]:
    return [item for item in file["lists"] if item["task"]]


def _day(file: PageFile) -> Date | None:
    seen: set[str] = set()
    for key, value in file.page.raw_values():
        if key.lower() in _DAY_KEYS and key not in seen and isinstance(value, Date):
            return value
        seen.add(key)
    for pattern in _DAYS_IN_NAMES:
        found = pattern.search(file["name"])
        if found:
            year, month, day = (int(part) for part in found.groups())
            try:
                return Date(datetime(year, month, day), has_time=False)  # noqa: DTZ001 - local
            except ValueError:  # no day of the calendar: null everywhere
                return None
    return None


_FILE_FIELDS: dict[str, Callable[[PageFile], Value]] = {
    "path": lambda file: file.file.path,
    "folder": lambda file: file.file.folder,
    "name": lambda file: file_title(file.file.path),
    "link": lambda file: file.link,
    "outlinks": _out_links,
    "inlinks": _in_links,
    "etags": _exact_tags,
    "tags": _all_tags,
    "aliases": _aliases,
    "lists": _lists,
    "tasks": _tasks,
    "ctime": _created,
    "cday": lambda file: _day_part(file["ctime"]),
    "mtime": _modified,
    "mday": lambda file: _day_part(file["mtime"]),
    "size": lambda file: float(file.file.size),
    "starred": lambda file: file.file.path in file.page.store.vault.bookmarked(),
    "frontmatter": lambda file: from_json(
        {key: value for key, value in _properties(file).items() if key != "position"}
    ),
    "ext": lambda file: file.file.extension,
    "day": _day,
}


# List items


class ItemRecord(Record):
    """The fields of a list item (DV-15, DV-16)."""

    __slots__ = ("_values", "item", "own_fields")

    def __init__(self, item: ListItem, values: dict[str, Value], own_fields: dict[str, Value]) -> None:
        self.item = item
        self._values = values
        self.own_fields = own_fields
        """The inline fields."""

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _item_records(items: Sequence[ListItem], page: Page) -> list[ItemRecord]:
    children: dict[int, list[Value]] = {item.line: [] for item in items}
    by_line = {item.line: item for item in items}
    complete = {item.line for item in items if item.status in ("x", "X")}
    for item in reversed(items):
        if item.status is not None and item.status not in ("x", "X"):
            above: ListItem | None = item
            while above is not None:
                complete.discard(above.line)
                above = by_line.get(above.parent) if above.parent is not None else None
    records: list[ItemRecord] = []
    for item in items:
        own = _item_fields(item, page)
        values = _item_values(item, page, children[item.line])
        for name, value in own.items():
            values.setdefault(name, value[0] if len(value) == 1 else value)
        if item.status is not None:
            values |= _task_values(item, own, is_complete=item.line in complete)
        shown_fields = {name: value[0] if len(value) == 1 else value for name, value in own.items()}
        records.append(ItemRecord(item, values, shown_fields))
        if item.parent in children:
            children[item.parent].append(records[-1])
    return records


def _item_fields(item: ListItem, page: Page) -> dict[str, list[Value]]:
    own: dict[str, list[Value]] = {}
    for field in item.fields:
        value = page.store.values_resolved(literals.inline_value(field.value), page.path)
        own.setdefault(field.key, []).append(value)
    return own


def _item_values(item: ListItem, page: Page, children: list[Value]) -> dict[str, Value]:
    section = Link(page.path) if item.heading is None else literals.heading_link(page.path, item.heading)
    is_task = item.status is not None
    values: dict[str, Value] = {
        "symbol": item.symbol,
        "link": section if item.block_id is None else Link(page.path, f"#^{item.block_id}"),
        "section": section,
        "text": item.text,
        "tags": list(item.tags),
        "line": float(item.line),
        "lineCount": float(item.line_count),
        "list": float(item.list_line),
        "outlinks": [literals.link_to(link.target, link.display, embed=link.embed) for link in item.links],
        "path": page.path,
        "children": children,
        "task": is_task,
        "annotated": bool(item.fields),
        "position": _position(item),
        "subtasks": children,
        "real": is_task,
        "header": section,
    }
    if item.parent is not None:
        values["parent"] = float(item.parent)
    if item.block_id is not None:
        values["blockId"] = item.block_id
    return values


def _position(item: ListItem) -> Value:
    start_column, start_offset, end_column, end_offset = (float(number) for number in item.span)
    last = float(item.line + item.line_count - 1)
    return {
        "start": {"line": float(item.line), "col": start_column, "offset": start_offset},
        "end": {"line": last, "col": end_column, "offset": end_offset},
    }


_TASK_DATES = {
    "created": ("created", "ctime", "cday"),
    "due": ("due", "duetime", "dueday"),
    "completion": ("completed", "completion", "comptime", "compday"),
    "start": ("start",),
    "scheduled": ("scheduled",),
}


def _task_values(item: ListItem, own: Mapping[str, list[Value]], *, is_complete: bool) -> dict[str, Value]:
    values: dict[str, Value] = {
        "status": item.status,
        "checked": item.status != " ",
        "completed": item.status in ("x", "X"),
        "fullyCompleted": is_complete,
    }
    for name, keys in _TASK_DATES.items():
        value = next((own[key][0] for key in keys if key in own), None)
        if value not in (None, False, 0.0, ""):
            values[name] = value
    return values


class TaskRow(Extended):
    """A row of TASK: the fields of a task, then those of its note."""

    __slots__ = ("task",)

    def __init__(self, task: ItemRecord, page: Page) -> None:
        super().__init__(task, page)
        self.task = task
