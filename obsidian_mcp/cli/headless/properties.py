"""Commands about tags, properties and aliases (HEADLESS-12)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.cli.cells import cell_text, separate
from obsidian_mcp.core.frontmatter import parser, yaml_style
from obsidian_mcp.core.frontmatter.property_types import TYPES_FIXED
from obsidian_mcp.core.text import tags as tag_names
from obsidian_mcp.core.text.vault_path import is_note

from .call import DropInCall, as_json, order_key, sort_texts
from .words import DropInRefused

if TYPE_CHECKING:
    from obsidian_mcp.core.graph.indexed_vault import Moment


def is_of_one_file(call: DropInCall) -> bool:
    """Return whether one file is meant and not the vault. Raises: DropInRefused."""
    if call.has("active") and not call.names_file:
        call.active_file()
        return True
    return call.names_file


def tags(call: DropInCall) -> str:
    if is_of_one_file(call):
        entry = call.file()
        written = call.parse(entry).all_tags if is_note(entry.path) else []
        counted = counts_of([tag] for tag in written)
    else:
        tags_by_path = call.vault.graph.evaluate(_tags_of_notes).value
        counted = counts_of(
            tag_names.ancestry(tag_names.name(tag))
            for path in sort_texts(tags_by_path)
            for tag in tags_by_path[path]
        )
    names = sorted(counted, key=lambda name: order_key(f"#{name}"))
    if call.text("sort") == "count":
        names.sort(key=lambda name: -counted[name])
    with_counts = call.has("counts")
    table = [
        {"tag": f"#{name}", **({"count": str(counted[name])} if with_counts else {})}
        for name in names
    ]
    return call.format_rows(table, "No tags found.")


def _tags_of_notes(moment: Moment) -> dict[str, Sequence[str]]:
    from obsidian_mcp.core.graph.indexed_vault import IndexedVault  # loaded with the index

    view = IndexedVault(moment)
    return {file.path: view.tags(file.path) for file in view.files() if is_note(file.path)}


def counts_of(spelled_tags: Iterable[Iterable[str]]) -> dict[str, int]:
    """Return how often each tag occurs; spellings that differ in case are one, shown as first
    met."""
    spellings: dict[str, str] = {}
    counted: Counter[str] = Counter()
    for written in spelled_tags:
        for tag in written:
            name = tag.removeprefix("#")
            counted[spellings.setdefault(tag_names.key(name), name)] += 1
    return dict(counted)


def tag(call: DropInCall) -> str:
    name = call.text("name").removeprefix("#")
    counts = {
        str(note.path): sum(1 for fact in note.tags if fact.tag == name)
        for note in call.vault.graph.files_with_tag(name).value
        if is_note(note.path)
    }
    counts = {path: count for path, count in counts.items() if count}
    if not counts:
        raise DropInRefused(f'Tag "#{name}" not found.')
    if call.has("total"):
        return str(sum(counts.values()))
    head = [f"#{name}\t{sum(counts.values())}"] if call.has("verbose") else []
    return "\n".join([*head, *sort_texts(counts)])


def properties(call: DropInCall) -> str:
    return _print_of_file(call) if is_of_one_file(call) else _print_of_vault(call)


def _print_of_file(call: DropInCall) -> str:
    values = call.parse(call.note()).properties
    if not values:
        return "No frontmatter found."
    if name := call.text("name"):
        return write_value(_value(values, name))
    if call.has("total"):
        return str(len(values))
    if call.words.format == "json":
        return as_json(values)
    if call.words.format == "tsv":
        return separate(
            ((key, cell_text(value)) for key, value in values.items() if value is not None), "tsv"
        )
    return block(values)


def block(values: Mapping[str, Any]) -> str:
    """Return properties as YAML, as the app writes them."""
    lines = []
    for key, value in values.items():
        first, below = yaml_style.lines(value, "")
        lines += [f"{yaml_style.key(key)}:{' ' if first else ''}{first}", *below]
    return "\n".join(lines)


def _print_of_vault(call: DropInCall) -> str:
    from obsidian_mcp.core.graph.results import PropertyUse

    uses_by_key = {
        use.name.lower(): use for use in call.vault.graph.properties(inline_fields=False).value
    }
    for name in TYPES_FIXED:  # always there
        uses_by_key.setdefault(name, PropertyUse(name, 0, {}))
    if property_name := call.text("name"):
        if property_name.lower() not in uses_by_key:
            raise DropInRefused(f'Property "{property_name}" not found.')
        return str(uses_by_key[property_name.lower()].files)
    uses = sorted(uses_by_key.values(), key=lambda use: order_key(use.name))
    if call.text("sort") == "count":
        uses.sort(key=lambda use: -use.files)
    if call.words.format == "json" and not call.has("total"):
        assigned = call.vault.property_types
        types = [assigned.assigned_type(use.name) or next(iter(use.types)) for use in uses]
        table = zip(uses, types, strict=True)
        return as_json(
            [{"name": use.name, "type": kind, "count": use.files} for use, kind in table]
        )
    return call.join_lines(
        [f"{use.name}\t{use.files}" if call.has("counts") else use.name for use in uses]
    )


def property_read(call: DropInCall) -> str:
    return write_value(_value(call.parse(call.note()).properties, call.text("name")))


def _value(values: Mapping[str, Any], name: str) -> Any:
    """Raises: DropInRefused for a property that is not there."""
    key = parser.key_of(values, name)
    if key is None:
        raise DropInRefused(f'Property "{name}" not found.')
    return values[key]


def write_value(value: Any) -> str:
    """Return the value of one property: a list one item a line."""
    if isinstance(value, list):
        return "\n".join(map(cell_text, value))
    return "(empty)" if value is None else cell_text(value)


def aliases(call: DropInCall) -> str:
    if is_of_one_file(call):
        entry = call.file()
        aliases_by_path = {
            str(entry.path): call.parse(entry).aliases if is_note(entry.path) else []
        }
    else:
        aliases_by_path = _aliases_of_vault(call)
    sources: dict[str, list[str]] = defaultdict(list)
    for path in sort_texts(aliases_by_path):
        for alias in dict.fromkeys(aliases_by_path[path]):
            sources[alias].append(path)
    with_sources = call.has("verbose")
    lines = [
        f"{name}\t{', '.join(sources[name])}" if with_sources else name
        for name in sort_texts(sources)
    ]
    return call.join_lines(lines, "No aliases found.")


def _aliases_of_vault(call: DropInCall) -> dict[str, list[str]]:
    from obsidian_mcp.core.graph.indexed_vault import IndexedVault  # loaded with the index

    def query(moment: Moment) -> dict[str, list[str]]:
        view = IndexedVault(moment)
        visible = {file.path for file in view.files() if is_note(file.path)}
        column = view.column("aliases")
        return {
            path: parser.aliases({"aliases": value}) or []
            for path, value in column.items()
            if path in visible
        }

    return call.vault.graph.evaluate(query).value
