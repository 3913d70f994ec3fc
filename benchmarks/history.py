"""Facts that change: 300 sessions of an assistant, and 120 questions about what holds and what held.

Each fact is written down anew when it changes, in other words, and what it replaces is marked as `supersede` marks it:
half of the facts are notes of their own, half are lines of the sessions. Everything is generated, and the same in each
run. Beside ours: SQLite's FTS5 as it comes.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from obsidian_mcp import compose, config
from obsidian_mcp.tools import registry

from .wordings import Wording

SESSIONS = 300
FIRST_DAY = date(2024, 1, 8)
TODAY = "2026-11-22"
FIRST = 3
HEAD = f"""## Facts that change

{SESSIONS} generated sessions of an assistant (`benchmarks/history.py`) in which 40 facts change one to three times,
each time with what was replaced being marked. *Own*: every fact is of one subject alone; the ranking was made with this
set in view. *Shared*: five subjects have the same eight facts, so that the words of a question are those of five facts.
*German* and *Japanese* are sets like *shared*, in those languages. No weight was fitted to them, but what they
missed was looked at, and kinds of it were repaired (words of the past, question words, chains of lines).
Counted are the questions whose fact is among the first three hits, or in the chain of one of them, and the hits that
show an outdated fact before the one that replaced it. Where a vault
marks nothing, searches are as ever.

| facts | questions | | | first 3 | outdated before its successor |
|---|---|--:|---|--:|--:|"""


@dataclass(slots=True)
class Version:
    """A fact as it held from a session on."""

    note: str
    """Path."""
    value: str
    day: date
    link: str
    """To its note or line."""


@dataclass(slots=True)
class Fact:
    subject: str
    attribute: str
    is_note: bool
    """Whether it has notes of its own; else it is in lines of sessions."""
    mark: str
    """Beginning of the ids of its lines."""
    versions: list[Version] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class HistoryQuestion:
    query: str
    fact: Fact
    asked: Version
    is_past: bool


@dataclass(frozen=True, slots=True)
class HistoryHit:
    path: str
    shown: str
    """The lines that are shown of it."""
    chain: Sequence[str] = ()


Ask = Callable[[str], Sequence[HistoryHit]]


@dataclass(frozen=True, slots=True)
class HistoryScore:
    """Of the questions about present or past."""

    questions: int
    first_three: int
    """Questions whose fact is among the first three hits, or in the chain of one of them."""
    reversed_pairs: int
    """Hits with an outdated version before the one that replaced it."""


def make_history(folder: Path, wording: Wording) -> list[HistoryQuestion]:
    """Write the vault of a set of facts, and return the questions."""
    chance = random.Random(61)  # noqa: S311
    days = [FIRST_DAY + timedelta(days=3 * number) for number in range(SESSIONS)]
    sessions = {day: [_noise(chance, wording) for _ in range(chance.randint(3, 6))] for day in days}
    facts = [
        Fact(
            subject,
            attribute,
            number % 2 == 0,
            f"{subject[:3]}{attribute[:3]}" if wording.is_ascii else f"f{place}n{number}-",
        )
        for place, (subject, attributes) in enumerate(wording.subjects.items())
        for number, attribute in enumerate(attributes)
    ]
    notes: dict[str, str] = {}
    for fact in facts:
        _write_versions(fact, wording, chance, (sessions, notes))
    notes |= {_session(day): "\n".join([f"# Session of {day}", "", *lines, ""]) for day, lines in sessions.items()}
    for path, text in notes.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="\n")
    return [question for number, fact in enumerate(facts) for question in _questions(fact, wording, number)]


def _session(day: date) -> str:
    return f"Sessions/{day} session.md"


def _noise(chance: random.Random, wording: Wording) -> str:
    subjects = [*wording.subjects]
    subject = chance.choice(subjects)
    attribute = chance.choice(wording.subjects[chance.choice(subjects)])
    words = {"subject": subject, "attribute": attribute, "value": chance.choice(wording.values)}
    return f"- {chance.choice(wording.noise).format(**words)}"


def _write_versions(
    fact: Fact, wording: Wording, chance: random.Random, texts_of: tuple[dict[date, list[str]], dict[str, str]]
) -> None:
    """Write two to four versions of a fact, each but the last marked with what replaced it.

    `texts_of` are the lines of sessions, and the texts of notes by their paths.
    """
    sessions, notes = texts_of
    values = chance.sample(wording.values, chance.randint(2, 4))
    days = sorted(chance.sample([*sessions], len(values)))
    ways = chance.sample(wording.statements, len(values))
    texts = []
    for number, (value, day, way) in enumerate(zip(values, days, ways, strict=True), 1):
        statement = way.format(subject=fact.subject, attribute=fact.attribute, value=value)
        texts.append(statement[0].upper() + statement[1:])
        if fact.is_note:
            name = f"{fact.subject} {fact.attribute} {number}".title()
            fact.versions.append(Version(f"Decisions/{name}.md", value, day, name))
        else:
            link = f"{day} session#^{fact.mark}{number}"
            fact.versions.append(Version(_session(day), value, day, link))
    following = [*fact.versions[1:], None]
    before = [None, *fact.versions[:-1]]
    for text, version, successor, old in zip(texts, fact.versions, following, before, strict=True):
        if fact.is_note:
            properties = [f"date: {version.day}"]
            properties += [f'superseded_by: "[[{successor.link}]]"'] if successor else []
            properties += [f'supersedes: ["[[{old.link}]]"]'] if old else []
            notes[version.note] = "\n".join(["---", *properties, "---", text, ""])
        else:
            fields = [f"[superseded_by:: [[{successor.link}]]]"] if successor else []
            fields += [f"[supersedes:: [[{old.link}]]]"] if old else []
            mark = "^" + version.link.partition("^")[2]
            sessions[version.day].append(" ".join([f"- {text}", *fields, mark]))


def _questions(fact: Fact, wording: Wording, number: int) -> Iterator[HistoryQuestion]:
    """Yield two questions about the present, and one about the past."""
    words = {"subject": fact.subject, "attribute": fact.attribute}
    for text in wording.present:
        yield HistoryQuestion(text.format(**words), fact, fact.versions[-1], is_past=False)
    earlier, later = fact.versions[-2:]
    text = wording.past[number % len(wording.past)].format(**words, value=later.value, month=f"{earlier.day:%Y-%m}")
    yield HistoryQuestion(text, fact, earlier, is_past=True)


@contextmanager
def ask_ours(vault: Path) -> Iterator[Ask]:
    """The tool, in this process."""
    with tempfile.TemporaryDirectory(prefix="bench-history-") as beside:
        places = {
            "OBSIDIAN_MCP_STATE": beside,
            "OBSIDIAN_MCP_CACHE": beside,
            "HOME": beside,
            "OBSIDIAN_MCP_TODAY": TODAY,
        }
        app = compose.build(config.Config((str(vault),), places), serving=False)
        app.vaults.get("").indexer.pending.begin()
        app.vaults.get("").indexer.complete()

        def ask(query: str) -> list[HistoryHit]:
            hits: list[dict[str, Any]] = registry.call(app, "obsidian_search", {"query": query}).data["hits"]
            shown = [" ".join(snippet["text"] for snippet in hit.get("snippets", ())) for hit in hits]
            return [HistoryHit(hit["path"], text, hit.get("chain", ())) for hit, text in zip(hits, shown, strict=True)]

        try:
            yield ask
        finally:
            app.vaults.close()


def score_history(questions: Sequence[HistoryQuestion], ask: Ask) -> dict[bool, HistoryScore]:
    """Return the scores of the questions about the present (False) and the past (True)."""
    scores = {}
    for is_past in (False, True):
        asked = [question for question in questions if question.is_past == is_past]
        answers = [(question, ask(question.query)) for question in asked]
        scores[is_past] = HistoryScore(
            len(asked),
            sum(_is_among_first(question, hits) for question, hits in answers),
            sum(_count_reversed(question.fact, hits) for question, hits in answers),
        )
    return scores


def _is_among_first(question: HistoryQuestion, hits: Sequence[HistoryHit]) -> bool:
    link = question.asked.link.partition("#")[0]
    return any(
        hit.path == question.asked.note or any(f"[[{link}]]" in line for line in hit.chain) for hit in hits[:FIRST]
    )


def _count_reversed(fact: Fact, hits: Sequence[HistoryHit]) -> int:
    """Return how many outdated versions are shown before one that came later, or without any."""
    places = {
        number: place
        for number, version in enumerate(fact.versions)
        for place, hit in reversed([*enumerate(hits)])
        if hit.path == version.note and (number == len(fact.versions) - 1 or version.value in hit.shown)
    }
    return sum(
        min([places[later] for later in places if later > number], default=len(hits)) > place
        or any(places[later] > place for later in places if later > number)
        for number, place in places.items()
        if number < len(fact.versions) - 1
    )


def report_history(sets: Mapping[str, Mapping[str, Mapping[bool, HistoryScore]]]) -> str:
    """Return the table of the sets of facts and the ways to search, as Markdown."""
    lines = [HEAD]
    for facts, rows in sets.items():
        for is_past, kind in ((False, "about the present"), (True, "about the past")):
            for name, scores in rows.items():
                score = scores[is_past]
                share = f"{100 * score.first_three / score.questions:.0f} %"
                lines.append(f"| {facts} | {kind} | {score.questions} | {name} | {share} | {score.reversed_pairs} |")
    return "\n".join([*lines, ""])
