"""The product: one function = one tool. The order of the imports is the order in which tools are listed."""

# isort: off
from . import search, query, notes, edits, periodic, templates, tasks, canvas, composer, moves, files, attachments
from . import links, tags, properties, history, app, plugin

# isort: on
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
    "canvas",
    "composer",
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
    "query",
    "search",
    "tags",
    "tasks",
    "templates",
]
