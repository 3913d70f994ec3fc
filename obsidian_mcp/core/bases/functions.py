"""Global functions, what arguments they take, the methods of every value (BASE-50 to BASE-52), and fields and methods
of files, links and tags (BASE-60 to BASE-66)."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from obsidian_mcp.core.expressions.evaluate import Evaluate, Scope
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.values import (
    ITEM_UNITS,
    Date,
    Duration,
    ExpressionError,
    File,
    LinkValue,
    Value,
    WrittenLink,
    day_of,
    from_nanoseconds,
)
from obsidian_mcp.core.note.links import shown, split_subpath
from obsidian_mcp.core.text.tags import covers
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.core.text.vault_path import basename

from .dates import parse_date, parse_duration
from .values import (
    Html,
    Icon,
    Image,
    TagValue,
    is_empty,
    is_external,
    is_true,
    local,
    path_of,
    read_wikilink,
    text_of,
    type_name,
    wrap_property,
)

NUMBER: tuple[type, ...] = (float,)
STRING: tuple[type, ...] = (str, LinkValue)
"""Links count as texts by their target."""
PATTERN: tuple[type, ...] = (str, LinkValue, RegExpValue)

_NAMES = {NUMBER: "Number", STRING: "String", PATTERN: "String", (Date,): "Date"}


class Parameter(NamedTuple):
    name: str
    types: tuple[type, ...] | None = None
    """None takes any value."""
    optional: bool = False
    rest: bool = False
    """Takes all further arguments."""


class Method(NamedTuple):
    """A function with its parameters. `run` is called with the scope, the receiver (None for a global) and arguments;
    the first argument of a method in `BODIES` comes unevaluated, as a function of its variables."""

    run: Callable[..., Value]
    parameters: tuple[Parameter, ...] = ()
    takes_null: bool = False
    """Whether null as receiver or argument is a value like others; else the result is null."""


Body = Callable[..., Value]


def body_of(evaluate: Evaluate, scope: Scope) -> Body:
    """The unevaluated argument of `filter`, `map`, `reduce` as a function of its variables."""

    def run(**variables: Value) -> Value:
        scope.context.budget.tick()
        return evaluate(scope.within(variables))

    return run


def check(name: str, method: Method, arguments: Sequence[Value]) -> Sequence[Value] | None:
    """The arguments as the method takes them, None where a null makes the result null. Raises: ExpressionError."""
    parameters = method.parameters
    least = sum(not parameter.optional and not parameter.rest for parameter in parameters)
    most = len(parameters) if not (parameters and parameters[-1].rest) else None
    if not least <= len(arguments) <= (len(arguments) if most is None else most):
        raise ExpressionError(f'"{name}" expects {_count(least, most)}, given {len(arguments)}.')
    taken = []
    for place, argument in enumerate(arguments):
        parameter = parameters[min(place, len(parameters) - 1)]
        if parameter.types is None or (argument is None and parameter.optional):
            taken.append(argument)
            continue
        if argument is None:
            return None
        if not isinstance(argument, parameter.types) or (
            isinstance(argument, bool) and bool not in parameter.types
        ):
            expected = _NAMES.get(parameter.types) or type_name(parameter.types[0]())
            raise ExpressionError(
                f'Type error in "{name}" parameter "{parameter.name}". '
                f"Expected {expected}, given {type_name(argument)}."
            )
        taken.append(
            argument.target if type(argument) is LinkValue and str in parameter.types else argument
        )
    return taken


def _count(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {write_count(least, 'argument')}"
    return write_count(least, "argument") if least == most else f"{least} to {most} arguments"


def find(table: Mapping[str, Any], name: str) -> Any:
    """An entry by exact name, else in any case; None without one."""
    return table.get(name) or next(
        (entry for key, entry in table.items() if key.lower() == name.lower()), None
    )


# Global functions. `if` is not here: it is lazy.


def _date(scope: Scope, _: None, value: Value) -> Value:
    if value is None or isinstance(value, Date):
        return value
    text = value.target if type(value) is LinkValue else value
    date = parse_date(text) if isinstance(text, str) else None
    if date is None:
        raise _unreadable(value, scope, "date")
    return date


def _duration(scope: Scope, _: None, value: Value) -> Value:
    if value is None or isinstance(value, Duration):
        return value
    duration = parse_duration(value) if isinstance(value, str) else None
    if duration is None:
        raise _unreadable(value, scope, "duration")
    return duration


_NUMERIC = re.compile(r"\s*[+-]?(?:[0-9]++(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")


def _number(scope: Scope, _: None, value: Value) -> Value:
    match value:
        case None | float():
            return value
        case bool():
            return float(value)
        case Date():
            return value.milliseconds
        case str() if _NUMERIC.fullmatch(value):
            return float(value)
    raise _unreadable(value, scope, "number")


def _unreadable(value: Value, scope: Scope, kind: str) -> ExpressionError:
    return ExpressionError(f'Unable to parse "{text_of(value, scope.context)[:200]}" as a {kind}.')


def _link(scope: Scope, _: None, target: Value, display: Value = None) -> Value:
    scope.context.budget.charge_items(2)
    shown = None if display is None else text_of(display, scope.context)
    source = scope.row.file.path
    if isinstance(target, File):
        return LinkValue(target.path, display=shown, source=source)
    text = target.strip()
    if (written := read_wikilink(text, source)) is not None:
        return written if shown is None else replace(written, display=shown)
    path, subpath = (text, "") if is_external(LinkValue(text)) else split_subpath(text)
    return LinkValue(path, subpath, shown, source=source)


def _file(scope: Scope, _: None, target: Value) -> Value:
    return target if isinstance(target, File) else file_of(_link(scope, None, target), scope)


def file_of(link: LinkValue, scope: Scope) -> File | None:
    """The file that a link leads to."""
    path = None if is_external(link) else scope.context.follow(link)
    return None if path is None else scope.context.vault.file(path)


def _escape_html(scope: Scope, _: None, text: str) -> Value:
    scope.context.budget.charge(6 * len(text))
    return html.escape(text).replace("&#x27;", "&#39;")


def _image(scope: Scope, _: None, value: Value) -> Value:
    return Image(value.path if isinstance(value, File) else text_of(value, scope.context))


_NUMBERS = (Parameter("value", NUMBER), Parameter("value", NUMBER, rest=True))
GLOBALS: Mapping[str, Method] = {
    "date": Method(_date, (Parameter("date"),)),
    "duration": Method(_duration, (Parameter("value"),)),
    "number": Method(_number, (Parameter("input"),)),
    "list": Method(
        lambda _, __, value: value if isinstance(value, list) else [] if value is None else [value],
        (Parameter("element"),),
    ),
    "min": Method(lambda _, __, *numbers: min(numbers), _NUMBERS),
    "max": Method(lambda _, __, *numbers: max(numbers), _NUMBERS),
    "link": Method(
        _link, (Parameter("path", (str, LinkValue, File)), Parameter("display", optional=True))
    ),
    "file": Method(_file, (Parameter("path", (str, LinkValue, File)),)),
    "now": Method(lambda scope, _: local(scope.context.now)),
    "today": Method(lambda scope, _: day_of(local(scope.context.now))),
    "random": Method(lambda *_: random.random()),  # noqa: S311 - a formula asks for it
    "escapeHTML": Method(_escape_html, (Parameter("html", STRING),)),
    "html": Method(lambda _, __, text: Html(text), (Parameter("html", STRING),)),
    "image": Method(_image, (Parameter("path", (str, LinkValue, File)),)),
    "icon": Method(lambda _, __, text: Icon(text), (Parameter("name", STRING),)),
}


ANY: Mapping[str, Method] = {
    "isTruthy": Method(lambda _, value: is_true(value), takes_null=True),
    "isType": Method(
        lambda _, value, name: type_name(value).lower() == name.strip().lower(),
        (Parameter("type", STRING),),
        takes_null=True,
    ),
    "toString": Method(lambda scope, value: text_of(value, scope.context), takes_null=True),
    "isEmpty": Method(lambda _, value: is_empty(value), takes_null=True),
}

LINK_UNITS = 8 * ITEM_UNITS
"""Units of a link, which takes more memory than other items."""


def properties(file: File, scope: Scope) -> dict[str, Value]:
    """All properties of a file as values."""
    raw = scope.context.vault.properties(file.path)
    scope.context.budget.charge_items(len(raw))
    return {
        name: wrap_property(value, file.path, tags=name.lower() == "tags")
        for name, value in raw.items()
    }


def tags(file: File, scope: Scope) -> list[Value]:
    """Names without `#`, each once."""
    names = dict.fromkeys(scope.context.vault.tags(file.path))
    scope.context.budget.charge_items(len(names))
    return [TagValue(name) for name in names]


def _links(
    file: File, scope: Scope, kinds: tuple[str, ...] = ("property", "link", "embed")
) -> Value:
    written = scope.context.vault.links(file.path)
    found = [link for kind in kinds for link in written if link.place == kind]
    scope.context.budget.charge(LINK_UNITS * len(found))
    return [_as_link(link, file.path) for link in found]


def _as_link(written: WrittenLink, source: str) -> LinkValue:
    """With the display that the app's cache has: the target's, where none is written."""
    path, subpath = written.path.strip(), written.subpath.rstrip()
    display = written.display.strip() if written.display is not None else shown(path + subpath)
    return LinkValue(path, subpath, display, written.place == "embed", source)


def _backlinks(file: File, scope: Scope) -> Value:
    paths = scope.context.vault.backlinks(file.path)
    scope.context.budget.charge(LINK_UNITS * len(paths))
    return [LinkValue(path, display=basename(path), source=file.path) for path in paths]


FILE_FIELDS: Mapping[str, Callable[[File, Scope], Value]] = {
    "name": lambda file, _: file.basename if file.extension.lower() == "md" else file.name,
    "basename": lambda file, _: file.basename,
    "path": lambda file, _: file.path,
    "folder": lambda file, _: file.folder or "/",
    "ext": lambda file, _: file.extension,
    "size": lambda file, _: float(file.size),
    "ctime": lambda file, scope: from_nanoseconds(scope.context.vault.created_ns(file.path)),
    "mtime": lambda file, _: from_nanoseconds(file.modified_ns),
    "file": lambda file, _: file,
    "properties": properties,
    "tags": tags,
    "links": _links,
    "embeds": lambda file, scope: _links(file, scope, ("embed",)),
    "backlinks": _backlinks,
}


def has_link(scope: Scope, file: File, target: Value) -> Value:
    """Whether a link of the file, embeds and properties included, leads to the target (BASE-62)."""
    context = scope.context
    if isinstance(target, str):
        target = read_wikilink(target.strip(), file.path) or LinkValue(
            *split_subpath(target.strip()), source=file.path
        )
    if (wanted := path_of(target, context)) is not None:
        return wanted in context.vault.targets(file.path)
    if is_external(target):
        return False
    return any(
        (link.path + link.subpath).strip() == target.target
        for link in context.vault.links(file.path)
    )


def _has_tag(scope: Scope, file: File, *names: str) -> Value:
    own = scope.context.vault.tags(file.path)
    return any(covers(name, tag) for name in names for tag in own)


def _in_folder(_: Scope, file: File, folder: str) -> Value:
    path = folder.strip("/")
    return not path or file.folder == path or file.folder.startswith(path + "/")


def _as_link_of(scope: Scope, file: File, display: Value = None) -> Value:
    scope.context.budget.charge(LINK_UNITS)
    return LinkValue(
        file.path,
        display=None if display is None else text_of(display, scope.context),
        source=file.path,
    )


FILES: Mapping[str, Method] = {
    "hasLink": Method(has_link, (Parameter("otherFile", (str, LinkValue, File)),)),
    "hasTag": Method(_has_tag, (Parameter("values", STRING, rest=True),)),
    "hasProperty": Method(
        lambda scope, file, name: file.path in scope.context.vault.column(name.lower()),
        (Parameter("name", STRING),),
    ),
    "inFolder": Method(_in_folder, (Parameter("folder", STRING),)),
    "asLink": Method(_as_link_of, (Parameter("display", optional=True),)),
}


def _links_to(scope: Scope, link: LinkValue, target: Value) -> Value:
    file = file_of(link, scope)
    return None if file is None else has_link(scope, file, target)


LINKS: Mapping[str, Method] = {
    "asFile": Method(lambda scope, link: file_of(link, scope)),
    "linksTo": Method(_links_to, (Parameter("file", (str, LinkValue, File)),)),
}


TAGS: Mapping[str, Method] = {
    "matches": Method(
        lambda _, tag, pattern: (
            pattern.matches(tag) if isinstance(pattern, RegExpValue) else covers(pattern, tag)
        ),
        (Parameter("tag", PATTERN),),
    )
}
