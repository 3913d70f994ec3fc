"""An example or two of every subcommand, for `--help`; tests run those of the tools on a fixture vault."""

from __future__ import annotations

from typing import Final

EXAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "search": ('search "quick fox" --limit 5', "search 'tag:#work -file:list' --paths-only --json"),
    "query": ("query 'filters: file.hasTag(\"work\")' --format csv", "query --this Home"),
    "create": ('create "Ideas/Gear" "# Gear"', "create Log < notes.txt"),
    "delete": ("delete Alpha",),
    "read": ("read Alpha", "read Alpha --section Plan", "read Alpha --view outline --json"),
    "edit": (
        'edit Alpha append "- [ ] Order brass"',
        'edit Alpha replace_text "little oil" --find "no oil" --dry-run',
    ),
    "daily": ("daily --create", 'daily --content "- milk"', 'daily yesterday --content "- called"'),
    "templates": ("templates",),
    "compose": ("compose extract Alpha --part Plan", "compose merge Alpha --into Home --dry-run"),
    "tasks": ("tasks", 'tasks --due "this week" --tag work', "tasks --query 'group by path' --json"),
    "task": (
        "task done Alpha:15",
        'task add "Order oil" --note Alpha --heading Plan --due "next friday" --dry-run',
        'task edit "Cut the wheel" --priority high --recurrence "every week when done"',
    ),
    "table": ("""table Alpha '{"op":"set","row":"wheel","column":"mm","value":"43"}'""",),
    "insert-template": ('insert-template "Reading/Reading list.md" Alpha',),
    "bookmarks": ("bookmarks",),
    "bookmark": ("bookmark add Alpha#Plan --group Work",),
    "canvas": ("canvas Board",),
    "canvas-edit": ("""canvas-edit Board '{"op":"add","type":"text","text":"Buy brass"}'""",),
    "move": (
        "move Alpha Archive/",
        "move Alpha Home Archive/ --dry-run",
        "move Archive/ --query 'tag:#work' --dry-run",
        'move "Tower clock" "Church clock" --dry-run',
    ),
    "list": ("list Projects", "list --recursive --sort modified --limit 10"),
    "info": ("info --json",),
    "attachments": ("attachments --unused", "attachments wheel.svg > wheel.svg", "attachments --note Home"),
    "attach": ("attach ~/Pictures/wheel.png --note Alpha",),
    "links": ("links Alpha", "links Alpha --unlinked"),
    "link-mentions": ("link-mentions 2026-11-20 --dry-run",),
    "similar": ("similar Alpha",),
    "graph": ("graph orphans", "graph path --name Home --to Alpha"),
    "tags": ("tags", "tags work"),
    "rename-tag": ("rename-tag work job --dry-run",),
    "properties": ("properties Alpha", "properties --property status"),
    "set-properties": (
        "set-properties status=done --names Alpha",
        "set-properties status= --query '[status:active]' --dry-run",
    ),
    "replace": ("replace brass bronze --query brass --dry-run",),
    "history": ("history", "history Alpha --limit 3"),
    "undo": ("undo", "undo 12"),
    "app-info": ("app-info", "app-info plugins --json"),
    "open": ("open Alpha",),
    "app-command": ("app-command app:reload",),
    "serve": ("--vault ~/Notes serve", "--vault ~/Notes --read-only serve"),
    "bridge": ("bridge --port 3000",),
    "http": ("http --vault ~/Notes --port 3000",),
    "keys list": ("keys list",),
    "keys add": ("keys add phone --scope Journal --read-only", "keys add chatgpt --tools research"),
    "keys remove": ("keys remove phone",),
    "view graph": ("view graph Alpha --depth 1",),
    "view query": ("view query 'TABLE due FROM \"Projects\"' --sort due", "view query --language tasks --group status"),
    "view note": ("view note Alpha --output alpha.html --no-open",),
    "view history": ("view history --limit 5",),
    "semantic setup": (
        "semantic setup",
        "semantic setup --endpoint http://127.0.0.1:11434/v1 --model nomic-embed-text",
    ),
    "semantic status": ("semantic status",),
    "semantic off": ("semantic off",),
    "index status": ("index status --json",),
    "index update": ("index update",),
    "index rebuild": ("index rebuild",),
}
"""Command -> what stands after `obsidian-mcp`."""


def epilog(command: str) -> str | None:
    r"""What stands at the end of the help; \b keeps click from joining the lines."""
    shown = EXAMPLES.get(command, ())
    return "\b\nExamples:\n" + "\n".join(f"  obsidian-mcp {example}" for example in shown) if shown else None
