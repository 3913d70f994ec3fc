"""A copy of the repository in which faults are planted one at a time, and the tests that are run on each.

Nothing but the copy is changed. `../shared` is not beside it: a fault counts as caught only if the
tests of this repository catch it by themselves.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .faults import Fault

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", ".bench", "node_modules", "__pycache__")
MEMORY_BYTES = 8 * 2**30
"""Address space of a run of the tests: a fault may let a loop collect things for ever."""
PATIENCE = 3
"""A run that takes this many times as long as without a fault, and a minute, counts as a failure."""
EXTRA_SECONDS = 60
FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/\S+(?: [^-].*?)?)(?: - .*)?$", re.MULTILINE)
NOTHING_COLLECTED = 5
"""What pytest returns when there is no test."""


@dataclass(frozen=True)
class Stage:
    """Tests that are run together; the stages of a fault are run until one of them catches it."""

    name: str
    paths: tuple[str, ...]
    ignored: tuple[str, ...] = ()


TOOLS = Stage("tools", ("tests/tools",))
CLI = Stage("cli", ("tests/cli",))


@dataclass(frozen=True)
class Run:
    """What a run of tests came to."""

    failures: tuple[str, ...]
    seconds: float
    problem: str = ""
    """Why the tests did not come to their end: they took too long, or could not be loaded."""


@dataclass(frozen=True)
class Outcome:
    fault: Fault
    caught_by: str
    """The test that failed, or how else the fault was noticed; "" if it survived."""
    seconds: float


class Copy:
    """A copy of the repository, with compiled files, in which the tests are run."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = folder / "repository"
        shutil.copytree(root, self.root, ignore=LEFT_OUT)
        self._usual_seconds: dict[Stage, float] = {}
        self._failing: list[str] = []

    def stages(self, file: str) -> Iterator[Stage]:
        """Yield the tests that may see a fault in a file of the core, the nearest first."""
        package = f"tests/core/{Path(file).parts[2]}"
        has_own = (self.root / package).is_dir()
        if has_own:
            yield Stage(f"core/{Path(package).name}", (package,))
        yield Stage("core", ("tests/core",), (package,) if has_own else ())
        yield TOOLS
        yield CLI

    def measure(self) -> list[str]:
        """Run all stages without a fault; return the tests that fail, which are left out later.

        Every package of the core gets the time of all of them: the runs differ by seconds.
        """
        for stage in (Stage("core", ("tests/core",)), TOOLS, CLI):
            run = self.run(stage, to_the_end=True)
            if run.problem:
                sys.exit(f"The tests of {stage.name} do not run without a fault: {run.problem}")
            self._usual_seconds[stage] = run.seconds
            self._failing += [name.partition("[")[0] for name in run.failures]
        return self._failing

    def try_fault(self, fault: Fault) -> Outcome:
        started = time.monotonic()
        caught_by = ""
        with self.planted(fault):
            for stage in self.stages(fault.file):
                run = self.run(stage)
                caught_by = run.failures[0] if run.failures else run.problem
                if caught_by:
                    break
        return Outcome(fault, caught_by, time.monotonic() - started)

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

    def run(self, stage: Stage, *, to_the_end: bool = False) -> Run:
        """Run the tests of a stage up to the first that fails, or all of them."""
        limit = PATIENCE * self._usual_seconds.get(stage, EXTRA_SECONDS) + EXTRA_SECONDS
        command = [sys.executable, "-m", "pytest", "--quiet", "--tb=no", "-m", "not timing"]
        command += [*stage.paths, *(f"--ignore={path}" for path in stage.ignored)]
        command += [f"--deselect={name}" for name in self._failing]
        if not to_the_end:
            command.append("--exitfirst")
        environment = {**os.environ, "PYTHONPATH": str(self.root)}
        if not to_the_end:  # the compiled file of a fault could be taken for the original's
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        started = time.monotonic()
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
        _bound_memory(process.pid)
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            _kill(process)
            return Run((), time.monotonic() - started, f"{stage.name} took over {limit:.0f} s")
        failures = tuple(FAILED.findall(output))
        ended_well = process.returncode in (0, NOTHING_COLLECTED) or failures
        last_line = (output.strip().splitlines() or [""])[-1]
        problem = "" if ended_well else f"{stage.name} ended with {process.returncode}: {last_line}"
        return Run(failures, time.monotonic() - started, problem)


def _bound_memory(pid: int) -> None:
    """Bound the memory of a run and of the processes that it starts, where the system can."""
    with suppress(ImportError, ProcessLookupError):
        from resource import RLIMIT_AS, prlimit

        prlimit(pid, RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _kill(process: subprocess.Popen[str]) -> None:
    """End a run with the processes that its tests started."""
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()
