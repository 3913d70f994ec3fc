"""Find the checkbox that a person names (TASK-70 to TASK-72)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from obsidian_mcp.core.text.text import printable
from obsidian_mcp.errors import InvalidArguments, TextNotFound, TextNotUnique

from .settings import TaskSettings
from .task import Line, read_line

SHOWN = 12
"""Places named where several tasks match."""


@dataclass(frozen=True, slots=True)
class Checkbox:
    """A list item with a checkbox, be it a task of the plugin or not."""

    path: str
    line: int
    """1-based."""
    text: str
    """The whole line without its line end."""
    has_children: bool = False

    @property
    def symbol(self) -> str:
        """The character between the brackets."""
        return self.text[self.text.index("[") + 1]


def could_be(text: str, wanted: str) -> bool:
    """Return whether a line can be the task that is named: all words of the name occur in it."""
    lower = printable(text).lower()
    return all(word in lower for word in wanted.lower().removeprefix("^").split())


def find_named(boxes: Iterable[Checkbox], wanted: str, settings: TaskSettings) -> Checkbox:
    """Return the checkbox of an id, `^block-id`, line, description or part of one; of several, the one not done
    (TASK-70). Raises: TextNotFound, TextNotUnique with the places."""
    candidates = [box for box in boxes if could_be(box.text, wanted)]
    for is_named in _levels(wanted, settings):
        found = [box for box in candidates if is_named(box)]
        if found:
            return _only(found, wanted, settings)
    raise TextNotFound(
        f"No task is called {wanted!r}. Name it by its text, its id, ^block-id or line; obsidian_list_tasks shows them."
    )


def find_at(boxes: Sequence[Checkbox], line: int, wanted: str, settings: TaskSettings) -> Checkbox:
    """The checkbox in a line, or the only one that `wanted` names (TASK-71). Raises: TextNotFound, TextNotUnique."""
    here = next((box for box in boxes if box.line == line), None)
    if not wanted:
        if here is None:
            raise TextNotFound(f"Line {line} is no task. {_tasks_of(boxes)}", line=line)
        return here
    levels = _levels(wanted, settings)
    if here is not None and any(is_named(here) for is_named in levels):
        return here
    for is_named in levels[:-1]:  # a part of a description is not enough where the line is another one
        found = [box for box in boxes if is_named(box)]
        if found:
            return _only(found, wanted, settings)
    raise TextNotFound(f"Line {line} is not the task {wanted!r}, and no other task is. {_tasks_of(boxes)}", line=line)


def _levels(wanted: str, settings: TaskSettings) -> list[Callable[[Checkbox], bool]]:
    lower = wanted.strip().lower()
    if not lower:
        raise InvalidArguments("task is empty: name a task by its text, its id or ^block-id.", argument="task")

    def line_of(box: Checkbox) -> Line | None:
        return read_line(box.text, settings.notation)

    def description(box: Checkbox) -> str:
        line = line_of(box)
        return printable(box.text.partition("]")[2].strip() if line is None else line.description)

    def has_id(box: Checkbox) -> bool:
        line = line_of(box)
        return line is not None and any(field.name == "id" and field.value == wanted for field in line.fields)

    def has_block_id(box: Checkbox) -> bool:
        line = line_of(box)
        return line is not None and wanted == f"^{line.block_id}"

    return [
        has_id,
        has_block_id,
        lambda box: printable(box.text).strip() == wanted.strip(),
        lambda box: description(box) == wanted.strip(),
        lambda box: lower in description(box).lower(),
    ]


def _only(found: Sequence[Checkbox], wanted: str, settings: TaskSettings) -> Checkbox:
    pending = [box for box in found if not settings.statuses.get(box.symbol).is_done]
    for boxes in (found, pending):
        if len(boxes) == 1:
            return boxes[0]
    places = [f"{box.path}:{box.line}" for box in found]
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    raise TextNotUnique(
        f"{len(found)} tasks are called {wanted!r}: {', '.join(places[:SHOWN])}{more}. Name the note and the line.",
        places=places[:SHOWN],
    )


def _tasks_of(boxes: Sequence[Checkbox]) -> str:
    if not boxes:
        return "The note has no tasks."
    shown = ", ".join(str(box.line) for box in boxes[:SHOWN])
    return f"Tasks stand in line{'s' if len(boxes) > 1 else ''} {shown}{' …' if len(boxes) > SHOWN else ''}."
