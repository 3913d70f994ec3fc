"""The product: one function = one tool. The order of the imports is the order in which tools are listed."""

from . import search, notes, edits, periodic, moves, files, attachments, links, tags, properties, history, app, plugin  # noqa: I001
from .registry import CONFIRM, PLUGIN_TOOLS, TOOLS, Outcome, Tool, call, listed

__all__ = [
    "CONFIRM",
    "PLUGIN_TOOLS",
    "TOOLS",
    "Outcome",
    "Tool",
    "app",
    "attachments",
    "call",
    "edits",
    "files",
    "history",
    "links",
    "listed",
    "moves",
    "notes",
    "periodic",
    "plugin",
    "properties",
    "search",
    "tags",
]
