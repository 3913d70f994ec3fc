"""What each command takes, from `commands.json` and the table of tools, and how its words are read
(CLI-01, CLI-13)."""

from __future__ import annotations

import json
import os
import re
from functools import cache

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.errors import InvalidArguments

from .subcommand import CommandArgument, Subcommand

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Final

    from obsidian_mcp.tools.offer import ToolEntry

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
def _table(name: str = "commands.json") -> Mapping[str, Any]:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        table: Mapping[str, Any] = json.load(file)
    return table


@cache
def _tools() -> Mapping[str, ToolEntry]:
    """Return the tools by their commands."""
    from obsidian_mcp.tools import offer

    return {entry.command: entry for entry in offer.table().tools.values() if entry.command}


def groups() -> Mapping[str, str]:
    """Return the text of each group of commands."""
    titles: Mapping[str, str] = _table()["groups"]
    return titles


def names() -> list[str]:
    """Return the name of every command; those of groups have two words."""
    return list(dict.fromkeys([*_tools(), *_table()["commands"]]))


def root() -> Subcommand:
    """Return what stands before a command."""
    row = _table("options.json")
    return Subcommand(
        "", row, {name: CommandArgument(name, schema) for name, schema in row["properties"].items()}
    )


def find(words: Sequence[str]) -> tuple[Subcommand, Sequence[str]]:
    """Return the command that words begin with, and the words behind its name. Raises:
    InvalidArguments."""
    for count in (2, 1):
        if len(words) >= count and (command := get(" ".join(words[:count]))) is not None:
            return command, words[count:]
    if (listing := listing_command(words)) is not None:
        return listing, words[1:]
    from . import slips  # words that are right need no advice

    raise slips.unknown_command_error(words[0], names(), groups())


def listing_command(words: Sequence[str]) -> Subcommand | None:
    """Return the command that lists what a group is about, where nothing but options stands behind
    the group's name: `keys --json` is `keys list --json`. None for other words."""
    if words[0] not in groups() or any(not word.startswith("-") for word in words[1:2]):
        return None
    return get(f"{words[0]} list")


def get(name: str) -> Subcommand | None:
    """Return the command of this name; None where there is none."""
    row = _table()["commands"].get(name, {})
    entry = _tools().get(name) if "run" not in row or "omitted" in row else None
    if entry is None and "run" not in row:
        return None
    published_entry: Mapping[str, Any] = {}
    if entry is not None:
        from obsidian_mcp.tools.offer import published_entries

        published_entry = published_entries()[entry.name]
    schema = published_entry.get("inputSchema", {})
    of_tool = {
        key: value
        for key, value in schema.get("properties", {}).items()
        if key not in row.get("omitted", ())
    }
    own = row.get("properties", {}) | ({"vault": "vault", "json": "json"} if entry else {})
    own = ({"limit": "limit"} if "limit" in of_tool else {}) | own
    arguments = dict(_arguments(of_tool, is_checked=False)) | dict(_arguments(own, of_tool))
    required = row.get("required", schema.get("required", ()))
    first = () if required else tuple(of_tool)[:1]
    places = [key for key in of_tool if key in required or key in first or key == "content"]
    row = {"text": published_entry.get("description"), **row}
    return Subcommand(
        name, row, arguments, places=places, required=required, tool=entry.name if entry else ""
    )


def _arguments(
    properties: Mapping[str, Any],
    above: Mapping[str, Any] | None = None,
    *,
    is_checked: bool = True,
) -> Iterator[tuple[str, CommandArgument]]:
    """Yield the arguments that schemas describe; a schema may be the name of a shared one, or add
    to that in `above`."""
    table = _table()
    for name, described in properties.items():
        schema = (
            table["shared"][described]
            if isinstance(described, str)
            else {**(above or {}).get(name, {}), **described}
        )
        if not is_checked:
            schema = {
                "short": table["short"].get(name, ""),
                "completes": table["completes"].get(name, ""),
                **schema,
            }
        is_ours = isinstance(described, str) or name not in (above or {}) or "minimum" in described
        yield name, CommandArgument(name, schema, is_checked=is_checked and is_ours)


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
