"""The product: one function = one tool. The order of the imports is the order in which tools are listed."""

# isort: off
from . import search, query, notes, edits, replace, tables, periodic, templates, tasks, canvas, composer
from . import moves, files, attachments, links, bookmarks, tags, properties, history, app, plugin, research, retired
from . import plans, query_view, views

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
    "bookmarks",
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
    "plans",
    "plugin",
    "properties",
    "query",
    "query_view",
    "replace",
    "research",
    "retired",
    "search",
    "tables",
    "tags",
    "tasks",
    "templates",
    "views",
]
