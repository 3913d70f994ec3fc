"""Which tools a client is offered, and what it is told of them (TOOL-01, TOOL-16).

`Offer` is asked by every front, by a batch, and by advice that names tools. It filters one table,
whose two files are made from the functions (`pytest --update`): the first answer of a server waits
neither for the tools nor for anything else than the standard library.
"""

from __future__ import annotations

import json
import os
from functools import cache, lru_cache

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.errors import InvalidArguments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Final, Protocol

    from obsidian_mcp.config import Config

    class OtherTool(Protocol):
        """A tool of another program."""

        @property
        def entry(self) -> ToolEntry:
            """What decides who is told of it."""

        @property
        def published(self) -> Mapping[str, Any]:
            """What clients are told of it."""

    OtherTools = Callable[[], Mapping[str, OtherTool]]
    """Returns the present tools of other programs by name."""

FOLDER: Final = os.path.dirname(__file__)  # noqa: PTH120  pathlib costs 5 ms
ENTRIES: Final = os.path.join(FOLDER, "entries.json")  # noqa: PTH118
"""Who is told of each tool."""
PUBLISHED: Final = os.path.join(FOLDER, "published.json")  # noqa: PTH118
"""What clients are told of each; read for the first list, as it takes 1 ms."""

PREFIX: Final = "obsidian_"
"""Begins the name of every tool: a client has tools of several servers in one list."""
CONFIRM: Final = "confirm"
"""Argument of every writing tool that says a person has agreed; listed only where the policy asks
for it."""
VAULT: Final = "vault"
"""Argument of every tool that says which vault is meant; listed only where there are several."""
RESEARCH: Final = "research"
"""The profile in which the HTTP server offers the tools of deep research instead of all others
(TOOL-25)."""
CORE: Final = "search,read_note,list_files,create_note,edit_note,get_links"
"""The profile for small models: what reading and writing cannot do without."""
PROFILES: Final = {
    "core": CORE,
    "standard": f"{CORE},daily_note,list_tasks,update_task,edit_canvas,move_note,delete_note,"
    "attachments,add_attachment,tags,rename_tag,set_properties,batch,history,undo,query,replace",
}
"""The tools of profiles that have a name of their own."""

FORMER_TOOLS: Final = {
    "app": ("app_info", "open_note", "app_command", "daily_note"),
    "bookmarks": ("list_bookmarks",),
    "properties": ("get_properties", "set_properties"),
    "templates": ("list_templates",),
}
"""Tools that are gone, without PREFIX, and what took the place of each. Hosts that keep a list of
tools for days still call them (TOOL-40)."""


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
        other: Any = None,
    ) -> None:
        self.name: Final = name
        self.command: Final = command
        """Its subcommand of the command line; empty for none."""
        self.read_only: Final = read_only
        self.needs_app: Final = needs_app
        """Of use only where the app or its command is there."""
        self.is_registered: Final = is_registered
        """Another program registered it: no profile leaves it out."""
        self.other: Final = other
        """The tool itself, an OtherTool, where it is not the vault's; else None."""
        self.takes_confirm: Final = not read_only and not is_registered
        """Whether it writes and may be given CONFIRM beside its own arguments."""
        self.ui: Final = ui
        """What its `_meta` has more for a host that shows views: who may call it, and the page of
        its answer."""


class EntryTable:
    """The tools by name, in the order of their lists."""

    def __init__(
        self, tools: Mapping[str, Any], views: Mapping[str, Any], research: Mapping[str, Any]
    ) -> None:
        self.tools: Final = {name: ToolEntry(name, **row) for name, row in tools.items()}
        self.views: Final = {name: ToolEntry(name, **row) for name, row in views.items()}
        """Those that open a view and those that views call (specs/views.md): only for hosts that
        show views."""
        self.research: Final = {name: ToolEntry(name, **row) for name, row in research.items()}
        """Of the profile RESEARCH."""
        self.names: Final = frozenset((*tools, *views, *research))


@cache
def table() -> EntryTable:
    """Return the entries of all tools."""
    with open(ENTRIES, encoding="utf-8") as file:  # noqa: PTH123
        return EntryTable(**json.load(file))


@cache
def published_entries() -> Mapping[str, Mapping[str, Any]]:
    """Return the entry of each tool in the answer to `tools/list`, for a client that shows no views
    and is never asked to confirm."""
    with open(PUBLISHED, encoding="utf-8") as file:  # noqa: PTH123
        found: Mapping[str, Mapping[str, Any]] = json.load(file)
    return found


class Offer:
    """Which tools a client may know and call.

    What decides: the profile and `--read-only`, which the limits of a key have narrowed before
    (`compose.app_for`), whether the app is there, whether the client shows views, and what other
    programs have registered.
    """

    def __init__(self, config: Config, others: OtherTools | None = None) -> None:
        """`others`: of the HTTP server, the tools beside the vault's; None on stdin and on the
        command line, where there are none. Only the HTTP server has the profile RESEARCH. Raises:
        InvalidArguments for a profile that names no tools."""
        is_research = config.tools == RESEARCH and others is not None
        self._of_vault = table().research if is_research else _choose(config.tools)
        self._profile = config.tools
        self._views = config.views
        self._is_read_only = config.read_only
        self._others = others

    @property
    def has_views(self) -> bool:
        """Whether tools of views may be called: with the profile `all`, or where views are switched
        on (VIEW-03)."""
        is_on = self._views == "on" or (self._views == "auto" and self._profile == "all")
        return is_on and self._profile != RESEARCH

    @property
    def has_app_tools(self) -> bool:
        """Whether tools that need the app are among those that are listed."""
        return any(entry.needs_app for entry in self.list_entries().values())

    def shows_views(self, *, peer_does: bool) -> bool:
        """Return whether a client is told of views; `peer_does`: it says that it shows some
        (VIEW-03)."""
        return self.has_views and (self._views == "on" or peer_does)

    def admits(self, *, read_only: bool) -> bool:
        """Return whether a tool may be listed that only reads, or one that does not."""
        return read_only or not self._is_read_only

    def list_entries(
        self, *, has_app: bool = True, shows_views: bool = False
    ) -> dict[str, ToolEntry]:
        """Return the tools that a client is told of, in the order of the list: the vault's, then
        those of other programs. `has_app`: the app or its command is there."""
        entries = {
            **self._of_vault,
            **(table().views if shows_views and self.has_views else {}),
            **self._other_entries(),
        }
        return {
            name: entry
            for name, entry in entries.items()
            if self.admits(read_only=entry.read_only) and (has_app or not entry.needs_app)
        }

    def usable_entries(self) -> dict[str, ToolEntry]:
        """Return the tools that may be called, but for those of views.

        A tool that writes may be called although nothing may be changed: the refusal says why. Over
        HTTP there is no such tool then (HTTP-02).
        """
        return dict(self._of_vault) if self._others is None else self.list_entries()

    def find(self, name: str, *, with_views: bool = True) -> ToolEntry | None:
        """Return a tool that may be called by its name; None where there is none."""
        entry = self._of_vault.get(name) or self._other_entries().get(name)
        if entry is None and with_views and self.has_views:
            entry = table().views.get(name)
        if entry is None or self._others is None or self.admits(read_only=entry.read_only):
            return entry
        return None

    def successors(self, name: str) -> list[str]:
        """Return the tools that took the place of one that is gone, as far as they may be called;
        none for a name that no tool ever had (TOOL-40)."""
        usable = self.usable_entries()
        former = name.removeprefix(PREFIX) if name.startswith(PREFIX) else ""
        successors = (PREFIX + successor for successor in FORMER_TOOLS.get(former, ()))
        return [successor for successor in successors if successor in usable]

    def writes(self, name: str) -> bool:
        """Return whether a call of this name changes the vault, if it may be made (TOOL-15)."""
        own = table()
        entry = own.tools.get(name) or own.views.get(name) or self._other_entries().get(name)
        return entry is not None and not entry.read_only

    def publish(
        self, *, has_app: bool, asks: bool, shows_views: bool, has_one_vault: bool = False
    ) -> list[Mapping[str, Any]]:
        """Return the entries of the answer to `tools/list`.

        `asks`: the user's policy wants some changes confirmed. `has_one_vault`: there is one, and
        never another.
        """
        listed = self.list_entries(has_app=has_app, shows_views=shows_views)
        return [
            _tell(entry, asks=asks, shows_views=shows_views, has_one_vault=has_one_vault)
            for entry in listed.values()
        ]

    def _other_entries(self) -> dict[str, ToolEntry]:
        """Return the tools of other programs: those that one has registered, and with the profile
        `all` those under the names of the plugin. None replaces a tool of the vault."""
        if self._others is None or self._profile == RESEARCH:
            return {}
        entries = {name: tool.entry for name, tool in self._others().items()}
        is_whole, own = self._profile == "all", table()
        return {
            name: entry
            for name, entry in entries.items()
            if (is_whole or entry.is_registered) and name not in own.tools and name not in own.views
        }


offer_of = lru_cache(maxsize=16)(Offer)
"""Return the offer of a configuration, without the tools of other programs.

A call of a tool asks for it each time.
"""


@cache
def _choose(names: str) -> Mapping[str, ToolEntry]:
    tools = table().tools
    return {name: tools[name] for name in profile(names)}


def _tell(
    entry: ToolEntry, *, asks: bool, shows_views: bool, has_one_vault: bool
) -> Mapping[str, Any]:
    """Return one entry of the answer to `tools/list`. Where there is one vault, it goes without
    saying which is meant (TOOL-34)."""
    told = published_entries()[entry.name] if entry.other is None else entry.other.published
    if has_one_vault and entry.other is None and VAULT in told["inputSchema"]["properties"]:
        schema = told["inputSchema"]
        properties = {**schema["properties"]}
        del properties[VAULT]
        told = {**told, "inputSchema": {**schema, "properties": properties}}
    if asks and entry.takes_confirm:
        schema = told["inputSchema"]
        properties = {
            **schema["properties"],
            CONFIRM: {"type": "boolean", "description": "The user agreed"},
        }
        told = {**told, "inputSchema": {**schema, "properties": properties}}
    if shows_views:
        told = {**told, "_meta": {**told.get("_meta", {}), **entry.ui}}
    return told


def profile(names: str) -> Sequence[str]:
    """Return the names of the tools of `core`, `standard` or `all`, or those that are listed with
    commas (TOOL-16). Raises: InvalidArguments for an unknown name, and for `research`, which is no
    choice of these tools."""
    tools = table().tools
    if names == "all":
        return list(tools)
    if names == RESEARCH:
        raise InvalidArguments(
            "The profile research is offered over HTTP only: obsidian-mcp --tools research http. "
            "Here give core, standard, all, or names of tools."
        )
    given = [name.strip() for name in PROFILES.get(names, names).split(",") if name.strip()]
    chosen = [name if name.startswith(PREFIX) else PREFIX + name for name in given]
    if unknown := [name for name in chosen if name not in tools]:
        raise InvalidArguments(
            f"There is no tool {', '.join(unknown)}. Give core, standard, all, or names of "
            f"tools: {', '.join(tools)}."
        )
    return [name for name in tools if name in chosen]


def narrow(names: str, within: str) -> str:
    """Return the profile of the tools that are in both profiles (TOOL-16).

    Raises: InvalidArguments.
    """
    if RESEARCH in (names, within):
        return RESEARCH
    allowed = profile(within)
    both = [name for name in profile(names) if name in allowed]
    return "all" if len(both) == len(table().tools) else ",".join(both)
