"""How the words of a command line are read (CLI-01, CLI-13).

Which commands there are is in `command_table`, which a server does without at its start.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.errors import InvalidArguments

from .subcommand import CommandArgument, Subcommand

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final

FOLDER: Final = os.path.dirname(__file__)  # noqa: PTH120  pathlib costs 5 ms


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
