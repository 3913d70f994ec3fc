"""Obsidian through its official `obsidian` command (specs/obsidian-command.md)."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from obsidian_mcp.core.files.obsidian import Plugin, Version
from obsidian_mcp.core.text import vault_path
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import AppCommandFailed, AppError, InvalidArguments, InvalidName, NoteNotFound

from .obsidian_answer import (
    NOTHING_FOUND,
    ProgramAnswer,
    ProgramRequest,
    is_expanded,
    is_numbered_sibling,
    json_optional,
    json_text,
    note_exists,
    same_path,
    unexpected_error,
)
from .obsidian_channel import Channel, ChannelTurn

_UNRESOLVED = " (unresolved)"
_SOURCE_END = re.compile(r"(?<=\.md), |(?<=\.canvas), |(?<=\.base), ")


class ObsidianCommand(Channel):
    """One vault of the running app, for threads: one call at a time reaches the app. Every method raises
    ObsidianNotRunning, VaultNotFound, OperationTimeout, PermissionDenied, or AppCommandFailed for an answer that it
    does not recognise or a value that does not arrive whole (`can_carry`); with the path of a file also NoteNotFound
    and InvalidName."""

    def check(self, seconds: float | None = None) -> None:
        """Check that this vault of the app answers within `seconds`. Raises as every method."""
        with self.turn(seconds):
            pass

    # Notes

    def shows(self, path: str, data: bytes) -> bool:
        """Return whether the app shows exactly these bytes as the text of a note (CMD-06)."""
        target = vault_path.parse(path)
        with self.turn() as turn:
            for _ in range(2):  # twice: the vault had to be opened first
                answer = turn.call(ProgramRequest("read", {"path": target}))
                if answer.holds(data):
                    return True
                if not answer.is_cold:
                    break
            turn.reject_message(answer)
            if not answer.text or answer.is_refusal:
                raise turn.failure(answer)
        return False

    def create(self, path: str, content: str = "", *, overwrite: bool = False) -> None:
        """Create a note whose text `can_carry`. Without `overwrite` an existing note is refused before the call, and a
        `name 1.md` that the command makes all the same goes to the trash. Raises: NoteExists, InvalidName."""
        target = vault_path.parse(path)
        if not vault_path.is_note(target):
            raise InvalidName(f"{path!r} is not the path of a note. Give its whole path with '.md'.", path=target)
        parameters = {"path": str(target)} | ({"content": content} if content else {})
        request = ProgramRequest("create", parameters, ("overwrite",) if overwrite else ())
        request.arguments(None)  # a text that cannot be carried is refused before the first call
        with self.turn() as turn:
            if not overwrite and _exists(turn, target):
                raise note_exists(target)
            made = _read_success(turn, turn.change(request), "Created", "Overwrote")
            if same_path(made, target):
                return
            if not is_numbered_sibling(made, target):
                raise _elsewhere(made, target)
            leftover: str | None = made  # our own call has just made it; to the trash with it
            with suppress(AppError):
                _delete(turn, vault_path.parse(made), permanent=False)
                leftover = None
        raise note_exists(target, leftover=leftover)

    def append(self, path: str, content: str, *, inline: bool = False) -> None:
        """Add text that `can_carry` at the end of a note, on a line of its own unless `inline`."""
        target = vault_path.parse(path)
        parameters = {"path": str(target), "content": _require(content, "content")}
        with self.turn() as turn:
            _change(turn, ProgramRequest("append", parameters, ("inline",) if inline else ()), target, "Appended to")

    def move(self, path: str, to: str) -> None:
        """Move a file to the whole path `to`, whose folder exists; the app updates links as its settings say. Raises:
        NoteExists, InvalidName for a target without an extension."""
        source, target = vault_path.parse(path), vault_path.parse(to)
        if not vault_path.extension(target):  # the command would take it for a folder
            raise InvalidName(
                f"{to!r} has no file extension. Give the whole new path, for example '{target}.md'.", path=target
            )
        with self.turn() as turn:
            _read_success(turn, turn.change(ProgramRequest("move", {"path": source, "to": target})), "Moved")

    def delete(self, path: str, *, permanent: bool = False) -> None:
        """Move a file to the trash that the vault's settings name, or delete it for good."""
        target = vault_path.parse(path)
        with self.turn() as turn:
            _delete(turn, target, permanent=permanent)

    def open(self, path: str) -> VaultPath:
        """Show a file in the app and return its path."""
        target = vault_path.parse(path)
        with self.turn() as turn:
            _change(turn, ProgramRequest("open", {"path": target}), target, "Opened")
        return target

    # Questions

    def version(self) -> str:
        """Return the version of the app."""
        with self.turn() as turn:
            answer = turn.ask(ProgramRequest("version", any_vault=True))
            match = re.fullmatch(r"(\d\S*)(?: \(installer \S+\))?", answer.text)
            if match is None:
                raise turn.failure(answer)
        return match[1]

    def search(self, query: str, folder: str | None = None) -> tuple[str, ...]:
        """Return the paths of the notes, below a folder if given, that match a query of the app, in the app's order."""
        parameters = {"query": _require(query, "query"), "format": "json"}
        if folder:
            parameters["path"] = folder
        found = self._json(ProgramRequest("search", parameters))
        if not isinstance(found, list) or not all(isinstance(path, str) for path in found):
            raise unexpected_error(found)
        return tuple(found)

    def backlinks(self, path: str) -> tuple[str, ...]:
        """Return the notes that link to a file."""
        rows = self._rows(ProgramRequest("backlinks", {"path": vault_path.parse(path), "format": "json"}))
        return tuple(json_text(row, "file") for row in rows)

    def links(self, path: str) -> tuple[str, ...]:
        """Return the files that a note links to, without repetition."""
        lines = self._list(ProgramRequest("links", {"path": vault_path.parse(path)}))
        return tuple(line for line in lines if not line.endswith(_UNRESOLVED))

    def unresolved(self) -> dict[str, tuple[str, ...]]:
        """Return the names that links lead to and no file has, with the notes that contain them."""
        rows = self._rows(ProgramRequest("unresolved", {"format": "json"}, ("verbose", "counts")))
        return {json_text(row, "link"): _sources(row.get("sources")) for row in rows}

    def orphans(self) -> tuple[str, ...]:
        """Return the files that nothing links to, sorted."""
        return tuple(sorted(self._list(ProgramRequest("orphans"))))

    def deadends(self) -> tuple[str, ...]:
        """Return the files that link to nothing, sorted."""
        return tuple(sorted(self._list(ProgramRequest("deadends"))))

    # What only the app has

    def commands(self) -> tuple[str, ...]:
        """Return the ids of the commands that the app and its plugins offer, sorted."""
        return tuple(sorted(self._list(ProgramRequest("commands"))))

    def run_command(self, command_id: str) -> str:
        """Run a command of the app or of a plugin and return the app's answer. Raises: AppCommandFailed, also for an id
        that does not exist."""
        identifier = _require(command_id, "command id")
        with self.turn() as turn:
            answer = turn.ask(ProgramRequest("command", {"id": identifier}))
            if re.match(r'(Error: )?Command ".*" not found', answer.text):
                raise AppCommandFailed(
                    f"Obsidian has no command {identifier!r}. List the commands to find its id; a plugin's command "
                    "is there only while the plugin is enabled.",
                    command=identifier,
                )
            if answer.is_refusal or identifier not in answer.text:  # it says "Executed: <id>"
                raise turn.failure(answer)
        return answer.text

    def history(self, path: str) -> tuple[Version, ...]:
        """Return the versions of a file that the app keeps (File recovery), newest first."""
        versions: list[Version] = []
        for line in self._list(ProgramRequest("history", {"path": vault_path.parse(path)})):
            match = re.match(r"\s*#?(\d+)[\s.:)]", line)
            versions.append(Version(int(match[1]) if match else len(versions) + 1, line.strip()))
        return tuple(versions)

    def history_read(self, path: str, version: int = 1) -> str:
        """Return an older version, 1 being the newest, for reading: an empty line at its begin and a line end at its
        end are not known."""
        target = vault_path.parse(path)
        if version < 1:
            raise InvalidArguments(f"There is no version {version}: the newest is version 1.", argument="version")
        with self.turn() as turn:
            answer = turn.ask(ProgramRequest("history:read", {"path": target, "version": str(version)}))
            if not answer.text or (
                len(answer.lines) == 1 and (answer.is_refusal or NOTHING_FOUND.fullmatch(answer.text))
            ):
                raise turn.failure(answer)
        return answer.text

    def plugins(self) -> tuple[Plugin, ...]:
        """Return the installed plugins, core and community."""
        installed = self._rows(ProgramRequest("plugins", {"format": "json"}, ("versions",)))
        enabled = {json_text(row, "id") for row in self._rows(ProgramRequest("plugins:enabled", {"format": "json"}))}
        return tuple(
            Plugin(
                json_text(row, "id"),
                json_optional(row, "name"),
                json_optional(row, "version"),
                json_text(row, "id") in enabled,
            )
            for row in installed
        )

    def sync_status(self) -> str:
        """Return the state of Obsidian Sync in the app's words."""
        return "\n".join(self._list(ProgramRequest("sync:status")))

    def evaluate(self, code: str) -> str:
        """Run JavaScript in the app and return the printed value. Raises: AppCommandFailed with what the code threw."""
        sent = _require(code, "code")
        if is_expanded(sent):  # without a backslash on the way there is nothing to expand
            sent = f'(0,eval)(decodeURIComponent("{quote(sent, safe="")}"))'
        with self.turn() as turn:
            answer = turn.ask(ProgramRequest("eval", {"code": sent}))
            value = re.search(r"(?m)^=> ?", answer.text)  # lines that plugins log come first
            if value is None:
                raise turn.failure(answer)
        return answer.text[value.end() :]

    # Kinds of requests

    def _list(self, request: ProgramRequest) -> list[str]:
        """The lines of a list, [] for a sentence like "No links found."."""
        with self.turn() as turn:
            answer = turn.ask(request)
            # A signal (-6, or 134 as a shell says it) or -1 ended the program: its output may be incomplete.
            is_crash = answer.status < 0 or answer.status > 127
            if not answer.text or is_crash or answer.is_refusal:
                raise turn.failure(answer)
        return [] if NOTHING_FOUND.fullmatch(answer.text) else answer.lines

    def _json(self, request: ProgramRequest) -> Any:
        """The list that a request for JSON is answered with."""
        with self.turn() as turn:
            answer = turn.ask(request)
            if NOTHING_FOUND.fullmatch(answer.text):  # although the request is for JSON
                return []
            try:
                return json.loads(answer.text)
            except ValueError as error:
                raise turn.failure(answer) from error

    def _rows(self, request: ProgramRequest) -> list[dict[str, object]]:
        """The same, of objects; [] for null."""
        rows = self._json(request)
        if rows is None:
            return []
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise unexpected_error(rows)
        return rows


# Answers


def _read_success(turn: ChannelTurn, answer: ProgramAnswer, *verbs: str) -> str:
    """What stands behind the verb in the success line that a change must have, such as `Created: a.md` (CMD-04)."""
    begins = tuple(f"{verb}: " for verb in verbs)
    for line in answer.lines:
        if line.startswith(begins):
            return line.partition(": ")[2]
    raise turn.failure(answer)


def _change(turn: ChannelTurn, request: ProgramRequest, target: VaultPath, verb: str) -> None:
    """Make a change to a file, whose success line must name that file."""
    path = _read_success(turn, turn.change(request), verb)
    if not same_path(path, target):
        raise _elsewhere(path, target)


def _exists(turn: ChannelTurn, target: VaultPath) -> bool:
    try:
        answer = turn.ask(ProgramRequest("file", {"path": target}))
    except NoteNotFound:
        return False
    if not same_path(answer.fields.get("path", ""), target):
        raise turn.failure(answer)
    return True


def _delete(turn: ChannelTurn, target: VaultPath, *, permanent: bool) -> None:
    flags, verb = (("permanent",), "Deleted permanently") if permanent else ((), "Moved to trash")
    _change(turn, ProgramRequest("delete", {"path": target}, flags), target, verb)


def _elsewhere(written: str, target: VaultPath) -> AppCommandFailed:
    return AppCommandFailed(
        f"Obsidian worked on {written!r} instead of {target!r}. Look at that file before trying again.",
        path=target,
        written=written,
    )


def _sources(value: object) -> tuple[str, ...]:
    """Return the notes that the command joined with commas. A comma after an extension ends a name."""
    return tuple(_SOURCE_END.split(value)) if isinstance(value, str) and value else ()


# Values


def _require(value: str, argument: str) -> str:
    """Raises: InvalidArguments. The command takes an absent value for a request about the file that is open."""
    if not value.strip():
        raise InvalidArguments(f"The {argument} is empty. Give a value.", argument=argument)
    return value
