"""What shells complete: commands, options, and names of the vault (CLI-14). Their scripts are in
`shells`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Final, Literal, cast

from obsidian_mcp.config import expand_home
from obsidian_mcp.errors import AppError

from . import grammar
from .command_table import command_names, find_command, get_command, group_titles
from .grammar import CommandArgument, Subcommand
from .options import Options
from .stdout import write

VARIABLE: Final = "_OBSIDIAN_MCP_COMPLETE"
"""Set by the scripts: for which shell to complete what COMP_WORDS and COMP_CWORD hold."""
_MARK: Final = "x"
"""Stands for what will be typed next: it makes a word of an empty one at the end of a line."""


def print_script(options: Options, *, shell: str) -> None:  # noqa: ARG001  as all commands
    """Print the script that makes a shell ask this program."""
    write(Path(__file__).with_name("shells").joinpath(shell).read_text(encoding="utf-8"))


def print_completions(environment: Mapping[str, str]) -> int:
    """Print a line for each completion, with a tab and what it means behind it; return the exit
    status."""
    shell = environment[VARIABLE].removesuffix("_complete")
    before, typed = _read_line(environment, shell)
    head = _unreplaced_head(typed, environment.get("COMP_PART"), shell)
    lines = [
        f"{value.removeprefix(head)}\t{' '.join(text.split())}\n"
        for value, text in completions(before, typed)
        if value.startswith(head)
    ]
    write("".join(lines))
    return 0


def _read_line(environment: Mapping[str, str], shell: str) -> tuple[list[str], str]:
    """Return the words before the one that is typed, without the program's name, and that one.

    zsh says the number of the word, fish and PowerShell the word itself; bash gives the line up to
    the cursor, because its own words are cut at `:` and `=`.
    """
    line, place = environment.get("COMP_WORDS", ""), environment.get("COMP_CWORD", "")
    if shell == "bash":
        *words, typed = _split(f"{line}{_MARK}", shell)
        return words[1:], typed.removesuffix(_MARK)
    words = _split(line, shell)[1:]
    if shell == "zsh":
        number = int(place) - 1
        return words[:number], "".join(words[number : number + 1])
    typed = "".join(_split(place, shell))
    return words[:-1] if typed and words and words[-1] == typed else words, typed


def _unreplaced_head(typed: str, part: str | None, shell: str) -> str:
    """Return the beginning of the typed word that bash leaves as it is: of a word with `:` or `=`
    it replaces only the part behind the last one."""
    if not part:
        return ""
    replaced = "" if part in (":", "=") else "".join(_split(part, shell))
    return typed.removesuffix(replaced) if typed.endswith(replaced) else ""


def _split(line: str, shell: str) -> list[str]:
    """Return the words of a line as the shell reads it; a quote may still be open. In PowerShell a
    backslash is a letter."""
    words = shlex.shlex(line, posix=True)
    words.whitespace_split, words.commenters = True, ""
    words.escape = "`" if shell == "powershell" else "\\"
    split_words: list[str] = []
    try:
        split_words.extend(words)
    except ValueError:  # the quote of the word that is typed
        split_words.append(words.token)
    return split_words


def completions(before: Sequence[str], typed: str) -> list[tuple[str, str]]:
    """Return what may stand in the place of the word that is typed, each with its meaning."""
    try:
        return list(_completions(before, typed))
    except AppError:  # a shell shows nothing where there is nothing to show
        return []


def _completions(before: Sequence[str], typed: str) -> Iterator[tuple[str, str]]:
    program = grammar.root()
    reading = grammar.scan(program, before, stops=True)
    if reading.waiting is not None:
        yield from _values(reading.waiting, typed, Options())
        return
    scope_and_key = {
        name: value for name, value in reading.options.items() if name in ("scope", "key")
    }
    options = Options(vaults=tuple(reading.options.get("vault", ())), **scope_and_key)
    if not reading.rest:
        yield from _forms(program, typed, options) if typed.startswith("-") else _names("", typed)
    elif list(reading.rest) in [[group] for group in group_titles()]:
        yield from _names(f"{reading.rest[0]} ", typed)
    else:
        yield from _complete_command(*find_command(reading.rest), typed, options)


def _names(group: str, typed: str) -> Iterator[tuple[str, str]]:
    """Yield the commands below a group; below none also the groups."""
    name_by_word = {
        name.removeprefix(group).partition(" ")[0]: name
        for name in command_names()
        if name.startswith(group)
    }
    for word, name in name_by_word.items():
        if word.startswith(typed):
            command = get_command(name)
            yield (
                word,
                group_titles().get(word) or (command.text.partition(". ")[0] if command else ""),
            )


def _complete_command(
    command: Subcommand, words: Sequence[str], typed: str, options: Options
) -> Iterator[tuple[str, str]]:
    reading = grammar.scan(command, words)
    vault = reading.options.get("vault", ())
    options = options.with_vaults((vault,) if isinstance(vault, str) else tuple(vault))
    slots = grammar.slots(command, reading)
    if reading.waiting is not None:
        yield from _values(reading.waiting, typed, options)
    elif typed.startswith("-"):
        yield from _forms(command, typed, options)
    elif slots:
        here = slots[min(len(reading.placed), len(slots) - 1)]
        if len(reading.placed) < len(slots) or command.arguments[here].is_repeatable:
            yield from _values(command.arguments[here], typed, options)


def _forms(command: Subcommand, typed: str, options: Options) -> Iterator[tuple[str, str]]:
    """Yield options that begin with what is typed; of `--vault=No` the values."""
    form, equals, value = typed.partition("=")
    if equals:
        for argument in command.arguments.values():
            if argument.option == form and not argument.is_flag:
                yield from (
                    (f"{form}={completed}", text)
                    for completed, text in _values(argument, value, options)
                )
        return
    for argument in command.arguments.values():
        for form in (
            argument.option,
            *([f"--no-{argument.option[2:]}"] if argument.is_negatable else ()),
        ):
            if form.startswith(typed) and argument.name not in set(command.places) - {"content"}:
                yield form, argument.description


def _values(argument: CommandArgument, typed: str, options: Options) -> Iterator[tuple[str, str]]:
    """Yield the values of an argument that begin with what is typed: its choices, clients, or names
    of the vault."""
    choices: Sequence[str] = argument.choices
    if argument.completes == "client":
        from obsidian_mcp.setup.clients import CLIENTS

        choices = list(CLIENTS)
    if choices:
        yield from ((choice, "") for choice in choices if choice.startswith(typed))
    elif argument.completes in ("note", "folder", "tag", "vault"):
        from obsidian_mcp.serve.mcp.completion import complete

        kind = cast("Literal['note', 'folder', 'tag', 'vault']", argument.completes)
        # a vault may be named by its folder where no other is known
        names: list[str] = []
        with suppress(AppError) if kind == "vault" else nullcontext(), options.app() as app:
            names = complete(app, kind, typed)[0]
        folders = _folders(typed) if kind == "vault" else ()
        names += [folder for folder in folders if folder.removesuffix("/") not in names]
        yield from ((name, "") for name in names)


def _folders(typed: str) -> Iterator[str]:
    """Yield the folders of this computer whose path begins with what is typed, as it is typed."""
    slash = max(typed.rfind("/"), typed.rfind(os.sep)) + 1
    head, begun = typed[:slash], typed[slash:]
    try:
        entries = sorted(expand_home(head).iterdir() if head else Path().iterdir())
    except OSError:
        return
    for entry in entries:
        is_offered = entry.name.startswith(begun) and (begun or not entry.name.startswith("."))
        if is_offered and entry.is_dir():
            yield f"{head}{entry.name}/"
