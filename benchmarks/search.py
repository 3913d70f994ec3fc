"""How long searches take beside ripgrep, on generated vaults: `python -m benchmarks.search`; no network.

Every kind of query is measured with several texts, and no word is searched twice, so that no cache answers for the
search. Ours is measured twice: the tool in this process, and the same calls to a server over its pipes.
The three take turns, so that noise falls on all.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Literal

from obsidian_mcp import compose, config
from obsidian_mcp.app import App
from obsidian_mcp.tools import registry
from tests.generate import JAPANESE, generate, words

from .servers import ours
from .wire import Wire

HERE = Path(__file__).parent
SIZES = (10_000, 50_000)
WORD_TARGET, COMMON_TARGET, FIELD_TARGET, SAME = 20.0, 10.0, 3.0, 1.0
"""So many times faster than ripgrep: rare words, common words, phrases with tags and properties, everything else."""
RARE_TARGET = 0.2
"""Regular expressions without a literal, and lines with common words, may take five times as long as ripgrep."""
SECONDS_PER_NOTE = 0.1 / 10_000
BLOCK_SECONDS_PER_NOTE = 0.25 / 10_000
"""Goal for queries that ripgrep cannot answer: hardly noticeable in a large vault."""
PAUSE = 0.02
"""Seconds between two measurements, so that the work that one leaves behind does not count for the next."""

Match = Literal["smart", "exact"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of query and its texts, which the kinds of `match` share in turns; the last text only warms up."""

    name: str
    queries: Sequence[str]
    ripgrep: Callable[[str], Sequence[str]] | None
    """The arguments of `rg` that answer the same question as well as it can; None where it cannot.

    After a `|` those of a second one, which looks only at the files that the first one finds.
    """
    target: float
    """How many times faster than ripgrep it has to be."""
    matches: Sequence[Match] = ("exact",)
    seconds_per_note: float = SECONDS_PER_NOTE
    """The goal if `target` is 0."""


@dataclass(frozen=True, slots=True)
class Row:
    """Medians, in seconds."""

    notes: int
    kind: str
    match: Match
    example: str
    hits: int
    """Of the median query."""
    tool: float
    wire: float
    ripgrep: float | None
    target: float
    seconds_per_note: float = SECONDS_PER_NOTE

    @property
    def ratio(self) -> float | None:
        """How many times faster than ripgrep the tool is."""
        return None if self.ripgrep is None else self.ripgrep / self.tool

    @property
    def is_met(self) -> bool | None:
        """Whether the target is; None where ripgrep is not installed. What it cannot do has to be fast enough."""
        if self.target == 0:
            return self.tool <= self.seconds_per_note * self.notes
        return None if self.ratio is None else self.ratio >= self.target

    def plain(self) -> dict[str, object]:
        return {**asdict(self), "ratio": self.ratio, "met": self.is_met}


def kinds() -> list[Kind]:
    """Return the kinds. The first words of the generator are in nearly every note, the last in one of a hundred."""
    vocabulary = words()
    often = iter(sorted(vocabulary[2:180]))  # so that every kind gets more and less common ones
    seldom = iter(sorted(vocabulary[200:900:12]))
    both: tuple[Match, Match] = ("smart", "exact")

    def some(source: Iterator[str], count: int) -> list[str]:
        return list(islice(source, count))

    def pairs(source: Iterator[str], count: int) -> list[str]:
        return [f"{one} {other}" for one, other in zip(some(source, count), some(source, count), strict=True)]

    names = [f'"{name.capitalize()} {vocabulary[n * 7]}"' for n, name in enumerate(vocabulary[1:13], 1)]

    def word(query: str) -> Sequence[str]:
        return ["-F", query]

    def line(query: str) -> Sequence[str]:
        one, other = query.removeprefix("line:(").removesuffix(")").split()
        return [f"{one}.*{other}|{other}.*{one}"]

    def both_words(query: str) -> Sequence[str]:
        one, other = query.split()
        return ["-F", one, "|", "-F", other]

    def one_without(query: str) -> Sequence[str]:
        one, other = query.split(" -")
        return ["-F", one, "|", "--files-without-match", "-F", other]

    return [
        Kind("rare word", [f"quetzalcoatl{400 * n}" for n in range(4, 16)], word, WORD_TARGET, both),
        Kind("absent word", ABSENT, word, WORD_TARGET, both),
        Kind("misspelled word", [_misspelled(text) for text in vocabulary[3000:3600:100]], word, SAME, ("smart",)),
        Kind("common word", some(often, 12), word, COMMON_TARGET, both),
        Kind("usual word", some(seldom, 12), word, COMMON_TARGET, both),
        Kind("two common words", pairs(often, 12), both_words, COMMON_TARGET, both),
        Kind("CJK word", JAPANESE, word, COMMON_TARGET, both),
        Kind(
            "phrase, common words",
            [f'"{pair}"' for pair in pairs(often, 12)],
            lambda query: ["-w", query.strip('"')],
            FIELD_TARGET,
            both,
        ),
        Kind("phrase, a name", names, lambda query: ["-w", query.strip('"')], FIELD_TARGET, both),
        Kind("tag", [f"tag:#area/{n}" for n in range(1, 8)], lambda query: [rf"\b{query[5:]}\b"], FIELD_TARGET),
        Kind("inline tag", [f"tag:{text}" for text in vocabulary[100:107]], lambda q: [f"#{q[4:]}\\b"], FIELD_TARGET),
        Kind(
            "property",
            [f"[rating:{n}]" for n in range(1, 8)],
            lambda query: [f"^rating: {query[8:-1]}$"],
            FIELD_TARGET,
        ),
        Kind(
            "regex with a literal",
            [f"/{w}\\w+ {w[:2]}/" for w in some(seldom, 7)],
            lambda q: ["-e", q.strip("/")],
            SAME,
        ),
        Kind(
            "regex of one word",
            [f"/{w[:4]}\\w*{w[-2:]}\\b/" for w in some(seldom, 7)],
            lambda q: ["-e", q.strip("/")],
            SAME,
        ),
        Kind("regex without a literal", REGEXES, lambda query: ["-e", query.strip("/")], RARE_TARGET),
        Kind("line:, common words", [f"line:({pair})" for pair in pairs(often, 7)], line, RARE_TARGET),
        Kind("line:, usual words", [f"line:({pair})" for pair in pairs(seldom, 7)], line, SAME),
        Kind("section:, common words", [f"section:({pair})" for pair in pairs(often, 7)], None, 0),
        Kind(
            "block:, common words",
            [f"block:({pair})" for pair in pairs(often, 7)],
            None,
            0,
            seconds_per_note=BLOCK_SECONDS_PER_NOTE,
        ),
        Kind(
            "task-todo:, common word",
            [f"task-todo:{text}" for text in some(often, 7)],
            lambda q: [rf"^- \[ \].*{q[10:]}"],
            0,
        ),
        Kind("common, without another", [pair.replace(" ", " -") for pair in pairs(often, 7)], one_without, SAME),
        Kind(
            "without a word",
            [f"-{text}" for text in some(seldom, 7)],
            lambda query: ["--files-without-match", "-F", query[1:]],
            SAME,
        ),
        Kind(
            "path:", [f"path:{text}" for text in some(seldom, 7)], lambda q: ["--files", "--iglob", f"*{q[5:]}*"], SAME
        ),
    ]


ABSENT = ["xylophage", "wyvernesque", "jabberwock", "quixotry", "zephyrine", "fjordland", "kwyjibo", "phlogiston"]
ABSENT += ["borogrove", "cryptozoic", "hypnagogy", "gryphonish"]
"""No note has them or anything like them: a smart search looks everywhere before it says so."""

REGEXES = [
    r"/[A-Z]{2,}-\d+/",
    r"/\w+@\w+/",
    r"/^#{3,} /",
    r"/[0-9]+\.[0-9]+/",
    r"/\d{3}\s+\w+\s+\d/",
    r"/\b\d{1,2}:\d\d\b/",
    r"/\[\[[A-Z]\w+ [a-z]{12,}/",
    r"/^\d+\) /",
]
"""Of the kind that people ask: no word in them can be looked up."""


def _misspelled(word: str) -> str:
    """With a letter that the generator never uses."""
    return f"{word[:3]}x{word[4:]}"


def rows(folder: Path, sizes: Sequence[int], only: str = "", say: Callable[[str], object] = str) -> list[Row]:
    """Every kind on a vault of every size; the vaults are generated in `folder` where they are not there yet."""
    found = []
    for size in sizes:
        say(f"searches in {size} notes, from here on {HEAD}")
        vault = generate(folder.resolve() / f"vault{size}", size)
        with _opened(vault) as app, ours(vault).start() as wire:
            wire.initialize()
            _call(wire, "anything", "smart")
            for kind in kinds():
                if only in kind.name:
                    found += [_row(app, wire, vault, size, kind, match) for match in kind.matches]
                    say("\n".join(map(line_of, found[-len(kind.matches) :])))
    return found


@contextmanager
def _opened(vault: Path) -> Iterator[App]:
    """The vault in this process, watched, with its index complete."""
    with tempfile.TemporaryDirectory(prefix="bench-state-") as state:
        environment: Mapping[str, str] = {**ours(vault).env, "OBSIDIAN_MCP_STATE": state, "HOME": state}
        app = compose.build(config.Config((str(vault),), environment), serving=True)
        try:
            place = app.vaults.get("")
            place.indexer.complete()
            _ask(app, "anything", "smart")
            yield app
        finally:
            app.vaults.close()


def _row(app: App, wire: Wire, vault: Path, size: int, kind: Kind, match: Match) -> Row:
    *queries, first = kind.queries[kind.matches.index(match) :: len(kind.matches)]
    _read_index(app)
    _ask(app, first, match)
    _call(wire, first, match)
    if kind.ripgrep:
        _ripgrep(vault, kind.ripgrep(first))
    tool, wired, ripgrep, hits = [], [], [], []
    for query in queries:
        seconds, total = _ask(app, query, match)
        tool.append(seconds)
        hits.append(total)
        time.sleep(PAUSE)
        wired.append(_call(wire, query, match))
        time.sleep(PAUSE)
        if kind.ripgrep:
            ripgrep.append(_ripgrep(vault, kind.ripgrep(query)))
            time.sleep(PAUSE)
    known = [seconds for seconds in ripgrep if seconds is not None]
    return Row(
        size,
        kind.name,
        match,
        queries[0],
        int(statistics.median(hits)),
        statistics.median(tool),
        statistics.median(wired),
        statistics.median(known) if known else None,
        kind.target,
        kind.seconds_per_note,
    )


def _read_index(app: App) -> None:
    """Into the system's memory, as ripgrep's first run reads the notes: some systems take it back within a minute."""
    file = app.vaults.get("").indexer.index.database.file
    if file is not None:
        with file.open("rb") as opened:
            while opened.read(1 << 20):
                pass


def _ask(app: App, query: str, match: Match) -> tuple[float, int]:
    """Seconds that the tool takes, and how many notes it finds."""
    begun = time.perf_counter()
    outcome = registry.call(app, "obsidian_search", {"query": query, "match": match, "show": "paths"})
    seconds = time.perf_counter() - begun
    return seconds, outcome.data["total"]


def _call(wire: Wire, query: str, match: Match) -> float:
    begun = time.perf_counter()
    wire.call("obsidian_search", query=query, match=match, show="paths")
    return time.perf_counter() - begun


def _ripgrep(vault: Path, arguments: Sequence[str]) -> float | None:
    """Seconds of its process, or of two; None where it is not installed."""
    program = shutil.which("rg")
    if program is None:
        return None
    first, second = list(arguments), list[str]()
    if "|" in first:
        at = first.index("|")
        first, second = first[:at], first[at + 1 :]
    begun = time.perf_counter()
    found = subprocess.run([program, *_listing(first), str(vault)], stdout=subprocess.PIPE, check=False)  # noqa: S603  ours
    if second:
        xargs = ["xargs", "-0", program, *_listing(second)]
        subprocess.run(xargs, input=found.stdout, stdout=subprocess.PIPE, check=False)  # noqa: S603  ours
    return time.perf_counter() - begun


def _listing(arguments: Sequence[str]) -> list[str]:
    """With what makes it list files."""
    how = [] if arguments[0].startswith("--files") else ["--files-with-matches"]
    return ["--ignore-case", "--null", *how, *arguments]


# -- to be read ------------------------------------------------------------------------------------------------


def table(facts: Mapping[str, str], found: Sequence[Row]) -> str:
    """As Markdown, one table for each size."""
    lines = ["# Searches beside ripgrep", "", ". ".join(f"{name}: {fact}" for name, fact in facts.items()) + ".", ""]
    lines += [
        "Medians in milliseconds; every text is asked once. Tool: the call in the process, watched, warm. Wire:",
        "the same call to a server over its pipes; both for paths alone, the best twenty, as `rg -l -i` lists paths.",
        "The ratio says how many times faster the tool is; where ripgrep has no such question, the goal is a time.",
        "",
    ]
    if all(row.ripgrep is None for row in found):
        lines += ["ripgrep (`rg`) is not installed here: only our figures.", ""]
    for size in dict.fromkeys(row.notes for row in found):
        lines += [f"## {size:,} notes".replace(",", " "), "", HEAD, "|---|---|---|--:|--:|--:|--:|--:|--:|---|"]
        lines += [line_of(row) for row in found if row.notes == size]
        lines.append("")
    return "\n".join(lines)


HEAD = "| kind | match | example | hits | tool | wire | ripgrep | ratio | goal | |"


def line_of(row: Row) -> str:
    example = row.example.replace("|", "\\|")
    figures = [_ms(row.tool), _ms(row.wire), "" if row.ripgrep is None else _ms(row.ripgrep)]
    ratio = "" if row.ratio is None else f"{row.ratio:.1f}"
    goal = f"{row.target:g}" if row.target else f"{row.seconds_per_note * row.notes * 1e3:g} ms"
    met = {True: "met", False: "MISSED", None: ""}[row.is_met]
    cells = [row.kind, row.match, f"`{example}`", str(row.hits), *figures, ratio, goal, met]
    return f"| {' | '.join(cells)} |"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f}" if seconds < 0.01 else f"{seconds * 1e3:.0f}"


def facts_of_machine() -> dict[str, str]:
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?"
    return {
        "Date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "Machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, load {load}",
        "Python": platform.python_version(),
    }


def keep(facts: Mapping[str, str], found: Sequence[Row]) -> None:
    """Write the table and the figures into this folder."""
    (HERE / "search.md").write_text(table(facts, found), encoding="utf-8")
    kept = {"facts": facts, "rows": [row.plain() for row in found]}
    (HERE / "search.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.search", description="Measure, print and keep.")
    options.add_argument("--sizes", default=",".join(map(str, SIZES)), help="notes in the vaults")
    options.add_argument("--vaults", type=Path, default=HERE.parent / "build" / "vaults", help="where vaults are kept")
    options.add_argument("--only", default="", metavar="TEXT", help="only kinds whose name holds this; keeps nothing")
    options.add_argument("--only-print", action="store_true", help="leave the files of results as they are")
    arguments = options.parse_args()
    facts = facts_of_machine()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    found = rows(arguments.vaults, sizes, arguments.only, lambda line: sys.stderr.write(f"{line}\n"))
    sys.stdout.write(table(facts, found))
    if not (arguments.only or arguments.only_print):
        keep(facts, found)


if __name__ == "__main__":
    main()
