"""One function = one tool: `@tool` makes its schema from the signature, `call` is the only way in (specs/tools.md)."""

from __future__ import annotations

import inspect
import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_json, to_jsonable_python

from obsidian_mcp.app import App
from obsidian_mcp.core.files.policy import confirmed, hidden_text_read
from obsidian_mcp.core.files.ports import api_key
from obsidian_mcp.core.text import deadline
from obsidian_mcp.errors import InvalidArguments, UnknownTool

PREFIX = "obsidian_"

EVERY_VAULT = "*"
"""In place of a vault's name."""
ACROSS_VAULTS = frozenset(
    ("obsidian_search", "obsidian_list_files", "obsidian_query", "obsidian_list_tasks", "obsidian_tags")
)
MOST_BYTES = 40_000
"""Of the answers of several vaults, after which no other one is asked."""

CONFIRM = "confirm"
"""Argument of every writing tool that says a person has agreed; listed only where the policy asks for it."""


@dataclass(frozen=True, slots=True)
class Document:
    """An answer whose body is text, sent beside the data as it is instead of inside JSON."""

    data: object
    text: str | None


@dataclass(frozen=True, slots=True)
class Picture:
    """An answer that is an image, with facts about it."""

    data: object
    mime: str
    image: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool call gives to a front: JSON-able `data`, and a `text` for tools whose answer is a document."""

    data: dict[str, Any]
    text: str | None
    document: bool
    """True where the answer is meant to be read as text, so that no structured copy is sent."""
    enveloped: bool = True
    summary: str = ""
    """What was done, in a few words; empty where the tool's title says it."""
    stderr: str = ""
    """Remarks of a program that the tool ran."""
    picture: Picture | None = None
    result: object = None
    """What the tool returned, for a front that shows it in a way of its own."""

    def envelope(self) -> str:
        """The contract's `{"success":true,"data":…}` as compact JSON."""
        return to_json({"success": True, "data": self.data}).decode()

    def whole(self) -> dict[str, Any]:
        """The data, with the text of a document in it as `content`, or an image as `base64`."""
        if self.picture is not None:
            return {**self.data, "shown_as": self.picture.mime, "base64": b64encode(self.picture.image).decode()}
        return {**self.data, "content": self.text} if self.document and self.text is not None else self.data

    @property
    def structured(self) -> dict[str, Any] | None:
        """The same as an object, for answers that are neither a document nor an image.

        Hosts that find one show it to the model in place of the blocks.
        """
        if self.document or self.picture is not None:
            return None
        return {"success": True, "data": self.data} if self.enveloped else self.data

    def contents(self) -> list[str]:
        """The text blocks for a model: envelope and document, or for tools without envelope what they have to say."""
        if self.enveloped:
            return [self.envelope()] if self.text is None else [self.envelope(), self.text]
        if self.text is None:
            return [to_json(self.data, inf_nan_mode="null").decode()]
        return [self.text, *([self.data["late"]] if "late" in self.data else [])]


@dataclass(frozen=True, eq=False)
class Tool:
    name: str
    title: str
    description: str
    command: str
    """Name of the subcommand of the command line."""
    function: Callable[..., object]
    read_only: bool
    destructive: bool
    """Whether some argument can change or remove an existing byte (TOOL-12)."""
    idempotent: bool
    open_world: bool = False
    """Whether it can reach beyond the vault, such as the network."""
    enveloped: bool = True
    """Whether its first text block is the contract's envelope."""
    needs_app: bool = False
    """Of use only where the app or its command is there."""
    view: str = ""
    """The page that shows its answer to a person (specs/views.md); empty for all but a few of VIEW_TOOLS."""
    takes_confirm: ClassVar[bool] = True
    """Whether a writing tool may be given CONFIRM beside its own arguments."""

    def would_write(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a call with these arguments may change anything."""
        return not self.read_only and arguments.get("dry_run") is not True

    def call(self, app: App, arguments: Mapping[str, Any]) -> Outcome:
        """Raises: InvalidArguments, and every AppError of the tool."""
        given = dict(arguments)
        if given.get("vault") == EVERY_VAULT:
            return self._in_every_vault(app, given)
        agreed = confirmed.set(not self.read_only and given.pop(CONFIRM, None) in (True, "true"))
        source = hidden_text_read.set("" if self.read_only else app.hidden_text_reads.path())
        key = api_key.set(app.config.key)
        try:
            result = self.function(app, **self.arguments(given))
        finally:
            api_key.reset(key)
            hidden_text_read.reset(source)
            confirmed.reset(agreed)
        document = isinstance(result, Document)
        data = plain(result.data if isinstance(result, Document | Picture) else result)
        if not self.read_only and (late := deadline.late_note()):
            data["late"] = late
        return Outcome(
            data=data,
            text=result.text if isinstance(result, Document) else None,
            document=document,
            enveloped=self.enveloped,
            picture=result if isinstance(result, Picture) else None,
            result=result,
        )

    def _in_every_vault(self, app: App, given: dict[str, Any]) -> Outcome:
        """One call in each vault; the answers one after the other, each with its vault's name (TOOL-19)."""
        if self.name not in ACROSS_VAULTS:
            raise InvalidArguments(
                f"{self.name} works on one vault. The vaults are {', '.join(app.vaults.names())}.", argument="vault"
            )
        answers: list[dict[str, Any]] = []
        left = app.vaults.names()
        while left and (not answers or len(to_json(answers)) < MOST_BYTES):
            name = left.pop(0)
            answers.append({"vault": name, **self.call(app, {**given, "vault": name}).data})
        data: dict[str, Any] = {"vaults": answers} | ({"not_searched": left} if left else {})
        return Outcome(data, text=None, document=False)

    @cached_property
    def model(self) -> type[BaseModel]:
        """The arguments: checked by pydantic, unknown ones refused."""
        hints = get_type_hints(self.function, include_extras=True)
        members: dict[str, Any] = {
            parameter.name: (
                hints[parameter.name],
                ... if parameter.default is inspect.Parameter.empty else parameter.default,
            )
            for parameter in list(inspect.signature(self.function).parameters.values())[1:]
        }
        config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)
        return create_model(self.name, __config__=config, **members)

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        schema = self.model.model_json_schema(schema_generator=_Schema)
        schema.setdefault("properties", {})
        schema.pop("additionalProperties", None)  # a call with others is refused all the same (TOOL-03)
        for name, described in schema["properties"].items():
            if described.get("default", 1) in ("", False, None, []) or name == "limit":  # says nothing that matters
                described.pop("default", None)
            for bound, trivial in (("minLength", 1), ("minimum", 0)):
                if described.get(bound) == trivial:  # goes without saying; others are refused all the same (TOOL-03)
                    del described[bound]
        return schema

    @property
    def always_load(self) -> bool:
        """Whether hosts that load tools as they are needed should have this one from the start."""
        return self.name in ALWAYS_LOADED

    @cached_property
    def output_schema(self) -> dict[str, Any] | None:
        """JSON Schema of `Outcome.structured`; None where the answer can be a document or an image (TOOL-17)."""
        answer = get_type_hints(self.function)["return"]
        kinds = get_args(answer) or (answer,)
        is_research = self.name in RESEARCH_TOOLS
        if not (self.enveloped or is_research) or {Document, Picture} & set(kinds):
            return None
        data = TypeAdapter[Any](answer).json_schema(mode="serialization", schema_generator=_AnswerSchema)
        shared = {"$defs": data.pop("$defs")} if "$defs" in data else {}
        if self.name in ACROSS_VAULTS:
            data = {"anyOf": [data, {"type": "object", "required": ["vaults"]}]}
        if is_research:
            return {**data, **shared}
        members = {"success": {"const": True}, "data": data}
        return {"type": "object", "properties": members, "required": ["success", "data"], **shared}

    @cached_property
    def confirmable_schema(self) -> dict[str, Any]:
        """As `input_schema`, with CONFIRM where the tool writes."""
        if self.read_only or not self.takes_confirm:
            return self.input_schema
        properties = {**self.input_schema["properties"], CONFIRM: {"type": "boolean", "description": "The user agreed"}}
        return {**self.input_schema, "properties": properties}

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Checked arguments by parameter name. Raises: InvalidArguments naming each argument at fault."""
        try:
            checked = self.model.model_validate(
                {key: self._unquoted(key, value) if key in self._nested else value for key, value in given.items()}
            )
        except ValidationError as error:
            raise self._refused(error) from error
        return {name: getattr(checked, name) for name in type(checked).model_fields}

    @cached_property
    def _nested(self) -> dict[str, Any]:
        """The types of the arguments that are lists or objects, by name."""
        types = {name: set_type(field.annotation) for name, field in self.model.model_fields.items()}
        return {name: kind for name, kind in types.items() if get_origin(kind) in (list, dict)}

    def _unquoted(self, key: str, value: Any) -> Any:
        """Hosts send lists and objects as JSON strings (specs/tools.md TOOL-05); pydantic reads quoted scalars."""
        if isinstance(value, list) and get_origin(next(iter(get_args(self._nested[key])), None)) is dict:
            return [_read_json(item) for item in value]
        return _read_json(value)

    def _refused(self, error: ValidationError) -> InvalidArguments:
        known = self.model.model_fields
        sentences, faults = [], []
        for fault in error.errors(include_url=False, include_context=False):
            name = str(fault["loc"][0]) if fault["loc"] else ""
            if fault["type"] == "extra_forbidden":
                expected, came = f"one of {', '.join(known)}", "an unknown argument"
                sentence = f"There is no argument {name!r} in {self.name}; it takes {', '.join(known)}."
            elif fault["type"] == "missing":
                expected, came = _expected(known[name]), "nothing"
                sentence = f"Missing required argument: {name} ({expected})."
            else:
                expected, came = _expected(known[name]), _shown(fault["input"])
                detail = re.sub(r"^(Input|Value) should", "it should", fault["msg"])
                sentence = f"Argument {name!r} must be {expected}; {detail}, but {came} came."
            sentences.append(sentence)
            faults.append({"argument": name, "expected": expected, "came": came})
        return InvalidArguments(" ".join(sentences), tool=self.name, arguments=faults)


def _read_json(value: Any) -> Any:
    """What a string of JSON says; anything else as it is."""
    if isinstance(value, str):
        with suppress(ValueError):
            return json.loads(value)
    return value


_TYPES = {"string": "a string", "integer": "a whole number", "boolean": "true or false", "number": "a number"}


def _expected(field: FieldInfo) -> str:
    """What an argument must be, in words."""
    schema = TypeAdapter[Any](field.annotation or str).json_schema()
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    return _TYPES.get(schema.get("type", ""), f"a JSON {schema.get('type', 'value')}")


def _shown(value: object) -> str:
    text = json.dumps(to_jsonable_python(value, fallback=str), ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


class _Schema(GenerateJsonSchema):
    """Without titles: they cost tokens and say what the name says."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  the base class's signature
        return False

    def dict_schema(self, schema: Any) -> dict[str, Any]:
        generated = super().dict_schema(schema)
        if generated.get("additionalProperties") is True:  # so it is where nothing is said
            del generated["additionalProperties"]
        return generated

    def generate(self, schema: Any, mode: Any = "validation") -> dict[str, Any]:
        generated = super().generate(schema, mode)
        generated.pop("title", None)
        return generated


class _AnswerSchema(_Schema):
    """Of answers: members that are None are left out of them (TOOL-06), and so are those that only people see."""

    def nullable_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        hidden = {field.name for field in fields(schema["cls"]) if not field.metadata.get("sent", True)}
        inner = schema["schema"]
        kept = [field for field in inner["fields"] if field["name"] not in hidden]
        shown: Any = {**schema, "schema": {**inner, "fields": kept}}
        generated = super().dataclass_schema(shown)
        for unneeded in ("title", "description"):
            generated.pop(unneeded, None)
        for member in generated.get("properties", {}).values():
            member.pop("default", None)
        return generated

    def field_is_required(self, field: Any, total: bool) -> bool:  # noqa: ARG002  the base class's signature
        return bool(field["schema"]["type"] not in ("default", "nullable"))


TOOLS: dict[str, Tool] = {}
"""Every tool by name, in the order in which the modules of this package define them."""


PLUGIN_TOOLS: dict[str, Tool] = {}
"""The tools under the plugin's own names (contract 000), which the HTTP server offers beside TOOLS."""

VIEW_TOOLS: dict[str, Tool] = {}
"""The tools that open a view and those that views call (specs/views.md): listed only for hosts that show views."""

RESEARCH = "research"
"""The profile in which the HTTP server offers RESEARCH_TOOLS instead of all others (TOOL-25)."""
RESEARCH_TOOLS: dict[str, Tool] = {}


def tool(
    command: str,
    *,
    title: str,
    among: dict[str, Tool] | None = None,
    writes: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    open_world: bool = False,
    needs_app: bool = False,
    view: str = "",
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Register a function `(app, …) -> dataclass | Document` as the tool `obsidian_<its name>`.

    `destructive`: some argument can change or remove an existing byte. `idempotent`: the same call again changes
    nothing more. `open_world`: it can reach beyond the vault. `needs_app`: listed only where the app or its command is
    there.
    A tool without a command is in PLUGIN_TOOLS, or in the registry `among`: its name has no prefix and its answer no
    envelope, but for VIEW_TOOLS. `view`: the page that shows the answer.
    """
    is_own = bool(command) or among is VIEW_TOOLS

    def register(function: Callable[..., object]) -> Callable[..., object]:
        name = PREFIX + function.__name__ if is_own else function.__name__
        tools = TOOLS if command else PLUGIN_TOOLS if among is None else among
        tools[name] = Tool(
            name=name,
            title=title,
            description=inspect.cleandoc(function.__doc__ or ""),
            command=command,
            function=function,
            read_only=not writes,
            destructive=destructive,
            idempotent=idempotent or not writes,
            open_world=open_world,
            enveloped=is_own,
            needs_app=needs_app,
            view=view,
        )
        return function

    return register


def set_type(annotation: Any) -> Any:
    """Return the type that a parameter has when it is given: without `Unset`."""
    given = [each for each in get_args(annotation) if NoneType not in (each, *get_args(each)[:1])]
    return given[0] if get_origin(annotation) in (Union, UnionType) and len(given) == 1 else annotation


_SCALARS = frozenset((NoneType, bool, int, float, str))


def plain(value: Any) -> Any:
    """JSON types of a result: dataclasses become objects; a field that is None or `hits.NOT_SENT` is left out."""
    members = _members(value.__class__)
    if members is not None:
        return {
            name: member if type(member) in _SCALARS else plain(member)
            for name in members
            if (member := getattr(value, name)) is not None
        }
    if isinstance(value, Mapping):
        return {str(key): member if type(member) in _SCALARS else plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [member if type(member) in _SCALARS else plain(member) for member in value]
    return value


@cache
def _members(kind: type) -> tuple[str, ...] | None:
    """The fields of a dataclass that are sent; None for anything else."""
    if not is_dataclass(kind):
        return None
    return tuple(field.name for field in fields(kind) if field.metadata.get("sent", True))


CORE = (
    "obsidian_search",
    "obsidian_read_note",
    "obsidian_list_files",
    "obsidian_create_note",
    "obsidian_edit_note",
    "obsidian_get_links",
)
STANDARD = (
    *CORE,
    "obsidian_daily_note",
    "obsidian_move_note",
    "obsidian_delete_note",
    "obsidian_get_properties",
    "obsidian_set_properties",
    "obsidian_tags",
    "obsidian_list_tasks",
    "obsidian_update_task",
    "obsidian_undo",
    "obsidian_vault_info",
)
ALWAYS_LOADED = ("obsidian_search", "obsidian_read_note")


def profile(names: str) -> Mapping[str, Tool]:
    """Return the tools of `core`, `standard` or `all`, or those whose names are listed with commas (TOOL-16).

    Raises: InvalidArguments for a name that no tool has, and for `research`, which is no choice of these tools.
    """
    match names:
        case "all":
            return TOOLS
        case "research":
            raise InvalidArguments(
                "The profile research is offered over HTTP only: obsidian-mcp --tools research http. Here give core, "
                "standard, all, or names of tools."
            )
        case "core" | "standard":
            chosen: Sequence[str] = CORE if names == "core" else STANDARD
        case _:
            given = [name.strip() for name in names.split(",") if name.strip()]
            chosen = [name if name.startswith(PREFIX) else PREFIX + name for name in given]
    if unknown := [name for name in chosen if name not in TOOLS]:
        raise InvalidArguments(
            f"There is no tool {', '.join(unknown)}. Give core, standard, all, or names of tools: {', '.join(TOOLS)}."
        )
    return {name: tool for name, tool in TOOLS.items() if name in chosen}


def narrowed(names: str, within: str) -> str:
    """Return the profile of the tools that are in both profiles (TOOL-16). Raises: InvalidArguments."""
    if RESEARCH in (names, within):
        return RESEARCH
    both = profile(names).keys() & profile(within).keys()
    return "all" if len(both) == len(TOOLS) else ",".join(name for name in TOOLS if name in both)


Retired = Callable[[dict[str, Any]], tuple[str, dict[str, Any]]]
RETIRED: dict[str, Retired] = {}
"""By the names of tools that once had another form: what makes of its arguments the call of today (TOOL-13)."""


def present(
    name: str, arguments: Mapping[str, Any], tools: Mapping[str, Tool] = TOOLS
) -> tuple[str, Mapping[str, Any]]:
    """Return a call as it is made today: of one in the form of an earlier version, the one that takes its place."""
    if name in RETIRED and tools.get(name) is TOOLS.get(name):  # another program may have a tool of an old name
        return RETIRED[name](dict(arguments))
    return name, arguments


def listed(app: App, tools: Mapping[str, Tool] = TOOLS) -> dict[str, Tool]:
    """Return the tools that are of use here and now: those of the profile, without those of an app that is not there.

    Raises: InvalidArguments for a profile that names no tools.
    """
    absent = any(tool.needs_app for tool in tools.values()) and not app.vaults.has_app()
    return {name: tool for name, tool in offered(app, tools).items() if not (absent and tool.needs_app)}


def offered(app: App, tools: Mapping[str, Tool] = TOOLS) -> Mapping[str, Tool]:
    """Return the tools of the configured profile, and those of other programs (TOOL-16).

    Raises: InvalidArguments for a profile that names no tools.
    """
    if app.config.tools == "all" or tools is RESEARCH_TOOLS:
        return tools
    chosen = profile(app.config.tools)
    ours = {**PLUGIN_TOOLS, **TOOLS}
    return {name: tool for name, tool in tools.items() if name in chosen or ours.get(name) is not tool}


def view_tools(app: App) -> Mapping[str, Tool]:
    """Return the tools of views that may be called: with the profile `all`, or where the user switched views on."""
    is_on = app.config.views == "on" or (app.config.views == "auto" and app.config.tools == "all")
    return VIEW_TOOLS if is_on and app.config.tools != RESEARCH else {}


def call(app: App, name: str, arguments: Mapping[str, Any], tools: Mapping[str, Tool] = TOOLS) -> Outcome:
    """Run one of the tools of the profile. Raises: UnknownTool, InvalidArguments, and every AppError of the tool."""
    if name in RETIRED:
        name, arguments = present(name, arguments, tools)
    callable_here = offered(app, tools)
    found = callable_here.get(name) or view_tools(app).get(name)
    if found is None:
        raise UnknownTool(f"Unknown tool: {name}. The tools are {', '.join(callable_here)}.", tool=name)
    return found.call(app, arguments)
