"""One vault of the app through its official `obsidian` command (specs/obsidian-command.md).

`app_turns` makes the calls; here is what they are for.
"""

from __future__ import annotations

import re
from contextlib import suppress
from urllib.parse import quote

from obsidian_mcp import errors
from obsidian_mcp.core.files.obsidian import Plugin, Version
from obsidian_mcp.core.text import vault_path
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import (
    AppCommandFailed,
    AppError,
    NoteNotFound,
)

from . import obsidian_answer
from .app_turns import AppTurns, elsewhere_error
from .obsidian_answer import ProgramAnswer, ProgramRequest, is_same_path, json_optional, json_text

_SOURCE_END = re.compile(r"(?<=\.md), |(?<=\.canvas), |(?<=\.base), ")
_VERSION = re.compile(r"(\d\S*)(?: \(installer \S+\))?")
_VALUE = re.compile(r"^=> ?", re.MULTILINE)
"""Begins the value of JavaScript; lines that plugins log come first."""


class ObsidianCommand(AppTurns):
    """One vault of the running app, for threads: one call at a time reaches the app.

    Every method raises ObsidianNotRunning, VaultNotFound, OperationTimeout, PermissionDenied, or
    AppCommandFailed for an answer that it does not recognise, silence included. A value that the
    command would change on its way is refused, too (`obsidian_answer.can_carry`). Methods that take
    the path of a file also raise NoteNotFound and InvalidName.
    """

    # Notes

    def shows(self, path: str, data: bytes) -> bool:
        """Return whether the app shows exactly these bytes as the text of a note (CMD-06)."""
        target = vault_path.parse(path)
        with self._turn():
            request = ProgramRequest("read", {"path": target})
            answer = self._call(request)
            if answer.is_cold and not answer.matches_file(data):
                answer = self._call(request)
            if answer.matches_file(data):
                return True
            answer.reject_message(self._vault)
            if not answer.text or answer.is_refusal:
                raise self._failure(answer)
        return False

    def create(self, path: str, content: str = "", *, overwrite: bool = False) -> None:
        """Create a note whose text `can_carry`.

        Without `overwrite` an existing note is refused before the call: the command would write
        `name 1.md` instead. Where it does so nevertheless, because another program was faster or
        the app does not know the note yet, that file goes to the trash. Raises: NoteExists,
        InvalidName for a path that is no note's.
        """
        target = vault_path.parse(path)
        if not vault_path.is_note(target):
            raise errors.InvalidName(
                f"{path!r} is not the path of a note. Give its whole path with '.md'.", path=target
            )
        parameters = {"path": str(target)} | ({"content": content} if content else {})
        request = ProgramRequest("create", parameters, ("overwrite",) if overwrite else ())
        request.arguments(None)  # a text that cannot be carried is refused before the first call
        with self._turn():
            if not overwrite and self._exists(target):
                raise obsidian_answer.note_exists(target)
            made = self._make(request, "Created", "Overwrote")
            if is_same_path(made, target):
                return
            if not obsidian_answer.is_numbered_sibling(made, target):
                raise elsewhere_error(made, target)
            leftover: str | None = made  # our own call has just made it; to the trash with it
            with suppress(AppError):
                self._delete(vault_path.parse(made), permanent=False)
                leftover = None
        raise obsidian_answer.note_exists(target, leftover=leftover)

    def append(self, path: str, content: str, *, inline: bool = False) -> None:
        """Add text that `can_carry` at the end of a note, on a line of its own unless `inline`."""
        target = vault_path.parse(path)
        parameters = {"path": str(target), "content": _require(content, "content")}
        with self._turn():
            self._change(
                ProgramRequest("append", parameters, ("inline",) if inline else ()),
                target,
                "Appended to",
            )

    def move(self, path: str, to: str) -> None:
        """Move a file to the whole path `to`, whose folder exists; the app updates links as its
        settings say. Raises: NoteExists, InvalidName for a target without an extension."""
        source, target = vault_path.parse(path), vault_path.parse(to)
        if not vault_path.extension(target):  # the command would take it for a folder
            raise errors.InvalidName(
                f"{to!r} has no file extension. Give the whole new path, for example "
                f"'{target}.md'.",
                path=target,
            )
        with self._turn():
            self._make(ProgramRequest("move", {"path": source, "to": target}), "Moved")

    def delete(self, path: str, *, permanent: bool = False) -> None:
        """Move a file to the trash that the vault's settings name, or delete it for good."""
        target = vault_path.parse(path)
        with self._turn():
            self._delete(target, permanent=permanent)

    def open(self, path: str) -> VaultPath:
        """Show a file in the app and return its path."""
        target = vault_path.parse(path)
        with self._turn():
            self._change(ProgramRequest("open", {"path": target}), target, "Opened")
        return target

    # Questions

    def version(self) -> str:
        """Return the version of the app."""
        answer = self._answer(
            ProgramRequest("version", any_vault=True),
            lambda answer: _VERSION.fullmatch(answer.text) is not None,
        )
        return answer.text.partition(" ")[0]

    def search(self, query: str, folder: str | None = None) -> tuple[str, ...]:
        """Return the paths of the notes, below a folder if given, that match a query of the app, in
        the app's order."""
        parameters = {"query": _require(query, "query"), "format": "json"}
        if folder:
            parameters["path"] = folder
        found = self._json(ProgramRequest("search", parameters))
        if not isinstance(found, list) or not all(isinstance(path, str) for path in found):
            raise obsidian_answer.unexpected_error(found)
        return tuple(found)

    def backlinks(self, path: str) -> tuple[str, ...]:
        """Return the notes that link to a file."""
        return tuple(
            json_text(row, "file") for row in self._rows("backlinks", path=vault_path.parse(path))
        )

    def links(self, path: str) -> tuple[str, ...]:
        """Return the files that a note links to, without repetition."""
        lines = self._list("links", path=vault_path.parse(path))
        return tuple(line for line in lines if not line.endswith(" (unresolved)"))

    def list_unresolved_links(self) -> dict[str, tuple[str, ...]]:
        """Return the names that links lead to and no file has, with the notes that contain them."""
        rows = self._rows("unresolved", "verbose", "counts")
        return {json_text(row, "link"): _sources(row.get("sources")) for row in rows}

    def orphans(self) -> tuple[str, ...]:
        """Return the files that nothing links to, sorted."""
        return tuple(sorted(self._list("orphans")))

    def deadends(self) -> tuple[str, ...]:
        """Return the files that link to nothing, sorted."""
        return tuple(sorted(self._list("deadends")))

    # What only the app has

    def commands(self) -> tuple[str, ...]:
        """Return the ids of the commands that the app and its plugins offer, sorted."""
        return tuple(sorted(self._list("commands")))

    def run_command(self, command_id: str) -> str:
        """Run a command of the app or of a plugin and return the app's answer. Raises:
        AppCommandFailed, also for an id that does not exist."""
        identifier = _require(command_id, "command id")

        def is_done(answer: ProgramAnswer) -> bool:
            if re.match(r'(Error: )?Command ".*" not found', answer.text):
                raise AppCommandFailed(
                    f"Obsidian has no command {identifier!r}. List the commands to find its id; a "
                    "plugin's command is there only while the plugin is enabled.",
                    command=identifier,
                )
            return not answer.is_refusal and identifier in answer.text  # it says "Executed: <id>"

        return self._answer(ProgramRequest("command", {"id": identifier}), is_done).text

    def history(self, path: str) -> tuple[Version, ...]:
        """Return the versions of a file that the app keeps (File recovery), newest first."""
        versions: list[Version] = []
        for line in self._list("history", path=vault_path.parse(path)):
            match = re.match(r"\s*#?(\d+)[\s.:)]", line)
            versions.append(Version(int(match[1]) if match else len(versions) + 1, line.strip()))
        return tuple(versions)

    def history_read(self, path: str, version: int = 1) -> str:
        """Return an older version, 1 being the newest, for reading: an empty line at its begin and
        a line end at its end are not known."""
        target = vault_path.parse(path)
        if version < 1:
            raise errors.InvalidArguments(
                f"There is no version {version}: the newest is version 1.", argument="version"
            )

        def is_version(answer: ProgramAnswer) -> bool:
            is_message = (
                answer.is_refusal
                or obsidian_answer.NOTHING_FOUND.fullmatch(answer.text) is not None
            )
            return bool(answer.text) and not (is_message and len(answer.lines) == 1)

        return self._answer(
            ProgramRequest("history:read", {"path": target, "version": str(version)}), is_version
        ).text

    def plugins(self) -> tuple[Plugin, ...]:
        """Return the installed plugins, core and community."""
        installed = self._rows("plugins", "versions")
        enabled = {json_text(row, "id") for row in self._rows("plugins:enabled")}
        named = [(json_text(row, "id"), row) for row in installed]
        return tuple(
            Plugin(name, json_optional(row, "name"), json_optional(row, "version"), name in enabled)
            for name, row in named
        )

    def sync_status(self) -> str:
        """Return the state of Obsidian Sync in the app's words."""
        return "\n".join(self._list("sync:status"))

    def evaluate(self, code: str) -> str:
        """Run JavaScript in the app and return the printed value. Raises: AppCommandFailed with
        what the code threw."""
        sent = _require(code, "code")
        # without a backslash on the way there is nothing to expand
        if obsidian_answer.is_expanded(sent):
            sent = f'(0,eval)(decodeURIComponent("{quote(sent, safe="")}"))'
        request = ProgramRequest("eval", {"code": sent})
        answer = self._answer(request, lambda answer: _VALUE.search(answer.text) is not None)
        return _VALUE.split(answer.text, maxsplit=1)[1]

    def _exists(self, target: VaultPath) -> bool:
        try:
            answer = self._ask(ProgramRequest("file", {"path": target}))
        except NoteNotFound:
            return False
        if not is_same_path(answer.fields.get("path", ""), target):
            raise self._failure(answer)
        return True

    def _delete(self, target: VaultPath, *, permanent: bool) -> None:
        flags, verb = (
            (("permanent",), "Deleted permanently") if permanent else ((), "Moved to trash")
        )
        self._change(ProgramRequest("delete", {"path": target}, flags), target, verb)


def _sources(value: object) -> tuple[str, ...]:
    """Return the notes that the command joined with commas. A comma after an extension ends a
    name."""
    return tuple(_SOURCE_END.split(value)) if isinstance(value, str) and value else ()


def _require(value: str, argument: str) -> str:
    """Raises: InvalidArguments. The command takes an absent value for a request about the file that
    is open."""
    if not value.strip():
        raise errors.InvalidArguments(f"The {argument} is empty. Give a value.", argument=argument)
    return value
