"""What a check of `doctor` says of one part.

A finding without a remedy leaves a person where they were, so a check that finds a problem says
what to do next wherever this program can know it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["fine", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's report."""

    subject: str
    """Which part: a few words, such as `Index of Notes`."""
    status: Status
    """`note`: nothing is broken, but something is worth knowing."""
    message: str
    remedy: str = ""
    """What to do next."""
