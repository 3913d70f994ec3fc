"""Find the checkbox that a person names (TASK-70 to TASK-72)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from obsidian_mcp.core.text.text import printable
from obsidian_mcp.errors import InvalidArguments, TextNotFound, TextNotUnique

from .settings import TaskSettings
from .task import read_line

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
    if (found := _find(candidates, wanted, settings, _PART)) is not None:
        return found
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
    if here is not None and _find([here], wanted, settings, _PART) is not None:
        return here
    # a part of a description is not enough where the line is another one
    if (found := _find(boxes, wanted, settings, _DESCRIPTION)) is not None:
        return found
    raise TextNotFound(f"Line {line} is not the task {wanted!r}, and no other task is. {_tasks_of(boxes)}", line=line)


_DESCRIPTION, _PART, _OTHERWISE = 3, 4, 5
"""Ways to name a task by a description or a part of it, among those of `_way`."""


def _find(boxes: Iterable[Checkbox], wanted: str, settings: TaskSettings, loosest: int) -> Checkbox | None:
    """The checkbox that is named in the strictest way, which is no looser than `loosest`."""
    if not wanted.strip():
        raise InvalidArguments("task is empty: name a task by its text, its id or ^block-id.", argument="task")
    ways = [(_way(box, wanted, settings), box) for box in boxes]
    strictest = min((way for way, _ in ways), default=_OTHERWISE)
    return _only([box for way, box in ways if way == strictest], wanted, settings) if strictest <= loosest else None


def _way(box: Checkbox, wanted: str, settings: TaskSettings) -> int:
    """How a checkbox is named: 0 by its id, 1 by its ^block-id, 2 by its line, then as the numbers above."""
    line = read_line(box.text, settings.notation)
    description = printable(box.text.partition("]")[2].strip() if line is None else line.description)
    ways = (
        line is not None and any(field.name == "id" and field.value == wanted for field in line.fields),
        line is not None and wanted == f"^{line.block_id}",
        printable(box.text).strip() == wanted.strip(),
        description == wanted.strip(),
        wanted.strip().lower() in description.lower(),
    )
    return ways.index(True) if True in ways else _OTHERWISE


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
