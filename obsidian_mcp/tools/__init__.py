"""The product: one function = one tool."""

from . import files, history, notes
from .registry import TOOLS, Outcome, Tool, call

__all__ = ["TOOLS", "Outcome", "Tool", "call", "files", "history", "notes"]
