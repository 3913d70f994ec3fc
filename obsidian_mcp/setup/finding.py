"""What a check of `doctor` says of one part."""

from __future__ import annotations

from typing import Literal, NamedTuple

Status = Literal["fine", "note", "problem"]


class Finding(NamedTuple):
    subject: str
    status: Status
    """`note`: nothing is broken, but something is worth knowing."""
    message: str
    remedy: str = ""
    """What to do next."""
