"""The JSON schemas of a tool's arguments and answer, and what is said of arguments that do not fit (TOOL-03)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_jsonable_python

from obsidian_mcp.errors import InvalidArguments

from .outcome import Document, Picture


def of_arguments(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a tool's arguments."""
    schema = model.model_json_schema(schema_generator=_Schema)
    schema.setdefault("properties", {})
    schema.pop("additionalProperties", None)  # a call with others is refused all the same (TOOL-03)
    for name, described in schema["properties"].items():
        if described.get("default", 1) in ("", False, None, []) or name == "limit":  # says nothing that matters
            described.pop("default", None)
        for bound, trivial in (("minLength", 1), ("minimum", 0)):
            if described.get(bound) == trivial:  # goes without saying; others are refused all the same (TOOL-03)
                del described[bound]
    return schema


def of_answer(annotation: Any, *, enveloped: bool, across_vaults: bool) -> dict[str, Any] | None:
    """Return the schema of `Outcome.structured` for a function that returns this type.

    None where the answer can be a document or an image (TOOL-17).
    """
    kinds = get_args(annotation) or (annotation,)
    if {Document, Picture} & set(kinds):
        return None
    data = TypeAdapter[Any](annotation).json_schema(mode="serialization", schema_generator=_AnswerSchema)
    shared = {"$defs": data.pop("$defs")} if "$defs" in data else {}
    if across_vaults:
        data = {"anyOf": [data, {"type": "object", "required": ["vaults"]}]}
    if not enveloped:
        return {**data, **shared}
    members = {"success": {"const": True}, "data": data}
    return {"type": "object", "properties": members, "required": ["success", "data"], **shared}


def read_json(value: Any) -> Any:
    """Return what a string of JSON says; anything else as it is."""
    if isinstance(value, str):
        with suppress(ValueError):
            return json.loads(value)
    return value


def refused(tool: str, known: Mapping[str, FieldInfo], error: ValidationError) -> InvalidArguments:
    """Return the error that names each argument at fault; `known` are the arguments of the tool."""
    sentences, faults = [], []
    for fault in error.errors(include_url=False, include_context=False):
        name = str(fault["loc"][0]) if fault["loc"] else ""
        if fault["type"] == "extra_forbidden":
            expected, came = f"one of {', '.join(known)}", "an unknown argument"
            sentence = f"There is no argument {name!r} in {tool}; it takes {', '.join(known)}."
        elif fault["type"] == "missing":
            expected, came = _expected(known[name]), "nothing"
            sentence = f"Missing required argument: {name} ({expected})."
        else:
            expected, came = _expected(known[name]), _shown(fault["input"])
            detail = re.sub(r"^(Input|Value) should", "it should", fault["msg"])
            if fault["type"] == "string_pattern_mismatch" and (described := known[name].description):
                detail = described[0].lower() + described[1:]  # says more than a regular expression
            sentence = f"Argument {name!r} must be {expected}; {detail}, but {came} came."
        sentences.append(sentence)
        faults.append({"argument": name, "expected": expected, "came": came})
    return InvalidArguments(" ".join(sentences), tool=tool, arguments=faults)


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
        return bool(field["schema"]["type"] not in ("any", "default", "nullable"))


def set_type(annotation: Any) -> Any:
    """Return the type that a parameter has when it is given: without `Unset`."""
    given = [kind for kind in get_args(annotation) if NoneType not in (kind, *get_args(kind)[:1])]
    return given[0] if get_origin(annotation) in (Union, UnionType) and len(given) == 1 else annotation
