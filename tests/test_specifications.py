"""Every rule that code and tests name stands in specs/ (specs/README.md)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMED = re.compile(r"\b(SEARCH|QUERY|CLI)-([0-9]{2})(?: to (?:\1-)?([0-9]{2}))?")
DEFINED = re.compile(r"^- \*\*((?:SEARCH|QUERY|CLI)-[0-9]{2})\*\* ", re.MULTILINE)
RULES = [rule for path in sorted((ROOT / "specs").glob("*.md")) for rule in DEFINED.findall(path.read_text("utf-8"))]
SOURCES = sorted(path for folder in ("obsidian_mcp", "tests", "docs", "specs") for path in (ROOT / folder).rglob("*.*"))


def test_no_rule_is_there_twice() -> None:
    assert len(set(RULES)) == len(RULES)
    assert {rule.partition("-")[0] for rule in RULES} == {"SEARCH", "QUERY", "CLI"}


@pytest.mark.parametrize("prefix", ["SEARCH", "QUERY", "CLI"])
def test_every_rule_that_is_named_is_there(prefix: str) -> None:
    missing = {
        f"{name} in {path.relative_to(ROOT)}"
        for path in SOURCES
        if path.suffix in (".py", ".md", ".json")
        for kind, *numbers in NAMED.findall(path.read_text(encoding="utf-8", errors="replace"))
        for name in (f"{kind}-{number}" for number in numbers if number)
        if kind == prefix and name not in RULES
    }
    assert not missing
