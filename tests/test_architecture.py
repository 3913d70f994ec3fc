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
    """CLI-06"""
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
def sources() -> dict[str, str]:
    package = ROOT / "obsidian_mcp"
    return {path.relative_to(package).as_posix(): path.read_text("utf-8") for path in sorted(package.rglob("*.py"))}


@cache
def syntax_tree(file: str) -> ast.Module:
    return ast.parse(sources()[file])


def test_no_public_class_bears_the_name_of_another() -> None:
    files: dict[str, list[str]] = {}
    for file in sources():
        for node in ast.walk(syntax_tree(file)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files.setdefault(node.name, []).append(file)

    assert {name: where for name, where in files.items() if len(where) > 1} == {}


LONGEST_TABLE = 60
"""Lines of a literal; what is longer is data, and stands in a file that is read when it is needed."""


def test_long_tables_are_data_files() -> None:
    literals = (ast.Dict, ast.DictComp, ast.List, ast.Tuple, ast.Set, ast.Constant, ast.Call)
    long = {
        file
        for file, source in sources().items()
        if source.count("\n") >= LONGEST_TABLE
        for node in ast.walk(syntax_tree(file))
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, literals)
        if (node.value.end_lineno or 0) - node.value.lineno >= LONGEST_TABLE
    }

    assert long == set()


class Uses(ast.NodeVisitor):
    """Finds where names such as `os.rename` and `*.unlink` are used, but in what is handed to `patiently`."""

    def __init__(self, names: set[str]) -> None:
        self.names, self.places, self.found = names, [""], set[str]()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.places.append(f"{self.places[0]}:{node.name}")
        self.generic_visit(node)
        self.places.pop()

    def visit_Call(self, node: ast.Call) -> None:
        if not (isinstance(node.func, ast.Name) and node.func.id == "patiently"):
            self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owner = node.value.id if isinstance(node.value, ast.Name) else "*"
        if {f"{owner}.{node.attr}", f"*.{node.attr}"} & self.names and len(self.places) > 1:
            self.found.add(self.places[-1])
        self.generic_visit(node)


def uses(*names: str) -> set[str]:
    """Return the functions of the package that use these names, each as `file:function`."""
    visitor = Uses(set(names))
    attributes = [name[name.index(".") :] for name in names]
    for file, source in sources().items():
        if any(attribute in source for attribute in attributes):  # visiting every file takes long
            visitor.places = [file]
            visitor.visit(syntax_tree(file))
    return visitor.found


def test_the_system_is_asked_for_processes_and_disks_in_one_place() -> None:
    """APP-01: whatever goes wrong there means "not found"."""
    asked = uses("psutil.Process", "psutil.process_iter", "psutil.pids", "psutil.pid_exists", "psutil.disk_partitions")

    assert asked == {
        "adapters/processes.py:processes",
        "adapters/processes.py:descendants_of",
        "adapters/processes.py:kill",
        "adapters/processes.py:is_alive",
        "adapters/processes.py:mounts",
        "adapters/processes.py:memory_of",
        "adapters/app_process.py:__init__",  # types only
        "adapters/app_process.py:_shows_app",
    }


def test_every_rename_and_deletion_is_tried_again_where_windows_refuses_it() -> None:
    """FILE-11"""
    names = ("os.rename", "os.replace", "os.unlink", "os.remove", "os.rmdir", "*.unlink", "*.rmdir", "*.rename")

    # the first is handed to `patiently` as a whole; a damaged index that stays is another process's, and is given up
    assert uses(*names) == {"adapters/disk.py:_rename_over", "adapters/index_database.py:remove_database"}
