"""Functions that choose an implementation by the types of their arguments (specs/dataview.md, DV-80, DV-81)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from obsidian_mcp.core.dataview.pages import Run
from obsidian_mcp.core.dataview.values import type_name
from obsidian_mcp.core.expressions.values import ExpressionError, Value

Implementation = Callable[..., Value]
"""Takes the run and the arguments."""
ANY = "*"


class Overloads:
    """A function with implementations for lists of argument types, tried in the order in which they were added.
    `vectorized` says, by number of arguments, which of them are mapped over where they are lists, in step up to the
    shortest."""

    def __init__(self, name: str, vectorized: Mapping[int, tuple[int, ...]] | None = None) -> None:
        self.name = name
        self._vectorized = vectorized or {}
        self._variants: list[tuple[tuple[str, ...] | None, Implementation]] = []
        self._chosen: dict[tuple[type, ...], Implementation] = {}
        """By the types of the arguments: choosing takes longer than most calls."""

    def on(self, types: str, implementation: Implementation) -> Overloads:
        """Add an implementation for arguments of these types, separated by spaces; `*` is any type, and types with `?`
        may be left out."""
        wanted = types.split()
        needed = sum(not kind.endswith("?") for kind in wanted)
        plain = tuple(kind.removesuffix("?") for kind in wanted)
        self._variants += (
            (plain[:count], implementation) for count in range(needed, len(plain) + 1)
        )
        return self

    def null_on(self, *types: str) -> Overloads:
        """Give null for arguments of each of these lists of types."""
        for each in types:
            self.on(each, lambda *_: None)
        return self

    def null_on_null(self) -> Overloads:
        """Give null where any argument is null, for as many arguments as the implementations so far take."""
        for count in sorted({len(types) for types, _ in self._variants if types is not None}):
            self.null_on(
                *(
                    " ".join("null" if at == place else ANY for at in range(count))
                    for place in range(count)
                )
            )
        return self

    def otherwise(self, implementation: Implementation) -> Overloads:
        """Add an implementation for any arguments."""
        self._variants.append((None, implementation))
        return self

    def __call__(self, run: Run, *arguments: Value) -> Value:
        """Raises: ExpressionError when no implementation takes arguments of these types."""
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
        for wanted, implementation in self._variants:
            if wanted is None or _accepts(wanted, types):
                return implementation
        raise ExpressionError(
            f"No implementation of '{self.name}' found for arguments: {', '.join(types)}"
        )

    def _map_lists(self, run: Run, arguments: tuple[Value, ...], lists: list[int]) -> list[Value]:
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


def _accepts(wanted: tuple[str, ...], types: list[str]) -> bool:
    return len(wanted) == len(types) and all(
        w in (ANY, t) for w, t in zip(wanted, types, strict=True)
    )


def by_name(*functions: Overloads) -> dict[str, Implementation]:
    """Return a table of functions whose names are those of their messages."""
    return {function.name: function for function in functions}
