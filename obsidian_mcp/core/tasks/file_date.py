"""The date in a note's name, which its tasks may take as their scheduled date (TASK-27)."""

from __future__ import annotations

import re
from datetime import date

from obsidian_mcp.core.periodic.moment_parse import parse_moment

from .settings import TaskSettings
from .task import calendar_day

_search_with_hyphens = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}").search
_search_digits = re.compile("([0-9]{4})([0-9]{2})([0-9]{2})").search


def file_date(path: str, settings: TaskSettings, today: date) -> date | None:
    """Return the date in the name of a note, None where it has none or the settings do not use it.

    `today` fills in what the format of the settings leaves out, such as the year.
    """
    if not settings.use_filename_as_scheduled_date:
        return None
    folders = settings.filename_date_folders
    if folders and not any(path.startswith(folder + "/") for folder in folders):
        return None
    name = path.rpartition("/")[2].rpartition(".")[0]
    if settings.filename_date_format:
        found = parse_moment(name, settings.filename_date_format, today=today)
        if found is not None:
            return found.date()
    if match := _search_with_hyphens(name):
        return calendar_day(match[0])
    if match := _search_digits(name):
        return calendar_day("-".join(match.groups()))
    return None
