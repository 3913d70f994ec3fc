"""Says what is wrong with the params of a request (specs/stdio.md, GUARD-03)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from .jsonrpc import INVALID_PARAMS, Message, error, kind

MAX_FAULTS: Final = 8
_MAX_SHOWN: Final = 60
"""Characters."""

Shape = Mapping[str, type]
"""The type of each member by its name; `?` ends that of one that may be absent or null."""
_WORDS: Final[Mapping[type, str]] = {str: "a valid string", dict: "a valid dictionary"}


class Fault(NamedTuple):
    field: str
    expected: str
    got: str

    def sentence(self) -> str:
        if self.got == "nothing":
            return f"{self.field} is missing"
        return f"{self.field} should be {self.expected}, {self.got} came"


def faults(value: Mapping[str, Any] | None, shape: Shape) -> Iterator[Fault]:
    """Yield what keeps the params of a request from having a shape."""
    if value is None and any(not name.endswith("?") for name in shape):
        yield missing("params")
        return
    given = value or {}
    for name, wanted in shape.items():
        field = name.removesuffix("?")
        member = given.get(field)
        if member is None and (field != name or field not in given):
            if field == name:
                yield missing(field)
        elif not isinstance(member, wanted):
            yield Fault(field, _WORDS[wanted], describe(member))


def missing(field: str) -> Fault:
    return Fault(field, "a value", "nothing")


def invalid(method: str, found: Iterable[Fault]) -> tuple[str, dict[str, Any]]:
    """Return the message and the data of the error about the params of a method."""
    listed = list(found)[:MAX_FAULTS]
    sentences = "; ".join(fault.sentence() for fault in listed)
    data = {"errorCode": "INVALID_PARAMS", "fields": [fault._asdict() for fault in listed]}
    return f"Invalid params of {method}: {sentences}.", data


def refuse(message: Message, found: Iterable[Fault]) -> Message:
    """Return the answer to a request with such params."""
    text, data = invalid(message["method"], found)
    return error(message["id"], INVALID_PARAMS, text, data)


def describe(value: object) -> str:
    """Return a short form of a value: a scalar as written, of a container only its kind."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"[:_MAX_SHOWN]
        case str():
            return f"the string {value!r}" if len(value) <= _MAX_SHOWN else "a string"
        case _:
            return kind(value)
