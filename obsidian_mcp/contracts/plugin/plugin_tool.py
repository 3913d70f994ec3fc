"""A tool as the plugin describes it, and the list of them.

What the plugin says is passed on as it is, but for what would make a client refuse the whole list:
an entry without a name, a name twice, a schema that does not say that it is of an object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PluginTool:
    """One tool of the plugin."""

    name: str
    definition: Mapping[str, Any]
    """The tool as the plugin describes it, with `name` and an `inputSchema` that says `"type":
    "object"`."""

    @property
    def is_read_only(self) -> bool:
        hints = self.definition.get("annotations")
        return isinstance(hints, Mapping) and hints.get("readOnlyHint") is True

    def clean_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call without what hosts add to every call, and without null
        where the plugin describes an optional argument of another type (BRIDGE-19)."""
        from obsidian_mcp.tools.arguments import HOST_MEMBERS, note_host_member  # for calls only

        schema = self.definition["inputSchema"]
        properties, required = schema.get("properties"), schema.get("required")
        known = properties if isinstance(properties, Mapping) else {}
        kept = {}
        for name, value in arguments.items():
            described = known.get(name)
            kind = described.get("type") if isinstance(described, Mapping) else None
            if (
                value is None
                and isinstance(kind, str)
                and kind != "null"
                and name not in (required or ())
            ):
                continue
            if described is None and known and name in HOST_MEMBERS:
                note_host_member(self.name, name)
                continue
            kept[name] = value
        return kept


@dataclass(frozen=True, slots=True)
class PluginTools:
    """The answer to a request for the plugin's tools."""

    tools: tuple[PluginTool, ...]
    hash: str
    """Never empty; another one means that the tools changed. Where the plugin gives none, the text
    of the list."""


def read_tools(entries: list[object]) -> tuple[PluginTool, ...]:
    """Return the tools of a list in its order; of two with one name the first."""
    tools: dict[str, PluginTool] = {}
    for entry in entries:
        if (
            isinstance(entry, dict)
            and isinstance(name := entry.get("name"), str)
            and name
            and name not in tools
        ):
            schema = entry.get("inputSchema")
            complete = (
                {"type": "object", **schema} if isinstance(schema, dict) else {"type": "object"}
            )
            tools[name] = PluginTool(name, {**entry, "inputSchema": complete})
    return tuple(tools.values())
