"""What the index says of a query: which files match for certain, and which may (QUERY-60, 61)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import reduce
from operator import and_
from typing import NamedTuple

from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.index import search_document
from obsidian_mcp.core.query import nodes
from obsidian_mcp.core.query.nodes import Phrase, Regex, ScopedQuery, SearchField, Word
from obsidian_mcp.core.query.regexp import translate
from obsidian_mcp.core.text import analysis

from .plan import quote_words
from .snapshot import Snapshot

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
EVERYWHERE = SearchField()


class Bounds(NamedTuple):
    """Files that satisfy a condition for certain, and all those that may; the truth lies
    between."""

    sure: AbstractSet[int]
    possible: AbstractSet[int]

    @classmethod
    def from_files(cls, files: AbstractSet[int]) -> Bounds:
        return cls(files, files)

    def to_upper_bound(self) -> Bounds:
        """Return the bounds of a condition that implies this one."""
        return Bounds(NOTHING, self.possible)


# What the index says of a query


def bounds(
    snapshot: Snapshot,
    node: nodes.QueryNode,
    field: SearchField = EVERYWHERE,
    *,
    scoped: bool = False,
) -> Bounds:
    """Return the notes and canvases that match for certain, and those that may (QUERY-60,
    QUERY-61). `scoped`: of parts of the text, so that what a file has is certain of none of
    them."""
    while isinstance(node, ScopedQuery) and node.operator in nodes.NARROWING:
        field, node = field._replace(**nodes.NARROWING[node.operator]), node.part
    where = "path" if field.where == "file" else field.where
    match node:
        case nodes.And() | nodes.Or():
            combine = _intersect_bounds if isinstance(node, nodes.And) else _unite_bounds
            return combine([bounds(snapshot, part, field, scoped=scoped) for part in node.parts])
        case nodes.Not():
            everything, inner = (
                snapshot.table.files,
                bounds(snapshot, node.part, field, scoped=scoped),
            )
            return Bounds(everything - inner.possible, everything - inner.sure)
        case ScopedQuery():
            return _scope(snapshot, node, field, scoped=scoped)
        case nodes.Property():
            return _property(snapshot, node, field.match_case)
        case Word() | Phrase() | Regex() if field.where == "tag":
            result = _tag(snapshot, node)
        case Regex():
            result = _expression(snapshot, node, where, cased=bool(field.match_case))
        case Word() | Phrase() if node.text:
            searched, bounded = _spellings(node.text, where), isinstance(node, Phrase)
            result = _unite_bounds(
                [_text(snapshot, text, part, bounded=bounded) for text, part in searched]
            )
            result = (
                result.to_upper_bound()
                if field.match_case and not analysis.is_caseless(node.text)
                else result
            )
        case Word() | Phrase():
            result = Bounds.from_files(snapshot.table.files)
        case _:
            raise TypeError(f"{type(node).__name__} stands only in the brackets of a property")
    # the path contains the name
    return result.to_upper_bound() if scoped or field.where == "file" else result


def _spellings(text: str, where: str) -> list[tuple[str, str]]:
    """A text as it is looked for in the content, folded, and in paths, which are NFC."""
    written, composed = analysis.fold(text), analysis.fold(unicodedata.normalize("NFC", text))
    if where == "anyplace" and composed != written:
        return [(written, "content"), (composed, "path")]
    return [(composed if where == "path" else written, where)]


def _scope(snapshot: Snapshot, node: ScopedQuery, field: SearchField, *, scoped: bool) -> Bounds:
    is_any_line = node.operator in ("line", "section")  # every line lies in one section
    leaves = node.part.parts if isinstance(node.part, nodes.Or) else (node.part,)
    texts = [
        leaf
        for leaf in leaves
        if isinstance(leaf, Word | Phrase) and _matches_every_line(leaf, field.match_case)
    ]
    if is_any_line and not scoped and len(texts) == len(leaves):
        parts = [
            _text(snapshot, analysis.fold(leaf.text), "content", bounded=isinstance(leaf, Phrase))
            for leaf in texts
        ]
        return _unite_bounds(parts)  # (QUERY-63)
    inner = bounds(snapshot, node.part, field._replace(where="content"), scoped=True)
    if node.operator in ("task", "task-todo", "task-done"):
        inner = _intersect_bounds([_tasks(snapshot, node, inner.possible), inner])
    return inner.to_upper_bound()


def _matches_every_line(leaf: Word | Phrase, match_case: bool | None) -> bool:
    """Whether every line that contains the folded text matches."""
    cased = match_case and not analysis.is_caseless(leaf.text)
    return bool(leaf.text) and not cased and "\n" not in leaf.text and "\r" not in leaf.text


def _text(snapshot: Snapshot, text: str, where: str, *, bounded: bool = False) -> Bounds:
    """Files whose content or path contains a folded text; `bounded`: not inside a word (SEARCH-42
    to 44)."""
    result = Bounds.from_files(NOTHING)
    sought = analysis.parse_sought_words(text, bounded=bounded)
    if where != "path" and not sought.words:
        result = Bounds(NOTHING, snapshot.table.files)
    elif where != "path":
        # Names and folders are parts of the path: if that counts too, all columns may be searched,
        # which is quicker.
        columns = "body : " if where == "content" else ""
        unsure = search_document.TRUNCATED | (0 if columns else search_document.ODD_FIELDS)
        if sought.open_start or sought.open_end:
            unsure |= search_document.ODD_WORDS
        if len(sought.words) > 1:
            result = _phrase(snapshot, sought, columns)
        else:
            words, open_start, open_end = list(sought.words), sought.open_start, sought.open_end
            if open_start or open_end:
                words = snapshot.vocabulary.words_containing(
                    words[0], from_start=not open_start, to_end=not open_end
                )
            result = _any_word(snapshot, words, columns)
        result = _make_uncertain(snapshot, result, unsure)
        result = result if sought.whole else result.to_upper_bound()
    if where != "content":
        with_path = path_contains(snapshot, text)
        if bounded and with_path:
            pattern = analysis.phrase(text, match_case=False)
            paths = snapshot.table.paths
            with_path = {file for file in with_path if pattern.search(normal_form(paths[file]))}
        result = _unite_bounds([result, Bounds.from_files(with_path)])
    if where == "anyplace":
        snapshot.text_counts[text] = len(result.possible)
    return result


def _any_word(snapshot: Snapshot, words: Sequence[str], columns: str) -> Bounds:
    """Files with one of these words; of very many words the rare ones are left to a scan of the
    texts (SEARCH-43)."""
    files: AbstractSet[int] = NOTHING
    start, step = 0, FIRST_WORDS if len(words) > FEW_WORDS else FEW_WORDS
    while start < len(words):
        scan_seconds = (snapshot.table.count - len(files)) * READ_SECONDS
        remaining = len(words) - start
        if (
            start
            and remaining * LOOKUP_SECONDS > scan_seconds
            and 3 * min(remaining, step) * LOOKUP_SECONDS > scan_seconds
        ):
            return Bounds(files, snapshot.table.files)
        files = files | _lookup(
            snapshot, [(word,) for word in words[start : start + step]], columns
        )
        start, step = start + step, min(step * 6, WORDS_AT_ONCE)
    return Bounds.from_files(files)


def _phrase(snapshot: Snapshot, sought: analysis.SoughtWords, columns: str) -> Bounds:
    first, *following = sought.words
    firsts: Sequence[str] = [first]
    prefix = sought.open_end
    if sought.open_start:
        firsts = snapshot.vocabulary.words_containing(first, to_end=True)
    exactly = True
    if prefix and len(following[-1]) < 2:  # nearly every word begins so
        following, prefix, exactly = following[:-1], False, False
    if len(firsts) > MANY_ENDINGS:
        firsts, exactly = [], False
    phrases = [(word, *following) for word in firsts] if exactly or firsts else [tuple(following)]
    if phrases == [()]:
        return Bounds(NOTHING, snapshot.table.files)
    files = _lookup(snapshot, phrases, columns, prefix=prefix)
    return Bounds.from_files(files) if exactly else Bounds(NOTHING, files)


def _lookup(
    snapshot: Snapshot, phrases: Sequence[tuple[str, ...]], columns: str, *, prefix: bool = False
) -> AbstractSet[int]:
    if not phrases:
        return NOTHING
    expression = " OR ".join([quote_words(words, prefix=prefix) for words in phrases])
    return listed_only(snapshot, snapshot.rows.full_text.find_matching(f"{columns}({expression})"))


def _expression(snapshot: Snapshot, leaf: Regex, where: str, *, cased: bool) -> Bounds:
    """Files with the texts that every match contains, or with a word that matches if only words can
    (SEARCH-33)."""
    expression = translate(leaf.source)
    if not expression.in_words:
        clauses = [
            _unite_bounds([_text(snapshot, text, where) for text in clause])
            for clause in expression.clauses
        ]
        return _intersect_bounds(
            [Bounds.from_files(snapshot.table.files), *clauses]
        ).to_upper_bound()
    result = Bounds.from_files(NOTHING)
    if where != "path":
        # Underscores in names and folders are not flagged; what matches there is found in the
        # paths.
        columns = "body : " if where == "content" or expression.sees_underscores else ""
        unsure = (
            search_document.TRUNCATED
            | search_document.ODD_WORDS
            | (0 if columns else search_document.ODD_FIELDS)
        )
        if expression.sees_underscores:
            unsure |= search_document.UNDERSCORES
        words = snapshot.vocabulary.words_matching(expression)
        result = _make_uncertain(snapshot, _any_word(snapshot, words, columns), unsure)
    if where != "content":
        with_path = {
            number for number, path in snapshot.table.read_all() if expression.is_found_in(path)
        }
        result = _unite_bounds([result, Bounds.from_files(with_path)])
    return result.to_upper_bound() if cased else result


# Tasks, tags and properties


def _tasks(snapshot: Snapshot, node: ScopedQuery, among: AbstractSet[int]) -> Bounds:
    """Those of some files with such tasks, and with the required texts in them unless one goes on
    below its line."""
    from obsidian_mcp.core.query.evaluate import list_required_texts

    required_texts = [
        analysis.substring(text, match_case=False) for text in list_required_texts(node.part)
    ]
    is_todo = {"task-todo": True, "task-done": False}.get(node.operator)
    files = {
        file
        for file, is_multiline, lines in snapshot.rows.file_sets.tasks(is_todo=is_todo)
        if file in among
        and (is_multiline or all(text.search(lines, concurrent=False) for text in required_texts))
    }
    return _make_uncertain(
        snapshot, Bounds.from_files(files), search_document.TRUNCATED, snapshot.table.canvases
    )


def _tag(snapshot: Snapshot, leaf: Word | Phrase | Regex) -> Bounds:
    from obsidian_mcp.core.query.finders import make_tag_test

    name, accepts = make_tag_test(leaf)
    files: AbstractSet[int] = NOTHING
    sets = snapshot.rows.file_sets
    if name:
        files = listed_only(snapshot, sets.find_tagged(name))
    else:
        keys = [key for key in sets.keys("tags") if accepts(key)]
        files = NOTHING.union(*[listed_only(snapshot, sets.with_key("tags", key)) for key in keys])
    unsure = search_document.TRUNCATED | search_document.ODD_KEYS
    return _make_uncertain(snapshot, Bounds.from_files(files), unsure, snapshot.table.canvases)


def _property(snapshot: Snapshot, node: nodes.Property, match_case: bool | None) -> Bounds:
    from obsidian_mcp.core.query.property_tests import make_name_test, make_value_test

    has_name, has_value = make_name_test(node.key), make_value_test(node.value, match_case)
    files_with: set[int] = set()
    sets, part = snapshot.rows.file_sets, _find_stored_part(node.value)
    named = [
        (table, key)
        for table in snapshot.signals.property_tables
        for key in sets.keys(table)
        if has_name(key)
    ]
    for table, key in named:
        if node.value is None:
            files_with |= sets.with_key(table, key)
        else:
            files_with |= sets.find_by_value(table, key, has_value, part)
    unsure = search_document.TRUNCATED | search_document.ODD_KEYS
    return _make_uncertain(snapshot, Bounds.from_files(listed_only(snapshot, files_with)), unsure)


def _find_stored_part(value: nodes.QueryNode | None) -> str:
    """Return a text that is in what is stored of every value that matches; "" where none is sure.

    A number may be stored in another form (1e+16), and JSON writes quotes and backslashes
    otherwise.
    """
    text = value.text if isinstance(value, Word | Phrase) else ""
    is_plain = text.isascii() and text.isprintable() and not {'"', "\\"} & {*text}
    return text if is_plain and any(char.isalpha() and char not in "eE" for char in text) else ""


def listed_only(snapshot: Snapshot, files: set[int]) -> AbstractSet[int]:
    """Return files without those that are hidden or gone."""
    return files - snapshot.table.excluded if snapshot.table.excluded else files


# Sets of files


def flagged_files(snapshot: Snapshot, bits: int) -> frozenset[int]:
    """Return the files that have one of some bits of `search_document`."""
    files = snapshot.flags.get(bits)
    if files is None:
        numbers = snapshot.rows.texts.find_flagged(bits)
        files = snapshot.flags[bits] = frozenset(numbers) - snapshot.table.excluded
    return files


def path_contains(snapshot: Snapshot, text: str) -> set[int]:
    """Return the files whose folded path contains a folded text."""
    return snapshot.table.path_lines.find_containing(text)


def _make_uncertain(
    snapshot: Snapshot, certain: Bounds, bits: int, further: AbstractSet[int] = NOTHING
) -> Bounds:
    """Make the files uncertain whose rows do not say everything: those with some bits, and some
    others (SEARCH-29)."""
    unsure = flagged_files(snapshot, bits) | further
    return Bounds(certain.sure - unsure, certain.possible | unsure) if unsure else certain


def _intersect_bounds(parts: Sequence[Bounds]) -> Bounds:
    sure = _intersection([part.sure for part in parts])
    exactly = all(part.sure is part.possible for part in parts)
    return Bounds(sure, sure if exactly else _intersection([part.possible for part in parts]))


def _unite_bounds(parts: Sequence[Bounds]) -> Bounds:
    sure = NOTHING.union(*[part.sure for part in parts])
    exactly = all(part.sure is part.possible for part in parts)
    return Bounds(sure, sure if exactly else NOTHING.union(*[part.possible for part in parts]))


def _intersection(sets: Sequence[AbstractSet[int]]) -> AbstractSet[int]:
    return reduce(and_, sorted(sets, key=len))
