"""What a tool returns, and what of it is sent to a client.

A tool returns a record, a text or a picture. Each front shows that in its own way: MCP as blocks
and a structured copy, HTTP dialects as JSON, the command line as text for a person.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any

from obsidian_mcp import json_codec


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """An answer whose body is text, sent beside the data as it is instead of inside JSON."""

    data: object
    text: str | None


@dataclass(frozen=True, slots=True)
class PictureAnswer:
    """An answer that is an image, with facts about it."""

    data: object
    mime: str
    image: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool call gives to a front: JSON-able `data`, and a `text` for tools whose answer is a
    document."""

    data: dict[str, Any]
    text: str | None
    document: bool
    """True where the answer is meant to be read as text, so that no structured copy is sent."""
    enveloped: bool = True
    summary: str = ""
    """What was done, in a few words; empty where the tool's title says it."""
    stderr: str = ""
    """Remarks of a program that the tool ran."""
    picture: PictureAnswer | None = None
    result: object = None
    """What the tool returned, for a front that shows it in a way of its own."""

    def envelope(self) -> str:
        """Return the contract's `{"success":true,"data":…}` as compact JSON."""
        return json_codec.encode({"success": True, "data": self.data}, asdict).decode()

    def to_full_data(self) -> dict[str, Any]:
        """Return the data, with the text of a document in it as `content`, or an image as
        `base64`."""
        if self.picture is not None:
            return {
                **self.data,
                "shown_as": self.picture.mime,
                "base64": b64encode(self.picture.image).decode(),
            }
        return (
            {**self.data, "content": self.text}
            if self.document and self.text is not None
            else self.data
        )

    @property
    def structured(self) -> dict[str, Any] | None:
        """The same as an object, which hosts show in place of the blocks; None for a document or an
        image."""
        if self.document or self.picture is not None:
            return None
        return {"success": True, "data": self.data} if self.enveloped else self.data

    def contents(self) -> list[str]:
        """Return the text blocks for a model: envelope and document, or for tools without envelope
        what they have to say."""
        if self.enveloped:
            return [self.envelope()] if self.text is None else [self.envelope(), self.text]
        if self.text is None:
            return [json_codec.encode(self.data, asdict).decode()]
        return [self.text, *([self.data["late"]] if "late" in self.data else [])]


_SCALARS = frozenset((NoneType, bool, int, float, str))


def to_plain_json(value: Any) -> Any:
    """Return a result in the types of JSON: records become objects; a field that is None or
    `hits.NOT_SENT` is left out."""
    members = _members(value.__class__)
    if members is not None:
        return {
            name: member if type(member) in _SCALARS else to_plain_json(member)
            for name in members
            if (member := getattr(value, name)) is not None
        }
    if isinstance(value, Mapping):
        return {
            str(key): member if type(member) in _SCALARS else to_plain_json(member)
            for key, member in value.items()
        }
    if isinstance(value, list | tuple):
        return [member if type(member) in _SCALARS else to_plain_json(member) for member in value]
    return value


@cache
def _members(kind: type) -> tuple[str, ...] | None:
    """Return the names of the fields of a dataclass or named tuple that are sent; None for any
    other class."""
    if not is_dataclass(kind):
        return getattr(kind, "_fields", None)
    return tuple(field.name for field in fields(kind) if field.metadata.get("sent", True))
