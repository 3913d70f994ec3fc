"""The arguments of a tool: what its signature says, their JSON schema, and how those of a call are
read (TOOL-03). Models and hosts send what is meant in many forms; a form that one tool accepts is
accepted by all."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from obsidian_mcp import json_codec, logger
from obsidian_mcp.core.text.fit import cut_text_within
from obsidian_mcp.errors import InvalidArguments

HOST_MEMBERS: Final[Mapping[str, str]] = {
    "task_progress": "Cline",  # cline/cline#8256, #9684
    # n8n-io/n8n#21500, #21716; the other members of its agent in mpeirone/zabbix-mcp-server#27
    "toolCallId": "n8n",
    "tool": "n8n",
    "sessionId": "n8n",
    "action": "n8n",
    "chatInput": "n8n",
}
"""What hosts add to the arguments of every call. A tool that has an argument of that name keeps
it."""
NO_VALUES: Final = ("null", "undefined", "None")
"""Text that a model writes where it means no value."""
_TYPES: Final[Mapping[Any, str]] = {
    str: "string",
    int: "integer",
    bool: "boolean",
    list: "array",
    dict: "object",
}
_IN_WORDS: Final = {
    "string": "a string",
    "integer": "a whole number",
    "boolean": "true or false",
    "array of string": "a list of strings",
    "array of integer": "a list of whole numbers",
    "array of object": "a list of objects",
    "object": "an object",
}
_TRUE: Final = ("true", "1", "yes", "on")
_FALSE: Final = ("false", "0", "no", "off")
LARGEST_INTEGER: Final = 2**53
"""Larger whole numbers are not the same in every reader of JSON, and SQLite takes none of 64
bits."""
_WHOLE_NUMBER: Final = re.compile(r"\s*([+-]?\d{1,18})(?:\.0*)?\s*")
_SHOWN_CHARACTERS: Final = 60


class Argument(NamedTuple):
    """What the annotation of a parameter says beside its type."""

    description: str = ""
    ge: int | None = None
    le: int | None = None
    min_length: int = 0
    pattern: str = ""
    """A value that does not match it is refused with the description, which says more."""
    suggested: tuple[str, ...] = ()
    """Choices that models are told of; the tool reads others too."""
    pages: bool = False
    """A size of pages: `le` holds for models only, because a person gets everything (CLI-10)."""


# Parameters that several tools share. Their descriptions are read by models: every word costs
# tokens.

MOST_RESULTS: Final = 500
"""Entries of one page for a model."""

Name = Annotated[str, Argument(description="Name or path", min_length=1)]
Query = Annotated[str, Argument(description="Instead: a search")]
VaultNames = Annotated[str, Argument(description="Vault; * all")]
VaultName = Annotated[str, Argument(description="Vault")]
Etag = Annotated[str, Argument(description="If unchanged")]
TableSection = Annotated[str, Argument(description="Below this heading")]
TableNumber = Annotated[int, Argument(description="Which, from 1", ge=0)]
DryRun = Annotated[bool, Argument(description="Preview")]
Limit = Annotated[int, Argument(description="0: count", ge=0, le=MOST_RESULTS, pages=True)]
Offset = Annotated[int, Argument(description="Skip", ge=0)]


class ToolParameter(NamedTuple):
    """One argument of a tool."""

    name: str
    type: str
    """Of JSON."""
    items: str
    """The type of a list's entries; empty for what is no list."""
    choices: tuple[str, ...]
    is_required: bool
    default: Any
    field: Argument

    def describe(self, came: object = None) -> str:
        """Return in words what a value must be, for one that came."""
        if self.choices:
            return f"one of {', '.join(filter(None, self.choices))}"
        if self.field.pattern:
            return f"a string, {self.field.description[0].lower()}{self.field.description[1:]}"
        kind = _IN_WORDS[f"array of {self.items}" if self.items else self.type]
        is_too_large = isinstance(came, int) and abs(came) > LARGEST_INTEGER
        largest = LARGEST_INTEGER if is_too_large and self.field.le is None else self.field.le
        bounds = [
            f"{words} {bound}"
            for words, bound in (("at least", self.field.ge), ("at most", largest))
            if bound is not None
        ]
        return kind + (
            f" of {' and '.join(bounds)}"
            if bounds
            else " that is not empty" * bool(self.field.min_length)
        )

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema, without what says nothing to a model (TOOL-08)."""
        field = self.field
        members = {
            "default": None
            if self.default in ("", False, [], {}, *self.choices[:1]) or self.name == "limit"
            else self.default,
            "description": field.description or None,
            "enum": list(self.choices or field.suggested) or None,
            "items": {"type": self.items} if self.items else None,
            "maximum": field.le,
            "minLength": field.min_length if field.min_length > 1 else None,
            "minimum": None if field.pages else field.ge or None,
            "pattern": field.pattern or None,
            "type": self.type,
        }
        return {name: value for name, value in members.items() if value is not None}

    def read_value(self, value: Any, *, whole: bool) -> Any:
        """Return the value in the parameter's type. Raises: ValueError for one that means nothing
        here."""
        read = _READERS[self.type](value, self.items) if self.items else _READERS[self.type](value)
        field = self.field
        fits = (
            (not self.choices or read in self.choices)
            and (not field.min_length or len(read) >= field.min_length)
            and (not field.pattern or re.search(field.pattern, read))
            and (field.ge is None or read >= field.ge)
            and (field.le is None or read <= field.le or (field.pages and whole))
        )
        if not fits:
            raise ValueError(read)
        return read

    @property
    def takes_empty(self) -> bool:
        """Whether an empty string is a value of it, and not the same as none (TOOL-28)."""
        return "" in self.choices if self.choices else self.type == "string"


def parameters(function: Callable[..., object]) -> dict[str, ToolParameter]:
    """Return the arguments of a tool's function, which takes the App first."""
    hints = get_type_hints(function, include_extras=True)
    signature = list(inspect.signature(function).parameters.values())[1:]
    return {parameter.name: _parameter(parameter, hints[parameter.name]) for parameter in signature}


def _parameter(parameter: inspect.Parameter, annotation: Any) -> ToolParameter:
    field = Argument()
    if get_origin(annotation) is Annotated:
        annotation, *metadata = get_args(annotation)
        field = next(entry for entry in metadata if isinstance(entry, Argument))
    if get_origin(annotation) in (Union, UnionType):
        annotation = next(kind for kind in get_args(annotation) if kind is not NoneType)
    is_required = parameter.default is inspect.Parameter.empty
    choices = get_args(annotation) if get_origin(annotation) is Literal else ()
    kind = str if choices else get_origin(annotation) or annotation
    entries = get_args(annotation)[0] if kind is list else None
    items = _TYPES[get_origin(entries) or entries] if entries else ""
    default = None if is_required else parameter.default
    return ToolParameter(parameter.name, _TYPES[kind], items, choices, is_required, default, field)


def schema(parameters: Mapping[str, ToolParameter]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments. That others are refused goes without saying
    (TOOL-08)."""
    required = [name for name, parameter in parameters.items() if parameter.is_required]
    properties = {name: parameter.schema() for name, parameter in parameters.items()}
    return {
        "properties": properties,
        **({"required": required} if required else {}),
        "type": "object",
    }


def read_arguments(
    tool: str, parameters: Mapping[str, ToolParameter], arguments: Mapping[str, Any], *, whole: bool
) -> dict[str, Any]:
    """Return every argument of a call in its type, or its default; with `whole`, for a person, no
    page is too large. Raises: InvalidArguments that names each argument at fault."""
    values: dict[str, Any] = {}
    faults: list[tuple[str, str, str, str]] = []
    """Argument, what was expected, what came, the sentence."""
    for name, value in arguments.items():
        parameter = parameters.get(name)
        if parameter is None:
            if name in HOST_MEMBERS:
                note_host_member(tool, name)
            else:
                faults.append(
                    (
                        name,
                        f"one of {', '.join(parameters)}",
                        "an unknown argument",
                        _unknown_argument_message(tool, parameters, name),
                    )
                )
        elif value is not None and (value != "" or parameter.takes_empty):
            try:
                values[name] = parameter.read_value(value, whole=whole)
            except (ValueError, TypeError):
                expected, came = parameter.describe(value), _show_value(value)
                faults.append(
                    (
                        name,
                        expected,
                        came,
                        f"Argument {name!r} must be {expected}, but {came} came.",
                    )
                )
    at_fault = {fault[0] for fault in faults}
    for name, parameter in parameters.items():
        if name not in values and name not in at_fault:
            if parameter.is_required:
                expected = parameter.describe()
                faults.append(
                    (name, expected, "nothing", f"Missing required argument: {name} ({expected}).")
                )
            values[name] = parameter.default
    if faults:
        named = [
            {"argument": name, "expected": expected, "came": came}
            for name, expected, came, _ in faults
        ]
        raise InvalidArguments(" ".join(fault[3] for fault in faults), tool=tool, arguments=named)
    return values


def advice(parameters: Mapping[str, ToolParameter], arguments: Mapping[str, Any]) -> str:
    """Return what to say of a call that failed and has text such as `null`, or a list of it, where
    no value was meant; mostly empty (TOOL-30)."""
    meant = [
        name for name, value in arguments.items() if name in parameters and _is_no_value(value)
    ]
    optional = [name for name in meant if not parameters[name].is_required]
    return f" If no value is meant, leave {' and '.join(optional)} out." if optional else ""


def _is_no_value(value: Any) -> bool:
    """Return whether a value says that there is none: `null`, `["null"]`, `[null]`."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = read_json(value)
    if isinstance(value, list):
        return bool(value) and all(item is None or _is_no_value(item) for item in value)
    return value in NO_VALUES


def read_json(value: Any) -> Any:
    """Return what a string of JSON says; anything else as it is."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def read_string(value: Any) -> str:
    """Return a string; a number as its digits. Raises: ValueError."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError(value)


def read_integer(value: Any) -> int:
    """Return a whole number, also of its text. Raises: ValueError, also for more than
    LARGEST_INTEGER."""
    if isinstance(value, bool):
        raise ValueError(value)
    if not isinstance(value, int):
        whole = _WHOLE_NUMBER.fullmatch(value if isinstance(value, str) else repr(value))
        if whole is None:
            raise ValueError(value)
        value = int(whole[1])
    if abs(value) > LARGEST_INTEGER:
        raise ValueError(value)
    return int(value)


def read_number(value: Any) -> float:
    """Return a number, also of its text. Raises: ValueError."""
    try:
        return read_integer(value)
    except ValueError:
        return float(read_string(value))


def read_boolean(value: Any) -> bool:
    """Return true or false, also of their text. Raises: ValueError."""
    text = str(value).strip().lower()
    if isinstance(value, bool | int | str) and text in _TRUE + _FALSE:
        return text in _TRUE
    raise ValueError(value)


def read_object(value: Any) -> dict[str, Any]:
    """Return an object, also of its JSON text. Raises: ValueError."""
    members = read_json(value)
    if isinstance(members, dict):
        return members
    raise ValueError(value)


def read_array(value: Any, items: str) -> list[Any]:
    """Return a list, also of its JSON text or of the only entry. Raises: ValueError."""
    array = read_json(value)
    is_list = isinstance(array, list)
    if (
        items == "string"
        and isinstance(value, str)
        and not (is_list and set(map(type, array)) <= {str})
    ):
        array = value  # a name such as 2026 or [[Note]] is JSON too
    return [_READERS[items](entry) for entry in (array if isinstance(array, list) else [array])]


_READERS: Final[Mapping[str, Callable[..., Any]]] = {
    "string": read_string,
    "integer": read_integer,
    "boolean": read_boolean,
    "object": read_object,
    "array": read_array,
}


def _unknown_argument_message(tool: str, parameters: Mapping[str, ToolParameter], name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, parameters, 1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"There is no argument {name!r} in {tool}.{meant} It takes {', '.join(parameters)}."


def note_host_member(tool: str, name: str) -> None:
    """Say in the log that one of HOST_MEMBERS was left out of a call."""
    logger(__name__).info(
        "%s: left out the argument %s, which %s adds", tool, name, HOST_MEMBERS[name]
    )


def _show_value(value: object) -> str:
    text = json_codec.encode(value, str).decode()
    return cut_text_within(text, _SHOWN_CHARACTERS)
