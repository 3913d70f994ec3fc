"""Functions that choose an implementation by the types of their arguments (DV-80, DV-81)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from obsidian_mcp.core.dataview.pages import QueryRun
from obsidian_mcp.core.dataview.values import type_name
from obsidian_mcp.core.expressions.values import ExpressionError, Value

Implementation = Callable[..., Value]
"""Takes the run and the arguments."""
ANY = "*"


class Overloads:
    """A function with implementations for lists of argument types.

    They are tried in the order in which they were added. `vectorized` says, by number of arguments,
    at which positions a list maps the call over its elements; several lists go in step up to the
    shortest.
    """

    def __init__(self, name: str, vectorized: Mapping[int, tuple[int, ...]] | None = None) -> None:
        self.name = name
        self._vectorized = vectorized or {}
        self._variants: list[tuple[tuple[str, ...] | None, Implementation]] = []
        self._chosen: dict[tuple[type, ...], Implementation] = {}
        """By the types of the arguments: choosing takes longer than most calls."""

    def on(self, types: str, implementation: Implementation) -> Overloads:
        """Add an implementation for arguments of these types, which spaces separate.

        `*` is any type; types with `?` may be left out.
        """
        names = types.split()
        required = sum(not name.endswith("?") for name in names)
        plain = tuple(name.removesuffix("?") for name in names)
        self._variants += (
            (plain[:count], implementation) for count in range(required, len(plain) + 1)
        )
        return self

    def null_on(self, *types: str) -> Overloads:
        """Give null for arguments of each of these lists of types."""
        for type_list in types:
            self.on(type_list, lambda *_: None)
        return self

    def null_on_null(self) -> Overloads:
        """Give null where any argument is null.

        It holds for as many arguments as the implementations take that were added before.
        """
        for count in sorted({len(types) for types, _ in self._variants if types is not None}):
            for null_at in range(count):
                self.on(
                    " ".join("null" if at == null_at else ANY for at in range(count)),
                    lambda *_: None,
                )
        return self

    def add_fallback(self, implementation: Implementation) -> Overloads:
        """Add an implementation for any arguments."""
        self._variants.append((None, implementation))
        return self

    def __call__(self, run: QueryRun, *arguments: Value) -> Value:
        """Call the implementation for the types of the arguments.

        Raises: ExpressionError when none takes arguments of these types.
        """
        types = tuple(map(type, arguments))
        if list in types:
            lists = [at for at in self._vectorized.get(len(arguments), ()) if types[at] is list]
            if lists:
                return self._map_lists(run, arguments, lists)
        implementation = self._chosen.get(types)
        if implementation is None:
            implementation = self._chosen[types] = self._choose(arguments)
        return implementation(run, *arguments)

    def _choose(self, arguments: tuple[Value, ...]) -> Implementation:
        types = [type_name(argument) for argument in arguments]
        for accepted, implementation in self._variants:
            if accepted is None or _accepts(accepted, types):
                return implementation
        raise ExpressionError(
            f"No implementation of '{self.name}' found for arguments: {', '.join(types)}"
        )

    def _map_lists(
        self, run: QueryRun, arguments: tuple[Value, ...], lists: list[int]
    ) -> list[Value]:
        length = min(len(arguments[at]) for at in lists)
        run.budget.charge_items(length)
        results: list[Value] = []
        for place in range(length):
            run.budget.tick()
            element: list[Any] = list(arguments)
            for at in lists:
                element[at] = arguments[at][place]
            results.append(self(run, *element))
        return results


def _accepts(accepted: tuple[str, ...], types: list[str]) -> bool:
    if len(accepted) != len(types):
        return False
    return all(
        name in (ANY, argument_type) for name, argument_type in zip(accepted, types, strict=True)
    )


def index_by_name(*functions: Overloads) -> dict[str, Implementation]:
    """Return a table of functions whose names are those of their messages."""
    return {function.name: function for function in functions}
