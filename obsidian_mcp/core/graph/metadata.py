"""Tags, properties, aliases and tasks: what the notes of a vault say of themselves.

The app's rules are in semantics 3.4.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby
from operator import itemgetter

from obsidian_mcp.core.index.facts import TaskFact
from obsidian_mcp.core.index.rows import PROPERTIES, WITH_INLINE_FIELDS, Rows
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.vault_path import VaultPath, name_key

from . import results
from .questions import Questions, T, ask_indexer


class Metadata(Questions):
    """Answers questions about tags, properties, aliases and tasks.

    Files that the user hides are left out.
    """

    @ask_indexer
    def tags(self, rows: Rows) -> tuple[results.TagUse, ...]:
        """Return every tag of the vault with its counts, by name (semantics 3.4).

        A tag counts for every tag above it, too.
        """
        return self._kept.get(
            "tags",
            self._state(rows),
            lambda: results.tag_uses(
                rows.file_sets.group_by_tag(), self._invisible_files(rows, notes_only=True)
            ),
        )

    @ask_indexer
    def files_with_tag(self, rows: Rows, tag: str) -> tuple[results.TaggedFile, ...]:
        """Return the files with a tag or a descendant of it, by path; a leading `#` and case are
        ignored."""
        by_path = groupby(
            self._keep_visible(rows.tag_facts(tags.key(tag).rstrip("/"))), key=itemgetter(0)
        )
        return tuple(
            results.TaggedFile(path, tuple(fact for _, fact in facts_)) for path, facts_ in by_path
        )

    @ask_indexer
    def properties(
        self, rows: Rows, *, inline_fields: bool = True
    ) -> tuple[results.PropertyUse, ...]:
        """Return every property of the vault, by name.

        The inline fields of Dataview are among them, where the vault has them.
        """
        tables = self._property_tables() if inline_fields else PROPERTIES
        return self._kept.get(
            "properties",
            (self._state(rows), tables),
            lambda: results.property_uses(
                rows.file_sets.group_by_property(tables), self._invisible_files(rows)
            ),
        )

    @ask_indexer
    def with_property(self, rows: Rows, name: str) -> tuple[results.PropertyValue, ...]:
        """Return every file's value of a property, by path; the case of its name is ignored."""
        key = name.lower()
        return tuple(
            results.PropertyValue(path, json.loads(fact.value))
            for path, fact in self._keep_visible(rows.properties(key, self._property_tables()))
        )

    def _property_tables(self) -> Sequence[str]:
        return WITH_INLINE_FIELDS if self._inline_fields() else PROPERTIES

    @ask_indexer
    def notes_with_alias(self, rows: Rows, name: str) -> tuple[VaultPath, ...]:
        """Return the notes that have this alias, compared as file names are."""
        return tuple(
            sorted({path for path, _ in self._keep_existing(rows.aliases(name_key(name.strip())))})
        )

    @ask_indexer
    def tasks(
        self,
        rows: Rows,
        read: Callable[[Iterable[tuple[VaultPath, TaskFact]]], list[T]],
        days: tuple[str, str] | None = None,
        without_marks: Collection[str] = (),
    ) -> list[T]:
        """Return what `read` makes of the checkboxes of notes with a day in a range, but those with
        some marks.

        A vault may have millions: `read` takes what it needs from them, one after the other, by
        file. It may be called again. Days are written `YYYY-MM-DD`. Every checkbox that may have an
        id or depend on one is among them, and so are some others (TASK-130).
        """
        return read(self._keep_existing(rows.tasks(days, without_marks)))

    @ask_indexer
    def warnings(self, rows: Rows) -> dict[VaultPath, tuple[str, ...]]:
        """Return the warnings of every file that could not be read whole."""
        return dict(self._keep_existing(rows.warnings().items()))
