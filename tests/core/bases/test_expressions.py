"""Single expressions: operators, functions, texts (specs/bases.md)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.expressions.text_vault import TextVault

from .bases_runner import value_of


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("price * qty", 30),
        ("10 / 5 / 2", 1),
        ("2 + 3 * 4 - 1", 13),
        ("-7 % 3", -1),
        ("1 / 0", "Infinity"),
        ("missing * 2", None),
        ('"n: " + qty', "n: 3"),
        ('"n" + missing', "n"),
        ("0.1 + 0.2", 0.30000000000000004),
        ('"5" * 2', {"error": "Invalid operator between String and Number"}),
        ('due + "1M"', "2025-02-28"),
        ('due == "2025-01-31"', True),
        ('due > "2025-01-01"', True),
        ('date("2024-12-01") + "1M" + "4h" + "3m"', "2025-01-01T04:03:00"),
        ('due - "1d"', "2025-01-30"),
        ('(date("2025-01-02") - date("2025-01-01")).days', 1),
        ('duration("1d") * 2 == duration("48h")', True),
        ('duration("P1DT12H").hours', 36),
        ('duration("1h") / 2', "30 minutes"),
        ("[1, 2] + [3]", [1, 2, 3]),
        ("null == null", True),
        ('missing != "x"', True),
        ("missing < 1", False),
        ("!missing", None),
        ("!0", True),
        ("1 && 0", False),
        ('"" || "x"', True),
        ('if(missing, "a", "b")', "b"),
        ('IF(true, "a")', "a"),
        ("true == 1", False),
        ("[1, [2]] == [1, [2]]", True),
        ('"a" < "b"', True),
    ],
)
def test_operators(expression: str, expected: Any) -> None:
    """BASE-30 to BASE-35"""
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("missing.lower()", None),
        ("missing.isEmpty()", True),
        ("missing.length", None),
        ('missing.isType("null")', True),
        ("s.lower()", "hello"),
        ("s.LOWER()", "hello"),
        ('s.contains("hell")', True),
        ('s.startsWith("hell")', False),
        ('"it\'s a dog".title()', "It's A Dog"),
        ('"a-b-c".replace("-", "+")', "a+b+c"),
        ('"a1b22".replace(/([0-9]+)/g, "<$1>")', "a<1>b<22>"),
        ('"a,b,c".split(",", 2)', ["a", "b"]),
        ('"a1b2".split(/[0-9]/)', ["a", "b", ""]),
        ('"a,b".split(",", -1)', ["a", "b"]),
        ('"\ufeff\u3000a\u200b\x85 ".trim()', "a\u200b\x85"),
        ('"abc".slice(-2)', "bc"),
        ('"😀b".length', 3),
        ('"^a\\nb".length', 4),
        ('/^b/.matches("a\\nb")', False),
        ('/^b/m.matches("a\\nb")', True),
        ('/B/i.matches("abc")', True),
        ('/a.b/s.matches("a\\nb")', True),
        ("(2.5).round()", 3),
        ("(-1.5).round()", -1),
        ("(2.345).round(2)", 2.35),
        ("(2.5).toFixed(0)", "3"),
        ('number("1.5")', 1.5),
        ("number(true)", 1),
        ('number("")', {"error": 'Unable to parse "" as a number.'}),
        ("list(missing)", []),
        ("min(3, 1, 2)", 1),
        ('min(3, "a")', {"error": 'Type error in "min" parameter "value". Expected Number, given String.'}),
        ("s.contains(file)", {"error": 'Type error in "contains" parameter "value". Expected String, given File.'}),
        ("s.contains()", {"error": '"contains" expects 1 argument, given 0.'}),
        ("s.foo", {"error": 'Cannot find "foo" on type String'}),
        ("s.foo()", {"error": 'Cannot find function "foo" on type String'}),
        ("foo(1)", {"error": 'Cannot find function "foo"'}),
        ("[3, 1, 10].sort()", [1, 3, 10]),
        ('["b10", "B2", "a"].sort()', ["a", "B2", "b10"]),
        ("[1, 2, 3].reduce(acc + value, 0)", 6),
        ("[1, 2, 3].filter(value > 1).map(value * index)", [0, 3]),
        ("[[1, [2]], 3].flat()", [1, [2], 3]),
        ("[1, 2].contains([1, 2])", True),
        ("[1, 2, 3].mean()", 2),
        ("[1, 2, 3, 4].median()", 2.5),
        ('["a", 1].sum()', 1),
        ('["b", "a", "b"].unique().join("/")', "b/a"),
        ("[1, 2].reverse()", [2, 1]),
        ("[1][1]", None),
        ("[1][-1]", None),
        ("file.properties.keys().slice(0, 2)", ["price", "qty"]),
        ("file.properties.qty", 3),
        ('escapeHTML("<a href=\\"x\\">\'&")', "&lt;a href=&quot;x&quot;&gt;&#39;&amp;"),
        ('image("a.png")', "![](a.png)"),
        ("/a/g", "/a/g"),
        ('"a".repeat(3)', "aaa"),
        ('"abc".reverse()', "cba"),
        ('"hello".containsAny("x", "L")', True),
        ("value", None),
        ("random() < 1", True),
    ],
)
def test_functions(expression: str, expected: Any) -> None:
    """BASE-50 to BASE-56"""
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('date("2025-05-27").format("dddd, Do MMM [at] HH")', "Tuesday, 27th May at 00"),
        ('date("2025-05-27T10:11").time()', "10:11:00"),
        ('date("20250527").day', 27),
        ('date("202505271011").minute', 11),
        ('date("2025-13-01")', {"error": 'Unable to parse "2025-13-01" as a date.'}),
        ("date(missing)", None),
        ("due.year", 2025),
        ("due.isEmpty()", False),
        ("today()", "2025-02-15"),
        ("now()", "2025-02-15T12:00:00"),
        ("(now() - today()).hours", 12),
        ('(now() + "3d").relative()', "in 3 days"),
        ('(now() - "5h").relative()', "5 hours ago"),
        ('date("2025-03-30").relative()', "in a month"),
        ('date("2025-04-01").relative()', "in 2 months"),
        ('date("2024-06-30").relative()', "8 months ago"),
        ('duration("44s")', "a few seconds"),
        ('duration("45s")', "a minute"),
        ('duration("90m")', "2 hours"),
        ('duration("36.5h")', "2 days"),
        ('duration("2w")', "14 days"),
        ('duration("26d")', "a month"),
        ('duration("11M")', "a year"),
        ('duration("-3d")', "3 days"),
        ('duration("1y").months', 12),
        ('duration("1 day 2 hours").hours', 26),
        ('duration("1d").round()', {"error": 'Cannot find function "round" on type Duration'}),
        ('2 * duration("1h")', {"error": "Invalid operator between Number and Duration"}),
        ('date("9999-12-31") + "1d"', {"error": "The date lies outside the years 1 to 9999."}),
    ],
)
def test_dates_and_durations(expression: str, expected: Any) -> None:
    """BASE-40 to BASE-46, BASE-57"""
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "truth", "empty", "text"),
    [
        ("missing", False, True, ""),
        ("false", False, False, "false"),
        ("0", False, False, "0"),
        ('""', False, True, ""),
        ("[]", False, True, ""),
        ('"a"', True, False, "a"),
        ("[0]", True, False, "0"),
        ('[1, ["a", null]]', True, False, "1, a, "),
        ("due", True, False, "2025-01-31"),
        ('date("2025-01-31 10:00")', True, False, "2025-01-31T10:00:00"),
        ('duration("0d")', False, False, "a few seconds"),
        ("up", True, False, "[[B]]"),
        ("file", True, False, "A.md"),
        ("/a/i", True, False, "/a/i"),
        ('file.properties.filter(key == "price")', True, False, '{"price":10}'),
        ("file.properties.filter(false)", False, True, "{}"),
        ('html("<b>")', True, False, "<b>"),
        ('image("a.png")', True, False, "![](a.png)"),
    ],
)
def test_truth_emptiness_and_text_of_values(expression: str, truth: bool, empty: bool, text: str) -> None:
    """BASE-21 to BASE-23, BASE-90"""
    assert value_of(f"({expression}).isTruthy()") is truth
    assert value_of(f"({expression}).isEmpty()") is empty
    assert value_of(f"({expression}).toString()") == text


LINKED = TextVault(
    {
        "n.md": (
            '---\nup: "[[Other|Shown]]"\nmd: "[t](Other.md)"\ntags: [a/b, Work]\n---\n'
            "[[Other#S | P]] ![[Other]] [T](Spaced%20Note.md) [[Missing]] #body [[sub/../Other]]\n"
        ),
        "sub/Other.md": "[[n]]",
        "Spaced Note.md": "[[n#x]]",
        "c.canvas": "",
    }
)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("up", "[[Other|Shown]]"),
        ("md", "[t](Other.md)"),
        ('md.isType("string")', True),
        ("up.asFile().path", "sub/Other.md"),
        ("up.asFile()", "[[sub/Other.md]]"),
        ('up == link("sub/Other#x")', True),
        ('up == "Other"', True),
        ("up.linksTo(file)", True),
        ("file.links.length", 7),
        ("file.links[0]", "[[Other|Shown]]"),
        ("file.links[1]", "[[Other.md|t]]"),
        ("file.links[2]", "[[Other#S|P]]"),
        ("file.links[6]", "[[Other|Other]]"),
        ("file.embeds", ["[[Other|Other]]"]),
        ("file.backlinks", ["[[Spaced Note.md|Spaced Note]]", "[[sub/Other.md|Other]]"]),
        ('file.hasLink("Missing")', True),
        ('file.hasLink("Missing.md")', False),
        ('file.hasLink("[[Missing|x]]")', True),
        ('up.CONTAINS("oth")', True),
        ('up.replace("O", "o")', "other"),
        ('"see Other".contains(up)', True),
        ('file.hasLink(file("Spaced Note"))', True),
        ("file.tags", ["a/b", "Work", "body"]),
        ('file.tags.contains("A")', True),
        ('note.tags.contains("work")', True),
        ('file.hasTag("x", "BODY")', True),
        ('link("https://a.b/c", "d")', "[d](https://a.b/c)"),
        ('link("[[Other|x]]")', "[[Other|x]]"),
        ('link("Other", "x") == link("Other")', True),
        ('link("a").path', {"error": 'Cannot find "path" on type Link'}),
        ('file.asLink("d")', "[[n.md|d]]"),
        ('file("Nothing").path', None),
        ("file.ctime.year", 2024),
        ("file.size > 0", True),
        ("file.nope", {"error": 'Cannot find "nope" on type File'}),
        ('file("c.canvas").name', "c.canvas"),
        ("file.file == file", True),
        ("file.folder", "/"),
        ('[link("n"), link("n"), link("n", "x")].unique().length', 2),
    ],
)
def test_files_and_links(expression: str, expected: Any) -> None:
    """BASE-60 to BASE-66, BASE-20, BASE-34"""
    assert value_of(expression, row="n.md", vault=LINKED) == expected
