"""The SDK's side of a conversation: an event loop in a thread of its own (specs/stdio.md,
DISPATCH-04), with a connection for each era in which the client writes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.serve.dispatch import Peer
from obsidian_mcp.serve.jsonrpc import Message, RequestId, notification
from obsidian_mcp.serve.sdk_messages import rewrite_request, write_introduction

if TYPE_CHECKING:
    import asyncio

    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.server.lowlevel import Server
    from mcp.shared.message import SessionMessage


class SdkServer(NamedTuple):
    server: Server[Any]
    on_shutdown: Callable[[], None] | None = None
    """Called when the calls in flight have finished, to end subscriptions."""
    on_tools_changed: Callable[[], None] | None = None
    """Called when the list of tools is another, to tell subscribers."""


class SdkLink:
    """Connections to the SDK, which is loaded for the first message. The methods may be called from
    any thread."""

    def __init__(
        self,
        load: Callable[[], SdkServer],
        write: Callable[[bytes, Message], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        """`load` is called once. `write` takes each line that the SDK writes, and the message in
        it; `failed` what `load` or the SDK raises."""
        self._load = load
        self._write = write
        self._failed = failed
        self._lock = threading.Lock()
        """For the three below."""
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._early: list[tuple[Message, bool]] = []
        """Messages that came before the loop was there, each with whether it is of the modern
        era."""
        self._inputs: dict[bool, MemoryObjectSendStream[SessionMessage | Exception]] = {}
        self._connections: list[asyncio.Task[None]] = []

    def introduce(self, peer: Peer, request_id: RequestId) -> None:
        """Give the SDK the `initialize` of a client that was introduced before the SDK was
        there."""
        self.put(write_introduction(peer, request_id), is_modern=False)
        self.put(notification("notifications/initialized"), is_modern=False)

    def put_request(self, message: Message, peer: Peer) -> None:
        """Give the SDK a request of a client."""
        self.put(rewrite_request(peer, message), is_modern=peer.is_modern)

    def put(self, message: Message, *, is_modern: bool) -> None:
        """Give the SDK a message, on the connection of its era."""
        with self._lock:
            if self._loop is None:
                self._early.append((message, is_modern))
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="sdk", daemon=True)
                    self._thread.start()
                return
        self._call(self._deliver, message, is_modern)

    def tell(self, message: Message) -> None:
        """Give a notification to the connections that there are; without any, nobody has to
        know."""
        if self._thread is not None:
            for is_modern in (False, True):
                self._call(self._deliver_if_connected, message, is_modern)

    def notify_tools_changed(self) -> None:
        if self._loop is not None and (publish := self._server.on_tools_changed) is not None:
            self._call(publish)

    def end_subscriptions(self) -> None:
        if self._loop is not None and (on_shutdown := self._server.on_shutdown) is not None:
            self._call(on_shutdown)

    def close(self, seconds: float) -> None:
        """End the connections, and wait so long for it."""
        self._call(self._close)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def _call(self, work: Callable[..., object], *arguments: Any) -> None:
        with self._lock:
            loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # it has closed
                loop.call_soon_threadsafe(work, *arguments)

    # --- in the thread

    def _run(self) -> None:
        try:
            self._server = self._load()
            import asyncio
            import gc

            gc.freeze()
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001  the conversation raises it
            self._failed(error)

    async def _serve(self) -> None:
        import asyncio

        self._closed = asyncio.Event()
        with self._lock:
            self._loop = asyncio.get_running_loop()
            early, self._early = self._early, []
            for message, is_modern in early:
                self._deliver(message, is_modern)
        await self._closed.wait()
        await asyncio.gather(*self._connections)

    def _deliver(self, message: Message, is_modern: bool) -> None:
        from mcp.shared.message import SessionMessage

        from .sdk_streams import model

        if is_modern not in self._inputs:
            self._connect(is_modern)
        self._inputs[is_modern].send_nowait(SessionMessage(model(message)))

    def _deliver_if_connected(self, message: Message, is_modern: bool) -> None:
        if is_modern in self._inputs:
            self._deliver(message, is_modern)

    def _connect(self, is_modern: bool) -> None:
        import asyncio

        from .sdk_streams import WriteStream, read_stream

        self._inputs[is_modern], output = read_stream()
        server = self._server.server
        served = server.run(
            output, WriteStream(self._write), server.create_initialization_options()
        )
        connection = asyncio.ensure_future(served)
        connection.add_done_callback(self._on_disconnect)
        self._connections.append(connection)

    def _on_disconnect(self, connection: asyncio.Task[None]) -> None:
        if not connection.cancelled() and connection.exception() is not None:
            self._closed.set()

    def _close(self) -> None:
        for stream in self._inputs.values():
            stream.close()
        self._closed.set()
