"""Questions about all links are answered as by resolving each of them (specs/index.md INDEX-56)."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from obsidian_mcp.core.text.vault_path import VaultPath, is_note
from tests.core.memory import MemoryVault

NAMES = [
    "a.md",
    "A.md",
    "b.md",
    "c.md.md",
    "v1.2.md",
    "é.md",
    "data",
    "pic.png",
    "x.canvas",
    "c.md",
    "d e.md",
    "f.markdown",
    "paper.pdf.md",
]
"""Names that share keys, have two of them, or none that a note has."""
FOLDERS = ["", "s/", "s/t/", "u/"]
LINKS = [
    "[[a]]",
    "[[A]]",
    "[[s/a]]",
    "[[s/t/b|shown]]",
    "![[pic.png]]",
    "[t](b.md)",
    "[t](../a.md)",
    "[[c]]",
    "[[c.md]]",
    "[[v1.2]]",
    "[[É]]",
    "[[data]]",
    "[[#own]]",
    "[[b#part]]",
    "[[nobody]]",
    "[[nobody.md]]",
    "[[no/body]]",
    "[[x.canvas]]",
    "[[d\u00a0e]]",
    "[[f.markdown]]",
    "[[f]]",
    "[[.]]",
    "[[s/]]",
    "[[paper.pdf]]",
    "[[a%23x]]",
]


def random_vault(seed: int) -> dict[str, str]:
    rng = random.Random(seed)
    texts = {}
    for folder in FOLDERS:
        for name in rng.sample(NAMES, rng.randint(1, 7)):
            links = " ".join(rng.choices(LINKS, k=rng.randint(0, 2)))
            texts[folder + name] = links
            if name.endswith(".canvas"):
                card = rng.choice(["a.md", "s/a.md", "b.md", "nobody.md"])
                texts[folder + name] = f'{{"nodes":[{{"id":"1","type":"file","file":"{card}"}}],"edges":[]}}'
    return texts


def expected(vault: MemoryVault) -> Mapping[str, object]:
    """The answers, from the targets of all links."""
    maps = vault.graph.link_maps().value
    paths = sorted(entry.path for entry in vault.catalog)
    linked = {target for source, targets in maps.resolved.items() for target in targets if target != source}
    incoming = {path: {source for source, targets in maps.resolved.items() if path in targets} for path in paths}
    return {
        "orphans": tuple(path for path in paths if path not in linked),
        "dead ends": tuple(
            path
            for path in paths
            if is_note(path) and not set(maps.resolved[path]) - {path} and not maps.unresolved[path]
        ),
        "unresolved": {
            (source, name, count) for source, names in maps.unresolved.items() for name, count in names.items()
        },
        "incoming": incoming,
        "seen by a query": incoming,
    }


@pytest.mark.parametrize("seed", range(40))
def test_keys_tell_what_resolving_every_link_tells(seed: int) -> None:
    """INDEX-56: names that several files share, paths, cards, and names with two keys included."""
    vault = MemoryVault(random_vault(seed))
    assert answers(vault) == expected(vault)


@pytest.mark.parametrize("seed", range(40, 50))
def test_keys_tell_it_after_changes_too(seed: int) -> None:
    """INDEX-02, INDEX-56: of files that went, came or changed."""
    texts, later = random_vault(seed), random_vault(seed + 100)
    vault = MemoryVault(texts)
    answers(vault)
    for path in [*texts][::2]:
        vault.delete(path)
    for path, text in [*later.items()][::2]:
        vault.write(path, text)
    vault.look()
    assert answers(vault) == expected(vault)


def answers(vault: MemoryVault) -> Mapping[str, object]:
    graph = vault.graph
    unresolved = graph.unresolved_links().value
    return {
        "orphans": graph.orphans(attachments=True).value,
        "dead ends": graph.dead_ends().value,
        "unresolved": {(source, name.name, count) for name in unresolved for source, count in name.sources.items()},
        "incoming": {
            entry.path: {reference.source for reference in graph.backlinks(entry.path).value} for entry in vault.catalog
        },
        "seen by a query": graph.evaluate(
            lambda moment: {
                entry.path: set(moment.link_graph().links_in([entry.path]).get(entry.path, ()))
                for entry in moment.catalog
            }
        ).value,
    }


def test_a_way_is_found_from_both_ends() -> None:
    """INDEX-35: a long chain with many branches near its ends is as short as it can be."""
    texts = {f"{number}.md": f"[[{number + 1}]]" for number in range(12)}
    texts |= {f"leaf {number}.md": f"[[{number % 2 * 11}]]" for number in range(40)}
    vault = MemoryVault(texts)
    way = vault.graph.shortest_path(VaultPath("0.md"), VaultPath("11.md")).value
    assert way == tuple(f"{number}.md" for number in range(12))
    assert vault.graph.shortest_path(VaultPath("leaf 1.md"), VaultPath("nowhere.md")).value == ()
