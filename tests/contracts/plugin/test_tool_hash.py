"""The hash of a tool list is the original's to the bit (specs/http.md HASH-…)."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.contracts.plugin.table import PLUGIN_TOOLS
from obsidian_mcp.contracts.plugin.tool_hash import hash_input, sort_by_name, tool_hash
from obsidian_mcp.tools.registry import TOOLS
from tests.examples import examples

ROOT = Path(__file__).parents[3]
OWN = json.loads((ROOT / "specs" / "vectors" / "tool_hash.json").read_text(encoding="utf-8"))["cases"]
ORIGINALS = ROOT.parent / "shared" / "data" / "hash_vectors.json"


@pytest.mark.parametrize("case", OWN, ids=[f"{case['rule']} {case['note']}" for case in OWN])
def test_a_list_has_the_hash_that_node_gives_it(case: dict[str, str]) -> None:
    """HASH-01, HASH-02, HASH-03, HASH-05, HASH-06, HASH-07"""
    tools = json.loads(case["tools"])
    if "input" in case:
        assert hash_input(tools) == case["input"]
    assert tool_hash(tools) == case["sha256"]


@pytest.mark.skipif(not ORIGINALS.exists(), reason="the original's vectors are not here (../shared/data)")
def test_the_original_gives_the_same_hashes() -> None:
    """HASH-04: one of the vectors sorts emoji, Greek, Cyrillic, kana and ideographs"""
    vectors = json.loads(ORIGINALS.read_text(encoding="utf-8"))
    different = [vector["id"] for vector in vectors if tool_hash(json.loads(vector["tools_json"])) != vector["sha256"]]
    assert not different
    assert len(vectors) >= 30


def test_names_of_other_scripts_come_after_latin_ones_in_the_order_of_their_alphabets() -> None:
    """HASH-04"""
    names = ["ώρα", "яблоко", "zebra", "ёлка", "άλφα", "élan", "あ", "ア"]
    ordered = [tool["name"] for tool in sort_by_name([{"name": name} for name in names])]
    assert ordered == ["élan", "zebra", "άλφα", "ώρα", "ёлка", "яблоко", "あ", "ア"]


def test_our_own_tools_have_names_whose_order_needs_no_tables() -> None:
    names = [*TOOLS, *PLUGIN_TOOLS]
    assert all(name.isascii() and name.isidentifier() and name == name.lower() for name in names)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=6),
    max_leaves=12,
)
NAMES = st.text(st.characters(max_codepoint=0x7F), max_size=8)
NODE = shutil.which("node")
IN_NODE = """
const deepSort = v => Array.isArray(v) ? v.map(deepSort) : v && typeof v === 'object'
  ? Object.keys(v).sort().reduce((o, k) => { o[k] = deepSort(v[k]); return o; }, {}) : v;
const input = tools => JSON.stringify(tools.sort((a, b) => a.name.localeCompare(b.name, 'en'))
  .map(t => deepSort({ name: t.name, description: t.description, inputSchema: t.inputSchema })));
const all = JSON.parse(require('fs').readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(all.map(text => input(JSON.parse(text)))));
"""


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_random_lists_are_written_as_node_writes_them() -> None:
    """HASH-05, HASH-06, HASH-07"""
    lists: list[str] = []

    @examples(300, database=None)
    @given(st.lists(st.tuples(NAMES, st.text(max_size=6), JSON_VALUES), max_size=4))
    def collect(tools: list[tuple[str, str, Any]]) -> None:
        lists.append(
            json.dumps([{"name": name, "description": text, "inputSchema": value} for name, text, value in tools])
        )

    collect()
    assert NODE is not None
    done = subprocess.run(
        [NODE, "-e", IN_NODE], input=json.dumps(lists).encode(), capture_output=True, check=True, timeout=60
    )
    wrong = [
        text
        for text, expected in zip(lists, json.loads(done.stdout), strict=True)
        if hash_input(json.loads(text)) != expected
    ]
    assert not wrong


@given(st.lists(NAMES, max_size=8))
@examples(100)
def test_the_order_of_a_list_depends_on_the_names_alone(names: list[str]) -> None:
    tools = [{"name": name} for name in names]
    assert [tool["name"] for tool in sort_by_name(tools)] == [
        tool["name"] for tool in sort_by_name(sort_by_name(tools))
    ]
