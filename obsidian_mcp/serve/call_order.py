"""The order in which the calls of one client take effect (specs/tools.md TOOL-15)."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

UNORDERED: Final = {
    "initialize",
    "ping",
    "tools/list",
    "prompts/list",
    "resources/templates/list",
    "logging/setLevel",
}
"""Requests that do not look at a vault, and so have no place in the order."""


class Turn:
    """One call's place in the order."""

    __slots__ = ("begun", "start", "writes")

    def __init__(self, start: Callable[[], None], *, writes: bool) -> None:
        self.start = start
        self.writes = writes
        self.begun = False


class CallOrder:
    """Starts the calls of one client so that they take effect in the order of arrival (TOOL-15).

    Writes run one after another. Reads, which never hold up a write, run side by side once the
    writes before them have ended. For the event loop's thread.
    """

    SCOPE_KEY: Final = "obsidian_mcp.call_order"
    """Where the ASGI scope of a request keeps the order of its session."""

    def __init__(self) -> None:
        self._waiting: deque[Turn] = deque()
        self._writing: Turn | None = None

    def begin(self, start: Callable[[], None], *, writes: bool) -> Turn:
        """Call `start` now or when it is this call's turn."""
        turn = Turn(start, writes=writes)
        self._waiting.append(turn)
        self._advance()
        return turn

    def end(self, turn: Turn) -> None:
        """A call has ended, or is not to begin any more."""
        if not turn.begun:
            self._waiting.remove(turn)
            turn.begun = True
        elif turn is self._writing:
            self.release()

    def release(self) -> None:
        """Let later calls begin although the write before them has not ended: it waits for a
        person."""
        self._writing = None
        self._advance()

    @property
    def idle(self) -> bool:
        return not self._waiting and self._writing is None

    @asynccontextmanager
    async def turn(self, *, writes: bool, seconds: float) -> AsyncIterator[None]:
        """Wait for a call's turn, and end it with the block. Raises: OperationTimeout after so many
        seconds."""
        import anyio  # which a server on stdin does without

        from obsidian_mcp.core.text.call import Deadline

        begun = anyio.Event()
        turn = self.begin(begun.set, writes=writes)
        try:
            with anyio.move_on_after(seconds):
                await begun.wait()
            if not turn.begun:
                raise Deadline(seconds).error()
            yield
        finally:
            self.end(turn)

    def _advance(self) -> None:
        while self._waiting and self._writing is None:
            turn = self._waiting.popleft()
            turn.begun = True
            if turn.writes:
                self._writing = turn
            turn.start()
