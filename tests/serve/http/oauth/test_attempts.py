"""How often somebody may try (specs/remote.md OAUTH-40, OAUTH-41)."""

from __future__ import annotations

import pytest

from obsidian_mcp.serve.http.access.oauth.attempts import GuessLimit, RateLimit, address_group


def test_all_addresses_together_have_a_limit_of_their_own() -> None:
    """OAUTH-40"""
    now = 0.0
    limit = RateLimit(20, 60, lambda: now)
    waits = [limit.wait(f"192.0.2.{number}") for number in range(60)]
    assert waits == [0] * 60

    now = 45.0
    assert limit.wait("192.0.2.200") == 16
    now = 60.0
    assert limit.wait("192.0.2.200") == 0


def test_a_refused_try_is_not_counted() -> None:
    """OAUTH-40: who goes on trying is let in as soon as who waits"""
    now = 0.0
    limit = RateLimit(2, 10, lambda: now)
    assert [limit.wait("a"), limit.wait("a"), limit.wait("a")] == [0, 0, 61]
    for second in range(60):
        now = float(second)
        assert limit.wait("a") == 61 - second
    now = 60.0

    assert limit.wait("a") == 0


def test_a_wrong_secret_is_forgotten_after_an_hour_or_with_the_right_one() -> None:
    """OAUTH-41"""
    now = 0.0
    limit = GuessLimit(lambda: now)
    for _ in range(4):
        limit.count_wrong("a")
    now = 3_601.0
    limit.count_wrong("a")
    assert limit.wait("a") == 0
    for _ in range(3):
        limit.count_wrong("a")
    limit.reset("a")
    limit.count_wrong("a")
    assert limit.wait("a") == 0


def test_the_wait_doubles_up_to_fifteen_minutes() -> None:
    """OAUTH-41"""
    limit = GuessLimit(lambda: 0.0)
    waits = []
    for _ in range(12):
        limit.count_wrong("a")
        waits.append(limit.wait("a"))

    assert waits == [0, 0, 0, 0, 30, 60, 120, 240, 480, 900, 900, 900]


def test_more_addresses_than_are_counted_displace_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    """OAUTH-41: a flood of addresses takes no more memory"""
    monkeypatch.setattr("obsidian_mcp.serve.http.access.oauth.attempts.MOST_ADDRESSES", 3)
    limit = GuessLimit(lambda: 0.0)
    for _ in range(5):
        limit.count_wrong("192.0.2.1")
    for number in range(2, 4):
        limit.count_wrong(f"192.0.2.{number}")
    assert limit.wait("192.0.2.1") == 30
    limit.count_wrong("192.0.2.4")

    assert limit.wait("192.0.2.1") == 0


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_of_ipv6_one_customers_addresses_are_one(address: str, group: str) -> None:
    """OAUTH-41"""
    assert address_group(address) == group
