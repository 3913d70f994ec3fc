"""Commands about bases (HEADLESS-16)."""

from __future__ import annotations

import sys

from obsidian_mcp.core.bases.base_file import Base, View
from obsidian_mcp.core.bases.base_reader import read_base
from obsidian_mcp.core.frontmatter.edits import set_property
from obsidian_mcp.core.note.query_blocks import BASE_EXTENSION
from obsidian_mcp.core.text.vault_path import extension
from obsidian_mcp.core.vault.folders import FOLDER_OF_NEW_NOTES

from .call import DropInCall, as_json, sort_texts
from .words import DropInRefused
from .writing import check_name, make_file, new_notes_folder, parsed_path


def bases(call: DropInCall) -> str:
    paths = [
        entry.path for entry in call.vault.entries() if extension(entry.path) == BASE_EXTENSION
    ]
    return call.join_lines(sort_texts(paths), "No base files found in vault")


def _view(base: Base, call: DropInCall) -> View:
    """Return the view that the words name, with this very name, or the first one. Raises:
    DropInRefused."""
    name = call.text("view")
    named_view = next((view for view in base.views if name in ("", view.name)), None)
    if named_view is None:
        raise DropInRefused(f"View not found: {name}")
    return named_view


def base_views(call: DropInCall) -> str:
    return call.join_lines(
        [
            f"{view.name}\t{view.type}"
            for view in read_base(call.body(call.find_kind(BASE_EXTENSION, "base"))).views
        ]
    )


def base_query(call: DropInCall) -> str:
    from obsidian_mcp.cli.cells import cell_text, markdown, separate
    from obsidian_mcp.core.expressions.answer import Page, QueryAnswer
    from obsidian_mcp.core.index.freshness import Answer as IndexAnswer
    from obsidian_mcp.core.operations.queries import QueryRequest, run_query

    entry = call.find_kind(BASE_EXTENSION, "base")
    body = call.body(entry)
    view = _view(read_base(body), call).name
    now = call.vault.calendar.now()
    result = run_query(
        call.vault, QueryRequest(body, Page(sys.maxsize >> 1), now, "base", view, entry.path)
    )
    assert isinstance(result, IndexAnswer)  # noqa: S101  a base answers with rows
    answer: QueryAnswer = result.value
    labels = ["path", *(column.name for column in answer.columns)]
    table = [
        [None if cell is None else cell_text(cell) for cell in (path, *cells)]
        for path, cells in zip(answer.paths or (), answer.rows, strict=True)
    ]
    form = call.words.format
    if form == "paths":
        return call.join_lines([row[0] or "" for row in table])
    if form in ("csv", "tsv", "md"):
        return markdown(labels, table) if form == "md" else separate(table, form)
    return as_json([dict(zip(labels, row, strict=True)) for row in table])


def base_create(call: DropInCall) -> str:
    """Make a note that a view lists, with its content below the properties that the filters
    want."""
    from obsidian_mcp.core.bases.new_item import describe_new_item

    base = read_base(call.body(call.find_kind(BASE_EXTENSION, "base", status=1)))
    item = describe_new_item(base, _view(base, call))
    name = call.text("name") or "Untitled"
    check_name(name)
    folder = f"{item.folder}/" if item.folder else new_notes_folder(call)
    path = parsed_path(f"{folder}{name.removesuffix('.md')}.md")
    if not item.folder:
        call.vault.folders.check_new(path, FOLDER_OF_NEW_NOTES)
    content = call.words.content
    for key, value in item.properties.items():
        content = set_property(content, key, value)
    return make_file(call, path, content, numbered=True)
