"""A server's entry in Goose's YAML (specs/install.md, TEXT rules)."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from obsidian_mcp.setup import entries
from obsidian_mcp.setup.clients import CLIENTS

GOOSE = CLIENTS["goose"]
ENTRY: dict[str, Any] = {"type": "stdio", "name": "ours", "cmd": "/bin/obsidian-mcp", "args": ["--vault", "/My: vault"]}
WRITTEN = """\
  ours:
    type: "stdio"
    name: "ours"
    cmd: "/bin/obsidian-mcp"
    args: ["--vault", "/My: vault"]
"""
OTHERS = {
    "empty": ("", "extensions:\n" + WRITTEN),
    "without servers": ("a: 1\n", "a: 1\nextensions:\n" + WRITTEN),
    "without a last line end": ("a: 1", "a: 1\nextensions:\n" + WRITTEN),
    "no server yet": ("extensions:\nb: 2\n", f"extensions:\n{WRITTEN}b: 2\n"),
    "an empty object": ("extensions: {}\nb: 2\n", f"extensions:\n{WRITTEN}b: 2\n"),
    "another server": (
        "extensions:\n  other:\n    cmd: x # y\n\n# of b\nb: 2\n",
        f"extensions:\n  other:\n    cmd: x # y\n{WRITTEN}\n# of b\nb: 2\n",
    ),
    "a text over several lines": (
        "extensions:\n  other:\n    description: |\n      a\n      b\nb: 2\n",
        f"extensions:\n  other:\n    description: |\n      a\n      b\n{WRITTEN}b: 2\n",
    ),
    "a list that is not indented": (
        "extensions:\n  other:\n    args:\n    - x\n",
        f"extensions:\n  other:\n    args:\n    - x\n{WRITTEN}",
    ),
}


@pytest.mark.parametrize(("before", "after"), OTHERS.values(), ids=OTHERS)
def test_a_new_entry_is_the_last_and_leaves_everything_else(before: str, after: str) -> None:
    """TEXT-01, TEXT-02"""
    written = entries.write(GOOSE, before, "ours", ENTRY)
    assert written == after
    assert yaml.safe_load(written)["extensions"]["ours"] == ENTRY
    assert entries.write(GOOSE, written, "ours", ENTRY) == written


@pytest.mark.parametrize("before", ["a: 1\n", "extensions:\n  other:\n    cmd: x\n\n# of b\nb: 2\n"])
def test_taking_an_entry_out_leaves_no_trace(before: str) -> None:
    """TEXT-04"""
    assert entries.erase(GOOSE, entries.write(GOOSE, before, "ours", ENTRY), "ours") == before


def test_line_ends_stay() -> None:
    """TEXT-03"""
    written = entries.write(GOOSE, "a: 1\r\n", "ours", ENTRY)
    assert written == ("a: 1\nextensions:\n" + WRITTEN).replace("\n", "\r\n")


def test_members_in_the_form_that_goose_writes_are_changed_where_they_stand() -> None:
    text = "extensions:\n  ours:\n    cmd: /old\n    args:\n    - --vault\n    - /v # mine\n    timeout: 9 # s\n"
    after = entries.write(GOOSE, text, "ours", {"cmd": "/new", "args": ["x"]})
    assert after == 'extensions:\n  ours:\n    cmd: "/new"\n    args: ["x"] # mine\n    timeout: 9 # s\n'


@pytest.mark.parametrize(
    "text",
    [
        "extensions: {other: {cmd: x}}\n",
        "- a\n",
        "a: [\n",
        "extensions: 1\n",
        "a: &x 1\na: 2\nextensions: [1]\n",
        "extensions:\n  ours:\n    cmd: a\nextensions:\n",
    ],
)
def test_a_layout_that_cannot_be_changed_safely_is_refused(text: str) -> None:
    """TEXT-05, TEXT-06"""
    with pytest.raises(entries.Broken):
        entries.write(GOOSE, text, "ours", ENTRY)
