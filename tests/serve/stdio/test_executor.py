"""Threads for short and long work (specs/stdio.md, DIRECT-05)."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from obsidian_mcp.serve.stdio.executor import MOST, Crew

PATIENCE = 20.0


async def until(event: threading.Event) -> None:
    """Wait without standing in the way of the loop."""
    assert await asyncio.to_thread(event.wait, PATIENCE)


@pytest.mark.anyio
async def test_short_work_is_done_in_order_and_never_two_pieces_at_once() -> None:
    crew = Crew(asyncio.get_running_loop(), patience=PATIENCE)
    done: list[int] = []
    running: list[int] = []
    most_at_once = 0
    last = threading.Event()

    def work(number: int) -> None:
        nonlocal most_at_once
        running.append(number)
        most_at_once = max(most_at_once, len(running))
        done.append(number)
        running.remove(number)

    for number in range(500):
        crew.submit(partial(work, number))
    crew.submit(last.set)
    await until(last)

    assert done == list(range(500))
    assert most_at_once == 1


@pytest.mark.anyio
async def test_work_that_takes_long_does_not_hold_up_what_comes_after() -> None:
    crew = Crew(asyncio.get_running_loop())
    gate, began, after = threading.Event(), threading.Semaphore(0), threading.Event()

    def long_work() -> None:
        began.release()
        assert gate.wait(PATIENCE)

    for _ in range(5):
        crew.submit(long_work)
    crew.submit(after.set)
    await until(after)

    assert all(began.acquire(blocking=False) for _ in range(5))
    gate.set()


@pytest.mark.anyio
async def test_there_are_never_more_threads_than_the_limit_and_all_work_is_done() -> None:
    crew = Crew(asyncio.get_running_loop())
    gate, full, last = threading.Event(), threading.Event(), threading.Event()
    lock = threading.Lock()
    running = most_at_once = done = 0

    def work() -> None:
        nonlocal running, most_at_once, done
        with lock:
            running += 1
            most_at_once = max(most_at_once, running)
        if running >= MOST:
            full.set()
        assert gate.wait(PATIENCE)
        with lock:
            running -= 1
            done += 1
            if done == MOST + 20:
                last.set()

    for _ in range(MOST + 20):
        crew.submit(work)
    await until(full)
    gate.set()
    await until(last)

    assert most_at_once == MOST


@pytest.mark.anyio
async def test_a_thread_that_was_overtaken_takes_part_again() -> None:
    crew = Crew(asyncio.get_running_loop())
    gate, after = threading.Event(), threading.Event()

    def long_work() -> None:
        assert gate.wait(PATIENCE)

    crew.submit(long_work)
    crew.submit(after.set)
    await until(after)
    gate.set()

    names = set()
    for _ in range(50):
        last = threading.Event()
        crew.submit(lambda: names.add(threading.current_thread().name))
        crew.submit(last.set)
        await until(last)

    assert names <= {"call 1", "call 2"}
