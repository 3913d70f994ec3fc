"""The product: one function = one tool."""

from . import files, history, notes
from .registry import PLUGIN_TOOLS, TOOLS, Outcome, Tool, call

__all__ = ["PLUGIN_TOOLS", "TOOLS", "Outcome", "Tool", "call", "files", "history", "notes"]
