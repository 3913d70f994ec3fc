"""What a prompt is, and how one is read from the function that writes its text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import mcp_types as types

from obsidian_mcp.app import App
from obsidian_mcp.errors import InvalidArguments

from .completion import Completes


@dataclass(frozen=True, slots=True)
class Described:
    """The description of an argument, and the names that complete it."""

    description: str
    completes: Completes = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    entry: types.Prompt
    """In the list of prompts."""
    completes: Mapping[str, Completes]
    """What completes each argument."""
    write: Callable[..., str]

    def text(self, app: App, values: Mapping[str, str]) -> str:
        """Return the user's message to the model. Raises: InvalidArguments, and the errors of the
        vault."""
        arguments = self.entry.arguments or ()
        names = [argument.name for argument in arguments]
        if unknown := sorted(set(values) - set(names)):
            raise InvalidArguments(
                f"There is no argument {unknown[0]!r} in the prompt {self.entry.name}; it takes "
                f"{', '.join(names)}.",
                argument=unknown[0],
            )
        for argument in arguments:
            if argument.required and not values.get(argument.name, "").strip():
                raise InvalidArguments(
                    f"Missing required argument: {argument.name} ({argument.description}).",
                    argument=argument.name,
                )
        return self.write(app, **{name: value for name, value in values.items() if value.strip()})


def read_prompt(title: str, function: Callable[..., str]) -> Prompt:
    """Return the prompt that a function `(app, …: Annotated[str, Described]) -> str` is; its
    docstring is the description."""
    arguments: list[types.PromptArgument] = []
    completes: dict[str, Completes] = {}
    for name, parameter in list(inspect.signature(function, eval_str=True).parameters.items())[1:]:
        described: Described = parameter.annotation.__metadata__[0]
        is_required = parameter.default is inspect.Parameter.empty
        arguments.append(
            types.PromptArgument(name=name, description=described.description, required=is_required)
        )
        completes[name] = described.completes
    description = inspect.cleandoc(function.__doc__ or "")
    entry = types.Prompt(
        name=function.__name__, title=title, description=description, arguments=arguments
    )
    return Prompt(entry, completes, function)
