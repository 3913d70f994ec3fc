"""The requests of one client that have no answer yet, and their order (specs/stdio.md, TOOL-15)."""

from __future__ import annotations

from collections import deque
from functools import cached_property

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.serve.jsonrpc import correlation_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from obsidian_mcp.serve.call_order import CallOrder, Turn
    from obsidian_mcp.serve.jsonrpc import RequestId


class OpenRequest:
    """A request that has come and has no answer yet."""

    __slots__ = ("request_id", "turn")

    def __init__(self, request_id: RequestId, turn: Turn | None) -> None:
        """`turn`: its place in the order of calls; None for a request that needs none."""
        self.request_id = request_id
        self.turn = turn

    @property
    def is_waiting(self) -> bool:
        """Whether its turn has not come."""
        return self.turn is not None and not self.turn.begun


class OpenRequests:
    """The open requests by id, and the subscriptions, which end with the conversation.

    The SDK lets a client use one id twice, so an id may have several requests. The lock of the
    conversation is held for every method.
    """

    def __init__(self) -> None:
        self._by_id: dict[RequestId, deque[OpenRequest]] = {}
        self._subscriptions: set[RequestId] = set()

    @cached_property
    def order(self) -> CallOrder:
        """The order in which the requests take effect; imported by the first that has a place in
        it."""
        from obsidian_mcp.serve.call_order import CallOrder

        return CallOrder()

    def __len__(self) -> int:
        """Return how many ids are in use; subscriptions are not counted."""
        return len(self._by_id)

    def add(self, request_id: RequestId, turn: Turn | None = None) -> None:
        """Add a request that has begun, or waits for its turn."""
        request = OpenRequest(request_id, turn)
        self._by_id.setdefault(correlation_key(request_id), deque()).append(request)

    def begin(self, request_id: RequestId, start: Callable[[], None], *, writes: bool) -> Turn:
        """Add a request, and call `start` now or when it is its turn."""
        turn = self.order.begin(start, writes=writes)
        self.add(request_id, turn)
        return turn

    def add_subscription(self, request_id: RequestId) -> None:
        """Add a request that is answered when the conversation ends."""
        self._subscriptions.add(correlation_key(request_id))

    @property
    def has_subscriptions(self) -> bool:
        return bool(self._subscriptions)

    def find_latest(self, request_id: RequestId) -> OpenRequest | None:
        """Return the request under an id that came last; None where there is none."""
        requests = self._by_id.get(correlation_key(request_id))
        return requests[-1] if requests else None

    def end(self, request_id: RequestId, *, latest: bool = False) -> None:
        """Forget a request, and end its turn; of several under its id the first, or the `latest`.

        An unknown id may be of a request that `take_all` has taken.
        """
        key = correlation_key(request_id)
        self._subscriptions.discard(key)
        requests = self._by_id.get(key)
        if not requests:
            return
        request = requests.pop() if latest else requests.popleft()
        if not requests:
            del self._by_id[key]
        if request.turn is not None:
            self.order.end(request.turn)

    def take_all(self) -> list[OpenRequest]:
        """Return the open requests, and forget them; subscriptions stay."""
        requests = [request for of_id in self._by_id.values() for request in of_id]
        self._by_id.clear()
        return requests

    def clear(self) -> None:
        """Forget everything: the client is gone."""
        self._by_id.clear()
        self._subscriptions.clear()
