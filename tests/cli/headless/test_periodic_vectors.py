"""Settings, paths, dates and templates of daily to yearly notes, as another program's tests have them (HEADLESS-17)."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.core.calendar.periods import ADJECTIVES
from obsidian_mcp.core.periodic.notes import first_day
from obsidian_mcp.core.periodic.settings import read_settings

from .conftest import Run

VECTORS = Path(__file__).parents[4] / "shared" / "data" / "periodic" / "vectors.json"
COMMANDS = {period: adjective for adjective, period in ADJECTIVES.items()}
KINDS = ("settings", "available", "path", "date", "template", "list")


def cases() -> list[dict[str, Any]]:
    if not VECTORS.exists():
        return []
    return [case for case in json.loads(VECTORS.read_text(encoding="utf-8"))["cases"] if _is_of_plugins(case)]


def _is_of_plugins(case: dict[str, Any]) -> bool:
    """Whether plugins ask the library for this: of weeks and longer periods they give it the first day."""
    if case["kind"] in ("path", "template") and case["period"] != "day":
        settings = read_settings({name: json.dumps(value) for name, value in case["settings"].items()}.get)
        day = date.fromisoformat(case["date"])
        return first_day(settings.rules[case["period"]], day, settings.locale) == day
    return case["kind"] in KINDS


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_a_case_of_periodic_notes_holds_for_the_commands(
    case: dict[str, Any], vault: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEADLESS-17"""
    for name, content in case["settings"].items():
        (vault / ".obsidian" / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / ".obsidian" / name).write_text(json.dumps(content), encoding="utf-8")
    command, expected = COMMANDS[case["period"]], case["expect"]
    match case["kind"]:
        case "settings" | "available":
            facts = dict(line.split("\t") for line in run(f"{command}:settings").splitlines())
            wanted = expected if case["kind"] == "settings" else {"enabled": "true" if expected else "false"}
            assert wanted.items() <= facts.items()
        case "path":
            assert run(f"{command}:path", f"date={case['date']}") == f"{expected}\n"
        case "date" if expected is None:
            assert run(f"{command}:date", f"path={case['path']}") == (
                f'Error: "{case["path"]}" is not a {command} note.\n'
            )
        case "date":
            assert run(f"{command}:date", f"path={case['path']}") == f"{expected['start']}\n"
        case "list":
            assert run(f"{command}:list") == f'Error: Folder "{expected["error"]}" not found.\n'
        case _:
            monkeypatch.setenv("OBSIDIAN_MCP_TODAY", case["now"])
            if case["template"] is not None:
                (vault / "template.md").write_text(case["template"], encoding="utf-8", newline="")
            path = run(command).strip()
            assert path == case.get("path", path)
            assert (vault / path).read_text(encoding="utf-8") == expected
