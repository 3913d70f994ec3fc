"""The way to one vault of the running app: one call at a time, a limit for each turn, and the failures that every
command can have (specs/obsidian-command.md, CMD-02 to CMD-04 and CMD-08)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.errors import (
    AppCommandFailed,
    AppError,
    ObsidianNotRunning,
    OperationTimeout,
    PermissionDenied,
    VaultNotFound,
)

from .obsidian_answer import NO_ACCESS, OUTCOME_UNKNOWN, ProgramAnswer, ProgramRequest, can_carry

if TYPE_CHECKING:
    from .obsidian_program import ProgramResult

_DOWN = "The CLI is unable to find Obsidian"
_DISABLED = "Command line interface is not enabled"
_NO_VAULT = "Vault not found."

SameFolder = Callable[[str, Callable[[], Sequence[str]]], bool]
"""Whether the app's vault is the one that is meant: by the path of its folder, and by its files where that says
nothing."""


class Program(Protocol):
    """Runs the program once (`adapters.obsidian_program.ObsidianProgram`)."""

    def run(self, arguments: Sequence[str], timeout: float) -> ProgramResult: ...


class Channel:
    """One vault of the app, used by one call at a time. Safe to share between threads."""

    def __init__(
        self,
        program: Program,
        vault: str | None = None,
        timeout: float = 30.0,
        *,
        running: Callable[[], bool] = lambda: True,
        same_folder: SameFolder | None = None,
    ) -> None:
        """`vault` is a name or a 16-digit id, None for the vault last used; `timeout` in seconds covers one turn;
        `running` returns whether the app may be running; `same_folder`, called once, whether its vault is the one that
        is meant."""
        if vault is not None and (not vault.strip() or not can_carry(vault)):
            raise VaultNotFound(f"{vault!r} is not the name of a vault. Give its name or its id.", vault=vault)
        self.program = program
        self.vault = vault
        self.timeout = timeout
        self.is_app_running = running
        """Checked before each call, so that no call ever starts the app."""
        self._same_folder = same_folder
        self._is_verified = same_folder is None
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, limit: float | None = None) -> Iterator[ChannelTurn]:
        """Reserve the vault for one operation, whose calls share one time limit of at most `limit` seconds; the first
        turn checks which folder the vault is (CMD-11). Raises: OperationTimeout, VaultNotFound."""
        allowed = self.timeout if limit is None else min(limit, self.timeout)
        if (ending := current_call.get().limit) is not None:
            allowed = min(allowed, ending.remaining)
        end = time.monotonic() + allowed
        if not self._lock.acquire(timeout=allowed):
            raise OperationTimeout("Obsidian is still busy with an earlier call. Try again in a moment.")
        try:
            turn = ChannelTurn(self, end)
            if not self._is_verified:
                self._verify(turn)
            yield turn
        except ObsidianNotRunning:
            self._is_verified = self._same_folder is None  # names may lead elsewhere after a new start
            raise
        finally:
            self._lock.release()

    def _verify(self, turn: ChannelTurn) -> None:
        path = turn.folder()

        def files() -> Sequence[str]:
            answer = turn.ask(ProgramRequest("files"))
            if not answer.text or answer.is_refusal:
                raise turn.failure(answer)
            return answer.lines

        if self._same_folder is not None and not self._same_folder(path, files):
            raise VaultNotFound(
                f"What Obsidian calls {self.vault!r} is another folder: {path or 'it holds other files'}. Open this "
                "vault in Obsidian, and give the two vaults different names.",
                vault=self.vault,
                folder=path,
            )
        self._is_verified = True


@dataclass(frozen=True, slots=True)
class ChannelTurn:
    """One reserved operation; `deadline` is a time of `time.monotonic`."""

    channel: Channel
    deadline: float

    def call(self, request: ProgramRequest) -> ProgramAnswer:
        """Run the program once; its answer is checked only for what cannot be the text of a note. Raises:
        OperationTimeout, ObsidianNotRunning, PermissionDenied."""
        arguments = request.arguments(self.channel.vault)
        remaining = self.deadline - time.monotonic()
        if remaining <= 0:
            raise OperationTimeout(
                f"Obsidian needed more than {self.channel.timeout:g} seconds for this. Try again in a moment."
            )
        if not self.channel.is_app_running():
            raise ObsidianNotRunning
        outcome = self.channel.program.run(arguments, remaining)
        answer = ProgramAnswer(request, outcome.stdout, outcome.status)
        stderr = outcome.stderr.decode("utf-8", "replace").strip()
        if _DOWN in stderr:
            raise ObsidianNotRunning
        if not answer.text and NO_ACCESS.search(stderr):
            raise PermissionDenied(f"The system kept the obsidian command from reaching Obsidian: {stderr}")
        return answer

    def ask(self, request: ProgramRequest) -> ProgramAnswer:
        """`call`, repeated once if the vault had to be opened first (CMD-08). Raises also as `reject_message`."""
        answer = self.call(request)
        if answer.is_cold:
            answer = self.call(request)
        self.reject_message(answer)
        return answer

    def folder(self) -> str:
        """Return the path of the vault's folder, "" if the app answers without it."""
        try:
            answer = self.ask(ProgramRequest("vault", {"info": "path"}))
        except AppCommandFailed as error:
            if error.data.get("command") != "vault":
                raise
            return ""
        reported = answer.fields.get("path", answer.text)
        return reported if "\n" not in reported and not answer.is_refusal else ""

    def change(self, request: ProgramRequest) -> ProgramAnswer:
        """`ask` for a command that changes something: a leading error line is a refusal and raised."""
        answer = self.ask(request)
        if answer.is_refusal:
            raise answer.refusal_error()
        return answer

    def reject_message(self, answer: ProgramAnswer) -> None:
        """Raise the error for an answer that is nothing but a message of the app."""
        text = answer.text.strip()
        if "\n" in text:
            return
        if text.startswith(_DOWN):
            raise ObsidianNotRunning
        if text.startswith(_DISABLED):
            raise AppCommandFailed(
                "Obsidian's command line interface is switched off. Turn it on in Obsidian under Settings > General > "
                "Advanced > Command line interface."
            )
        if text == _NO_VAULT:
            vault = self.channel.vault
            name = "this vault" if vault is None else f"a vault named {vault!r}"
            raise VaultNotFound(
                f"Obsidian does not know {name}. Open the folder as a vault in Obsidian, or give the name that "
                "Obsidian shows for it.",
                vault=vault,
            )
        if answer.is_cold:
            raise AppCommandFailed(
                f"This Obsidian does not know the command {answer.request.command!r}. Update Obsidian, or enable the "
                "core plugin that the command belongs to.",
                command=answer.request.command,
            )
        if refusal := answer.own_refusal():
            raise refusal

    def failure(self, answer: ProgramAnswer) -> AppError:
        """Return the error for an answer of the wrong form; no output is a failure too (CMD-04)."""
        if answer.text:
            return answer.unknown_error()
        if not self.channel.is_app_running():
            return ObsidianNotRunning()
        return AppCommandFailed(
            f"The obsidian command gave no answer to {answer.request.command!r} (exit status {answer.status}). "
            "Whether it was carried out is not known: look before trying again. If this repeats, update the Obsidian "
            "installer and see that the command is the command-line program and not the app itself.",
            command=answer.request.command,
            status=answer.status,
            reason=OUTCOME_UNKNOWN,
        )
