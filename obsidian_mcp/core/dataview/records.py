"""Objects whose fields are computed on request, such as list items and tasks (DV-15, DV-16).

A row of a query has many fields, and a query uses few of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from obsidian_mcp.core.dataview import literals
from obsidian_mcp.core.dataview.characters import linkable_heading
from obsidian_mcp.core.dataview.note_data import ListItemData
from obsidian_mcp.core.dataview.vault_view import RawField
from obsidian_mcp.core.expressions.values import LinkValue, Value

MISSING = object()
ABSENT = object()
"""In a table of values: MISSING was not looked up yet, ABSENT was looked up and is not there."""


class ObjectRecord(Mapping[str, Value]):
    """A read-only object.

    Subclasses define `__iter__`, and `get` or both `__getitem__` and `__contains__`.
    """

    __slots__ = ()

    def __getitem__(self, name: str) -> Value:
        value = self.get(name, ABSENT)
        if value is ABSENT:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name, ABSENT) is not ABSENT

    def __len__(self) -> int:
        return sum(1 for _ in self)


class ComputedRecord(ObjectRecord):
    """An object that remembers its fields once `_compute` has computed them.

    Subclasses define `_compute`, and `__iter__` for the keys.
    """

    __slots__ = ("_computed",)
    _computed: dict[str, Value]

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, `default` where there is none of this name."""
        value = self._computed.get(name, MISSING)
        if value is MISSING:
            value = self._computed[name] = self._compute(name)
        return default if value is ABSENT else value

    @abstractmethod
    def _compute(self, name: str) -> Value:
        """Return the value of a field, `ABSENT` without one."""


class ExtendedRecord(ObjectRecord):
    """An object with further fields laid over it, which hide its own ones of the same name."""

    __slots__ = ("_extra", "below")

    def __init__(self, extra: Mapping[str, Value], below: Mapping[str, Value]) -> None:
        self._extra = extra
        self.below = below

    def __getitem__(self, name: str) -> Value:
        return self._extra[name] if name in self._extra else self.below[name]

    def __contains__(self, name: object) -> bool:
        return name in self._extra or name in self.below

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self.below, *self._extra)))


class IdentifiedRow(dict[str, Value]):
    """The fields of a row that is no note, with what identifies it.

    A group is identified by its key, a row of a CSV file by `path#n`.
    """

    __slots__ = ("identity",)

    def __init__(self, identity: Value, fields: Mapping[str, Value]) -> None:
        super().__init__(fields)
        self.identity = identity


ReadField = Callable[[RawField, str], Value]
"""Reads what is written as the value of a field, in the note of a path."""
DONE = frozenset({"x", "X"})
"""The marks of a task that is done."""


class ItemRecord(ComputedRecord):
    """The fields of a list item (DV-15, DV-16)."""

    __slots__ = ("_own", "_read", "children", "item", "path")

    def __init__(self, item: ListItemData, path: str, read: ReadField) -> None:
        self._computed = {}
        self.item = item
        self.path = path
        self._read = read
        self.children: list[Value] = []
        self._own: dict[str, list[Value]] | None = None

    @property
    def own_fields(self) -> dict[str, Value]:
        """The inline fields of the item, those with several values as lists."""
        return {
            name: values[0] if len(values) == 1 else values
            for name, values in self.own_values.items()
        }

    @property
    def own_values(self) -> dict[str, list[Value]]:
        """The values of each inline field of the item."""
        if self._own is None:
            self._own = {}
            for field in self.item.fields:
                value = self._read(RawField(field.key, field.value, inline=True), self.path)
                self._own.setdefault(field.key, []).append(value)
        return self._own

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys(
            (*_ITEM_FIELDS, *self.own_values, *(_TASK_FIELDS if self.item.status else ()))
        )
        return (name for name in names if name in self)

    def _compute(self, name: str) -> Value:
        """Return a field that every item has, or every task, or this one, in this order.

        `ABSENT` without one.
        """
        compute = _ITEM_FIELDS.get(name)
        if compute is None and self.item.status is not None:
            compute = _TASK_FIELDS.get(name)
        value = ABSENT if compute is None else compute(self)
        if value is not ABSENT or not self.item.fields:
            return value
        values = self.own_values.get(name)
        if values is None:
            return ABSENT
        return values[0] if len(values) == 1 else values


def item_records(items: Sequence[ListItemData], path: str, read: ReadField) -> list[ItemRecord]:
    """Return the list items of a note as objects, each with the items below it as its children."""
    records = [ItemRecord(item, path, read) for item in items]
    by_line = {record.item.line: record for record in records}
    for record in records:
        above = None if record.item.parent is None else by_line.get(record.item.parent)
        if above is not None:
            above.children.append(record)
    return records


def _section(record: ItemRecord) -> LinkValue:
    heading, path = record.item.heading, record.path
    return LinkValue(path) if heading is None else LinkValue(path, f"#{linkable_heading(heading)}")


def _item_link(record: ItemRecord) -> LinkValue:
    block_id = record.item.block_id
    return _section(record) if block_id is None else LinkValue(record.path, f"#^{block_id}")


_ITEM_FIELDS: dict[str, Callable[[ItemRecord], Value]] = {
    "symbol": lambda record: record.item.symbol,
    "link": _item_link,
    "section": _section,
    "text": lambda record: record.item.text,
    "tags": lambda record: list(record.item.tags),
    "line": lambda record: float(record.item.line),
    "lineCount": lambda record: float(record.item.line_count),
    "list": lambda record: float(record.item.list_line),
    "outlinks": lambda record: [
        literals.link_to(link.target, link.display, embed=link.embed) for link in record.item.links
    ],
    "path": lambda record: record.path,
    "children": lambda record: record.children,
    "task": lambda record: record.item.status is not None,
    "annotated": lambda record: bool(record.item.fields),
    "position": lambda record: _position(record.item),
    "subtasks": lambda record: record.children,
    "real": lambda record: record.item.status is not None,
    "header": _section,
    "parent": lambda record: ABSENT if record.item.parent is None else float(record.item.parent),
    "blockId": lambda record: ABSENT if record.item.block_id is None else record.item.block_id,
}


def _position(item: ListItemData) -> Value:
    start_column, start_offset, end_column, end_offset = (float(number) for number in item.span)
    last = float(item.line + item.line_count - 1)
    return {
        "start": {"line": float(item.line), "col": start_column, "offset": start_offset},
        "end": {"line": last, "col": end_column, "offset": end_offset},
    }


def _is_complete(record: ItemRecord) -> bool:
    """Return whether a task and all tasks below it are done."""
    pending: list[Value] = [record]
    while pending:
        below = pending.pop()
        if below.item.status is not None and below.item.status not in DONE:
            return False
        pending += below.children
    return True


def _task_date(*keys: str) -> Callable[[ItemRecord], Value]:
    """Return the function of the first value of the first of these fields that a task has.

    `ABSENT` for none, and for a value that is false for JavaScript.
    """

    def find_date(record: ItemRecord) -> Value:
        own = record.own_values
        value = next((own[key][0] for key in keys if key in own), None)
        return ABSENT if value in (None, False, 0.0, "") else value

    return find_date


_TASK_FIELDS: dict[str, Callable[[ItemRecord], Value]] = {
    "status": lambda record: record.item.status,
    "checked": lambda record: record.item.status != " ",
    "completed": lambda record: record.item.status in DONE,
    "fullyCompleted": _is_complete,
    "created": _task_date("created", "ctime", "cday"),
    "due": _task_date("due", "duetime", "dueday"),
    "completion": _task_date("completed", "completion", "comptime", "compday"),
    "start": _task_date("start"),
    "scheduled": _task_date("scheduled"),
}


class TaskRow(ExtendedRecord):
    """A row of TASK: the fields of a task, then those of its note."""

    __slots__ = ("task",)

    def __init__(self, task: ItemRecord, page: Mapping[str, Value]) -> None:
        super().__init__(task, page)
        self.task = task
