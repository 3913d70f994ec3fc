"""A copy of the repository in which faults are planted one at a time, and the tests that are run on each.

Nothing but the copy is changed. `../shared` is not beside it: a fault counts as caught only if the
tests of this repository catch it by themselves.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from coverage import CoverageData

from .faults import Fault
from .recorder import SECONDS_FILE, processor_seconds

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", ".bench", "node_modules", "__pycache__")
TESTS = ("tests/core", "tests/tools", "tests/cli")
"""Tests that may see a fault in the core, the nearest first."""
MEMORY_BYTES = 8 * 2**30
"""Address space of a run of the tests: a fault may let a loop collect things for ever."""
PATIENCE = 3
"""Tests that compute this many times as long as without a fault count as a failure. Processor time is counted, so that
a busy machine is not taken for a loop that does not end."""
START_SECONDS = 30.0
"""Processor time that a run may take beside its tests."""
WAITING_SECONDS = 1_800
"""A run that takes so long without computing waits for something that will not come."""
FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/\S+(?: [^-].*?)?)(?: - .*)?$", re.MULTILINE)
ALL_PASSED, SOME_FAILED, NO_TESTS = 0, 1, 5
"""What pytest returns; other numbers mean that it could not go on."""


@dataclass(frozen=True)
class Run:
    """What a run of tests came to."""

    failures: list[str]
    problem: str
    """Why the tests did not come to their end: they computed too long, or could not be loaded."""


@dataclass(frozen=True)
class Outcome:
    fault: Fault
    caught_by: str
    """The test that failed, or how else the fault was noticed; "" if it survived."""
    files: int
    """How many files of tests run the line."""
    seconds: float


class Copy:
    """A copy of the repository, with compiled files, in which the tests are run."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = folder / "repository"
        shutil.copytree(root, self.root, ignore=LEFT_OUT)
        self._data_file = folder / "lines"
        self._seconds_file = folder / "seconds"
        self._failing: list[str] = []
        self._seconds: dict[str, float] = {}
        """The processor time of each file of tests without a fault, with the lines being noted."""

    def record(self) -> list[str]:
        """Run the tests without a fault, and note which files of tests run which lines.

        Return the tests that fail all the same; they are left out later.
        """
        coverage = ["coverage", "run", f"--data-file={self._data_file}", "--source=obsidian_mcp/core"]
        run = self._run([*coverage, "-m", "pytest", "-p", "tests.planted.recorder"], TESTS)
        if run.problem:
            sys.exit(f"The tests do not run without a fault: {run.problem}")
        self._failing = [name.partition("[")[0] for name in run.failures]
        self._seconds = json.loads(self._seconds_file.read_text("utf-8"))
        self._lines = CoverageData(str(self._data_file))
        self._lines.read()
        return self._failing

    def try_fault(self, fault: Fault) -> Outcome:
        """Run the tests that run the line of a fault, up to the first that fails."""
        started = time.monotonic()
        files = self.files_that_run(fault)
        with self.planted(fault):
            caught_by = self._find_failure(files) if files else ""
        return Outcome(fault, caught_by, len(files), time.monotonic() - started)

    def _find_failure(self, files: Sequence[str]) -> str:
        """Return the first test that fails, or why the tests could not go on; "" for none.

        A test that passes when it is run again fails by chance, as on a busy machine.
        """
        by_chance: list[str] = []
        while True:
            run = self._run(["pytest", "--exitfirst"], files, by_chance)
            if not run.failures:
                return run.problem
            name = run.failures[0].partition("[")[0]
            again = self._run(["pytest", "--exitfirst"], [name])
            if again.failures or again.problem:
                return run.failures[0]
            by_chance.append(name)

    def files_that_run(self, fault: Fault) -> list[str]:
        """Return the files of tests that run a line, those of its own package first.

        A line that runs when its file is imported is tested by all that run anything of the file.
        """
        by_line = self._lines.contexts_by_lineno(str(self.root / fault.file))
        files = set(filter(None, by_line.get(fault.line, ())))
        if not files:
            files = set(filter(None, chain.from_iterable(by_line.values())))
        own_package = f"tests/core/{Path(fault.file).parts[2]}/"
        distances = {path: number for number, path in enumerate(TESTS)}

        def distance(file: str) -> tuple[bool, int, str]:
            return not file.startswith(own_package), distances["/".join(file.split("/")[:2])], file

        return sorted(files, key=distance)

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        """Have the fault in the file, which is afterwards as it was.

        The file's time is put back, too, so that Python's compiled file is valid again.
        """
        path = self.root / fault.file
        original, status = path.read_bytes(), path.stat()
        path.write_bytes(fault.plant(original.decode()).encode())
        try:
            yield
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def _run(self, module: Sequence[str], tests: Sequence[str], left_out: Sequence[str] = ()) -> Run:
        """Run tests by a module of Python."""
        command = [sys.executable, "-m", *module, "--quiet", "--tb=no", "-m", "not timing"]
        command += [*tests, *(f"--deselect={name}" for name in (*self._failing, *left_out))]
        environment = {**os.environ, "PYTHONPATH": str(self.root), SECONDS_FILE: str(self._seconds_file)}
        if self._seconds:  # a fault's compiled file could be taken for the original's
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        before = processor_seconds()
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        _bound(process.pid, self._limit_seconds(tests))
        try:
            output, _ = process.communicate(timeout=WAITING_SECONDS)
        except subprocess.TimeoutExpired:
            _kill(process)
            return Run([], f"it took over {WAITING_SECONDS} s")
        seconds = processor_seconds() - before
        problem = ""
        if process.returncode not in (ALL_PASSED, SOME_FAILED, NO_TESTS):
            last_line = (output.strip().splitlines() or [""])[-1]
            problem = f"pytest ended with {process.returncode} after {seconds:.0f} s: {last_line}"
        return Run(FAILED.findall(output), problem)

    def _limit_seconds(self, tests: Sequence[str]) -> float:
        """Return the most processor time of a run of some files of tests, or of one test."""
        if not self._seconds:
            return math.inf
        return START_SECONDS + PATIENCE * sum(self._seconds.get(test.partition("::")[0], 0.0) for test in tests)


def _bound(pid: int, processor_seconds: float) -> None:
    """Bound the time and memory of a run and of the processes that it starts, where the system can."""
    with suppress(ImportError, ProcessLookupError):
        from resource import RLIMIT_AS, RLIMIT_CPU, prlimit

        prlimit(pid, RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        if processor_seconds < math.inf:
            prlimit(pid, RLIMIT_CPU, (int(processor_seconds), int(processor_seconds)))


def _kill(process: subprocess.Popen[str]) -> None:
    """End a run with the processes that its tests started."""
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()
