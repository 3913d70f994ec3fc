"""What a query over the whole vault costs, once the index is there."""

from __future__ import annotations

from .figures import Samples
from .servers import Server
from .turns import connected, settle

TABLE = "base: 3 filters, 2 formulas, sorted"
BASE = """filters:
  and:
    - status != "done"
    - rating > 2
    - file.ext == "md"
formulas:
  score: rating * 2
  label: 'status + " " + formula.score'
views:
  - type: table
    name: Table
    order: [file.name, status, formula.score, formula.label]
    sort: [{property: formula.score, direction: DESC}]
"""
PATIENCE = 60.0
"""Seconds for each answer."""
WARMING = 3


def tables(ours: Server, rounds: int, samples: Samples) -> None:
    """One base, again and again, of which a page of 50 rows is sent."""
    with connected([ours], samples, [TABLE], PATIENCE) as wires:
        wire = wires[ours.name]
        settle([wire], patience=10)
        for number in range(WARMING + 10 * rounds):
            seconds = wire.timed("obsidian_query", {"query": BASE})
            if number >= WARMING:
                samples.add(TABLE, ours.name, seconds)
