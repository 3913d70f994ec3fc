"""Answers about a whole vault that are kept until something changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

T = TypeVar("T", bound=Sequence[Any])

MOST_KEPT: Final = 100_000
"""Entries of an answer that is kept; each takes 8 bytes where it is a path of the catalog."""


class KeptAnswers:
    """The last answer of each question, for all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[str, tuple[object, Sequence[Any]]] = {}

    def get(self, question: str, state: object, find: Callable[[], T]) -> T:
        """Return what `find` gives, or gave for an equal `state` the last time."""
        with self._lock:
            kept = self._answers.get(question)
        if kept is not None and kept[0] == state:
            return kept[1]  # type: ignore[return-value]  # of the same question
        answer = find()
        with self._lock:
            if len(answer) <= MOST_KEPT:
                self._answers[question] = state, answer
            else:
                self._answers.pop(question, None)
        return answer

    def forget(self, question: str = "") -> None:
        """Give back the memory of one answer, or of all."""
        with self._lock:
            if question:
                self._answers.pop(question, None)
            else:
                self._answers.clear()
