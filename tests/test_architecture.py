"""What the layout promises beside the import contracts of pyproject.toml (docs/architecture.md)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from obsidian_mcp import __version__

ROOT = Path(__file__).parent.parent


def test_asking_for_help_does_not_load_the_sdk() -> None:
    # CLI-06
    code = (
        "import sys; from obsidian_mcp.cli.main import run; run(['--help']); "
        "sys.exit(any(name in sys.modules for name in ('mcp', 'watchdog', 'httpx', 'starlette')))"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0


def test_the_newest_changelog_entry_is_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[?(\d+\.\d+\.\d+)", text, re.MULTILINE)

    assert released[:1] == [__version__]


def test_one_context_variable_carries_the_record_of_a_call() -> None:
    package = ROOT / "obsidian_mcp"
    counts = {path: path.read_text(encoding="utf-8").count("ContextVar(") for path in package.rglob("*.py")}

    assert {path: count for path, count in counts.items() if count} == {package / "core/text/call.py": 1}


@cache
def syntax_trees() -> dict[str, ast.Module]:
    package = ROOT / "obsidian_mcp"
    sources = sorted(package.rglob("*.py"))
    return {str(path.relative_to(package)): ast.parse(path.read_text(encoding="utf-8")) for path in sources}


def test_no_public_class_bears_the_name_of_another() -> None:
    files: dict[str, list[str]] = {}
    for file, tree in syntax_trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files.setdefault(node.name, []).append(file)

    assert {name: where for name, where in files.items() if len(where) > 1} == {}


LONGEST_TABLE = 60
"""Lines of a literal; what is longer is data, and stands in a file that is read when it is needed."""


def test_long_tables_are_data_files() -> None:
    literals = (ast.Dict, ast.DictComp, ast.List, ast.Tuple, ast.Set, ast.Constant, ast.Call)
    long = {
        file
        for file, tree in syntax_trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, literals)
        if (node.value.end_lineno or 0) - node.value.lineno >= LONGEST_TABLE
    }

    assert long == set()
