"""The direction of dependencies (specs/architecture.md), read from the imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from obsidian_mcp import __version__

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "obsidian_mcp"
MODULES = sorted(PACKAGE.rglob("*.py"))

ALLOWED = {
    "core": {"errors", "core"},
    "adapters": {"errors", "core", "adapters"},
    "tools": {"errors", "core", "app", "tools"},
    "serve": {
        "errors",
        "app",
        "config",
        "core.deadline",
        "core.plugin",
        "core.progress",
        "offers",
        "tools",
        "serve",
        "rad",
    },
    "offers": {"errors", "core", "app", "offers", "tools"},
    "rad": {"errors", "app", "tools"},
    "errors": set(),
    "config": {"errors"},
    "hitlist": {"errors", "core"},
    "app": {"errors", "core", "config"},
    "setup": {"errors", "core", "config", "compose", "adapters", "setup"},
    "commands": {"errors", "config", "cli", "setup", "adapters.claude_desktop"},
    "compose": {"errors", "core", "config", "app", "adapters", "rad"},
    "bar": {"core.progress"},
    "examples": set(),
    "cli": {"errors", "config", "compose", "core", "commands", "tools", "hitlist", "bar", "examples", "serve"},
}
"""Part -> parts of the package that it may import."""

OUTSIDE = {
    "core": {"yaml", "frontmatter", "regex", "pathspec", "snowballstemmer"},
    "adapters": {"watchdog", "psutil", "httpx", "send2trash", "filelock", "PIL", "pypdf"},
    "tools": {"pydantic", "pydantic_core"},
    "serve": {"mcp", "mcp_types", "anyio", "pydantic", "pydantic_core", "starlette", "uvicorn", "httpx"},
    "config": {"platformdirs"},
    "cli": {"click"},
    "commands": {"click"},
}
"""Part -> third-party packages that it may import."""


def part_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports(path: Path) -> set[str]:
    """Absolute names of the modules that a file imports."""
    package = ["obsidian_mcp", *path.relative_to(PACKAGE).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{module}.{alias.name}" for alias in node.names} if module in OWN else {module}
    return found


OWN = {"obsidian_mcp", *(f"obsidian_mcp.{path.name}" for path in PACKAGE.iterdir() if path.is_dir())}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_part_may(path: Path) -> None:
    part = part_of(path)
    inner = {name.removeprefix("obsidian_mcp.") for name in imports(path) if name.startswith("obsidian_mcp.")}
    outer = {name.partition(".")[0] for name in imports(path) if not name.startswith("obsidian_mcp")}

    if part in ALLOWED:
        wrong = {
            name
            for name in inner
            if not any(name == may or name.startswith(f"{may}.") for may in ALLOWED[part] | {"__version__"})
        }
        assert not wrong
    assert not outer - set(sys.stdlib_module_names) - OUTSIDE.get(part, set())


def test_a_tool_file_does_not_import_another() -> None:
    shared = {"registry", "params", "__init__"}
    for path in (PACKAGE / "tools").glob("*.py"):
        if path.stem not in shared:
            named = {
                name.removeprefix("obsidian_mcp.tools.").partition(".")[0]
                for name in imports(path)
                if name.startswith("obsidian_mcp.tools.")
            }
            assert named <= shared | {"text"}, path


def test_asking_for_help_does_not_load_the_sdk() -> None:
    code = (
        "import sys; from obsidian_mcp.cli.main import run; run(['--help']); "
        "sys.exit(any(name in sys.modules for name in ('mcp', 'watchdog', 'httpx', 'starlette')))"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0


def test_the_newest_changelog_entry_is_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[?(\d+\.\d+\.\d+)", text, re.MULTILINE)

    assert released[:1] == [__version__]
