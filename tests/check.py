"""The gates: `make check` in a minute before a commit, `make test` (and CI) before a push. Any failure fails them.

    python -m tests.check quick    format, lint, types, import contracts, workflows, and the tests of the core
    python -m tests.check          all of that, and every other test of our own
    python -m tests.check foreign  the tests with other people's programs: Node, packages of npm, Chromium

Two things run at the same time where there are two processors. What measures time runs by itself afterwards.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which
from sysconfig import get_path
from typing import IO

STATIC = [
    ["compileall", "-q", "obsidian_mcp"],  # else every process of the tests compiles anew what was edited
    ["ruff", "format", "--check", "--quiet", "."],
    ["ruff", "check", "--quiet", "."],
    ["lint-imports"],
    ["zizmor", "--offline", "--quiet", ".github"],
    [
        "check_jsonschema",
        "--builtin-schema",
        "vendor.github-workflows",
        *map(str, Path(".github/workflows").glob("*.yml")),
    ],
    ["check_jsonschema", "--builtin-schema", "vendor.renovate", ".github/renovate.json"],
    ["check_jsonschema", "--builtin-schema", "vendor.compose-spec", "packaging/compose.yaml"],
    ["mypy", "--no-error-summary"],
]
PROGRAMS = {"lint-imports", "zizmor"}
"""Steps that are programs; the others are modules."""
PYTEST = ["pytest", "--quiet", "--durations=10", "-m", "not timing"]
QUICK = [*PYTEST, "--hypothesis-profile=check"]
INDEXED = [f"tests/core/{package}" for package in ("graph", "index", "operations", "search", "vault")]
"""Tests of the core that run beside the others of the core in `make check`, so that both halves take about as long."""
CORE = [*QUICK, "tests/core", "tests/test_house.py", *(f"--ignore={path}" for path in INDEXED)]
MEASURING = [*PYTEST, "tests/performance"]
PROCESSES = [
    "tests/adapters",
    "tests/cli",
    "tests/contracts",
    "tests/serve",
    "tests/setup",
    "tests/test_many_parts.py",
    "tests/test_safety_hostile.py",
    "tests/test_safety_limits.py",
    "tests/test_safety_runaway.py",
]
"""Tests that mostly wait, for processes or for limits of time; the others take about as long beside them."""
WAITING = [*PYTEST, *PROCESSES]
FOREIGN = [*PYTEST, "tests/foreign"]
COMPUTING = [*PYTEST, "tests", *(f"--ignore={path}" for path in [*PROCESSES, "tests/foreign", "tests/performance"])]

MEMORY = Path("/dev/shm")
"""Where many systems keep files in memory: on a disk, what is flushed to it takes half of the time of the tests."""
ROOM_BYTES = 6_000_000_000
"""The files of a whole run are 3 GB."""
SHARED = Path(__file__).parents[2] / "shared"
"""Other people's data, where this machine has it."""

STRICT = {
    "PYTHONWARNDEFAULTENCODING": "1",
    "PYTHONUTF8": "0",
    # the package regex asks for the locale at its first pattern, which is no file of ours
    "PYTHONWARNINGS": "ignore::EncodingWarning:regex._main",
    # whatever the shell says: else each of the processes compiles the tests and pytest's plugins anew
    "PYTHONDONTWRITEBYTECODE": "",
}
"""For tests: a file opened without naming its encoding fails; notes are UTF-8, Windows is not."""


def run(steps: list[list[str]], output: IO[bytes] | None = None) -> bool:
    """Run steps up to the first that fails; True when all went well. `output` takes what they print."""
    for step in steps:
        started = time.monotonic()
        report(f"$ {' '.join(step)}", output)
        program = which(step[0], path=get_path("scripts")) if step[0] in PROGRAMS else sys.executable
        if program is None:
            report(
                f"  {step[0]} is not installed: remove .venv/.installed, and `make` installs what is missing", output
            )
            return False
        environment = {**os.environ, **STRICT} if step[0] == "pytest" else None
        command = [program, *step[1:]] if step[0] in PROGRAMS else [program, "-m", *step]
        done = subprocess.run(command, stdout=output, stderr=output, env=environment, check=False)
        report(f"  {step[0]}: {'failed' if done.returncode else f'fine, {time.monotonic() - started:.0f} s'}", output)
        if done.returncode:
            return False
    return True


def report(line: str, output: IO[bytes] | None) -> None:
    if output is None:
        print(line, flush=True)
    else:
        output.write(f"{line}\n".encode())
        output.flush()


def run_both(first: list[list[str]], second: list[list[str]]) -> bool:
    """Both to their end, whatever comes of the first; what the second prints is shown after the first."""
    if (os.cpu_count() or 1) < 2:
        fine = run(first)
        return run(second) and fine
    with tempfile.TemporaryFile() as printed, ThreadPoolExecutor(1) as pool:
        beside = pool.submit(run, second, printed)
        fine = run(first)
        fine = beside.result() and fine
        printed.seek(0)
        sys.stdout.buffer.write(printed.read())
        sys.stdout.flush()
    return fine


def report_skipped(log: Path) -> bool:
    """Print what was skipped and why; False if tests of ../shared were skipped although it is there."""
    reasons = Counter(log.read_text(encoding="utf-8").splitlines())
    listed = "; ".join(f"{count} because {reason}" for reason, count in reasons.most_common())
    print(f"Skipped: {listed or 'nothing'}.", flush=True)
    missed = [reason for reason in reasons if "../shared" in reason] if SHARED.is_dir() else []
    if missed:
        print(f"Failed: {SHARED} is here, but tests that read it were skipped: {'; '.join(missed)}.", flush=True)
    return not missed


def memory_folder() -> str | None:
    """Return the folder in memory if it has room for the files of the tests, and lets them start programs there."""
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return None
    disk = os.statvfs(MEMORY)
    is_fit = disk.f_bavail * disk.f_frsize > ROOM_BYTES and not disk.f_flag & os.ST_NOEXEC
    return str(MEMORY) if is_fit else None


def main() -> int:
    memory = memory_folder()
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        if memory:
            os.environ["TMPDIR"] = folder
        log = Path(folder) / "skipped"
        log.touch()
        os.environ["SKIPPED_LOG"] = str(log)
        if sys.argv[1:] == ["quick"]:
            fine = run_both([CORE], [*STATIC, [*QUICK, *INDEXED]])
        elif sys.argv[1:] == ["foreign"]:
            fine = run([FOREIGN])
        else:
            fine = run(STATIC) and run_both([COMPUTING], [WAITING]) and run([MEASURING])
        fine = report_skipped(log) and fine
    return not fine


if __name__ == "__main__":
    sys.exit(main())
