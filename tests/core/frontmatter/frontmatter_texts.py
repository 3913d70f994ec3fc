"""Strategies for hypothesis: frontmatter as people write it, and values as programs send them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from obsidian_mcp.core.frontmatter import parser

WORDS = [
    "a",
    "b c",
    "it's",
    "日本",
    "😀 x",
    "2024-01-02",
    "007",
    "yes",
    "1:30",
    "x#y",
    "http://e.f/g",
    "a:b",
    "--",
    "1e3",
]
PLAIN = st.sampled_from([*WORDS, "true", "~", "[[n]]", "[a, 'b' , \"c\"]", "{x: 1, y: [z]}", "{{title}}", "[]", "{}"])
QUOTED = st.sampled_from(['"a: b"', "'it''s'", '"[[n]]"', '"x\\ty # z"', "'# no'", '"\\u00e9\\ud83d\\ude00"', '""'])
COMMENT = st.sampled_from(["", "", "", " # c", "   # two: words", " ", "\t"])
BETWEEN = st.lists(st.sampled_from(["# c", "  # deep: c", "", "   "]), max_size=2)
KEYS = ["a", "b c", '"q: k"', "'it''s'", "tags", "Aliases", "日本", "k.l/m", "1", "x#y"]


@st.composite
def entry_lines(draw: st.DrawFn, key: str) -> list[str]:
    """One property on lines of its own, in one of the many ways to write it."""
    comment = draw(COMMENT)
    match draw(st.sampled_from(["plain", "quoted", "empty", "list", "flow lines", "text", "mapping", "nested"])):
        case "plain":
            return [f"{key}: {draw(PLAIN)}{comment}"]
        case "quoted":
            return [f"{key}:  {draw(QUOTED)}{comment}"]
        case "empty":
            return [f"{key}:{comment}"]
        case "list":
            indent = draw(st.sampled_from(["", "  ", "    "]))
            lines = [f"{key}:{comment}"]
            for item in draw(st.lists(PLAIN | QUOTED, min_size=1, max_size=4)):
                lines += draw(st.sampled_from([[], [], [f"{indent}# about"]]))
                lines.append(f"{indent}- {item}{draw(COMMENT)}")
            return lines
        case "flow lines":
            return [f"{key}: [", f"  {draw(QUOTED)}, # c", "  x", draw(st.sampled_from(["]", "  ]"])) + comment]
        case "text":
            head = draw(st.sampled_from(["|", "|-", "|+", ">", ">-"]))
            body = draw(st.sampled_from([["x"], ["x", "", "  y # no comment"], ["# x: y", "z"]]))
            return [f"{key}: {head}{comment}", *("  " + line if line else "" for line in body)]
        case "mapping":
            return [f"{key}:{comment}", f"  x: {draw(PLAIN)}", "  # c", f"  y: {draw(QUOTED)}{draw(COMMENT)}"]
        case _:
            return [f"{key}:{comment}", "  - x: 1", "    y:", "      - z # c", "  -", "    - 1", "  -"]


@st.composite
def flow_lines(draw: st.DrawFn, keys: list[str]) -> list[str]:
    """All properties inside braces, on one line or several."""
    pairs = [f"{key}: {draw(QUOTED | st.sampled_from(['1', 'true', '[a, b]', '{x: 1}']))}" for key in keys]
    if draw(st.booleans()):
        return ["{" + ", ".join(pairs) + "}"]
    comments = [draw(st.sampled_from(["", " # c"])) for _ in pairs]
    commas = [","] * (len(pairs) - 1) + [draw(st.sampled_from(["", ","]))]
    return [
        "{",
        *(f"  {pair}{comma}{comment}" for pair, comma, comment in zip(pairs, commas, comments, strict=True)),
        "}",
    ]


@st.composite
def notes(draw: st.DrawFn) -> str:
    """A note with one to five readable properties, text below them, LF or CRLF."""
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=5, unique=True))
    lines = []
    if draw(st.integers(0, 4)) == 0:
        lines = draw(flow_lines(keys))
    else:
        for key in keys:
            lines += [*draw(BETWEEN), *draw(entry_lines(key))]
        lines += draw(BETWEEN)
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    rest = draw(st.sampled_from(["", "Text", "Text\n", "\n# T\n\n---\nb: 2\n---\n"]))
    body = newline.join(["---", *lines, "---", rest.replace("\n", newline)])
    found = parser.read_frontmatter(body)
    assert found is not None, body
    assert found.values is not None, (body, found.error)
    return body


texts = st.text(max_size=12) | st.text(
    alphabet=st.sampled_from("ab1 :-#[]{}'\"&*!|>%@`?,.~\t\r\n\\=<\u2028\x85\xa0\x07\ufeff\ud800😀"), max_size=10
)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values: st.SearchStrategy[Any] = scalars | st.recursive(
    texts | st.sampled_from(WORDS) | scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
