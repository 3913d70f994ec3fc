"""One command on one vault: which vault and which file its words mean (HEADLESS-04, HEADLESS-05),
and how answers are printed: lines, JSON and trees, in the app's order (HEADLESS-07). Rows of cells:
`cli.cells`."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from obsidian_mcp import TYPE_CHECKING, config
from obsidian_mcp.computer import registered_vaults, registries
from obsidian_mcp.core.files.settings import (
    SETTINGS_FOLDER,
    RegisteredVault,
    last_open_files,
    read_json,
)
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.collation import collation_key
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    VaultPath,
    extension,
    is_note,
    name_key,
)

from .words import DropInRefused, Words

if TYPE_CHECKING:
    from obsidian_mcp.app import App
    from obsidian_mcp.cli.options import Options
    from obsidian_mcp.core.files.file_entry import FileEntry
    from obsidian_mcp.core.note.parser import Note
    from obsidian_mcp.core.vault.operation import Operation
    from obsidian_mcp.core.vault.vault import Vault

NO_NOTE = "File is not a markdown file."
PATHS = frozenset({"file", "folder", "into", "path", "to"})
"""Keys whose values are names or paths of files."""
WORKSPACE = "workspace"
"""Value of OBSIDIAN_MCP_ACTIVE that means the tab that was open last in the app."""
WORKSPACE_FILE = "workspace.json"
"""The app's layout: which tabs are open, and which files were."""


def locate(name: str | None, options: Options, settings: config.Config) -> Path | None:
    """Return the folder of the vault that is meant; None where none is, or none of that name is
    known."""
    registered = next(registries(settings.app_folders), ())
    if name is not None:
        return _find_vault(name, registered, settings)
    if options.vaults:
        return settings.vaults[0]
    here = Path.cwd()
    around = [here, *here.parents]
    inside = [
        Path(vault.path) for vault in registered if Path(os.path.realpath(vault.path)) in around
    ]
    if inside:
        return max(inside, key=lambda path: len(path.parts))
    nearest = next((folder for folder in around if (folder / SETTINGS_FOLDER).is_dir()), None)
    if nearest is not None:
        return nearest
    return (
        settings.vaults[0]
        if settings.vaults
        else next(iter(registered_vaults(settings.app_folders)), None)
    )


def _find_vault(
    name: str, registered: Iterable[RegisteredVault], settings: config.Config
) -> Path | None:
    """Return the vault of a folder's name or a registered id."""
    folders = [(vault.id, Path(vault.path)) for vault in registered] + [
        ("", path.absolute()) for path in settings.vaults
    ]
    there = [(id_, path) for id_, path in folders if path.is_dir()]
    exact = [path for id_, path in there if name in (id_, path.name)]
    similar = [path for _, path in there if name_key(path.name) == name_key(name)]
    return next(iter(exact + similar), None) if name else None


class DropInCall:
    """A command with its words and its vault, which is opened when it is first needed."""

    def __init__(self, settings: config.Config, root: Path, words: Words, *, writes: bool) -> None:
        """`root`: the folder of the vault."""
        self.settings = settings
        self.root = root
        self.words = words
        self.has = words.has
        self.writes = writes
        """Whether the command changes something: then the tab that is open in the app is no target
        (HEADLESS-05)."""

    @cached_property
    def app(self) -> App:
        from obsidian_mcp import compose  # 100 ms, which help and errors do without

        return compose.build(self.settings.replace(named_vaults=(str(self.root),)))

    def close(self) -> None:
        if "app" in vars(self):
            self.app.vaults.close()

    @cached_property
    def vault(self) -> Vault:
        return self.app.vaults.get()

    @cached_property
    def unlisted(self) -> Vault:
        """The vault, perhaps without its catalog: enough to find and read one file, in half the
        time."""
        return self.app.vaults.get(listed=False)

    def text(self, name: str) -> str:
        """Return the value of a key; "" where it was not given. Paths are as the catalog has them,
        without a look at it where they are in normal form."""
        value = self.words.text(name)
        if name not in PATHS or unicodedata.is_normalized("NFC", value):
            return value
        last = value.rpartition("/")[2]
        return self.unlisted.catalog_of(last, last + NOTE_EXTENSION).as_listed(value)

    # --- files

    @property
    def names_file(self) -> bool:
        return bool(self.text("path") or self.text("file"))

    def file(self) -> FileEntry:
        """Return the file that `path` or `file` means, else the active one. Raises:
        DropInRefused."""
        if path := self.text("path"):
            return self.file_at(path)
        if name := self.text("file"):
            return self.find_by_link(name)
        return self.active_file()

    def find_kind(self, suffix: str, kind: str, status: int = 0) -> FileEntry:
        """Return the file of this kind that is named, though a note may have the same name, else
        the active one. Raises: DropInRefused, with this exit status for a file that is not
        there."""
        if not self.names_file:
            if extension((active := self.active_file()).path) != suffix:
                raise DropInRefused(f"Active file is not a {kind} file: {active.path}")
            return active
        path, name = self.text("path"), self.text("file")
        with suppress(DropInRefused):
            entry = (
                self.file_at(path)
                if path
                else self.find_by_link(name if name.endswith(suffix) else f"{name}{suffix}")
            )
            if entry.path.lower().endswith(suffix):
                return entry
        raise DropInRefused(f"{kind.capitalize()} file not found: {path or name}", status)

    def note(self) -> FileEntry:
        """As `file`, for notes only."""
        entry = self.file()
        if not is_note(entry.path):
            raise DropInRefused(NO_NOTE)
        return entry

    def file_at(self, path: str) -> FileEntry:
        """Return the file at exactly this path. Raises: DropInRefused."""
        entry = self.unlisted.catalog_of(path.rpartition("/")[2]).get(path)
        if entry is None:
            if self.folder(path) is not None:
                raise DropInRefused(f'"{path}" is a folder, not a file.')
            raise DropInRefused(f'File "{path}" not found.')
        return entry

    def find_by_link(self, name: str) -> FileEntry:
        """Return the file that a link of this name in the root leads to. Raises: DropInRefused."""
        from obsidian_mcp.core.links.resolve import clean, resolve

        last = clean(name).rpartition("/")[2]
        catalog = self.unlisted.catalog_of(last, last + NOTE_EXTENSION)
        target = resolve(catalog, "", name) if clean(name) else None
        if target is None:
            raise DropInRefused(f'File "{name}" not found.')
        if "/" not in name:
            namesakes = [
                path for path in catalog.find_by_name(target.rpartition("/")[2]) if path != target
            ]
            if namesakes:
                print(
                    f"{name} also means {', '.join(namesakes)}; {target} was taken.",
                    file=sys.stderr,
                )
        return catalog.entry(target)

    def active_file(self) -> FileEntry:
        """Return the file that counts as open. Raises: DropInRefused."""
        named = os.environ.get("OBSIDIAN_MCP_ACTIVE", "")
        if named == WORKSPACE and not self.writes:
            named = _active_in(self.config(WORKSPACE_FILE)) or next(iter(self.recent_files()), "")
        if not named or named == WORKSPACE:
            raise DropInRefused("No active file. Use file=<name> or path=<path> to specify a file.")
        return self.file_at(named)

    def folder(self, path: str) -> str | None:
        """Return the disk spelling of a folder; None where there is none at exactly this path."""
        if path in ("", "/"):
            return ""
        parts = path.split("/")
        if any(not part or part.startswith(".") for part in parts) or "\\" in path:
            return None
        spelled, disk = self.vault.folders.spell_folder(VaultPath(path))
        return (
            disk if spelled == path and self.vault.folders.folders_below(disk) is not None else None
        )

    def body(self, entry: FileEntry) -> str:
        """Return the text of a file behind its byte order mark."""
        return self.unlisted.read_text(entry).text.body

    @property
    def appends(self) -> bool:
        """Whether the content of the command goes to the end of a note."""
        return self.words.command.endswith("append")

    def content_inserter(self) -> Callable[[str], str]:
        """Return what puts the content of the command into a note."""
        from obsidian_mcp.core.note.edits import add_text

        return partial(
            add_text, content=self.words.content, at_end=self.appends, inline=self.has("inline")
        )

    def parse(self, entry: FileEntry) -> Note:
        from obsidian_mcp.core.note.parser import parse

        return parse(self.body(entry))

    def files_below(self, folder: str) -> list[FileEntry]:
        """Return every file below a folder, which is spelled exactly."""
        start = f"{folder.strip('/')}/" if folder.strip("/") else ""
        return [
            entry for entry in self.vault.entries() if normal_form(entry.path).startswith(start)
        ]

    # --- the app's own files

    def config(self, name: str) -> dict[str, Any]:
        """Return the object in a JSON file of the app's settings folder; empty where there is none
        that can be read."""
        content = read_json(self.vault.files.config(name))
        return content if isinstance(content, dict) else {}

    def change_settings(self, tool: str, name: str, change: Callable[[str], str]) -> None:
        """Change the text of a settings file, as one change in the journal. Raises:
        DropInRefused."""
        with self.vault.lock_changes():
            if operations := self.settings_change(name, change):
                self.vault.commit(tool, operations)

    def settings_change(self, name: str, change: Callable[[str], str]) -> list[Operation]:
        """Return the operation that changes the text of a settings file; none where nothing
        changes. Raises: DropInRefused."""
        from obsidian_mcp.core.text.json_text import Unreadable
        from obsidian_mcp.core.text.text import Text
        from obsidian_mcp.core.vault.operation import Create, Write

        data, disk = self.vault.files.config(name), f"{SETTINGS_FOLDER}/{name}"
        old = Text.decode(data or b"")
        try:
            new = change(old.body)
        except (Unreadable, ValueError):
            raise DropInRefused(f'"{disk}" is not readable as JSON.') from None
        if new == old.body:
            return []
        if data is None:
            return [Create(disk, new.rstrip("\n").encode())]
        return [Write(disk, data, Text(new, old.bom).encode())]

    # --- answers

    def join_lines(self, lines: Sequence[str], empty: str = "") -> str:
        """Return one text a line, the sentence for none, or with `total` the number."""
        return str(len(lines)) if self.has("total") else "\n".join(lines) or empty

    def format_rows(self, rows: Sequence[Mapping[str, object]], empty: str) -> str:
        """Return, as `join_lines` does, rows of cells in the format that is asked for, else with
        tabs between the cells."""
        if self.has("total"):
            return str(len(rows))
        if not rows:
            return empty
        form = self.words.format
        if form == "json":
            return as_json(rows)
        from obsidian_mcp.cli.cells import separate

        return separate((row.values() for row in rows), form)

    def recent_files(self) -> list[str]:
        paths = last_open_files(self.vault.files.config(WORKSPACE_FILE))
        return [path for path in paths if path in self.vault.catalog]


def shown_file(leaf: Mapping[str, Any]) -> str:
    """Return the path of the file that a leaf of `workspace.json` shows; "" without one."""
    match leaf:
        case {"state": {"state": {"file": str(file)}}}:
            return file
    return ""


def _active_in(layout: Mapping[str, Any]) -> str:
    """Return the path of the active tab in `workspace.json`; "" without one."""
    active = layout.get("active")
    pending: list[Any] = [layout]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if active and node.get("id") == active:
                return shown_file(node)
            pending += node.values()
        elif isinstance(node, list):
            pending += node
    return ""


def order_key(text: str) -> tuple[object, str]:
    """Return the key by which the app sorts a list."""
    return collation_key(unicodedata.normalize("NFKC", text)), text


def sort_texts(texts: Iterable[str]) -> list[str]:
    return sorted(texts, key=order_key)


def write_pairs(values: Mapping[str, object]) -> str:
    """Return lines of `key TAB value`."""
    return "\n".join(f"{key}\t{value}" for key, value in values.items())


def as_json(value: Any) -> str:
    """Return JSON as `JSON.stringify` writes it with an indent of two spaces."""
    import json

    return json.dumps(value, ensure_ascii=False, indent=2)


def draw_tree(headings: list[tuple[int, str]]) -> str:
    """Return headings of (level, text) as a tree; each stands below the nearest one before it of a
    smaller level."""
    depths: list[int] = []
    open_levels: list[int] = []
    for level, _ in headings:
        while open_levels and open_levels[-1] >= level:
            open_levels.pop()
        depths.append(len(open_levels))
        open_levels.append(level)
    lines: list[str] = []
    siblings: set[int] = set()
    """The depths at which a sibling of the current heading, or of one that it stands below,
    follows."""
    for depth, (_, text) in zip(reversed(depths), reversed(headings), strict=True):
        siblings = {sibling_depth for sibling_depth in siblings if sibling_depth <= depth}
        prefix = "".join("│   " if above in siblings else "    " for above in range(depth))
        lines.append(f"{prefix}{'├── ' if depth in siblings else '└── '}{text}")
        siblings.add(depth)
    return "\n".join(reversed(lines))
