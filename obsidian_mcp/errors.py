"""Every failure the program reports, in one tree (specs/errors.md has the table of codes). The
message begins with a plain sentence and says what to do next: many hosts drop `data`."""

from __future__ import annotations

import re

from obsidian_mcp import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, ClassVar

_HALF = r"(?<!\\)\\ud[89a-f][0-9a-f]{2}|[\ud800-\udfff]"
"""A byte that is not UTF-8, or half of a character, as `repr` writes it or as it is: shown as
everywhere (FILE-17)."""

MOST_QUOTED = 1_000
"""Characters of one quotation or word in a message, and of one fact in `data`: a longer one is what
the caller sent."""
MOST_MESSAGE = 8_000
MOST_NAME = 80
"""Characters of the name of a tool or method that is not there."""
_QUOTATION = rf"""'[^'\n]{{{MOST_QUOTED},}}+'|"[^"\n]{{{MOST_QUOTED},}}+\"|\S{{{MOST_QUOTED},}}+"""


class AppError(Exception):
    """A failure with a code for programs and a sentence for people. `data` holds facts for programs
    (candidates, paths, lines); values are JSON types."""

    code: ClassVar[int] = -32000
    """JSON-RPC error code."""
    error_code: ClassVar[str] = "SERVER_ERROR"
    """Stable word for programs; goes out as `data.errorCode`."""
    exit_status: ClassVar[int] = 1
    """Exit status of the command line."""
    application: ClassVar[bool] = True
    """False for faults of the request itself, which every transport reports in the protocol's own
    way."""

    def __init_subclass__(
        cls, *, code: int = 0, error_code: str = "", exit_status: int = 0, application: bool = True
    ) -> None:
        """What the line of a class does not name is as in its base class."""
        cls.code = code or cls.code
        cls.error_code = error_code or cls.error_code
        cls.exit_status = exit_status or cls.exit_status
        cls.application = application and cls.application

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        message = re.sub(_QUOTATION, lambda quotation: shorten(quotation[0]), message)
        self.message = re.sub(_HALF, "\ufffd", shorten(message, MOST_MESSAGE))
        self.data: dict[str, Any] = shorten(data)

    def __str__(self) -> str:
        return self.message

    def payload(self) -> dict[str, Any]:
        """Return the `data` member of a JSON-RPC error."""
        return {"errorCode": self.error_code, **self.data}

    def to_text(self) -> str:
        """Return the message and the code as one line, for clients that show only text."""
        return f"Error: {self.message} ({self.error_code})"


def shorten(value: Any, most: int = MOST_QUOTED) -> Any:
    """Return a JSON value whose texts have at most so many characters. A longer text loses its
    middle: the end of a message says what to do."""
    match value:
        case str() if len(value) > most:
            return f"{value[: most * 3 // 4]}…{value[-most // 4 :]}"
        case dict():
            return {shorten(name, most): shorten(member, most) for name, member in value.items()}
        case list() | tuple():
            return [shorten(member, most) for member in value]
        case _:
            return value


class ObsidianNotRunning(AppError, code=-32001, error_code="OBSIDIAN_NOT_RUNNING", exit_status=11):
    """The app does not run, and a tool needs it."""

    def __init__(self, message: str = "", **data: Any) -> None:
        super().__init__(
            message or "Obsidian application is not running. Please start Obsidian and try again.",
            **data,
        )


class VaultNotFound(AppError, code=-32002, error_code="VAULT_NOT_FOUND", exit_status=12):
    """There is no vault of this name, or none at all."""


class NoteNotFound(AppError, code=-32003, error_code="FILE_NOT_FOUND", exit_status=13):
    """There is no file or folder of this name."""


class AmbiguousName(AppError, code=-32004, error_code="AMBIGUOUS_NAME", exit_status=14):
    """Several files have the name."""


class PermissionDenied(AppError, code=-32005, error_code="PERMISSION_DENIED", exit_status=15):
    """The system, the user's policy or the user does not allow it."""


class OperationTimeout(AppError, code=-32006, error_code="TIMEOUT", exit_status=16):
    """The call took longer than it may."""


class NoteExists(AppError, error_code="NOTE_EXISTS", exit_status=17):
    """Something has the name already."""


class InvalidName(AppError, error_code="INVALID_NAME", exit_status=18):
    """No file, folder or tag can have this name."""


class TextNotFound(AppError, error_code="TEXT_NOT_FOUND", exit_status=19):
    """The note does not have the text that an edit looks for."""


class TextNotUnique(AppError, error_code="TEXT_NOT_UNIQUE", exit_status=20):
    """The note has the text that an edit looks for more than once."""


class SectionNotFound(AppError, error_code="SECTION_NOT_FOUND", exit_status=21):
    """The note has no such heading or block."""


class PropertiesUnreadable(AppError, error_code="PROPERTIES_UNREADABLE", exit_status=22):
    """The note's frontmatter is broken YAML, so a property cannot be edited safely."""


class StaleEtag(AppError, error_code="STALE_ETAG", exit_status=23):
    """The file has changed since the version that a change was made from."""


class NotText(AppError, error_code="NOT_TEXT", exit_status=24):
    """The file is no text."""


class QueryInvalid(AppError, error_code="QUERY_INVALID", exit_status=25):
    """A query cannot be read or run."""


class StorageFailed(AppError, error_code="STORAGE_FAILED", exit_status=26):
    """The disk refused: full, read-only, name too long, input/output error."""


class AppCommandFailed(AppError, error_code="APP_COMMAND_FAILED", exit_status=27):
    """The `obsidian` command or the plugin answered with a failure of its own."""


class ChangeNotFound(AppError, error_code="CHANGE_NOT_FOUND", exit_status=28):
    """The journal has no such change."""


class UndoConflict(AppError, error_code="UNDO_CONFLICT", exit_status=29):
    """A file that an undo would bring back has changed since."""


class ClientConfigRefused(AppError, error_code="CLIENT_CONFIG_REFUSED", exit_status=32):
    """An MCP client's configuration file cannot be changed safely; it was left as it is."""


class NotShowable(AppError, error_code="NOT_SHOWABLE", exit_status=33):
    """An image, PDF or other file that cannot be shown to a model: broken, locked, too large, of an
    unknown kind."""


class TemplateFailed(AppError, error_code="TEMPLATE_FAILED", exit_status=35):
    """A template cannot be used as it is; nothing was written."""


class CanvasUnreadable(AppError, error_code="CANVAS_UNREADABLE", exit_status=36):
    """A canvas is broken JSON, or none at all, so it cannot be edited safely."""


class ToolFailed(AppError, error_code="TOOL_FAILED", exit_status=34):
    """A tool that another program registered (`obsidian_mcp.contracts.rad.tools`) could not do its
    work. `summary` says it in a few words, for the dialect that has a member for them."""

    def __init__(self, message: str, summary: str = "", **data: Any) -> None:
        super().__init__(message, **data)
        self.summary = summary


class ConfirmationRequired(AppError, error_code="CONFIRMATION_REQUIRED", exit_status=30):
    """The user wants to be asked first."""


class SemanticUnavailable(AppError, error_code="SEMANTIC_UNAVAILABLE", exit_status=37):
    """The model or endpoint for search by meaning cannot be used; words alone answer."""


class PolicyInvalid(AppError, error_code="POLICY_INVALID", exit_status=31):
    """The user's policy cannot be read, or its scope is no folder of the vault, so nothing is
    allowed."""


class InvalidArguments(
    AppError, code=-32602, error_code="INVALID_ARGUMENTS", exit_status=2, application=False
):
    """The arguments of a call, command or request are wrong."""


class UnknownTool(
    AppError, code=-32602, error_code="UNKNOWN_TOOL", exit_status=2, application=False
):
    """There is no tool of this name."""


class InternalError(
    AppError, code=-32603, error_code="INTERNAL_ERROR", exit_status=70, application=False
):
    """A fault of this program; the details are in its log."""
