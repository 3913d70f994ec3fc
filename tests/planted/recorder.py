"""A plugin of pytest that notes, while no fault is planted, which file of tests runs which lines and for how long."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest
from coverage import Coverage

SECONDS_FILE = "PLANTED_SECONDS_FILE"
"""The environment variable with the file that gets the processor seconds of each file of tests."""
_seconds: defaultdict[str, float] = defaultdict(float)


def pytest_runtest_setup(item: pytest.Item) -> None:
    coverage = Coverage.current()
    if coverage is not None:
        coverage.switch_context(_file_of(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    before = processor_seconds()
    answer = yield
    _seconds[_file_of(item)] += processor_seconds() - before
    return answer


def pytest_sessionfinish() -> None:
    Path(os.environ[SECONDS_FILE]).write_text(json.dumps(_seconds), "utf-8")


def processor_seconds() -> float:
    """Return the processor time of this process, and of all that have ended and were waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]
