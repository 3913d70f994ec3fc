"""Ways to search a vault that benchmarks of finding compare: ours, plain FTS5, and what a person picks from grep."""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from obsidian_mcp import compose, config, vault_builder
from obsidian_mcp.app import App
from obsidian_mcp.core.semantic.choice import EmbeddingChoice
from obsidian_mcp.tools import registry

FIRST = 10
"""Notes of an answer that count."""


@dataclass(frozen=True, slots=True)
class Answer:
    paths: Sequence[str]
    """The first ten, best first."""
    size: int
    """Bytes of the whole answer."""
    shown: Sequence[str] = ()
    """What is shown of each, where that is known."""


Way = Callable[[str], Answer]


@contextmanager
def opened(vault: Path, choice: EmbeddingChoice | None = None) -> Iterator[App]:
    """A vault in this process, its index complete; with the model of `choice` for search by meaning, else without."""
    with tempfile.TemporaryDirectory(prefix="bench-find-") as beside:
        places = {"OBSIDIAN_MCP_STATE": beside, "OBSIDIAN_MCP_CACHE": beside, "HOME": beside}
        if choice is not None:
            (Path(beside) / vault_builder.SEMANTIC_FILE).write_text(choice.text(), encoding="utf-8")
        app = compose.build(config.Config((str(vault),), places), serving=False)
        place = app.vaults.get("")
        place.indexer.pending.begin()
        place.indexer.complete()
        if place.meaning is not None:
            place.meaning.complete()
        try:
            yield app
        finally:
            app.vaults.close()


@contextmanager
def ours(vault: Path, choice: EmbeddingChoice | None = None) -> Iterator[Way]:
    """The tool."""
    with opened(vault, choice) as app:

        def ask(query: str) -> Answer:
            outcome = registry.call(app, "obsidian_search", {"query": query})
            return Answer([hit["path"] for hit in outcome.data["hits"]][:FIRST], len(outcome.envelope().encode()))

        yield ask


@contextmanager
def plain_fts5(texts: Mapping[str, str]) -> Iterator[Way]:
    """Names and texts in FTS5 as it comes, with stems; any of the words, best first by BM25."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE notes USING fts5(path UNINDEXED, name, text, tokenize='porter unicode61')")
    rows = ((path, Path(path).stem, text) for path, text in texts.items())
    connection.executemany("INSERT INTO notes VALUES (?, ?, ?)", rows)

    def ask(query: str) -> Answer:
        expression = " OR ".join(f'"{word}"' for word in words_of(query))
        sql = "SELECT path, snippet(notes, 2, '', '', '…', 30) FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT 20"
        found = connection.execute(sql, (expression,)).fetchall() if expression else []
        size = sum(len(f"{path}\n{part}\n".encode()) for path, part in found)
        return Answer([path for path, _ in found][:FIRST], size, [part for _, part in found][:FIRST])

    with closing(connection):
        yield ask


def grep(texts: Mapping[str, str]) -> Way:
    """Files with most of the words, those with more lines first; the bytes are those of all lines with any word."""
    lines = {path: text.lower().splitlines() for path, text in texts.items()}

    def ask(query: str) -> Answer:
        wanted = words_of(query)
        found: list[tuple[int, int, str]] = []
        size = 0
        for path, its_lines in lines.items():
            matching = [line for line in its_lines if any(word in line for word in wanted)]
            size += sum(len(f"{path}:{line}\n".encode()) for line in matching)
            if matching:
                words = sum(any(word in line for line in matching) for word in wanted)
                found.append((-words, -len(matching), path))
        return Answer([path for _, _, path in sorted(found)[:FIRST]], size)

    return ask


def words_of(query: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\w+", query.lower())))
