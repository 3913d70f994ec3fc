"""The vault of the findability table: bundles unpacked, and daily notes that use their words in passing."""

from __future__ import annotations

import os
import random
from datetime import date, timedelta
from pathlib import Path

BUNDLES = Path(__file__).parent.parent / "vault_fixtures" / "findability"
WRITTEN = 1_700_000_000
"""When the bundles' notes were last changed, in seconds; what stands in their way is newer."""


def notes() -> dict[str, str]:
    """Text of every hand-written note, by path."""
    found: dict[str, str] = {}
    for bundle in sorted(BUNDLES.glob("*.txt")):
        if bundle.name != "passing.txt":
            for note in bundle.read_text(encoding="utf-8").split("=== ")[1:]:
                path, _, text = note.partition("\n")
                found[path] = text
    return found


def in_passing(count: int = 120) -> dict[str, str]:
    """Daily notes of sentences in several languages, the same ones every time."""
    chance = random.Random(20240305)
    languages = [
        part.partition("\n")[2].split("\n")
        for part in (BUNDLES / "passing.txt").read_text(encoding="utf-8").strip().split("# ")[1:]
    ]
    found = {}
    for day in range(count):
        sentences = [line for line in chance.choices(languages, [len(one) for one in languages])[0] if line]
        chosen = chance.sample(sentences, min(len(sentences), chance.randint(2, 6)))
        found[f"Daily/{date(2025, 1, 1) + timedelta(days=3 * day)}.md"] = "\n".join(chosen) + "\n"
    return found


def unpack(folder: Path) -> Path:
    """Writes the whole vault into a folder and returns it."""
    texts = notes()
    for age, (path, text) in enumerate((*texts.items(), *in_passing().items())):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        os.utime(file, (WRITTEN + age, WRITTEN + age))
    return folder
