"""A command and its arguments: what it takes, what it runs, and what its help and errors say."""

from __future__ import annotations

from obsidian_mcp import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final


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
