"""Every command of the official program: its words, what it needs, and the module that answers it (HEADLESS-02)."""

from __future__ import annotations

import os
import re
from typing import Final, Literal, NamedTuple

Verdict = Literal["files", "limits", "app"]
"""`files`: as the official command. `limits`: with a difference named in specs/headless.md. `app`: needs the app."""

LONGER: Final = ("weekly", "monthly", "quarterly", "yearly")


class DropInKey(NamedTuple):
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
    name: str
    words: str
    """Parameters in the order of the official help: `content!` is required, `value!!` is too and may be empty,
    `format=json|tsv` lists values, `case-` is a flag in spite of its name, `+date` is an addition of ours."""
    verdict: Verdict
    module: str
    """Module of this package, with a function of the command's name; empty for what needs the app."""
    summary: str
    marks: frozenset[str] = frozenset()
    """`writes`; `reads`: a command of the app that changes nothing; `code`: one that runs JavaScript, which needs the
    user's leave as with the tool (APP-TOOL-03); `developer`: listed at the end of the help; `ours`: the official
    program does not have it."""

    @property
    def function(self) -> str:
        """Name of the function that answers: `daily_append` for `daily:append` and for the same of longer periods."""
        period, colon, rest = self.name.partition(":")
        return f"{'daily' if period in LONGER else period}{colon}{rest}".replace(":", "_")

    @property
    def parameters(self) -> list[DropInKey]:
        found = []
        for word in self.words.split():
            name, _, value = word.strip("+!").partition("=")
            flag = name.endswith("-")
            name = name.removesuffix("-")
            placeholder = "" if flag else value or KEYS.get(name, ("",))[0]
            found.append(DropInKey(name, placeholder, "!" in word, word.endswith("!!"), is_ours=word.startswith("+")))
        return found

    def parameter(self, name: str) -> DropInKey | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    @property
    def usage(self) -> str:
        shown = [
            parameter.form if parameter.required else f"[{parameter.form}]"
            for parameter in self.parameters
            if not parameter.is_ours
        ]
        return " ".join(["Usage:", self.name, *shown])


def _rows(file: str) -> list[list[str]]:
    """The cells of every line of a table beside this module, without its title line."""
    with open(f"{os.path.dirname(__file__)}/{file}", encoding="utf-8") as table:  # noqa: PTH120, PTH123  pathlib takes 5 ms
        return [[cell.strip() for cell in _CELL_END.split(line.rstrip("\n"))] for line in table][1:]


def _commands() -> dict[str, DropInCommand]:
    rows = _rows("commands.txt")
    daily = [row for row in rows if row[0].startswith("daily")]
    rows += [[*(cell.replace("daily", period) for cell in row), "ours"] for period in LONGER for row in daily]
    found = {
        name: DropInCommand(name, words, verdict, module, summary, frozenset(marks))  # type: ignore[arg-type]
        for name, words, verdict, module, summary, *marks in rows
    }
    return dict(sorted(found.items()))


_CELL_END = re.compile(r"\s\|(?=\s|$)")
KEYS: Final = {name: (placeholder, text) for name, placeholder, text in _rows("keys.txt")}
"""Of every key what stands for its value, empty for a flag, and what the help says of it."""
COMMANDS: Final = _commands()
