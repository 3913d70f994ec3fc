"""The YAML of a base, read and validated, with the places of all mistakes (BASE-01 to BASE-09, BASE-91)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import yaml

from obsidian_mcp.core.expressions.syntax import Literal, SyntaxProblem, walk
from obsidian_mcp.core.frontmatter import yaml12
from obsidian_mcp.core.note.query_blocks import BASE_KEYS
from obsidian_mcp.errors import QueryInvalid

from .parser import parse_or_problem

T = TypeVar("T")
_TAGGED = re.compile(r"^[ \t]*(?:(?:-|\w+:)[ \t]+)+![ \t]*[\w(]", re.MULTILINE)
_QUOTE = "An expression that begins with ! is a tag to YAML: put it in quotes."
FILTER_KEYS = ("and", "or", "not")
_ORDER = '"order" must be an array of property ids'
_SUMMARIES = '"summaries" must be an object of property ids and names of summaries'
MAX_EXPRESSIONS = 2_000
MAX_CHARACTERS = 200_000
"""Characters of all expressions of a base: what they are compiled to takes some hundred times as much memory."""
_NAME_BREAKS = re.compile(r"[#:|^]|\[\[|\]\]|%%")


Path = tuple[str | int, ...]
"""Keys and list positions that lead to a value of the YAML."""


def find_place(text: str, path: Path, inside: int = 0) -> tuple[int, int]:
    """Line and column, from 1, of a value of a YAML text that is known to be sound, or of the character `inside` it; of
    what is around it without one."""
    node, lines = _compose(text)
    if node is None:
        return 1, 1
    for step in path:
        found = _child(node, step)
        if found is None:
            break
        node = found
    line, column = node.start_mark.line + 1, node.start_mark.column + 1
    if inside and isinstance(node, yaml.ScalarNode) and node.style not in ("|", ">"):
        written = lines[line - 1][column - 1 :]
        quote = 1 if node.style in ("'", '"') else 0
        if written[quote:].startswith(node.value):
            column += quote + inside
    return line, column


@lru_cache(maxsize=1)
def _compose(text: str) -> tuple[Any, list[str]]:
    try:
        return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), text.split(
            "\n"
        )
    except yaml.YAMLError:  # sound for the app, as a template field without quotes is
        return None, []


def _child(node: Any, step: str | int) -> Any:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step]
    return None


class FilterStatement(NamedTuple):
    """One filter expression."""

    text: str
    path: Path


class Junction(NamedTuple):
    """`and`, `or` or `not` over filters."""

    kind: str
    parts: tuple[Filter, ...]


Filter = FilterStatement | Junction


class SortOrder(NamedTuple):
    property: str
    descending: bool


@dataclass(frozen=True, slots=True)
class View:
    name: str
    type: str
    filters: Filter | None = None
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
    views: tuple[View, ...]
    filters: Filter | None = None
    formulas: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    """Property id as written -> display name."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    new_item_folder: str = ""
    """Where its new notes go; empty where it does not say."""
    text: str = field(default="", compare=False)
    """The YAML that was read."""

    def describe(self, path: Path, problem: SyntaxProblem) -> str:
        """What is wrong with the expression at `path`, with line and column in the YAML."""
        line, column = find_place(self.text, path, problem.at)
        return f"line {line}, column {column}: {problem.explanation}"

    def view(self, name: str | None) -> View:
        """The view of that name, the first one without a name. Raises: QueryInvalid with the views there are."""
        if name is None:
            return self.views[0]
        exact = (view for view in self.views if view.name == name)
        in_any_case = (view for view in self.views if view.name.lower() == name.lower())
        if found := next(chain(exact, in_any_case), None):
            return found
        names = [view.name for view in self.views]
        raise QueryInvalid(
            f'View "{name}" not found. The base has these views: {", ".join(names)}.',
            view=name,
            candidates=names,
        )


@lru_cache(maxsize=16)
def read(text: str) -> Base:
    """The base that a YAML text says, kept for the next view of it. Raises: QueryInvalid with line and column of the
    first mistake."""
    base, found = mistakes(text)
    if base is None:
        path, message = found[0]
        line, column = find_place(text, path)
        raise QueryInvalid(f"{message} (line {line}, column {column})", line=line, column=column)
    return base


def expressions(base: Base, views: Iterable[View]) -> Iterator[tuple[Path, str]]:
    """Every filter, formula and summary of a base, and the filters of some of its views, each with its place."""
    yield from _statements(base.filters)
    yield from ((("formulas", name), text) for name, text in base.formulas.items())
    yield from ((("summaries", name), text) for name, text in base.summaries.items())
    for view in views:
        yield from _statements(view.filters)


def _statements(part: Filter | None) -> Iterator[tuple[Path, str]]:
    match part:
        case FilterStatement(text, path):
            yield path, text
        case Junction(_, parts):
            for inner in parts:
                yield from _statements(inner)


def mistakes(text: str) -> tuple[Base | None, list[tuple[Path, str]]]:
    """The base, None where it is refused, and why: places and messages. Raises: QueryInvalid for broken YAML."""
    reader = _Reader()
    base = reader.base(_load(text))
    if base is not None and _TAGGED.search(text):
        base = replace(base, warnings=(*base.warnings, f"{_QUOTE} It has no effect as it is."))
    return base and replace(base, text=text), reader.mistakes


def _load(text: str) -> dict[str, Any]:
    """Raises: QueryInvalid."""
    try:
        return yaml12.load(text.replace("\t", "  ") if "\t" in text else text)
    except yaml12.NoValue:
        return {}
    except yaml12.InvalidYaml as error:
        lines = text.splitlines()[error.line - 1 : error.line] if error.line else []
        quote = f" {_QUOTE}" if _TAGGED.search("".join(lines)) else ""
        raise QueryInvalid(
            f"Query is an invalid format. It should be a YAML object. Line {error.line}: {error.problem}.{quote}",
            line=error.line,
        ) from None


class _Reader:
    """Turns the values of the YAML into a `Base`, and collects the mistakes that refuse it."""

    def __init__(self) -> None:
        self.mistakes: list[tuple[Path, str]] = []
        self.warnings: list[str] = []

    def base(self, values: Mapping[str, Any]) -> Base | None:
        """None when there are mistakes."""
        filters = self._filters(values.get("filters"), ("filters",))
        formulas = self._texts(values, "formulas", "Formula values must be strings")
        summaries = self._texts(values, "summaries", "Summary values must be strings")
        labels = self._labels(values)
        views = self._views(values.get("views"))
        for key in values:
            if key not in BASE_KEYS and key.removesuffix("s") in (
                "filter",
                "formula",
                "property",
                "summary",
                "view",
            ):
                wanted = next(known for known in BASE_KEYS if known[:4] == key[:4])
                self.warnings.append(
                    f'The key "{key}" is not known and has no effect; did you mean "{wanted}"?'
                )
        if self.mistakes:
            return None
        named = values.get("newItemFolder")
        folder = named.strip("/ ") if isinstance(named, str) else ""
        base = Base(
            views,
            filters,
            formulas,
            labels,
            summaries,
            tuple(self.warnings),
            new_item_folder=folder,
        )
        lengths = [len(text) for _, text in expressions(base, views)]
        if len(lengths) > MAX_EXPRESSIONS or sum(lengths) > MAX_CHARACTERS:
            self._wrong(
                (),
                f"The base has more than {MAX_EXPRESSIONS:,} expressions or {MAX_CHARACTERS:,} characters in them",
            )
            return None
        return base

    def _wrong(self, path: Path, message: str) -> None:
        self.mistakes.append((path, message))

    def _check(self, raw: Any, is_valid: bool, path: Path, message: str) -> bool:
        """Whether there is a valid value; one that is not valid is a mistake."""
        if raw is not None and not is_valid:
            self._wrong(path, message)
        return raw is not None and is_valid

    def _read_typed(self, raw: Any, kind: type[T], path: Path, message: str) -> T | None:
        """The value if it has this type; None for null and, as a mistake, for any other type."""
        return raw if self._check(raw, isinstance(raw, kind), path, message) else None

    def _filters(self, raw: Any, path: Path) -> Filter | None:
        match raw:
            case None:
                return None
            case str():
                return FilterStatement(raw, path) if raw.strip() else None
            case dict():
                return self._junction(raw, path)
        self._wrong(path, '"filters" must be a string or an object')
        return None

    def _junction(self, raw: dict[str, Any], path: Path) -> Filter | None:
        kinds = [key for key in FILTER_KEYS if key in raw]
        unknown = [key for key in raw if key not in FILTER_KEYS]
        if not raw:
            return None
        if unknown or len(kinds) != 1:
            self._wrong(path, '"filters" may only have one of an "and", "or", or "not" keys.')
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
        return (
            self._read_typed(values.get(key), dict, (key,), f'"{key}" must be an object') or {}
        ).items()

    def _labels(self, values: Mapping[str, Any]) -> dict[str, str]:
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
        found = self._read_typed(raw, list, ("views",), "Views must be an array") or []
        views = tuple(
            view
            for place, item in enumerate(found)
            if (view := self._view(item, place)) is not None
        )
        for name, count in Counter(view.name for view in views).items():
            if count > 1:
                self.warnings.append(
                    f'Several views are called "{name}"; only the first can be named.'
                )
        return views

    def _view(self, raw: Any, place: int) -> View | None:
        path: Path = ("views", place)
        if not isinstance(raw, dict):
            self._wrong(path, f"View {place + 1} must be an object")
            return None
        name, kind = raw.get("name"), raw.get("type")
        if isinstance(name, int | float) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not name.strip():
            self._wrong(path, f'Missing or invalid "name" in view {place + 1}')
            return None
        if _NAME_BREAKS.search(name):
            self.warnings.append(
                f'The view name "{name}" holds characters that no link to it can have.'
            )
        if not isinstance(kind, str) or not kind:
            self._wrong(path, f'Missing or invalid "type" in view {place + 1}')
            return None
        return View(
            name=name,
            type=kind,
            filters=self._filters(raw.get("filters"), (*path, "filters")),
            order=self._order(raw.get("order"), (*path, "order")),
            sort=self._sort(raw.get("sort"), (*path, "sort")),
            group_by=None
            if raw.get("groupBy") is None
            else self._sort_order(raw["groupBy"], (*path, "groupBy")),
            limit=self._limit(raw.get("limit"), (*path, "limit")),
            summaries=self._view_summaries(raw.get("summaries"), (*path, "summaries")),
        )

    def _order(self, raw: Any, path: Path) -> tuple[str, ...] | None:
        is_valid = isinstance(raw, list) and all(isinstance(item, str) for item in raw)
        return tuple(dict.fromkeys(raw)) if self._check(raw, is_valid, path, _ORDER) else None

    def _sort(self, raw: Any, path: Path) -> tuple[SortOrder, ...]:
        items = self._read_typed(raw, list, path, '"sort" must be an array') or []
        return tuple(self._sort_order(item, (*path, place)) for place, item in enumerate(items))

    def _sort_order(self, raw: Any, path: Path) -> SortOrder:
        order = raw if isinstance(raw, dict) else {"property": raw}
        name, direction = order.get("property", order.get("column")), order.get("direction", "ASC")
        if not isinstance(name, str) or (isinstance(raw, dict) and not name):
            self._wrong(path, f'"{path[2]}" must name a "property"')
        elif not isinstance(direction, str) or direction.upper() not in ("ASC", "DESC"):
            self._wrong((*path, "direction"), '"direction" must be ASC or DESC')
        return SortOrder(str(name), str(direction).upper() == "DESC")

    def _limit(self, raw: Any, path: Path) -> int:
        is_valid = isinstance(raw, int | float) and not isinstance(raw, bool) and raw >= 0
        return int(raw) if self._check(raw, is_valid, path, '"limit" must be a number') else 0

    def _view_summaries(self, raw: Any, path: Path) -> dict[str, str]:
        is_valid = isinstance(raw, dict) and all(isinstance(name, str) for name in raw.values())
        return (
            {str(key): name for key, name in raw.items()}
            if self._check(raw, is_valid, path, _SUMMARIES)
            else {}
        )


class Mistake(NamedTuple):
    """What is wrong at one place of a base. Line and column count from 1; `column` is None where it is not known."""

    message: str
    line: int
    column: int | None
    refused: bool
    """Whether the whole base is refused; else only a formula or filter has no value."""

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column is not None else ""
        return f"line {self.line}{column}: {self.message}"


def validate(text: str) -> list[Mistake]:
    """Every mistake of a base, in the order of its lines (BASE-09)."""
    try:
        base, refused = mistakes(text)
    except QueryInvalid as error:
        return [
            Mistake(
                error.message, error.data.get("line", 1), error.data.get("column"), refused=True
            )
        ]
    found = [Mistake(message, *find_place(text, path), refused=True) for path, message in refused]
    if base is not None:
        for path, expression in expressions(base, base.views):
            problem = parse_or_problem(expression)
            if isinstance(
                problem, SyntaxProblem
            ):  # its place is exact where the YAML has the expression on one line
                line, column = find_place(text, path, problem.at)
                found.append(
                    Mistake(f"{_subject(path)}: {problem.explanation}", line, column, refused=False)
                )
    return sorted(found, key=lambda mistake: (mistake.line, mistake.column or 0))


def text_literals(text: str) -> Iterator[tuple[int, str]]:
    """The texts in the expressions of a base, each with its line; nothing where the base is broken."""
    try:
        base = read(text)
    except QueryInvalid:
        return
    for path, expression in expressions(base, base.views):
        node = parse_or_problem(expression)
        for part in () if isinstance(node, SyntaxProblem) else walk(node):
            if isinstance(part, Literal) and isinstance(part.value, str):
                yield find_place(text, path)[0], part.value


def _subject(path: Path) -> str:
    """What the expression at this place is."""
    match path:
        case ("formulas", name):
            return f'Formula "{name}"'
        case ("summaries", name):
            return f'Summary "{name}"'
        case ("views", int() as place, *_):
            return f"Filter of view {place + 1}"
    return "Filter"
