"""The help of the program and of its commands (CLI-01, CLI-23).

The program's own help is for a person who looks for a command: groups, and one short line for each
command, from `overview.json`. A command's own help has the tool's description and every option.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Mapping

from .command_table import command_names, get_command, group_titles
from .grammar import CommandArgument, Subcommand, read_table

WIDEST = 100
"""Columns of the help, however wide the terminal."""
WIDEST_TERM = 32
"""Columns of an option; the text of a longer one begins on the next line."""


def command_help(command: Subcommand) -> str:
    """Return the help of a command, or of the program for the words before a command."""
    options = [
        (_option_forms(argument), _describe(argument))
        for name, argument in command.arguments.items()
        if name not in command.places or (argument.description and name == "content")
    ]
    parts = [
        f"Usage: {command.usage}{'' if command.name else ' COMMAND [ARGUMENTS]'}",
        _paragraph(command.text),
    ]
    described = [
        (command.arguments[name].placeholder, _describe(command.arguments[name]))
        for name in command.places
        if command.arguments[name].description
    ]
    parts += [f"Arguments:\n{_terms(described)}"] if described else []
    parts.append(f"Options:\n{_terms(options)}")
    if not command.name:
        parts = [parts[0], parts[1], *_overview(), parts[-1]]
    parts.append(
        "Examples:\n" + "\n".join(f"  obsidian-mcp {example}" for example in command.examples)
    )
    return "\n\n".join(parts) + "\n"


def group_help(group: str) -> str:
    """Return the help of a group of commands."""
    usage = f"Usage: obsidian-mcp {group} COMMAND [ARGUMENTS]"
    return (
        "\n\n".join(
            [usage, _paragraph(group_titles()[group]), f"Commands:\n{_terms(_commands(group))}"]
        )
        + "\n"
    )


def _overview() -> list[str]:
    """Return the groups of commands, with a short line for each command."""
    overview: Mapping[str, Mapping[str, str]] = read_table("overview.json")
    room = max(len(name) for lines in overview.values() for name in lines)
    return [f"{title}:\n{_terms(lines.items(), room)}" for title, lines in overview.items()]


def _commands(group: str) -> Iterable[tuple[str, str]]:
    """Return the commands of a group with the first sentence of each."""
    texts: dict[str, str] = {}
    for name in command_names():
        first, _, second = name.partition(" ")
        command = get_command(name) if first == group else None
        if command is not None:
            texts[second] = command.text.partition(". ")[0].partition("\n\n")[0]
    return [(name, " ".join(text.split()).rstrip(".")) for name, text in texts.items()]


def _option_forms(argument: CommandArgument) -> str:
    forms = [f"-{argument.short}"] if argument.short else []
    forms.append(argument.option)
    forms += [f"--no-{argument.option[2:]}"] if argument.is_negatable else []
    return ", ".join(forms) + ("" if argument.is_flag else f" {argument.placeholder}")


def _describe(argument: CommandArgument) -> str:
    says = (
        argument.default not in (None, "", False, True) and "[default" not in argument.description
    )
    return argument.description + (f"  [default: {argument.default}]" if says else "")


def _width() -> int:
    return min(shutil.get_terminal_size().columns, WIDEST)


def _paragraph(text: str) -> str:
    return textwrap.fill(
        " ".join(text.split()), _width(), initial_indent="  ", subsequent_indent="  "
    )


def _terms(rows: Iterable[tuple[str, str]], room: int = 0) -> str:
    """Return two columns: terms, and texts that are wrapped; `room`: columns of the first at
    least."""
    rows = list(rows)
    terms = [len(term) for term, _ in rows if len(term) <= WIDEST_TERM]
    room = max([room, *terms])
    lines = []
    for term, text in rows:
        indent = " " * (room + 4)
        first = f"  {term:<{room}}  " if len(term) <= room else f"  {term}\n{indent}"
        wrapped = textwrap.wrap(text, max(_width() - len(indent), 20))
        lines.append((first + f"\n{indent}".join(wrapped)).rstrip())
    return "\n".join(lines)
