"""What is wrong with the path of a vault that cannot be used, and what to do about it."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress

from obsidian_mcp import TYPE_CHECKING

from .errors import shorten

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Final


def explain_missing(folder: Path) -> str:
    """Return what is wrong where the folder of a vault cannot be used; empty where it can."""
    try:
        problem = "" if stat.S_ISDIR(folder.stat().st_mode) else "is not a folder"
    except (FileNotFoundError, NotADirectoryError):
        problem = "does not exist"
    except OSError as error:
        problem = f"cannot be reached ({error.strerror})"
    if not (problem or os.access(folder, os.R_OK | os.X_OK)):
        problem = "may not be read by the account that runs this program"
    if not problem:
        return ""
    advice = (
        _explain_spelling(folder)
        or explain_split(folder)
        or "Check the path given with --vault or in OBSIDIAN_VAULT_PATH; an external or network "
        "drive must be connected, and macOS asks whether a program may read Documents, Desktop "
        "and iCloud."
    )
    return f"The vault folder '{shorten(str(folder))}' {problem}. {advice}"


_UNFILLED: Final = r"\$\{?\w+\}?|%\w+%"


def _explain_spelling(folder: Path) -> str:
    """Return what to say of a path that was given in a form that nothing reads; empty for any
    other."""
    from pathlib import Path

    typed = str(folder).removeprefix(f"{Path.cwd()}{os.sep}")
    if typed[0] in "\"'" and typed[-1] == typed[0]:
        return f"Its path was given with quotation marks inside; leave them out: {typed[1:-1]}"
    if typed[0] == "~":
        account = typed[1:].partition(os.sep)[0]
        return (
            f"There is no account {account!r}. Your own home folder is ~/; or give the whole path."
        )
    if unfilled := re.search(_UNFILLED, typed):
        return f"The client has not put in a value for {unfilled[0]}; write the whole path."
    return ""


def explain_split(folder: Path) -> str:
    """Return what to say where a path was cut at a space on its way here; empty where nothing
    points to that."""
    with suppress(OSError):
        for other in sorted(folder.parent.iterdir()):
            if other.name.startswith(f"{folder.name} ") and other.is_dir():
                return (
                    f"There is '{other}': a path with spaces must be one argument, in a "
                    "configuration file one string of args, on a command line in quotation marks."
                )
    return ""
