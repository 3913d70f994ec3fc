"""What directories of servers and their hosts demand of tools, packages and the README (specs/install.md, PACK)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from obsidian_mcp import DISTRIBUTION, install_command
from obsidian_mcp.app import App
from obsidian_mcp.serve.vault_dispatcher import introduction
from obsidian_mcp.setup.clients import CLIENTS
from obsidian_mcp.setup.launcher import Running, command_line
from obsidian_mcp.tools.registry import TOOLS, Tool, call
from tests.conftest import app_on
from tests.serve.raw import RawServer
from tests.tools.answer_schema import published

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OWNER = (ROOT / "packaging/owner.txt").read_text(encoding="utf-8").strip()
LARGEST_RESULT = 150_000
"""Characters of a result that hosts show whole."""

every_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)


@every_tool
def test_both_titles_are_equal_and_all_hints_are_explicit(tool: Tool) -> None:
    """TOOL-02"""
    listed = tool.published
    hints = listed["annotations"]

    assert listed["title"] == hints["title"] == tool.title
    for hint in ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"):
        assert isinstance(hints[hint], bool)
    assert hints["openWorldHint"] is (tool.name == "obsidian_app_command")


@every_tool
def test_a_description_is_short_and_gives_the_model_no_orders(tool: Tool) -> None:
    """TOOL-21"""
    arguments = [str(value.get("description", "")) for value in tool.input_schema["properties"].values()]
    text = "\n".join([tool.title, tool.description, *arguments])

    assert len(tool.description.encode()) <= 2_000
    assert not re.search(
        r"\b(always|must call|ignore (all|previous|other)|before using|important)\b", text, re.IGNORECASE
    )
    assert not re.search(r"https?://[\w.]|www\.", text)
    assert not re.search("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f]", text)


def test_at_least_four_fifths_of_the_arguments_of_a_tool_are_described() -> None:
    """TOOL-21"""
    for tool in TOOLS.values():
        properties = tool.input_schema["properties"].values()
        assert sum("description" in value for value in properties) >= 0.8 * len(properties), tool.name


def test_the_instructions_are_as_short_as_hosts_show() -> None:
    """TOOL-21"""
    assert 0 < len(introduction(TOOLS).encode()) <= 2_000


def links(kind: str) -> list[str]:
    return [found for found in re.findall(r"\]\((\S+?)\)", README) if kind in found]


def installed(client: str) -> dict[str, Any]:
    """What `obsidian-mcp install CLIENT` writes when uvx runs us from the repository."""
    origin = f"git+https://github.com/{OWNER}/obsidian-mcp"
    python = "/home/u/.cache/uv/archive-v0/a1b2c3/bin/python"
    command, *arguments = command_line(Running(f"{python}/obsidian-mcp", python, "", origin, find=lambda name: name))
    return CLIENTS[client].entry("obsidian", command, tuple(arguments))


def test_the_link_for_vs_code_installs_what_install_writes() -> None:
    """PACK-04"""
    (link,) = links("insiders.vscode.dev")
    (target,) = parse_qs(urlsplit(link).query)["url"]
    scheme, _, server = target.partition("?")

    assert scheme == "vscode:mcp/install"
    assert json.loads(unquote(server)) == {"name": "obsidian", **installed("vscode")}


def test_the_link_for_cursor_installs_what_install_writes() -> None:
    """PACK-04"""
    (link,) = links("cursor.com")
    parts = urlsplit(link)
    given = parse_qs(parts.query)

    assert unquote(parts.path) == "/link/mcp/install"
    assert given["name"] == ["obsidian"]
    assert json.loads(b64decode(given["config"][0])) == installed("cursor")


def test_every_package_names_the_account_of_owner_txt() -> None:
    """PACK-05"""
    checked = subprocess.run(
        [sys.executable, str(ROOT / "packaging/owner.py"), "--check"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (checked.returncode, checked.stdout) == (0, ""), "Files name another account: run `make update`."

    named = [README, *((ROOT / name).read_text(encoding="utf-8") for name in ("packaging/server.json", "glama.json"))]
    accounts = {
        found for text in named for found in re.findall(r"(?:io\.github\.|github\.com/)([\w-]+)/obsidian-mcp", text)
    }
    assert accounts == {OWNER}
    assert json.loads(named[-1])["maintainers"] == [OWNER]


def test_the_privacy_policy_says_what_directories_ask_for() -> None:
    """PACK-05"""
    section = README.split("## Privacy policy\n")[1].split("\n## ")[0]

    assert re.findall(r"^- \*\*(.+?)\.\*\*", section, re.MULTILINE) == [
        "Collection",
        "Use and storage",
        "Sharing",
        "Retention",
        "Contact",
    ]


def test_the_readme_has_three_questions_to_begin_with_and_no_name_of_another_project_to_install() -> None:
    """PACK-05"""
    examples = README.split("Ask, for example:\n")[1].split("\n\nNotes are named")[0]

    assert len(re.findall(r'^- ".+"$', examples, re.MULTILINE)) >= 3
    assert "uvx obsidian-mcp" not in README


def test_nothing_tells_a_person_to_install_by_the_name_of_another_project() -> None:
    """PACK-09"""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == DISTRIBUTION
    assert {DISTRIBUTION, "obsidian-mcp"} == set(project["scripts"])
    assert DISTRIBUTION in install_command("media")

    read = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("specs/*.md"), *ROOT.glob("packaging/**/*.md")]
    read += [*ROOT.glob("obsidian_mcp/**/*.py"), *ROOT.glob("packaging/*.py")]
    wrong = re.compile(r"(pip|uv) (tool )?install '?obsidian-mcp\b|obsidian-mcp\[|uvx obsidian-mcp\b(?!` without)")
    found = [f"{path.name}: {hit[0]}" for path in read for hit in wrong.finditer(path.read_text(encoding="utf-8"))]
    assert found == []


def test_the_extension_has_a_privacy_policy_support_a_licence_and_nothing_of_development(built: Path) -> None:
    """PACK-05"""
    manifest = json.loads((built / "manifest.json").read_text(encoding="utf-8"))

    assert all(url.startswith(f"https://github.com/{OWNER}/") for url in manifest["privacy_policies"])
    assert manifest["privacy_policies"]
    assert manifest["support"].startswith("https://")
    assert (built / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    top = {path.name for path in built.iterdir()}
    files = {"LICENSE", "README.md", "icon.png", "manifest.json", "pyproject.toml", "server.py", ".mcpbignore"}
    assert top == {*files, "obsidian_mcp"}


def test_tools_are_listed_without_a_vault_and_without_environment(tmp_path: Path) -> None:
    """PACK-06: directories start the server so, in a container"""
    with RawServer([sys.executable, "-m", "obsidian_mcp"], env={"HOME": str(tmp_path)}, cwd=ROOT) as server:
        server.initialize()
        names = {tool["name"] for tool in server.call("tools/list")["result"]["tools"]}

    assert {name for name, tool in TOOLS.items() if not tool.needs_app} <= names


LARGE: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "brass", "limit": 500, "snippets": 10}),
    ("query", {"query": "TABLE text FROM \"\"", "language": "dataview", "limit": 500}),
    ("read_note", {"name": "Large"}),
    ("read_note", {"names": ["Large", "Note 1", "Note 2"]}),
    ("list_files", {"recursive": True, "limit": 500}),
    ("list_tasks", {"limit": 500}),
    ("tags", {"limit": 500}),
    ("tags", {"tag": "tag", "limit": 500}),
    ("get_properties", {"limit": 500}),
    ("get_properties", {"name": "Large"}),
    ("get_properties", {"property": "text", "limit": 500}),
    ("get_links", {"name": "Large", "limit": 500}),
    ("graph", {"question": "orphans", "limit": 500}),
    ("attachments", {"limit": 500}),
    ("history", {"limit": 500}),
    ("replace", {"query": "brass", "find": "brass", "content": "iron", "dry_run": True}),
]  # fmt: skip


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A vault of 600 notes with long names, long lines, links, tasks and properties, and one note of 0.5 MB."""
    root = tmp_path_factory.mktemp("large") / "vault"
    folder = root / "a folder with a rather long name" / "and another one below it"
    folder.mkdir(parents=True)
    line = "brass [[Large]] " + "words of a long line " * 40
    for number in range(600):
        text = f"---\ntext: {'value ' * 60}\nkey{number}: 1\n---\n#tag/t{number} {line}\n- [ ] task {line}\n{line}\n"
        (folder / f"A note with a long name, number {number}.md").write_text(text, encoding="utf-8")
    (root / "Large.md").write_text(f"---\ntext: {'x' * 90_000}\n---\n" + f"{line}\n" * 500, encoding="utf-8")
    for number in (1, 2):
        (root / f"Note {number}.md").write_text(line * 200, encoding="utf-8")
    opened = app_on(root)
    opened.vaults.get().indexer.pending.begin()
    opened.vaults.get().indexer.complete()
    yield opened
    opened.vaults.close()


@pytest.mark.parametrize(
    ("name", "arguments"), LARGE, ids=[f"{name} {number}" for number, (name, _) in enumerate(LARGE)]
)
def test_the_largest_page_is_within_what_hosts_show(large: App, name: str, arguments: dict[str, Any]) -> None:
    """TOOL-07"""
    answer = call(large, f"obsidian_{name}", arguments)

    assert sum(map(len, answer.contents())) <= LARGEST_RESULT


@pytest.mark.parametrize(("name", "arguments", "shown"), [
    ("get_properties", {"property": "text", "details": True, "limit": 500}, "values"),
    ("get_links", {"name": "Large", "limit": 500}, "backlinks"),
])  # fmt: skip
def test_what_did_not_fit_a_page_comes_on_the_next(
    large: App, name: str, arguments: dict[str, Any], shown: str
) -> None:
    """TOOL-07"""
    first = call(large, f"obsidian_{name}", arguments).data
    assert 0 < len(first[shown]) < 500
    assert first["next_offset"] == len(first[shown])
    found, page = list(first[shown]), first
    while "next_offset" in page:
        page = call(large, f"obsidian_{name}", {**arguments, "offset": page["next_offset"]}).data
        found += page[shown]

    assert len(found) == (page.get("total") or page["backlinks_total"])
    assert len({json.dumps(one) for one in found}) == len(found)


def test_the_lint_of_a_directory_finds_no_fault_in_any_tool() -> None:
    """TOOL-21: TDQS scores tools by purpose, usage, behaviour and parameters"""
    tdqs = pytest.importorskip("tdqs", reason="the package tdqs is not installed")
    listed = tdqs.parse_tool_definitions({"tools": [published(tool) for tool in TOOLS.values()]})

    report = tdqs.lint_server(server_name="obsidian-mcp", tools=listed.tools)

    assert report.server.tool_count == len(TOOLS)
    assert [finding for finding in report.findings if finding.severity != "info"] == []


def test_every_item_of_the_checklists_has_a_test_that_exists() -> None:
    """LIST-01"""
    table = (ROOT / "specs/directories.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .+ \| .+ \| (\S+\.py)(?: `(\w+)`)? \|$", table, re.MULTILINE)
    missing = [
        f"{file} {test}"
        for file, test in rows
        if not (ROOT / file).exists() or f"def {test or 'test_'}" not in (ROOT / file).read_text(encoding="utf-8")
    ]

    assert len(rows) == table.count("\n| ") - 1 >= 25
    assert missing == []
