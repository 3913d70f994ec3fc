"""The log of modules that short commands load: they have nothing to log, and `logging` takes 4 ms to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging


def logger(module: str) -> logging.Logger:
    """Return the logger of a module."""
    import logging

    return logging.getLogger(module)
