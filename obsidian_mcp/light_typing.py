"""The names of `typing` for modules that load before the first answer of a server: `typing` itself takes 2 ms, and each
of its named tuples 0.1 ms more than one of `collections`. A type checker sees those of `typing`."""

from __future__ import annotations

__all__ = [
    "TYPE_CHECKING",
    "Any",
    "ClassVar",
    "Final",
    "Literal",
    "NamedTuple",
    "NoReturn",
    "Protocol",
    "TextIO",
    "TypeGuard",
    "get_args",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Final, Literal, NamedTuple, NoReturn, Protocol, TextIO, TypeGuard, get_args
else:
    from collections import namedtuple

    Any = ClassVar = Final = NoReturn = TextIO = TypeGuard = None  # only annotations name them
    Protocol = object

    class _Members:
        def __class_getitem__(cls, members):
            return members

    Literal = _Members  # `Literal[…]` is the tuple of its members
    get_args = tuple

    class _MakeNamedTuple(type):
        def __new__(cls, name, bases, members):
            if not bases:
                return super().__new__(cls, name, bases, members)
            fields = members["__annotations__"]
            defaults = [members.pop(field) for field in fields if field in members]
            made = namedtuple(name, fields, defaults=defaults, module=members["__module__"])  # noqa: PYI024
            for key, member in members.items():
                setattr(made, key, member)
            return made

    class NamedTuple(metaclass=_MakeNamedTuple):
        """Base of a class that is a named tuple of its annotations."""
