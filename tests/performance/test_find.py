"""The benchmark of finding: what its table is made of (specs/search.md)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import memory
from benchmarks.find import CLASSES, HALVES, OWN, QUESTIONS, Question, read_questions, score
from benchmarks.ways import Answer, grep, plain_fts5
from tests.findability import notes

QUESTION = Question("tuning", "natural", OWN, "where do herons nest?", frozenset({"Heron.md", "Nests.md"}))
TEXTS = {"Heron.md": "herons nest in trees", "Canal.md": "a canal, where boats are", "Owl.md": "owls\nnest"}


def test_the_questions_are_of_five_classes_and_two_halves() -> None:
    questions = read_questions(QUESTIONS)
    assert len(questions) >= 120
    assert {question.kind for question in questions} == set(CLASSES)
    for kind in CLASSES:
        counts = [sum(question.kind == kind and question.half == half for question in questions) for half in HALVES]
        assert max(counts) - min(counts) <= 4, kind
    assert {note for question in questions if question.vault == OWN for note in question.notes} <= notes().keys()


def test_a_score_counts_the_place_of_the_first_right_note() -> None:
    answers = [Answer(["Canal.md", "Heron.md", "Nests.md"], 100), Answer([], 20), Answer(["Nests.md"], 60)]
    found = score([(QUESTION, answer) for answer in answers])
    assert (found.count, found.size) == (3, 60)
    assert found.reciprocal_rank == (1 / 2 + 0 + 1) / 3
    assert found.recall == {1: 1 / 3, 3: 2 / 3, 10: 2 / 3}


def test_the_other_ways_rank_files_with_most_of_the_words_first() -> None:
    with plain_fts5(TEXTS) as ask:
        assert ask(QUESTION.query).paths[0] == "Heron.md"
        assert ask("?").paths == []
    assert grep(TEXTS)("herons nest").paths == ["Heron.md", "Owl.md"]


CONVERSATIONS = [
    {
        "id": name,
        "speakers": [name, "Ben"],
        "sessions": [
            {
                "n": number,
                "date": f"1:56 pm on {number} May, 2023",
                "turns": [
                    [f"D{number}:1", name, f"{name} has a {thing}, and it is new."],
                    [f"D{number}:2", "Ben", "Nice.", f"a photo of a {thing}"],
                ],
            }
            for number, thing in enumerate(things, 1)
        ],
        "questions": [
            {"question": f"Who has a new {things[0]}?", "category": 4, "evidence": ["D1:1"]},
            {
                "question": f"What new things has {name}: a {things[0]}, a {things[1]}?",
                "category": 1,
                "evidence": ["D1:2", "D2:1", "D9:9"],
            },
            {"question": "Nobody answers this", "category": 4, "evidence": []},
        ],
    }
    for name, things in (("Ann", ["kettle", "ladder", "tent"]), ("Eve", ["violin", "lathe", "kayak"]))
]
"""Two conversations as LoCoMo has them."""


def test_a_conversation_becomes_a_note_for_each_session_and_its_questions_know_their_turns(tmp_path: Path) -> None:
    file = tmp_path / "data.json"
    file.write_text(json.dumps(CONVERSATIONS), "utf-8")
    conversation, _ = memory.read_conversations(file)

    assert conversation.notes["Session 2.md"] == (
        "# 1:56 pm on 2 May, 2023\n\nAnn: Ann has a ladder, and it is new.\n\nBen: Nice. [a photo of a ladder]\n"
    )
    assert [question.paths for question in conversation.questions] == [
        {"Session 1.md"},
        {"Session 1.md", "Session 2.md"},
    ]
    assert conversation.times["Session 2.md"].isoformat() == "2023-05-02T13:56:00+00:00"


def test_the_report_of_memory_has_places_passages_and_silence_beside_plain_fts5(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "data.json"
    file.write_text(json.dumps(CONVERSATIONS), "utf-8")
    monkeypatch.setattr(memory, "DATA", file)
    report = memory.measure_memory()

    assert "| obsidian_search | 1.000 | 1.000 | 1.000 |" in report
    assert "| plain FTS5 |" in report
    assert "1,500 characters of passages: 1.000." in report
    assert "| foreign | 4 |" in report
    monkeypatch.setattr(memory, "DATA", tmp_path / "missing.json")
    assert "Not on this machine" in memory.measure_memory()


def test_passages_count_as_far_as_there_is_room() -> None:
    passages = [("A.md", "a" * 1_000), ("B.md", "b" * 1_000), ("C.md", "c")]
    assert memory.take_characters(passages, 1_500) == [("A.md", "a" * 1_000), ("B.md", "b" * 500), ("C.md", "")]
