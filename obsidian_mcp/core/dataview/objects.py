"""Objects whose fields are computed on request: a note as a row of a query has many, and queries use few."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from obsidian_mcp.core.expressions.values import Value

MISSING = object()
ABSENT = object()
"""In a table of values that are known: not looked up yet, and looked up but not there."""


class ObjectRecord(Mapping[str, Value]):
    """A read-only object. Subclasses give its keys and values."""

    __slots__ = ()

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Computed(ObjectRecord):
    """An object that remembers its fields once `_compute` has computed them; subclasses define that, and its keys."""

    __slots__ = ("_known",)
    _known: dict[str, Value]

    def get(self, name: str, default: Any = None) -> Any:
        """The field, `default` where there is none of this name."""
        value = self._known.get(name, MISSING)
        if value is MISSING:
            value = self._known[name] = self._compute(name)
        return default if value is ABSENT else value

    @abstractmethod
    def _compute(self, name: str) -> Value:
        """The value of a field, `ABSENT` without one."""

    def __getitem__(self, name: str) -> Value:
        value = self.get(name, ABSENT)
        if value is ABSENT:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name, ABSENT) is not ABSENT


class Extended(ObjectRecord):
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
        yield from self.below
        for name in self._extra:
            if name not in self.below:
                yield name


class Identified(ObjectRecord):
    """The fields of a row that is no note, with what identifies it: a group by its key, a row of a CSV file."""

    __slots__ = ("_fields", "identity")

    def __init__(self, identity: Value, fields: Mapping[str, Value]) -> None:
        self.identity = identity
        self._fields = fields

    def __getitem__(self, name: str) -> Value:
        return self._fields[name]

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)
