"""Grants, registrations, codes and tokens in one SQLite file, which only the user can read
(specs/remote.md STORE). Secrets are in it as hashes.

Several processes use the file at once: a server, and the command that ends a grant.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any, Final

from obsidian_mcp.core.grants.credential import Code, Token
from obsidian_mcp.core.grants.grant import Grant
from obsidian_mcp.core.grants.key_use import KeyUse
from obsidian_mcp.core.grants.registration import Registration
from obsidian_mcp.errors import StorageFailed

from .private_database import open_private_database

LOCK_SECONDS: Final = 10.0
"""How long a process waits for another one that writes."""
USE_SECONDS: Final = 60.0
"""The last use of a grant is exact to so many seconds: each request would write otherwise."""
_DAY: Final = 86_400.0
REMEMBERED_SECONDS: Final = 365 * _DAY
"""How long a program that had a grant may come back under its `client_id`."""
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS grants (
  id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, app TEXT NOT NULL, host TEXT NOT NULL,
  client TEXT NOT NULL, resource TEXT NOT NULL, vault TEXT NOT NULL, folder TEXT NOT NULL,
  is_read_only INTEGER NOT NULL, created REAL NOT NULL, used REAL NOT NULL, expires REAL NOT NULL,
  asked_less INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS registrations (
  client TEXT PRIMARY KEY, name TEXT NOT NULL, redirects TEXT NOT NULL, method TEXT NOT NULL,
  secret BLOB NOT NULL, created REAL NOT NULL, allowed REAL NOT NULL);
CREATE TABLE IF NOT EXISTS codes (
  digest BLOB PRIMARY KEY, grant_id TEXT NOT NULL REFERENCES grants(id) ON DELETE CASCADE,
  client TEXT NOT NULL, redirect TEXT NOT NULL, challenge TEXT NOT NULL, scope TEXT NOT NULL,
  expires REAL NOT NULL, redeemed REAL NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (
  digest BLOB PRIMARY KEY, grant_id TEXT NOT NULL REFERENCES grants(id) ON DELETE CASCADE,
  is_refresh INTEGER NOT NULL, scope TEXT NOT NULL, expires REAL NOT NULL, spent REAL NOT NULL);
CREATE TABLE IF NOT EXISTS key_uses (
  name TEXT PRIMARY KEY, app TEXT NOT NULL, used REAL NOT NULL);
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS codes_of_grant ON codes(grant_id);
CREATE INDEX IF NOT EXISTS tokens_of_grant ON tokens(grant_id);
"""


class GrantStore:
    """The file, opened at the first use. Every method raises StorageFailed while it cannot be
    used. For any thread."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.RLock()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what is read and written inside the block one step, in this and other processes."""
        with self._lock, self._run_step():
            yield

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # --- grants

    def grants(self) -> tuple[Grant, ...]:
        """Return all grants, those used last first."""
        if not self._file.exists():
            return ()
        return tuple(map(_read_grant, self._rows("SELECT * FROM grants ORDER BY used DESC, name")))

    def find_grant(self, grant_id: str) -> Grant | None:
        """Return the grant with an id; None where it has ended."""
        rows = self._rows("SELECT * FROM grants WHERE id = ?", grant_id)
        return _read_grant(rows[0]) if rows else None

    def add_grant(self, grant: Grant) -> None:
        """Keep a new grant, and that the owner has allowed its program something."""
        with self.transaction():
            self._write(
                "INSERT INTO grants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *astuple(grant)
            )
            self._write(
                "UPDATE registrations SET allowed = ? WHERE client = ?", grant.created, grant.client
            )

    def end_grant(self, grant_id: str) -> bool:
        """Forget a grant with its codes and tokens: from now on they open nothing. Returns whether
        there was one."""
        return self._write("DELETE FROM grants WHERE id = ?", grant_id) > 0

    def note_use(self, grant: Grant, now: float) -> None:
        """Keep when a grant was used, exact to a minute."""
        if now - grant.used >= USE_SECONDS:
            self._write("UPDATE grants SET used = ? WHERE id = ?", now, grant.id)

    # --- keys

    def key_uses(self) -> Mapping[str, KeyUse]:
        """Return when and by which program each key was used last, by the names of keys."""
        if not self._file.exists():
            return {}
        rows = self._rows("SELECT name, app, used FROM key_uses")
        return {name: KeyUse(app, used) for name, app, used in rows}

    def note_key_use(self, name: str, use: KeyUse) -> None:
        """Keep when and by which program a key was used."""
        self._write("INSERT OR REPLACE INTO key_uses VALUES (?, ?, ?)", name, use.app, use.used)

    def forget_key(self, name: str) -> None:
        """Forget the use of a key: another one may get its name."""
        if self._file.exists():
            self._write("DELETE FROM key_uses WHERE name = ?", name)

    # --- registrations

    def find_registration(self, client: str) -> Registration | None:
        """Return a program that registered here; None for an unknown one."""
        rows = self._rows(
            "SELECT client, name, redirects, method, secret, created FROM registrations "
            "WHERE client = ?",
            client,
        )
        if not rows:
            return None
        client, name, redirects, method, secret, created = rows[0]
        return Registration(client, name, tuple(json.loads(redirects)), method, secret, created)

    def add_registration(self, added: Registration, limit: int) -> None:
        """Keep a registration, and at most so many to which the owner has never allowed anything:
        the oldest is forgotten."""
        with self.transaction():
            self._write(
                "DELETE FROM registrations WHERE client IN (SELECT client FROM registrations WHERE "
                "allowed = 0 "
                "ORDER BY created DESC LIMIT -1 OFFSET ?)",
                max(limit - 1, 0),
            )
            self._write(
                "INSERT INTO registrations VALUES (?, ?, ?, ?, ?, ?, 0)",
                added.client,
                added.name,
                json.dumps(added.redirects),
                added.method,
                added.secret,
                added.created,
            )

    def count_registrations(self, name: str, since: float) -> int:
        """Return how many programs of a name have registered since a time."""
        return int(
            self._rows(
                "SELECT count(*) FROM registrations WHERE name = ? AND created >= ?", name, since
            )[0][0]
        )

    # --- codes

    def add_code(self, code: Code) -> None:
        """Keep a new code."""
        self._write(
            "INSERT INTO codes VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *astuple(code),
        )

    def find_code(self, digest: bytes) -> Code | None:
        """Return the code with a hash; None for an unknown one."""
        rows = self._rows("SELECT * FROM codes WHERE digest = ?", digest)
        return Code(*rows[0]) if rows else None

    def mark_redeemed(self, digest: bytes, now: float) -> None:
        """Keep that a code was exchanged for tokens."""
        self._write("UPDATE codes SET redeemed = ? WHERE digest = ?", now, digest)

    # --- tokens

    def add_token(self, token: Token) -> None:
        """Keep a new token."""
        self._write(
            "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?)",
            *astuple(token),
        )

    def find_token(self, digest: bytes) -> Token | None:
        """Return the token with a hash; None for an unknown one."""
        rows = self._rows("SELECT * FROM tokens WHERE digest = ?", digest)
        if not rows:
            return None
        digest, grant, is_refresh, scope, expires, spent = rows[0]
        return Token(digest, grant, bool(is_refresh), scope, expires, spent)

    def mark_spent(self, digest: bytes, now: float) -> None:
        """Keep that a refresh token was exchanged for another one."""
        self._write("UPDATE tokens SET spent = ? WHERE digest = ?", now, digest)

    # --- what is over

    def list_unredeemed(self, now: float) -> tuple[Grant, ...]:
        """Return the grants whose code has expired without having been exchanged."""
        rows = self._rows(
            "SELECT * FROM grants WHERE id IN "
            "(SELECT grant_id FROM codes WHERE redeemed = 0 AND expires <= ?)",
            now,
        )
        return tuple(map(_read_grant, rows))

    def forget_expired(self, now: float, unused_before: float, registered_before: float) -> None:
        """Forget the codes and tokens that have expired, grants without a use since
        `unused_before`, and registrations before `registered_before` to which the owner has
        never allowed anything.

        Others stay for a year behind their last grant: a host keeps its `client_id` when its
        connection ends, and cannot always get another one.
        """
        with self.transaction():
            self._write("DELETE FROM codes WHERE expires <= ? AND redeemed = 0", now)
            self._write("DELETE FROM codes WHERE redeemed > 0 AND redeemed <= ?", unused_before)
            self._write("DELETE FROM tokens WHERE expires <= ?", now)
            self._write(
                "DELETE FROM grants WHERE used <= ? OR (expires > 0 AND expires <= ?)",
                unused_before,
                now,
            )
            self._write(
                "UPDATE registrations SET allowed = ? WHERE allowed <= ? AND "
                "client IN (SELECT client FROM grants)",
                now,
                now - _DAY,
            )
            self._write(
                "DELETE FROM registrations WHERE created <= ? AND allowed <= ? AND "
                "client NOT IN (SELECT client FROM grants)",
                registered_before,
                max(now - REMEMBERED_SECONDS, 0),
            )

    # --- the password

    def setting(self, name: str) -> str:
        """Return a setting; empty where it was never made."""
        if not self._file.exists():
            return ""
        rows = self._rows("SELECT value FROM settings WHERE name = ?", name)
        return str(rows[0][0]) if rows else ""

    def set_setting(self, name: str, value: str) -> None:
        """Keep a setting; an empty one is forgotten."""
        if value:
            self._write("INSERT OR REPLACE INTO settings VALUES (?, ?)", name, value)
        else:
            self._write("DELETE FROM settings WHERE name = ?", name)

    # --- SQL

    def _rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock, self._report_failures():
            return self._open().execute(statement, values).fetchall()

    def _write(self, statement: str, *values: Any) -> int:
        with self._lock, self._run_step():
            return self._open().execute(statement, values).rowcount

    @contextmanager
    def _run_step(self) -> Iterator[None]:
        """One transaction, or part of the one that this thread is in."""
        with self._report_failures():
            connection = self._open()
            if connection.in_transaction:
                yield
                return
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    @contextmanager
    def _report_failures(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StorageFailed(
                f"'{self._file}', which holds who may come in, cannot be used: {error}. Move it "
                "away to begin anew: every program must then sign in again."
            ) from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = _connect(self._file)
        return self._connection


def _connect(file: Path) -> sqlite3.Connection:
    """Open the file, which is made for the user only. Raises: OSError, sqlite3.Error."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.parent.chmod(0o700)  # it may have been there
    return open_private_database(file, _SCHEMA, patience=LOCK_SECONDS, commits_itself=True)


def _read_grant(row: tuple[Any, ...]) -> Grant:
    grant = Grant(*row)
    # SQLite has numbers for truth
    return replace(grant, is_read_only=bool(grant.is_read_only), asked_less=bool(grant.asked_less))
