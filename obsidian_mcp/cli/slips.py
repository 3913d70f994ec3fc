"""What is said of words of the command line that mean nothing, with those that may be meant.

It is loaded when a word is wrong, because words that are right need no advice.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from obsidian_mcp.errors import InvalidArguments

_DASHED = "Put -- before a text that begins with a dash."
"""Said of every unknown option: a task such as `- [ ] milk` is often what was meant."""


def unknown_command_error(
    word: str, commands: Sequence[str], groups: Collection[str]
) -> InvalidArguments:
    """Return the error for a word that begins no command, or is the name of a group alone."""
    if word in groups:
        of_group = [
            name.removeprefix(f"{word} ") for name in commands if name.startswith(f"{word} ")
        ]
        return InvalidArguments(f"{word} has these commands: {', '.join(of_group)}.{_see(word)}")
    near = _nearest_hint(word, [*commands, *groups])
    return InvalidArguments(f"There is no command {word!r}.{near} obsidian-mcp --help shows all.")


def unknown_option_error(word: str, command: str, options: Sequence[str] = ()) -> InvalidArguments:
    """Return the error for an option that a command, "" for none, does not have."""
    return InvalidArguments(
        f"There is no option {word}.{_nearest_hint(word, options)} {_DASHED}{_see(command)}"
    )


def misplaced_option_error(option: str, command: str) -> InvalidArguments:
    """Return the error for an option of the program that stands behind a command.

    It is not taken there: `--read-only` may be the text that somebody searches for.
    """
    return InvalidArguments(
        f"{option} is an option of all commands and stands before them: "
        f"obsidian-mcp {option} … {command}. {_DASHED}"
    )


def _see(command: str) -> str:
    return f" See {' '.join(['obsidian-mcp', *command.split(), '--help'])}."


def _nearest_hint(name: str, names: Sequence[str]) -> str:
    """Return a sentence with the names that are nearest to one that is not known; empty where none
    is near.

    Of several near names only those count that differ in the fewest letters: `serch` is `search`,
    and not `serve` as well.
    """
    from difflib import get_close_matches

    from obsidian_mcp.core.text.nearness import edit_distance

    near = get_close_matches(name, names)
    if not near:
        return ""
    fewest = min(edit_distance(name, candidate) for candidate in near)
    nearest = [candidate for candidate in near if edit_distance(name, candidate) == fewest]
    return f" Did you mean {' or '.join(nearest)}?"
