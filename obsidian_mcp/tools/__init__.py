"""The product: one function = one tool. The order of the imports is the order in which tools are listed."""

# isort: off
from . import search, query, notes, edits, tables, periodic, templates, tasks, canvas, composer, moves, files
from . import attachments, links, tags, properties, history, app, plugin

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
    "tables",
    "tags",
    "tasks",
    "templates",
]
