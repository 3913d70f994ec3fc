"""What several files of tests about one vault share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .test_first_look import Look


@pytest.fixture
def look(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Look]:
    """A look at the folder that lasts until it is let go; `root` is the vault of the file."""
    held = Look(monkeypatch)
    yield held
    held.end()
