"""One conversation with one client over stdin and stdout (specs/stdio.md)."""

from __future__ import annotations

import threading
import time
from functools import cached_property, partial

from obsidian_mcp import TYPE_CHECKING, logger
from obsidian_mcp.serve import jsonrpc
from obsidian_mcp.serve.dispatch import Peer, read_peer
from obsidian_mcp.serve.jsonrpc import BatchAnswer, InvalidMessage

from .pipes import MAX_LINE, LineQueue, Reader, Writer, take_stdin, take_stdout

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from obsidian_mcp.serve.call_order import Turn
    from obsidian_mcp.serve.dispatch import Dispatcher
    from obsidian_mcp.serve.jsonrpc import Message, RequestId

    from .calls import Calls
    from .open_requests import OpenRequests
    from .sdk import SdkLink, SdkServer

MAX_UNSENT: Final = 16 * 2**20
"""Bytes of answers that the client has not read; above it, no further request is begun."""
MAX_IN_FLIGHT: Final = 1000
"""Requests without an answer; above it, no further one is begun."""
FAREWELL_SECONDS: Final = 1.0
"""Time that subscriptions get at the end for their last message."""
REPLAYED: Final = "obsidian-mcp:initialize"
"""Id under which the SDK is given the client's `initialize` later; the client has its answer
already, so that of the SDK goes nowhere."""


class Conversation:
    """Reads a client's lines, has them answered, and writes the answers; for any thread.

    One lock guards everything, and `conclude` waits on it.
    """

    def __init__(
        self, dispatcher: Dispatcher, load: Callable[[], SdkServer], drain_timeout: float
    ) -> None:
        """`load` makes what serves the requests that the dispatcher does not."""
        self._dispatcher = dispatcher
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        """Notified whenever `conclude` has to look again."""
        self.writer = Writer(take_stdout(), self._proceed, self._hang_up)
        stdin = take_stdin()
        self.reader = Reader(stdin, self.feed, self.writer.fd, self.writer.hang_up)
        self.drain_timeout = drain_timeout
        self.patience = drain_timeout
        """Seconds to wait for a client that does not take its answers."""
        self._load = load
        self._peer: Peer | None = None
        """The client, as its latest `initialize` introduced it."""
        self._is_unknown_to_sdk = False
        """The SDK has not been given that `initialize` yet."""
        self._joined = False
        """The client has sent `notifications/initialized`, and takes notifications."""
        self._lines = LineQueue(self.reader)
        self._taking = False
        """A thread is taking lines: one at a time does."""
        self._batches = jsonrpc.OpenBatches(self.writer.put)
        self._questions: dict[RequestId, RequestId] = {}
        """Requests to the client that it has not answered."""
        self._is_awaited = False
        """A thread waits in `wait_until_answered`."""
        self._ending = False
        self._deadline = float("inf")
        self._failure: BaseException | None = None

    # What a client's first messages do without is imported with its first use. The lock is held
    # then.

    @cached_property
    def _requests(self) -> OpenRequests:
        from .open_requests import OpenRequests

        return OpenRequests()

    def _count_open(self) -> int:
        """Return how many requests wait for an answer; none before `_requests` is first used."""
        return len(self._requests) if "_requests" in self.__dict__ else 0

    @cached_property
    def _calls(self) -> Calls:
        from .calls import Calls

        return Calls(
            self._dispatcher,
            self._lock,
            wake=self._changed.notify,
            send=self.writer.put,
            answer=self._answer,
            pass_on=self._pass_on,
        )

    @cached_property
    def _sdk(self) -> SdkLink:
        from .sdk import SdkLink

        return SdkLink(self._load, self._send, self._fail)

    # --- reading

    def feed(self, data: bytes) -> None:
        """Take bytes from stdin; b"" is the end of input."""
        lines = self._lines.split(data)
        with self._lock:
            self._lines.put(lines)
            if not data:
                self.end("end of input", self.drain_timeout)
        self._take_lines()

    def _take_lines(self) -> None:
        with self._lock:
            if self._taking:  # ending one request may make room for the next
                return
            self._taking = True
        while True:
            with self._lock:
                full = self._count_open() >= MAX_IN_FLIGHT or self.writer.unsent > MAX_UNSENT
                if not self._lines or full:
                    self._taking = False
                    self._changed.notify()
                    return
                line = self._lines.pop()
            taken = jsonrpc.refuse_long_line(MAX_LINE) if line is None else jsonrpc.decode(line)
            if isinstance(taken, list):
                self._take_batch(taken)
            else:
                self._take(taken)

    def _take_batch(self, messages: list[Message | InvalidMessage]) -> None:
        batch = BatchAnswer(messages)
        with self._lock:
            self._batches.add(batch)
        for message in messages:
            if isinstance(message, InvalidMessage):
                logger(__name__).warning("refused a message: %s", message.reason)
            else:
                self._take(message)
        with self._lock:
            self._batches.send_complete(batch)

    def _take(self, message: Message | InvalidMessage) -> None:
        if isinstance(message, InvalidMessage):
            logger(__name__).warning("refused a line: %s", message.reason)
            if message.answer is not None:
                with self._lock:
                    self.writer.put(jsonrpc.encode(message.answer))
        elif "method" not in message:
            with self._lock:
                if message["id"] is not None:
                    self._questions.pop(jsonrpc.correlation_key(message["id"]), None)
                self._sdk.put(message, is_modern=False)
        elif message.get("id") is None:
            self._take_notification(message)
        else:
            self._take_request(message)

    def _take_request(self, message: Message) -> None:
        dispatcher = self._dispatcher
        peer = dispatcher.peer(message, self._peer)
        if not isinstance(peer, Peer):
            self._put_answer(message["id"], jsonrpc.encode(peer))
        elif not dispatcher.serves(message):
            self._begin(message, peer, partial(self._pass_on, message, peer))
        elif dispatcher.waits(message):
            self._begin(message, peer, partial(self._call, message, peer, time.monotonic()))
        else:
            line = dispatcher.answer_message(message, peer)
            with self._lock:
                if message["method"] == "initialize":
                    self._peer, self._is_unknown_to_sdk = read_peer(message), True
                self._put_answer(message["id"], line or b"")

    def _begin(self, message: Message, peer: Peer, start: Callable[[], None]) -> None:
        """Start a request when it is its turn."""
        from obsidian_mcp.serve.call_order import UNORDERED

        request_id, method = message["id"], message["method"]
        with self._lock:
            if method == "subscriptions/listen":
                self._requests.add_subscription(request_id)
                start()
            elif method in UNORDERED:
                self._requests.add(request_id)
                start()
            else:
                writes = self._dispatcher.writes(message)
                turn = self._requests.begin(request_id, start, writes=writes)
                if not turn.begun:
                    self._calls.timers.call_after(
                        self._dispatcher.timeout, partial(self._expire, turn, message, peer)
                    )

    def _call(self, message: Message, peer: Peer, arrived: float) -> None:
        self._calls.begin(message, peer, waited=time.monotonic() - arrived)

    def _expire(self, turn: Turn, message: Message, peer: Peer) -> None:
        """Answer a call whose time was over before its turn came."""
        if not turn.begun:
            self._answer(message["id"], self._calls.expired_answer(message, peer))

    def _take_notification(self, message: Message) -> None:
        if message["method"] == "exit":
            with self._lock:
                self._lines.clear()
                self.end("exit notification", self.drain_timeout)
            return
        if message["method"] == "notifications/cancelled":
            cancelled = jsonrpc.read_id((message.get("params") or {}).get("requestId"))
            if cancelled is not None and self._cancel(cancelled):
                return
        with self._lock:
            self._joined |= message["method"] == "notifications/initialized"
            self._sdk.tell(message)

    def _cancel(self, request_id: RequestId) -> bool:
        """Stop a request; return False where the SDK has to stop it."""
        with self._lock:
            request = self._requests.find_latest(request_id)
            is_waiting = request is not None and request.is_waiting
            is_ours = is_waiting or self._calls.cancel(request_id)
            if request is None:
                self._requests.end(request_id)  # a subscription
            else:
                self._answer(request_id, b"", latest=True)
            return is_ours

    def notify_tools_changed(self) -> None:
        """Notify the client that the list of tools is another, in each era as it has it
        (BRIDGE-11)."""
        with self._lock:
            if self._joined:
                message = jsonrpc.notification("notifications/tools/list_changed")
                self._send(jsonrpc.encode(message), message)
            self._sdk.notify_tools_changed()

    # --- the SDK

    def _pass_on(self, message: Message, peer: Peer) -> None:
        """Leave a request to the SDK, which is loaded for the first one and introduced to the
        client before it."""
        if self._is_unknown_to_sdk and not peer.is_modern:
            self._sdk.introduce(self._peer or peer, REPLAYED)
            self._is_unknown_to_sdk = False
        self._sdk.put_request(message, peer)

    def _send(self, line: bytes, message: Message) -> None:
        """Write a line; `message` is its content."""
        with self._lock:
            if "method" not in message:
                if message["id"] is not None and message["id"] != REPLAYED:
                    self._answer(message["id"], line)
                return
            if "id" in message:
                self._questions[jsonrpc.correlation_key(message["id"])] = message["id"]
                self._requests.order.release()  # later calls do not wait for the person
                self._changed.notify()
            elif self.writer.unsent > 4 * MAX_UNSENT:
                logger(__name__).warning("dropped %s: the client does not read", message["method"])
                return
            self.writer.put(line)

    def _fail(self, error: BaseException) -> None:
        """The SDK cannot go on, and so the conversation cannot."""
        with self._lock:
            self._failure = error
            self._hang_up()

    def _put_answer(self, request_id: RequestId, line: bytes) -> None:
        """Write the answer to a request, b"" for none; with those of its batch where it came in
        one."""
        with self._lock:
            if not self._batches.take(request_id, line) and line:
                self.writer.put(line)

    def _answer(self, request_id: RequestId, line: bytes, *, latest: bool = False) -> None:
        """End a request with its answer, b"" for one that was cancelled; of several under its id
        the first, or the `latest`."""
        self._put_answer(request_id, line)
        self._requests.end(request_id, latest=latest)
        if self._is_awaited:
            self._changed.notify()
        if self._lines or self._ending:
            self._proceed()

    def _proceed(self) -> None:
        if self._lines:
            self._take_lines()
        if self._ending:
            with self._lock:
                self._changed.notify()

    def wait_until_answered(self, seconds: float) -> None:
        """Wait until everything that has come is answered, at most so long.

        Two threads that import at the same time take twice as long each.
        """
        until = time.monotonic() + seconds
        self.reader.wait_until_idle(seconds)
        with self._lock:
            self._is_awaited = True
            while self._count_open() and time.monotonic() < until:
                self._wait(until)
            self._is_awaited = False

    # --- ending

    def end(self, reason: str, patience: float) -> None:
        """Take no more lines and finish what was begun within `patience` seconds. A second call can
        only hasten it."""
        self.reader.stop()
        with self._lock:
            if not self._ending:
                logger(__name__).info("shutting down: %s", reason)
            self._ending = True
            self._deadline = min(self._deadline, time.monotonic() + patience)
            self.patience = min(self.patience, patience)
            self._changed.notify()

    def _hang_up(self) -> None:
        """End at once: the client is gone."""
        with self._lock:
            self._lines.clear()
            self._requests.clear()
            self._questions.clear()
            self.end("the client closed our stdout", 0)

    def conclude(self) -> None:
        """Wait for the end of the conversation, and end it in order. Raises what the SDK has failed
        with."""
        with self._lock:
            while not self._ending or self._lines or self._taking or self._count_open():
                if time.monotonic() >= self._deadline:
                    break
                if self._ending:
                    self._answer_questions()
                self._wait(self._deadline)
            self._lines.clear()
            self._abandon_calls()
            self._end_subscriptions()
            sdk = self._sdk
        sdk.close(FAREWELL_SECONDS)
        if self._failure is not None:
            raise self._failure

    def _wait(self, until: float) -> None:
        """Wait until something changes, and do what is due meanwhile."""
        due = self._calls.timers.run_due()
        rest = until - time.monotonic()
        seconds = rest if due is None else min(due, rest)
        self._changed.wait(min(max(seconds, 0), threading.TIMEOUT_MAX))

    def _answer_questions(self) -> None:
        """Answer our requests for the client, which is gone, so that no call waits for it in vain
        (END-08)."""
        while self._questions:
            _, request_id = self._questions.popitem()
            reason = "The client closed the connection without an answer."
            self._sdk.put(
                jsonrpc.error(request_id, jsonrpc.CONNECTION_CLOSED, reason), is_modern=False
            )

    def _abandon_calls(self) -> None:
        """Answer what is still in flight when the time is over (END-05)."""
        requests = self._requests.take_all()
        if requests:
            logger(__name__).warning("gave up %d calls in flight at shutdown", len(requests))
        for request in requests:
            if request.is_waiting:
                error = jsonrpc.error(
                    request.request_id, jsonrpc.CONNECTION_CLOSED, "Connection closed"
                )
                self._put_answer(request.request_id, jsonrpc.encode(error))
        self._calls.abandon()

    def _end_subscriptions(self) -> None:
        """Let subscriptions send their last message, within `FAREWELL_SECONDS`."""
        until = time.monotonic() + FAREWELL_SECONDS
        if self._requests.has_subscriptions:
            self._sdk.end_subscriptions()
        while self._requests.has_subscriptions and time.monotonic() < until:
            self._wait(until)
