"""Six calls of each client of the soak test of the HTTP server; `python -m benchmarks.soak` runs it for a minute."""

from __future__ import annotations

from pathlib import Path

from benchmarks.soak import soak
from tests.generate import generate


def test_sixty_four_clients_lose_no_write_and_get_no_failure(tmp_path: Path) -> None:
    """LIFE-07"""
    found = soak(generate(tmp_path / "vault", 100), clients=64, seconds=0.0, pause=0.02, calls=6)
    assert found.failures == []
    assert found.answered_5xx == 0
    assert found.lost == []
    assert found.doubled == []
    assert len(found.appended) > 64
