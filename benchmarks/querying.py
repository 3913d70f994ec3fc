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
DQL_TABLE = "dataview: 3 filters, 2 expressions, sorted"
DQL_FOLDER = "dataview: one folder of 40, sorted"
QUERIES = {
    TABLE: BASE,
    DQL_TABLE: (
        'TABLE status, rating * 2 AS score, status + " " + rating * 2 AS label FROM "" '
        'WHERE status != "done" AND rating > 2 AND file.ext = "md" SORT rating * 2 DESC'
    ),
    DQL_FOLDER: 'TABLE status, rating, file.tags FROM "Area 05" WHERE rating > 2 SORT rating DESC',
}
PATIENCE = 60.0
"""Seconds for each answer."""
WARMING = 3


def tables(ours: Server, rounds: int, samples: Samples) -> None:
    """The same queries, again and again, of each of which a page of 50 rows is sent."""
    with connected([ours], samples, list(QUERIES), PATIENCE) as wires:
        wire = wires[ours.name]
        settle([wire], patience=10)
        for name, query in QUERIES.items():
            for number in range(WARMING + 10 * rounds):
                seconds = wire.timed("obsidian_query", {"query": query})
                if number >= WARMING:
                    samples.add(name, ours.name, seconds)
