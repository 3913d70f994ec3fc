"""Prompts: ready-made requests that bring what they are about from the vault (specs/prompts.md).

One function = one prompt: `@prompt` lists it, its parameters are its arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, get_type_hints

from obsidian_mcp.app import App
from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.text.clock import timestamp
from obsidian_mcp.core.text.vault_path import name_key, parse_folder
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments

from .completion import Completes

NOTE_CHARACTERS: Final = 40_000
"""Most of one note that a prompt brings; hosts cut longer messages."""


@dataclass(frozen=True, slots=True)
class About:
    """Of an argument: what it is, and by what it is completed."""

    description: str
    completes: Completes = ""


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    description: str
    required: bool
    completes: Completes


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    write: Callable[..., str]

    def text(self, app: App, given: Mapping[str, str]) -> str:
        """What the user says to the model. Raises: InvalidArguments, and what the vault has to say."""
        known = [argument.name for argument in self.arguments]
        if strange := sorted(set(given) - set(known)):
            raise InvalidArguments(
                f"There is no argument {strange[0]!r} in the prompt {self.name}; it takes {', '.join(known)}.",
                argument=strange[0],
            )
        for argument in self.arguments:
            if argument.required and not given.get(argument.name, "").strip():
                raise InvalidArguments(
                    f"Missing required argument: {argument.name} ({argument.description}).", argument=argument.name
                )
        return self.write(app, **{name: value for name, value in given.items() if value.strip()})


PROMPTS: dict[str, Prompt] = {}


def prompt(title: str) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Register a function `(app, …: Annotated[str, About]) -> str`; its first sentence is the description."""

    def register(function: Callable[..., str]) -> Callable[..., str]:
        hints = get_type_hints(function, include_extras=True)
        parameters = list(inspect.signature(function).parameters.values())[1:]
        arguments = []
        for parameter in parameters:
            (about,) = hints[parameter.name].__metadata__
            required = parameter.default is inspect.Parameter.empty
            arguments.append(Argument(parameter.name, about.description, required, about.completes))
        PROMPTS[function.__name__] = Prompt(
            function.__name__, title, inspect.cleandoc(function.__doc__ or ""), tuple(arguments), function
        )
        return function

    return register


def find(name: str) -> Prompt:
    """Raises: InvalidArguments with the prompts there are."""
    try:
        return PROMPTS[name]
    except KeyError:
        raise InvalidArguments(
            f"Unknown prompt: {name}. The prompts are {', '.join(PROMPTS)}.", argument="name", prompt=name
        ) from None


def quoted(place: Vault, entry: FileEntry, most: int = NOTE_CHARACTERS) -> str:
    """A note between tags that name it; of a long one the beginning, and how to get the rest."""
    body = place.read_text(entry).text.body.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    cut = ""
    if len(body) > most:
        cut = f"\n[… {len(body) - most:,} more characters: obsidian_read_note with offset {most}]"
        body = body[:most]
    return f'<note path="{entry.path}" modified="{timestamp(entry.mtime_ns)}">\n{body}{cut}\n</note>'


def number(text: str, name: str, least: int, most: int) -> int:
    """Arguments of prompts are always strings. Raises: InvalidArguments."""
    if not (text.strip().isdecimal() and least <= int(text) <= most):
        raise InvalidArguments(
            f"Argument {name!r} must be a whole number from {least} to {most}, but {text[:40]!r} came.", argument=name
        )
    return int(text)


def chosen(place: Vault, folder: str, tag: str) -> Callable[[FileEntry], bool]:
    """Whether a note is below the folder and has the tag, where they are given."""
    inside = parse_folder(folder) if folder else None
    prefix = name_key(inside) + "/" if inside else ""
    tagged = {found.path for found in place.graph.tagged(tag).value} if tag else None
    return lambda entry: name_key(entry.path).startswith(prefix) and (tagged is None or entry.path in tagged)


def scope(folder: str, tag: str) -> str:
    return (f" below the folder {folder!r}" if folder else "") + (f" tagged #{tag.removeprefix('#')}" if tag else "")
