"""The link maps of a vault that the app has recorded (semantics 1.4). Read in place, never copied."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from obsidian_mcp.core.graph.results import LinkMaps
from obsidian_mcp.core.text.vault_path import VaultPath
from tests.core.memory import MemoryVault

DATA = Path(__file__).parents[4] / "shared" / "data"
VAULT = DATA / "vaults" / "tasks-demo"
RECORDINGS = sorted((DATA / "recordings").glob("*.json"))

if not VAULT.is_dir() or not RECORDINGS:
    pytest.skip("the demo vault and its recordings are not here (../shared/data)", allow_module_level=True)


@pytest.fixture(scope="module")
def maps() -> Iterator[LinkMaps]:
    files = {
        path.relative_to(VAULT).as_posix(): path.read_bytes()
        for path in VAULT.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(VAULT).parts)
    }
    recorded = [json.loads(file.read_text(encoding="utf-8")) for file in RECORDINGS]
    files |= {record["filePath"]: record["fileContents"].encode() for record in recorded}
    for record in recorded:  # pictures and documents were left out of the copy
        for target in filter(None, record["resolveLinkToPath"].values()):
            files.setdefault(target, b"")
    with MemoryVault(files) as vault:
        vault.indexer.pending.begin()
        yield vault.graph.link_maps().value


@pytest.mark.parametrize("file", RECORDINGS, ids=lambda file: file.stem)
def test_links_lead_where_the_app_says(maps: LinkMaps, file: Path) -> None:
    """INDEX-32"""
    recorded = json.loads(file.read_text(encoding="utf-8"))
    source = VaultPath(recorded["filePath"])
    cached = recorded["cachedMetadata"]
    wanted: dict[str, int] = {}
    missing: dict[str, int] = {}
    for link in [*cached.get("links", []), *cached.get("embeds", []), *cached.get("frontmatterLinks", [])]:
        target = recorded["resolveLinkToPath"].get(link["link"])
        if target is not None:
            wanted[target] = wanted.get(target, 0) + 1
        else:
            name = link["link"].partition("#")[0].removesuffix(".md")
            missing[name] = missing.get(name, 0) + 1

    assert maps.resolved[source] == wanted
    assert maps.unresolved[source] == missing
