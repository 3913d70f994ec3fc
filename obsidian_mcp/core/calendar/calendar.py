"""The present time and the language of dates, as the configuration gives them (PERIODIC-1)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import NamedTuple


class Calendar(NamedTuple):
    """A clock with a language. `now` gives the present local time without a zone; `language` (a tag such as `en-gb`)
    and `week_start` (a weekday), if not empty, go before what the vault's settings say."""

    now: Callable[[], datetime] = datetime.now
    language: str = ""
    week_start: str = ""

    @property
    def today(self) -> date:
        return self.now().date()
