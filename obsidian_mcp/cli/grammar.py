"""What a command takes, and how the words of a command line are read (CLI-01, CLI-13).

Which commands there are is in `command_table`, which a server does without at its start.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.errors import InvalidArguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final

FOLDER: Final = os.path.dirname(__file__)  # noqa: PTH120  pathlib costs 5 ms


class CommandArgument:
    """An argument of a command: a word in its place, or an option."""

    def __init__(self, name: str, schema: Mapping[str, Any], *, is_checked: bool = True) -> None:
        self.name: Final = name
        self.type: Final[str] = schema.get("type", "string")
        """As in a JSON schema; a list or an object may be given several times, an object as
        KEY=VALUE."""
        self.description: Final[str] = schema.get("description", "")
        self.default: Final[Any] = schema.get("default")
        self.choices: Final = tuple(map(str, schema.get("enum", ())))
        self.bounds: Final[tuple[int | None, int | None]] = (
            schema.get("minimum"),
            schema.get("maximum"),
        )
        self.short: Final[str] = schema.get("short", "")
        self.shown: Final[str] = schema.get("shown", "")
        """What stands for the value in the help."""
        self.completes: Final[str] = schema.get("completes", "")
        """What the shell completes."""
        self.is_negatable: Final[bool] = (
            schema.get("is_negatable", False) or schema.get("default") is True
        )
        """Whether the help shows `--no-NAME` beside `--NAME`."""
        self.is_checked: Final = is_checked
        """Whether the words are checked here; a tool checks its own arguments."""

    @property
    def option(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    @property
    def is_flag(self) -> bool:
        return self.type == "boolean"

    @property
    def is_repeatable(self) -> bool:
        return self.type in ("array", "object")

    @property
    def placeholder(self) -> str:
        if self.shown:
            return self.shown
        if self.choices:
            return f"[{'|'.join(self.choices)}]"
        return {"integer": "NUMBER", "object": "KEY=VALUE"}.get(self.type, self.name.upper())


HELP: Final = CommandArgument(
    "help", {"type": "boolean", "description": "Show this and exit.", "short": "h"}
)
"""An option that every command has."""


class Subcommand:
    """A command: what it takes, what it runs, and what its help says."""

    def __init__(
        self,
        name: str,
        row: Mapping[str, Any],
        arguments: Mapping[str, CommandArgument],
        *,
        places: Sequence[str] = (),
        required: Sequence[str] = (),
        tool: str = "",
    ) -> None:
        """`row`: of the table of commands."""
        self.name: Final = name
        """One word, or two for a command of a group; empty for the program itself."""
        self.text: Final[str] = row["text"]
        self.arguments: Final = {**arguments, HELP.name: HELP}
        self.places: Final[Sequence[str]] = row.get("positional", places)
        """The arguments that need no option, in their order."""
        self.required: Final = frozenset(required)
        self.typed: Final[Mapping[str, str]] = row.get("typed", {})
        """What a person types for arguments of the tool that the command takes in another form."""
        self.examples: Final[Sequence[str]] = row.get("examples", ())
        self.run: Final[str] = row.get("run", "")
        """The function in this package that runs it, behind its module; empty for a tool's own
        command."""
        self.tool: Final = tool
        """The name of the tool that it calls."""

    @property
    def usage(self) -> str:
        """The name of the command with what stands behind it."""
        words = [self.arguments[name].placeholder for name in self.places]
        places = [
            word if name in self.required else f"[{word}]"
            for name, word in zip(self.places, words, strict=True)
        ]
        return " ".join(["obsidian-mcp", *self.name.split(), "[OPTIONS]", *places])

    def form_of(self, argument: CommandArgument) -> str:
        """Return an argument as an error names it: the word of its place where it is required, else
        its option."""
        is_word = argument.name in self.places and argument.name in self.required
        return argument.placeholder if is_word else argument.option

    @property
    def advice(self) -> str:
        """The sentence that names its help."""
        return f" See {' '.join(['obsidian-mcp', *self.name.split(), '--help'])}."


class Reading:
    """The words of a command as far as they say what they are."""

    def __init__(
        self,
        options: dict[str, Any],
        placed: Sequence[str],
        waiting: CommandArgument | None = None,
        rest: Sequence[str] = (),
    ) -> None:
        self.options: Final = options
        self.placed: Final = placed
        """Words that are no options."""
        self.waiting: Final = waiting
        """The option whose value is still to come."""
        self.rest: Final = rest
        """Words behind the first one that is no option, where these are not read."""


@cache
def read_table(name: str) -> Mapping[str, Any]:
    """Return a table in JSON beside this module."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        table: Mapping[str, Any] = json.load(file)
    return table


def root() -> Subcommand:
    """Return what stands before a command: the program itself, with the options of all commands."""
    row = read_table("options.json")
    return Subcommand(
        "", row, {name: CommandArgument(name, schema) for name, schema in row["properties"].items()}
    )


def scan(command: Subcommand, words: Sequence[str], *, stops: bool = False) -> Reading:
    """Return what words say; with `stops` only those before the first that is no option. Raises:
    InvalidArguments."""
    options: dict[str, Any] = {}
    placed: list[str] = []
    remaining = list(words)
    while remaining:
        word = remaining.pop(0)
        if word == "--":
            return Reading(options, [*placed, *remaining])
        is_null = word == "-0" and "null" in command.arguments
        dashes, name, value = ("-", "0", None) if is_null else _split(word)
        if not dashes:
            if stops:
                return Reading(options, placed, rest=(word, *remaining))
            placed.append(word)
            continue
        if dashes == "-":
            argument, value = _short_option(command, word, value)
        else:
            argument, value = _long_option(command, name, value)
        if argument.is_flag:
            options[argument.name] = value
            if dashes == "-" and (further_letters := word[2:]):
                remaining.insert(0, f"-{further_letters}")
            continue
        if value is None:
            if not remaining:
                return Reading(options, placed, argument)
            value = remaining.pop(0)
        if argument.is_repeatable:
            options.setdefault(argument.name, []).append(value)
        else:
            options[argument.name] = value
    return Reading(options, placed)


def _split(word: str) -> tuple[str, str, Any]:
    """Return the dashes of an option, its name, and its value where the word has one. Any other
    word, such as `- [ ] milk` or `-file:x`, has no dashes."""
    name, equals, value = word[2:].partition("=")
    is_name = (
        name.isascii() and name.islower() and name[0].isalpha() and name.replace("-", "").isalnum()
    )
    if word.startswith("--") and is_name:
        return "--", name, value if equals else None
    letters = word[1:].rstrip("0123456789")
    if word.startswith("-") and letters.isascii() and letters.isalpha():
        return "-", letters, word[1 + len(letters) :] or None
    return "", word, None


def _short_option(
    command: Subcommand, word: str, digits: str | None
) -> tuple[CommandArgument, Any]:
    """Return the argument that the first letter of a word names, and its value, None where it comes
    behind. Raises: InvalidArguments."""
    argument = next(
        (candidate for candidate in command.arguments.values() if candidate.short == word[1]), None
    )
    if argument is None or (word[2:3].isalpha() and not argument.is_flag):
        from . import slips

        raise slips.unknown_option_error(word, command.name)
    return argument, argument.is_flag or digits


def _long_option(command: Subcommand, typed_name: str, value: Any) -> tuple[CommandArgument, Any]:
    """Return the argument of this name, and its value, None where it comes behind. Raises:
    InvalidArguments."""
    name = typed_name.replace("-", "_")
    argument = command.arguments.get(name)
    denied = command.arguments.get(name.removeprefix("no_"))
    if argument is None and denied is not None and denied.is_flag:
        argument, value = denied, value or False
    if argument is None:
        from . import slips

        if own := root().arguments.get(name):
            raise slips.misplaced_option_error(own.option, command.name)
        options = [candidate.option for candidate in command.arguments.values()]
        raise slips.unknown_option_error(f"--{typed_name}", command.name, options)
    if argument.is_flag and isinstance(value, str):
        raise InvalidArguments(f"{argument.option} takes no value.{command.advice}")
    return argument, value if value is not None else True if argument.is_flag else None


def values(command: Subcommand, reading: Reading) -> dict[str, Any]:
    """Return the values that were given, by the names of arguments. Raises: InvalidArguments."""
    if reading.waiting is not None:
        raise InvalidArguments(
            f"{reading.waiting.option} wants a value: "
            f"{reading.waiting.placeholder}.{command.advice}"
        )
    typed = {**reading.options, **_place_words(command, reading)}
    missing = [
        command.arguments[name].placeholder
        for name in command.places
        if name in command.required - set(typed)
    ]
    if missing:
        raise InvalidArguments(f"Missing: {' '.join(missing)}. Usage: {command.usage}")
    return {
        name: _check_value(command, command.arguments[name], value) for name, value in typed.items()
    }


def slots(command: Subcommand, reading: Reading) -> list[str]:
    """Return the arguments that words in their places mean: those that no option gives."""
    return [name for name in command.places if name not in reading.options]


def _place_words(command: Subcommand, reading: Reading) -> dict[str, Any]:
    """Return the values of the words in their places; a list takes all but those of the places
    behind it."""
    words, open_slots = list(reading.placed), slots(command, reading)
    placed: dict[str, Any] = {}
    for number, name in enumerate(open_slots):
        if not words:
            break
        if command.arguments[name].is_repeatable:
            behind = len(open_slots) - number - 1
            placed[name] = [words.pop(0) for _ in range(max(len(words) - behind, 1))]
        else:
            placed[name] = words.pop(0)
    if words:
        twice = [name for name in command.places if name in reading.options]
        if twice:
            word = command.arguments[twice[0]].placeholder
            raise InvalidArguments(
                f"Give {word} once: as an argument or with {command.arguments[twice[0]].option}."
            )
        raise InvalidArguments(f"{words[0]!r} is one argument too many. Usage: {command.usage}")
    return placed


def _check_value(command: Subcommand, argument: CommandArgument, value: Any) -> Any:
    """Return a value in its type. Raises: InvalidArguments."""
    if not argument.is_checked or isinstance(value, bool):
        return value
    if isinstance(value, list):
        return [_check_value(command, argument, item) for item in value]
    typed = command.form_of(argument)
    if not value:
        raise InvalidArguments(
            f"The value of {typed} is empty. Give one, or leave it out.{command.advice}"
        )
    if argument.choices and value not in argument.choices:
        raise InvalidArguments(f"{typed}: {value!r} is not one of {', '.join(argument.choices)}.")
    low, high = argument.bounds
    if argument.type != "integer" and low is None and high is None:
        return value
    if (
        not re.fullmatch(r"-?[0-9]+", value)
        or (low is not None and int(value) < low)
        or (high and int(value) > high)
    ):
        limits = (
            f" from {low} to {high}" if high else f" of at least {low}" if low is not None else ""
        )
        raise InvalidArguments(f"{typed} must be a whole number{limits}, but {value!r} came.")
    return int(value)
