"""Answers about a whole vault that are kept until something changes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

T = TypeVar("T", bound=Sequence[Any])

MOST_BYTES: Final = 8_000_000
"""Of one answer that is kept."""
SAMPLED: Final = 32
"""Entries by which the size of an answer is estimated."""


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
            if _estimate_bytes(answer) <= MOST_BYTES:
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


def _estimate_bytes(answer: Sequence[Any]) -> int:
    """Return about how many bytes an answer takes beside the paths of the catalog."""
    sample = answer[:SAMPLED]
    of_entries = sum(_bytes_of(entry) for entry in sample) / max(len(sample), 1)
    return int(len(answer) * (8 + of_entries))


def _bytes_of(entry: Any) -> int:
    if isinstance(entry, str):  # a path of the catalog, which is there anyway
        return 0
    fields = getattr(entry, "__slots__", ())
    return sys.getsizeof(entry) + sum(sys.getsizeof(getattr(entry, name)) for name in fields)
