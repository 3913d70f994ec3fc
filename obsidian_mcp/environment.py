"""Values of environment variables: read, checked, and refused with the name of the variable.

`config.py` says which variables there are. A variable that is empty is one that is not set: shells
and container files have no other way to take one back.
"""

from __future__ import annotations

from obsidian_mcp import TYPE_CHECKING

from .errors import InvalidArguments

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    ChosenWord = TypeVar("ChosenWord", bound=str)

DROP_IN = "OBSIDIAN_MCP_DROP_IN"
"""The variable that the drop-in `obsidian` sets for the official program: if that turns out to be
the drop-in again, it starts no further program."""
MOST_SECONDS = 3_600
"""Longest time that one call may be given."""


def setting_text(env: Mapping[str, str], name: str) -> str:
    """Return the text of `OBSIDIAN_MCP_<name>` without white space around it; empty where it is not
    set."""
    return env.get(f"OBSIDIAN_MCP_{name}", "").strip()


def choose_word(name: str, chosen: str, *choices: ChosenWord) -> ChosenWord:
    """Return the one of these that was chosen; `name` says in an error what it is for. Raises:
    InvalidArguments."""
    for choice in choices:
        if choice == chosen:
            return choice
    allowed = [repr(choice) for choice in choices]
    raise InvalidArguments(
        f"{name} is {chosen!r}; it must be {', '.join(allowed[:-1])} or {allowed[-1]}."
    )


def is_on(env: Mapping[str, str], name: str) -> bool:
    """Return whether a variable turns something on: it is set, and not to 0, false or no."""
    return env.get(name, "0").strip().lower() not in ("", "0", "false", "no")


def setting_url(env: Mapping[str, str], name: str) -> str:
    """Return a URL of http or https; empty where none is set. Raises: InvalidArguments."""
    url = env.get(name, "").strip()
    if url and not url.startswith(("http://", "https://")):
        raise InvalidArguments(
            f"{name} is {url!r}; it must be a URL that begins with http:// or https://."
        )
    return url


def setting_list(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return the parts between commas that are not empty."""
    return tuple(part.strip() for part in env.get(name, "").split(",") if part.strip())


def setting_number(env: Mapping[str, str], name: str, default: int, least: int) -> int:
    """Return a whole number that is not below `least`. Raises: InvalidArguments."""
    text = env.get(name, "").strip() or str(default)
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise InvalidArguments(f"{name} is {text!r}; it must be a whole number from {least} on.")
    return int(text)


def timeout_seconds(text: str) -> float:
    """Return the seconds of OBSIDIAN_MCP_TIMEOUT. Raises: InvalidArguments."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MOST_SECONDS:
        raise InvalidArguments(
            f"OBSIDIAN_MCP_TIMEOUT is {text!r}; it must be a number of seconds from 0 to "
            f"{MOST_SECONDS}."
        )
    return seconds


def fixed_day(text: str) -> str:
    """Return the text of OBSIDIAN_MCP_TODAY, if it is a day or a time. Raises: InvalidArguments."""
    if not text:
        return ""
    from datetime import datetime  # loaded when it is needed

    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise InvalidArguments(
            f"OBSIDIAN_MCP_TODAY is {text!r}; it must be a day, such as 2026-11-22, or a day and "
            "a time."
        ) from None
    return text
