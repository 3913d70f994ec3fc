"""A Dataview query has the same answer over the index as over the texts (specs/dataview.md)."""

from __future__ import annotations

from typing import Any

import pytest

from obsidian_mcp.core.dataview.query import read_query, run_query
from obsidian_mcp.core.dataview.settings import DataviewSettings
from obsidian_mcp.core.expressions.answer import Page
from obsidian_mcp.core.graph import indexed_notes
from obsidian_mcp.core.graph.indexed_notes import SINGLE_KEYS, IndexedNotes
from obsidian_mcp.core.graph.indexed_vault import Moment
from obsidian_mcp.core.graph.read_ahead import SINGLE_FILES
from tests.core.dataview.note_vault import NOW, NoteVault
from tests.core.memory import MemoryVault

QUERIES = [
    "TABLE n, Some-Key, row[\"Some Key\"], some-key, list, file.etags, file.tags, file.aliases, file.frontmatter",
    "TABLE file.outlinks, file.inlinks, file.lists.text, file.tasks.due, file.day, file.size, file.starred, up.n",
    "LIST rows GROUP BY n % 3",
    "TASK WHERE !completed SORT text GROUP BY section",
    "LIST FROM #a/b AND [[Note 1]]",
    'LIST FROM "f1" OR outgoing([[Note 2]]) WHERE contains(file.outlinks, [[Note 3]]) SORT n DESC',
    'TABLE x FROM csv("t.csv")',
    "LIST length(row) FLATTEN file.lists AS L WHERE L.key",
]  # fmt: skip


def notes(count: int) -> dict[str, str]:
    texts = {
        f"f{number % 3}/Note {number}.md": (
            f'---\nn: {number}\nSome Key: [1, "[[Note 1]]"]\ntags: [a/b, "c d"]\nalias: x, y\n'
            f'up: "[[Note {number + 1}]]"\n---\n# Head {number}\n[[Note {number + 2}#h]] ![[Note 1|e]] #t{number}\n\n'
            f"some key:: {number} d\n\nSome Key:: two\n\n- item [key:: [[Note 3]]]\n"
            f"  - [ ] task {number} 📅 2024-01-0{number % 9 + 1} [[Nowhere]]\n- list:: 1, 2\n"
        )
        for number in range(count)
    }
    return {**texts, "t.csv": "x\n1\n", "Ü.md": "some-key:: ü\n\ndate:: 2024-01-01\n", "c.canvas": "{}"}


def answers(vault: Any, query: str) -> dict[str, Any]:
    read = read_query(query, NOW, DataviewSettings())
    return run_query(read, vault, now=NOW, this="f1/Note 1.md", settings=DataviewSettings(), page=Page()).data()


@pytest.mark.parametrize("count", [4, SINGLE_FILES // 4 + 20])
@pytest.mark.parametrize("state", ["indexed", "pending", "changed"])
def test_a_query_over_the_index_is_one_over_the_texts(count: int, state: str) -> None:
    """DV-10, DV-13, DV-14: few or many notes, indexed or not yet, the fields are the same."""
    texts = notes(count)
    bookmarks = frozenset({"Ü.md"})
    vault = MemoryVault(texts)
    if state != "pending":
        vault.graph.tags()
    if state == "changed":
        texts["f0/Note 0.md"] = "---\nn: 100\n---\n- [ ] other [[Note 1]]\n\nsome key:: new\n"
        texts["f0/new.md"] = "new key:: 1\n"
        for path in ("f0/Note 0.md", "f0/new.md"):
            vault.write(path, texts[path])
        vault.look()
    expected = NoteVault(texts, bookmarks)
    for query in QUERIES:
        assert over_index(vault, query, texts, bookmarks) == answers(expected, query), query


def over_index(vault: MemoryVault, query: str, texts: dict[str, str], bookmarks: frozenset[str]) -> dict[str, Any]:
    def answered(moment: Moment) -> dict[str, Any]:
        notes = IndexedNotes(moment, lambda _: 0, lambda entry: texts[entry.path], lambda: bookmarks)
        return answers(notes, query)

    return vault.graph.evaluate(answered).value


def test_columns_of_many_notes_say_what_single_notes_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """EXPR-41: above SCOPE notes whole columns are read."""
    scope = 300
    monkeypatch.setattr(indexed_notes, "SCOPE", scope)
    texts = {
        f"n{number}.md": (
            f'---\nn: {number % 7}\nSome Key: [{number}]\ntags: [t{number % 3}]\nup: "[[n{number % 9}]]"\n---\n'
            f"#in{number % 2} [[n{number % 5}]]\n"
            + "some key:: x\n" * (number % 4 == 0)
            + "n:: 5\n" * (number % 11 == 0)
        )
        for number in range(scope + 50)
    }
    vault, expected = MemoryVault(texts), NoteVault(texts)
    for query in (
        'TABLE n, Some-Key, some-key, row["Some Key"], up.n, file.etags, missing SORT n, file.name',
        "LIST n FROM #t1 AND #in0 WHERE n = 5 AND contains(file.outlinks, [[n3]])",
    ):
        assert over_index(vault, query, texts, frozenset()) == answers(expected, query), query


@pytest.mark.parametrize(
    ("edge", "line"),
    [("---\n", "Key {}: {}\n"), ("", "Key {}:: {}\n"), ("", "- item [Key {}:: {}]\n"), ("", "key{}:: {}\n")],
)
@pytest.mark.parametrize("name", ['"key-" + n', '"Key " + n', '"key" + n', '"none" + n'])
def test_a_query_for_many_keys_reads_the_fields_of_a_note_once(edge: str, line: str, name: str) -> None:
    """EXPR-42: keys as written, canonical keys and keys that no note has, of properties and inline fields."""
    count = 10 * SINGLE_KEYS
    lines = "".join(line.format(n, n % 7) for n in range(count))
    texts = {"Big.md": edge + lines + edge, "Other.md": "x:: 1\n"}
    numbers = ", ".join(map(str, range(count)))
    query = f'LIST rows.v FROM "Big" FLATTEN list({numbers}) AS n FLATTEN row[{name}] AS v GROUP BY true'
    vault = MemoryVault(texts)
    vault.graph.tags()
    statements: list[str] = []

    def answered(moment: Moment) -> dict[str, Any]:
        notes = IndexedNotes(moment, lambda _: 0, lambda entry: texts[entry.path], frozenset)
        moment.rows.connection.set_trace_callback(statements.append)
        try:
            return answers(notes, query)
        finally:
            moment.rows.connection.set_trace_callback(None)

    assert vault.graph.evaluate(answered).value == answers(NoteVault(texts), query)
    assert len(statements) < 3 * SINGLE_KEYS
