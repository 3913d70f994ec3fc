"""The benchmark of finding: what its table is made of (specs/search.md)."""

from __future__ import annotations

from benchmarks.find import CLASSES, HALVES, OWN, QUESTIONS, Answer, Question, grep, plain_fts5, read_questions, score
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
