"""A server that several tests can ask."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from tests.conftest import FIXTURES
from tests.serve.mcp.test_resources import started
from tests.serve.raw import RawServer


class NoBrowser(pytest.Directory):
    """A folder of tests that needs a package to drive a browser, which this system has not."""

    def collect(self) -> NoReturn:
        pytest.skip("the package playwright is not installed, which drives a browser", allow_module_level=True)


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Skip the tests of the views where there is nothing to run them."""
    if path.name != "views" or find_spec("playwright") is not None:
        return None
    folder: pytest.Collector = NoBrowser.from_parent(parent, path=path)
    return folder


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawServer]:
    """One server for the tests of a file that change nothing. Beside its vault lies a note that is none of its own."""
    vault = Path(shutil.copytree(FIXTURES / "basic", tmp_path_factory.mktemp("still") / "basic"))
    (vault.parent / "secret.md").write_text("secret", encoding="utf-8")
    with started(vault) as running:
        running.initialize()
        yield running
        assert running.close() == 0
