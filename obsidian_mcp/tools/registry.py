"""Every tool, the module that has its function, and what it returns: `@tool` registers it, `call`
is the only way in (specs/tools.md)."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, cast

from obsidian_mcp import TYPE_CHECKING, errors
from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.errors import (
    AppError,
    ChangeNotFound,
    InvalidArguments,
    NoteNotFound,
    UnknownTool,
    VaultNotFound,
)

from . import arguments as argument_reader
from . import table
from .advice import usable_advice
from .arguments import ToolParameter
from .offer import CONFIRM, PREFIX, Offer, ToolEntry, offer_of
from .outcome import DocumentAnswer, Outcome, PictureAnswer, to_plain_json
from .paging import change_made, json_size

if TYPE_CHECKING:
    from obsidian_mcp.core.vault.committed import Committed
    from obsidian_mcp.core.vault.operation import Operation
    from obsidian_mcp.core.vault.planned_change import Planned

ALWAYS_LOADED = ("obsidian_search", "obsidian_read_note")
"""Hosts that load tools as they are needed should have these from the start."""
MODELS_ONLY = {"ui": {"visibility": ["model"]}}
"""Said of a tool to hosts that show views: they do not call it."""
APPLIES_PLANS = "obsidian_batch"
EVERY_VAULT = "*"
"""In place of a vault's name."""
VAULTS_NAMED = 5
"""Other vaults that an error names."""
ACROSS_VAULTS = frozenset(
    (
        "obsidian_search",
        "obsidian_list_files",
        "obsidian_query",
        "obsidian_list_tasks",
        "obsidian_tags",
    )
)
MOST_BYTES = 40_000
"""Of the answers of several vaults, after which no other one is asked."""


@dataclass(frozen=True, eq=False)
class Tool:
    name: str
    title: str
    description: str
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
    """The page that shows its answer to a person (specs/views.md); empty for all but a few of
    VIEW_TOOLS."""
    is_registered: ClassVar[bool] = False
    """Whether another program registered it: no profile leaves it out, and it takes no CONFIRM."""

    def would_write(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether a call with these arguments may change anything."""
        return not self.read_only and arguments.get("dry_run") is not True

    def call(self, app: App, arguments: Mapping[str, Any]) -> Outcome:
        """Raises: InvalidArguments naming each argument at fault, and every AppError of the
        tool."""
        given = dict(arguments)
        if given.get("vault") == EVERY_VAULT:
            return self._run_in_every_vault(app, given)
        has_agreed = not self.read_only and given.pop(CONFIRM, None) in (True, "true")
        made: list[Committed] = []
        planned: list[Planned] = []
        unchanged: list[Operation] = []
        pages = app.page_orders.begin(self.name, given) if self.has_pages else None
        record = current_call.get()._replace(
            page_order=pages,
            has_consent=has_agreed,
            hidden_text=app.hidden_text_reads.path,
            key=app.config.key,
            made=made,
            planned=planned,
            unchanged=unchanged,
        )
        outer = current_call.set(record)
        try:
            read = argument_reader.read_arguments(
                self.name, self.parameters, given, whole=record.wants_all
            )
            result = self.function(app, **read)
        except AppError as error:
            advice = argument_reader.advice(self.parameters, given)
            if isinstance(error, NoteNotFound | ChangeNotFound) and not given.get("vault"):
                advice = _other_vaults(app) + advice
            if advice not in error.message:  # a tool that calls another one has it already
                error.message += advice
            raise
        finally:
            current_call.reset(outer)
        document = isinstance(result, DocumentAnswer)
        facts = result.data if isinstance(result, DocumentAnswer | PictureAnswer) else result
        data = to_plain_json(facts)
        if not self.read_only and record.limit is not None and (late := record.limit.late_note):
            data["late"] = late
        if made and self.enveloped and not record.wants_all:
            data |= change_made(made[-1], given, data) | data
        if "next_offset" in data and not record.wants_all:
            app.page_orders.keep(pages, data["next_offset"])
            data |= _say_what_fits(read, data)
        if planned and self.enveloped and not record.wants_all:
            data |= self._keep_plan(app, given, planned[-1])
        if self.enveloped and (made or planned or unchanged):
            _add_warnings(data, _last_operations(made, planned, unchanged))
        text = result.text if isinstance(result, DocumentAnswer) else None
        picture = result if isinstance(result, PictureAnswer) else None
        return Outcome(data, text, document, self.enveloped, picture=picture, result=result)

    def _keep_plan(self, app: App, given: Mapping[str, Any], planned: Planned) -> dict[str, Any]:
        """Keep what a dry run would have changed; return its id and the tool that applies it, where
        that may be called (PLAN-09)."""
        if not planned.change.changes_anything or (
            offer_of(app.config).find(APPLIES_PLANS) is None
        ):
            return {}
        from obsidian_mcp.core.operations.plans import Plans  # with the first dry run

        meant = {key: value for key, value in given.items() if key != "dry_run"} | {CONFIRM: True}
        vault = app.vaults.get(given.get("vault") or "")
        plan = vault.get_or_make(Plans).keep(planned, lambda: self.call(app, meant))
        return {"plan": plan.id, "apply_with": APPLIES_PLANS}

    def _run_in_every_vault(self, app: App, given: dict[str, Any]) -> Outcome:
        """One call in each vault; the answers one after the other, each with its vault's name
        (TOOL-19)."""
        if self.name not in ACROSS_VAULTS:
            raise InvalidArguments(
                f"{self.name} works on one vault. The vaults are {', '.join(app.vaults.names())}.",
                argument="vault",
            )
        answers: list[dict[str, Any]] = []
        left = app.vaults.names()
        while left and (not answers or json_size(answers) < MOST_BYTES):
            name = left.pop(0)
            try:
                answers.append({"vault": name, **self.call(app, {**given, "vault": name}).data})
            except VaultNotFound as error:  # its disk is gone
                answers.append({"vault": name, "error": error.message})
        data: dict[str, Any] = {"vaults": answers} | ({"not_searched": left} if left else {})
        return Outcome(data, text=None, document=False)

    @cached_property
    def has_pages(self) -> bool:
        """Whether its answer is a list that comes in pages."""
        needed = {"limit", "offset"} if self.read_only else {"offset"}
        return needed <= self.parameters.keys()

    @cached_property
    def parameters(self) -> dict[str, ToolParameter]:
        """The arguments by name."""
        return argument_reader.parameters(self.function)

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return argument_reader.schema(self.parameters)

    @cached_property
    def published(self) -> dict[str, Any]:
        """Its entry in the answer to `tools/list` (`offer.published_entries`), but for the schema
        of answers."""
        hints = {
            "title": self.title,
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "annotations": hints,
            **({"_meta": {"anthropic/alwaysLoad": True}} if self.name in ALWAYS_LOADED else {}),
        }

    @cached_property
    def entry(self) -> ToolEntry:
        """Who is told of it, where it opens no view and is no command."""
        return ToolEntry(
            self.name,
            read_only=self.read_only,
            needs_app=self.needs_app,
            ui=MODELS_ONLY,
            is_registered=self.is_registered,
            other=self,
        )


def _say_what_fits(arguments: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, str]:
    """Say of a page that is shorter than asked for how much of it fits, and how to go on
    (TOOL-36)."""
    following, limit = data.get("next_offset"), arguments.get("limit")
    if not isinstance(following, int) or not limit:
        return {}
    count = following - arguments.get("offset", 0)
    if not 0 < count < limit:
        return {}
    total = data.get("group_count", data.get("total"))
    of_all = f" of {total:,}" if isinstance(total, int) and total >= following else ""
    more = " show=paths fits more." if arguments.get("show") in ("lines", "passages") else ""
    return {"shown": f"{count:,}{of_all}: more do not fit one answer. Go on at next_offset.{more}"}


def _last_operations(
    made: Sequence[Committed], planned: Sequence[Planned], unchanged: Sequence[Operation]
) -> Sequence[Operation]:
    """Return what the change of a call does, would do, or needs not do."""
    if made:
        return made[-1].operations
    return planned[-1].change.operations if planned else unchanged


def _add_warnings(data: dict[str, Any], operations: Sequence[Operation]) -> None:
    """Add to an answer what is to be said of the properties of the notes that a change writes."""
    from .property_warnings import warn_of_properties  # loaded with the first change

    said = data.get("warnings", [])
    warnings = [warning for warning in warn_of_properties(operations) if warning not in said]
    if warnings:
        data["warnings"] = [*said, *warnings]


def _other_vaults(app: App) -> str:
    """Return what to say where nothing was found and no vault was named; empty where there is only
    one (TOOL-19)."""
    first, *others = app.vaults.names()
    named = name_first(others, VAULTS_NAMED, write=repr)
    return (
        f" Only the vault {first!r} was looked at; give vault for others: {named}."
        if others
        else ""
    )


class Tools(Mapping[str, Tool]):
    """Tools by name, in the order of their list. A tool's module is imported when the tool is first
    looked up."""

    def __init__(
        self, modules: Mapping[str, Iterable[str]], prefix: str = "", *, package: str = __package__
    ) -> None:
        """`modules`: by the name of a module of `package` its functions. The name of a tool is that
        of the function behind `prefix`."""
        self.prefix = prefix
        self.package = package
        self.modules = {
            prefix + name: module for module, functions in modules.items() for name in functions
        }
        """The module of every tool."""
        self._tools: dict[str, Tool] = {}

    def __getitem__(self, name: str) -> Tool:
        if name not in self._tools:
            import_module(f"{self.package}.{self.modules[name]}")
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        return name in self.modules

    def __iter__(self) -> Iterator[str]:
        return iter(self.modules)

    def __len__(self) -> int:
        return len(self.modules)

    def add(self, tool: Tool) -> None:
        """Take in a tool of the table, when its module is imported. Raises: KeyError for one that
        is not there."""
        if tool.name not in self.modules:
            raise KeyError(tool.name)
        self._tools[tool.name] = tool


TOOLS = Tools(table.TOOLS, PREFIX)
"""The vault's tools."""

VIEW_TOOLS = Tools(table.VIEW_TOOLS, PREFIX)
"""The tools that open a view and those that views call (specs/views.md): listed only for hosts that
show views."""

RESEARCH_TOOLS = Tools(table.RESEARCH_TOOLS)
"""The tools of the profile `research`."""

OUR_TOOLS: Mapping[str, Tool] = ChainMap(
    *(cast("dict[str, Tool]", tools) for tools in (TOOLS, VIEW_TOOLS, RESEARCH_TOOLS))
)
"""All of these, whose names differ."""


def tool(
    *,
    title: str,
    among: Tools = TOOLS,
    writes: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    open_world: bool = False,
    needs_app: bool = False,
    view: str = "",
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Register a function `(app, …) -> dataclass | Document` as a tool; the table `among` has its
    name. `destructive`: some argument can change or remove an existing byte. `idempotent`: the same
    call again changes nothing more. `open_world`: it can reach beyond the vault. `needs_app`:
    listed only where the app or its command is there. `view`: the page of its answer."""

    def register(function: Callable[..., object]) -> Callable[..., object]:
        name = among.prefix + function.__name__
        among.add(
            Tool(
                name=name,
                title=title,
                description=" ".join((function.__doc__ or "").split()),
                function=function,
                read_only=not writes,
                destructive=destructive,
                idempotent=idempotent or not writes,
                open_world=open_world,
                enveloped=bool(among.prefix),
                needs_app=needs_app,
                view=view,
            )
        )
        return function

    return register


def call(app: App, name: str, arguments: Mapping[str, Any], offer: Offer | None = None) -> Outcome:
    """Run a tool that may be called: one of `offer`, where there are others beside the vault's.
    Raises: UnknownTool, InvalidArguments, and every AppError of the tool."""
    offer = offer or offer_of(app.config)
    entry = offer.find(name)
    if entry is None:
        raise unknown_tool_error(name, offer)
    try:
        tool = entry.other or OUR_TOOLS[entry.name]
        answer = tool.call(app, arguments)
    except AppError as error:
        error.message = usable_advice(offer, error.message)
        raise
    for remark in REMARKS & answer.data.keys():
        said = answer.data[remark]
        if isinstance(said, str):
            answer.data[remark] = usable_advice(offer, said)
        elif isinstance(said, list):
            answer.data[remark] = [usable_advice(offer, sentence) for sentence in said]
    return answer


def unknown_tool_error(name: str, offer: Offer) -> UnknownTool:
    """Return the error about a name that no tool has, with what took its place if one had it
    (TOOL-40)."""
    problem = f"Unknown tool: {errors.shorten(name, errors.MOST_NAME)}."
    if successors := offer.successors(name):
        problem += f" It is gone; call {' or '.join(successors)} instead, and list the tools anew."
        return UnknownTool(problem, tool=name, successors=successors)
    return UnknownTool(f"{problem} The tools are {', '.join(offer.usable_entries())}.", tool=name)


REMARKS = frozenset({"note", "widened", "warnings"})
"""Members of answers that are sentences for the client."""
