"""Commands that change notes: each is one change in the journal, which `obsidian-mcp undo` takes back (HEADLESS-18)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from obsidian_mcp.core.files import names
from obsidian_mcp.core.frontmatter import edits as property_edits
from obsidian_mcp.core.frontmatter import parser
from obsidian_mcp.core.frontmatter.property_types import infer_type
from obsidian_mcp.core.note.edits import adapted
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.vault_path import VaultPath, extension, parse
from obsidian_mcp.core.vault.changes import Create, Remove, Write
from obsidian_mcp.errors import NoteExists, PermissionDenied

from .call import Answer, Call
from .words import Refused

_CHECKED, _UNCHECKED = ("true", "1", "yes"), ("false", "0", "no")
TAKEN = "Destination file already exists!"
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}\Z")
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")
_DATETIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?\Z")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\Z")


def appended(body: str, content: str, *, inline: bool) -> str:
    """A note with text at its end, on a line of its own unless `inline`."""
    newline = Text(body).newline
    between = "" if inline or not body or body.endswith("\n") else newline
    return f"{body}{between}{adapted(content, newline)}"


def prepended(body: str, content: str, *, inline: bool) -> str:
    """A note with text behind its frontmatter, and a newline behind that unless `inline`."""
    newline = Text(body).newline
    at = parser.text_start(body)
    before = body[:at]
    if before and not before.endswith("\n"):
        before += newline
    return f"{before}{adapted(content, newline)}{'' if inline else newline}{body[at:]}"


def append(call: Call) -> str:
    entry, content, inline = call.note(), call.words.content, call.has("inline")
    call.vault.edit("edit_note", entry, lambda body: appended(body, content, inline=inline))
    return f"Appended to: {entry.path}"


def prepend(call: Call) -> str:
    entry, content, inline = call.note(), call.words.content, call.has("inline")
    call.vault.edit("edit_note", entry, lambda body: prepended(body, content, inline=inline))
    return f"Prepended to: {entry.path}"


def create(call: Call) -> str:
    wanted = _new_path(call)
    try:
        path = parse(wanted)
    except PermissionDenied:
        raise Refused(f'Path "{wanted}" is outside the vault.') from None
    vault = call.vault
    content = _content(call, path)
    with vault.changing():
        path, disk = names.spelled(vault.catalog, path)
        entry = vault.at(path) or vault.look_for(disk)
        if entry is not None and call.has("overwrite"):
            before = vault.read(entry)
            old = Text.decode(before.data)
            data = Text(adapted(content, old.newline), old.bom).encode()
            vault.commit("create_note", [Write(entry.disk, before.data, data)])
            return f"Overwrote: {entry.path}"
        if entry is not None:
            if os.environ.get("OBSIDIAN_MCP_NUMBERED") != "1":
                raise Refused(f'File "{entry.path}" already exists. Add overwrite to replace it.')
            path, disk = _numbered(call, path)
        _check_name(path)
        vault.commit("create_note", [Create(disk, content.encode("utf-8", "surrogateescape"))])
    return f"Created: {path}"


def _check_name(path: VaultPath) -> None:
    from obsidian_mcp.core.text.vault_path import check_creatable

    check_creatable(path)


def _new_path(call: Call) -> str:
    """The path of the new file, with its extension. Raises: Refused."""
    path, name = call.text("path"), call.text("name")
    if not path and not name:
        raise Refused("Missing required parameter: name or path")
    if "/" in name:
        raise Refused('name cannot contain "/". Use path for a full file path.')
    if name and path:
        wanted = f"{path.rstrip('/')}/{name}" if path != "/" else name
    elif name:
        settings = call.vault.settings
        folder = settings.new_file_folder.strip("/") if settings.new_file_location == "folder" else ""
        wanted = f"{folder}/{name}" if folder else name
    else:
        wanted = path.rstrip("/")
    return wanted if _EXTENSION.search(wanted.rpartition("/")[2]) else f"{wanted}.md"


def _content(call: Call, path: VaultPath) -> str:
    if name := call.text("template"):
        from obsidian_mcp.core.text.vault_path import basename
        from obsidian_mcp.core.vault.templates import Templates

        from .periodic import template_text

        text = template_text(call, name, basename(path))
        if os.environ.get("OBSIDIAN_MCP_TEMPLATER") == "1":
            return Templates(call.vault).run(name, text, path).text
        return text
    return call.words.content


def _numbered(call: Call, path: VaultPath) -> tuple[VaultPath, str]:
    """The first free path with a number behind the name."""
    suffix = _EXTENSION.search(path)
    stem, end = (path[: suffix.start()], suffix[0]) if suffix else (str(path), "")
    number = 1
    while call.vault.at(VaultPath(f"{stem} {number}{end}")) is not None:
        number += 1
    return names.spelled(call.vault.catalog, VaultPath(f"{stem} {number}{end}"))


def delete(call: Call) -> str:
    entry = call.file()
    option = call.vault.settings.trash_option
    is_gone = call.has("permanent") or option == "none"
    call.vault.commit("delete_note", [Remove(entry.disk, permanent=is_gone, system=option == "system")])
    return f"{'Deleted permanently' if is_gone else 'Moved to trash'}: {entry.path}"


def move(call: Call) -> str:
    entry, to = call.file(), call.text("to")
    own_name = entry.path.rpartition("/")[2]
    inside = to.strip("/")
    last = inside.rpartition("/")[2]
    if to.endswith("/") or "." not in last or call.folder(inside) is not None:
        target = f"{inside}/{own_name}" if inside else own_name
    else:
        target = inside
    return f"Moved: {entry.path} -> {_relocated(call, entry.path, target)}"


def rename(call: Call) -> str:
    entry, name = call.file(), call.text("name")
    if "/" in name:
        raise Refused('name cannot contain "/". Use move to change the folder.')
    suffix = extension(entry.path)
    if extension(name) != suffix:
        name += entry.path[len(entry.path) - len(suffix) :] if suffix else ""
    folder = entry.path.rpartition("/")[0]
    target = f"{folder}/{name}" if folder else name
    return f"Renamed: {entry.path} -> {_relocated(call, entry.path, target)}"


def _relocated(call: Call, source: VaultPath, target: str) -> str:
    """Move a file with the links to it; return its new path. Raises: Refused."""
    from obsidian_mcp.core.vault.move import Relocation, relocate

    if target == source:
        return str(source)
    vault = call.vault

    def plan() -> Relocation:
        return relocate(vault, vault.catalog[source], f"/{target}", update_links=True)

    try:
        return str(vault.make("move_note", plan).target)
    except NoteExists:
        raise Refused(TAKEN) from None


def property_remove(call: Call) -> str:
    entry, name = call.note(), call.text("name")
    call.vault.edit(
        "set_properties", entry, lambda body: property_edits.remove_property(body, name, Text(body).newline)
    )
    return f"Removed: {name}"


def property_set(call: Call) -> str:
    entry, name, given = call.note(), call.text("name"), call.text("value")
    value = _typed(call, name, given, call.parsed(entry).properties)
    call.vault.edit(
        "set_properties", entry, lambda body: property_edits.set_property(body, name, value, Text(body).newline)
    )
    return f"Set {name}: {given}"


def _typed(call: Call, name: str, given: str, values: Mapping[str, Any]) -> Any:
    """The value that a text means. Raises: Refused for one that does not fit the type that is named.

    Without a named type it is that of types.json, else that of the value which the note has.
    """
    if given.startswith("["):
        try:
            items = json.loads(given)
        except ValueError:
            items = None
        if isinstance(items, list):
            return items
    if kind := call.text("type"):
        return value_of(given, kind)
    assigned = call.vault.property_types.of(name)
    key = parser.key_of(values, name)
    kind = assigned or (infer_type(values[key]) if key is not None else "text")
    if kind == "checkbox" and given.strip().lower() not in _CHECKED + _UNCHECKED:
        return given
    try:
        return value_of(given, "list" if kind in ("multitext", "tags", "aliases") else kind)
    except Refused:
        return given


def value_of(given: str, kind: str) -> Any:
    """A text as a value of a type. Raises: Refused."""
    if kind == "list":
        return [item for part in given.split(",") if (item := part.strip())]
    if kind == "number":
        if not _NUMBER.match(given.strip()):
            raise Refused(f"Invalid number: {given}")
        number = float(given)
        return int(number) if number.is_integer() else number
    if kind == "checkbox":
        return given.strip().lower() in _CHECKED
    if kind == "date" and not _DATE.match(given):
        raise Refused("Invalid date format. Use YYYY-MM-DD")
    if kind == "datetime" and not _DATETIME.match(given):
        raise Refused("Invalid datetime format. Use YYYY-MM-DDTHH:mm or YYYY-MM-DDTHH:mm:ss")
    return given


ANSWERS: dict[str, Answer] = {
    "append": append,
    "create": create,
    "delete": delete,
    "move": move,
    "prepend": prepend,
    "property:remove": property_remove,
    "property:set": property_set,
    "rename": rename,
}
