"""Names that many rows share are stored once, and nobody who asks sees it (specs/index.md, INDEX-55)."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.index.extract import read_facts
from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.index.search_document import SearchContent
from obsidian_mcp.core.text.vault_path import VaultPath
from tests.core.memory import MemoryVault
from tests.examples import examples

PARTS = [
    "[[a]] ", "[[A]] ", "![[a#b|c]] ", "[[a|]] ", "[m](a.md) ", "![](p%20q.png) ", "[[#h]] ", "[[x/a|b]]\n",
    "#t ", "#T/u ", "key:: 1\n", "# H\n", "- [ ] do [[a]]\n",
]  # fmt: skip
PROPERTIES = ["---\nup: '[[a|b]]'\ntags: [t, T]\nrating: 3\nRating: 3\n---\n", "---\nrating: '3'\n---\n", ""]
CANVAS = json.dumps({"nodes": [{"id": "n", "type": "file", "file": "a#b.md", "subpath": "#h"}]})
texts = st.tuples(st.sampled_from(PROPERTIES), st.lists(st.sampled_from(PARTS), max_size=12).map("".join)).map("".join)


@given(st.lists(texts, min_size=1, max_size=4))
@examples(100)
def test_the_rows_of_a_file_are_its_facts(notes: list[str]) -> None:
    """INDEX-05, INDEX-55"""
    files = {f"{n}.md": text for n, text in enumerate(notes)} | {"c.canvas": CANVAS}
    with MemoryVault(files) as vault:
        vault.indexer.complete()
        for path, text in files.items():
            facts = read_facts(path, text.encode(), len(text.encode()))
            stored = vault.indexer.query(partial(Rows.facts, path=VaultPath(path)))
            assert stored == replace(facts, content=SearchContent())


def test_a_name_that_no_file_has_any_more_is_in_no_answer_and_goes_when_the_index_is_shrunk() -> None:
    """INDEX-55"""
    with MemoryVault({"a.md": "---\nold: 1\n---\n[[Gone]] #lost", "b.md": "---\nnew: 1\n---\n"}) as vault:
        vault.indexer.complete()
        vault.write("a.md", "nothing")
        vault.look()
        vault.indexer.complete()

        assert vault.indexer.query(Rows.field_keys) == {"new"}
        assert vault.indexer.query(lambda rows: rows.link_rows.missing_keys()) == []
        assert vault.graph.tags().value == ()
        vault.index.shrink()
        with vault.index.database.read_transaction() as connection:
            counts = [
                connection.execute(f"SELECT count(*) FROM {names}").fetchone()[0]
                for names in ("targets", "tag_names", "property_values")
            ]
        assert counts == [0, 0, 1]
