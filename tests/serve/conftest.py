"""A server that several tests can ask."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import FIXTURES
from tests.serve.mcp.test_resources import started
from tests.serve.raw import RawServer


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawServer]:
    """One server for the tests of a file that change nothing. Beside its vault lies a note that is none of its own."""
    vault = Path(shutil.copytree(FIXTURES / "basic", tmp_path_factory.mktemp("still") / "basic"))
    (vault.parent / "secret.md").write_text("secret", encoding="utf-8")
    with started(vault) as running:
        running.initialize()
        yield running
        assert running.close() == 0
