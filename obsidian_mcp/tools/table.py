"""The tools: by module its functions in the order of their list, with the command of each that has
one."""

from __future__ import annotations

from collections.abc import Mapping

TOOLS: Mapping[str, Mapping[str, str]] = {
    "search": {"search": "search"},
    "query": {"query": "query"},
    "notes": {"create_note": "create", "delete_note": "delete"},
    "reading": {"read_note": "read"},
    "edits": {"edit_note": "edit"},
    "replace": {"replace": "replace"},
    "tables": {"edit_table": "table"},
    "periodic": {"daily_note": "daily"},
    "templates": {"list_templates": "templates", "insert_template": "insert-template"},
    "tasks": {"list_tasks": "tasks", "update_task": "task"},
    "canvas": {"read_canvas": "canvas", "edit_canvas": "canvas-edit"},
    "moves": {"compose_notes": "compose", "move_note": "move"},
    "files": {"list_files": "list", "vault_info": "info"},
    "attachments": {"attachments": "attachments", "add_attachment": "attach"},
    "check": {"check": "check"},
    "links": {"get_links": "links", "similar": "similar", "graph": "graph"},
    "mentions": {"link_mentions": "link-mentions"},
    "bookmarks": {"list_bookmarks": "bookmarks", "edit_bookmarks": "bookmark"},
    "tags": {"tags": "tags", "rename_tag": "rename-tag"},
    "properties": {"get_properties": "properties", "set_properties": "set-properties"},
    "batch": {"batch": "batch"},
    "history": {"history": "history", "undo": "undo"},
    "app": {"app_info": "app-info", "open_note": "open", "app_command": "app-command"},
}

VIEW_TOOLS = {
    "plans": ("show_changes", "plan_diff", "apply_plan"),
    "query_view": ("show_query",),
    "views": ("show_graph", "show_note", "note_page"),
}

RESEARCH_TOOLS = {"research": ("search", "fetch")}
