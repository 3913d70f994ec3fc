"""How well searches find the sessions that a question is about: a part of `make bench-find`; no network.

LoCoMo (`../shared/data/memory`, test data under CC BY-NC, never part of this repository) has questions of people about
272 dated sessions of ten conversations. Each conversation becomes a vault with a note per session, and is asked its own
questions, and those of the next conversation, which it cannot answer. Beside ours, on the same questions in the same
run: plain FTS5.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from obsidian_mcp.app import App
from obsidian_mcp.tools import registry
from tests.check import SHARED

from .ways import FIRST, opened, plain_fts5

DATA = SHARED / "data" / "memory" / "locomo.json"
DEPTHS = (1, 5, FIRST)
FOREIGN = 30
"""Questions of the next conversation that are asked of a vault, which cannot answer them."""
FEW = 3
"""Notes of an answer that is nearly silent."""
PASSAGE_CHARACTERS = 1_500
"""Characters of passages among which the answering turn is looked for."""
DATE_FORM = "%I:%M %p on %d %B, %Y"
HEAD = f"""## A year of conversations

LoCoMo (`../shared/data/memory`; not part of the repository): a note per session, the questions as people wrote them. A
question's right notes are the sessions of the turns that answer it. *Hit*: a right note among the first 1, 5, {FIRST};
*recall*: the share of the right notes among the first {FIRST}; *several*: recall of the questions with more than one.
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said, as a paragraph of the note of its session."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    text: str
    turns: Sequence[Turn]
    """Those that answer it."""

    @property
    def paths(self) -> set[str]:
        return {turn.path for turn in self.turns}


@dataclass(frozen=True, slots=True)
class Conversation:
    speakers: Sequence[str]
    notes: Mapping[str, str]
    """Texts by path."""
    times: Mapping[str, datetime]
    questions: Sequence[MemoryQuestion]


@dataclass(frozen=True, slots=True)
class Session:
    """What one way answered to a question."""

    question: MemoryQuestion
    paths: Sequence[str]
    has_turn: bool = False
    """Whether a turn that answers is in the first passages."""


@dataclass(frozen=True, slots=True)
class ConversationScore:
    """The answers of one conversation."""

    ours: Sequence[Session]
    plain: Sequence[Session]
    foreign: Sequence[int]
    """Notes that questions of another conversation got."""
    renamed: Sequence[int]
    """The same, with the names of this conversation's people in the place of their own."""


# -- reading -----------------------------------------------------------------------------------------------------


def read_conversations(file: Path) -> list[Conversation]:
    return [_read_conversation(entry) for entry in json.loads(file.read_text(encoding="utf-8"))]


def _read_conversation(entry: Mapping[str, Any]) -> Conversation:
    notes: dict[str, str] = {}
    times: dict[str, datetime] = {}
    turns: dict[str, Turn] = {}
    for session in entry["sessions"]:
        path = f"Session {session['n']}.md"
        paragraphs = [f"# {session['date']}"]
        for turn_id, speaker, text, *caption in session["turns"]:
            paragraphs.append(f"{speaker}: {text}" + (f" [{caption[0]}]" if caption else ""))
            turns[turn_id] = Turn(path, paragraphs[-1])
        notes[path] = "\n\n".join(paragraphs) + "\n"
        times[path] = datetime.strptime(session["date"], DATE_FORM).replace(tzinfo=UTC)
    questions = [
        MemoryQuestion(question["question"], [turns[turn] for turn in question["evidence"] if turn in turns])
        for question in entry["questions"]
    ]
    return Conversation(entry["speakers"], notes, times, [question for question in questions if question.turns])


def write_notes(conversation: Conversation, vault: Path) -> None:
    for path, text in conversation.notes.items():
        (vault / path).write_text(text, encoding="utf-8", newline="\n")
        time = conversation.times[path].timestamp()
        os.utime(vault / path, (time, time))


def put_names_in(text: str, names: Sequence[str], new_names: Sequence[str]) -> str:
    for name, new_name in zip(names, new_names, strict=True):
        text = text.replace(name, new_name)
    return text


# -- asking ------------------------------------------------------------------------------------------------------


def ask_conversation(conversation: Conversation, next_one: Conversation) -> ConversationScore:
    foreign = [question.text for question in next_one.questions[:FOREIGN]]
    renamed = [put_names_in(text, next_one.speakers, conversation.speakers) for text in foreign]
    with tempfile.TemporaryDirectory(prefix="bench-vault-") as folder:
        write_notes(conversation, Path(folder))
        with opened(Path(folder)) as app, plain_fts5(conversation.notes) as plain:
            return ConversationScore(
                [_ask_for_passages(app, question) for question in conversation.questions],
                [Session(question, plain(question.text).paths) for question in conversation.questions],
                [_count_hits(app, text) for text in foreign],
                [_count_hits(app, text) for text in renamed],
            )


def _ask_for_passages(app: App, question: MemoryQuestion) -> Session:
    hits = registry.call(app, "obsidian_search", {"query": question.text, "show": "passages"}).data["hits"]
    passages = [(hit["path"], passage["text"]) for hit in hits for passage in hit.get("snippets", ())]
    within = take_characters(passages, PASSAGE_CHARACTERS)
    has_turn = any(turn.path == path and turn.text in text for turn in question.turns for path, text in within)
    return Session(question, [hit["path"] for hit in hits], has_turn)


def take_characters(passages: Sequence[tuple[str, str]], room: int) -> list[tuple[str, str]]:
    """The first passages, by path, as far as there is room; the last one is cut."""
    taken = []
    for path, text in passages:
        taken.append((path, text[: max(room, 0)]))
        room -= len(text)
    return taken


def _count_hits(app: App, text: str) -> int:
    return len(registry.call(app, "obsidian_search", {"query": text}).data["hits"])


# -- the report --------------------------------------------------------------------------------------------------


def measure_memory() -> str:
    """The tables, as Markdown; a sentence where the data is missing."""
    if not DATA.is_file():
        return f"{HEAD}\nNot on this machine: `../shared/data/memory`.\n"
    conversations = read_conversations(DATA)
    following = [*conversations[1:], conversations[0]]
    return report(list(map(ask_conversation, conversations, following)))


def report(scores: Sequence[ConversationScore]) -> str:
    ours = [session for score in scores for session in score.ours]
    plain = [session for score in scores for session in score.plain]
    headings = [*(f"hit@{depth}" for depth in DEPTHS), f"recall@{FIRST}", "several"]
    rows = [
        f"| | {' | '.join(headings)} |",
        f"|---|{'--:|' * len(headings)}",
        f"| obsidian_search | {_shares(ours)} |",
        f"| plain FTS5 | {_shares(plain)} |",
        "",
        "| conversation | questions | obsidian_search, hit@1, hit@5, recall@10 | plain FTS5 |",
        "|--:|--:|---|---|",
    ]
    for number, score in enumerate(scores, 1):
        cells = [f"{hit(each, 1):.2f}, {hit(each, 5):.2f}, {recall(each):.2f}" for each in (score.ours, score.plain)]
        rows.append(f"| {number} | {len(score.ours)} | {' | '.join(cells)} |")
    in_passages = fmean(session.has_turn for session in ours)
    foreign = [count for score in scores for count in score.foreign]
    renamed = [count for score in scores for count in score.renamed]
    silence = f"""
A turn that answers is, whole, in the first {PASSAGE_CHARACTERS:,} characters of passages: {in_passages:.3f}.

**Silence.** The first {FOREIGN} questions of the next conversation, which a vault cannot answer; then the same with the
names of its own people put in. A question is silent that gets at most {FEW} notes, with the words that no note has.

| questions | | no note | at most {FEW} |
|---|--:|--:|--:|
| foreign | {len(foreign)} | {_share_up_to(foreign, 0)} | {_share_up_to(foreign, FEW)} |
| foreign, own names | {len(renamed)} | {_share_up_to(renamed, 0)} | {_share_up_to(renamed, FEW)} |
| own | {len(ours)} | {_share_up_to([len(session.paths) for session in ours], 0)} \
| {_share_up_to([len(session.paths) for session in ours], FEW)} |
"""
    return "\n".join([HEAD, *rows, silence])


def hit(sessions: Sequence[Session], depth: int) -> float:
    """The share of the questions with a right note among the first ones."""
    return fmean(not session.question.paths.isdisjoint(session.paths[:depth]) for session in sessions)


def recall(sessions: Sequence[Session]) -> float:
    """The mean share of the right notes that is among the first ten."""
    return fmean(
        len(session.question.paths.intersection(session.paths[:FIRST])) / len(session.question.paths)
        for session in sessions
    )


def _shares(sessions: Sequence[Session]) -> str:
    several = [session for session in sessions if len(session.question.paths) > 1]
    shares = [*(hit(sessions, depth) for depth in DEPTHS), recall(sessions), recall(several) if several else 0.0]
    return " | ".join(f"{share:.3f}" for share in shares)


def _share_up_to(counts: Sequence[int], most: int) -> str:
    return f"{fmean(count <= most for count in counts):.3f}"
