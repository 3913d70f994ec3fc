"""What clients are told of the tools, and who is told: one table, which every front filters (TOOL-01, TOOL-16). Its two
files are made from the functions (`pytest --update`), so this module needs the standard library alone."""

from __future__ import annotations

import json
import os
from functools import cache

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.errors import InvalidArguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final

FOLDER: Final = os.path.dirname(__file__)  # noqa: PTH120  pathlib costs 5 ms
ENTRIES: Final = os.path.join(FOLDER, "entries.json")  # noqa: PTH118
"""Who is told of each tool."""
PUBLISHED: Final = os.path.join(FOLDER, "published.json")  # noqa: PTH118
"""What clients are told of each; read for the first list, as it takes 1 ms."""

PREFIX: Final = "obsidian_"
CONFIRM: Final = "confirm"
"""Argument of every writing tool that says a person has agreed; listed only where the policy asks for it."""
RESEARCH: Final = "research"
"""The profile in which the HTTP server offers the tools of deep research instead of all others (TOOL-25)."""
CORE: Final = "search,read_note,list_files,create_note,edit_note,get_links"
PROFILES: Final = {
    "core": CORE,
    "standard": f"{CORE},daily_note,list_tasks,update_task,edit_canvas,move_note,delete_note,attachments,"
    "add_attachment,tags,rename_tag,set_properties,batch,history,undo",
}
"""The tools of profiles that have a name of their own."""


class ToolEntry:
    """What decides who is told of a tool."""

    def __init__(
        self,
        name: str,
        *,
        read_only: bool,
        needs_app: bool,
        ui: Mapping[str, Any],
        command: str = "",
        is_registered: bool = False,
    ) -> None:
        """`is_registered`: it is another program's."""
        self.name: Final = name
        self.command: Final = command
        """Its subcommand of the command line; empty for none."""
        self.read_only: Final = read_only
        self.needs_app: Final = needs_app
        """Of use only where the app or its command is there."""
        self.takes_confirm: Final = not read_only and not is_registered
        """Whether it writes and may be given CONFIRM beside its own arguments."""
        self.ui: Final = ui
        """What its `_meta` has more for a host that shows views: who may call it, and the page of its answer."""


class EntryTable:
    """The tools by name, in the order of their lists."""

    def __init__(self, tools: Mapping[str, Any], views: Mapping[str, Any], research: Mapping[str, Any]) -> None:
        self.tools: Final = {name: ToolEntry(name, **row) for name, row in tools.items()}
        self.views: Final = {name: ToolEntry(name, **row) for name, row in views.items()}
        """Those that open a view and those that views call (specs/views.md): only for hosts that show views."""
        self.research: Final = {name: ToolEntry(name, **row) for name, row in research.items()}
        """Of the profile RESEARCH."""
        self.names: Final = frozenset((*tools, *views, *research))


@cache
def table() -> EntryTable:
    """Return the entries of all tools."""
    with open(ENTRIES, encoding="utf-8") as file:  # noqa: PTH123
        return EntryTable(**json.load(file))


@cache
def published() -> Mapping[str, Mapping[str, Any]]:
    """Return the entry of each tool in the answer to `tools/list`, for a client that shows no views and is never asked
    to confirm."""
    with open(PUBLISHED, encoding="utf-8") as file:  # noqa: PTH123
        found: Mapping[str, Mapping[str, Any]] = json.load(file)
    return found


def select_tools(
    names: str, *, read_only: bool = False, has_app: bool = True, shows_views: bool = False
) -> dict[str, ToolEntry]:
    """Return the entries that a client is told of: `names` as `profile` takes them; `has_app`, whether the app or its
    command is there. Raises: InvalidArguments for a profile that names no tools."""
    every = table()
    if names == RESEARCH:
        found = every.research
    else:
        found = {name: every.tools[name] for name in profile(names)}
        found |= every.views if shows_views else {}
    return {
        name: entry
        for name, entry in found.items()
        if (entry.read_only or not read_only) and (has_app or not entry.needs_app)
    }


def publish(entry: ToolEntry, told: Mapping[str, Any], *, asks: bool, shows_views: bool) -> Mapping[str, Any]:
    """Return one entry of the answer to `tools/list`. `asks`: the user's policy wants some changes confirmed."""
    if asks and entry.takes_confirm:
        schema = told["inputSchema"]
        properties = {**schema["properties"], CONFIRM: {"type": "boolean", "description": "The user agreed"}}
        told = {**told, "inputSchema": {**schema, "properties": properties}}
    if shows_views:
        told = {**told, "_meta": {**told.get("_meta", {}), **entry.ui}}
    return told


def profile(names: str) -> Sequence[str]:
    """Return the names of the tools of `core`, `standard` or `all`, or those that are listed with commas (TOOL-16).
    Raises: InvalidArguments for an unknown name, and for `research`, which is no choice of these tools."""
    tools = table().tools
    if names == "all":
        return list(tools)
    if names == RESEARCH:
        raise InvalidArguments(
            "The profile research is offered over HTTP only: obsidian-mcp --tools research http. Here give core, "
            "standard, all, or names of tools."
        )
    given = [name.strip() for name in PROFILES.get(names, names).split(",") if name.strip()]
    chosen = [name if name.startswith(PREFIX) else PREFIX + name for name in given]
    if unknown := [name for name in chosen if name not in tools]:
        raise InvalidArguments(
            f"There is no tool {', '.join(unknown)}. Give core, standard, all, or names of tools: {', '.join(tools)}."
        )
    return [name for name in tools if name in chosen]


def narrow(names: str, within: str) -> str:
    """Return the profile of the tools that are in both profiles (TOOL-16). Raises: InvalidArguments."""
    if RESEARCH in (names, within):
        return RESEARCH
    allowed = profile(within)
    both = [name for name in profile(names) if name in allowed]
    return "all" if len(both) == len(table().tools) else ",".join(both)
