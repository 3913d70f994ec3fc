"""Who is signed in to the console: one-time tokens, and the sessions that they are exchanged for
(UI-01 to UI-04)."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

TOKEN_SECONDS: Final = 600.0
"""How long a one-time address opens the console."""
SESSION_SECONDS: Final = 12 * 3_600.0
"""How long a session lives after its last request."""
MOST: Final = 50
"""Sessions, and tokens, that there are at a time; the oldest goes first."""


@dataclass(frozen=True)
class ConsoleSession:
    """One browser that is signed in.

    Cookies do not know ports: a program of another user that listens on another port of this
    computer gets every cookie of `127.0.0.1` when the browser visits it. So the cookie is bound to
    a path that nobody else knows, and that path opens nothing without the cookie.
    """

    host: str
    """The Host header with which it began; with another one it does not count."""
    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    """A segment of the address of all its pages."""
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """The value of its cookie."""
    form_token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """In each of its forms."""

    def is_shown_by(self, cookie: str, host: str) -> bool:
        """Return whether a request with this cookie to this host belongs to the session."""
        return _is_equal(cookie, self.secret) and host == self.host

    def takes_form(self, token: str) -> bool:
        """Return whether a form with this token comes from a page of the session."""
        return _is_equal(token, self.form_token)


class ConsoleSessions:
    """The sessions of one process, which end with it. Safe to share between threads."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` returns seconds that only grow."""
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens: OrderedDict[str, float] = OrderedDict()
        """By token, when it opens nothing any more."""
        self._sessions: OrderedDict[str, tuple[ConsoleSession, float]] = OrderedDict()

    def make_token(self) -> str:
        """Return a token that opens the console once."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            _make_room(self._tokens)
            self._tokens[token] = self._clock() + TOKEN_SECONDS
        return token

    def exchange_token(self, token: str, host: str) -> ConsoleSession | None:
        """Begin a session for a token, which is spent by that; None for a wrong, old or spent
        one."""
        with self._lock:
            matching = [good for good in self._tokens if _is_equal(token, good)]
            expires = self._tokens.pop(matching[0]) if matching else 0.0
        return self.begin(host) if expires > self._clock() else None

    def begin(self, host: str) -> ConsoleSession:
        """Begin a session for somebody who has shown to be the owner."""
        session = ConsoleSession(host)
        with self._lock:
            _make_room(self._sessions)
            self._sessions[session.id] = session, self._clock() + SESSION_SECONDS
        return session

    def find_session(self, session_id: str, cookie: str, host: str) -> ConsoleSession | None:
        """Return the session of a request, which lives longer by that; None without one."""
        with self._lock:
            session, expires = self._sessions.get(session_id, (None, 0.0))
            if session is None or not session.is_shown_by(cookie, host):
                return None
            if expires <= self._clock():
                del self._sessions[session_id]
                return None
            self._sessions[session_id] = session, self._clock() + SESSION_SECONDS
            self._sessions.move_to_end(session_id)
            return session

    def end(self, session: ConsoleSession) -> None:
        """End a session at once."""
        with self._lock:
            self._sessions.pop(session.id, None)


def _make_room(entries: OrderedDict[str, Any]) -> None:
    while len(entries) >= MOST:
        entries.popitem(last=False)


def _is_equal(presented: str, secret: str) -> bool:
    return hmac.compare_digest(presented.encode("utf-8", "replace"), secret.encode())
