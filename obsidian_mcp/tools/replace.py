"""Replace text in many notes."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import partial
from typing import Annotated

from obsidian_mcp.app import App
from obsidian_mcp.core.expressions.limits import Budget
from obsidian_mcp.core.expressions.regexps import RegExp, escape
from obsidian_mcp.core.expressions.values import ExpressionError
from obsidian_mcp.core.note import edits
from obsidian_mcp.core.note.edits import Edit
from obsidian_mcp.core.operations import bulk
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.errors import InvalidArguments

from .arguments import Argument
from .changed import ChangedFiles, changed_files
from .params import DryRun, Query, VaultName
from .registry import tool

MOST_CHARACTERS = 1 << 30
"""Of the new texts together."""
_CRLF = re.compile("\r\n")


@tool(title="Replace in notes", writes=True, destructive=True)
def replace(
    app: App,
    find: Annotated[str, Argument(description="Exact text, or JavaScript regular expression", min_length=1)],
    content: Annotated[str, Argument(description="What takes its place; $1: first group of a regex")],
    regex: Annotated[bool, Argument(description="find is a regular expression")] = False,
    ignore_case: Annotated[bool, Argument(description="Ignore upper and lower case")] = False,
    names: Annotated[list[str], Argument(description="Notes to change")] = [],  # noqa: B006  never changed
    query: Query = "",
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> ChangedFiles:
    """Replace text or a regular expression in many notes, as one change that can be undone."""
    source = find if regex else escape(find.replace("\r\n", "\n"))
    template = content if regex else content.replace("$", "$$")
    by_character = regex and re.search(r"\r|\\r", find) is not None
    budget = Budget(row_units=MOST_CHARACTERS)
    place = app.vaults.get(vault)
    entries = bulk.selected(place, names, query)
    try:
        pattern = RegExp(source, "mi" if ignore_case else "m")
        change = partial(_replace_matches, pattern, template, budget, by_character=by_character)
        plan = partial(bulk.rewriting, place, entries, change, "Replacing")
        made = bulk.make(place, "replace", plan, dry_run=dry_run)
    except ExpressionError as error:
        raise InvalidArguments(str(error), argument="find") from error
    unchanged = (
        f"None of the {len(entries)} notes was changed: find is not in them. It must match exactly, spaces, quotes and "
        "line breaks too; obsidian_search finds other spellings."
    )
    warnings = [] if made.rewritten else [unchanged]
    return changed_files(made.rewritten, dry_run=dry_run, warnings=warnings)


def _replace_matches(pattern: RegExp, template: str, budget: Budget, body: str, *, by_character: bool) -> str:
    """Return a text with every match replaced; line ends match `\n`, unless `by_character`.

    Raises: ExpressionError for a match that takes too long to find.
    """
    ends = [] if by_character else [at.start() - number for number, at in enumerate(_CRLF.finditer(body))]
    text = body.replace("\r\n", "\n") if ends else body  # `\n`, `^` and `$` mean the ends of lines

    def stored(offset: int) -> int:
        return offset + bisect_left(ends, offset)

    adapted = edits.adapting(body)
    found = pattern.replacements(text, template, budget)
    return edits.apply(body, [Edit(Span(stored(span.start), stored(span.end)), adapted(new)) for span, new in found])
