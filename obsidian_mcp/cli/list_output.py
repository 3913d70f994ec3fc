"""The rows of a list in a form for programs: paths, JSON, CSV (CLI-24).

What a person reads on a terminal is made in `answers`; a pipe wants one row a line, and nothing
else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from obsidian_mcp.errors import InvalidArguments

from .cells import cell_text, mask_controls, separate

PATHS: Final = "paths"
TABLE: Final = "table"
"""The form for people, which `answers` makes."""
LISTS: Final[Mapping[str, Sequence[str]]] = {
    "attachments": ("attachments",),
    "bookmarks": ("bookmarks",),
    "graph": ("paths", "unresolved", "neighbours"),
    "history": ("changes",),
    "links": ("backlinks", "mentions", "unresolved"),
    "list": ("files",),
    "properties": ("vault_properties", "values"),
    "search": ("hits",),
    "similar": ("similar",),
    "tags": ("tags", "notes"),
    "tasks": ("tasks",),
    "templates": ("templates",),
}
"""The commands whose answer is a list, with the members that may hold it: the first that is
there."""
_NAMES_OF_FILES: Final = ("path", "target")
"""Members of a row that name a file."""


def rows_of(command: str, data: Mapping[str, Any]) -> list[Any]:
    """Return the rows of the list that a command answers. Raises: InvalidArguments where it answers
    none this time, such as one note's properties."""
    for member in LISTS[command]:
        if isinstance(data.get(member), list):
            return list(data[member])
    raise InvalidArguments(f"This answer of {command} is no list. Leave --format out.")


def cut_rows(command: str, data: dict[str, Any], limit: int) -> None:
    """Leave at most so many rows in the answer of a command whose tool gives all of them."""
    for member in LISTS[command]:
        if isinstance(data.get(member), list):
            data[member] = data[member][:limit]


def render_rows(rows: Sequence[Any], form: str, *, ends_with_nul: bool = False) -> str:
    """Return rows in a form: `paths`, each once, `json`, `jsonl`, `csv` or `tsv`.

    `ends_with_nul`: a NUL stands behind each path in place of a line end, and the path is as it is,
    because a name may hold a line end or what a terminal obeys (CLI-08). Raises: InvalidArguments
    for paths of rows that are about no file.
    """
    if form == PATHS:
        paths = dict.fromkeys(map(_path_of, rows))
        if ends_with_nul:
            return "".join(f"{path}\0" for path in paths)
        return "".join(f"{mask_controls(path)}\n" for path in paths)
    import json  # a list for a person or of paths does without

    if form == "json":
        return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
    if form == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    records = [row if isinstance(row, Mapping) else {"path": row} for row in rows]
    titles = list(dict.fromkeys(title for record in records for title in record))
    cells: Iterable[Sequence[object]] = (
        [cell_text(record.get(title)) for title in titles] for record in records
    )
    return f"{separate([titles, *cells], form)}\n" if titles else ""


def _path_of(row: Any) -> str:
    if isinstance(row, str):
        return row
    for name in _NAMES_OF_FILES:
        if name in row:
            return str(row[name])
    raise InvalidArguments("These rows name no files. Give another format than paths.")
