"""Every failure the program reports, in one tree (specs/errors.md has the table of codes).

The message begins with a plain sentence and says what to do next: many hosts drop `data`.
"""

from __future__ import annotations

from typing import Any, ClassVar


class AppError(Exception):
    """A failure with a code for programs and a sentence for people.

    `data` holds facts for programs (candidates, paths, lines); values are JSON types.
    """

    code: ClassVar[int] = -32000
    """JSON-RPC error code."""
    error_code: ClassVar[str] = "SERVER_ERROR"
    """Stable word for programs; goes out as `data.errorCode`."""
    exit_status: ClassVar[int] = 1
    """Exit status of the command line."""
    application: ClassVar[bool] = True
    """False for faults of the request itself, which every transport reports in the protocol's own way."""

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.data = data

    def payload(self) -> dict[str, Any]:
        """Return the `data` member of a JSON-RPC error."""
        return {"errorCode": self.error_code, **self.data}

    def to_text(self) -> str:
        """Return the message and the code as one line, for clients that show only text."""
        return f"Error: {self.message} ({self.error_code})"


class ObsidianNotRunning(AppError):
    """The app does not run, and a tool needs it."""

    code = -32001
    error_code = "OBSIDIAN_NOT_RUNNING"
    exit_status = 11

    def __init__(self, message: str = "", **data: Any) -> None:
        super().__init__(message or "Obsidian application is not running. Please start Obsidian and try again.", **data)


class VaultNotFound(AppError):
    """There is no vault of this name, or none at all."""

    code = -32002
    error_code = "VAULT_NOT_FOUND"
    exit_status = 12


class NoteNotFound(AppError):
    """There is no file or folder of this name."""

    code = -32003
    error_code = "FILE_NOT_FOUND"
    exit_status = 13


class AmbiguousName(AppError):
    """Several files have the name."""

    code = -32004
    error_code = "AMBIGUOUS_NAME"
    exit_status = 14


class PermissionDenied(AppError):
    """The system, the user's policy or the user does not allow it."""

    code = -32005
    error_code = "PERMISSION_DENIED"
    exit_status = 15


class OperationTimeout(AppError):
    """The call took longer than it may."""

    code = -32006
    error_code = "TIMEOUT"
    exit_status = 16


class NoteExists(AppError):
    """Something has the name already."""

    error_code = "NOTE_EXISTS"
    exit_status = 17


class InvalidName(AppError):
    """No file, folder or tag can have this name."""

    error_code = "INVALID_NAME"
    exit_status = 18


class TextNotFound(AppError):
    """The note does not have the text that an edit looks for."""

    error_code = "TEXT_NOT_FOUND"
    exit_status = 19


class TextNotUnique(AppError):
    """The note has the text that an edit looks for more than once."""

    error_code = "TEXT_NOT_UNIQUE"
    exit_status = 20


class SectionNotFound(AppError):
    """The note has no such heading or block."""

    error_code = "SECTION_NOT_FOUND"
    exit_status = 21


class PropertiesUnreadable(AppError):
    """The note's frontmatter is broken YAML, so a property cannot be edited safely."""

    error_code = "PROPERTIES_UNREADABLE"
    exit_status = 22


class StaleEtag(AppError):
    """The file has changed since the version that a change was made from."""

    error_code = "STALE_ETAG"
    exit_status = 23


class NotText(AppError):
    """The file is no text."""

    error_code = "NOT_TEXT"
    exit_status = 24


class QueryInvalid(AppError):
    """A query cannot be read or run."""

    error_code = "QUERY_INVALID"
    exit_status = 25


class StorageFailed(AppError):
    """The disk refused: full, read-only, name too long, input/output error."""

    error_code = "STORAGE_FAILED"
    exit_status = 26


class AppCommandFailed(AppError):
    """The `obsidian` command or the plugin answered with a failure of its own."""

    error_code = "APP_COMMAND_FAILED"
    exit_status = 27


class ChangeNotFound(AppError):
    """The journal has no such change."""

    error_code = "CHANGE_NOT_FOUND"
    exit_status = 28


class UndoConflict(AppError):
    """A file that an undo would bring back has changed since."""

    error_code = "UNDO_CONFLICT"
    exit_status = 29


class ClientConfigRefused(AppError):
    """An MCP client's configuration file cannot be changed safely; it was left as it is."""

    error_code = "CLIENT_CONFIG_REFUSED"
    exit_status = 32


class NotShowable(AppError):
    """An image, PDF or other file that cannot be shown to a model: broken, locked, too large, of an unknown kind."""

    error_code = "NOT_SHOWABLE"
    exit_status = 33


class TemplateFailed(AppError):
    """A template cannot be used as it is; nothing was written."""

    error_code = "TEMPLATE_FAILED"
    exit_status = 35


class CanvasUnreadable(AppError):
    """A canvas is broken JSON, or none at all, so it cannot be edited safely."""

    error_code = "CANVAS_UNREADABLE"
    exit_status = 36


class ToolFailed(AppError):
    """A tool that another program registered (`obsidian_mcp.tools.rad`) could not do its work.

    `summary` says it in a few words, for the dialect that has a member for them.
    """

    error_code = "TOOL_FAILED"
    exit_status = 34

    def __init__(self, message: str, summary: str = "", **data: Any) -> None:
        super().__init__(message, **data)
        self.summary = summary


class ConfirmationRequired(AppError):
    """The user wants to be asked first."""

    error_code = "CONFIRMATION_REQUIRED"
    exit_status = 30


class SemanticUnavailable(AppError):
    """The model or endpoint for search by meaning cannot be used; words alone answer."""

    error_code = "SEMANTIC_UNAVAILABLE"
    exit_status = 37


class PolicyInvalid(AppError):
    """The user's policy cannot be read, or its scope is no folder of the vault, so nothing is allowed."""

    error_code = "POLICY_INVALID"
    exit_status = 31


class InvalidArguments(AppError):
    """The arguments of a call, command or request are wrong."""

    application = False
    code = -32602
    error_code = "INVALID_ARGUMENTS"
    exit_status = 2


class UnknownTool(AppError):
    """There is no tool of this name."""

    application = False
    code = -32602
    error_code = "UNKNOWN_TOOL"
    exit_status = 2


class InternalError(AppError):
    """A fault of this program; the details are in its log."""

    application = False
    code = -32603
    error_code = "INTERNAL_ERROR"
    exit_status = 70
