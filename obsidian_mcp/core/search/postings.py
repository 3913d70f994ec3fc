"""Which files meet a condition, as far as the index can tell (specs/search.md, SEARCH-40 to 47)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from obsidian_mcp.core.index import fulltext, search_document
from obsidian_mcp.core.index.database import Connection
from obsidian_mcp.core.query.matchers import name_test, tag_name, tag_test, value_test
from obsidian_mcp.core.query.parser import Regex
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
)
from obsidian_mcp.core.query.regexp import translate
from obsidian_mcp.core.text import deadline, tokenizer
from obsidian_mcp.core.text.casefold import phrase

from .cache import Remembered
from .file_table import Roster
from .vocabulary import Vocabulary

FEW_WORDS = 40
"""So many words that hold some letters are asked for together."""
FIRST_WORDS = 10
"""Of more, so many are asked for first: they are the most common, and may be enough."""
ASKED = 1e-4
READ = 1.2e-5
"""Seconds that one more word costs in the index, and one text that is read instead."""
WORDS_AT_ONCE = 500
MANY_ENDINGS = 20
"""Of the first word of a text, so many longer words that end with it are tried."""
NOTHING: frozenset[int] = frozenset()

# One text instead of many rows: most of the time would go into making rows.
_FILES = "SELECT group_concat(rowid) FROM search WHERE search MATCH ?"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Files that meet a condition for certain, and all those that may; the truth lies between."""

    sure: AbstractSet[int]
    possible: AbstractSet[int]

    @classmethod
    def exact(cls, files: AbstractSet[int]) -> Bounds:
        return cls(files, files)

    def __len__(self) -> int:
        return len(self.sure) + (0 if self.possible is self.sure else len(self.possible))

    def and_also(self, files: AbstractSet[int]) -> Bounds:
        """With these files, for certain."""
        sure = self.sure | files
        return Bounds(sure, sure if self.possible is self.sure else self.possible | files)


class Lookup:
    """Asks the tables of one moment. `files` are those that count; `complete`: the rows tell of no others.

    `kept` holds answers of the same tables about the same files.
    """

    def __init__(
        self,
        connection: Connection,
        roster: Roster,
        vocabulary: Vocabulary,
        files: AbstractSet[int],
        kept: Remembered,
        *,
        complete: bool,
    ) -> None:
        self._complete = complete
        self._connection = connection
        self._roster = roster
        self._vocabulary = vocabulary
        self._files = files
        self._kept = kept

    def bounds(self, condition: Filter) -> Bounds:
        """Files that meet a condition."""
        return self._kept.get(condition, lambda: self._bounds(condition))

    def _bounds(self, condition: Filter) -> Bounds:
        match condition:
            case AllOf(parts):
                return self._all_of(parts)
            case AnyOf(parts):
                found = [self.bounds(part) for part in parts]
                return Bounds(_any(each.sure for each in found), _any(each.possible for each in found))
            case NoneOf(part):
                inner = self.bounds(part)
                return Bounds(self._files - inner.possible, self._files - inner.sure)
            case AtMost(part):
                return Bounds(NOTHING, self.bounds(part).possible)
            case Anything():
                return Bounds.exact(self._files)
            case Holds():
                return self._holds(condition)
            case HasWord():
                return self._has_word(condition)
            case HasTask():
                return self._with_task(condition)
            case HasTag():
                return self._tagged(condition)
            case HasProperty():
                return self._with_property(condition)

    def _all_of(self, parts: Sequence[Filter]) -> Bounds:
        found = [self.bounds(part) for part in parts]
        sure = _all([each.sure for each in found])
        exactly = all(each.sure is each.possible for each in found)
        return Bounds(sure, sure if exactly else _all([each.possible for each in found]))

    def having(self, words_: str) -> AbstractSet[int]:
        """Files for which an expression of the full-text index holds."""
        return self._kept.get(("having", words_), lambda: self._asked(_FILES, words_))

    def _asked(self, sql: str, expression: str) -> set[int]:
        deadline.checkpoint()
        (found,) = self._connection.execute(sql, (expression,)).fetchone()
        return self._counting(_numbers(found))

    def _counting(self, found: set[int]) -> set[int]:
        if not self._complete:
            found &= self._files
        return found

    def count(self, words_: str) -> int:
        """How many files of the index `having` would give."""
        if not words_:
            return 0
        sql = "SELECT count(*) FROM search WHERE search MATCH ?"
        (found,) = self._kept.get(("count", words_), lambda: self._connection.execute(sql, (words_,)).fetchone())
        return int(found)

    def holding(self, text: str) -> int | None:
        """How many files hold a folded text, where somebody has asked for them."""
        known: Bounds | None = self._kept.known(Holds(text, "text"))
        return None if known is None else len(known.possible)

    # -- texts -------------------------------------------------------------------------------------------------

    def _holds(self, asked: Holds) -> Bounds:
        found = Bounds.exact(NOTHING)
        if asked.where != "path":
            found = self._content_holds(asked)
        if asked.where != "content":
            at = self._counting(set(self._roster.path_holds(asked.text)))
            if asked.bounded and at:
                pattern = phrase(asked.text, match_case=False)
                at = {file for file in at if pattern.search(self._roster.paths[file])}
            if at:
                found = found.and_also(at)
        return found

    def _content_holds(self, asked: Holds) -> Bounds:
        wanted = tokenizer.wanted(asked.text, bounded=asked.bounded)
        if not wanted.words:
            return Bounds(NOTHING, self._files)
        # Names and folders are parts of the path: where that counts too, all columns may be asked, which is quicker.
        columns = "body : " if asked.where == "content" else ""
        odd = self.odd(search_document.TRUNCATED)
        if wanted.open_start or wanted.open_end:
            odd = odd | self.odd(search_document.ODD_WORDS)
        if len(wanted.words) > 1:
            found = self._with_phrase(wanted, columns)
        elif wanted.open_start or wanted.open_end:
            parts = self._vocabulary.containing(
                wanted.words[0], from_start=not wanted.open_start, to_end=not wanted.open_end
            )
            found = self._with_any(parts, columns)
        else:
            found = Bounds.exact(self._with([fulltext.quoted(wanted.words)], columns))
        if not columns:
            odd = odd | self.odd(search_document.ODD_FIELDS)
        if not odd:
            return found if wanted.whole else Bounds(NOTHING, found.possible)
        return Bounds(found.sure - odd if wanted.whole else NOTHING, found.possible | odd)

    def _has_word(self, asked: HasWord) -> Bounds:
        expression = translate(asked.leaf.source)
        found = Bounds.exact(NOTHING)
        if asked.where != "path":
            # The underscores of names and folders are not noted; what matches there is found in the paths.
            columns = "body : " if asked.where == "content" or expression.sees_underscores else ""
            odd = self.odd(
                search_document.TRUNCATED | search_document.ODD_WORDS | (0 if columns else search_document.ODD_FIELDS)
            )
            if expression.sees_underscores:
                odd = odd | self.odd(search_document.UNDERSCORES)
            found = self._with_any(self._vocabulary.matching(expression), columns)
            if odd:
                found = Bounds(found.sure - odd, found.possible | odd)
        if asked.where != "content":
            found = found.and_also(self._counting(set(self._roster.path_matches(expression))))
        return found

    def _with_any(self, parts: Sequence[str], columns: str) -> Bounds:
        """Files with one of these words. Of very many words the rare ones are left for the texts to tell."""
        found: set[int] = set()
        start, step = 0, FIRST_WORDS if len(parts) > FEW_WORDS else FEW_WORDS
        while start < len(parts):
            reading = (len(self._files) - len(found)) * READ
            left = len(parts) - start
            if start and left * ASKED > reading and 3 * min(left, step) * ASKED > reading:
                return Bounds(found, self._files)
            found |= self._with((fulltext.quoted([word]) for word in parts[start : start + step]), columns)
            start, step = start + step, min(step * 6, WORDS_AT_ONCE)
        return Bounds.exact(found)

    def _with_phrase(self, wanted: tokenizer.Wanted, columns: str) -> Bounds:
        """Files in which these words follow each other."""
        first, *rest = wanted.words
        firsts: Sequence[str] = [first]
        prefix = wanted.open_end
        if wanted.open_start:
            firsts = self._vocabulary.containing(first, to_end=True)
        exactly = True
        if prefix and len(rest[-1]) < 2:  # nearly every word begins so
            rest, prefix, exactly = rest[:-1], False, False
        if len(firsts) > MANY_ENDINGS:
            firsts, exactly = [], False
        phrases = [(each, *rest) for each in firsts] if exactly or firsts else [tuple(rest)]
        if phrases == [()]:
            return Bounds(NOTHING, self._files)
        found = self._with((fulltext.quoted(each, prefix=prefix) for each in phrases), columns)
        return Bounds.exact(found) if exactly else Bounds(NOTHING, found)

    def _with(self, phrases: Iterable[str], columns: str) -> set[int]:
        asked = " OR ".join(phrases)
        return self._asked(_FILES, f"{columns}({asked})") if asked else set()

    # -- tasks, tags and properties -----------------------------------------------------------------------------------

    def _with_task(self, asked: HasTask) -> Bounds:
        where = {"task-todo": " WHERE mark = ' '", "task-done": " WHERE mark != ' '"}.get(asked.operator, "")
        found = self._files_of(f"(SELECT DISTINCT file FROM tasks{where})")  # noqa: S608 - our own words
        return self._unless(found, self.odd(search_document.TRUNCATED) | self._roster.canvases)

    def _tagged(self, asked: HasTag) -> Bounds:
        leaf = asked.leaf
        name = "" if isinstance(leaf, Regex) else tag_name(leaf.text)
        if name:
            found = self._files_of("tags WHERE key = ? OR key > ? AND key < ?", name, name + "/", name + "0")
        else:
            accepts = tag_test(leaf)
            found = set()
            for key in self._keys("tags"):
                if accepts(key):
                    found |= self._files_of("tags WHERE key = ?", key)
        unsure = self.odd(search_document.TRUNCATED | search_document.ODD_KEYS) | self._roster.canvases
        return self._unless(found, unsure)

    def _unless(self, found: set[int], unsure: AbstractSet[int]) -> Bounds:
        found = self._counting(found)
        return Bounds(found - unsure, found | (unsure & self._files)) if unsure else Bounds.exact(found)

    def _with_property(self, asked: HasProperty) -> Bounds:
        named = name_test(asked.asked.key)
        valued = value_test(asked.asked.value, asked.match_case)
        found: set[int] = set()
        for key in self._keys("properties"):
            if not named(key):
                continue
            if asked.asked.value is None:
                found |= self._files_of("properties WHERE key = ?", key)
                continue
            for value, files in self._connection.execute(
                "SELECT value, group_concat(file) FROM properties WHERE key = ? GROUP BY value", (key,)
            ):
                if valued(json.loads(value)):
                    found |= _numbers(files)
        return self._unless(found, self.odd(search_document.TRUNCATED | search_document.ODD_KEYS))

    def _keys(self, table: str) -> Iterator[str]:
        """Every different key, each by one look into the index instead of a walk through all rows."""
        (key,) = self._connection.execute(f"SELECT min(key) FROM {table}").fetchone()  # noqa: S608 - our own names
        while key is not None:
            yield key
            sql = f"SELECT min(key) FROM {table} WHERE key > ?"  # noqa: S608
            (key,) = self._connection.execute(sql, (key,)).fetchone()

    def _files_of(self, where: str, *values: str) -> set[int]:
        return _numbers(self._connection.execute(f"SELECT group_concat(file) FROM {where}", values).fetchone()[0])  # noqa: S608 - our own names

    def odd(self, bits: int) -> AbstractSet[int]:
        """Files of which one of these bits of `content` says something."""
        found = self._kept.get("odd", lambda: fulltext.odd(self._connection))
        if not found:
            return NOTHING
        return self._kept.get(("odd", bits), lambda: {file for file, odd in found.items() if odd & bits} & self._files)

    # -- in order ----------------------------------------------------------------------------------------------

    def newest(self) -> Sequence[int]:
        """The files, the one changed last first."""
        sql = "SELECT id FROM files ORDER BY mtime_ns DESC, path"
        return self._kept.get(
            "newest", lambda: [file for (file,) in self._connection.execute(sql).fetchall() if file in self._files]
        )

    def places(self) -> Mapping[int, int]:
        """Where each file stands in `newest`."""
        newest = self.newest()
        return self._kept.get("places", lambda: dict(zip(newest, range(len(newest)), strict=True)))


def _numbers(listed: str | None) -> set[int]:
    return set(json.loads(f"[{listed}]")) if listed else set()


def _all(sets: Sequence[AbstractSet[int]]) -> AbstractSet[int]:
    found = min(sets, key=len)
    for each in sets:
        if each is not found:
            found = found & each
    return found


def _any(sets: Iterable[AbstractSet[int]]) -> AbstractSet[int]:
    found: AbstractSet[int] = NOTHING
    for each in sets:
        found = found | each if found else each
    return found
