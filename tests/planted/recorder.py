"""A plugin of pytest that tells coverage which file of tests runs, so that it notes that by line."""

from __future__ import annotations

import pytest
from coverage import Coverage


def pytest_runtest_setup(item: pytest.Item) -> None:
    coverage = Coverage.current()
    if coverage is not None:
        coverage.switch_context(item.nodeid.partition("::")[0])
