"""The date that a task takes from the name of its note (TASK-27)."""

from __future__ import annotations

from datetime import date

from obsidian_mcp.core.calendar.iso import calendar_day, find_days
from obsidian_mcp.core.calendar.moment_parse import parse_moment

from .settings import TaskSettings


def file_date(path: str, settings: TaskSettings, today: date) -> date | None:
    """Return the date in the name of a note.

    `today` fills in what the format of the settings leaves out, such as the year. None where the
    name has no date, or the settings do not use it.
    """
    if not settings.use_filename_as_scheduled_date:
        return None
    folders = settings.filename_date_folders
    if folders and not any(path.startswith(folder + "/") for folder in folders):
        return None
    name = path.rpartition("/")[2].rpartition(".")[0]
    if settings.filename_date_format:
        day = parse_moment(name, settings.filename_date_format, today=today)
        if day is not None:
            return day.date()
    return calendar_day(next(find_days(name), ""))
