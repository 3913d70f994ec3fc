"""How often the tags and properties of a vault occur (semantics 3.4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from obsidian_mcp.core.text import tags

from .results import PropertyUse, TagUse


def tag_uses(found: Iterable[tuple[int, str]], shown: Collection[int]) -> tuple[TagUse, ...]:
    """Return every tag of the `shown` files, by name; it counts for every tag above it."""
    files_of: dict[str, list[int]] = defaultdict(list)
    for file, tag in found:
        if file in shown:
            files_of[tag].append(file)
    written: dict[str, Counter[str]] = defaultdict(Counter)
    files: dict[str, set[int]] = defaultdict(set)
    for tag, numbers in files_of.items():
        for above in tags.ancestry(tag):
            written[tags.key(above)][above] += len(numbers)
            files[tags.key(above)].update(numbers)
    return tuple(TagUse(_most_used(written[key]), written[key].total(), len(files[key])) for key in sorted(written))


def property_uses(found: Iterable[tuple[int, str, str, str]], shown: Collection[int]) -> tuple[PropertyUse, ...]:
    """Return every property of the `shown` files, by name, from rows of file, key, name and type."""
    names: dict[str, Counter[str]] = defaultdict(Counter)
    types: dict[str, Counter[str]] = defaultdict(Counter)
    files: dict[str, set[int]] = defaultdict(set)
    for file, key, name, kind in found:
        if file in shown:
            names[key][name] += 1
            types[key][kind] += 1
            files[key].add(file)
    return tuple(
        PropertyUse(
            _most_used(names[key]),
            len(files[key]),
            dict(sorted(types[key].items(), key=lambda item: (-item[1], item[0]))),
        )
        for key in sorted(names)
    )


def _most_used(written: Counter[str]) -> str:
    """Return the most frequent spelling, the smallest of several: the order of files must not matter."""
    return min(written, key=lambda spelling: (-written[spelling], spelling))
