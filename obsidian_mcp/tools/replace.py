"""Replace text in many notes and cards of canvases, as one change.

A text must match exactly, because a replacement that guesses changes what nobody meant. Where it is
nowhere, the answer says which other spelling is. Regular expressions are JavaScript's, because that
is what users and models know from the app.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated

from obsidian_mcp.app import App
from obsidian_mcp.core.expressions.budget import Budget
from obsidian_mcp.core.expressions.regexps import RegExpValue, escape
from obsidian_mcp.core.expressions.values import ExpressionError
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.note import canvas, edits
from obsidian_mcp.core.note.edits import Edit
from obsidian_mcp.core.note.near_misses import find_other_spelling
from obsidian_mcp.core.operations import bulk
from obsidian_mcp.core.text.fit import count_fitting
from obsidian_mcp.core.text.text import MAX_FILE_BYTES, Span, check_size
from obsidian_mcp.core.text.vault_path import CANVAS_EXTENSION, extension, is_note
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError, InvalidArguments

from .arguments import Argument, DryRun, Query, VaultName
from .paging import ChangedFiles, changed_files
from .registry import tool

COMPARED_BYTES = 2_000_000
"""Of the files in which other spellings are looked for where find is in none of them."""
MOST_MATCHES = 1_000_000
"""In one note."""
_LITERAL = re.compile(r"/.+/[dgimsuvy]*", re.DOTALL)
"""A regular expression as JavaScript has it in a program."""


@tool(title="Replace in notes", writes=True, destructive=True)
def replace(
    app: App,
    find: Annotated[str, Argument(description="Text, or a JavaScript regex", min_length=1)],
    content: Annotated[str, Argument(description="New text; $1: first group of a regex")],
    regex: Annotated[bool, Argument(description="find is a regex")] = False,
    ignore_case: Annotated[bool, Argument(description="Any case")] = False,
    # the default is never changed
    names: Annotated[list[str], Argument(description="Notes to change")] = [],  # noqa: B006
    query: Query = "",
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> ChangedFiles:
    """Replace text or a regex in many notes and canvas cards, as one change."""
    source = find if regex else escape(find.replace("\r\n", "\n"))
    template = content if regex else content.replace("$", "$$")
    by_character = regex and re.search(r"\r|\\r", find) is not None
    opened = app.vaults.get(vault)
    selection = bulk.select_files(
        opened, names, query, lambda path: is_note(path) or extension(path) == CANVAS_EXTENSION
    )
    entries = selection.entries
    try:
        pattern = RegExpValue(source, "mui" if ignore_case else "mu")
        is_found = False

        def find_edits(body: str) -> list[Edit]:
            nonlocal is_found
            note_edits = _find_edits(pattern, template, body, by_character=by_character)
            is_found = is_found or bool(note_edits)
            return note_edits

        plan = partial(
            bulk.plan_rewrites,
            opened,
            entries,
            lambda body: edits.apply(body, find_edits(body)),
            "Replacing",
            in_canvas=lambda body: edits.apply(body, canvas.text_edits(body, find_edits)),
        )
        planned = bulk.make(opened, "replace", plan, dry_run=dry_run)
    except ExpressionError as error:
        raise InvalidArguments(str(error), argument="find") from error
    if not is_found and regex and _LITERAL.fullmatch(find):
        raise InvalidArguments(
            "`find` is in none of the files. A regular expression is given without the slashes "
            "around it and the flags behind it; `ignore_case` ignores upper and lower case. To "
            "find a slash, write \\/.",
            argument="find",
        )
    nothing = (
        []
        if planned.rewritten
        else [_explain_nothing(opened, entries, "" if regex else find, is_found=is_found)]
    )
    return changed_files(
        planned.rewritten, dry_run=dry_run, warnings=[*selection.warnings, *nothing]
    )


def _explain_nothing(
    vault: Vault, entries: Sequence[FileEntry], find: str, *, is_found: bool
) -> str:
    """Return why nothing was changed; `find` is empty for a regular expression."""
    files = len(entries)
    where = "the file" if files == 1 else f"the {files} files"
    if is_found:
        return f"Nothing was changed: all that find matches in {where} is what it would become."
    if not find:
        return f"Nothing was changed: the regular expression matches nothing in {where}."
    return f"Nothing was changed: find is not in {where}. " + (
        _find_other_spelling_in(vault, entries, find)
        or "It must match exactly, spaces, quotes and line breaks too; obsidian_search finds other "
        "spellings."
    )


def _find_other_spelling_in(vault: Vault, entries: Sequence[FileEntry], find: str) -> str:
    """Return in which file `find` stands in other characters that look alike, and in which; "" for
    none of the first files."""
    count = count_fitting((entry.size for entry in entries), COMPARED_BYTES)
    for entry in entries[:count]:
        with suppress(AppError):
            body = vault.read_text(entry).text.body
            if (spelling := find_other_spelling(body, find)) is not None:
                return f"In {str(entry.path)!r}: {spelling[1]}"
    return ""


def _find_edits(
    pattern: RegExpValue, template: str, body: str, *, by_character: bool
) -> list[Edit]:
    r"""Return the edits that replace every match in a text; line ends match `\n`, unless
    `by_character`. Raises: ExpressionError for a match that takes too long, InvalidArguments for
    too many, StorageFailed for too long a text."""
    ends = (
        []
        if by_character
        else [at.start() - number for number, at in enumerate(re.finditer("\r\n", body))]
    )
    # which would bring characters in the place of bytes
    has_groups = "$" in template.replace("$$", "")
    searched = body if has_groups else edits.make_searchable(body, pattern.source)
    # `\n`, `^` and `$` mean the ends of lines
    text = searched.replace("\r\n", "\n") if ends else searched

    def to_stored(offset: int) -> int:
        return offset + bisect_left(ends, offset)

    adapted = edits.make_line_end_adapter(body)
    found_edits: list[Edit] = []
    size = len(body)
    for span, new in pattern.replacements(text, template, Budget(row_units=3 * MAX_FILE_BYTES)):
        place, content = Span(to_stored(span.start), to_stored(span.end)), adapted(new)
        found_edits.append(
            Edit(
                place, content if searched is body else edits.keep_bytes(place.slice(body), content)
            )
        )
        size += len(content) - (place.end - place.start)
        check_size(size)
        if len(found_edits) > MOST_MATCHES:
            raise InvalidArguments(
                f"`find` is more than {MOST_MATCHES:,} times in one note.", argument="find"
            )
    return found_edits
