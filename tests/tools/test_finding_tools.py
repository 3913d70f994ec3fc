"""A host that searches for tools finds ours by what users say (specs/tools.md, TOOL-20)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from obsidian_mcp.tools.offer import PREFIX
from obsidian_mcp.tools.registry import TOOLS, Tool

VECTORS = Path(__file__).parents[2] / "specs" / "vectors"
FIRST = 5
UNSOUGHT = set(
    re.findall(
        r"\w+",
        "a all an and are at be by did do does for from how i in into is it its me my need of off on one ones or that "
        "the their them then there these they this those to was were what when where which who with you",
    )
)
"""Words that searches leave out, as they are in most texts."""


def rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (VECTORS / name).read_text(encoding="utf-8").splitlines()[1:]]


PHRASINGS = [(phrase, {PREFIX + tool for tool in tools.split()}) for phrase, tools in rows("tool-phrasings.tsv")]
OTHERS = rows("tools-of-others.tsv")


def words(text: str) -> list[str]:
    """Lower-case words, also of snake_case and camelCase names, without UNSOUGHT and the plural's s."""
    parts = re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())
    sought = [part for part in parts if part not in UNSOUGHT]
    return [part[:-1] if len(part) > 3 and part.endswith("s") and not part.endswith("ss") else part for part in sought]


class BM25:
    """The ranking of most searches for tools: Okapi BM25, k1 = 1.2, b = 0.75."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        self.counts = {name: Counter(words(text)) for name, text in documents.items()}
        self.mean = sum(counts.total() for counts in self.counts.values()) / len(self.counts)
        self.documents_with = Counter(word for counts in self.counts.values() for word in counts)

    def first(self, query: str) -> list[str]:
        """Return the names of the best documents; those without a word of the query are none."""
        scored = {name: self._score(counts, words(query)) for name, counts in self.counts.items()}
        best = sorted(scored, key=lambda name: (-scored[name], name))[:FIRST]
        return [name for name in best if scored[name] > 0]

    def _score(self, counts: Counter[str], query: list[str]) -> float:
        norm = 1.2 * (0.25 + 0.75 * counts.total() / self.mean)
        total = len(self.counts)
        return sum(
            math.log(1 + (total - of + 0.5) / (of + 0.5)) * counts[word] * 2.2 / (counts[word] + norm)
            for word in query
            if (of := self.documents_with[word])
        )


CHANGE_DESCRIPTIONS = "specs/vectors/tool-phrasings.tsv holds what users say: change descriptions, then `make update`."


def described(tool: Tool) -> str:
    properties = tool.input_schema["properties"]
    arguments = [f"{name} {value.get('description', '')}" for name, value in properties.items()]
    return " ".join([tool.name, tool.description, *arguments])


def missed(documents: Mapping[str, str]) -> list[str]:
    """The phrasings whose tool does not come among the first, with what comes instead."""
    index = BM25(documents)
    found = {phrase: index.first(phrase) for phrase, _ in PHRASINGS}
    return [f"{phrase}: {found[phrase]}" for phrase, tools in PHRASINGS if not tools & set(found[phrase])]


def test_what_users_say_finds_the_right_tool_among_sixty_of_other_servers() -> None:
    """TOOL-20"""
    others = {name: " ".join(rest) for name, *rest in ([name, name, *rest] for name, *rest in OTHERS)}
    failures = missed(others | {name: described(tool) for name, tool in TOOLS.items()})
    print(*failures, sep="\n")

    assert len(failures) <= 0.05 * len(PHRASINGS), CHANGE_DESCRIPTIONS


def test_names_and_titles_alone_find_most_of_the_tools() -> None:
    """TOOL-20: hosts that load descriptions as they are needed show a model only these"""
    others = {name: name for name, *_ in OTHERS}
    failures = missed(others | {name: f"{name} {tool.title}" for name, tool in TOOLS.items()})
    print(*failures, sep="\n")

    assert len(failures) <= 0.2 * len(PHRASINGS), CHANGE_DESCRIPTIONS


def test_names_without_titles_find_more_than_half_of_the_tools() -> None:
    """TOOL-20: the names are contracts, and some of them say a noun only (obsidian_graph,
    obsidian_similar)"""
    failures = missed({name: name for name in [*TOOLS, *(name for name, *_ in OTHERS)]})
    print(*failures, sep="\n")

    assert len(failures) <= 0.35 * len(PHRASINGS), CHANGE_DESCRIPTIONS


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_every_tool_has_a_phrasing_and_no_phrasing_asks_for_another(tool: Tool) -> None:
    assert any(tool.name in tools for _, tools in PHRASINGS), "write one into specs/vectors/tool-phrasings.tsv"
    assert set().union(*(tools for _, tools in PHRASINGS)) <= set(TOOLS)


def test_the_tools_of_other_servers_are_as_many_as_a_user_may_have() -> None:
    names = [name for name, *_ in OTHERS]

    assert len(set(names)) == len(names) >= 60
    assert len(PHRASINGS) >= 40
    assert not set(names) & set(TOOLS)
