"""What a check of `doctor` says of one part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["fine", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    subject: str
    status: Status
    """`note`: nothing is broken, but something is worth knowing."""
    message: str
    remedy: str = ""
    """What to do next."""
