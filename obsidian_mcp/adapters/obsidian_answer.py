"""What goes to the `obsidian` command and what it prints, as pure text (specs/obsidian-command.md,
CMD rules). Status and output say little, so what is not recognised as the whole answer to the
request is a failure."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from obsidian_mcp import errors
from obsidian_mcp.core.calendar.iso import DAY
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.errors import AppCommandFailed, AppError, NoteExists, NoteNotFound

CARRY_BYTES = 3 * 1024
"""Longest value that is sent, measured as the JSON string in which it travels: past about 4 KB the
app's main process crashes on Windows, and past about 8 KB characters are lost on macOS."""

NOTHING_FOUND = re.compile(r"No [a-z][a-z -]* found\.")
"""An empty list, in any format."""
DOWN = "The CLI is unable to find Obsidian"
NO_ACCESS = re.compile(r"EACCES|EPERM|EROFS|(?i:operation not permitted|permission denied)")

OUTCOME_UNKNOWN = "unknown"
"""`reason` of a failure after which the command may have been carried out, or may yet be."""

REFUSED = "refused"
"""`reason` of a failure by which the app says that it did not do it."""
CANNOT_CARRY = "cannot_carry"
"""`reason` of a failure before anything was sent: the command would change the value."""

_NOISE = (
    rb"(?:" + DAY.encode() + rb" \d\d:\d\d:\d\d Loading (?:updated|main) app package [^\n]*"
    rb"|Your Obsidian installer is out of date\.[^\n]*)(?:\n|\Z)"
)
_SKIPPED = re.compile(_NOISE + rb"|\r?\n")
_LEAD = re.compile(rb"(?:\r?\n(?=" + _NOISE + rb"))?(?:" + _NOISE + rb")*(?:\r?\n)?")
"""Noise and one blank line before a text."""
_CHARACTERS_SHOWN = 200
"""Of an answer of the app, in an error."""
_SKIPS = 16
"""Leading lines that may be noise; more are a note's own."""


def is_expanded(text: str) -> bool:
    """Return whether the command would turn a part of `text` into a line break or a tab; it has no
    escape for that."""
    return re.search(r"\\[ntr]", text) is not None


def can_carry(text: str) -> bool:
    """Return whether `text` survives as a value of the command (CMD-05). Where not, change the file
    itself."""
    if "\0" in text or is_expanded(text):
        return False
    try:
        return len(json.dumps(text, ensure_ascii=False).encode()) <= CARRY_BYTES
    except UnicodeEncodeError:  # bytes that are not UTF-8, kept as lone surrogates
        return False


@dataclass(frozen=True, slots=True)
class ProgramRequest:
    """One call of the command: its name, `key=value` parameters and flags."""

    command: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    any_vault: bool = False
    """The answer is the same for every vault, so none is named."""

    def arguments(self, vault: str | None) -> list[str]:
        """Return the argument list.

        Every value stands behind its key, so none is read as a flag or as another parameter.
        Raises: AppCommandFailed with `reason="cannot_carry"` for a value that would not arrive as
        it is.
        """
        for key, value in self.parameters.items():
            if not can_carry(value):
                raise AppCommandFailed(
                    f"The obsidian command cannot carry this {key}: it expands \\n, \\t and \\r in "
                    f"values, and it loses values of more than {CARRY_BYTES} bytes. Change the "
                    "file itself instead.",
                    reason=CANNOT_CARRY,
                    parameter=key,
                )
        head = [] if vault is None or self.any_vault else [f"vault={vault}"]
        return [
            *head,
            self.command,
            *(f"{key}={value}" for key, value in self.parameters.items()),
            *self.flags,
        ]


@dataclass(frozen=True)
class ProgramAnswer:
    """What the program printed for a request that reached the app."""

    request: ProgramRequest
    raw: bytes
    """stdout as printed."""
    status: int
    """Exit status; says little (CMD-04)."""

    @cached_property
    def text(self) -> str:
        """stdout without leading noise, one leading blank line and the last line end; the rest is
        unchanged."""
        return (
            _LEAD.sub(b"", self.raw, count=1)
            .decode("utf-8", "replace")
            .removesuffix("\n")
            .removesuffix("\r")
        )

    @property
    def lines(self) -> list[str]:
        """The lines of `text`."""
        return self.text.replace("\r\n", "\n").split("\n") if self.text else []

    @property
    def fields(self) -> dict[str, str]:
        """The `key<TAB>value` lines of `text`."""
        return {
            key: value for key, tab, value in (line.partition("\t") for line in self.lines) if tab
        }

    @property
    def is_refusal(self) -> bool:
        """Whether the first line says `Error: …`, `TypeError: …` or the like."""
        return re.match(r"(?:[A-Z][A-Za-z]*)?Error: ", self.text) is not None

    @property
    def is_cold(self) -> bool:
        """Whether the vault was not open yet and so did not know the command (CMD-08)."""
        return len(self.lines) == 1 and self.text.startswith(
            f'Error: Command "{self.request.command}" not found.'
        )

    def matches_file(self, data: bytes) -> bool:
        """Return whether stdout is a file with these bytes, behind noise and blank lines and before
        a line end (CMD-06)."""
        ends = (data, data + b"\n", data + b"\r\n")
        return bool(self.raw) and any(self.raw[cut:] in ends for cut in _cuts(self.raw))

    def reject_message(self, vault: str | None) -> None:
        """Raise the error for an answer that is nothing but a message of the app, which was called
        for a vault."""
        text = self.text.strip()
        if "\n" in text:
            return
        if text.startswith(DOWN):
            raise errors.ObsidianNotRunning
        if text.startswith("Command line interface is not enabled"):
            raise AppCommandFailed(
                "Obsidian's command line interface is switched off. Turn it on in Obsidian under "
                "Settings > General > Advanced > Command line interface."
            )
        if text == "Vault not found.":
            name = "this vault" if vault is None else f"a vault named {vault!r}"
            raise errors.VaultNotFound(
                f"Obsidian does not know {name}. Open the folder as a vault in Obsidian, or give "
                "the name that Obsidian shows for it.",
                vault=vault,
            )
        if self.is_cold:
            raise AppCommandFailed(
                f"This Obsidian does not know the command {self.request.command!r}. Update "
                "Obsidian, or enable the core plugin that the command belongs to.",
                command=self.request.command,
            )
        if refusal := self._own_refusal():
            raise refusal

    def _own_refusal(self) -> AppError | None:
        """Return the error if the whole answer names exactly the path of this request, else
        None."""
        named = self.request.parameters.get("path", self.request.parameters.get("folder", ""))
        if self.text == f'Error: File "{named}" not found.':
            return NoteNotFound(
                f"There is no file {named!r} in the vault as Obsidian knows it. Search or list "
                "files to find the right path.",
                path=named,
            )
        if self.text == f'Error: Folder "{named}" not found.':
            return NoteNotFound(
                f"There is no folder {named!r} in the vault. List the folders to see them.",
                path=named,
            )
        if self.text == f'Error: "{named}" is a folder, not a file.':
            return NoteNotFound(f"{named!r} is a folder. Name a file in it.", path=named)
        return None

    def refusal_error(self) -> AppError:
        """Return the error for an answer whose first line says that the app refused."""
        if own := self._own_refusal():
            return own
        line = self.lines[0]
        parameters = self.request.parameters
        if "already exists" in line:
            return note_exists(
                parameters.get("to") or parameters.get("name") or parameters.get("path", "")
            )
        if NO_ACCESS.search(line):
            return errors.PermissionDenied(f"Obsidian was not allowed to do this: {line}")
        hint = (
            " The folder of the new path does not exist: make it first." if "ENOENT" in line else ""
        )
        return AppCommandFailed(
            f"Obsidian refused {self.request.command!r}: {_quote(self.text)}{hint}",
            command=self.request.command,
            reason=REFUSED,
        )

    def unknown_error(self) -> AppError:
        """Return the error for an answer that this program does not recognise."""
        if self.is_refusal:
            return self.refusal_error()
        return AppCommandFailed(
            f"The obsidian command answered {self.request.command!r} with something unknown: "
            f"{_quote(self.text)!r}. Whether it was carried out is not known: look before "
            "trying again.",
            command=self.request.command,
            reason=OUTCOME_UNKNOWN,
        )


def _cuts(raw: bytes) -> list[int]:
    """Return the places before which nothing but noise and blank lines stands."""
    cuts = [0]
    while len(cuts) <= _SKIPS and (skip := _SKIPPED.match(raw, cuts[-1])):
        cuts.append(skip.end())
    return cuts


def note_exists(path: str, *, leftover: str | None = None) -> NoteExists:
    """Return the error for a path that is taken; `leftover` is the file that the app wrote
    instead."""
    extra = {} if leftover is None else {"leftover": leftover}
    hint = (
        "" if leftover is None else f" Obsidian wrote {leftover!r} instead, which you may delete."
    )
    return NoteExists(
        f"{path!r} exists already. Choose another name, or overwrite it on purpose.{hint}",
        path=path,
        **extra,
    )


def is_same_path(path: str, other: str) -> bool:
    """Return whether two paths are the same in NFC."""
    return unicodedata.normalize("NFC", path) == unicodedata.normalize("NFC", other)


def is_numbered_sibling(made: str, target: str) -> bool:
    """Return whether `made` is `Note 1.md` for `Note.md`, which the app writes if the name is
    taken."""
    stem, dot, extension = target.rpartition(".")
    return (
        re.fullmatch(rf"{re.escape(stem)} \d+{dot}{extension}", unicodedata.normalize("NFC", made))
        is not None
    )


def _quote(text: str) -> str:
    return cut_text(text, _CHARACTERS_SHOWN)


# JSON values


def json_text(row: Mapping[str, object], key: str) -> str:
    """Return the text of a member. Raises: AppCommandFailed if it is missing or no text."""
    value = row.get(key)
    if not isinstance(value, str):
        raise unexpected_error(row)
    return value


def json_optional(row: Mapping[str, object], key: str) -> str | None:
    """Return the text of a member, None if it is missing, empty or no text."""
    value = row.get(key)
    return value if isinstance(value, str) and value else None


def unexpected_error(value: object) -> AppCommandFailed:
    """Return the error for data of an unknown shape."""
    return AppCommandFailed(
        f"The obsidian command answered with data of an unknown shape: {_quote(repr(value))}. This "
        "version of Obsidian may be newer than this program knows."
    )
