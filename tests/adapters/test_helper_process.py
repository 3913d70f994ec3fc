"""The process that reads files which may take any memory and time (specs/attachments.md ATT-12)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from obsidian_mcp.adapters import media_process, media_worker
from obsidian_mcp.adapters.helper_process import HelperEnded, HelperProcess
from obsidian_mcp.core.text.call import checkpoint, limit_call
from obsidian_mcp.errors import NotShowable, OperationTimeout
from tests.system import needs

ROOT = Path(__file__).parents[2]
MODULE = "tests.adapters.helper_of_tests"
MEMORY_BYTES = 150 * 2**20

Start = Callable[[], HelperProcess]


def helpers() -> list[psutil.Process]:
    """The helpers that this process has started and that are still there."""
    return [process for process in psutil.Process().children() if MODULE in process.cmdline()]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return lambda: HelperProcess(MODULE, memory_bytes=MEMORY_BYTES)


def test_a_helper_answers_one_request_after_the_other_and_ends_with_the_block(start: Start) -> None:
    """ATT-12"""
    with start() as helper:
        for number in range(3):
            body = b"x" * 1_000_000 * number
            assert helper.ask(number, body, look=lambda: None) == (number, body)
        assert len(helpers()) == 1
    assert helper.has_ended
    assert helpers() == []


@pytest.mark.parametrize("request_", ["memory", "crash", "error"])
def test_a_helper_that_takes_too_much_memory_or_crashes_gives_no_answer(start: Start, request_: str) -> None:
    """ATT-12: the memory is watched from outside, because some systems limit no address space."""
    with limit_call(60), start() as helper, pytest.raises(HelperEnded):
        helper.ask(request_, look=checkpoint)
    assert helpers() == []


def test_nothing_is_asked_of_a_helper_that_has_ended(start: Start) -> None:
    """ATT-12"""
    with start() as helper:
        with pytest.raises(HelperEnded):
            helper.ask("crash", look=lambda: None)
        with pytest.raises(HelperEnded):
            helper.ask("again", b"x" * 1_000_000, look=lambda: None)


def test_a_helper_ends_with_the_call_that_waits_for_it(start: Start) -> None:
    """ATT-12, SAFE-17"""
    looks = iter([None] * 3)

    def look() -> None:
        if next(looks, OperationTimeout) is not None:
            raise OperationTimeout("the time is over")

    with pytest.raises(OperationTimeout), start() as helper:
        helper.ask("wait", look=look)
    assert helpers() == []


@needs("signals between processes")
def test_a_helper_ends_with_its_program_however_that_ends() -> None:
    """ATT-12"""
    program = (
        "from obsidian_mcp.adapters.helper_process import HelperProcess\n"
        f"helper = HelperProcess({MODULE!r}, memory_bytes=10**10)\n"
        "helper.ask('ready', look=lambda: None)\n"
        "print('ready', flush=True)\n"
        "helper.ask('wait', look=lambda: None)\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environ) as running:
        assert running.stdout is not None
        assert running.stdout.readline().strip() == b"ready"
        (helper,) = psutil.Process(running.pid).children()
        running.send_signal(signal.SIGKILL)
        psutil.wait_procs([helper], timeout=30)
        assert not helper.is_running() or helper.status() == psutil.STATUS_ZOMBIE


def test_a_file_on_which_the_reader_crashes_is_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """ATT-12"""

    class CrashingHelper(HelperProcess):
        def __init__(self, _module: str, *_arguments: str, memory_bytes: int) -> None:
            super().__init__(MODULE, memory_bytes=memory_bytes)

        def ask(self, _header: object, body: bytes = b"", *, look: Callable[[], None]) -> tuple[object, bytes]:
            return super().ask("crash", body, look=look)

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(media_process, "HelperProcess", CrashingHelper)
    media = media_process.MediaProcess()
    for _ in range(media_process.MOST_PROCESSES + 1):  # none keeps the place of the next
        with pytest.raises(NotShowable) as refused:
            media.pdf_text(b"%PDF-1.7", 1, 1, 1_000)
        assert refused.value.message == media_worker.TOO_LARGE
    assert helpers() == []
