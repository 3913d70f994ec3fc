"""The one gate: format, lint, types, tests. `make test` and CI run it; any failure fails it."""

from __future__ import annotations

import os
import subprocess
import sys
import time

STEPS = [
    ["ruff", "format", "--check", "--quiet", "."],
    ["ruff", "check", "--quiet", "."],
    ["mypy", "--no-error-summary"],
    ["pytest", "--quiet", "--cov", "--cov-report=term:skip-covered", "--durations=10"],
]


def main() -> int:
    for step in STEPS:
        # a file opened without naming its encoding fails: notes are UTF-8, Windows is not
        strict = {"PYTHONWARNDEFAULTENCODING": "1", "PYTHONUTF8": "0"} if step[0] == "pytest" else {}
        started = time.monotonic()
        print(f"$ {' '.join(step)}", flush=True)
        done = subprocess.run([sys.executable, "-m", *step], env={**os.environ, **strict}, check=False)
        if done.returncode:
            print(f"{step[0]} failed", flush=True)
            return done.returncode
        print(f"  {step[0]}: fine, {time.monotonic() - started:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
