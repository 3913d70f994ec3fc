"""The JSON schema of a tool's answer, for tools/published.json (TOOL-17)."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from obsidian_mcp.tools.outcome import DocumentAnswer, PictureAnswer
from obsidian_mcp.tools.registry import ACROSS_VAULTS, Tool


def published(tool: Tool) -> dict[str, Any]:
    """Return the tool's entry in the answer to `tools/list`."""
    schema = answer_schema(tool)
    head = {name: tool.published[name] for name in ("name", "title", "description", "inputSchema")}
    return {**head, **({} if schema is None else {"outputSchema": schema}), **tool.published}


def answer_schema(tool: Tool) -> dict[str, Any] | None:
    """Return the schema of `Outcome.structured`; None where the answer can be a document or an image (TOOL-17)."""
    annotation = get_type_hints(tool.function)["return"]
    kinds = get_args(annotation) or (annotation,)
    if {DocumentAnswer, PictureAnswer} & set(kinds):
        return None
    data = TypeAdapter[Any](annotation).json_schema(mode="serialization", schema_generator=_Schema)
    shared = {"$defs": data.pop("$defs")} if "$defs" in data else {}
    if tool.name in ACROSS_VAULTS:
        data = {"anyOf": [data, {"type": "object", "required": ["vaults"]}]}
    if not tool.enveloped:
        return {**data, **shared}
    members = {"success": {"const": True}, "data": data}
    return {"type": "object", "properties": members, "required": ["success", "data"], **shared}


class _Schema(GenerateJsonSchema):
    """Without titles, which cost tokens and say what the name says, and without members that are left out of answers:
    those that are None (TOOL-06), and those that only people see.
    """

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
