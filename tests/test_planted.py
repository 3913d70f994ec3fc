"""The faults that `python -m tests.planted` can plant, on a few lines."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.planted.__main__ import choose_faults, core_sources, faults_at
from tests.planted.faults import Fault, all_faults, faults_in


def planted(source: str) -> list[str]:
    """Return a source with each fault that it can be given."""
    return [fault.plant(source) for fault in faults_in("a.py", source)]


@pytest.mark.parametrize(
    ("source", "with_faults"),
    [
        ("a < b", ["a <= b", "a >= b"]),
        ("a not  in (b)", ["a in (b)"]),
        ("ä is not(b)", ["ä is(b)"]),
        ("a and b", ["a or b"]),
        ("a or b and c", ["a and b and c", "a or b or c"]),
        ("not a", ["(a)"]),
        ("a == 'bc'", ["a != 'bc'", "a == 'b'"]),
        ("f(3, True)", ["f(4, True)", "f(3, False)"]),
        ("f(200)", ["f(400)"]),
        ("def f() -> bool: return a", ["def f() -> bool: return not (a)"]),
        ("def f() -> list[int]: return [a]", ["def f() -> list[int]: return []"]),
        ("def f() -> A | None: return a", ["def f() -> A | None: return None"]),
    ],
)
def test_a_fault_changes_one_place(source: str, with_faults: list[str]) -> None:
    assert planted(source) == with_faults


@pytest.mark.parametrize(
    "source",
    [
        '"""Docstring: a < 1."""',
        "raise A(1, not b)",
        "x = f'{a + 1}'",
        "def f(a: Literal[1]): ...",
        "@lru_cache(maxsize=1)\ndef f(): ...",
        "def __repr__(self): return a < b",
        "if TYPE_CHECKING: a = 1",
        "if a in cache: b = c",
        "MAX_NESTING = 60",
        'FOLDERS = 32\n"""Up to this many folders, comparing paths is quicker."""',
        "zip(a, b, strict=True)",
        "def f() -> list[int]: return []",
    ],
)
def test_what_no_test_could_see_gets_no_fault(source: str) -> None:
    assert planted(source) == []


@cache
def faults_of_the_core() -> list[Fault]:
    return all_faults(core_sources())


def test_faults_are_of_all_kinds_in_many_functions_and_the_same_for_a_seed() -> None:
    faults = faults_of_the_core()
    chosen = choose_faults(faults, 60, seed=1)

    assert len({(fault.file, fault.function) for fault in chosen}) == 60
    assert len({fault.kind for fault in chosen}) == 6
    assert chosen == choose_faults(faults, 60, seed=1) != choose_faults(faults, 60, seed=2)
    assert len(choose_faults(faults[:20], 60, seed=1)) <= 20


def test_faults_of_the_core_leave_files_that_can_be_compiled() -> None:
    sources = {file.as_posix(): text for file, text in core_sources()}

    for fault in choose_faults(faults_of_the_core(), 60, seed=3):
        ast.parse(fault.plant(sources[fault.file]))


def test_faults_are_found_by_their_place() -> None:
    faults = faults_of_the_core()

    in_file = faults_at(faults, "core/calendar/iso.py")
    assert {fault.file for fault in in_file} == {"obsidian_mcp/core/calendar/iso.py"}
    line = in_file[0].line
    assert {fault.line for fault in faults_at(faults, f"calendar/iso.py:{line}")} == {line}
    assert {fault.file.split("/")[2] for fault in faults_at(faults, "core/calendar")} == {"calendar"}
