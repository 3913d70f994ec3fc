"""The commands of the official program, with their words, what each needs and what answers it
(HEADLESS-02); and how a command line is read, in its manners (HEADLESS-03 to HEADLESS-06)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

FORMATS: Final = ("json", "tsv", "csv", "md")
"""Values of `format` that may also be given as flags: `--json`."""
HELP: Final = ("help", "--help", "-h")
SUGGESTED: Final = 3
"""Commands that an error offers."""
EDITS: Final = 3
"""Characters by which such a command may differ from what was typed."""
_NUMBER = re.compile(r"-?\d+", re.ASCII)
_ESCAPED = re.compile(r"\\(\\?)([nt])")
LONGER: Final = ("weekly", "monthly", "quarterly", "yearly")
"""Periods whose commands are those of `daily` with another name; the official program has none."""


class DropInKey(NamedTuple):
    """A key that a command takes, as `KEY=value` or as a flag."""

    name: str
    placeholder: str
    """Empty for a flag."""
    required: bool = False
    may_be_empty: bool = False
    is_ours: bool = False
    """Whether the official command does not have it."""

    @property
    def form(self) -> str:
        return f"{self.name}={self.placeholder}" if self.placeholder else self.name

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that a placeholder such as `json|tsv` lists."""
        return tuple(self.placeholder.split("|")) if "|" in self.placeholder else ()


class DropInCommand(NamedTuple):
    """A command of the official program, as `commands.txt` has it."""

    name: str
    words: str
    """Parameters in the order of the official help: `content!` is required, `value!!` is too and
    may be empty, `format=json|tsv` lists values, `case-` is a flag in spite of its name, `+date` is
    an addition of ours."""
    verdict: Literal["files", "limits", "app"]
    """`files`: as the official command. `limits`: with a difference in specs/headless.md. `app`:
    needs the app."""
    answered_by: str
    """Module of this package, with the function behind a point where that has not the command's
    name; `own` for what the program says of itself (in `command`), empty for what needs the app."""
    summary: str
    marks: frozenset[str] = frozenset()
    """`writes`; `reads`: a command of the app that changes nothing; `code`: one that runs
    JavaScript, which needs the user's leave as with the tool (APP-TOOL-03); `developer`: listed at
    the end of the help; `ours`: the official program does not have it."""

    @property
    def module(self) -> str:
        return self.answered_by.partition(".")[0]

    @property
    def function(self) -> str:
        """Name of the function that answers: `daily_date` for `daily:date` and for the same of
        longer periods."""
        period, colon, ending = self.name.partition(":")
        named = f"{'daily' if period in LONGER else period}{colon}{ending}".replace(":", "_")
        return self.answered_by.partition(".")[2] or named

    @property
    def parameters(self) -> list[DropInKey]:
        keys = []
        for word in self.words.split():
            name, _, value = word.strip("+!").partition("=")
            flag = name.endswith("-")
            name = name.removesuffix("-")
            placeholder = "" if flag else value or KEYS.get(name, ("",))[0]
            keys.append(
                DropInKey(
                    name,
                    placeholder,
                    "!" in word,
                    word.endswith("!!"),
                    is_ours=word.startswith("+"),
                )
            )
        return keys

    def parameter(self, name: str) -> DropInKey | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    @property
    def usage(self) -> str:
        forms = [
            parameter.form if parameter.required else f"[{parameter.form}]"
            for parameter in self.parameters
            if not parameter.is_ours
        ]
        return " ".join(["Usage:", self.name, *forms])


def _rows(file: str) -> list[list[str]]:
    """Return the cells of every line of a table beside this module, without its title line."""
    folder = os.path.dirname(__file__)  # noqa: PTH120  pathlib takes 5 ms
    with open(f"{folder}/{file}", encoding="utf-8") as table:  # noqa: PTH123
        return [
            [cell.strip() for cell in re.split(r"\s\|(?=\s|$)", line.rstrip("\n"))]
            for line in table
        ][1:]


def _commands() -> dict[str, DropInCommand]:
    rows = _rows("commands.txt")
    daily = [row for row in rows if row[0].startswith("daily")]
    rows += [
        [*(cell.replace("daily", period) for cell in row), "ours"]
        for period in LONGER
        for row in daily
    ]
    return {row[0]: _command(row) for row in sorted(rows)}


def _command(row: list[str]) -> DropInCommand:
    """Return the command of a row; its cells beyond the fifth are marks."""
    name, words, verdict, answered_by, summary, *marks = row
    return DropInCommand(
        name,
        words,
        verdict,  # type: ignore[arg-type]
        answered_by,
        summary,
        frozenset(marks),
    )


KEYS: Final = {name: (placeholder, text) for name, placeholder, text in _rows("keys.txt")}
"""Of every key what stands for its value, empty for a flag, and what the help says of it."""
COMMANDS: Final = _commands()


class DropInRefused(Exception):
    """An answer that begins with `Error:`, in the official program's words."""

    def __init__(self, sentence: str, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status
        """The exit status, 0 but for one error of the official program."""


class Words:
    """One command line, read. `keys` has flags as `true`."""

    def __init__(self, command: str, vault: str | None = None) -> None:
        """`command`: empty without one."""
        self.command = command
        self.vault = vault
        self.keys: dict[str, str] = {}
        self.copy = False
        """Also put the output on the clipboard."""
        self.help = False

    def text(self, name: str) -> str:
        """Return the value of a key; "" where it was not given."""
        return self.keys.get(name, "")

    def has(self, name: str) -> bool:
        """Return whether a flag was given."""
        return self.keys.get(name, "") not in ("", "false")

    def number(self, name: str) -> int:
        """Return the whole number of a key; 0 where it was not given. Raises: DropInRefused."""
        text = self.text(name)
        if text and not _NUMBER.fullmatch(text):
            raise DropInRefused(f"Invalid number: {text}")
        return int(text or 0)

    @property
    def content(self) -> str:
        """The text to write: from standard input with `stdin`, else with its escapes replaced."""
        if self.has("stdin"):
            return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
        return unescape(self.text("content"))

    @property
    def format(self) -> str:
        return self.choice("format")

    def choice(self, name: str) -> str:
        """Return the value of a key with a list of values; "" for none and for one that the command
        does not know."""
        parameter, value = COMMANDS[self.command].parameter(name), self.text(name)
        return value if parameter is not None and value in parameter.choices else ""


def read_words(arguments: Sequence[str]) -> Words:
    """Return what the words behind `obsidian` say."""
    remaining = list(arguments)
    vault = None
    while remaining and remaining[0].startswith("vault="):
        vault = remaining.pop(0).removeprefix("vault=")
    words = Words(remaining.pop(0) if remaining else "", vault)
    command = COMMANDS.get(words.command)
    for word in remaining:
        key, equals, value = word.partition("=")
        if equals:
            if key == "vault":
                words.vault = value
            else:
                words.keys[key] = value
        elif word == "--copy":
            words.copy = True
        elif word == "--help":
            words.help = True
        else:
            form = word.removeprefix("--")
            if (
                form in FORMATS
                and command
                and command.parameter("format")
                and not command.parameter(form)
            ):
                words.keys["format"] = form
            else:
                words.keys[word] = "true"
    return words


def unescape(content: str) -> str:
    """Return a text with `\\n` and `\\t` replaced; a second backslash in front keeps them as they
    are."""

    def value(escape: re.Match[str]) -> str:
        if escape[1]:
            return f"\\{escape[2]}"
        return "\n" if escape[2] == "n" else "\t"

    return _ESCAPED.sub(value, content)


def check_values(command: DropInCommand, words: Words) -> None:
    """Raises: DropInRefused for a required key that is absent, and for a key without its value
    (HEADLESS-03)."""
    for parameter in command.parameters:
        is_given = parameter.name in words.keys
        if words.text(parameter.name) or (
            is_given and (parameter.may_be_empty or not parameter.placeholder)
        ):
            continue
        if parameter.name == "content" and words.has("stdin"):
            continue
        if parameter.required:
            missing = parameter.name if is_given else parameter.form
            raise DropInRefused(f"Missing required parameter: {missing}\n{command.usage}")
        if is_given:
            raise DropInRefused(
                f"The value of {parameter.name} is empty. Give {parameter.form}, or leave it out."
            )


def unknown_command_error(name: str) -> DropInRefused:
    """Return the error for a command that is not there, with those that may be meant."""
    near = suggestions(name)
    if near:
        return DropInRefused(f'Command "{name}" not found. Did you mean: {", ".join(near)}?')
    return DropInRefused(f'Command "{name}" not found. It may require a plugin to be enabled.')


def suggestions(name: str) -> list[str]:
    """Return at most three commands that begin with a name, contain it, or are at most three edits
    away, in this order; of these the official ones first, then the nearest."""
    from obsidian_mcp.core.text.nearness import edit_distance  # words that are right need it not

    official_first = sorted(
        COMMANDS, key=lambda command: ("ours" in COMMANDS[command].marks, command)
    )
    begin = [command for command in official_first if command.startswith(name)]
    contain = [command for command in official_first if name in command]
    distances = [
        ("ours" in COMMANDS[command].marks, edit_distance(name, command), command)
        for command in official_first
        if abs(len(command) - len(name)) <= EDITS
    ]
    near = [command for _, distance, command in sorted(distances) if distance <= EDITS]
    return list(dict.fromkeys([*begin, *contain, *near]))[:SUGGESTED]
