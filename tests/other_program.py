"""Another program that writes into a vault at chosen moments of a call, as an editor or a sync does.

`OtherProgram.watch` wraps `Files` (core/files/ports.py): the beginning and the end of each of its methods are moments.
They are counted, so that a test which has made a call once can have the other program write at any moment of the same
call, without sleeping and the same every time.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from obsidian_mcp.core.files.ports import Files

CHANGING = frozenset(("write", "create", "move", "delete", "trash", "remove_folder"))
"""Methods of `Files` that change the vault."""
MARK = "foreign-"
"""The beginning of what the other program writes; nothing else in a vault of these tests begins so."""
CARD_PLACE = {"x": 5_000, "y": 5_000, "width": 50, "height": 50}


class Append(NamedTuple):
    """What the other program is to do."""

    path: str
    makes: bool
    """Whether it makes a file that is not there; else it leaves that."""


class Line(NamedTuple):
    """What the other program has written: a line of a note, a card of a canvas or a bookmark."""

    mark: str
    path: str
    made_file: bool
    before_commit: bool
    """Whether the call had changed no file yet."""


class OtherProgram:
    """Writes its lines when their moments come."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.moments = 0
        """Moments that have passed since `plan`."""
        self.lines: list[Line] = []
        """What it has written since `plan`."""
        self._due: dict[int, list[Append]] = {}
        self._has_changed = False
        self._marks = 0

    def plan(self, due: Mapping[int, Sequence[Append]]) -> None:
        """Count moments anew, and write at these."""
        self._due = {moment: list(appends) for moment, appends in due.items()}
        self.moments, self.lines, self._has_changed = 0, [], False

    def watch(self, files: Files) -> Files:
        """Return the same files; each call of a method is two moments."""
        return _Watched(files, self)

    def pass_moment(self, *, has_changed: bool = False) -> None:
        """Write what is due; `has_changed`: the call has just changed a file."""
        self._has_changed = self._has_changed or has_changed
        for append in self._due.pop(self.moments, ()):
            self.write(append)
        self.moments += 1

    def write(self, append: Append, mark: str = "") -> bool:
        """Write to a file under a new mark, or this one. Returns whether there was a file, or it was to be made."""
        file = self.root / append.path
        if file.exists() != file.is_file() or not (file.exists() or append.makes):
            return False
        self._marks += 1
        mark = mark or f"{MARK}{self._marks}."
        self.lines.append(Line(mark, append.path, not file.exists(), not self._has_changed))
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_bytes() if file.exists() else b""
        file.write_bytes(with_mark(append.path, before, mark))
        return True


class _Watched:
    """`Files` that tell the other program of every call."""

    def __init__(self, files: Files, other: OtherProgram) -> None:
        self._files = files
        self._other = other

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._files, name)
        if not callable(attribute):
            return attribute

        def call(*arguments: Any, **named: Any) -> Any:
            self._other.pass_moment()
            answer = attribute(*arguments, **named)
            self._other.pass_moment(has_changed=name in CHANGING)
            return answer

        return call


def with_mark(path: str, data: bytes, mark: str) -> bytes:
    """Return the content of a file with a line of its own, of a canvas with a card, of bookmarks with a group."""
    text = data.decode()
    if path.endswith(".canvas"):
        card = {"id": mark, "type": "text", "text": "", **CARD_PLACE}
        return _with_member(text, "nodes", card).encode()
    if path.endswith(".json"):
        group = {"type": "group", "ctime": 1, "items": [], "title": mark}
        return _with_member(text, "items", group).encode()
    end = "\n" if text and not text.endswith("\n") else ""
    return f"{text}{end}{mark} [[B]] #t\n".encode()


def _with_member(text: str, key: str, member: Mapping[str, Any]) -> str:
    """Return JSON with a new first member of a list, on a line of its own; the other lines stay."""
    line = json.dumps(member)
    if not text:
        return f'{{"{key}":[\n{line}\n]}}'
    start = text.index("[", text.index(f'"{key}"')) + 1
    is_empty = text[start:].lstrip().startswith("]")
    return f"{text[:start]}\n{line}{'' if is_empty else ','}{text[start:]}"


def places_of(line: Line, files: Mapping[str, bytes]) -> Counter[str]:
    """Return how often each file holds a line."""
    return +Counter({path: data.count(line.mark.encode()) for path, data in files.items()})


def without_lines(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return what the files hold beside the other program's lines: of notes the lines that are not empty, of canvases
    and bookmarks what their members are of. Files of which nothing is left are left out."""
    left: dict[str, Any] = {}
    for path, data in files.items():
        text = data.decode()
        if path.endswith((".canvas", "bookmarks.json")):
            left[path] = _members(json.loads(text))
        else:
            left[path] = [line for line in text.splitlines() if line.strip() and MARK not in line]
    return {path: own for path, own in left.items() if own}


def _members(held: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return what the cards of a canvas or bookmarks are of; ids, places and times are new each time."""
    members = itertools.chain.from_iterable(held.values())
    return [
        tuple(str(member.get(key)) for key in ("type", "text", "file", "path"))
        for member in members
        if not str(member.get("id", member.get("title"))).startswith(MARK)
    ]
