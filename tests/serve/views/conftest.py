"""A browser for the tests of this folder, and a host on the fixture vault."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from obsidian_mcp.app import App
from tests.serve.serving import serving

from .reference_host import ReferenceHost, hosting, launched


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = launched(playwright)
        yield running
        running.close()


@pytest.fixture
def host(browser: Browser, app: App) -> Iterator[ReferenceHost]:
    with serving(app) as url, hosting(browser, url) as opened:
        yield opened
