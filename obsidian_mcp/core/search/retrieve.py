"""Which files a plan finds: the index decides where it can, the texts decide the rest (SEARCH-40 to 46)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple, TypeVar

from obsidian_mcp.core.index import search_document
from obsidian_mcp.core.query.evaluate import Matcher, tag_name, tag_test
from obsidian_mcp.core.query.nodes import Node, Regex
from obsidian_mcp.core.query.prefilter import (
    AllOf,
    AnyOf,
    Anything,
    AtMost,
    Filter,
    HasProperty,
    HasTag,
    HasTask,
    HasWord,
    Holds,
    NoneOf,
    prefilter,
)
from obsidian_mcp.core.query.properties import name_test, value_test
from obsidian_mcp.core.query.regexp import translate
from obsidian_mcp.core.text import progress, tokenizer
from obsidian_mcp.core.text.casefold import phrase

from .plan import Plan, quoted
from .snapshot import Snapshot

T = TypeVar("T")

REPORTED_TEXTS = 64
"""Texts between two reports of progress."""

FEW_WORDS = 40
"""Up to this many words that contain a text are looked up together."""
FIRST_WORDS = 10
"""Of more words, this many are looked up first: they are the most common, and may be enough."""
LOOKUP_SECONDS = 1e-4
READ_SECONDS = 1.2e-5
"""What one more word costs in the index, and one text that is searched instead."""
WORDS_AT_ONCE = 500
MANY_ENDINGS = 20
"""The longest list of words that end with the first word of a text and are looked up."""

NOTHING: frozenset[int] = frozenset()

# One text instead of many rows: most of the time would go into making rows.
_FILES = "SELECT group_concat(rowid) FROM search WHERE search MATCH ?"


class Bounds(NamedTuple):
    """Files that satisfy a condition for certain, and all those that may; the truth lies between."""

    sure: AbstractSet[int]
    possible: AbstractSet[int]

    @classmethod
    def exact(cls, files: AbstractSet[int]) -> Bounds:
        return cls(files, files)


def retrieve(snapshot: Snapshot, plan: Plan, within: AbstractSet[int] | None) -> AbstractSet[int]:
    """Return the files, of `within` or all, that one of the plan's alternatives finds. Raises: OperationTimeout."""
    found: AbstractSet[int] = NOTHING
    for alternative in plan.alternatives:
        files = within
        if alternative.expression is not None:
            files = NOTHING
            if alternative.expression:
                (rows,) = snapshot.connection.execute(_FILES, (alternative.expression,)).fetchone()
                files = set(json.loads(f"[{rows}]")) if rows else NOTHING
                if within is not None:
                    files = files & within
                elif not snapshot.table.is_complete:
                    files = files & snapshot.table.files
        if alternative.exact is not None and (files is None or files):
            among = bounds(snapshot, prefilter(alternative.exact))
            sure, possible = among.sure, among.possible
            if files is not None:
                sure, possible = sure & files, possible & files
            unsure = possible - sure if possible is not sure else NOTHING
            files = sure | _scan(snapshot, alternative.exact, unsure) if unsure else sure
        elif alternative.expression is None:
            continue
        if files:
            found = found | files if found else files
    return found


def _scan(snapshot: Snapshot, query: Node, files: AbstractSet[int]) -> AbstractSet[int]:
    """Files whose text satisfies a query."""
    matcher = Matcher(query)
    rows = _reported(snapshot.documents(files), len(files))
    return {number for number, document in rows if matcher.matches(document)}


def _reported(rows: Iterable[T], total: int) -> Iterator[T]:
    for done, row in enumerate(rows, 1):
        if not done % REPORTED_TEXTS:
            progress.report(done, total, "Searching")
        yield row


# Conditions


def bounds(snapshot: Snapshot, condition: Filter) -> Bounds:
    """Return the files that satisfy a condition. Raises: OperationTimeout."""
    match condition:
        case AllOf(parts):
            found = [bounds(snapshot, part) for part in parts]
            sure = _all([part.sure for part in found])
            exactly = all(part.sure is part.possible for part in found)
            return Bounds(sure, sure if exactly else _all([part.possible for part in found]))
        case AnyOf(parts):
            found = [bounds(snapshot, part) for part in parts]
            return Bounds(_any(part.sure for part in found), _any(part.possible for part in found))
        case NoneOf(part):
            inner = bounds(snapshot, part)
            return Bounds(snapshot.table.files - inner.possible, snapshot.table.files - inner.sure)
        case AtMost(part):
            return Bounds(NOTHING, bounds(snapshot, part).possible)
        case Anything():
            return Bounds.exact(snapshot.table.files)
        case Holds():
            return _text(snapshot, condition)
        case HasWord():
            return _expression(snapshot, condition)
        case HasTask():
            return _task(snapshot, condition)
        case HasTag():
            return _tag(snapshot, condition)
        case HasProperty():
            return _property(snapshot, condition)


# Texts


def _text(snapshot: Snapshot, condition: Holds) -> Bounds:
    """Files whose content or path contains a text (SEARCH-42 to 44)."""
    found = Bounds.exact(NOTHING)
    wanted = tokenizer.wanted(condition.text, bounded=condition.bounded)
    if condition.where != "path" and not wanted.words:
        found = Bounds(NOTHING, snapshot.table.files)
    elif condition.where != "path":
        # Names and folders are parts of the path: if that counts too, all columns may be searched, which is quicker.
        columns = "body : " if condition.where == "content" else ""
        unsure = search_document.TRUNCATED | (0 if columns else search_document.ODD_FIELDS)
        if wanted.open_start or wanted.open_end:
            unsure |= search_document.ODD_WORDS
        if len(wanted.words) > 1:
            found = _phrase(snapshot, wanted, columns)
        else:
            words, open_start, open_end = list(wanted.words), wanted.open_start, wanted.open_end
            if open_start or open_end:
                words = snapshot.vocabulary.containing(words[0], from_start=not open_start, to_end=not open_end)
            found = _any_word(snapshot, words, columns)
        found = _unless(snapshot, found, unsure)
        found = found if wanted.whole else Bounds(NOTHING, found.possible)
    if condition.where != "content":
        with_path = _counted(snapshot, set(snapshot.table.path_contains(condition.text)))
        if condition.bounded and with_path:
            pattern = phrase(condition.text, match_case=False)
            with_path = {file for file in with_path if pattern.search(snapshot.table.paths[file])}
        found = _with(found, with_path)
    if condition.where == "text":
        snapshot.counts[condition.text] = len(found.possible)
    return found


def _any_word(snapshot: Snapshot, words: Sequence[str], columns: str) -> Bounds:
    """Files with one of these words; of very many words the rare ones are left to a scan of the texts (SEARCH-43)."""
    found: AbstractSet[int] = NOTHING
    start, step = 0, FIRST_WORDS if len(words) > FEW_WORDS else FEW_WORDS
    while start < len(words):
        scan_seconds = (len(snapshot.table.files) - len(found)) * READ_SECONDS
        left = len(words) - start
        if start and left * LOOKUP_SECONDS > scan_seconds and 3 * min(left, step) * LOOKUP_SECONDS > scan_seconds:
            return Bounds(found, snapshot.table.files)
        found = found | _lookup(snapshot, [(word,) for word in words[start : start + step]], columns)
        start, step = start + step, min(step * 6, WORDS_AT_ONCE)
    return Bounds.exact(found)


def _phrase(snapshot: Snapshot, wanted: tokenizer.Wanted, columns: str) -> Bounds:
    """Files in which some words follow each other."""
    first, *rest = wanted.words
    firsts: Sequence[str] = [first]
    prefix = wanted.open_end
    if wanted.open_start:
        firsts = snapshot.vocabulary.containing(first, to_end=True)
    exactly = True
    if prefix and len(rest[-1]) < 2:  # nearly every word begins so
        rest, prefix, exactly = rest[:-1], False, False
    if len(firsts) > MANY_ENDINGS:
        firsts, exactly = [], False
    phrases = [(word, *rest) for word in firsts] if exactly or firsts else [tuple(rest)]
    if phrases == [()]:
        return Bounds(NOTHING, snapshot.table.files)
    found = _lookup(snapshot, phrases, columns, prefix=prefix)
    return Bounds.exact(found) if exactly else Bounds(NOTHING, found)


def _lookup(
    snapshot: Snapshot, phrases: Sequence[tuple[str, ...]], columns: str, *, prefix: bool = False
) -> AbstractSet[int]:
    if not phrases:
        return NOTHING
    expression = " OR ".join([quoted(words, prefix=prefix) for words in phrases])
    (found,) = snapshot.connection.execute(_FILES, (f"{columns}({expression})",)).fetchone()
    return _counted(snapshot, _numbers(found))


def _expression(snapshot: Snapshot, condition: HasWord) -> Bounds:
    """Files with a word that a regular expression matches which can only match inside of words (SEARCH-33)."""
    expression = translate(condition.leaf.source)
    found = Bounds.exact(NOTHING)
    if condition.where != "path":
        # Underscores in names and folders are not flagged; what matches there is found in the paths.
        columns = "body : " if condition.where == "content" or expression.sees_underscores else ""
        unsure = search_document.TRUNCATED | search_document.ODD_WORDS | (0 if columns else search_document.ODD_FIELDS)
        if expression.sees_underscores:
            unsure |= search_document.UNDERSCORES
        words = snapshot.vocabulary.matching(expression)
        found = _unless(snapshot, _any_word(snapshot, words, columns), unsure)
    if condition.where != "content":
        found = _with(found, _counted(snapshot, set(snapshot.table.path_matches(expression))))
    return found


# Tasks, tags and properties


def _task(snapshot: Snapshot, condition: HasTask) -> Bounds:
    where = {"task-todo": " WHERE mark = ' '", "task-done": " WHERE mark != ' '"}.get(condition.operator, "")
    found = _files(snapshot, f"(SELECT DISTINCT file FROM tasks{where})")  # noqa: S608 - our own words
    return _unless(snapshot, Bounds.exact(found), search_document.TRUNCATED, snapshot.table.canvases)


def _tag(snapshot: Snapshot, condition: HasTag) -> Bounds:
    leaf = condition.leaf
    name = "" if isinstance(leaf, Regex) else tag_name(leaf.text)
    found: AbstractSet[int] = NOTHING
    if name:
        found = _files(snapshot, "tags WHERE key = ? OR key > ? AND key < ?", name, name + "/", name + "0")
    else:
        accepts = tag_test(leaf)
        found = _any(_files(snapshot, "tags WHERE key = ?", key) for key in _keys(snapshot, "tags") if accepts(key))
    unsure = search_document.TRUNCATED | search_document.ODD_KEYS
    return _unless(snapshot, Bounds.exact(found), unsure, snapshot.table.canvases)


def _property(snapshot: Snapshot, condition: HasProperty) -> Bounds:
    has_name = name_test(condition.property.key)
    has_value = value_test(condition.property.value, condition.match_case)
    found: set[int] = set()
    named = [(table, key) for table in snapshot.property_tables for key in _keys(snapshot, table) if has_name(key)]
    for table, key in named:
        if condition.property.value is None:
            found |= _files(snapshot, f"{table} WHERE key = ?", key)
            continue
        sql = f"SELECT value, group_concat(file) FROM {table} WHERE key = ? GROUP BY value"  # noqa: S608 - our own names
        for value, files in snapshot.connection.execute(sql, (key,)):
            if has_value(json.loads(value)):
                found |= _numbers(files)
    unsure = search_document.TRUNCATED | search_document.ODD_KEYS
    return _unless(snapshot, Bounds.exact(_counted(snapshot, found)), unsure)


def _keys(snapshot: Snapshot, table: str) -> Iterator[str]:
    """Every different key, by one look into the index for each instead of a walk through all rows (SEARCH-45)."""
    (key,) = snapshot.connection.execute(f"SELECT min(key) FROM {table}").fetchone()  # noqa: S608 - our own names
    while key is not None:
        yield key
        sql = f"SELECT min(key) FROM {table} WHERE key > ?"  # noqa: S608
        (key,) = snapshot.connection.execute(sql, (key,)).fetchone()


def _files(snapshot: Snapshot, where: str, *values: str) -> AbstractSet[int]:
    sql = f"SELECT group_concat(file) FROM {where}"  # noqa: S608 - our own names
    return _counted(snapshot, _numbers(snapshot.connection.execute(sql, values).fetchone()[0]))


# Sets of files


def _unless(snapshot: Snapshot, found: Bounds, bits: int, others: AbstractSet[int] = NOTHING) -> Bounds:
    """Make the files uncertain whose rows do not say everything: those with some bits, and some others (SEARCH-29)."""
    unsure = snapshot.flagged(bits) | others
    return Bounds(found.sure - unsure, found.possible | unsure) if unsure else found


def _with(found: Bounds, files: AbstractSet[int]) -> Bounds:
    """Add files that satisfy the condition for certain."""
    if not files:
        return found
    sure = found.sure | files
    return Bounds(sure, sure if found.possible is found.sure else found.possible | files)


def _counted(snapshot: Snapshot, found: set[int]) -> set[int]:
    """Leave out rows of files that are hidden or gone."""
    if not snapshot.table.is_complete:
        found &= snapshot.table.files
    return found


def _numbers(numbers: str | None) -> set[int]:
    return set(json.loads(f"[{numbers}]")) if numbers else set()


def _all(sets: Sequence[AbstractSet[int]]) -> AbstractSet[int]:
    found = min(sets, key=len)
    for files in sets:
        if files is not found:
            found = found & files
    return found


def _any(sets: Iterable[AbstractSet[int]]) -> AbstractSet[int]:
    found: AbstractSet[int] = NOTHING
    for files in sets:
        found = found | files if found else files
    return found
