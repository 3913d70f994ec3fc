"""A thread that works each time it is woken: the loop behind the index, the PDFs and the
embeddings."""

from __future__ import annotations

import threading
from collections.abc import Callable

from obsidian_mcp import logger


class Worker:
    """One background thread, which begins with the first `wake` or with `start`."""

    def __init__(
        self, name: str, work: Callable[[bool], float | None], woken: threading.Event | None = None
    ) -> None:
        """`work` is called with True after a `wake`, and with False after as many seconds as it
        returned last; what it raises is logged. `woken` may be set in place of a call of `wake`,
        before the worker exists."""
        self._name = name
        self._work = work
        self._woken = woken or threading.Event()
        self._stopping = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def is_stopping(self) -> bool:
        """Whether `stop` was called."""
        return self._stopping.is_set()

    @property
    def is_woken(self) -> bool:
        """Whether there is new work since `work` was called."""
        return self._woken.is_set()

    def start(self) -> None:
        """Start the thread, unless it runs or is to stop."""
        with self._starting:
            if self._thread is None and not self.is_stopping:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def wake(self) -> None:
        """Have `work` called soon. Returns at once."""
        self._woken.set()

    def wait_or_stop(self, seconds: float) -> bool:
        """Wait, in `work`; return whether the worker is to stop."""
        return self._stopping.wait(seconds)

    def retry(self, seconds: float) -> None:
        """Wait, in `work`, and have it called again."""
        self.wait_or_stop(seconds)
        self._woken.set()

    def stop(self, seconds: float = 0.0) -> bool:
        """End after what is being done; wait for that at most as long, and return whether it has
        ended."""
        self._stopping.set()
        self._woken.set()
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return thread is None
        thread.join(seconds)
        return not thread.is_alive()

    def _run(self) -> None:
        pause: float | None = None
        while not self.is_stopping:
            is_woken = self._woken.wait(pause)
            if self.is_stopping:
                return
            self._woken.clear()
            try:
                pause = self._work(is_woken)
            except Exception:  # noqa: BLE001  it is logged, and the next change is tried again
                pause = None
                if not self.is_stopping:
                    logger(__name__).exception(
                        "The worker %r failed; it goes on with the next change.", self._name
                    )
