"""The commands that there are, from `commands.json` and the table of tools (CLI-01, CLI-06)."""

from __future__ import annotations

from functools import cache

from obsidian_mcp import TYPE_CHECKING

from .grammar import CommandArgument, Subcommand, read_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from obsidian_mcp.tools.offer import ToolEntry


def _read_commands() -> Mapping[str, Any]:
    """Return what `commands.json` says of commands, groups and shared arguments."""
    return read_table("commands.json")


@cache
def _tools() -> Mapping[str, ToolEntry]:
    """Return the tools by their commands."""
    from obsidian_mcp.tools import offer

    return {entry.command: entry for entry in offer.table().tools.values() if entry.command}


def group_titles() -> Mapping[str, str]:
    """Return the text of each group of commands."""
    titles: Mapping[str, str] = _read_commands()["groups"]
    return titles


def command_names() -> list[str]:
    """Return the name of every command; those of groups have two words."""
    return list(dict.fromkeys([*_tools(), *_read_commands()["commands"]]))


def find_command(words: Sequence[str]) -> tuple[Subcommand, Sequence[str]]:
    """Return the command that words begin with, and the words behind its name. Raises:
    InvalidArguments."""
    for count in (2, 1):
        if len(words) >= count and (command := get_command(" ".join(words[:count]))) is not None:
            return command, words[count:]
    if (listing := listing_command(words)) is not None:
        return listing, words[1:]
    from . import slips  # words that are right need no advice

    raise slips.unknown_command_error(words[0], command_names(), group_titles())


def listing_command(words: Sequence[str]) -> Subcommand | None:
    """Return the command that lists what a group is about, where nothing but options stands behind
    the group's name: `keys --json` is `keys list --json`. None for other words."""
    if words[0] not in group_titles() or any(not word.startswith("-") for word in words[1:2]):
        return None
    return get_command(f"{words[0]} list")


def get_command(name: str) -> Subcommand | None:
    """Return the command of this name; None where there is none."""
    row = _read_commands()["commands"].get(name, {})
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
    table = _read_commands()
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
