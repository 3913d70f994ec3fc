"""Every rule of specs/ is there once and is named by a test; every rule that code or tests name is there."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.house.source import Source, read_sources

ROOT = Path(__file__).parent.parent
RULE = r"[A-Z]+(?:-[A-Z]+)*-[0-9]+"
DEFINED = re.compile(rf"^- (?:\*\*)?({RULE})(?:\*\*)? ", re.MULTILINE)
NAMED = re.compile(
    r"\b(?P<kind>[A-Z]+(?:-[A-Z]+)*)-(?P<first>[0-9]+)"
    r"(?: to (?:(?P=kind)-)?(?P<last>[0-9]+))?(?P<others>(?:(?:, | and )(?:(?P=kind)-)?[0-9]+\b)*)"
)
"""`EDIT-04`, `EDIT-04 to 06`, `EDIT-04, 05 and EDIT-09`."""
RULES = Counter(rule for path in (ROOT / "specs").glob("*.md") for rule in DEFINED.findall(path.read_text("utf-8")))
NOT_OURS = {".venv", "node_modules", ".python_modules"}
"""Folders of other people's programs, which some tests install."""
KINDS = {rule.rpartition("-")[0] for rule in RULES}


def own_tests() -> Iterator[Source]:
    return (source for source in read_sources(ROOT / "tests") if not NOT_OURS & set(source.file.split("/")))


def named_in(folder: str, *endings: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Every mention of rules in files below a folder: the file, and what `NAMED` matches."""
    for path in (ROOT / folder).rglob("*"):
        if path.suffix in endings and not NOT_OURS & set(path.parts):
            for named in NAMED.finditer(path.read_text(encoding="utf-8", errors="replace")):
                if named["kind"] in KINDS:
                    yield str(path.relative_to(ROOT)), named


def rule(named: re.Match[str], number: str | int) -> str:
    return f"{named['kind']}-{int(number):0{len(named['first'])}}"


def test_no_rule_is_there_twice() -> None:
    assert [name for name, count in RULES.items() if count > 1] == []


def test_every_rule_that_is_named_is_there() -> None:
    missing = {
        f"{rule(named, number)} in {path}"
        for folder, ending in (("obsidian_mcp", ".py"), ("tests", ".py"), ("docs", ".md"), ("specs", ".md"))
        for path, named in named_in(folder, ending)
        for number in [named["first"], *re.findall(r"[0-9]+", named["others"])]
        if rule(named, number) not in RULES
    }
    assert sorted(missing) == []


def named_by_tests() -> Iterator[re.Match[str]]:
    """Yield every mention of rules in docstrings and other strings of tests, and in specs/vectors.

    Comments do not count: a test has its rules in its docstring, or in the rows of its table.
    """
    for source in own_tests():
        for node in source.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from NAMED.finditer(node.value)
    for _, named in named_in("specs/vectors", ".json"):
        yield named


def test_every_rule_has_a_test_that_names_it() -> None:
    tested = {
        rule(named, number)
        for named in named_by_tests()
        for number in [
            *range(int(named["first"]), int(named["last"] or named["first"]) + 1),
            *re.findall(r"[0-9]+", named["others"]),
        ]
    }
    assert sorted(set(RULES) - tested) == []


RULES_OF_TEST = re.compile(
    rf"{RULE}(?: to [-A-Z]*[0-9]+)?(?:(?:, | and )[-A-Z]*[0-9]+(?: to [-A-Z]*[0-9]+)?)*(?:\Z|: )"
)
"""`EDIT-04`, `EDIT-04 to 06, EDIT-09`, `EDIT-04: what else is to be said`."""


def test_a_test_names_its_rules_at_the_beginning_of_its_docstring() -> None:
    """One form is found by one search: the rules, and behind a colon what else there is to say."""
    odd = []
    for source in own_tests():
        for node in source.functions:
            if node.name.startswith("test_"):
                text = ast.get_docstring(node) or ""
                names_rule = any(named["kind"] in KINDS for named in NAMED.finditer(text))
                signature = source.lines[node.lineno - 1 : node.body[0].lineno]
                comments = " ".join(line.partition("  # ")[2] for line in signature)
                in_comment = any(named["kind"] in KINDS for named in NAMED.finditer(comments))
                if in_comment or (names_rule and RULES_OF_TEST.match(text) is None):
                    odd.append(f"{source.file}:{node.lineno}: {text}")
    assert odd == []
