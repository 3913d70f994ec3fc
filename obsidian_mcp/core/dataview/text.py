"""Values as text: for `+` with a text, string(), join() and display() (specs/dataview.md, DV-57, DV-58)."""

from __future__ import annotations

from collections.abc import Mapping

from obsidian_mcp.core.calendar import luxon
from obsidian_mcp.core.dataview.comparison import ExternalLink, link_type
from obsidian_mcp.core.dataview.durations import duration_text
from obsidian_mcp.core.dataview.settings import Settings
from obsidian_mcp.core.expressions.dates import Date, Duration
from obsidian_mcp.core.expressions.evaluate import Function
from obsidian_mcp.core.expressions.javascript import number_text
from obsidian_mcp.core.expressions.limits import ITEM_UNITS, Budget
from obsidian_mcp.core.expressions.values import ExpressionError, LinkValue, Value

MAX_DEPTH = 40
"""Lists and objects inside each other in a text."""


def file_title(path: str) -> str:
    """The name of a file without its folder and without `.md`."""
    return path.rpartition("/")[2].removesuffix(".md")


def link_text(link: LinkValue) -> str:
    """`[[path#sub|display]]`, the display always there (DV-58)."""
    target = (link.path + link.subpath).replace("|", "\\|")
    display = link.display
    if not display:
        display = file_title(link.path)
        if link.subpath:
            display += " > " + link.subpath[2 if link_type(link) == "block" else 1 :]
    return f"{'!' if link.embed else ''}[[{target}|{display}]]"


def value_text(value: Value, settings: Settings, budget: Budget, depth: int = 0) -> str:
    """The text of a value (DV-57). Raises: ExpressionError for one that is nested too deep or builds too much."""
    match value:
        case str():
            return value
        case None:
            return settings.null_text
        case bool():
            return "true" if value else "false"
        case float():
            return number_text(value)
        case LinkValue():
            return link_text(value)
        case Date():
            clock = value.moment
            is_day = clock.hour == clock.minute == clock.second == 0
            return luxon.write(clock, settings.date_format if is_day else settings.date_time_format)
        case Duration():
            return duration_text(value)
        case ExternalLink():
            return f"[{value.display}]({value.url})"
        case Function():
            return "<function>"
        case list():
            text = ", ".join(_parts(value, settings, budget, depth))
            return f"[{text}]" if depth else text
        case Mapping():
            texts = _parts(list(value.values()), settings, budget, depth)
            return "{ " + ", ".join(f"{key}: {text}" for key, text in zip(value, texts, strict=True)) + " }"
        case _:
            raise TypeError(f"no text for {type(value).__name__}")


def _parts(values: list[Value], settings: Settings, budget: Budget, depth: int) -> list[str]:
    if depth >= MAX_DEPTH:
        raise ExpressionError(f"The value is nested more than {MAX_DEPTH} deep.")
    texts = []
    for value in values:
        text = value_text(value, settings, budget, depth + 1)
        budget.charge(len(text) + ITEM_UNITS)
        texts.append(text)
    return texts
