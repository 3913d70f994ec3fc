"""How well searches find the note that a question is about: `make bench-find`; no network.

The questions of `find.tsv` were written before anything was tuned for them, as a person would ask who does not
remember the words of the note. Tuning looks at one half; the other half is for the report. Beside ours: SQLite's FTS5
with Porter stems and any of the words, and files with most of the words, as a person would pick from what grep prints.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from obsidian_mcp.core.semantic.choice import EmbeddingChoice
from tests import findability
from tests.check import SHARED

from . import history, memory
from .ways import FIRST, Answer, Way, grep, ours, plain_fts5
from .wordings import SETS, Wording

HERE = Path(__file__).parent
QUESTIONS = HERE / "find.tsv"
REPORT = HERE / "find.md"
OWN = "findability"
"""The vault that comes with the tests; the others are other people's and may be absent."""
HEAD = """# How well searches find

Written by `make bench-find`: the share of the questions of `find.tsv` whose note comes first, among the first three and
among the first ten, and the median bytes of an answer. Tuning looked at the first half only. What was tried:
[finding.md](finding.md).
"""
HALVES = ("tuning", "reporting")
CLASSES = ("keyword", "misspelled", "natural", "paraphrase", "other language")


@dataclass(frozen=True, slots=True)
class Question:
    half: str
    kind: str
    """One of CLASSES; the question of the last is in another language than the note."""
    vault: str
    query: str
    notes: frozenset[str]
    """Paths, of which one must be found."""


@dataclass(frozen=True, slots=True)
class Score:
    """Of the questions of one class: shares from 0 to 1, and bytes."""

    count: int
    reciprocal_rank: float
    recall: Mapping[int, float]
    """Among the first 1, 3 and 10."""
    size: float
    """Median bytes of an answer."""


def read_questions(file: Path) -> list[Question]:
    rows = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()[1:]]
    return [Question(half, kind, vault, query, frozenset(notes.split("|"))) for half, kind, vault, query, notes in rows]


def rank_of(question: Question, answer: Answer) -> int | None:
    """The place of the first right note, from 1 on; None if it is not among the first ten."""
    return next((place for place, path in enumerate(answer.paths, 1) if path in question.notes), None)


def score(pairs: Sequence[tuple[Question, Answer]]) -> Score:
    ranks = [rank_of(question, answer) for question, answer in pairs]
    recall = {most: sum(rank is not None and rank <= most for rank in ranks) / len(ranks) for most in (1, 3, FIRST)}
    reciprocal = sum(1 / rank for rank in ranks if rank) / len(ranks)
    return Score(len(ranks), reciprocal, recall, statistics.median(answer.size for _, answer in pairs))


def read_notes(vault: Path) -> dict[str, str]:
    return {
        file.relative_to(vault).as_posix(): file.read_text(encoding="utf-8", errors="replace")
        for file in sorted(vault.rglob("*.md"))
    }


# -- asking, and the report --------------------------------------------------------------------------------------


def answered(
    vault: Path, questions: Sequence[Question], choice: EmbeddingChoice | None
) -> dict[str, list[tuple[Question, Answer]]]:
    """The answers that each way gives."""
    texts = read_notes(vault)
    with ExitStack() as stack:
        ways: dict[str, Way] = {"obsidian_search": stack.enter_context(ours(vault))}
        if choice is not None:
            ways["with meaning"] = stack.enter_context(ours(vault, choice))
        ways |= {"plain FTS5": stack.enter_context(plain_fts5(texts)), "grep": grep(texts)}
        return {name: [(question, way(question.query)) for question in questions] for name, way in ways.items()}


def table(answers: Mapping[str, Sequence[tuple[Question, Answer]]]) -> str:
    """One row for each class and way, as Markdown."""
    rows = [
        "| class | questions | | MRR@10 | first | first 3 | first 10 | bytes |",
        "|---|--:|---|--:|--:|--:|--:|--:|",
    ]
    for kind in (*CLASSES, ""):
        for name, its in answers.items():
            chosen = [pair for pair in its if kind in ("", pair[0].kind)]
            if chosen:
                found = score(chosen)
                shares = " | ".join(f"{100 * share:.0f} %" for share in found.recall.values())
                label = f"{kind or '**all**'} | {found.count}" if name == next(iter(answers)) else " | "
                rows.append(f"| {label} | {name} | {found.reciprocal_rank:.2f} | {shares} | {found.size:,.0f} |")
    return "\n".join(rows)


def missed(answers: Sequence[tuple[Question, Answer]]) -> list[str]:
    """The questions whose note is not among the first three, and what came instead."""
    lines = []
    for question, answer in answers:
        rank = rank_of(question, answer)
        if rank is None or rank > 3:
            first = ", ".join(answer.paths[:3])
            lines.append(f"{question.kind}: {question.query!r} → {' | '.join(question.notes)} at {rank}; first {first}")
    return lines


def report(halves: Mapping[str, Mapping[str, Sequence[tuple[Question, Answer]]]], absent: Sequence[str]) -> str:
    parts = [HEAD]
    parts += [f"## {half.capitalize()} half\n\n{table(answers)}\n" for half, answers in halves.items()]
    if absent:
        parts.append(f"Not on this machine: {', '.join(absent)}.\n")
    return "\n".join(parts)


def measure_history() -> str:
    """The table of facts that change, ours beside plain FTS5, for each set of facts."""
    return history.report_history({name: score_facts(wording) for name, wording in SETS.items()})


def score_facts(wording: Wording) -> dict[str, dict[bool, history.HistoryScore]]:
    """The scores of both ways to search, for the facts of one history."""
    with tempfile.TemporaryDirectory(prefix="bench-history-") as folder:
        questions = history.make_history(Path(folder), wording)
        with history.ask_ours(Path(folder)) as ask:
            rows = {"obsidian_search": history.score_history(questions, ask)}
        with plain_fts5(read_notes(Path(folder))) as way:

            def ask_plain(query: str) -> list[history.HistoryHit]:
                answer = way(query)
                return [history.HistoryHit(*hit) for hit in zip(answer.paths, answer.shown, strict=True)]

            rows["plain FTS5"] = history.score_history(questions, ask_plain)
    return rows


def options() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m benchmarks.find", description="Measure, print and keep a table.")
    found.add_argument("--half", choices=HALVES, help="only this half, with what was missed; keeps nothing")
    found.add_argument("--questions", type=Path, default=QUESTIONS, help="a table as find.tsv; keeps nothing")
    found.add_argument("--vault", type=Path, help="the vault of those questions")
    found.add_argument("--model", default="", help="folder of a model, or its name at the endpoint; keeps nothing")
    found.add_argument("--endpoint", default="", help="address of an OpenAI-compatible endpoint")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = options().parse_args(arguments)
    questions = [row for row in read_questions(chosen.questions) if chosen.half in (None, row.half)]
    choice = None
    if chosen.model:
        folder = "" if chosen.endpoint else chosen.model
        choice = EmbeddingChoice(folder=folder, url=chosen.endpoint, model=chosen.model)
    halves: dict[str, dict[str, list[tuple[Question, Answer]]]] = {}
    absent = []
    with tempfile.TemporaryDirectory(prefix="bench-vault-") as folder:
        for name in dict.fromkeys(question.vault for question in questions):
            vault = chosen.vault or SHARED / "data" / "vaults" / name
            if name == OWN:
                vault = findability.unpack(Path(folder) / name)
            if not vault.is_dir():
                absent.append(name)
                continue
            its = [question for question in questions if question.vault == name]
            for way, pairs in answered(vault, its, choice).items():
                for pair in pairs:
                    halves.setdefault(pair[0].half, {}).setdefault(way, []).append(pair)
    text = report({half: halves[half] for half in HALVES if half in halves}, absent)
    is_whole = not chosen.half and chosen.questions == QUESTIONS and choice is None
    if is_whole:
        text = f"{text}\n{measure_history()}\n{memory.measure_memory()}"
    sys.stdout.write(text)
    if chosen.half:
        sys.stdout.write("\n".join(["", *missed(halves[chosen.half]["obsidian_search"]), ""]))
    if is_whole:
        REPORT.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
