"""Other people's programs against the server: the official conformance suite, and clients of other SDKs.

They are installed into tests/foreign on demand, which needs npm and a way to its registry; without one the tests are
skipped. Baselines list what the server fails for want of fixtures that the suite calls by name; `make update`
writes them anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.contracts.plugin.table import PLUGIN_TOOLS
from obsidian_mcp.tools.registry import TOOLS
from tests.foreign.conformance_app import with_the_fixtures
from tests.foreign.npm import FOREIGN, MODULES, missing, problem_of
from tests.generated import advice, check_text
from tests.serve.serving import serving

NODE = MODULES / "node" / "bin" / "node"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
OLD_SDK = "mcp==1.30.0"
ONLY_THERE = ("httpx-sse", "pydantic-settings", "python-dotenv")
"""What that version needs beside the packages that are here for the newer one."""
OLD_PACKAGES = FOREIGN / ".python_modules" / str(sys.implementation.cache_tag)
EMPTY = FOREIGN / "baseline-empty.yml"
REVISIONS = ["2025-11-25", "2026-07-28"]


@pytest.fixture(scope="session")
def npm_packages() -> None:
    if reason := missing():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def old_sdk() -> None:
    if not (OLD_PACKAGES / "mcp").exists():
        options = ("--quiet", "--no-deps", "--no-compile", "--target", str(OLD_PACKAGES))
        pip = (sys.executable, "-m", "pip", "install", *options, OLD_SDK, *ONLY_THERE)
        if problem := problem_of(pip, FOREIGN):
            pytest.skip(f"{OLD_SDK} could not be installed: {problem}")


def run_suite(url: str, revision: str, *more: str) -> tuple[int, str]:
    """The suite's exit status and what it said."""
    local = url.replace("127.0.0.1", "localhost")
    command = [str(NODE), str(SUITE), "server", "--url", f"{local}/mcp", "--requirements", revision, *more]
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def unexpected(report: str) -> list[str]:
    """Scenarios that the report says are not in the baseline."""
    reply = report.partition("Unexpected failures (not in baseline)")[2]
    return [line.split()[1] for line in reply.splitlines() if line.strip().startswith("✗")]


@pytest.mark.usefixtures("npm_packages")
def test_the_server_fails_the_suite_only_for_want_of_its_fixtures(app: App, update: bool) -> None:
    with serving(app) as url:
        for revision in REVISIONS:
            baseline = FOREIGN / f"baseline-{revision}.yml"
            if update:
                _, report = run_suite(url, revision, "--expected-failures", str(EMPTY))
                lines = ["server:", *(f"  - {name}" for name in unexpected(report))]
                check_text(baseline, "\n".join(lines) + "\n", update=True)
            status, report = run_suite(url, revision, "--expected-failures", str(baseline))
            assert status == 0, f"{report}\nIf this is intended: {advice(baseline)}"


@pytest.mark.usefixtures("npm_packages")
@pytest.mark.filterwarnings("ignore")  # fixtures use what the SDK calls deprecated
def test_with_the_suites_fixtures_nothing_fails(app: App) -> None:
    with with_the_fixtures(), serving(app) as url:
        for revision in REVISIONS:
            status, report = run_suite(url, revision, "--expected-failures", str(EMPTY))
            assert status == 0, report
            assert report.partition("=== SUMMARY ===")[2].count("✓") > 20


def seen_by(command: Sequence[str], **environ: str) -> dict[str, Any]:
    more = {**os.environ, **environ}
    done = subprocess.run(command, capture_output=True, check=False, timeout=60, cwd=FOREIGN, env=more)
    assert done.returncode == 0, done.stderr.decode()
    return dict(json.loads(done.stdout))


def check_client(seen: dict[str, Any], home: str) -> None:
    assert seen["server"] == "obsidian-mcp"
    assert seen["session"] is True
    assert {name for name, tool in {**TOOLS, **PLUGIN_TOOLS}.items() if not tool.needs_app} <= set(seen["tools"])
    assert seen["read"]["content"][0]["text"] == home
    assert seen["failed"]["isError"] is True
    assert seen["failed"]["content"][0]["text"].startswith("Error: ")
    assert seen["refused"] == -32602


@pytest.mark.usefixtures("npm_packages")
def test_the_typescript_sdks_client_works(app: App, basic: Path) -> None:
    home = (basic / "Home.md").read_text(encoding="utf-8")
    with serving(app, keys=("secret",)) as url:
        check_client(seen_by([str(NODE), "client.mjs", f"{url}/mcp", "secret"]), home)
    with serving(app) as url:
        check_client(seen_by([str(NODE), "client.mjs", f"{url}/mcp"]), home)


@pytest.mark.usefixtures("old_sdk")
def test_the_python_sdks_older_client_works(app: App, basic: Path) -> None:
    home = (basic / "Home.md").read_text(encoding="utf-8")
    with serving(app, keys=("secret",)) as url:
        command = [sys.executable, "client.py", f"{url}/mcp", "secret"]
        check_client(seen_by(command, PYTHONPATH=str(OLD_PACKAGES)), home)
