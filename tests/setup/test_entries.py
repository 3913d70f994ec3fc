"""Changes of a client's text are proved before they are written (specs/install.md, TEXT-06)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.setup import entries
from obsidian_mcp.setup.clients import CLIENTS, McpClient
from tests.examples import examples

ENTRY = {"command": "/bin/obsidian-mcp", "args": ["--vault", "/v"]}
DESKTOP = CLIENTS["claude-desktop"]
NAMES = st.text('obsidian-mcpServers_é" \\', min_size=1, max_size=6)
VALUES = st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
FILES = st.dictionaries(NAMES, VALUES, max_size=3)
INDENTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])


@examples(100)
@given(others=FILES, servers=st.dictionaries(NAMES, st.just({"command": "x"}), max_size=3), indent=INDENTS)
def test_whatever_else_is_in_a_file_stays_and_taking_out_undoes_putting_in(
    others: dict[str, Any], servers: dict[str, Any], indent: int | str | None
) -> None:
    text = json.dumps({**others, "mcpServers": servers}, indent=indent, ensure_ascii=False)

    after = entries.write(DESKTOP, text, "ours", ENTRY)
    again = entries.erase(DESKTOP, after, "ours")

    assert json.loads(after) == {**others, "mcpServers": {**servers, "ours": ENTRY}}
    assert again == text
    assert entries.write(DESKTOP, after, "ours", ENTRY) == after


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_one_member_is_changed_and_the_rest_of_an_entry_stays(client: McpClient) -> None:
    text = entries.write(client, "", "ours", {**ENTRY, "env": {"KEY": "v"}, "disabled": True})

    after = entries.write(client, text, "ours", {"args": ["--vault", "/w"]})

    assert entries.servers(client, after)["ours"] == {
        **ENTRY,
        "args": ["--vault", "/w"],
        "env": {"KEY": "v"},
        "disabled": True,
    }
    assert entries.servers(client, entries.write(client, after, "ours", ENTRY, afresh=True))["ours"] == ENTRY


@pytest.mark.parametrize("text", ['{"mcpServers": {"ours": 1}}', '{"mcpServers": 1}', "1"])
def test_what_has_another_shape_is_refused(text: str) -> None:
    with pytest.raises(entries.Broken):
        entries.write(DESKTOP, text, "ours", ENTRY)
