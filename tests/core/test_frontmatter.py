"""Frontmatter as the app reads it (specs/frontmatter.md)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from obsidian_mcp.core import frontmatter

RECORDINGS = Path(__file__).parents[2] / ".." / "shared" / "data" / "recordings"


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason="../shared/data/recordings is not there")
def test_the_recordings_of_the_app_agree_on_properties_and_tags() -> None:
    recordings = sorted(RECORDINGS.glob("*.json"))
    assert recordings
    for file in recordings:
        recording = json.loads(file.read_text(encoding="utf-8"))
        cached = recording["cachedMetadata"]
        found = frontmatter.read(recording["fileContents"])
        values = found.values if found else None
        assert values == cached.get("frontmatter"), file.name
        assert frontmatter.tags(values or {}) == recording["parseFrontMatterTags"], file.name
        assert (found is not None) == any(s["type"] == "yaml" for s in cached.get("sections", [])), file.name
        if found and values is not None:
            assert found.block.span.end == cached["frontmatterPosition"]["end"]["offset"], file.name
