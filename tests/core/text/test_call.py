"""One outcome for a call whose time is over: stopped before its commit, or finished (SAFE-19)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.text.call import Deadline, call_with, checkpoint
from obsidian_mcp.errors import OperationTimeout


def test_a_call_that_is_cancelled_before_its_commit_never_begins_it() -> None:
    limit = Deadline(60)
    assert limit.cancel()
    assert limit.remaining == 0
    with pytest.raises(OperationTimeout, match="before it changed anything"):
        limit.begin_commit()
    assert limit.cancel()


def test_a_commit_that_has_begun_is_not_stopped_by_the_limit_or_the_client() -> None:
    limit = Deadline(0.0)
    with pytest.raises(OperationTimeout):
        limit.begin_commit()
    limit = Deadline(60)
    limit.begin_commit()
    assert not limit.cancel()
    assert not limit.passed
    assert limit.remaining > 60
    limit.begin_commit()


def test_only_a_call_that_committed_after_its_limit_is_late() -> None:
    limit = Deadline(0.05)
    with call_with(limit=limit):
        limit.begin_commit()
        assert limit.late_note is None
        while not limit.overrun:
            checkpoint()
        checkpoint()
        assert "longer than the limit of 0.05 s" in str(limit.late_note)


def test_the_error_of_a_call_over_its_limit_says_how_to_have_a_longer_one() -> None:
    """TOOL-09"""
    message = Deadline(0.0).error().message
    assert "stopped before it changed anything" in message
    assert "OBSIDIAN_MCP_TIMEOUT" in message
