"""The app's own recordings of notes: they must agree key by key (semantics 0.3). Read in place, never copied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.text.text import Text
from tests.cached_metadata import cached_metadata

RECORDINGS = Path(__file__).parents[4] / "shared" / "data" / "recordings"
FILES = sorted(RECORDINGS.glob("*.json"))

if not FILES:
    pytest.skip("the app's recordings are not here (../shared/data/recordings)", allow_module_level=True)


@pytest.fixture(params=FILES, ids=[file.stem for file in FILES])
def recording(request: pytest.FixtureRequest) -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(request.param.read_text(encoding="utf-8"))
    return recorded


def test_the_metadata_of_a_note_is_what_the_app_has(recording: dict[str, Any]) -> None:
    note = parse(Text.decode(recording["fileContents"].encode()).body)
    found = json.loads(json.dumps(cached_metadata(note)))
    wanted = recording["cachedMetadata"]
    assert found.keys() == wanted.keys()
    for key in wanted:
        assert found[key] == wanted[key], key


def test_the_tags_of_a_note_are_those_the_app_has(recording: dict[str, Any]) -> None:
    note = parse(recording["fileContents"])
    assert note.all_tags == recording["getAllTags"]
    assert frontmatter.tags(note.properties) == recording["parseFrontMatterTags"]


def test_the_links_of_a_note_are_those_the_app_resolves(recording: dict[str, Any]) -> None:
    note = parse(recording["fileContents"])
    found = {link.target for link in note.links} | {link.target for link in note.property_links}
    assert found == set(recording["resolveLinkToPath"])
