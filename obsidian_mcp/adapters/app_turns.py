"""Calls of the app's `obsidian` command, one at a time, and the answers that count as a success.

A turn is what one operation asks of the app; `obsidian_cli` has the operations.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from obsidian_mcp import TYPE_CHECKING, errors
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import (
    AppCommandFailed,
    AppError,
    ObsidianNotRunning,
    VaultNotFound,
)

from . import obsidian_answer
from .obsidian_answer import ProgramAnswer, ProgramRequest, is_same_path

if TYPE_CHECKING:
    from .obsidian_program import ProgramResult

SameFolder = Callable[[str, Callable[[], Sequence[str]]], bool]
"""Whether the app's vault is the one that is meant: by the path of its folder, and by its files
where that says nothing."""


class Program(Protocol):
    """Runs the program once (`adapters.obsidian_program.ObsidianProgram`)."""

    def run_program(self, arguments: Sequence[str], timeout: float) -> ProgramResult: ...


class AppTurns:
    """Turns with one vault of the running app, for threads: one at a time reaches the app.

    The calls of a turn share one limit of time, and what does not have the form of a success is an
    error (CMD-04): the command has no exit status that tells.
    """

    def __init__(
        self,
        program: Program,
        vault: str | None = None,
        timeout: float = 30.0,
        *,
        running: Callable[[], bool] = lambda: True,
        same_folder: SameFolder | None = None,
    ) -> None:
        """`vault` is a name or a 16-digit id, None for the vault last used; `timeout` in seconds
        covers one turn; `running` returns whether the app may be running, and is called before each
        call, so that none ever starts the app; `same_folder`, called once, whether its vault is the
        one that is meant."""
        if vault is not None and (not vault.strip() or not obsidian_answer.can_carry(vault)):
            raise VaultNotFound(
                f"{vault!r} is not the name of a vault. Give its name or its id.", vault=vault
            )
        self._program = program
        self._vault = vault
        self._timeout = timeout
        self._is_app_running = running
        self._same_folder = same_folder
        self._is_verified = same_folder is None
        self._lock = threading.Lock()
        self._deadline = 0.0
        """When the current turn ends, of `time.monotonic`."""

    def check(self, seconds: float | None = None) -> None:
        """Check that this vault of the app answers within `seconds`. Raises as every method."""
        with self._turn(seconds):
            pass

    # Kinds of requests

    def _answer(
        self, request: ProgramRequest, is_whole: Callable[[ProgramAnswer], bool]
    ) -> ProgramAnswer:
        """Return the answer to a request, which must have the right form."""
        with self._turn():
            answer = self._ask(request)
            if not is_whole(answer):
                raise self._failure(answer)
        return answer

    def _list(self, command: str, **parameters: str) -> list[str]:
        """Return the lines of a list, [] for a sentence like "No links found."."""

        def is_list(answer: ProgramAnswer) -> bool:
            # A signal (-6, or 134 as a shell says it) or -1 ended the program: its output may be
            # incomplete.
            return bool(answer.text) and 0 <= answer.status <= 127 and not answer.is_refusal

        answer = self._answer(ProgramRequest(command, parameters), is_list)
        return [] if obsidian_answer.NOTHING_FOUND.fullmatch(answer.text) else answer.lines

    def _json(self, request: ProgramRequest) -> Any:
        """Return the list that a request for JSON is answered with."""
        with self._turn():
            answer = self._ask(request)
            # although the request is for JSON
            if obsidian_answer.NOTHING_FOUND.fullmatch(answer.text):
                return []
            try:
                return json.loads(answer.text)
            except ValueError as error:
                raise self._failure(answer) from error

    def _rows(self, command: str, *flags: str, **parameters: str) -> list[dict[str, object]]:
        """Return the same, of objects; [] for null."""
        rows = self._json(ProgramRequest(command, {**parameters, "format": "json"}, flags))
        if rows is None:
            return []
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise obsidian_answer.unexpected_error(rows)
        return rows

    # Parts of a turn

    @contextmanager
    def _turn(self, limit: float | None = None) -> Iterator[None]:
        """Reserve the vault for one operation, whose calls share one limit of time.

        It is at most `limit` seconds. The first turn checks which folder the vault is, so that no
        other vault of that name is changed (CMD-11). Raises: OperationTimeout, VaultNotFound.
        """
        allowed = self._timeout if limit is None else min(limit, self._timeout)
        if (ending := current_call.get().limit) is not None:
            allowed = min(allowed, ending.remaining)
        end = time.monotonic() + allowed
        if not self._lock.acquire(timeout=allowed):
            raise errors.OperationTimeout(
                "Obsidian is still busy with an earlier call. Try again in a moment."
            )
        try:
            self._deadline = end
            if not self._is_verified:
                self._verify()
            yield
        except ObsidianNotRunning:
            # names may lead elsewhere after a new start
            self._is_verified = self._same_folder is None
            raise
        finally:
            self._lock.release()

    def _verify(self) -> None:
        path = self._folder()

        def files() -> Sequence[str]:
            answer = self._ask(ProgramRequest("files"))
            if not answer.text or answer.is_refusal:
                raise self._failure(answer)
            return answer.lines

        if self._same_folder is not None and not self._same_folder(path, files):
            raise VaultNotFound(
                f"What Obsidian calls {self._vault!r} is another folder: "
                f"{path or 'it holds other files'}. Open this vault in Obsidian, and give the two "
                "vaults different names.",
                vault=self._vault,
                folder=path,
            )
        self._is_verified = True

    def _folder(self) -> str:
        """Return the path of the vault's folder, "" if the app answers without it."""
        try:
            answer = self._ask(ProgramRequest("vault", {"info": "path"}))
        except AppCommandFailed as error:
            if error.data.get("command") != "vault":
                raise
            return ""
        reported = answer.fields.get("path", answer.text)
        return reported if "\n" not in reported and not answer.is_refusal else ""

    def _call(self, request: ProgramRequest) -> ProgramAnswer:
        """Run the program once; its answer is checked only for what cannot be the text of a note.
        Raises: OperationTimeout, ObsidianNotRunning, PermissionDenied."""
        arguments = request.arguments(self._vault)
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise errors.OperationTimeout(
                f"Obsidian needed more than {self._timeout:g} seconds for this. Try again in a "
                "moment."
            )
        if not self._is_app_running():
            raise ObsidianNotRunning
        outcome = self._program.run_program(arguments, remaining)
        answer = ProgramAnswer(request, outcome.stdout, outcome.status)
        stderr = outcome.stderr.decode("utf-8", "replace").strip()
        if obsidian_answer.DOWN in stderr:
            raise ObsidianNotRunning
        if not answer.text and obsidian_answer.NO_ACCESS.search(stderr):
            raise errors.PermissionDenied(
                f"The system kept the obsidian command from reaching Obsidian: {stderr}"
            )
        return answer

    def _ask(self, request: ProgramRequest) -> ProgramAnswer:
        """`_call`, repeated once if the vault had to be opened first (CMD-08). Raises also as
        `ProgramAnswer.reject_message`."""
        answer = self._call(request)
        if answer.is_cold:
            answer = self._call(request)
        answer.reject_message(self._vault)
        return answer

    def _failure(self, answer: ProgramAnswer) -> AppError:
        """Return the error for an answer of the wrong form; no output is a failure too (CMD-04)."""
        if answer.text:
            return answer.unknown_error()
        if not self._is_app_running():
            return ObsidianNotRunning()
        return AppCommandFailed(
            f"The obsidian command gave no answer to {answer.request.command!r} (exit status "
            f"{answer.status}). Whether it was carried out is not known: look before trying again. "
            "If this repeats, update the Obsidian installer and see that the command is the "
            "command-line program and not the app itself.",
            command=answer.request.command,
            status=answer.status,
            reason=obsidian_answer.OUTCOME_UNKNOWN,
        )

    def _make(self, request: ProgramRequest, *verbs: str) -> str:
        """Make a change; return what stands behind the verb in the success line that it must have,
        such as `Created: a.md` (CMD-04)."""
        answer = self._ask(request)
        if answer.is_refusal:
            raise answer.refusal_error()
        for line in answer.lines:
            if line.startswith(tuple(f"{verb}: " for verb in verbs)):
                return line.partition(": ")[2]
        raise self._failure(answer)

    def _change(self, request: ProgramRequest, target: VaultPath, verb: str) -> None:
        """Make a change to a file, whose success line must name that file."""
        path = self._make(request, verb)
        if not is_same_path(path, target):
            raise elsewhere_error(path, target)


def elsewhere_error(written: str, target: VaultPath) -> AppCommandFailed:
    return AppCommandFailed(
        f"Obsidian worked on {written!r} instead of {target!r}. Look at that file before trying "
        "again.",
        path=target,
        written=written,
    )
