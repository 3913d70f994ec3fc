"""What the layout promises beside the import contracts of pyproject.toml (docs/architecture.md)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from obsidian_mcp import __version__
from obsidian_mcp.core.index.schema import SCHEMA
from tests.house.source import Source, read_sources

ROOT = Path(__file__).parent.parent


def test_asking_for_help_does_not_load_the_sdk() -> None:
    """CLI-06"""
    code = (
        "import sys; from obsidian_mcp.cli.main import run_command_line as run; run(['--help']); "
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
def parsed_sources() -> dict[str, Source]:
    return {source.file.partition("/")[2]: source for source in read_sources(ROOT / "obsidian_mcp")}


def sources() -> dict[str, str]:
    return {file: source.text for file, source in parsed_sources().items()}


LONGEST_TABLE = 60
"""Lines of a literal; what is longer is data, and stands in a file that is read when it is needed."""


def test_long_tables_are_data_files() -> None:
    literals = (ast.Dict, ast.DictComp, ast.List, ast.Tuple, ast.Set, ast.Constant, ast.Call)
    long = {
        file
        for file, source in sources().items()
        if source.count("\n") >= LONGEST_TABLE
        for node in parsed_sources()[file].nodes
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
            visitor.visit(parsed_sources()[file].tree)
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

    # the first is handed to `patiently` as a whole; a damaged index that stays is another process's, and is given up;
    # servers meet at a socket on Linux alone
    assert uses(*names) == {
        "adapters/renames.py:_rename_over",
        "adapters/index_files.py:remove_database",
        "adapters/watch_election.py:_lead",
    }


CUTTERS = {"core/text/fit.py", "errors.py"}
"""Files that cut to a size: everything, and the middle of an error's message."""
COUNTED_REST = re.compile(r"\band (?:\{\}|[0-9]+)? ?more\b(?! than)")
CUT_MARKS = ("…", "...")


def text_of(node: ast.AST) -> str:
    """Return the text of a literal, with `{}` for each value in it; "" for anything else."""
    match node:
        case ast.JoinedStr(values):
            return "".join("{}" if isinstance(part, ast.FormattedValue) else text_of(part) for part in values)
        case ast.Constant(str(text)):
            return text
    return ""


def is_cut(node: ast.AST) -> bool:
    """Return whether an expression is the beginning or end of something: `text[:20]`."""
    return any(isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Slice) for inner in ast.walk(node))


def cuts_in(source: Source) -> list[int]:
    """Return the lines that cut a text with a mark, or that say how many more entries there are."""
    lines = []
    for node in source.nodes:
        match node:
            case ast.JoinedStr():
                text = text_of(node)
                cuts = any(mark in text for mark in CUT_MARKS) and is_cut(node)
                if cuts or COUNTED_REST.search(text):
                    lines.append(node.lineno)
            case ast.BinOp(left, ast.Add(), right) | ast.IfExp(body=left, orelse=right):
                ends = {text_of(left).strip(), text_of(right).strip()}
                if ends & {*CUT_MARKS} or any(COUNTED_REST.search(end) for end in ends):
                    lines.append(node.lineno)
    return lines


def test_only_fit_cuts_texts_and_lists_to_a_size() -> None:
    """TOOL-07: what is cut another way would look whole, or say another way that there is more."""
    places = {
        file: lines for file, source in parsed_sources().items() if file not in CUTTERS if (lines := cuts_in(source))
    }

    assert places == {}


def test_a_cut_outside_of_fit_is_noticed() -> None:
    cut = ('f"{text[:9]}…"', 'text[:9] + "…"', '"…" if start else ""', 'f"{a} and {count} more"', 'f"{text[:2]}..."')
    assert [cuts_in(Source("", text)) for text in cut] == [[1]] * len(cut)
    for text in ('f"more than {most}"', 'f"give {{op, …}} for {name}"', "text[:9]", 'f"{first} and {second}"'):
        assert cuts_in(Source("", text)) == [], text


def test_the_room_of_an_answer_is_counted_in_one_place() -> None:
    """TOOL-07: what is left of a room is worked out by `fit`, but for what is no list of entries."""
    counted = {
        f"{file}:{function.name}"
        for file, source in parsed_sources().items()
        for function in source.functions
        for node in ast.walk(function)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == "room"
    }

    assert counted == {
        "core/text/fit.py:take_fitting",
        "core/operations/plans.py:_drop_old",  # the memory of plans, of which the newest stays
        "core/search/first_pass.py:find_covering",
        "core/search/similar.py:near_duplicates",  # work that a call may take
        "core/search/groups.py:render_groups",  # what hits leave for the groups without hits
        "tools/reading.py:_read_several",  # the last note is cut where it is full
        "tools/plans.py:lines_of",  # the lines of a hunk, which is cut where it is full
    }


def test_what_is_for_type_checkers_is_asked_of_the_package() -> None:
    """CLI-20: `typing` takes 3 ms, and two ways to ask would hide which files need it at start."""
    asked = [file for file, source in sources().items() if re.search(r"typing[. ].*TYPE_CHECKING", source)]

    assert asked == []


@pytest.mark.parametrize(
    ("matter", "expression", "places"),
    [
        ("the logger of a module", r"getLogger\((?![\"'])", {"__init__.py"}),
        ("digests of contents that must agree", r"digest_size=(16|20)\b", {"core/text/digest.py"}),
        ("what tells one file from another", r"\bst_dev\b", {"adapters/file_identity.py"}),
        ("a text that is a wikilink", r"compile\(\s*r\"[^\"]*\\\[\\\[\(\(", {"core/text/wikilink.py"}),
        (
            "the link of Dataview",
            r"\\\[\\\[\(?\{LINK_TEXT\}",
            {"core/dataview/literals.py", "core/dataview/scanner.py"},
        ),
        ("the loop of a thread", r"while not self\.is_stopping", {"worker.py"}),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value and "\\" not in value else "",
)
def test_a_matter_has_one_place(matter: str, expression: str, places: set[str]) -> None:
    assert {file for file, source in sources().items() if re.search(expression, source)} == places, matter


def test_a_thread_that_works_again_and_again_is_a_worker() -> None:
    """The others run once, or read or write one stream until it ends."""
    threads = {file for file, source in sources().items() if "threading.Thread(" in source}

    assert threads == {
        "adapters/folder_events.py",
        "adapters/helper_loop.py",
        "adapters/helper_process.py",
        "adapters/pool_process.py",
        "adapters/watch_leader.py",
        "adapters/watcher.py",
        "cli/console_commands.py",
        "cli/hook_commands.py",
        "serve/http/server.py",
        "serve/stdio/__init__.py",
        "serve/stdio/calls.py",
        "serve/stdio/pipes.py",
        "serve/stdio/sdk.py",
        "setup/probe.py",
        "vaults.py",
        "worker.py",
    }


def test_no_sql_on_the_tables_of_the_index_stands_outside_of_the_package_of_the_index() -> None:
    tables = {match[1] for sql in SCHEMA if (match := re.match(r"CREATE (?:VIEW|(?:VIRTUAL )?TABLE) (\w+)", sql))}
    assert {"files", "links", "notes", "search", "state", "words"} <= tables
    statement = re.compile(rf"\b(?:FROM|INTO|JOIN|UPDATE|TABLE)\s+(?:{'|'.join(sorted(tables))})\b")
    strangers = {file for file in sources() if not file.startswith("core/index/")}

    assert {file for file in strangers if any(map(statement.search, texts_in(file)))} == set()
    assert any(map(statement.search, texts_in("core/index/rows.py")))


def texts_in(file: str) -> list[str]:
    """Return the literals of a file."""
    return [text_of(node) for node in parsed_sources()[file].nodes if isinstance(node, ast.Constant | ast.JoinedStr)]
