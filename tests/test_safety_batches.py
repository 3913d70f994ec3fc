"""Random calls, batches and undos while another program writes: nothing of either is lost, doubled or half made.

BATCH-03, SAFE-01, SAFE-02, SAFE-08, SAFE-22. The other program writes at chosen moments (tests/other_program.py), so an
example that fails is the same the next time, and Hypothesis shortens it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from obsidian_mcp.errors import AppError, UndoConflict
from tests.examples import examples
from tests.other_program import Append, Line, places_of, with_mark, without_lines
from tests.random_calls import BEFORE, CALLS, MORE_CALLS, SETTINGS, Call, SharedVault, shared_vault

SCALE = 10_000
"""Of a random moment: the last one of a call."""


class Disturbance(NamedTuple):
    """A moment of a call, and the file to which the other program appends then."""

    moment: int
    """0 to SCALE."""
    file: int
    """A number in the list of files: first come those that the call changes."""
    makes: bool

    def place(self, moments: int, paths: Sequence[str]) -> tuple[int, Append]:
        """Return the moment of a call that has so many, and what is to be done."""
        return self.moment * (moments - 1) // SCALE, Append(paths[self.file % len(paths)], self.makes)


DISTURBANCES = st.lists(
    st.builds(Disturbance, st.integers(0, SCALE), st.integers(0, 12), st.booleans()), min_size=1, max_size=3
)


class Quiet(NamedTuple):
    """What some calls do as one batch while nobody else writes."""

    calls: list[Call]
    paths: list[str]
    """Files to which another program may write: first those that the batch changes."""
    moments: int
    undo_moments: int


def run_alone(calls: Sequence[Call]) -> Quiet | None:
    """Make those calls as a batch that can be made one after the other, and undo it; None where it changes nothing."""
    left = list(calls)
    while left:
        with shared_vault() as vault:
            try:
                number = vault.batch(left).get("change")
            except AppError as error:
                assert vault.files() == BEFORE
                del left[error.data["call"] - 1]
                continue
            if number is None:
                return None
            moments, after = vault.other.moments, vault.files()
            vault.other.plan({})
            vault.undo(number)
            assert vault.files() == BEFORE
            touched = [path for path in {**BEFORE, **after} if BEFORE.get(path) != after.get(path)]
            return Quiet(left, [*touched, *sorted(BEFORE.keys() - SETTINGS)], moments, vault.other.moments)
    return None


def disturb(vault: SharedVault, disturbances: Sequence[Disturbance], moments: int, paths: Sequence[str]) -> None:
    """Have the other program write during the next call."""
    due: dict[int, list[Append]] = {}
    for disturbance in disturbances:
        moment, append = disturbance.place(moments, paths)
        due.setdefault(moment, []).append(append)
    vault.other.plan(due)


def files_with(lines: Sequence[Line]) -> dict[str, bytes]:
    """The files of the vault after the other program has written these lines and nobody else anything."""
    files = dict(BEFORE)
    for line in lines:
        files[line.path] = with_mark(line.path, files.get(line.path, b""), line.mark)
    return files


def one_after_the_other(calls: Sequence[Call], lines: Sequence[Line]) -> Iterator[dict[str, bytes]]:
    """Yield the files after the calls were made one by one, for each order in which the lines can be written before,
    between and after them."""
    moments = range(len(calls) + 1)
    together = [(moment,) * len(lines) for moment in (0, *reversed(moments))]
    for order in dict.fromkeys([*together, *itertools.combinations_with_replacement(moments, len(lines))]):
        with shared_vault() as vault:
            steps: list[tuple[int, Any]] = [
                (2 * number + 1, partial(vault.accepts, one)) for number, one in enumerate(calls)
            ]
            for moment, line in zip(order, lines, strict=True):
                steps.append((2 * moment, partial(vault.other.write, Append(line.path, line.made_file), line.mark)))
            if all(step() for _, step in sorted(steps, key=lambda step: step[0])):
                yield vault.files()


def check_all_there(files: dict[str, bytes], own: dict[str, Any], lines: Sequence[Line]) -> None:
    """Check that the files hold this beside the other program's lines, and each of those once."""
    assert without_lines(files) == own
    assert {line: places_of(line, files).total() for line in lines} == dict.fromkeys(lines, 1)


def check_change(quiet: Quiet, disturbances: Sequence[Disturbance], *, is_batch: bool) -> None:
    """Make a batch, or one call, while the other program writes; then take it back."""
    with shared_vault() as vault:
        disturb(vault, disturbances, quiet.moments, quiet.paths)
        try:
            answer = vault.batch(quiet.calls) if is_batch else vault.call(quiet.calls[0])
        except AppError:
            answer = None
        lines, after = list(vault.other.lines), vault.files()
        is_early = all(line.before_commit for line in lines)
        if answer is None:
            assert len(lines) > 1 or lines[0].made_file, "one line that is appended meanwhile refuses no call"
            check_all_there(after, without_lines(BEFORE), lines)
            assert not is_early or after == files_with(lines)
            return
        places = [places_of(line, after) for line in lines]
        orders = []
        for files in one_after_the_other(quiet.calls, lines):
            orders.append([places_of(line, files) for line in lines])
            if orders[-1] == places and without_lines(files) == without_lines(after):
                break
        else:
            raise AssertionError("no order of the same calls leaves these files", places, orders)
        if answer.get("change") is not None:
            check_undo(vault, answer["change"], lines, is_early=is_early)


def check_undo(vault: SharedVault, change: int, lines: Sequence[Line], *, is_early: bool) -> None:
    """Check that an undo gives back the bytes before, with the lines that were written before the commit."""
    after = vault.files()
    vault.other.plan({})
    if is_early:
        vault.undo(change)
        assert vault.files() == files_with(lines)
        return
    try:
        vault.undo(change)
    except UndoConflict:
        assert vault.files() == after
        return
    check_all_there(vault.files(), without_lines(BEFORE), lines)


DRAWN_MEANWHILE = [HealthCheck.too_slow, HealthCheck.data_too_large]
"""Checks of Hypothesis that count the time of the calls between two draws as that of drawing."""


@pytest.mark.parametrize("first", CALLS)
@examples(18, suppress_health_check=DRAWN_MEANWHILE)
@given(data=st.data())
def test_a_batch_leaves_what_another_program_writes_where_single_calls_leave_it(
    first: str, data: st.DataObject
) -> None:
    """BATCH-03, SAFE-08, SAFE-22: Issue 56, point 1: a line that was appended to a file of the batch was gone."""
    quiet = run_alone([data.draw(CALLS[first]), *data.draw(MORE_CALLS)])
    if quiet is not None:
        is_batch = len(quiet.calls) > 1 or data.draw(st.booleans())
        check_change(quiet, data.draw(DISTURBANCES), is_batch=is_batch)


@pytest.mark.parametrize("first", CALLS)
@examples(5, suppress_health_check=DRAWN_MEANWHILE)
@given(data=st.data())
def test_an_undo_beside_another_program_is_whole_or_refused(first: str, data: st.DataObject) -> None:
    """SAFE-02, SAFE-06: Issue 56, point 2: an undo that was refused had put lines in twice."""
    quiet = run_alone([data.draw(CALLS[first]), *data.draw(MORE_CALLS)])
    if quiet is None:
        return
    with shared_vault() as vault:
        before = without_lines(vault.files())
        number = vault.batch(quiet.calls)["change"]
        after = without_lines(vault.files())
        lines: list[Line] = []
        for own, taken_back in ((after, before), (before, after)):  # the undo, and the undo of it
            disturb(vault, data.draw(DISTURBANCES), quiet.undo_moments, quiet.paths)
            try:
                number = vault.undo(number)
            except AppError:
                lines += vault.other.lines
                check_all_there(vault.files(), own, lines)
                return
            lines += vault.other.lines
            check_all_there(vault.files(), taken_back, lines)
