"""Prompts and completion of their arguments (specs/prompts.md): one function is one prompt, its parameters are the
arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NamedTuple

import mcp_types as types

from obsidian_mcp.app import App
from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.text.text import hidden_text_warnings, printable
from obsidian_mcp.core.text.vault_path import name_key
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.dispatch import require_first_page

from . import completion, resources
from .completion import Completes
from .context import Context, in_thread_for

NOTE_CHARACTERS: Final = 40_000
"""The most that a prompt quotes of one note; hosts cut longer messages."""


class Described(NamedTuple):
    """The description of an argument, and the names that complete it."""

    description: str
    completes: Completes = ""


class Prompt(NamedTuple):
    entry: types.Prompt
    """In the list of prompts."""
    completes: Mapping[str, Completes]
    """What completes each argument."""
    write: Callable[..., str]

    def text(self, app: App, given: Mapping[str, str]) -> str:
        """Return the user's message to the model. Raises: InvalidArguments, and the errors of the vault."""
        arguments = self.entry.arguments or ()
        known = [argument.name for argument in arguments]
        if unknown := sorted(set(given) - set(known)):
            raise InvalidArguments(
                f"There is no argument {unknown[0]!r} in the prompt {self.entry.name}; it takes {', '.join(known)}.",
                argument=unknown[0],
            )
        for argument in arguments:
            if argument.required and not given.get(argument.name, "").strip():
                raise InvalidArguments(
                    f"Missing required argument: {argument.name} ({argument.description}).", argument=argument.name
                )
        return self.write(app, **{name: value for name, value in given.items() if value.strip()})


PROMPTS: dict[str, Prompt] = {}


def prompt(title: str) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Register a function `(app, …: Annotated[str, Described]) -> str`; its docstring is the description."""

    def register(function: Callable[..., str]) -> Callable[..., str]:
        arguments: list[types.PromptArgument] = []
        completes: dict[str, Completes] = {}
        for name, parameter in list(inspect.signature(function, eval_str=True).parameters.items())[1:]:
            described: Described = parameter.annotation.__metadata__[0]
            is_required = parameter.default is inspect.Parameter.empty
            arguments.append(types.PromptArgument(name=name, description=described.description, required=is_required))
            completes[name] = described.completes
        description = inspect.cleandoc(function.__doc__ or "")
        entry = types.Prompt(name=function.__name__, title=title, description=description, arguments=arguments)
        PROMPTS[entry.name] = Prompt(entry, completes, function)
        return function

    return register


def find(name: str) -> Prompt:
    """Return a prompt by name. Raises: InvalidArguments that lists the prompts."""
    if name not in PROMPTS:
        raise InvalidArguments(
            f"Unknown prompt: {name}. The prompts are {', '.join(PROMPTS)}.", argument="name", prompt=name
        )
    return PROMPTS[name]


def quote(app: App, vault: Vault, entry: FileEntry, most: int = NOTE_CHARACTERS) -> str:
    """Return a note between tags that name it; of a long one the beginning, and how to get the rest."""
    body = printable(vault.read_text(entry).text.body)
    hidden_text_warnings(body, entry.path, app.hidden_text_reads.add)
    cut = ""
    if len(body) > most:
        cut = f"\n[… {len(body) - most:,} more characters: obsidian_read_note with offset {most}]"
        body = body[:most]
    return f'<note path="{entry.path}" modified="{entry.modified}">\n{body}{cut}\n</note>'


def number(text: str, name: str, least: int, most: int) -> int:
    """Return the number in an argument, which is always a string. Raises: InvalidArguments."""
    if not (text.strip().isdecimal() and least <= int(text) <= most):
        raise InvalidArguments(
            f"Argument {name!r} must be a whole number from {least} to {most}, but {text[:40]!r} came.", argument=name
        )
    return int(text)


def note_filter(vault: Vault, folder: str, tag: str) -> Callable[[FileEntry], bool]:
    """Return a filter for notes below the folder and with the tag, where given. Raises: NoteNotFound."""
    inside = vault.folders.named(folder) if folder else None
    if inside:
        vault.folders.existing(inside)
    prefix = name_key(inside) + "/" if inside else ""
    tagged = {found.path for found in vault.graph.tagged(tag).value} if tag else None
    return lambda entry: name_key(entry.path).startswith(prefix) and (tagged is None or entry.path in tagged)


def scope(folder: str, tag: str) -> str:
    """Return the words for `note_filter`."""
    return (f" below the folder {folder!r}" if folder else "") + (f" tagged #{tag.removeprefix('#')}" if tag else "")


TEMPLATE_ARGUMENTS: Mapping[str, Completes] = {"vault": "vault", "path": "file"}


class Prompts:
    """The request handlers of `prompts/…` and `completion/complete`."""

    def __init__(self, app: App, prompts: Mapping[str, Prompt]) -> None:
        self._app = app
        self._prompts = prompts

    async def list(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        require_first_page(params.cursor if params is not None else None)
        return types.ListPromptsResult(prompts=[prompt.entry for prompt in self._prompts.values()])

    async def get(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = find(params.name)
        work = partial(prompt.text, self._app, params.arguments or {})
        text = await in_thread_for(context, self._app.config.timeout, work)
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.entry.description, messages=[message])

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        given = (params.context.arguments if params.context is not None else None) or {}
        kind = _kind(params.ref, params.argument.name)
        work = partial(completion.complete, self._app, kind, params.argument.value, given.get("vault", ""))
        values, total = await in_thread_for(context, self._app.config.timeout, work)
        completed = types.Completion(values=values, total=total, has_more=total > len(values))
        return types.CompleteResult(completion=completed)


def _kind(ref: types.PromptReference | types.ResourceTemplateReference, name: str) -> completion.Completes:
    """Return what completes an argument. Raises: InvalidArguments for a reference that is not offered."""
    if isinstance(ref, types.PromptReference):
        known = find(ref.name).completes
    elif ref.uri == resources.TEMPLATE:
        known = TEMPLATE_ARGUMENTS
    else:
        raise InvalidArguments(f"Unknown resource template: {ref.uri!r}. There is {resources.TEMPLATE}.", uri=ref.uri)
    if name not in known:
        raise InvalidArguments(
            f"There is no argument {name!r} to complete; there are {', '.join(known)}.", argument=name
        )
    return known[name]
