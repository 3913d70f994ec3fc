"""A base: its views, filters, formulas and summaries (BASE-01 to BASE-08)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from obsidian_mcp.core.expressions.syntax import SyntaxProblem
from obsidian_mcp.core.text.typed_text import typed_key
from obsidian_mcp.errors import QueryInvalid

from .places import YamlPath, find_place


@dataclass(frozen=True, slots=True)
class FilterStatement:
    """One filter expression."""

    text: str
    path: YamlPath


@dataclass(frozen=True, slots=True)
class Junction:
    """`and`, `or` or `not` over filters."""

    kind: str
    parts: tuple[BaseFilter, ...]


BaseFilter = FilterStatement | Junction


@dataclass(frozen=True, slots=True)
class SortOrder:
    """What rows are sorted or grouped by."""

    property: str
    """A property id."""
    descending: bool


@dataclass(frozen=True, slots=True)
class View:
    """One view of a base. Property ids are as written: `status`, `note.status`, `file.name`."""

    name: str
    type: str
    filters: BaseFilter | None = None
    order: tuple[str, ...] | None = None
    """Property ids; None where the key is absent."""
    sort: tuple[SortOrder, ...] = ()
    group_by: SortOrder | None = None
    limit: int = 0
    """Rows; 0 for all."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """Property id -> name of a summary."""


@dataclass(frozen=True, slots=True)
class Base:
    """A base as it was read; `views` are at least one."""

    views: tuple[View, ...]
    filters: BaseFilter | None = None
    formulas: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    """Property id as written -> display name."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    new_item_folder: str = ""
    """Where its new notes go; empty where it does not say."""
    text: str = field(default="", compare=False)
    """The YAML that was read."""

    def describe(self, path: YamlPath, problem: SyntaxProblem) -> str:
        """Return what is wrong with the expression at `path`, with line and column in the YAML."""
        line, column = find_place(self.text, path, problem.at)
        return f"line {line}, column {column}: {problem.explanation}"

    def view(self, name: str | None) -> View:
        """Return the view of that name, the first one without a name.

        Raises: QueryInvalid with the views there are.
        """
        if name is None:
            return self.views[0]
        exact = (view for view in self.views if view.name == name)
        in_any_case = (view for view in self.views if typed_key(view.name) == typed_key(name))
        named_view = next(chain(exact, in_any_case), None)
        if named_view is not None:
            return named_view
        names = [view.name for view in self.views]
        raise QueryInvalid(
            f'View "{name}" not found. The base has these views: {", ".join(names)}.',
            view=name,
            candidates=names,
        )


def list_expressions(base: Base, views: Iterable[View]) -> Iterator[tuple[YamlPath, str]]:
    """Yield every filter, formula and summary of a base, each with its place.

    Of the filters of its views, they are those of `views`.
    """
    yield from _list_statements(base.filters)
    yield from ((("formulas", name), text) for name, text in base.formulas.items())
    yield from ((("summaries", name), text) for name, text in base.summaries.items())
    for view in views:
        yield from _list_statements(view.filters)


def _list_statements(part: BaseFilter | None) -> Iterator[tuple[YamlPath, str]]:
    match part:
        case FilterStatement(text, path):
            yield path, text
        case Junction(_, parts):
            for inner in parts:
                yield from _list_statements(inner)
