"""A browser for the tests of this folder, and a host on the fixture vault."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from obsidian_mcp.app import App
from tests.conftest import FIXTURES, app_on
from tests.serve.serving import serving

from .reference_host import ReferenceHost, open_browser

if TYPE_CHECKING:  # the folder is skipped where the package is absent
    from playwright.sync_api import Browser

PATIENCE = 20_000
"""Milliseconds; a busy machine is slow."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with open_browser(PATIENCE) as running:
        yield running


@pytest.fixture
def notes() -> dict[str, str | bytes]:
    """Files beside those of the fixture vault; a test parametrizes it."""
    return {}


@pytest.fixture(scope="package")
def page_of_host(browser: Browser) -> Iterator[ReferenceHost]:
    """One page for all tests: a new one takes a second."""
    context = browser.new_context()
    yield ReferenceHost(context)
    context.close()


@pytest.fixture
def host(page_of_host: ReferenceHost, app: App, basic: Path, notes: dict[str, str | bytes]) -> Iterator[ReferenceHost]:
    """A host on the test's own vault."""
    for path, content in notes.items():
        (basic / path).write_bytes(content.encode() if isinstance(content, str) else content)
    with serving(app) as url, page_of_host.on(url) as opened:
        yield opened


@pytest.fixture(scope="package")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server on a vault that several tests look at; none changes it."""
    app = app_on(Path(shutil.copytree(FIXTURES / "basic", tmp_path_factory.mktemp("still") / "basic")))
    with serving(app) as url:
        yield url
    app.vaults.close()


@pytest.fixture
def viewer(page_of_host: ReferenceHost, still: str) -> Iterator[ReferenceHost]:
    """A host on the vault that no test changes."""
    with page_of_host.on(still) as opened:
        yield opened
