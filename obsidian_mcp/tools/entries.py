"""What clients are told of the tools: one table, which every front filters (TOOL-01, TOOL-16). `entries.json` is made
from the functions (`pytest --update`), so this module needs the standard library alone."""

import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from obsidian_mcp.errors import InvalidArguments

FILE: Final = os.path.join(os.path.dirname(__file__), "entries.json")  # noqa: PTH118, PTH120  pathlib costs 5 ms

PREFIX: Final = "obsidian_"
CONFIRM: Final = "confirm"
"""Argument of every writing tool that says a person has agreed; listed only where the policy asks for it."""
RESEARCH: Final = "research"
"""The profile in which the HTTP server offers the tools of deep research instead of all others (TOOL-25)."""
CORE: Final = (
    "obsidian_search",
    "obsidian_read_note",
    "obsidian_list_files",
    "obsidian_create_note",
    "obsidian_edit_note",
    "obsidian_get_links",
)
STANDARD: Final = (
    *CORE,
    "obsidian_daily_note",
    "obsidian_list_tasks",
    "obsidian_update_task",
    "obsidian_edit_canvas",
    "obsidian_move_note",
    "obsidian_delete_note",
    "obsidian_attachments",
    "obsidian_add_attachment",
    "obsidian_tags",
    "obsidian_rename_tag",
    "obsidian_set_properties",
    "obsidian_batch",
    "obsidian_history",
    "obsidian_undo",
)


class ToolEntry(NamedTuple):
    """One tool as clients are told of it, and what decides who is."""

    published: Mapping[str, Any]
    """Its entry in the answer to `tools/list`, for a client that shows no views and is never asked to confirm."""
    command: str
    """Its subcommand of the command line; empty for none."""
    needs_app: bool
    """Of use only where the app or its command is there."""
    takes_confirm: bool
    """Whether it writes and may be given CONFIRM beside its own arguments."""
    ui: Mapping[str, Any]
    """What its `_meta` has beside that for a host that shows views: who may call it, and the page of its answer."""

    @property
    def name(self) -> str:
        name: str = self.published["name"]
        return name

    @property
    def read_only(self) -> bool:
        return self.published["annotations"]["readOnlyHint"] is True


class EntryTable(NamedTuple):
    """The tools in the order of their lists."""

    tools: Mapping[str, ToolEntry]
    views: Mapping[str, ToolEntry]
    """Those that open a view and those that views call (specs/views.md): only for hosts that show views."""
    research: Mapping[str, ToolEntry]
    """Of the profile RESEARCH."""

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*self.tools, *self.views, *self.research))


@cache
def table() -> EntryTable:
    """Return the entries of all tools."""
    with open(FILE, encoding="utf-8") as file:  # noqa: PTH123
        groups = json.load(file)
    return EntryTable(
        **{group: {row["published"]["name"]: ToolEntry(**row) for row in rows} for group, rows in groups.items()}
    )


class Audience(NamedTuple):
    """Who is told of the tools: what the configuration, the policy, the client and this computer let it see."""

    profile: str = "all"
    """The names of tools, as `profile` takes them."""
    read_only: bool = False
    asks: bool = False
    """The user's policy wants some changes confirmed."""
    has_app: bool = True
    shows_views: bool = False


def list_tools(audience: Audience) -> list[Mapping[str, Any]]:
    """Return the answer to `tools/list` for an audience. Raises: InvalidArguments for a profile without tools."""
    return [publish(entry, audience) for entry in select_tools(audience).values()]


def select_tools(audience: Audience) -> dict[str, ToolEntry]:
    """Return the entries that an audience is told of. Raises: InvalidArguments for a profile that names no tools."""
    every = table()
    if audience.profile == RESEARCH:
        found = every.research
    else:
        found = {name: every.tools[name] for name in profile(audience.profile)}
        found |= every.views if audience.shows_views else {}
    return {
        name: entry
        for name, entry in found.items()
        if (entry.read_only or not audience.read_only) and (audience.has_app or not entry.needs_app)
    }


def publish(entry: ToolEntry, audience: Audience) -> Mapping[str, Any]:
    """Return one entry of the answer to `tools/list`, for an audience."""
    published = entry.published
    if audience.asks and entry.takes_confirm:
        schema = published["inputSchema"]
        properties = {**schema["properties"], CONFIRM: {"type": "boolean", "description": "The user agreed"}}
        published = {**published, "inputSchema": {**schema, "properties": properties}}
    if audience.shows_views:
        published = {**published, "_meta": {**published.get("_meta", {}), **entry.ui}}
    return published


def profile(names: str) -> Sequence[str]:
    """Return the names of the tools of `core`, `standard` or `all`, or those that are listed with commas (TOOL-16).
    Raises: InvalidArguments for an unknown name, and for `research`, which is no choice of these tools."""
    tools = table().tools
    match names:
        case "all":
            return list(tools)
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
    if unknown := [name for name in chosen if name not in tools]:
        raise InvalidArguments(
            f"There is no tool {', '.join(unknown)}. Give core, standard, all, or names of tools: {', '.join(tools)}."
        )
    return [name for name in tools if name in chosen]


def offers_views(names: str, views: str) -> bool:
    """Whether tools of views may be called: with the profile `all`, or where the user switched views on (VIEW-03)."""
    return names != RESEARCH and (views == "on" or (views == "auto" and names == "all"))


def narrow(names: str, within: str) -> str:
    """Return the profile of the tools that are in both profiles (TOOL-16). Raises: InvalidArguments."""
    if RESEARCH in (names, within):
        return RESEARCH
    allowed = profile(within)
    both = [name for name in profile(names) if name in allowed]
    return "all" if len(both) == len(table().tools) else ",".join(both)
