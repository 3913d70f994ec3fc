"""The commands of the tools: a call with what was typed, whose answer is whole and in words for
people.

Most commands are `run_tool_command` with the tool's own arguments. A command has a function of its
own where a person would type something else than a model sends: a path for the bytes of a file,
names before a target, `path:line` for a task.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.text.call import Client, call_with, set_call
from obsidian_mcp.errors import InvalidArguments, NoteNotFound

from .grammar import Subcommand
from .list_output import LISTS, PATHS, TABLE, cut_rows, render_rows, rows_of
from .options import Options
from .progress_bar import show_progress
from .stdout import write, write_bytes, write_json

if TYPE_CHECKING:
    from obsidian_mcp.app import App
    from obsidian_mcp.tools.outcome import Outcome
    from obsidian_mcp.tools.registry import Tool

EVERYTHING: Final = 1_000_000_000
"""A limit that nothing reaches."""
SUBJECTS: Final = ("query", "folder", "modified_after", "modified_before", "sort", "group")
"""Arguments of a search of which one at least says what is searched for (SEARCH-111)."""
FED: Final = ("content", "query")
"""Arguments that `-` reads from standard input (CLI-05)."""


def run_tool_command(options: Options, command: Subcommand, typed: Mapping[str, Any]) -> None:
    """Call the tool of a command, and print its answer."""
    call_tool(options, command, typed)


def search(options: Options, command: Subcommand, typed: Mapping[str, Any]) -> int:
    """Print what a search finds; return 1 where it finds nothing, as grep does (CLI-09).

    Raises: InvalidArguments where nothing is searched for, whatever is wrong with the vault.
    """
    if typed.keys().isdisjoint(SUBJECTS):
        raise InvalidArguments(
            "Say what to search for: a query, or a folder, a time, an order or groups. "
            'The query "" (two quotes) lists every note.',
            argument="query",
        )
    data = call_tool(options, command, typed).data
    answers = data.get("vaults", [data])
    return int(not any(answer.get("total") for answer in answers))


def read_or_add_daily(options: Options, command: Subcommand, typed: Mapping[str, Any]) -> None:
    """Read a daily note, or add to it.

    A single text of several words that names no days is what to add to today's: `daily "call Ada"`
    (CLI-26).
    """
    text = str(typed.get("date", ""))
    if " " in text.strip() and "content" not in typed:
        from datetime import date

        from obsidian_mcp.core.calendar.days import read_days

        # which days it would name does not matter, so that no zone has to be known
        if read_days(text, date.min.replace(year=2000)) is None:
            arguments = {name: value for name, value in typed.items() if name != "date"}
            typed = arguments | {"content": text}
    call_tool(options, command, typed)


def check(options: Options, command: Subcommand, typed: Mapping[str, Any]) -> int:
    """Print the state of the vault; return 1 where something is broken (CHECK-05)."""
    return int(call_tool(options, command, typed).data["broken"])


def run_batch(options: Options, command: Subcommand, typed: Mapping[str, Any]) -> None:
    """Make the calls of a file of JSON lines as one change. Raises: InvalidArguments."""
    import json
    from pathlib import Path

    arguments = dict(typed)
    file = arguments.pop("file")
    try:
        text = read_standard_input() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArguments(
            f"'{file}' cannot be read: {getattr(error, 'strerror', '') or error}.", argument="file"
        ) from error
    calls = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                calls.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise InvalidArguments(
                    f"Line {number} is no JSON: {error}. Give one call a line."
                ) from error
    call_tool(options, command, arguments | {"calls": calls})


def call_tool(options: Options, command: Subcommand, typed: Mapping[str, Any]) -> Outcome:
    """Call a tool once, on the vault of `--vault` if one was given, print its whole answer, and
    return it."""
    from obsidian_mcp.tools.registry import EVERY_VAULT, TOOLS, call

    arguments = _read(command, typed)
    vault = arguments.pop("vault", "")
    form, as_json = arguments.pop("format", ""), arguments.pop("json", False)
    ends_with_nul = arguments.pop("null", False)
    as_json = as_json or (command.name == "check" and form == "json")
    if command.name in LISTS:
        form = form or _usual_form(command.name, ends_with_nul=ends_with_nul)
    row_limit = 0
    if "limit" in TOOLS[command.tool].parameters:
        arguments.setdefault("limit", EVERYTHING)
    else:
        row_limit = arguments.pop("limit", 0)
    if vault == EVERY_VAULT:
        arguments["vault"], vault = vault, ""
    with open_as_command_line(options, vault) as app:
        _check_empty(TOOLS[command.tool], arguments)
        outcome = call(app, command.tool, arguments)
    if row_limit:
        cut_rows(command.name, outcome.data, row_limit)
    if as_json:
        write_json(
            outcome.to_full_data()
            if outcome.text is None
            else {**outcome.data, "content": outcome.text}
        )
    elif outcome.picture is not None and not sys.stdout.isatty():
        write_bytes(outcome.picture.image)
    elif outcome.text is not None:
        from . import answers

        write(outcome.text, answers.notes_of(outcome.data))
    else:
        heading = "" if "vaults" in outcome.data and "vault" in arguments else command.name
        if heading in LISTS and form != TABLE:
            rows = rows_of(heading, outcome.data)
            write(render_rows(rows, form, ends_with_nul=ends_with_nul))
        else:
            _print(heading, outcome, arguments, form or TABLE, colours=app.config.colours)
    return outcome


def _usual_form(command: str, *, ends_with_nul: bool) -> str:
    """Return the form of a list for which none was named: paths, where another program reads the
    list of files (CLI-24)."""
    is_for_program = ends_with_nul or (command == "list" and not sys.stdout.isatty())
    return PATHS if is_for_program else TABLE


def _read(command: Subcommand, typed: Mapping[str, Any]) -> dict[str, Any]:
    arguments = dict(typed)
    for name, value in typed.items():
        if value == "-" and name in FED and name in command.places:
            arguments[name] = read_standard_input()
        elif name in command.arguments and command.arguments[name].type == "object":
            form = command.form_of(command.arguments[name])
            arguments[name] = _mapping(value, form)
    return arguments


def _check_empty(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Raises: InvalidArguments for an empty value that would mean the same as none, content aside
    (CLI-22)."""
    for name, parameter in tool.parameters.items():
        value = arguments.get(name)
        may_be_empty = parameter.type == "string" and (
            parameter.is_required or parameter.default is None
        )
        if (value == "" and not may_be_empty and name != "content") or (
            isinstance(value, list) and "" in value
        ):
            raise InvalidArguments(
                f"The value of `{name}` is empty. Give one, or leave it out.", argument=name
            )


def _mapping(pairs: Sequence[str], form: str) -> dict[str, Any]:
    """Return what `KEY=VALUE` says; KEY= removes the property. Raises: InvalidArguments that names
    the argument by its form."""
    from obsidian_mcp.tools.arguments import read_json

    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not (key and equals):
            raise InvalidArguments(
                f"{form}: write {pair!r} as KEY=VALUE, or as KEY= to remove the property."
            )
        values[key] = read_json(text) if text else None
    return values


def read_standard_input() -> str:
    """Raises: InvalidArguments for what is not UTF-8."""
    if sys.stdin is None:
        return ""
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArguments(
            f"Standard input is not UTF-8 (byte {error.start}). Convert it first."
        ) from error


@contextmanager
def open_whole(options: Options, vaults: tuple[str, ...]) -> Iterator[App]:
    """Open the vaults for calls of tools, whose answers are whole, with progress on the
    terminal."""
    with call_with(wants_all=True), options.app(vaults) as app, show_progress():
        yield app


@contextmanager
def open_as_command_line(options: Options, vault: str) -> Iterator[App]:
    """Open a vault, or those of the options for "", for calls that the journal has under the name
    of the command line."""
    set_call(client=Client("command line"))
    with open_whole(options, (vault,) if vault else ()) as app:
        yield app


def _print(
    name: str, outcome: Outcome, arguments: Mapping[str, Any], form: str, *, colours: bool
) -> None:
    """Print the answer of a command; `name` is empty where several vaults answer."""
    from . import answers

    match name:
        case "search":
            _print_hits(outcome.result, arguments, colours=colours)
        case "tasks":
            write(*answers.tasks(outcome.data))
        case "task":
            write(*answers.task(outcome.data))
        case "query":
            from . import query_output

            offset = int(arguments.get("offset", 0))
            write(
                query_output.render(outcome.data, form, offset), query_output.remarks(outcome.data)
            )
        case "check":
            write((answers.github_annotations if form == "github" else answers.check)(outcome.data))
        case "history":
            write(answers.history(outcome.data))
        case _:
            write(answers.format_answer(outcome.data))


def _print_hits(result: Any, arguments: Mapping[str, Any], *, colours: bool) -> None:
    """Print what a search found. In a pipe only files and lines go to stdout, and remarks to stderr
    (CLI-09)."""
    from . import render

    screen = None
    if sys.stdout.isatty():
        import shutil

        from obsidian_mcp.computer import obeys_colours

        screen = render.Screen(shutil.get_terminal_size().columns, colours and obeys_colours())
    paths_only = screen is None and arguments.get("show") == "paths"
    listed = render.listing(result, arguments.get("query", ""), screen, paths_only=paths_only)
    remarks = render.remarks(result, int(arguments.get("offset", 0)), in_one="name" in arguments)
    if screen is None:
        write(listed, remarks)
    else:
        write(f"{listed}{remarks}")


def attach(options: Options, command: Subcommand, typed: Mapping[str, Any]) -> None:
    """Copy a file of the user's into the vault (CLI-15). Raises: NoteNotFound, InvalidArguments."""
    from base64 import b64encode
    from pathlib import Path

    arguments = dict(typed)
    file = Path(arguments.pop("file"))
    try:
        data = file.read_bytes()
    except OSError as error:
        raise NoteNotFound(
            f"The file '{file}' cannot be read: {error.strerror}. Give the path of one."
        ) from error
    call_tool(options, command, {"name": file.name, "data": b64encode(data).decode(), **arguments})


def move(options: Options, command: Subcommand, typed: Mapping[str, Any]) -> None:
    """Move what is named before the target, or what a search finds. Raises: InvalidArguments."""
    arguments = dict(typed)
    *names, to = arguments.pop("paths")
    if bool(names) == ("query" in arguments):
        raise InvalidArguments(
            "Say what to move: names before the target, or --query and the target alone."
        )
    named = {"name": names[0]} if len(names) == 1 else {"names": names} if names else {}
    call_tool(options, command, {"to": to, **named, **arguments})


def change_task(options: Options, command: Subcommand, typed: Mapping[str, Any]) -> None:
    """Complete, change or add a task (CLI-19). Raises: InvalidArguments."""
    arguments = dict(typed)
    action, task, note = arguments.pop("action"), arguments.pop("task"), arguments.pop("note", "")
    if action not in ("edit", "add"):
        if "status" in arguments:
            raise InvalidArguments(
                f"{action} is a status already: leave --status out.", argument="status"
            )
        arguments["status"] = action
    call_tool(options, command, arguments | _read_task(action, task, note))


def _read_task(action: str, task: str, note: str) -> dict[str, Any]:
    if action == "add":
        return {"action": "add", "text": task, **({"name": note} if note else {"daily": True})}
    place = re.fullmatch(r"(.+):([0-9]+)", task)
    if place is not None and not note:
        return {"name": place[1], "line": int(place[2])}
    if note and task.isdecimal():
        return {"name": note, "line": int(task)}
    return {"task": task, **({"name": note} if note else {})}
