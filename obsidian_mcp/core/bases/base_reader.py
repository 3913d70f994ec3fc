"""The YAML of a base, read and checked (BASE-01 to BASE-09)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from obsidian_mcp.core.frontmatter import yaml12
from obsidian_mcp.core.frontmatter.yaml_problems import InvalidYaml, NoValue
from obsidian_mcp.core.note.query_blocks import BASE_KEYS
from obsidian_mcp.errors import QueryInvalid

from .base_file import (
    Base,
    BaseFilter,
    FilterStatement,
    Junction,
    SortOrder,
    View,
    list_expressions,
)
from .places import YamlPath, find_place

_TAGGED = re.compile(r"^[ \t]*(?:(?:-|\w+:)[ \t]+)+![ \t]*[\w(]", re.MULTILINE)
"""A value that begins with `!`, as `filters: !done`."""
_QUOTE_ADVICE = "An expression that begins with ! is a tag to YAML: put it in quotes."
_ORDER_MESSAGE = '"order" must be an array of property ids'
_SUMMARIES_MESSAGE = '"summaries" must be an object of property ids and names of summaries'
FILTER_KEYS = ("and", "or", "not")
"""The keys of a filter of several parts, of which one filter has exactly one."""
MAX_EXPRESSIONS = 2_000
"""Filters, formulas and summaries of a base."""
MAX_CHARACTERS = 200_000
"""Characters of all expressions of a base.

What they are compiled to takes some hundred times as much memory.
"""

_NAME_BREAKS = re.compile(r"[#:|^]|\[\[|\]\]|%%")
"""Characters that end a link, so that `[[Base#View]]` cannot name a view that has them."""

T = TypeVar("T")


@lru_cache(maxsize=16)
def read_base(text: str) -> Base:
    """Return the base that a YAML text says; it is kept for the next view of it.

    Raises: QueryInvalid with line and column of the first mistake.
    """
    base, mistakes = read_with_mistakes(text)
    if base is None:
        path, message = mistakes[0]
        line, column = find_place(text, path)
        raise QueryInvalid(f"{message} (line {line}, column {column})", line=line, column=column)
    return base


def read_with_mistakes(text: str) -> tuple[Base | None, list[tuple[YamlPath, str]]]:
    """Return the base, None where it is refused, and why it is refused: places and messages.

    Raises: QueryInvalid for broken YAML.
    """
    reader = _BaseReader()
    base = reader.read_base(_load(text))
    if base is not None and _TAGGED.search(text):
        base = replace(
            base, warnings=(*base.warnings, f"{_QUOTE_ADVICE} It has no effect as it is.")
        )
    return base and replace(base, text=text), reader.mistakes


def _load(text: str) -> dict[str, Any]:
    """Return the values of a YAML text; the app takes tabs as two spaces.

    Raises: QueryInvalid.
    """
    try:
        return yaml12.load(text.replace("\t", "  ") if "\t" in text else text)
    except NoValue:
        return {}
    except InvalidYaml as error:
        lines = text.splitlines()[error.line - 1 : error.line] if error.line else []
        quote = f" {_QUOTE_ADVICE}" if _TAGGED.search("".join(lines)) else ""
        raise QueryInvalid(
            f"Query is an invalid format. It should be a YAML object. Line {error.line}: "
            f"{error.problem}.{quote}",
            line=error.line,
        ) from None


_SINGULARS = ("filter", "formula", "property", "summary", "view")
"""Keys in the singular are a frequent slip."""


class _BaseReader:
    """Turns the values of the YAML into a `Base`, and collects the mistakes that refuse it."""

    def __init__(self) -> None:
        self.mistakes: list[tuple[YamlPath, str]] = []
        self.warnings: list[str] = []

    def read_base(self, values: Mapping[str, Any]) -> Base | None:
        """Return the base; None when there are mistakes."""
        filters = self._filters(values.get("filters"), ("filters",))
        formulas = self._texts(values, "formulas", "Formula values must be strings")
        summaries = self._texts(values, "summaries", "Summary values must be strings")
        labels = self._labels(values)
        views = self._views(values.get("views"))
        self._warn_about_keys(values)
        if self.mistakes:
            return None
        folder = values.get("newItemFolder")
        base = Base(
            views,
            filters=filters,
            formulas=formulas,
            labels=labels,
            summaries=summaries,
            warnings=tuple(self.warnings),
            new_item_folder=folder.strip("/ ") if isinstance(folder, str) else "",
        )
        lengths = [len(text) for _, text in list_expressions(base, views)]
        if len(lengths) > MAX_EXPRESSIONS or sum(lengths) > MAX_CHARACTERS:
            self._report_mistake(
                (),
                f"The base has more than {MAX_EXPRESSIONS:,} expressions or {MAX_CHARACTERS:,} "
                "characters in them",
            )
            return None
        return base

    def _warn_about_keys(self, values: Mapping[str, Any]) -> None:
        for key in values:
            if key not in BASE_KEYS and key.removesuffix("s") in _SINGULARS:
                # a singular and its plural begin alike: "property", "properties"
                likely = next(name for name in BASE_KEYS if name[:4] == key[:4])
                self.warnings.append(
                    f'The key "{key}" is not known and has no effect; did you mean "{likely}"?'
                )

    def _report_mistake(self, path: YamlPath, message: str) -> None:
        self.mistakes.append((path, message))

    def _check(self, raw: Any, is_valid: bool, path: YamlPath, message: str) -> bool:
        """Return whether there is a valid value; one that is not valid is a mistake."""
        if raw is not None and not is_valid:
            self._report_mistake(path, message)
        return raw is not None and is_valid

    def _read_typed(self, raw: Any, type_: type[T], path: YamlPath, message: str) -> T | None:
        """Return the value if it has this type; None for null and, as a mistake, for others."""
        return raw if self._check(raw, isinstance(raw, type_), path, message) else None

    def _filters(self, raw: Any, path: YamlPath) -> BaseFilter | None:
        match raw:
            case None:
                return None
            case str():
                return FilterStatement(raw, path) if raw.strip() else None
            case dict():
                return self._junction(raw, path)
        self._report_mistake(path, '"filters" must be a string or an object')
        return None

    def _junction(self, raw: dict[str, Any], path: YamlPath) -> BaseFilter | None:
        """Return a filter of several parts.

        It is None, with a mistake noted, where the app refuses it.
        """
        kinds = [key for key in FILTER_KEYS if key in raw]
        unknown = [key for key in raw if key not in FILTER_KEYS]
        if not raw:
            return None
        if unknown or len(kinds) != 1:
            self._report_mistake(
                path, '"filters" may only have one of an "and", "or", or "not" keys.'
            )
            return None
        kind = kinds[0]
        items = self._read_typed(
            raw[kind], list, (*path, kind), f'"{kind}" filter must be an array'
        )
        if items is None:
            return None
        parts = [self._filters(item, (*path, kind, place)) for place, item in enumerate(items)]
        return Junction(kind, tuple(part for part in parts if part is not None))

    def _texts(self, values: Mapping[str, Any], key: str, message: str) -> dict[str, str]:
        texts = {
            name: self._read_typed(text, str, (key, name), message)
            for name, text in self._entries(values, key)
        }
        return {str(name): text for name, text in texts.items() if text is not None}

    def _entries(self, values: Mapping[str, Any], key: str) -> Iterable[tuple[Any, Any]]:
        message = f'"{key}" must be an object'
        entries = self._read_typed(values.get(key), dict, (key,), message)
        return entries.items() if entries else ()

    def _labels(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Return the display names of properties, in the old form `display` and the new one."""
        labels: dict[str, str] = {}
        for key in ("display", "properties"):
            for name, settings in self._entries(values, key):
                label = settings.get("displayName") if isinstance(settings, dict) else settings
                if isinstance(label, str) and (key == "display" or isinstance(settings, dict)):
                    labels[str(name)] = label
        return labels

    def _views(self, raw: Any) -> tuple[View, ...]:
        if raw is None or raw == []:
            return (View("Table", "table"),)
        items = self._read_typed(raw, list, ("views",), "Views must be an array") or []
        read_views = (self._view(item, place) for place, item in enumerate(items))
        views = tuple(view for view in read_views if view is not None)
        for name, count in Counter(view.name for view in views).items():
            if count > 1:
                self.warnings.append(
                    f'Several views are called "{name}"; only the first can be named.'
                )
        return views

    def _view(self, raw: Any, place: int) -> View | None:
        """Return a view; None, with a mistake noted, for one that the app would not show."""
        path: YamlPath = ("views", place)
        if not isinstance(raw, dict):
            self._report_mistake(path, f"View {place + 1} must be an object")
            return None
        name, view_type = raw.get("name"), raw.get("type")
        if isinstance(name, int | float) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not name.strip():
            self._report_mistake(path, f'Missing or invalid "name" in view {place + 1}')
            return None
        if _NAME_BREAKS.search(name):
            self.warnings.append(
                f'The view name "{name}" holds characters that no link to it can have.'
            )
        if not isinstance(view_type, str) or not view_type:
            self._report_mistake(path, f'Missing or invalid "type" in view {place + 1}')
            return None
        return View(
            name=name,
            type=view_type,
            filters=self._filters(raw.get("filters"), (*path, "filters")),
            order=self._order(raw.get("order"), (*path, "order")),
            sort=self._sort(raw.get("sort"), (*path, "sort")),
            group_by=self._group_by(raw.get("groupBy"), (*path, "groupBy")),
            limit=self._limit(raw.get("limit"), (*path, "limit")),
            summaries=self._view_summaries(raw.get("summaries"), (*path, "summaries")),
        )

    def _order(self, raw: Any, path: YamlPath) -> tuple[str, ...] | None:
        is_valid = isinstance(raw, list) and all(isinstance(item, str) for item in raw)
        return (
            tuple(dict.fromkeys(raw)) if self._check(raw, is_valid, path, _ORDER_MESSAGE) else None
        )

    def _sort(self, raw: Any, path: YamlPath) -> tuple[SortOrder, ...]:
        items = self._read_typed(raw, list, path, '"sort" must be an array') or []
        return tuple(self._sort_order(item, (*path, place)) for place, item in enumerate(items))

    def _group_by(self, raw: Any, path: YamlPath) -> SortOrder | None:
        return None if raw is None else self._sort_order(raw, path)

    def _sort_order(self, raw: Any, path: YamlPath) -> SortOrder:
        """Return an entry of `sort` or `groupBy`, which may be nothing but a property id."""
        order = raw if isinstance(raw, dict) else {"property": raw}
        name, direction = order.get("property", order.get("column")), order.get("direction", "ASC")
        if not isinstance(name, str) or (isinstance(raw, dict) and not name):
            self._report_mistake(path, f'"{path[2]}" must name a "property"')
        elif not isinstance(direction, str) or direction.upper() not in ("ASC", "DESC"):
            self._report_mistake((*path, "direction"), '"direction" must be ASC or DESC')
        return SortOrder(str(name), str(direction).upper() == "DESC")

    def _limit(self, raw: Any, path: YamlPath) -> int:
        is_valid = isinstance(raw, int | float) and not isinstance(raw, bool) and raw >= 0
        return int(raw) if self._check(raw, is_valid, path, '"limit" must be a number') else 0

    def _view_summaries(self, raw: Any, path: YamlPath) -> dict[str, str]:
        is_valid = isinstance(raw, dict) and all(isinstance(name, str) for name in raw.values())
        if not self._check(raw, is_valid, path, _SUMMARIES_MESSAGE):
            return {}
        return {str(key): name for key, name in raw.items()}
