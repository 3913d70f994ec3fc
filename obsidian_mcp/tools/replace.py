"""Replace text in many notes."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import Field

from obsidian_mcp.app import App
from obsidian_mcp.core.expressions.limits import Budget
from obsidian_mcp.core.expressions.regexps import RegExp, escape
from obsidian_mcp.core.expressions.values import ExpressionError
from obsidian_mcp.core.note import edits
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.vault import bulk
from obsidian_mcp.errors import InvalidArguments

from .changed import ChangedFiles, changed_files
from .params import DryRun, Names, Query, VaultName
from .registry import tool

MOST_CHARACTERS = 1 << 30
"""Of the new texts together."""


@tool(title="Replace in notes", writes=True, destructive=True)
def replace(
    app: App,
    find: Annotated[str, Field(description="Exact text, or JavaScript regular expression", min_length=1)],
    content: Annotated[str, Field(description="What takes its place; $1: first group of a regex")] = "",
    regex: Annotated[bool, Field(description="find is a regular expression")] = False,
    ignore_case: Annotated[bool, Field(description="Ignore upper and lower case")] = False,
    names: Annotated[Names, Field(description="Notes to change")] = [],  # noqa: B006  never changed
    query: Query = "",
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> ChangedFiles:
    """Replace text or a regular expression in many notes, as one change that can be undone."""
    try:
        pattern = RegExp(find if regex else escape(find), "mi" if ignore_case else "m")
    except ExpressionError as error:
        raise InvalidArguments(str(error), argument="find") from error
    template = content if regex else content.replace("$", "$$")
    budget = Budget(row_units=MOST_CHARACTERS)

    def change(body: str) -> str:
        newline = Text(body).newline
        return pattern.replace(body, edits.adapted(template, newline), everywhere=True, budget=budget)

    place = app.vaults.get(vault)
    plan = partial(bulk.rewriting, place, bulk.selected(place, names, query), change, "Replacing")
    return changed_files(bulk.make(place, "replace", plan, dry_run=dry_run).rewritten, dry_run=dry_run)
