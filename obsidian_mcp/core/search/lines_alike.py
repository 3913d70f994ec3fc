"""Lines of other notes that say what an outdated text says (MEM-21)."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.text.analysis import fold
from obsidian_mcp.core.text.stopwords import ASKING, STOP_WORDS
from obsidian_mcp.core.text.vault_path import VaultPath

from .outdated_files import OutdatedFiles
from .similar import find_alike_by_words

COMPARED_FILES = 60
"""Notes whose lines are compared: those that share the most words."""
COMPARED_CHARACTERS = 4_000
"""Of each of the two texts."""
LEAST_SHARE = 0.5
"""Share of what the words of a line weigh, by rarity, that another line must have of it."""
LEAST_WORDS = 2
LINE_CHARACTERS = 200

_WORD = re.compile(r"\w{2,}")
# bounded, so that a line of many brackets takes no time that grows with its square
_FIELD = re.compile(r"[\[(][\w -]{1,80}::[^\])]{0,400}\]?[\])]|\^[\w-]+\s*$")


@dataclass(frozen=True, slots=True)
class AlikeLine:
    """A line that says what an outdated text says."""

    path: VaultPath
    line: int
    """1-based."""
    text: str
    share: float


@dataclass(frozen=True, slots=True)
class Statements:
    """The lines of a text as sets of words."""

    lines: Sequence[frozenset[str]]
    weights: Mapping[str, float]

    def share_of(self, words: frozenset[str]) -> float:
        """Return what share of the best of these lines some words say, from 0 to 1.

        `math.fsum`, because the order of words in a set is another in each process: two equal
        shares would now and then differ in their last digit.
        """
        shares = [
            math.fsum(self.weights[word] for word in line & words)
            / math.fsum(self.weights[word] for word in line)
            for line in self.lines
            if len(line & words) >= min(LEAST_WORDS, len(line))
        ]
        return max(shares, default=0.0)


def find_lines_alike(
    rows: Rows,
    outdated: OutdatedFiles,
    old_text: str,
    new_text: str,
    without: Collection[VaultPath],
) -> list[AlikeLine]:
    """Return the current lines that say what the old text says rather than the new one, the most
    alike first; notes in `without` and outdated ones are left out."""
    old, new = old_text[:COMPARED_CHARACTERS], new_text[:COMPARED_CHARACTERS]
    paths = find_alike_by_words(rows, old, COMPARED_FILES)
    numbers = {path: outdated.numbers.get(path) for path in paths if path not in without}
    looked_at = {
        number: path
        for path, number in numbers.items()
        if number is not None and number not in outdated.marks
    }
    weights = _weigh(rows, [*_statements(old), *_statements(new)], len(outdated.paths))
    old_statements = Statements(_statements(old), weights)
    new_statements = Statements(_statements(new), weights)
    alike = []
    for number, path in looked_at.items():
        text = rows.text(path)
        blocks = outdated.find_blocks(number, text)
        for line, start, written in _lines_of(text):
            if any(block.start <= start < block.end for block in blocks):
                continue
            words = _words_of(written)
            share = old_statements.share_of(words)
            if share >= LEAST_SHARE and share > new_statements.share_of(words):
                alike.append(AlikeLine(path, line, written.strip(), round(share, 2)))
    return sorted(alike, key=lambda hit: (-hit.share, hit.path, hit.line))


def _statements(text: str) -> list[frozenset[str]]:
    words = [_words_of(line) for _, _, line in _lines_of(text)]
    return [line for line in dict.fromkeys(words) if line]


def _lines_of(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield number, start and text of the lines behind the properties."""
    body, start = text_start(text), 0
    for number, line in enumerate(text.split("\n"), 1):
        if start >= body and line.strip():
            yield number, start, line
        start += len(line) + 1


def _words_of(line: str) -> frozenset[str]:
    empty = ASKING.union(*STOP_WORDS.values())
    return frozenset(_WORD.findall(fold(_FIELD.sub(" ", line)))) - empty


def _weigh(rows: Rows, lines: Iterable[frozenset[str]], file_count: int) -> dict[str, float]:
    """Return what words weigh: the rarer in the vault, the more."""
    words = frozenset[str]().union(*lines)
    return {
        word: math.log(1 + (file_count + 1) / (1 + rows.full_text.count(f'"{word}"')))
        for word in words
    }
