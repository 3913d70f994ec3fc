"""Several vaults in one call (specs/tools.md TOOL-19)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.tools import call
from tests.conftest import app_on


@pytest.fixture
def two(tmp_path: Path) -> Iterator[App]:
    for name in ("Home", "Work"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name} note.md").write_text(f"A heron of {name}. #bird\n- [ ] feed it\n", "utf-8")
    app = app_on(tmp_path / "Home", tmp_path / "Work")
    yield app
    app.vaults.close()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "heron"}),
        ("list_files", {}),
        ("tags", {"tag": "bird"}),
        ("list_tasks", {}),
        ("query", {"query": "LIST", "language": "dataview"}),
    ],
)
def test_every_vault_answers_with_its_name(two: App, tool: str, arguments: dict[str, Any]) -> None:
    # TOOL-19
    answer = call(two, f"obsidian_{tool}", {**arguments, "vault": "*"}).data

    assert [vault["vault"] for vault in answer["vaults"]] == ["Home", "Work"]
    for vault in answer["vaults"]:
        assert f"{vault['vault']} note" in str(vault)
        alone = call(two, f"obsidian_{tool}", {**arguments, "vault": vault["vault"]}).data
        assert vault == {"vault": vault["vault"], **alone}


def test_a_tool_for_one_vault_says_so_and_names_them(two: App) -> None:
    # TOOL-19
    with pytest.raises(InvalidArguments, match="Home, Work"):
        call(two, "obsidian_read_note", {"name": "Home note", "vault": "*"})


def test_vaults_for_which_there_is_no_room_are_named(two: App, tmp_path: Path) -> None:
    # TOOL-19
    for number in range(600):
        (tmp_path / "Home" / f"{number:03} {'long ' * 15}.md").touch()
    answer = call(two, "obsidian_list_files", {"limit": 500, "vault": "*"}).data

    assert answer["not_searched"] == ["Work"]
