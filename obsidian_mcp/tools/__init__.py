"""The product: one function = one tool."""

from . import edits, files, history, links, notes, search
from .registry import PLUGIN_TOOLS, TOOLS, Outcome, Tool, call

__all__ = ["PLUGIN_TOOLS", "TOOLS", "Outcome", "Tool", "call", "edits", "files", "history", "links", "notes", "search"]
