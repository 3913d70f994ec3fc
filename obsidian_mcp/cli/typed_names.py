"""Errors in a person's words: arguments as they are typed, and commands in place of tools (CLI-12).

A tool's error names an argument in backticks, because a model sends it under that name. A person
types the same thing as `--content`, or as the word NAME in its place. It is loaded when a command
fails.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from .grammar import Subcommand

_REQUIRED: Final = re.compile(r"Missing required argument: (\w+)")
_ARGUMENT: Final = re.compile(r"Argument '(\w+)'")
_FLAG: Final = re.compile(r"set `(\w+)` to (true|false)")
_NAMED: Final = re.compile(r"`(\w+)`")


def name_arguments_as_typed(message: str, command: Subcommand) -> str:
    """Return the message of a command's error with its arguments as a person types them.

    Words in backticks that are no argument of the command stay as they are, such as a value.
    """
    typed = {name: command.form_of(argument) for name, argument in command.arguments.items()}
    typed |= command.typed

    def replace(form: str) -> str:
        return typed.get(form, f"`{form}`")

    message = _REQUIRED.sub(lambda match: f"Missing: {_find_form(typed, match[1])}", message)
    message = _ARGUMENT.sub(lambda match: _find_form(typed, match[1]), message)
    message = _FLAG.sub(lambda match: _write_flag(typed, match), message)
    return _NAMED.sub(lambda match: replace(match[1]), message)


def _find_form(typed: Mapping[str, str], name: str) -> str:
    return typed.get(name, f"'{name}'")


def _write_flag(typed: Mapping[str, str], match: re.Match[str]) -> str:
    option = typed.get(match[1])
    if option is None:
        return match[0]
    return f"give {option if match[2] == 'true' else option.replace('--', '--no-', 1)}"
