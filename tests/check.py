"""The one gate: format, lint, types, tests. `make test` and CI run it; any failure fails it.

The tests are run in three parts. Two go on at the same time where there are two processors: one mostly waits for the
processes it starts, the other mostly computes. What measures time runs by itself afterwards.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import IO

STEPS = [
    ["compileall", "-q", "obsidian_mcp"],  # else every process of the tests compiles anew what was edited
    ["ruff", "format", "--check", "--quiet", "."],
    ["ruff", "check", "--quiet", "."],
    ["mypy", "--no-error-summary"],
    ["lint-imports"],
]
PYTEST = ["pytest", "--quiet", "--durations=10", "-m", "not timing"]
MEASUREMENTS = "tests/performance"
WAITING = ["tests/serve", "tests/setup", "tests/test_safety_hostile.py"]
"""The last of them only so that the halves take about as long."""
HALVES = [
    [*PYTEST, "tests", *(f"--ignore={path}" for path in [*WAITING, MEASUREMENTS])],
    [*PYTEST, *WAITING],
]

SHARED = Path(__file__).parents[2] / "shared"
"""Other people's data, where this machine has it."""

STRICT = {
    "PYTHONWARNDEFAULTENCODING": "1",
    "PYTHONUTF8": "0",
    # the package regex asks for the locale at its first pattern, which is no file of ours
    "PYTHONWARNINGS": "ignore::EncodingWarning:regex._main",
}
"""For tests: a file opened without naming its encoding fails; notes are UTF-8, Windows is not."""


def run(step: list[str], **environment: str) -> bool:
    """True when all went well."""
    started = time.monotonic()
    print(f"$ {' '.join(step)}", flush=True)
    with begin(step, None, environment) as process:
        status = process.wait()
    outcome = "failed" if status else f"fine, {time.monotonic() - started:.0f} s"
    print(f"  {step[0]}: {outcome}", flush=True)
    return not status


def begin(step: list[str], output: IO[bytes] | None, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    program = Path(sys.executable).with_name(step[0])
    # import-linter is the one step that is not a module to run
    command = [str(program), *step[1:]] if step[0] == "lint-imports" else [sys.executable, "-m", *step]
    return subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **environment})


def run_halves() -> bool:
    """Both to their end, whatever comes of the first; what the second prints is shown after the first."""
    first, second = HALVES
    if (os.cpu_count() or 1) < 2:
        fine = run(first, **STRICT)
        return run(second, **STRICT) and fine
    with tempfile.TemporaryFile() as printed:
        with begin(second, printed, STRICT) as beside:
            fine = run(first, **STRICT)
            status = beside.wait()
        print(f"$ {' '.join(second)}", flush=True)
        printed.seek(0)
        sys.stdout.buffer.write(printed.read())
        print(f"  {second[0]}: {'failed' if status else 'fine'}, beside the other half", flush=True)
    return fine and not status


def report_skipped(log: Path) -> bool:
    """Print what was skipped and why; False if tests of ../shared were skipped although it is there."""
    reasons = Counter(log.read_text(encoding="utf-8").splitlines())
    listed = "; ".join(f"{count} because {reason}" for reason, count in reasons.most_common())
    print(f"Skipped: {listed or 'nothing'}.", flush=True)
    missed = [reason for reason in reasons if "../shared" in reason] if SHARED.is_dir() else []
    if missed:
        print(f"Failed: {SHARED} is here, but tests that read it were skipped: {'; '.join(missed)}.", flush=True)
    return not missed


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "skipped"
        log.touch()
        os.environ["SKIPPED_LOG"] = str(log)
        fine = all(run(step) for step in STEPS)
        fine = fine and run_halves()
        fine = fine and run([*PYTEST, MEASUREMENTS], **STRICT)
        fine = report_skipped(log) and fine
    return not fine


if __name__ == "__main__":
    sys.exit(main())
