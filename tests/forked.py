"""Processes of this program that start in milliseconds, because they are forked from one that has imported all of it.

Each has its own pipes, signals and exit status. Starting Python and importing the SDK takes half a second of processor
time, and tests start hundreds of servers. Where a system cannot fork, and for tests about the start itself (an
environment of their own for Python), new processes are started.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from tests.system import IN_ITS_GROUP, can

ROOT = Path(__file__).parent.parent
LENGTH_BYTES = 4


def start(
    command: Sequence[str],
    *,
    stdin: IO[bytes] | int | None = None,
    stdout: IO[bytes] | int | None = None,
    stderr: IO[bytes] | int | None = None,
    env: Mapping[str, str],
    cwd: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start a process as `subprocess.Popen` does; a fork of the prepared process where it can be one."""
    module = command[2] if list(command[:2]) == [sys.executable, "-m"] else None
    if cwd is None and module is not None and module.startswith("tests."):
        cwd = ROOT
    if cwd is not None and cwd != ROOT and (cwd / "obsidian_mcp").exists():
        module = None  # another copy of the program
    own = {key for key, value in env.items() if os.environ.get(key) != value}
    if module is None or not can("forks") or any(key.startswith(("PYTHON", "LC_", "LANG")) for key in own):
        return subprocess.Popen(
            command, stdin=stdin, stdout=stdout, stderr=stderr, env=env, cwd=cwd, creationflags=IN_ITS_GROUP
        )
    return Fork(module, command[3:], (stdin, stdout, stderr), env, cwd)


def run(
    command: Sequence[str],
    *,
    fed: bytes | None = None,
    env: Mapping[str, str],
    cwd: Path | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[bytes]:
    """Run a process to its end. Returns its exit status and what it wrote. Raises: subprocess.TimeoutExpired.

    `fed` is what a pipe sends to its standard input, at most what a pipe holds.
    """
    stdin = subprocess.DEVNULL if fed is None else subprocess.PIPE
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = start(command, stdin=stdin, stdout=stdout, stderr=stderr, env=env, cwd=cwd)
        try:
            if process.stdin is not None:
                with suppress(BrokenPipeError), process.stdin:  # it may have ended without reading
                    process.stdin.write(fed or b"")
            status = process.wait(timeout)
        finally:
            process.kill()
            process.wait()
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(command, status, stdout.read(), stderr.read())


class Fork(subprocess.Popen[bytes]):
    """A process that the prepared one has forked. What `Popen` does with its own child is done through a pipe."""

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        streams: Sequence[IO[bytes] | int | None],
        env: Mapping[str, str],
        cwd: Path | None,
    ) -> None:
        ours: list[IO[bytes] | None] = []
        theirs: list[int] = []
        made: list[int] = []
        for number, stream in enumerate(streams):
            if stream == subprocess.PIPE:
                reading, writing = os.pipe()
                ours.append(os.fdopen(writing, "wb") if number == 0 else os.fdopen(reading, "rb"))
                made.append(reading if number == 0 else writing)
                theirs.append(made[-1])
            elif stream == subprocess.DEVNULL:
                made.append(os.open(os.devnull, os.O_RDWR))
                theirs.append(made[-1])
                ours.append(None)
            else:
                theirs.append(number if stream is None else stream if isinstance(stream, int) else stream.fileno())
                ours.append(None)
        self.stdin, self.stdout, self.stderr = ours
        self.args = [sys.executable, "-m", module, *arguments]
        self.returncode: int | None = None
        self._report, report = os.pipe()
        order = {"module": module, "arguments": list(arguments), "env": dict(env), "cwd": str(cwd or Path.cwd())}
        try:
            _prepared().fork(order, [*theirs, report])
        finally:
            for descriptor in [*made, report]:
                os.close(descriptor)
        self.pid = _number(self._report)

    def poll(self) -> int | None:
        return self._status(0)

    def wait(self, timeout: float | None = None) -> int:
        status = self._status(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return status

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __del__(self) -> None:
        if getattr(self, "returncode", 0) is None:
            os.close(self._report)

    def _status(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._report], [], [], timeout)[0]:
            self.returncode = os.waitstatus_to_exitcode(_number(self._report))
            os.close(self._report)
        return self.returncode


class _Prepared:
    """The process that has imported the program and forks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control, control = socket.socketpair()
        command = [sys.executable, "-m", "tests.forked", str(control.fileno())]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[control.fileno()], cwd=ROOT)
        control.close()
        atexit.register(self._end)

    def fork(self, order: Mapping[str, Any], descriptors: list[int]) -> None:
        data = json.dumps(order).encode()
        with self._lock:
            socket.send_fds(self._control, [len(data).to_bytes(LENGTH_BYTES)], descriptors)
            self._control.sendall(data)

    def _end(self) -> None:
        self._control.close()
        self._process.wait()


_started: list[_Prepared] = []
_starting = threading.Lock()


def _prepared() -> _Prepared:
    with _starting:
        if not _started:
            _started.append(_Prepared())
        return _started[0]


def _number(descriptor: int) -> int:
    """Read one number from a pipe."""
    data = os.read(descriptor, 8)
    if len(data) != 8:
        raise RuntimeError("The process that forks has ended.")
    return int.from_bytes(data)


# --- in the prepared process


def _import_program() -> None:
    import gc
    import pkgutil
    from importlib import import_module

    import obsidian_mcp

    for module in pkgutil.walk_packages(obsidian_mcp.__path__, "obsidian_mcp."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    gc.collect()
    gc.freeze()


def _serve(control: socket.socket) -> Mapping[str, Any] | None:
    """Fork for each order. Returns the order in the new process, and None at the end."""
    woken, wake = os.pipe()
    for descriptor in (woken, wake):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reports: dict[int, int] = {}
    while True:
        ready = select.select([control.fileno(), woken], [], [])[0]
        if woken in ready:
            os.read(woken, 1024)
            _report_ended(reports)
        if control.fileno() not in ready:
            continue
        head, descriptors, _, _ = socket.recv_fds(control, LENGTH_BYTES, 4)
        if not head:
            return None
        order: Mapping[str, Any] = json.loads(control.recv(int.from_bytes(head), socket.MSG_WAITALL))
        *streams, report = descriptors
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            for descriptor in [*descriptors, *reports.values(), woken, wake]:
                os.close(descriptor)
            control.close()
            return order
        reports[pid] = report
        os.write(report, pid.to_bytes(8))
        for stream in streams:
            os.close(stream)


def _report_ended(reports: dict[int, int]) -> None:
    while reports:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        report = reports.pop(pid)
        try:
            os.write(report, status.to_bytes(8))
        except BrokenPipeError:
            pass  # nobody waits for this process
        finally:
            os.close(report)


def _run(order: Mapping[str, Any]) -> None:
    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    os.chdir(order["cwd"])
    sys.argv = ["", *order["arguments"]]
    status = 1
    _at_end.append(lambda: os._exit(status))
    try:
        runpy.run_module(order["module"], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise


_at_end: list[Callable[[], None]] = []
"""What ends a forked process when all else is done: freeing all that was imported takes longer than a command."""


def _end() -> None:
    for end in _at_end:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # its reader has gone, or it is closed
                stream.flush()
        end()


if __name__ == "__main__":
    atexit.register(_end)  # before anything is imported, so that it is called last
    _import_program()
    with socket.socket(fileno=int(sys.argv[1])) as orders:
        received = _serve(orders)
    if received is not None:
        _run(received)
