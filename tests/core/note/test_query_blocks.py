"""The queries of a note (NOTE-90, NOTE-91)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.note.query_blocks import QueryBlock, query_blocks, remove_fence

NOTE = """# Queries
```base
views:
  - type: table
```
> [!info] In a callout
> ```dataview
> LIST
> FROM "a"
> ```

- item
  ```tasks
  not done
    path includes x
  ```
Today is `= date(today)`, not `$= dv.x`, ``= a`` or `code`. ![[Books.base#To read|wide]] [[Other.base]]

```js
=1
```
~~~ DataviewJS
dv.pages()
~~~
```query
tag:#a
```
"""


def test_blocks_spans_and_embedded_bases_are_found_with_their_lines() -> None:
    """NOTE-90, NOTE-91"""
    assert query_blocks(parse(NOTE)) == [
        QueryBlock("base", "views:\n  - type: table", 2, fenced=True),
        QueryBlock("dataview", 'LIST\nFROM "a"', 7, fenced=True),
        QueryBlock("tasks", "not done\n  path includes x", 13, fenced=True),
        QueryBlock("dataview", "= date(today)", 17),
        QueryBlock("dataviewjs", "$= dv.x", 17),
        QueryBlock("dataview", "= a", 17),
        QueryBlock("base", "Books.base", 17, "To read"),
        QueryBlock("dataviewjs", "dv.pages()", 22, fenced=True),
        QueryBlock("query", "tag:#a", 25, fenced=True),
    ]


@pytest.mark.parametrize(
    ("text", "fence", "inside"),
    [
        ("views: []", None, "views: []"),
        ("```base\nviews: []\n```\n", "base", "views: []"),
        ("````dataview\n```\n````", "dataview", "```"),
        ("> ```base\n> a: 1\n> ```", "base", "a: 1"),
        ("> > ~~~tasks\n> > done\n> > ~~~", "tasks", "done"),
        ("  ```base\n  a:\n    b: 1\n  ```", "base", "a:\n  b: 1"),
        ("```base\nnot closed", "base", "not closed"),
        ("```\nx\n```", "", "x"),
        ("> > LIST\n> > WHERE n", None, "LIST\nWHERE n"),
        ("", None, ""),
    ],
)
def test_a_text_loses_its_fence_and_its_callout(text: str, fence: str | None, inside: str) -> None:
    """NOTE-91, QUERIES-03"""
    assert remove_fence(text) == (fence, inside)
