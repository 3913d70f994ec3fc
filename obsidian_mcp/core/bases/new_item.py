"""What a new note needs so that a view of a base lists it (BASE-92)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from obsidian_mcp.core.expressions.syntax import (
    BareName,
    Binary,
    FieldAccess,
    FunctionCall,
    IndexAccess,
    Literal,
    Node,
)
from obsidian_mcp.core.frontmatter.yaml_values import YamlValue

from .base_file import Base, BaseFilter, FilterStatement, Junction, View
from .parser import parse_or_problem


@dataclass(slots=True)
class NewItem:
    """Where a new note of a base goes and the properties that it starts with."""

    folder: str = ""
    """Empty: where the vault's new notes go."""
    properties: dict[str, YamlValue] = field(default_factory=dict)


def describe_new_item(base: Base, view: View) -> NewItem:
    """Return what `newItemFolder` and the filters that must all hold say of a new note (BASE-92).

    Such filters are `property == value`, `property.contains(link("c"))`, `file.hasTag("a")`,
    `tags.contains("a")`, `file.inFolder("b")`.
    """
    item, tags = NewItem(base.new_item_folder), list[str]()
    links: dict[str, list[YamlValue]] = {}
    for statement in (*_list_required(base.filters), *_list_required(view.filters)):
        match parse_or_problem(statement.text):
            case Binary("==", left, right):
                name, value = _property(left), _write_value(right)
                if name and value is not None:
                    item.properties.setdefault(name, value)
            case FunctionCall(
                FieldAccess(FieldAccess(BareName("file"), "tags") | BareName("tags"), "contains"),
                (Literal(str() as tag),),
            ):
                tags.append(tag.removeprefix("#"))
            case FunctionCall(FieldAccess(of, "contains"), (FunctionCall() as link,)):
                name, value = _property(of), _write_value(link)
                if name and value:
                    links.setdefault(name, []).append(value)
            case FunctionCall(FieldAccess(BareName("file"), "hasTag"), arguments):
                tags += _tags(arguments)
            case FunctionCall(
                FieldAccess(BareName("file"), "inFolder"), (Literal(str() as folder),)
            ):
                item.folder = item.folder or folder.strip("/")
    for name, values in links.items():
        item.properties.setdefault(name, values)
    if tags:
        item.properties["tags"] = list(dict.fromkeys(tags))
    return item


def _tags(arguments: tuple[Node, ...]) -> list[str]:
    texts = [argument.value for argument in arguments if isinstance(argument, Literal)]
    return [text.removeprefix("#") for text in texts if isinstance(text, str) and text]


def _list_required(part: BaseFilter | None) -> Iterator[FilterStatement]:
    """Yield the statements that must hold for every row.

    An `or` of several requires none of them.
    """
    match part:
        case FilterStatement():
            yield part
        case Junction("and", parts):
            for part in parts:
                yield from _list_required(part)
        case Junction("or", (only,)):
            yield from _list_required(only)


def _write_value(node: Node) -> str | bool | float | None:
    """Return the value of a literal or a link as a property has it; None for anything else."""
    match node:
        case Literal(str() | bool() | float() as value):
            return value
        case FunctionCall(BareName("link"), (Literal(str() as target),)):
            return target if target.startswith("[[") else f"[[{target}]]"
        case FunctionCall(BareName("link"), (Literal(str() as target), Literal(str() as display))):
            return f"[[{target}|{display}]]"
    return None


def _property(node: Node) -> str:
    """Return the name of the note's property that an expression reads, also as `list(property)`.

    Empty for anything else.
    """
    match node:
        case FunctionCall(BareName("list"), (inner,)):
            return _property(inner)
        case BareName(name) if name not in ("file", "formula", "this", "note"):
            return name
        case FieldAccess(BareName("note"), name) | IndexAccess(
            BareName("note"), Literal(str() as name)
        ):
            return name
    return ""
