"""Where grants and what was issued for them are kept (specs/remote.md GRANT, STORE)."""

from __future__ import annotations

import hashlib
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from obsidian_mcp.adapters.grant_store import GrantStore
from obsidian_mcp.core.grants.credential import Code, Token
from obsidian_mcp.core.grants.grant import Grant, choose_name
from obsidian_mcp.core.grants.registration import Registration
from obsidian_mcp.errors import StorageFailed

CLAUDE = Grant(
    "g1", "claude", "Claude", "claude.ai", "c1", "https://n.example/mcp", "/v", "Work", True, created=10, used=10
)
CODE = Code(b"code", "g1", "c1", "https://claude.ai/cb", "challenge", "vault:read", expires=130)
TOKEN = Token(b"access", "g1", is_refresh=False, scope="vault:read", expires=500)
APP = Registration("c1", "Claude", ("https://claude.ai/cb",), "none", created=5)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "access" / "grants.db"


@pytest.fixture
def store(file: Path) -> Iterator[GrantStore]:
    store = GrantStore(file)
    yield store
    store.close()


def test_what_is_kept_is_there_for_the_next_process(store: GrantStore, file: Path) -> None:
    """GRANT-01, STORE-01"""
    store.add_registration(APP, limit=10)
    store.add_grant(CLAUDE)
    store.add_code(CODE)
    store.add_token(TOKEN)
    store.close()

    again = GrantStore(file)

    assert again.grants() == (CLAUDE,)
    assert again.find_grant("g1") == CLAUDE
    assert again.find_registration("c1") == APP
    assert again.find_code(b"code") == CODE
    assert again.find_token(b"access") == TOKEN
    again.close()


def test_asking_for_grants_makes_no_file(store: GrantStore, file: Path) -> None:
    assert store.grants() == ()
    assert store.setting("password") == ""
    assert not file.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_the_user_can_read_the_file(store: GrantStore, file: Path) -> None:
    """STORE-01"""
    file.parent.mkdir(parents=True, mode=0o755)
    store.add_grant(CLAUDE)

    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()} == {0o600}


def test_a_grant_that_another_process_ends_takes_its_codes_and_tokens_with_it(store: GrantStore, file: Path) -> None:
    """STORE-02"""
    store.add_grant(CLAUDE)
    store.add_code(CODE)
    store.add_token(TOKEN)
    command = GrantStore(file)

    assert command.end_grant("g1")

    assert not command.end_grant("g1")
    assert store.grants() == ()
    assert store.find_code(b"code") is None
    assert store.find_token(b"access") is None
    command.close()


def test_the_last_use_is_exact_to_a_minute(store: GrantStore) -> None:
    """GRANT-01"""
    store.add_grant(CLAUDE)

    store.note_use(CLAUDE, 69)
    assert store.grants() == (CLAUDE,)

    store.note_use(CLAUDE, 70)
    assert store.grants() == (replace(CLAUDE, used=70),)


def _expire(store: GrantStore, now: float) -> None:
    store.forget_expired(now, unused_before=now - 60, registered_before=now - 24)


@pytest.mark.parametrize(
    ("until", "is_there"),
    [
        (129.0, lambda store: store.find_code(b"code") is not None),
        (499.0, lambda store: store.find_token(b"access") is not None),
        (69.0, lambda store: store.find_grant("g1") is not None),
        (28.0, lambda store: store.find_registration("free") is not None),
    ],
    ids=["code", "token", "grant", "registration"],
)
def test_what_is_over_is_forgotten(store: GrantStore, until: float, is_there: Callable[[GrantStore], bool]) -> None:
    """STORE-03"""
    store.add_registration(APP, limit=10)
    store.add_registration(replace(APP, client="free"), limit=10)
    store.add_grant(CLAUDE if until == 69.0 else replace(CLAUDE, used=1_000))
    store.add_code(CODE)
    store.add_token(TOKEN)

    _expire(store, until)
    assert is_there(store)

    _expire(store, until + 1)
    assert not is_there(store)


def test_a_registration_with_a_grant_is_never_forgotten(store: GrantStore) -> None:
    """STORE-03"""
    store.add_registration(APP, limit=2)
    store.add_grant(replace(CLAUDE, used=1_000_000))
    for number in range(5):
        store.add_registration(replace(APP, client=f"flood-{number}", created=6 + number), limit=2)
    _expire(store, 900_000)

    assert store.find_registration("c1") is not None
    assert store.find_registration("flood-4") is None


def test_a_program_whose_grant_has_ended_may_come_back_for_a_year(store: GrantStore) -> None:
    """STORE-03: a host keeps its client_id, and cannot always get another one"""
    day = 86_400.0
    store.add_registration(APP, limit=2)
    store.add_grant(replace(CLAUDE, used=500 * day))
    store.forget_expired(450 * day, unused_before=1, registered_before=449 * day)  # it was there on that day
    store.end_grant("g1")
    for number in range(5):
        store.add_registration(replace(APP, client=f"flood-{number}", created=460 * day), limit=2)
    store.forget_expired(800 * day, unused_before=1, registered_before=799 * day)
    assert store.find_registration("c1") == APP

    store.forget_expired(816 * day, unused_before=1, registered_before=815 * day)

    assert store.find_registration("c1") is None


def test_a_further_registration_displaces_the_oldest_without_a_grant(store: GrantStore) -> None:
    """STORE-03"""
    for number in range(5):
        store.add_registration(replace(APP, client=f"app-{number}", created=number), limit=3)

    there = [number for number in range(5) if store.find_registration(f"app-{number}")]

    assert there == [2, 3, 4]


def test_a_step_that_fails_changes_nothing(store: GrantStore) -> None:
    store.add_grant(CLAUDE)

    def add_twice() -> None:
        with store.transaction():
            store.add_token(TOKEN)
            store.add_token(TOKEN)

    with pytest.raises(StorageFailed):
        add_twice()

    assert store.find_token(b"access") is None


def test_a_damaged_file_is_reported_with_what_to_do(store: GrantStore, file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(b"no database, and longer than its head would be" * 10)

    with pytest.raises(StorageFailed, match="Move it away"):
        store.grants()


def test_no_secret_is_in_the_file(store: GrantStore, file: Path) -> None:
    """STORE-01"""
    digest = hashlib.sha256(b"oma_secret").digest()
    store.add_grant(CLAUDE)
    store.add_token(replace(TOKEN, digest=digest))
    store.close()

    written = b"".join(path.read_bytes() for path in file.parent.iterdir())

    assert digest in written
    assert b"oma_secret" not in written


@pytest.mark.parametrize(
    ("app", "taken", "name"),
    [
        ("Claude", (), "claude"),
        ("Claude", ("claude",), "claude-2"),
        ("Claude", ("claude", "claude-2"), "claude-3"),
        ("Claude Code (home)", (), "claude-code-home"),
        ("Obsidiân", (), "obsidian"),
        ("笔记", (), "app"),
        ("", ("app",), "app-2"),
        ("x" * 80, (), "x" * 32),
    ],
)
def test_a_grant_is_named_by_a_word_that_is_not_taken(app: str, taken: tuple[str, ...], name: str) -> None:
    """GRANT-01"""
    assert choose_name(app, taken) == name
