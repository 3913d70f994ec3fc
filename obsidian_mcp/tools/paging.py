"""As much of an answer as fits: lists by number or by bytes of JSON, texts by characters (TOOL-07),
and what the answer to a change shows (TOOL-31). A person on the command line gets everything
(CLI-10)."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, islice, takewhile, zip_longest
from typing import Any, Final, TypeVar

from obsidian_mcp import TYPE_CHECKING, json_codec
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.fit import LINE_MARK, MARK, count_fitting, cut_text, take_fitting
from obsidian_mcp.core.text.page_order import continue_order
from obsidian_mcp.core.text.text import byte_count, write_count

if TYPE_CHECKING:
    from obsidian_mcp.core.vault.committed import Committed
    from obsidian_mcp.core.vault.rewritten import Rewritten

T = TypeVar("T")

MOST_BYTES: Final = 100_000
"""Of JSON in one page of a list for a model."""
VIEW_BYTES: Final = 9_500
"""Of JSON in an answer that opens a view: a model should see at most 10 000 (VIEW-06)."""
PAGE: Final = 40_000
"""Characters of a note in one answer: hosts cut or divert longer results."""
DIFF_CHARACTERS: Final = 10_000
"""Of a difference that a dry run shows."""
SAMPLED_CHARACTERS: Final = 600
"""Differences of several files that are longer are shown as samples."""
KINDS_SHOWN: Final = 20
"""Kinds of changes, each with one line as a sample."""
SAMPLE_CHARACTERS: Final = 60
"""Of a line in a sample, on both sides of what changes."""
FILES_SHOWN: Final = 50
"""Files that an answer about many of them names."""
LINES_SHOWN: Final = 100
"""Lines of one file that an answer about many files names."""
SHOWN_BYTES: Final = 4_096
"""UTF-8 of the lines that the answer to a change shows."""
GIVEN_LINES: Final = 3
"""Lines in a row that the call itself brought and that its answer repeats; of more, the first and
the last."""
GIVEN_CHARACTERS: Final = 200
"""Of one such line."""
COMPARED_BYTES: Final = 1_000_000
"""Of the files of one change whose lines are compared for its answer."""
MOST_COMPARED_BYTES: Final = 16_000_000
"""Of the first of them, before and after the change; more takes seconds and a gigabyte."""
_LINE_OF_DIFF: Final = re.compile(r"^(.*\n)(\\ No newline.*\n)?", re.MULTILINE)
"""A line of a unified diff, and the mark that it ends without a line end."""


def json_size(value: object) -> int:
    """Return how many bytes a value takes in an answer."""
    return len(json_codec.encode(value, asdict))


def next_offset(offset: int, limit: int, total: int) -> int | None:
    """Return where the next page begins; None after the last one, and where only a count is
    wanted."""
    return offset + limit if limit and offset + limit < total else None


def page_of(
    items: Sequence[T],
    offset: int,
    limit: int,
    key: Callable[[T], object] = lambda item: item,
    name: str = "",
) -> tuple[Sequence[T], int | None]:
    """Return one page of a list, and where the next one begins.

    The pages are those of the order in which they began (TOOL-39): `key` is what an entry is known
    by while the others change, `name` tells the lists of one answer apart.
    """
    arranged, start = continue_order(items, offset, key, name)
    return arranged[start : start + limit], next_offset(start, limit, len(arranged))


def first_of(items: Sequence[T], limit: int) -> tuple[list[T], int | None]:
    """Return the first entries, and how many are left out."""
    first = list(items if current_call.get().wants_all else items[:limit])
    return first, len(items) - len(first) or None


def names_by_folder(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return file names by their folder, with `/` at its end: the shortest list of many paths
    (TOOL-35). The root is `/`."""
    names: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        names.setdefault(f"{folder}/", []).append(name)
    return names


def take_fitting_items(items: Iterable[T], room: int = MOST_BYTES, least: int = 0) -> list[T]:
    """Return the first items whose JSON fits so many bytes, and at least `least` of them."""
    if current_call.get().wants_all:
        return list(items)
    return take_fitting(items, room, lambda item: len(json_codec.encode(item, asdict)) + 1, least)


def count_rows(*columns: Sequence[object]) -> int:
    """Return how many rows of lists that are shown side by side fit an answer, at least one."""
    return len(take_fitting_items(zip_longest(*columns, fillvalue=0), least=1))


def page_end(text: str, start: int, end: int, room: int = PAGE) -> int:
    """Return where a page of a text ends: behind a paragraph, else behind a line, if one ends in
    its second half."""
    if end - start <= room or current_call.get().wants_all:
        return end
    for mark in ("\n\n", "\n"):
        boundary = text.rfind(mark, start + room // 2, start + room)
        if boundary >= 0:
            return boundary + len(mark)
    return start + room


def cut_diff(diffs: Iterable[str], limit: int = DIFF_CHARACTERS) -> str:
    """Return differences one after the other, cut after so many characters."""
    text = ""
    for diff in diffs:
        text += diff
        if len(text) > limit and not current_call.get().wants_all:
            return cut_text(text, limit, LINE_MARK)
    return text


def shown_diff(diffs: Iterable[str], whole: int = SAMPLED_CHARACTERS) -> str:
    """Return what would change: the difference of one file; of several, if it has more than `whole`
    characters, one line of each kind of change and how many lines of how many files change so.

    Two lines change in one way where the same words take the place of the same. A replacement in
    500 notes is one line then, and a line that it should not have met stands apart.
    """
    all_found = filter(None, diffs)
    if current_call.get().wants_all:
        return cut_diff(all_found)
    compared = list(islice(all_found, FILES_SHOWN))
    if len(compared) < 2 or sum(map(len, compared)) <= whole:
        return cut_diff(compared)
    kinds = kinds_of_changes(compared)
    unshown_count = len(kinds) - KINDS_SHOWN
    remarks = (
        [f"{MARK} and {write_count(unshown_count, 'other kind')} of changes\n"]
        if unshown_count > 0
        else []
    )
    remarks += [f"{MARK} (of the first {FILES_SHOWN} files)\n"] if next(all_found, "") else []
    return "".join(kinds[:KINDS_SHOWN] + remarks)


def kinds_of_changes(diffs: Iterable[str], given_lines: Container[str] = ()) -> list[str]:
    """Return what changes in several files: moved and removed files, then one line of each kind of
    change with how many lines of how many files change so, the most frequent first; added lines
    that the call brought are counted, and blank lines only where nothing else changes."""
    kinds: dict[tuple[str, str], list[tuple[str, str]]] = {}
    """The lines of each kind, with their files."""
    described = []
    given_count = 0
    for diff in filter(None, diffs):
        head, _, *lines = [
            line for line in f"{diff}\n".split("\n") if not line.startswith("\\ No newline")
        ]
        if not head.startswith("--- a/"):  # a file that is moved or removed
            described.append(diff)
        for old, new in _changed_lines(lines):
            if not old and new.strip() and new.strip() in given_lines:
                given_count += 1
                continue
            kind, sample = _kind(old, new)
            kinds.setdefault(kind, []).append((head.removeprefix("--- a/"), sample))
    blank = kinds.pop(("", ""), [])
    if blank and not kinds and not described:
        files_named = write_count(len({path for path, _ in blank}), "file")
        return [f"{write_count(len(blank), 'blank line')} in {files_named}\n"]
    by_file: dict[str, list[str]] = {}
    """The lines of kinds that are in one file only."""
    for alike in sorted(kinds.values(), key=len, reverse=True):
        path, sample = alike[0]
        files = len({path for path, _ in alike})
        if files > 1:
            described.append(f"{len(alike)} lines in {files} files, as in {path}:\n{sample}")
        else:
            by_file.setdefault(path, []).append(
                (f"{len(alike)} lines as:\n" if len(alike) > 1 else "") + sample
            )
    for path, (first, *further_lines) in by_file.items():
        described += [f"{path}:\n{first}", *further_lines]
    if given_count:
        described.append(f"{write_count(given_count, 'line')} as given\n")
    return described


def _changed_lines(diff: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Return the lines of a unified difference without its head: each old one with the new one in
    its place."""
    for is_changed, lines in groupby(diff, key=lambda line: line[:1] in ("-", "+")):
        if is_changed:
            listed = list(lines)
            old, new = ([line[1:] for line in listed if line[0] == mark] for mark in "-+")
            yield from zip_longest(old, new, fillvalue="")


def _count_shared(words: Sequence[str], other_words: Sequence[str]) -> int:
    """Return how many words both begin with."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(words, other_words, strict=False))
    )


def _kind(old: str, new: str) -> tuple[tuple[str, str], str]:
    """Return the words of two lines that differ, and both lines cut around these."""
    words, new_words = (re.findall(r"\w+|\W", line) for line in (old, new))
    start = _count_shared(words, new_words)
    end = _count_shared(words[start:][::-1], new_words[start:][::-1])
    kind, lines = [], ""
    for mark, line in (("-", words), ("+", new_words)):
        inner = "".join(line[start : len(line) - end])
        before, after = "".join(line[:start]), "".join(line[len(line) - end :])
        kind.append(inner)
        parts = (
            before[-SAMPLE_CHARACTERS:],
            inner[: 2 * SAMPLE_CHARACTERS],
            after[:SAMPLE_CHARACTERS],
        )
        lines += f"{mark}{''.join(parts)}\n" if line else ""
    return (kind[0], kind[1]), lines


# The answer to a change


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    total: int
    """Files that were changed, or with dry_run would be."""
    changed: list[str]
    """The first of them."""
    more_changed: int | None = None
    """How many are not named."""
    diff: str | None = None
    """What would change; only with dry_run."""
    etag: str | None = None
    """Of the note, where it is one."""
    warnings: list[str] | None = None


def changed_files(
    files: Sequence[Rewritten],
    *,
    dry_run: bool,
    etag: str | None = None,
    warnings: Sequence[str] = (),
) -> ChangedFiles:
    """Name the first files and, for a dry run, show as much of their differences as fits."""
    changed, more_changed = first_of([str(file.path) for file in files], FILES_SHOWN)
    diff = shown_diff(file.diff for file in files) if dry_run else None
    return ChangedFiles(len(files), changed, more_changed, diff, etag, list(warnings) or None)


def change_made(
    change: Committed, arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the answer to a call says of its change (TOOL-31): its number, the lines that
    changed, and line ends that are not LF. New files that are what the call brought, and lines that
    the answer has as `old` and `new`, are left out."""
    from obsidian_mcp.core.vault.operation import (
        Create,
        Write,
        difference,
        is_of_text,
    )  # with the first change

    texts = [
        operation
        for operation in change.operations
        if isinstance(operation, Write | Create) and is_of_text(operation)
    ]
    data: dict[str, Any] = {"change": change.number}
    if any(b"\r\n" in operation.after for operation in texts):
        data["line_ends"] = "CRLF"
    if "old" in answer or "plan" in arguments:
        return data
    given_texts = _texts_in(arguments)
    new_texts = [
        operation
        for operation in texts
        if isinstance(operation, Write)
        or operation.after.decode("utf-8", "replace").strip() not in given_texts
    ]
    compared = count_fitting([len(operation.after) for operation in new_texts], COMPARED_BYTES)
    if not compared and new_texts:
        first_size = len(new_texts[0].before) + len(new_texts[0].after)
        compared = int(first_size <= MOST_COMPARED_BYTES)
    diffs = [difference(operation, context=0) for operation in new_texts[:compared]]
    given_lines = {line.strip() for text in given_texts for line in text.splitlines()}
    is_whole = change.tool == "batch" or len(diffs) == 1
    pieces = [_without_given(diff, given_lines, alone=len(texts) == 1) for diff in diffs]
    if not is_whole or byte_count("".join(pieces)) > SHOWN_BYTES:
        pieces = kinds_of_changes(diffs, given_lines if is_whole else ())
    return data | _fit_pieces(pieces, len(new_texts) - len(diffs))


def _fit_pieces(pieces: Sequence[str], unread_count: int) -> dict[str, str]:
    """Return what an answer shows of what changed, and what it leaves out."""
    data: dict[str, str] = {}
    piece_count = count_fitting(map(byte_count, pieces), SHOWN_BYTES)
    left_out = []
    if more := len(pieces) - piece_count:
        left_out.append(f"{write_count(more, 'kind')} of changes")
    if unread_count:
        left_out.append(write_count(unread_count, "file"))
    if left_out:
        data["diff_left_out"] = " and ".join(left_out)
    if piece_count:
        data["diff"] = "".join(pieces[:piece_count])
    return data


def _texts_in(arguments: Mapping[str, Any]) -> list[str]:
    """Return the strings in the arguments of a call, stripped, also of the calls of a batch."""
    texts, pending = [], [*arguments.values()]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            texts.append(value.strip())
        elif isinstance(value, Mapping | list | tuple):
            pending += value.values() if isinstance(value, Mapping) else value
    return texts


def _without_given(diff: str, given_lines: Container[str], *, alone: bool) -> str:
    """Return the lines of a unified difference below the name of its file, which is left out where
    it stands `alone`; of more than GIVEN_LINES in a row that the call brought, the ends."""
    head, _, lines = diff.partition("\n+++ b/")
    name = "" if alone else f"{head.removeprefix('--- a/')}:\n"
    lines = lines.partition("\n")[2]
    if len(lines) <= GIVEN_CHARACTERS:
        return name + lines
    text = name
    marked_lines = [line + mark for line, mark in _LINE_OF_DIFF.findall(lines) if line]
    for is_given, run in groupby(marked_lines, lambda line: _is_given(line, given_lines)):
        listed = list(map(_shorten if is_given else str, run))
        if is_given and len(listed) > GIVEN_LINES:
            listed = [listed[0], f"… {write_count(len(listed) - 2, 'line')} as given\n", listed[-1]]
        text += "".join(listed)
    return text


def _is_given(line: str, given_lines: Container[str]) -> bool:
    """Return whether a line of a difference is one that is added and that the call brought."""
    return line[0] == "+" and (not line[1:].strip() or line[1:].strip() in given_lines)


def _shorten(line: str) -> str:
    """Return a line that the call brought, cut."""
    return cut_text(line, GIVEN_CHARACTERS, f"{MARK}\n")
