"""Put this server into a client's configuration, and take it out again (specs/install.md, INST
rules)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from obsidian_mcp.errors import ClientConfigRefused, InvalidArguments

from . import entries, files, probe
from .clients import ERRORS_AS_RESULTS, McpClient
from .entries import Broken, ServerEntry
from .launcher import is_ours
from .system import System

EntryAction = Literal["added", "updated", "replaced", "unchanged", "removed", "absent"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")


@dataclass(frozen=True, slots=True)
class Configured:
    """An entry of this program in a client's file."""

    client: McpClient
    path: Path
    name: str
    entry: ServerEntry

    @property
    def command(self) -> list[str]:
        return command_of(self.entry)

    @property
    def environment(self) -> dict[str, str]:
        variables = self.entry.get(self.client.environment)
        return (
            {str(key): str(value) for key, value in variables.items()}
            if isinstance(variables, dict)
            else {}
        )

    def start(self, system: System) -> probe.ProbeAnswer | str:
        """Start it as the client will; return its answer, or how it failed, as the end of a
        sentence."""
        try:
            return probe.probe_server(
                self.command, {**system.environ, **self.environment}, system.home
            )
        except probe.NoAnswer as error:
            return str(error)


@dataclass(frozen=True, slots=True)
class ConfigChange(Configured):
    """A change made to a file, or planned by a dry run; the entry is as it is afterwards, or
    was before it was removed, and empty where there is none."""

    action: EntryAction
    before: str
    after: str
    backup: Path | None = None
    deleted: bool = False
    """Whether the whole file was removed because it contained nothing else."""


def install(
    client: McpClient,
    system: System,
    name: str,
    command_line: Sequence[str],
    *,
    replace: bool = False,
    dry_run: bool = False,
) -> ConfigChange:
    """Make `name` start `command_line` in the client; the same again changes nothing. Raises:
    ClientConfigRefused when the file is broken or, without `replace`, the name another program's;
    InvalidArguments for a bad name."""
    if not _NAME.fullmatch(name):
        raise InvalidArguments(
            f"{name!r} cannot be the name of a server. Use up to 32 letters, digits, '-' and '_': "
            "hosts put it before every tool's name."
        )
    content = files.read_config_file(client.file(system))
    text = content.text
    configured = _servers(client, content)
    existing = configured.get(name)
    foreign = existing is not None and not _is_ours(existing)
    if foreign and existing is not None and not replace:
        raise ClientConfigRefused(
            f"{client.title} already has a server {name!r}, and it is another program "
            f"({' '.join(command_of(existing)) or existing.get('url', 'not a command')}). Choose "
            "another name with --name, or give --replace to put this one in its place. The file "
            f"is '{content.path}'."
        )
    entry = client.entry(name, command_line[0], tuple(command_line[1:]))
    new_entry = entry if existing is not None and not foreign else {**entry, **client.first}
    try:
        after = entries.write(client, text, name, new_entry, afresh=foreign)
    except Broken as error:
        raise _refuse_change(content.path, error) from error
    final_entry = entries.servers(client, after)[name]
    if content.data is not None and after == text:
        return ConfigChange(
            client, content.path, name, final_entry, "unchanged", before=text, after=after
        )
    action: EntryAction = "added" if existing is None else "replaced" if foreign else "updated"
    backup = None if dry_run else files.replace_config_file(content, after)
    return ConfigChange(
        client, content.path, name, final_entry, action, before=text, after=after, backup=backup
    )


def uninstall(
    client: McpClient, system: System, name: str, *, dry_run: bool = False
) -> ConfigChange:
    """Take the server out again; where nothing else has changed since, the file is what it was
    before. Raises: ClientConfigRefused when the file is broken or the name another program's."""
    paths = (server.path for server in list_configured(client, system) if server.name == name)
    content = files.read_config_file(next(paths, client.file(system)))
    text = content.text
    existing = _servers(client, content).get(name)
    if existing is None:
        return ConfigChange(client, content.path, name, {}, "absent", before=text, after=text)
    if not _is_ours(existing):
        raise ClientConfigRefused(
            f"The server {name!r} of {client.title} is another program "
            f"({' '.join(command_of(existing))}), so it was left as it is. Name ours with --name; "
            f"the file is '{content.path}'."
        )
    before = _text_before(client, text, name, existing, files.backups(content.path))
    try:
        after = entries.erase(client, text, name) if before is None else before
    except Broken as error:
        raise _refuse_change(content.path, error) from error
    if before is None and entries.write(client, "", name, existing) == text:
        if not dry_run:
            files.delete_config_file(content)
        return ConfigChange(
            client, content.path, name, existing, "removed", before=text, after="", deleted=True
        )
    backup = None if dry_run else files.replace_config_file(content, after)
    return ConfigChange(
        client, content.path, name, existing, "removed", before=text, after=after, backup=backup
    )


def list_configured(client: McpClient, system: System) -> list[Configured]:
    """Return this program's entries in the client's files. Raises: ClientConfigRefused when a file
    is broken."""
    return [
        Configured(client, path, name, entry)
        for path in dict.fromkeys(client.files(system))
        for name, entry in _servers(client, files.read_config_file(path)).items()
        if _is_ours(entry)
    ]


def render_block(name: str, command_line: Sequence[str]) -> str:
    """Return an entry in the form that most clients read, for one that `install` does not know."""
    command, *arguments = command_line
    entry = {"command": command, "args": arguments, "env": dict(ERRORS_AS_RESULTS)}
    return json.dumps({"mcpServers": {name: entry}}, ensure_ascii=False, indent=2)


def command_of(entry: ServerEntry) -> list[str]:
    """Return the command line of an entry; [] for an entry without a command (a URL)."""
    command: Any = entry.get("command", entry.get("cmd"))
    arguments = entry.get("args")
    if isinstance(command, list):
        command, arguments = next(iter(command), None), command[1:]
    if not isinstance(command, str) or not command:
        return []
    return [command, *map(str, arguments if isinstance(arguments, list) else [])]


def _is_ours(entry: ServerEntry) -> bool:
    line = command_of(entry)
    return bool(line) and is_ours(line[0], line[1:])


def _servers(client: McpClient, content: files.ConfigFile) -> dict[str, Any]:
    try:
        return entries.servers(client, content.text)
    except Broken as error:
        raise _refuse_change(content.path, error) from error


def _text_before(
    client: McpClient, text: str, name: str, entry: ServerEntry, backups: Sequence[Path]
) -> str | None:
    """Return the backup that installing this entry would turn into the present text; None where
    there is none."""
    for path in backups:
        try:
            backup = files.read_config_file(path).text
            if (
                name not in entries.servers(client, backup)
                and entries.write(client, backup, name, entry) == text
            ):
                return backup
        except (Broken, ClientConfigRefused):  # a backup of something else
            continue
    return None


def _refuse_change(path: Path, error: Broken) -> ClientConfigRefused:
    return ClientConfigRefused(
        f"The file '{path}' {error}. It was left as it is; mend it and try again."
    )
