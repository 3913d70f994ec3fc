"""The subcommand of every tool: its arguments from the tool's schema, its answer whole and in words for people."""

from __future__ import annotations

import base64
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import Client, call_with, set_call
from obsidian_mcp.errors import AppError, InvalidArguments
from obsidian_mcp.serve.mcp.completion import Completes, complete
from obsidian_mcp.tools import TOOLS, Outcome, Tool, call
from obsidian_mcp.tools.arguments import ToolParameter, read_json
from obsidian_mcp.tools.entries import PREFIX
from obsidian_mcp.tools.registry import EVERY_VAULT

from . import query_output
from .examples import epilog
from .options import Options, json_option
from .output import readable, shown_progress, write, write_json
from .stdout import write_bytes
from .task_output import task_remarks, task_text, tasks_remarks, tasks_text

SHORT: Final = {"limit": "-n", "folder": "-f", "section": "-s", "heading": "-H", "dry_run": "-d", "recursive": "-r"}
"""Short options, by parameter."""
COMPLETES: Final[Mapping[str, Completes]] = {
    "name": "note",
    "note": "note",
    "to": "note",
    "folder": "folder",
    "tag": "tag",
    "vault": "vault",
}
"""What the shell completes, by parameter."""
EVERYTHING: Final = 1_000_000_000
"""A limit that nothing reaches."""
_TEXT: Final = "\x00"
"""Put before an argument such as `- [ ] milk`, so that click reads no option in it; no argument can hold this byte."""


class ToolCommand(click.Command):
    """A command whose arguments may begin with a dash and a space, as list items do (CLI-13)."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f"{_TEXT}{text}" if text.startswith(("- ", "--- ")) else text for text in args])


def tool_command(name: str) -> click.Command | None:
    """Return the subcommand of a tool: what it requires is positional, or else its first argument; the rest is options.

    None where no tool has a command of that name.
    """
    named = next((tool for tool, command in TOOLS.commands.items() if command == name), None)
    if named is None:
        return None
    tool = TOOLS[named]
    members = tool.parameters
    first = next(iter(members)) if not any(parameter.is_required for parameter in members.values()) else ""
    parameters: list[click.Parameter] = []
    for key, member in members.items():
        if key == "content":
            parameters += [
                click.Argument([key], required=False),
                click.Option(
                    ["--content", "content_option"], help=f"{member.field.description}; - reads standard input"
                ),
            ]
        else:
            parameters.append(parameter_of(member, positional=member.is_required or key == first))
    if name == "query":
        forms = click.Choice(query_output.FORMATS)
        parameters.append(
            click.Option(["--format"], type=forms, default="table", show_default=True, help="How to print the rows")
        )
    parameters.append(click.Option(["--json", "-j", "as_json"], is_flag=True, help="Print the answer as JSON."))
    run = click.pass_obj(partial(_run, tool))
    return ToolCommand(name, params=parameters, callback=run, help=tool.description, epilog=epilog(name))


def parameter_of(parameter: ToolParameter, *, positional: bool) -> click.Parameter:
    """Return the argument or option for a parameter of a tool."""
    key, default, description = parameter.name, parameter.default, parameter.field.description
    kind, multiple = click_type(parameter)
    completer = _completer(COMPLETES[key]) if key in COMPLETES else None
    if key == "vault":
        return click.Option(
            ["--vault", "-V"], metavar="NAME|DIR", help="Vault name or folder.", shell_complete=completer
        )
    if positional:
        return click.Argument(
            [key],
            type=kind,
            required=parameter.is_required,
            nargs=-1 if multiple else 1,
            default=None if parameter.is_required or multiple else default,
            shell_complete=completer,
        )
    names = [f"--{key.replace('_', '-')}", key, *([SHORT[key]] if key in SHORT else [])]
    if kind is click.BOOL:
        if default is not False:
            names[0] = f"{names[0]}/--no-{names[0][2:]}"
        return click.Option(names, is_flag=True, default=default, help=description)
    if key == "limit":  # a person gets everything (CLI-10)
        return click.Option(names, type=click.IntRange(1), show_default="all", help="How many to show")
    return click.Option(
        names,
        type=kind,
        multiple=multiple,
        default=None if multiple else default,
        show_default=default not in ("", None),
        help=description,
        shell_complete=completer,
    )


def click_type(parameter: ToolParameter) -> tuple[click.ParamType[Any], bool]:
    """Return the type of an option, and whether it may be given several times."""
    if parameter.choices:
        return click.Choice(parameter.choices), False
    simple: Mapping[str, click.ParamType[Any]] = {"boolean": click.BOOL, "integer": click.INT}
    return simple.get(parameter.type, click.STRING), parameter.type in ("array", "object")


def _completer(kind: Completes) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Names of the vault that begin with what was typed, for the shell."""

    def names(ctx: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
        before = ctx.find_root().params  # of the program itself, which has not run
        options = ctx.find_object(Options) or Options(
            tuple(before.get("vaults") or ()), scope=before.get("scope") or "", key=before.get("key") or ""
        )
        try:
            vault = ctx.params.get("vault")
            with options.app((vault,) if vault else ()) as app:
                return [CompletionItem(value) for value in complete(app, kind, typed)[0]]
        except AppError:  # a shell shows nothing where there is nothing to show
            return []

    return names


def _run(tool: Tool, options: Options, /, as_json: bool, vault: str = "", **given: Any) -> None:
    """Call the tool of a subcommand, and print its answer."""
    arguments = arguments_of(tool, given)
    if "content" in tool.parameters:
        content = content_of(plain_argument(given.get("content")), plain_argument(given.get("content_option")))
        if content is not None:
            arguments["content"] = content
    if tool.command == "query" and arguments.get("query") == "-":
        arguments["query"] = standard_input()
    if "limit" in tool.parameters:
        arguments.setdefault("limit", EVERYTHING)
    if vault == EVERY_VAULT:
        arguments["vault"], vault = vault, ""
    run_tool(tool, options, vault, arguments, as_json=as_json)


def arguments_of(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a command line gives of the arguments of a tool. Raises: InvalidArguments."""
    known = tool.parameters
    return {
        key: _listed(value, mapping=known[key].type == "object") if isinstance(value, tuple) else plain_argument(value)
        for key, value in given.items()
        if value not in ((), None) and key in known
    }


def run_tool(tool: Tool, options: Options, vault: str | None, arguments: Mapping[str, Any], *, as_json: bool) -> None:
    """Call a tool once, on the vault of `--vault` if one was given, and print its whole answer."""
    set_call(client=Client("command line"))
    with whole(options, (vault,) if vault else ()) as app:
        outcome = call(app, tool.name, arguments)
    print_outcome(outcome, tool, arguments, as_json=as_json, colours=app.config.colours)


@contextmanager
def whole(options: Options, vaults: tuple[str, ...]) -> Iterator[App]:
    """The vaults, open for calls of tools, whose answers are whole."""
    with call_with(wants_all=True), options.app(vaults) as app, shown_progress():
        yield app


def print_outcome(outcome: Outcome, tool: Tool, arguments: Mapping[str, Any], *, as_json: bool, colours: bool) -> None:
    if as_json:
        data = outcome.whole() if outcome.text is None else {**outcome.data, "content": outcome.text}
        write_json(data)
    elif outcome.picture is not None and not sys.stdout.isatty():
        write_bytes(outcome.picture.image)
    elif outcome.text is not None:
        write(outcome.text)
    elif "vaults" in outcome.data and arguments.get("vault") == EVERY_VAULT:
        write(readable(outcome.data))
    elif tool.command == "search":
        write_hits(outcome.result, arguments, colours=colours)
    elif tool.command == "tasks":
        write_remarked(tasks_text(outcome.data), tasks_remarks(outcome.data))
    elif tool.command == "task":
        write_remarked(task_text(outcome.data), task_remarks(outcome.data))
    elif tool.command == "query":
        form = click.get_current_context().params["format"]
        rows = query_output.render(outcome.data, form, arguments.get("offset", 0))
        write_remarked(rows, query_output.remarks(outcome.data))
    elif tool.command == "history":
        write(readable(_with_commands(outcome.data)))
    else:
        write(readable(outcome.data))


def write_remarked(text: str, remarks: str) -> None:
    """Write an answer to stdout, and what there is to say about it to stderr."""
    write(text)
    print(remarks, end="", file=sys.stderr)


def _with_commands(history: Mapping[str, Any]) -> Mapping[str, Any]:
    """A history with commands in the place of tools (CLI-12)."""
    changes = []
    for change in history["changes"]:
        named = {"tool": TOOLS.commands.get(PREFIX + change["tool"], change["tool"])}
        changes.append({("command" if key == "tool" else key): value for key, value in {**change, **named}.items()})
    return {**history, "changes": changes}


def content_of(argument: str | None, option: str | None) -> str | None:
    """The content that was given as an argument or option; `-`, or neither while standard input is a pipe or a file,
    reads standard input (CLI-05). None where there is none. Raises: InvalidArguments."""
    if argument is not None and option is not None:
        raise InvalidArguments("Give the content once: as an argument or with --content.", argument="content")
    given = argument if argument is not None else option
    if given == "-" or (given is None and _is_fed()):
        return standard_input()
    return given


def _is_fed() -> bool:
    """Whether standard input is a pipe or a file: then somebody sends content."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):  # there is no standard input
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def standard_input() -> str:
    """Raises: InvalidArguments for what is not UTF-8."""
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArguments(f"Standard input is not UTF-8 (byte {error.start}). Convert it first.") from error


def _listed(values: tuple[Any, ...], *, mapping: bool) -> list[Any] | dict[str, Any]:
    """The values of an argument that may be repeated; of a mapping as `key=value`, where no value removes the key.

    Raises: InvalidArguments.
    """
    if not mapping:
        return [plain_argument(value) for value in values]
    found: dict[str, Any] = {}
    for pair in values:
        key, equals, text = plain_argument(pair).partition("=")
        if not (key and equals):
            raise InvalidArguments(f"Write {pair!r} as KEY=VALUE, or as KEY= to remove the property.")
        found[key] = read_json(text) if text else None
    return found


def plain_argument(value: Any) -> Any:
    """Return an argument as it was typed."""
    return value.removeprefix(_TEXT) if isinstance(value, str) else value


def write_hits(found: Any, arguments: Mapping[str, Any], *, colours: bool) -> None:
    """Print what a search found. In a pipe only files and lines go to stdout, and remarks to stderr (CLI-09)."""
    from . import render

    terminal = sys.stdout.isatty()
    screen = render.Screen(shutil.get_terminal_size().columns, colours) if terminal else None
    paths_only = arguments.get("paths_only", False) and not terminal
    listed = render.listing(found, arguments["query"], screen, paths_only=paths_only)
    remarks = render.remarks(found, arguments.get("offset", 0))
    if terminal and os.name == "nt":  # click knows the consoles that take no colours
        click.echo(f"{listed}{remarks}", nl=False)
    elif terminal:
        write(f"{listed}{remarks}")
    else:
        write_remarked(listed, remarks)


@click.command(epilog=epilog("attach"))
@click.argument("file", type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path))
@click.option("--name", help="File name or path in the vault.  [default: the file's own name]")
@click.option("--note", default="", help="Note that it is for.", shell_complete=_completer("note"))
@click.option("--vault", "-V", metavar="NAME|DIR", help="Vault name or folder.")
@json_option
@click.pass_obj
def attach(options: Options, file: Path, name: str | None, note: str, vault: str | None, as_json: bool) -> None:
    """Copy a file of yours into the vault, into its attachment folder unless --name has a folder."""
    arguments = {"name": name or file.name, "note": note, "data": base64.b64encode(file.read_bytes()).decode()}
    run_tool(TOOLS["obsidian_add_attachment"], options, vault, arguments, as_json=as_json)


@click.command(epilog=epilog("move"))
@click.argument("paths", nargs=-1, required=True, metavar="NAME... TO", shell_complete=_completer("note"))
@click.option("--query", default="", help="Move every note that this search finds; then only TO is given.")
@click.option("--update-links/--no-update-links", default=True, help="Rewrite links that lead there.")
@click.option("--dry-run", "-d", is_flag=True, help="Only show what would change.")
@click.option("--vault", "-V", metavar="NAME|DIR", help="Vault name or folder.")
@json_option
@click.pass_obj
def move(
    options: Options, /, paths: tuple[str, ...], query: str, vault: str | None, as_json: bool, **flags: bool
) -> None:
    """Move or rename a note, attachment or folder, or move several notes into a folder; links follow."""
    *names, to = paths
    if bool(names) == bool(query):
        raise InvalidArguments("Say what to move: names before the target, or --query and the target alone.")
    arguments = {"to": to, "query": query, **({"name": names[0]} if len(names) == 1 else {"names": names}), **flags}
    run_tool(TOOLS["obsidian_move_note"], options, vault, arguments, as_json=as_json)
