"""Patterns that the console writes into the policy file of a person (specs/console.md UI-53)."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.setup.policy_patterns import put_patterns
from tests.examples import examples

TEXTS = {
    "empty": "",
    "comments": "# mine\nread_only = false  # for now\n\n[vaults.Notes] # home\nwrite = ['Inbox/']\n# the end\n",
    "list of lines": 'hidden = [\n  "Private/", # diary\n  "*.secret.md",\n]\n\n[keys.phone]\nsha256 = "x"\n',
    "windows": 'hidden = ["Private/"]\r\n# a\r\n[vaults."Notes"]\r\nread = ["Public/"]\r\n',
    "keys first": '[keys.phone]\nsha256 = "x"\n\n# of the vault\n[vaults.Notes]\nlargest_write = "1 MB"\n',
    "no end of line": 'rules = false\n[vaults.Notes]\nhidden = ["a"]',
}


def without(settings: dict[str, Any], table: str | None, setting: str) -> dict[str, Any]:
    """Settings without the one that is changed, and without the table that is made for it."""
    target = settings if table is None else settings.get("vaults", {}).get(table, {})
    target.pop(setting, None)
    if not settings.get("vaults", {}).get("Notes", True):
        settings["vaults"].pop("Notes")
    if not settings.get("vaults", True):
        settings.pop("vaults")
    return settings


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("table", [None, "Notes"])
@pytest.mark.parametrize("setting", ["hidden", "read"])
@examples(50)
@given(
    patterns=st.one_of(
        st.none(), st.lists(st.sampled_from(["Private/", "a", "/Ü b/", '"q"', "*.secret.md"]), unique=True)
    )
)
def test_patterns_are_written_and_every_other_line_stays(
    name: str, table: str | None, setting: str, patterns: list[str] | None
) -> None:
    """UI-53"""
    before = TEXTS[name]
    after = put_patterns(before, table, setting, patterns)

    settings, former = tomllib.loads(after), tomllib.loads(before)
    target = settings if table is None else settings.get("vaults", {}).get(table, {})
    assert (target.get(setting) is None) == (patterns is None)
    assert sorted(target.get(setting, ())) == sorted(patterns or ())
    assert without(settings, table, setting) == without(former, table, setting)
    lines = set(after.splitlines())
    kept = [line for line in before.splitlines() if "#" in line.split('"')[0] or "sha256" in line]
    assert set(kept) <= lines
    assert ("\r\n" in before) == ("\r\n" in after) or not before


def test_a_pattern_more_leaves_the_lines_of_the_others_with_their_comments() -> None:
    """UI-53"""
    before = TEXTS["list of lines"]
    after = put_patterns(before, None, "hidden", ["Private/", "*.secret.md", "/New/"])

    assert '  "Private/", # diary\n' in after
    assert after.endswith(before.partition("]\n")[2])
    assert put_patterns(after, None, "hidden", ["Private/", "*.secret.md"]).count("# diary") == 1
