"""Commands that change notes: each is one change in the journal, which `obsidian-mcp undo` takes
back (HEADLESS-18)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from typing import Any, Literal

from obsidian_mcp.core.calendar.iso import calendar_day, is_datetime
from obsidian_mcp.core.files.media import kind_of
from obsidian_mcp.core.files.settings import SETTINGS_FOLDER, read_json
from obsidian_mcp.core.frontmatter import edits as property_edits
from obsidian_mcp.core.frontmatter import parser
from obsidian_mcp.core.frontmatter.property_types import TYPES_FIXED, infer_type
from obsidian_mcp.core.note.edits import overwrite_text
from obsidian_mcp.core.text.vault_path import VaultPath, basename, extension, parent, parse
from obsidian_mcp.core.vault.folders import FOLDER_OF_NEW_NOTES
from obsidian_mcp.core.vault.operation import Operation, Write, removal
from obsidian_mcp.errors import NoteExists, PermissionDenied

from .call import DropInCall
from .words import DropInRefused

_CHECKED, _UNCHECKED = ("true", "1", "yes"), ("false", "0", "no")
TYPES = "types.json"
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}\Z")
_NUMBER = re.compile(r"[-+]?(?:\d++(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?\Z")


def add(call: DropInCall) -> str:
    """Put text at the end of a note, or behind its properties."""
    entry = call.note()
    call.vault.edit("edit_note", entry, call.content_inserter())
    return f"{'Appended' if call.appends else 'Prepended'} to: {entry.path}"


def create(call: DropInCall) -> str:
    path = parsed_path(_new_path(call))
    if not call.text("path"):
        call.vault.folders.check_new(path, FOLDER_OF_NEW_NOTES)
    numbered = os.environ.get("OBSIDIAN_MCP_NUMBERED") == "1"
    return make_file(
        call, path, _content(call, path), overwrite=call.has("overwrite"), numbered=numbered
    )


def make_file(
    call: DropInCall,
    path: VaultPath,
    content: str,
    *,
    overwrite: bool = False,
    numbered: bool = False,
) -> str:
    """Make a file, or with `overwrite` replace it; `numbered`: `Name 1.md` for a taken name.
    Raises: DropInRefused."""
    from obsidian_mcp.core.operations.new_file import create_file

    vault = call.vault
    with vault.lock_changes():
        path, disk = vault.catalog.spell_path(path)
        entry = vault.entry_at(path) or vault.look_for(disk)
        if entry is not None and overwrite:
            before = vault.read_content(entry)
            vault.commit(
                "create_note",
                [Write(entry.disk, before.data, overwrite_text(before.data, content))],
            )
            return f"Overwrote: {entry.path}"
        if entry is not None:
            if not numbered:
                raise DropInRefused(
                    f'File "{entry.path}" already exists. Add overwrite to replace it.'
                )
            path, disk = _find_free_path(call, path)
        vault.catalog.check_creatable(path)
        create_file(vault, "create_note", path, disk, content.encode("utf-8", "surrogateescape"))
    return f"Created: {path}"


def parsed_path(path: str) -> VaultPath:
    """Return the normal form of a path of the vault. Raises: DropInRefused, PermissionDenied for a
    hidden one."""
    if path.startswith("/") or ".." in path.replace("\\", "/").split("/"):
        raise DropInRefused(f'Path "{path}" is outside the vault.')
    return parse(path)


def _new_path(call: DropInCall) -> str:
    """Return the path of the new file, with its extension. Raises: DropInRefused."""
    path, name = call.text("path"), call.text("name")
    if not path and not name:
        raise DropInRefused("Missing required parameter: name or path")
    check_name(name)
    if not name:
        target = path.rstrip("/")
    elif not path:
        target = f"{new_notes_folder(call)}{name}"
    else:
        target = f"{path.strip('/')}/{name}".removeprefix("/")
    return target if _EXTENSION.search(target.rpartition("/")[2]) else f"{target}.md"


def check_name(name: str, instead: str = "Use path for a full file path.") -> None:
    """Raises: DropInRefused for a path where a name is wanted."""
    if "/" in name:
        raise DropInRefused(f'name cannot contain "/". {instead}')


def new_notes_folder(call: DropInCall) -> str:
    """Return the folder that the settings name for new notes, with a slash behind it; "" for the
    root."""
    settings = call.vault.settings
    has_active = settings.new_file_location == "current" and os.environ.get("OBSIDIAN_MCP_ACTIVE")
    folder = call.vault.folders.folder_for_notes(
        settings, parent(call.active_file().path) if has_active else ""
    )
    return f"{folder}/" if folder else ""


def _content(call: DropInCall, path: VaultPath) -> str:
    if name := call.text("template"):
        from obsidian_mcp.core.operations.templates import Templates

        from .periodic import template_text

        text = template_text(call, name, basename(path))
        if os.environ.get("OBSIDIAN_MCP_TEMPLATER") == "1":
            return Templates(call.vault).run_templater(name, text, path).text
        return text
    return call.words.content


def _find_free_path(call: DropInCall, path: VaultPath) -> tuple[VaultPath, str]:
    suffix = _EXTENSION.search(path)
    stem, end = (path[: suffix.start()], suffix[0]) if suffix else (str(path), "")
    free = (VaultPath(f"{stem} {number}{end}") for number in count(1))
    return call.vault.catalog.spell_path(
        next(name for name in free if call.vault.entry_at(name) is None)
    )


def delete(call: DropInCall) -> str:
    entry = call.file()
    operation = removal(
        entry.disk, call.vault.settings.trash_option, permanent=call.has("permanent")
    )
    call.vault.commit("delete_note", [operation])
    return f"{'Deleted permanently' if operation.permanent else 'Moved to trash'}: {entry.path}"


def move(call: DropInCall) -> str:
    entry, to = call.file(), call.text("to")
    own_name = entry.path.rpartition("/")[2]
    inside = to.strip("/")
    last = inside.rpartition("/")[2]
    if to.endswith("/") or "." not in last or call.folder(inside) is not None:
        target = f"{inside}/{own_name}" if inside else own_name
    else:
        target = _with_extension(inside, entry.path)
    return f"Moved: {entry.path} -> {_relocate(call, entry.path, target)}"


def rename(call: DropInCall) -> str:
    entry, name = call.file(), call.text("name")
    check_name(name, "Use move to change the folder.")
    folder = entry.path.rpartition("/")[0]
    target = _with_extension(f"{folder}/{name}" if folder else name, entry.path)
    return f"Renamed: {entry.path} -> {_relocate(call, entry.path, target)}"


def _with_extension(target: str, source: VaultPath) -> str:
    """Return a new path with the extension of the old one, unless it has that or one of a file that
    the app opens."""
    suffix = extension(source)
    if not suffix or extension(target) == suffix or kind_of(target) not in ("other", "text"):
        return target
    return target + source[-len(suffix) :]


def _relocate(call: DropInCall, source: VaultPath, target: str) -> str:
    """Move a file with the links to it; return its new path. Raises: DropInRefused."""
    from obsidian_mcp.core.operations import bulk
    from obsidian_mcp.core.operations.move import relocate
    from obsidian_mcp.core.vault.planned_change import PlannedChange

    target = parsed_path(target)
    if target == source:
        return str(source)
    vault = call.vault

    def plan() -> PlannedChange:
        return relocate(
            vault,
            vault.catalog.entry(source),
            f"/{target}",
            update_links=True,
            keep_extension=False,
        )

    try:
        return str(bulk.make(vault, "move_note", plan).target)
    except NoteExists:
        raise DropInRefused("Destination file already exists!") from None


def property_remove(call: DropInCall) -> str:
    entry, name = call.note(), call.text("name")
    call.vault.edit(
        "set_properties", entry, lambda body: property_edits.remove_property(body, name)
    )
    return f"Removed: {name}"


def property_set(call: DropInCall) -> str:
    entry, name, written_value = call.note(), call.text("name"), call.text("value")
    value, kind = _convert(call, name, written_value, call.parse(entry).properties)

    def change(body: str) -> str:
        return property_edits.set_property(body, name, value)

    with call.vault.lock_changes():
        note = call.vault.edit("set_properties", entry, change, dry_run=True).operation
        operations: list[Operation] = [note] if note.before != note.after else []
        types = call.settings_change(TYPES, lambda text: _with_type(call, text, name, value, kind))
        with suppress(PermissionDenied):
            call.vault.policy.check_write(f"{SETTINGS_FOLDER}/{TYPES}")
            operations += types
        if operations:
            call.vault.commit("set_properties", operations)
    return f"Set {name}: {written_value}"


def _with_type(call: DropInCall, text: str, name: str, value: Any, kind: str) -> str:
    """Return the text of `types.json` with the type of a property, where the app would otherwise
    take it for another one."""
    from obsidian_mcp.core.text import json_text

    if (
        name.lower() in TYPES_FIXED
        or (call.vault.property_types.assigned_type(name) or infer_type(value)) == kind
    ):
        return text
    types_member = json_text.parse(text).root.member("types") if text.strip() else None
    written = (
        types_member.node.value
        if types_member is not None and isinstance(types_member.node.value, dict)
        else {}
    )
    key = next((key for key in written if key.lower() == name.lower()), name)
    return json_text.put(text, ["types", key], kind)


def _convert(
    call: DropInCall, name: str, written_value: str, values: Mapping[str, Any]
) -> tuple[Any, str]:
    """Return the value that a text means, of the named type, else the vault's type of the property
    where the text fits it, else text; and its type. A JSON array is a list. Raises:
    DropInRefused."""
    if written_value.startswith("[") and (items := read_json(written_value)) is not None:
        return items, infer_type(items)
    if kind := call.words.choice("type"):
        return value_of(written_value, kind), "multitext" if kind == "list" else kind
    kind = _known_type(call, name, values)
    if kind == "checkbox" and written_value.strip().lower() not in _CHECKED + _UNCHECKED:
        return written_value, "text"
    try:
        return value_of(
            written_value, "list" if kind in ("multitext", "tags", "aliases") else kind
        ), kind
    except DropInRefused:
        return written_value, "text"


def _known_type(call: DropInCall, name: str, values: Mapping[str, Any]) -> str:
    """Return the type of a property: assigned in `types.json`, else that of its value in the note.
    No index is opened."""
    if assigned := call.vault.property_types.assigned_type(name):
        return assigned
    key = parser.key_of(values, name)
    kind = infer_type(values[key]) if key is not None else "text"
    return "text" if kind == "unknown" else kind


def value_of(written_value: str, kind: str) -> Any:
    """Return a text as a value of a type. Raises: DropInRefused."""
    if kind == "list":
        return [item for part in written_value.split(",") if (item := part.strip())]
    if kind == "number":
        if not _NUMBER.match(written_value.strip()):
            raise DropInRefused(f"Invalid number: {written_value}")
        number = float(written_value)
        return int(number) if number.is_integer() else number
    if kind == "checkbox":
        return written_value.strip().lower() in _CHECKED
    if kind == "date" and calendar_day(written_value) is None:
        raise DropInRefused("Invalid date format. Use YYYY-MM-DD")
    if kind == "datetime" and not is_datetime(written_value):
        raise DropInRefused("Invalid datetime format. Use YYYY-MM-DDTHH:mm or YYYY-MM-DDTHH:mm:ss")
    return written_value


def compose(call: DropInCall) -> str:
    """Merge a note or take a part out of it, by the MCP tool."""
    from obsidian_mcp.tools.moves import compose_notes  # only for these commands

    action: Literal["merge", "extract"] = (
        "merge" if call.words.command == "note:merge" else "extract"
    )
    arguments: dict[str, Any] = {
        name: call.text(name) for name in ("part", "position", "leave") if call.text(name)
    }
    entry, into = call.note(), call.text("into")
    if action == "merge":
        into = (call.file_at(into) if into in call.vault.catalog else call.find_by_link(into)).path
    result: Any = compose_notes(call.app, action, entry.path, into, **arguments)
    return f"{'Merged' if action == 'merge' else 'Extracted'}: {result.path} -> {result.into}"
