"""Views and the pages of the sign-in are tested in a browser, where there is a package that drives it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest


class NoBrowser(pytest.Directory):
    """A folder of tests that needs a package to drive a browser, which this system has not."""

    def collect(self) -> NoReturn:
        pytest.skip("the package playwright is not installed, which drives a browser", allow_module_level=True)


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Skip the tests in a browser where there is nothing to run them."""
    if path.name not in ("views", "sign_in", "console") or find_spec("playwright") is not None:
        return None
    folder: pytest.Collector = NoBrowser.from_parent(parent, path=path)
    return folder
