"""Large vaults for measurements: the same notes for the same numbers, on every machine."""

from __future__ import annotations

import random
import sys
from datetime import date, timedelta
from itertools import accumulate, cycle
from pathlib import Path

SYLLABLES = ["ka", "ri", "to", "me", "no", "sa", "lu", "vi", "en", "or", "ta", "be", "du", "mi", "as", "fo", "ne"]
SYLLABLES += ["pra", "sti", "gol", "wen", "har", "tis", "mo", "ul", "cer", "dan"]
JAPANESE = ["時計", "歯車", "日本語", "手帳", "記録", "会議", "設計", "修理", "東京", "計画"]
VOCABULARY = 6_000
FOLDERS = 40
AVERAGE_WORDS = 620
"""A note has about 4.6 KB, the size of notes in measured vaults."""
FIRST_DUE = date(2026, 1, 1)
"""When the task of the first note is due; one task is due each day from then on, in a vault of any size."""
NOTES_A_DAY = 10
"""Of so many notes one has a task that is due."""


def words(seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        found["".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 4)))] = None
    return list(found)


def name_of(number: int, vocabulary: list[str]) -> str:
    return f"{vocabulary[number % VOCABULARY].capitalize()} {vocabulary[(number * 7) % VOCABULARY]} {number}"


def folder_of(number: int) -> str:
    return f"Area {number % FOLDERS:02d}"


def note(number: int, count: int, vocabulary: list[str], weights: list[float], sections: int = 0) -> str:
    rng = random.Random(number)
    chosen = cycle(rng.choices(vocabulary, cum_weights=weights, k=AVERAGE_WORDS))
    lines = ["---", f"status: {rng.choice(['draft', 'active', 'done'])}", f"rating: {rng.randint(1, 9)}"]
    lines += [
        f"created: 2026-{number % 12 + 1:02d}-{number % 28 + 1:02d}",
        f"tags: [area/{number % 20}, kind{number % 7}]",
    ]
    lines += [f"aliases: [Alias {number}]"] if number % 5 == 0 else []
    lines += ["---", f"# {name_of(number, vocabulary)}", ""]
    for section in range(sections or max(1, int(rng.gauss(5.2, 2)))):
        lines += [f"## {next(chosen).capitalize()} {section}", ""]
        for _ in range(rng.randint(1, 4)):
            sentence = [next(chosen) for _ in range(rng.randint(20, 60))]
            if rng.random() < 0.6:
                sentence.insert(5, f"[[{name_of(rng.randrange(count), vocabulary)}]]")
            if rng.random() < 0.2:
                sentence.insert(9, f"#{vocabulary[rng.randrange(200)]}")
            if rng.random() < 0.05:
                sentence.insert(3, rng.choice(JAPANESE))
            lines += [" ".join(sentence).capitalize() + ".", ""]
        if rng.random() < 0.4:
            marks = (rng.choice(" x") for _ in range(3))
            lines += [f"- [{mark}] {next(chosen)} {next(chosen)}" for mark in marks] + [""]
    if number % NOTES_A_DAY == 0:
        due = FIRST_DUE + timedelta(days=number // NOTES_A_DAY)
        lines += [f"- [ ] {name_of(number, vocabulary)} 📅 {due}", ""]
    if number % 400 == 0:
        lines += [f"The rare word quetzalcoatl{number}.", ""]
    return "\n".join(lines)


def weights_of(vocabulary: list[str]) -> list[float]:
    """How common each word is, added up, as `random.choices` takes it."""
    return list(accumulate(1 / (rank + 3) for rank in range(len(vocabulary))))


def flat_notes(count: int) -> dict[str, str]:
    """The notes of a vault without folders, as `MemoryVault` takes them."""
    vocabulary = words()
    weights = weights_of(vocabulary)
    return {f"{number}.md": note(number, count, vocabulary, weights) for number in range(count)}


def generate(root: Path, count: int, sections: int = 0) -> Path:
    """A vault of `count` notes below `root`, unless it is there already; with so many sections in each note, or as many
    as notes of measured vaults have."""
    done = root / ".obsidian" / "app.json"
    if done.exists():
        return root
    vocabulary = words()
    weights = weights_of(vocabulary)
    for folder in {folder_of(number) for number in range(min(count, FOLDERS))}:
        (root / folder).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        path = root / folder_of(number) / f"{name_of(number, vocabulary)}.md"
        path.write_bytes(note(number, count, vocabulary, weights, sections).encode())
    done.parent.mkdir(exist_ok=True)
    done.write_text("{}", encoding="utf-8")
    return root


if __name__ == "__main__":
    generate(Path(sys.argv[1]), int(sys.argv[2]))
