"""JSON with comments, changed at one place (specs/install.md, TEXT rules)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.text import json_text
from obsidian_mcp.core.text.json_text import Unreadable
from tests.examples import examples

ENTRY = {"command": "/bin/obsidian-mcp", "args": ["--vault", "/My Vault"]}

LAYOUTS = {
    "two spaces": '{\n  "theme": "dark",\n  "servers": {\n    "other": {\n      "command": "x"\n    }\n  }\n}\n',
    "four spaces, no last newline": '{\n    "servers": {\n        "other": {}\n    },\n    "z": 1\n}',
    "tabs": '{\n\t"servers": {\n\t\t"other": {"command": "x"}\n\t}\n}\n',
    "windows line ends": '{\r\n  "servers": {\r\n    "other": 1\r\n  }\r\n}\r\n',
    "one line": '{"servers": {"other": {"command": "x"}}, "z": [1, 2]}',
    "one line, tight": '{"servers":{"other":{"command":"x"}},"z":[1,2]}\n',
    "servers on one line": '{\n  "servers": {"other": {}},\n  "z": 1\n}\n',
    "trailing commas": '{\n  "servers": {\n    "other": {},\n  },\n}\n',
    "a comment after the last": '{\n  "servers": {\n    "other": {} // mine\n  }\n}\n',
    "a comment after the trailing comma": '{\n  "servers": {\n    "other": {}, // mine\n    // more to come\n  }\n}\n',
    "a comment before the closing bracket": '{\n  "servers": {\n    "other": {}\n    // more to come\n  }\n}\n',
    "a block comment": '/* head */ {\n  "servers": { /* here */\n    "other": {} /* x */ /* y */\n  }\n}\n// end',
}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_an_added_member_comes_last_and_goes_without_a_trace(text: str) -> None:
    """TEXT-02, TEXT-04"""
    after = json_text.put(text, ("servers", "obsidian"), ENTRY)

    servers = json_text.parse(after).root.value["servers"]
    assert list(servers) == ["other", "obsidian"]
    assert servers["obsidian"] == ENTRY
    assert json_text.remove(after, ("servers", "obsidian")) == text


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_adding_only_inserts(text: str) -> None:
    """TEXT-01"""
    after = json_text.put(text, ("servers", "obsidian"), ENTRY)

    assert is_subsequence(text, after)


def test_a_member_is_laid_out_like_its_neighbours() -> None:
    """TEXT-03"""
    after = json_text.put(
        '{\r\n\t"servers": {\r\n\t\t"other": {}\r\n\t}\r\n}', ("servers", "obsidian"), {"args": ["a"]}
    )

    assert after == (
        '{\r\n\t"servers": {\r\n\t\t"other": {},\r\n\t\t"obsidian": {\r\n\t\t\t"args": [\r\n\t\t\t\t"a"\r\n\t\t\t]'
        "\r\n\t\t}\r\n\t}\r\n}"
    )


def test_a_comment_stays_with_the_line_that_it_is_about() -> None:
    after = json_text.put('{\n  "a": 1 // about a\n}', ("b",), 2)

    assert after == '{\n  "a": 1, // about a\n  "b": 2\n}'


@pytest.mark.parametrize(
    "text", ["", "\n", "  ", "// nothing yet", "{}", "{ }", "{\n}", "{}\n", "{\n  // nothing yet\n}"]
)
def test_missing_objects_are_made(text: str) -> None:
    after = json_text.put(text, ("servers", "obsidian"), ENTRY)

    assert json_text.parse(after).root.value == {"servers": {"obsidian": ENTRY}}
    assert is_subsequence(text.rstrip().removesuffix("}").rstrip(), after)


def test_a_value_is_replaced_in_place() -> None:
    text = '{\n  "servers": {\n    "b": {"args": ["old"], "env": {"K": "v"}}, // mine\n    "c": 1\n  }\n}'

    after = json_text.put(text, ("servers", "b", "args"), ["new"])

    assert '"env": {"K": "v"}}, // mine\n    "c": 1\n  }\n}' in after
    assert json_text.parse(after).root.value["servers"]["b"] == {"args": ["new"], "env": {"K": "v"}}


def test_the_middle_and_the_only_member_can_be_removed() -> None:
    three = '{\n  "a": 1, // one\n  "b": 2,\n  // about c\n  "c": 3\n}'

    assert json_text.remove(three, ("b",)) == '{\n  "a": 1, // one\n  \n  // about c\n  "c": 3\n}'
    assert json_text.remove(three, ("a",)) == '{\n   // one\n  "b": 2,\n  // about c\n  "c": 3\n}'
    assert json_text.remove('{ "a": 1 }', ("a",)) == "{}"
    assert json_text.remove('{\n  // keep\n  "a": 1\n}', ("a",)) == "{\n  // keep\n}"


def test_of_a_member_that_is_there_twice_the_last_counts_and_both_go() -> None:
    text = '{"a": {"x": 1}, "a": {"x": 2}}'

    assert json_text.parse(text).root.value == {"a": {"x": 2}}
    assert json_text.put(text, ("a", "x"), 3) == '{"a": {"x": 1}, "a": {"x": 3}}'
    assert json_text.remove(text, ("a",)) == "{}"


def test_what_is_not_there_is_removed_without_a_change() -> None:
    text = '{"a": 1}'

    assert json_text.remove(text, ("servers", "obsidian")) == text
    assert json_text.remove(text, ("b",)) == text


@pytest.mark.parametrize(
    ("text", "where", "problem"),
    [
        ('{"a": 1', 7, "the file ends"),
        ('{"a" 1}', 5, "':' is expected, but '1' came"),
        ("{'a': 1}", 1, "quotes"),
        ('{"a": "b}', 6, "does not end"),
        ('{"a": 1} x', 9, "follows after the end"),
        ('{"a": [1 2]}', 9, "',' or ']'"),
        ('{"a": nul}', 6, "a value is expected"),
        ('{"a": 01}', 6, "01 is no JSON value"),
        ('{"a": 1 /* b }', 8, "',' or '}'"),
        ("[" * 300, 201, "deeper"),
    ],
)
def test_broken_text_is_reported_with_its_place(text: str, where: int, problem: str) -> None:
    """TEXT-05"""
    with pytest.raises(Unreadable) as caught:
        json_text.parse(text)

    assert caught.value.offset == where
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    ("text", "beyond"),
    [
        ('{"a": "// no comment", "b": [1, 2]}', None),
        ('{"a": 1 // x\n}', ("a comment", 8)),
        ("// x\n{}", ("a comment", 0)),
        ('{"a": [1,], /* x */}', ("a trailing comma", 8)),
    ],
)
def test_what_strict_json_does_not_have_is_noticed(text: str, beyond: tuple[str, int] | None) -> None:
    assert json_text.parse(text).beyond == beyond


def test_a_path_through_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match="servers is not an object"):
        json_text.put('{"servers": []}', ("servers", "obsidian"), ENTRY)


# Any text

SCALARS = (
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4) | st.sampled_from(["//", "/*", '"', "\\"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
BLANKS = st.sampled_from(["", "", " ", "\n", "\r\n  ", "\t", "/* c */", " // c\n", "\n\n    ", ' /* " */ '])


@st.composite
def texts(draw: Callable[[st.SearchStrategy[Any]], Any], value: Any) -> str:
    """`value` as JSON with anything that may stand between its tokens."""

    def blank() -> Any:
        return draw(BLANKS)

    def sequence(items: list[str], opening: str, closing: str) -> str:
        comma = "," if items and draw(st.booleans()) else ""
        return f"{opening}{','.join(items)}{comma}{blank()}{closing}"

    if isinstance(value, dict):
        members = [
            blank() + json.dumps(key) + blank() + ":" + blank() + draw(texts(inner)) + blank()
            for key, inner in value.items()
        ]
        return sequence(members, "{", "}")
    if isinstance(value, list):
        return sequence([blank() + draw(texts(inner)) + blank() for inner in value], "[", "]")
    return json.dumps(value, ensure_ascii=bool(draw(st.booleans())))


@st.composite
def documents(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    servers = draw(st.dictionaries(st.text(max_size=3), VALUES, max_size=3))
    value = draw(st.dictionaries(st.text(max_size=3), VALUES, max_size=2)) | {"servers": servers}
    return value, draw(BLANKS) + draw(texts(value)) + draw(BLANKS)


@examples(150)
@given(documents())
def test_every_layout_is_read(document: tuple[dict[str, Any], str]) -> None:
    value, text = document

    assert json_text.parse(text).root.value == value


@examples(250)
@given(documents())
def test_in_every_layout_a_member_is_added_by_insertions_and_removed_again(
    document: tuple[dict[str, Any], str],
) -> None:
    value, text = document

    after = json_text.put(text, ("servers", "obsidian"), ENTRY)
    again = json_text.remove(after, ("servers", "obsidian"))

    assert json_text.parse(after).root.value == {**value, "servers": {**value["servers"], "obsidian": ENTRY}}
    assert is_subsequence("".join(text.split()), "".join(after.split()))
    assert "".join(again.split()) == "".join(text.split())
    if value["servers"]:
        assert is_subsequence(text, after)


def is_subsequence(part: str, whole: str) -> bool:
    remaining = iter(whole)
    return all(character in remaining for character in part)
