"""Writes chatgpt-app-submission.json, with which an app is submitted to ChatGPT's directory.

    python packaging/chatgpt.py          write it
    python packaging/chatgpt.py --check  exit with 1 where another is written

The hints of the tools and their reasons come from the registry: what TOOL-12 holds to be true.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from obsidian_mcp.tools.offer import profile
from obsidian_mcp.tools.registry import TOOLS, Tool

FILE = Path(__file__).resolve().parent / "chatgpt-app-submission.json"
OWNER = FILE.with_name("owner.txt").read_text(encoding="utf-8").strip()
HOME = f"https://github.com/{OWNER}/obsidian-mcp"
PROFILE = "standard"
"""What the server is to be started with for ChatGPT: obsidian-mcp --tools standard http."""

CASES: list[tuple[str, str, str]] = [
    (
        "Find my notes about the lighthouse and summarise what I decided.",
        "obsidian_search, obsidian_read_note",
        "A summary that names the notes it is from.",
    ),
    (
        "Write into today's daily note that we launch in May, with a task to tell Anna by Friday.",
        "obsidian_daily_note",
        "The daily note has the sentence and the task with Friday's date; nothing else in it has changed.",
    ),
    ("What is due this week?", "obsidian_list_tasks", "The open tasks with a due date in this week, with their notes."),
    (
        "Rename the note Heron to Egret and keep all links to it working.",
        "obsidian_move_note",
        "The note is renamed, and every link that led to it leads to the new name.",
    ),
    ("Which notes link to Anna?", "obsidian_get_links", "The list of notes with the lines in which they link to her."),
    ("Undo your last change.", "obsidian_undo", "The files of the last change hold the bytes that they held before."),
]
NEGATIVE: list[tuple[str, str]] = [
    ("What is the weather in Oslo?", "No tool is called: the question is not about the user's notes."),
    ("Send an e-mail to Anna.", "No tool is called: the app sends nothing to anybody."),
    ("Book a flight to Rome for tomorrow.", "No tool is called: the app knows notes and nothing else."),
]


def reasons(tool: Tool) -> dict[str, str]:
    """Return why each hint of a tool is as it is."""
    if tool.read_only:
        changes = "It changes nothing: it has no argument that writes."
    elif tool.destructive:
        back = "" if tool.needs_app else " obsidian_undo takes every change back."
        changes = f"Some argument can change or remove bytes of existing files.{back}"
    else:
        changes = "It only adds: no argument can change or remove an existing byte."
    reads = "It only reads files of the user's vault." if tool.read_only else "It can change files of the user's vault."
    world = "It works on files of the vault on the computer of the server and changes nothing public."
    if tool.open_world:
        world = "Commands of the user's Obsidian app can reach the network, such as Sync and Publish."
    return {
        "read_only_justification": f"{tool.title}: {reads}",
        "open_world_justification": f"{tool.title}: {world}",
        "destructive_justification": f"{tool.title}: {changes}",
    }


def submission() -> dict[str, Any]:
    """Return the whole submission."""
    tools = [TOOLS[name] for name in profile(PROFILE)]
    return {
        "$schema": "https://developers.openai.com/apps-sdk/schemas/chatgpt-app-submission.v1.json",
        "schema_version": 1,
        "app_info": {
            "display_name": "Obsidian Vault",
            "subtitle": "Your notes, found and edited",
            "description": "Search, read, link and edit the notes of your own Obsidian vault, on a server of your "
            "own. Every change can be taken back.",
            "category": "PRODUCTIVITY",
            "website_url": HOME,
            "privacy_policy_url": f"{HOME}#privacy-policy",
            "support_url": f"{HOME}/issues",
        },
        "tools": {
            tool.name: {
                "annotations": {
                    "readOnlyHint": tool.read_only,
                    "openWorldHint": tool.open_world,
                    "destructiveHint": tool.destructive,
                },
                "justifications": reasons(tool),
            }
            for tool in tools
        },
        "test_cases": [
            {"user_prompt": prompt, "tools_triggered": used, "expected_output": expected, "file_attachment_urls": None}
            for prompt, used, expected in CASES
        ],
        "negative_test_cases": [
            {"user_prompt": prompt, "tools_triggered": None, "expected_output": expected, "file_attachment_urls": None}
            for prompt, expected in NEGATIVE
        ],
    }


def main() -> int:
    """Write or check the file. Returns the exit status."""
    text = json.dumps(submission(), ensure_ascii=False, indent=2) + "\n"
    if "--check" in sys.argv:
        return int(not FILE.exists() or FILE.read_text(encoding="utf-8") != text)
    FILE.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
