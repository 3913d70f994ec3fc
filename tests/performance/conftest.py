"""The figures of the measurements stand in the summary of every run."""

from __future__ import annotations

import pytest

FIGURES: list[str] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if FIGURES:
        terminalreporter.section("latency")
        for figure in FIGURES:
            terminalreporter.write_line(figure)
