"""Canvases: read as an outline, and changed card by card.

A canvas is JSON with coordinates. An outline shows a model what a person sees (which card stands in
which group, and what is linked to what), and operations on cards leave the rest of the file as it
is, byte for byte (specs/canvas.md).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, get_args

from obsidian_mcp.app import App
from obsidian_mcp.core.files.file_entry import FileContent
from obsidian_mcp.core.note import canvas, canvas_edits, sections
from obsidian_mcp.core.note.canvas_edits import (
    AddCard,
    Connect,
    Disconnect,
    EditCard,
    MoveCard,
    RemoveCard,
)
from obsidian_mcp.core.note.canvas_layout import EdgeSide, Side
from obsidian_mcp.core.note.canvas_outline import (
    CanvasOutline,
    OutlinedCard,
    cut_title,
    outline_canvas,
)
from obsidian_mcp.core.note.canvas_text import FARTHEST, is_number
from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.diff import diff
from obsidian_mcp.core.text.digest import etag_of
from obsidian_mcp.core.text.fit import cut_and_count
from obsidian_mcp.core.text.text import Text, to_printable
from obsidian_mcp.core.text.vault_path import CANVAS_EXTENSION, VaultPath, is_note
from obsidian_mcp.core.vault.operation import Create, Write
from obsidian_mcp.core.vault.rewritten import stale_etag_error
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import CanvasUnreadable, InvalidArguments, NoteNotFound

from .arguments import (
    Argument,
    DryRun,
    Etag,
    Name,
    VaultName,
    read_array,
    read_boolean,
    read_number,
    read_string,
)
from .outcome import DocumentAnswer
from .paging import PAGE, next_offset, shown_diff
from .registry import tool

CARD_CHARACTERS = 1_000
"""Most of one card's text that an outline shows."""


@dataclass(frozen=True, slots=True)
class ReadCanvas:
    path: str
    etag: str
    cards: int
    groups: int
    edges: int
    next_offset: int | None = None


@tool(title="Read canvas")
def read_canvas(
    app: App,
    name: Name,
    offset: Annotated[int, Argument(description="next_offset", ge=0)] = 0,
    vault: VaultName = "",
) -> DocumentAnswer:
    """Read a canvas as an outline: groups, cards with ids and places, edges with labels."""
    opened = app.vaults.get(vault)
    content = opened.read_text(opened.find(_with_extension(name)))
    read = canvas.read_canvas(content.text.body)
    if read.error:
        raise CanvasUnreadable(read.error, line=read.line)
    outlined = outline_canvas(content.text.body)
    groups = sum(card.kind == "group" for card in outlined.cards)
    text = to_printable(_render_outline(outlined))
    cards, following = len(outlined.cards) - groups, next_offset(offset, PAGE, len(text))
    facts = ReadCanvas(
        content.entry.path, content.etag, cards, groups, len(outlined.edges), following
    )
    return DocumentAnswer(facts, text[offset : offset + PAGE])


def _render_outline(outlined: CanvasOutline) -> str:
    lines = []
    for card in outlined.cards:
        checkpoint()
        where = f"{card.rect.x:g},{card.rect.y:g} {card.rect.width:g}x{card.rect.height:g}"
        color = f" color {card.color}" if card.color else ""
        indent = "  " * card.depth
        head = f"{indent}- [{card.id}] {card.kind or 'card'} {where}{color}"
        shows = cut_and_count(card.shows.replace("\r\n", "\n").strip(), CARD_CHARACTERS)
        lines.append(f"{head}: {shows}".rstrip(": ").replace("\n", f"\n{indent}    "))
    if outlined.edges:
        cards_by_id = {card.id: card for card in outlined.cards}
        lines += ["", "Edges:"]
        lines += [
            f"- [{edge.id}] {_end(cards_by_id, edge.start)} {edge.arrow} "
            f"{_end(cards_by_id, edge.end)}" + (f": {edge.label}" if edge.label else "")
            for edge in outlined.edges
        ]
    return "\n".join(lines) + "\n" if lines else "The canvas is empty.\n"


def _end(cards_by_id: Mapping[str, OutlinedCard], id_: str) -> str:
    """Return one end of an edge: the card's id and how it begins."""
    card = cards_by_id.get(id_)
    return f"[{id_}] (missing)" if card is None else f"[{id_}] {cut_title(card)}".rstrip()


@dataclass(frozen=True, slots=True)
class CanvasChange:
    path: str
    changed: bool
    etag: str
    ids: list[str]
    """Of the card or edge that each operation was about."""
    created: bool | None = None
    diff: str | None = None


@tool(title="Edit canvas", writes=True, destructive=True)
def edit_canvas(
    app: App,
    name: Name,
    operations: Annotated[
        list[dict[str, Any]],
        Argument(
            description="Each {op, …}. add: type text|file|link|group and text, file, url or "
            "label. edit: card and new values. move: card. connect, disconnect: from, to "
            "(from_side, to_side, label). "
            "remove: card (contents: true with a group's cards). Place: x, y or beside + side "
            "(right, left, above, "
            "below) or group; a group around cards. Any: width, height, color 1-6 or #RRGGBB. "
            "Cards by id, text, file "
            "or label"
        ),
    ],
    create: Annotated[bool, Argument(description="If it is missing")] = False,
    dry_run: DryRun = False,
    etag: Etag = "",
    vault: VaultName = "",
) -> CanvasChange:
    """Add, change, move, connect and remove cards of a canvas."""
    opened = app.vaults.get(vault)
    planned = _PlannedCanvas(opened, name, operations, create=create, etag=etag)
    if dry_run:
        opened.check("edit_canvas", planned.plan())
    else:
        for attempt in opened.attempts():
            with attempt.lock:
                steps = planned.plan()
                if not steps or attempt.commit("edit_canvas", steps):
                    break
    before, edited = planned.before, planned.edited
    old = "" if before is None else before.text.body
    difference = shown_diff([diff(planned.path, old, edited.body)]) if dry_run else None
    old_etag = "" if before is None else before.etag
    return CanvasChange(
        path=planned.path,
        changed=before is None or planned.data != before.data,
        etag=old_etag if dry_run else etag_of(planned.data),
        ids=list(edited.ids),
        created=before is None or None,
        diff=difference,
    )


class _PlannedCanvas:
    """What a call makes of a canvas: known once `plan` was called, which may be several times."""

    before: FileContent | None
    """None for a canvas that is not there yet."""
    path: VaultPath
    edited: canvas_edits.EditedCanvas
    data: bytes

    def __init__(
        self, vault: Vault, name: str, operations: list[dict[str, Any]], *, create: bool, etag: str
    ) -> None:
        self._vault = vault
        self._name = _with_extension(name)
        self._operations = operations
        self._create = create
        self._etag = etag

    def plan(self) -> list[Create | Write]:
        """Return the operation that changes the canvas as it is now, if it changes."""
        vault = self._vault
        numbered = enumerate(self._operations, 1)
        operations = [_operation(vault, number, operation) for number, operation in numbered]
        text, disk = self._read()
        if self.before is not None and self._etag and self._etag != self.before.etag:
            raise stale_etag_error(self.before, self._etag, "Read it again and repeat the edit.")
        self.edited = _apply(vault, text.body, operations)
        self.data = Text(self.edited.body, text.bom).encode()
        if self.before is None:
            return [Create(disk, self.data)]
        if self.data == self.before.data:
            return []
        return [Write(disk, self.before.data, self.data)]

    def _read(self) -> tuple[Text, str]:
        """Return the text of the canvas, empty for a new one, and its path on the disk."""
        try:
            self.before = self._vault.read_text(self._vault.find(self._name))
        except NoteNotFound:  # or gone since the folder was read
            if not self._create:
                raise
            self.before = None
            self.path, disk = self._vault.catalog.new_path(self._name)
            return Text(""), disk
        entry = self.before.entry
        self.path = entry.path
        return self.before.text, entry.disk


def _apply(
    vault: Vault, body: str, requested: list[canvas_edits.CanvasOperation]
) -> canvas_edits.EditedCanvas:
    """Return the canvas after all operations; a new heading or block must be in its card's note
    (CANVAS-6). Raises: SectionNotFound, and what `canvas_edits.edit` raises."""
    edited = canvas_edits.edit(body, requested, partial(secrets.token_hex, 8))
    operations = zip(requested, edited.ids, strict=True)
    pointed = {
        id_
        for op, id_ in operations
        if isinstance(op, AddCard | EditCard) and op.content.get("subpath")
    }
    for card in canvas.read_canvas(edited.body).cards if pointed else ():
        entry = (
            vault.entry_at(VaultPath(card.file.value))
            if card.file and card.subpath and card.id in pointed
            else None
        )
        if entry is not None and card.subpath is not None and is_note(entry.path):
            sections.find(parse(vault.read_text(entry).text.body), card.subpath.value, by_link=True)
    return edited


def _with_extension(name: str) -> str:
    return name if name.lower().endswith(CANVAS_EXTENSION) else name + CANVAS_EXTENSION


PLACE = ("x", "y", "beside", "side", "group")
"""Members of an operation that say where a card goes."""
LOOK = ("width", "height", "color")
"""Those that say how it looks."""
_CONTENT = ("text", "file", "subpath", "url", "label")
"""Those that say what it shows."""
_KEYS = {
    "add": ("type", *_CONTENT, *PLACE, *LOOK, "cards"),
    "edit": ("card", *_CONTENT, *LOOK),
    "move": ("card", *PLACE),
    "connect": ("from", "to", "from_side", "to_side", "label", "color"),
    "disconnect": ("from", "to"),
    "remove": ("card", "contents"),
}
"""The members that each operation takes beside `op`."""
NUMBERS = ("x", "y", "width", "height")
"""Members that are numbers, in pixels of the canvas; they may also come as text."""


def _read_length(value: Any) -> float:
    """Return a coordinate or size. Raises: ValueError."""
    number = read_number(value)
    if not is_number(number):
        raise ValueError(value)
    return number


_READERS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(NUMBERS, (f"a number of at most {FARTHEST:,}", _read_length)),
    "contents": ("true or false", read_boolean),
    "cards": ("a list of cards", partial(read_array, items="string")),
}
"""What a member of an operation must be, and how it is read; all others are text."""


class _Given:
    """One operation as it came. Every method raises InvalidArguments that says which operation is
    wrong, and how."""

    def __init__(self, number: int, members: Mapping[str, Any]) -> None:
        self.number = number
        self.values = {key: value for key, value in members.items() if value is not None}
        self.op = self.choice("op", tuple(_KEYS))
        for key, value in self.values.items():
            if key != "op" and key not in _KEYS[self.op]:
                raise self.operation_error(
                    f"{self.op} takes no {key!r}; it takes {', '.join(_KEYS[self.op])}", key
                )
            expected, read = _READERS.get(key, ("text", read_string))
            try:
                self.values[key] = read(value)
            except ValueError:
                raise self.operation_error(
                    f"{key} must be {expected}, not {value!r}", key
                ) from None

    def operation_error(self, problem: str, argument: str) -> InvalidArguments:
        return InvalidArguments(
            f"Operation {self.number}: {problem}. Nothing was written.", argument=argument
        )

    def choice(self, key: str, choices: tuple[str, ...], default: str | None = None) -> Any:
        value = self.values.get(key, default)
        if value not in choices:
            raise self.operation_error(
                f"{key} must be one of {', '.join(choices)}, not {value!r}", key
            )
        return value

    def require(self, key: str) -> str:
        if not str(self.values.get(key, "")).strip():
            raise self.operation_error(f"{self.op} needs {key}", key)
        return str(self.values[key])

    def number_of(self, key: str) -> int | None:
        return None if key not in self.values else round(self.values[key])

    def place(self) -> canvas_edits.CardPlace:
        side = self.choice("side", get_args(Side), "right")
        return canvas_edits.CardPlace(
            self.number_of("x"),
            self.number_of("y"),
            self.values.get("beside", ""),
            side,
            self.values.get("group", ""),
        )


def _operation(vault: Vault, number: int, raw: Mapping[str, Any]) -> canvas_edits.CanvasOperation:
    """Return the operation that a call writes as JSON. Raises: InvalidArguments with its number;
    NoteNotFound for a card's file."""
    members = _Given(number, raw)
    values = members.values
    size = (members.number_of("width"), members.number_of("height"))
    match members.op:
        case "add":
            kind = members.choice("type", get_args(canvas_edits.CardKind))
            content, around = _content(vault, members), tuple(values.get("cards", ()))
            return AddCard(
                kind, content, members.place(), *size, color=values.get("color", ""), around=around
            )
        case "edit":
            return EditCard(
                members.require("card"), _content(vault, members), *size, color=values.get("color")
            )
        case "move":
            if not {"x", "y", "beside", "group"} & values.keys():
                raise members.operation_error("move needs a place: x and y, beside, or group", "x")
            return MoveCard(members.require("card"), members.place())
        case "remove":
            return RemoveCard(members.require("card"), contents=values.get("contents", False))
        case "disconnect":
            return Disconnect(members.require("from"), members.require("to"))
    sides = get_args(EdgeSide)
    start, end = (
        members.choice(key, sides) if key in values else None for key in ("from_side", "to_side")
    )
    return Connect(
        members.require("from"),
        members.require("to"),
        start,
        end,
        values.get("label"),
        values.get("color"),
    )


def _content(vault: Vault, members: _Given) -> dict[str, str]:
    """Return what a card is to show; a file by its whole path, because the app resolves no short
    names in a canvas. Raises: NoteNotFound."""
    content = {key: str(members.values[key]) for key in _CONTENT if key in members.values}
    if content.get("subpath"):
        content["subpath"] = "#" + content["subpath"].removeprefix("#")
    if content.get("file"):
        name, mark, subpath = content["file"].partition("#")
        if mark and "subpath" not in content:
            content["subpath"] = f"#{subpath}"
        content["file"] = vault.find(name).path
    return content
