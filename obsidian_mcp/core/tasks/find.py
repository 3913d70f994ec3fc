"""Find the checkbox that a person names (TASK-70 to TASK-72)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from obsidian_mcp.core.note.parser import Note
from obsidian_mcp.core.text.call import UNCHECKED, check_each, checkpoint
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.typed_text import typed_key
from obsidian_mcp.errors import InvalidArguments, TextNotFound, TextNotUnique

from .line import read_line
from .settings import TaskSettings

MAX_PLACES = 12
"""Places that an error names where several tasks match."""


@dataclass(frozen=True, slots=True)
class Checkbox:
    """A list item with a checkbox, be it a task of the plugin or not."""

    path: str
    line: int
    """1-based."""
    text: str
    """The whole line without its line end."""
    has_children: bool = False
    """Whether other items, or further lines of its own, are indented below it."""

    @property
    def symbol(self) -> str:
        """The character between the brackets."""
        return self.text[self.text.index("[") + 1]


def could_be(text: str, name: str) -> bool:
    """Return whether a line can be the task with this name: all words of the name occur in it.

    It is quick, and true for every line that `find_named` takes: callers sort out the rest of a
    large vault with it.
    """
    key = typed_key(to_printable(text))
    return all(word in key for word in typed_key(name).removeprefix("^").split())


def find_named(boxes: Iterable[Checkbox], name: str, settings: TaskSettings) -> Checkbox:
    """Return the one checkbox with that name (TASK-70).

    A name is an id, a `^block-id`, a line, a description, or a part of a description; of several
    tasks with it, the only one that is not done is meant (TASK-72).
    Raises: TextNotFound, TextNotUnique with the places.
    """
    candidates = [box for box in check_each(boxes) if could_be(box.text, name)]
    named_box = _find(candidates, name, settings, _NameMatch.TYPED_PART)
    if named_box is None:
        raise TextNotFound(
            f"No task is called {name!r}. Name it by its text, its id, ^block-id or line; "
            "obsidian_list_tasks shows them."
        )
    return named_box


def find_at(boxes: Sequence[Checkbox], line: int, name: str, settings: TaskSettings) -> Checkbox:
    """Return the checkbox in a line, 1-based; with a name, it must be the task of that name.

    Where another task stands in the line, as after a change above it, the only task of the note
    with that name is returned (TASK-71). `name` may be empty.
    Raises: TextNotFound, TextNotUnique with the places.
    """
    at_line = next((box for box in boxes if box.line == line), None)
    if not name:
        if at_line is None:
            raise TextNotFound(f"Line {line} is no task. {_list_lines(boxes)}", line=line)
        return at_line
    if at_line is not None and _find([at_line], name, settings, _NameMatch.TYPED_PART) is not None:
        return at_line
    # a part of a description is not enough where the line is another one
    elsewhere = _find(boxes, name, settings, _NameMatch.TYPED_DESCRIPTION)
    if elsewhere is None:
        raise TextNotFound(
            f"Line {line} is not the task {name!r}, and no other task is. {_list_lines(boxes)}",
            line=line,
        )
    return elsewhere


class _NameMatch(IntEnum):
    """What of a checkbox its name is, from the strictest to the loosest."""

    ID = 0
    BLOCK_ID = 1
    LINE = 2
    DESCRIPTION = 3
    TYPED_DESCRIPTION = 4
    """The line or description but for characters that look alike (NAME-18), in any case."""
    PART = 5
    """A part of the description, in any case."""
    TYPED_PART = 6
    NONE = 7


def _find(
    boxes: Iterable[Checkbox], name: str, settings: TaskSettings, loosest: _NameMatch
) -> Checkbox | None:
    """Return the checkbox that matches most strictly, and at least as strictly as `loosest`."""
    if not name.strip():
        raise InvalidArguments(
            "`task` is empty: name a task by its text, its id or ^block-id.", argument="task"
        )
    matches = [(_match(box, name, settings), box) for box in boxes]
    strictest = min((match for match, _ in matches), default=_NameMatch.NONE)
    if strictest > loosest:
        return None
    return _choose([box for match, box in matches if match == strictest], name, settings)


def _match(box: Checkbox, name: str, settings: TaskSettings) -> _NameMatch:
    line = read_line(box.text, settings.notation)
    if line is None:
        description = to_printable(box.text.partition("]")[2].strip())
    elif any(field.name == "id" and field.value == name for field in line.fields):
        return _NameMatch.ID
    elif name == f"^{line.block_id}":
        return _NameMatch.BLOCK_ID
    else:
        description = to_printable(line.description)
    if to_printable(box.text).strip() == name.strip():
        return _NameMatch.LINE
    if description == name.strip():
        return _NameMatch.DESCRIPTION
    key, typed_name = typed_key(description), typed_key(name)
    if typed_name in (key, typed_key(to_printable(box.text))):
        return _NameMatch.TYPED_DESCRIPTION
    if name.strip().lower() in description.lower():
        return _NameMatch.PART
    return _NameMatch.TYPED_PART if typed_name and typed_name in key else _NameMatch.NONE


def _choose(matches: Sequence[Checkbox], name: str, settings: TaskSettings) -> Checkbox:
    """Return the only match, or the only one that is not done (TASK-72).

    Raises: TextNotUnique.
    """
    pending = [box for box in matches if not settings.statuses.get(box.symbol).is_done]
    for boxes in (matches, pending):
        if len(boxes) == 1:
            return boxes[0]
    places = [f"{box.path}:{box.line}" for box in matches]
    raise TextNotUnique(
        f"{len(matches)} tasks are called {name!r}: {name_first(places, MAX_PLACES)}. "
        "Name the note and the line.",
        places=places[:MAX_PLACES],
    )


def _list_lines(boxes: Sequence[Checkbox]) -> str:
    """Return the sentence that says where the tasks of a note stand."""
    if not boxes:
        return "The note has no tasks."
    lines = name_first(boxes, MAX_PLACES, write=lambda box: str(box.line))
    return f"Tasks stand in line{'s' if len(boxes) > 1 else ''} {lines}."


def list_checkboxes(path: str, note: Note) -> list[Checkbox]:
    """Return the checkboxes of a note in its order."""
    parents = {item.parent for item in note.list_items}
    lines = note.body.split("\n")
    boxes: list[Checkbox] = []
    for number, item in enumerate(note.list_items, 1):
        if not number % UNCHECKED:
            checkpoint()
        if item.mark is not None:
            text = lines[item.line].removesuffix("\r")
            has_children = item.line in parents or "\n" in item.span.slice(note.body).strip()
            boxes.append(Checkbox(path, item.line + 1, text, has_children))
    return boxes
