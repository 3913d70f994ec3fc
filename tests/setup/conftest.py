"""The extension for Claude Desktop, built once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.generated import ROOT


def bundle(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "packaging/bundle.py"), *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="package")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension's files, which no test changes."""
    folder = tmp_path_factory.mktemp("built") / "extension"
    done = bundle("--stage", str(folder))
    assert done.returncode == 0, done.stderr
    return folder
